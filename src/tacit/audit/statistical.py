"""Two-dataset audit: a lower bound on ε at a given δ from samples alone, for anything that can be run.

PROMISE  If the mechanism is (ε, δ)-private and the two datasets are neighbours, a bound exceeds ε with probability at
most 1 − confidence. It says nothing about how much larger ε might be: an audit refutes a promise, it never proves one.

PROOF  Half of the draws explore: they choose what to look at, so the choice costs nothing. The other half decides.
- *Clopper–Pearson*: for an event E, P(E) ≤ e^ε·Q(E) + δ. With a lower confidence bound p on the larger probability and
  an upper one q on the smaller, each at half of the significance, ε ≥ ln((p − δ)/q).
- *Histogram*: every deciding draw comes from P or Q by a fair coin, and the coin is guessed from the output: P where
  the exploration saw a large ratio P/Q, Q where it saw a small one, no guess in between. With c and w the chances of a
  right and of a wrong guess, adding the definition over both regions gives c ≤ e^ε·w + δ, so c = c' + d with d ≤ δ and
  c'/(c' + w) ≤ e^ε/(1 + e^ε). Among n draws at most t are of the kind d, but for a tenth of the significance, with t
  from the tail of Bin(n, δ). The v right ones of r guesses less those t are a binomial count with that ratio:
  ε ≥ ln(s/(1 − s)) with s the Clopper–Pearson lower bound for v − t of r − t. It is sharper than one event because one
  count replaces two and both ends of the histogram are used. This is the bound that `epsilon` reports.

What is looked at: the outputs themselves where they repeat, otherwise their quantile bins, and for floats the place of
the last binary digit, by which careless noise gives the true value away. Further `features` may be named.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from math import inf, log, log1p
from typing import Any

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.mechanisms.law import Law
from tacit.numbers.exact import Number, between, exact, whole
from tacit.randomness import SYSTEM, Randomness

Sampler = Law[Any] | Callable[[], Any]
"""A law, or a function that runs the mechanism once."""
Feature = Callable[[Any], Hashable]

CONFIDENCE = Fraction(95, 100)
SAMPLES = 20_000
BINS = 64
SMALLEST = 5
"""Classes with fewer exploring draws are left out."""
CAUTION = 1e-5
"""The exploration judges at this significance, so that small classes do not lead by luck."""


def clopper_pearson(hits: int, trials: int, significance: float) -> tuple[float, float]:
    """Bounds on a probability, each wrong with probability at most ``significance``."""
    from scipy.stats import beta

    low = 0.0 if hits == 0 else float(beta.ppf(significance, hits, trials - hits + 1))
    high = 1.0 if hits == trials else float(beta.ppf(1 - significance, hits + 1, trials - hits))
    return low, high


def event_bound(
    hits: int, trials: int, other_hits: int, other_trials: int, delta: float = 0.0, significance: float = 0.05
) -> float:
    """ε from how often an event happened on either side, at least 0: ln((p − δ)/q) with Clopper–Pearson bounds."""
    p, _ = clopper_pearson(hits, trials, significance / 2)
    _, q = clopper_pearson(other_hits, other_trials, significance / 2)
    return max(0.0, log((p - delta) / q)) if p > delta else 0.0


def guess_bound(correct: int, guesses: int, draws: int, delta: float = 0.0, significance: float = 0.05) -> float:
    """ε from how many guesses of fair coins were right, at least 0."""
    from scipy.stats import binom

    lucky, share = 0, significance
    if delta > 0:
        lucky, share = int(binom.isf(significance / 10, draws, delta)), 0.9 * significance
    if correct <= lucky:
        return 0.0
    s, _ = clopper_pearson(correct - lucky, guesses - lucky, share)
    return max(0.0, log(s) - log1p(-s)) if s < 1 else inf


def promised_epsilon(promised: Guarantee, delta: Fraction) -> Fraction:
    """The ε that a promise allows at this δ; refused where it allows none."""
    if delta == 0:
        return promised.to(Pure).epsilon
    return promised.to(Approx, delta=delta).epsilon


class LowerBound(ABC):
    """A lower bound on ε from samples, beside what was promised; it can refute a promise, never prove it."""

    delta: Fraction
    confidence: Fraction
    promised: Guarantee | None

    exhaustive = False
    """The bound is from samples, not exact."""

    @property
    @abstractmethod
    def loss(self) -> float:
        """The lower bound on ε."""

    @property
    def broken(self) -> bool:
        """Whether the bound exceeds what was promised."""
        return self.promised is not None and self.loss > float(promised_epsilon(self.promised, self.delta))

    @property
    def verdict(self) -> str:
        """Broken or consistent."""
        return "broken" if self.broken else "consistent"

    @property
    def shown(self) -> str:
        """The bound for people; with δ, where the promise names none."""
        own = self.promised is not None and self.promised.ratio_bound() is not None
        return f"ε ≥ {self.loss:.3f}{'' if own else f' (δ = {float(self.delta):.2g})'}"

    def _sentence(self) -> str:
        bound = f"ε ≥ {self.loss:.4f} at δ = {float(self.delta):g} with confidence {float(self.confidence):.9g}"
        return f"{bound}{self._seen()}" + ("" if self.promised is None else f"; {self.verdict} with {self.promised!r}")

    def _seen(self) -> str:
        """What the bound rests on, at the end of a sentence."""
        return ""


@dataclass(frozen=True)
class Audit(LowerBound):
    """What a two-dataset audit found."""

    epsilon: float
    """The histogram's lower bound on ε."""
    event: float
    """The lower bound on ε from the single best event."""
    feature: str
    """What of the outputs was looked at."""
    correct: int
    guesses: int
    draws: int
    delta: Fraction
    confidence: Fraction
    promised: Guarantee | None = None

    @property
    def loss(self) -> float:
        """The histogram's lower bound on ε."""
        return self.epsilon

    def __str__(self) -> str:
        return self._sentence()

    def _seen(self) -> str:
        return f", by {self.feature}"


def audit(
    first: Sampler,
    second: Sampler,
    *,
    samples: int = SAMPLES,
    delta: Number = 0,
    confidence: Number = CONFIDENCE,
    promised: Guarantee | None = None,
    features: Mapping[str, Feature] | None = None,
    source: Randomness = SYSTEM,
) -> Audit:
    """A lower bound on ε from about ``samples`` runs on either of two neighbouring datasets.

    ``first`` and ``second`` are the mechanism on the two datasets: laws, or functions without arguments that run it
    once, of whatever library. ``features`` adds functions of an output to what is looked at.
    """
    count, slack = whole(samples, "samples", 100), exact(delta, "delta")
    sure = between(confidence, "confidence", 0, 1)
    if not 0 <= slack < 1:
        raise InvalidInput("delta must be at least 0 and below 1.")
    significance, allowed = float(1 - sure), float(slack)
    explored = [_draws(side, count // 2, source) for side in (first, second)]
    looks = _looks(explored, features or {})
    caution = min(significance, CAUTION)
    plans = {name: _plan(explored, look, allowed, caution) for name, look in looks.items()}
    name = max(plans, key=lambda key: plans[key].expected)
    total = 2 * (count - count // 2)
    heads = sum(source.bits(1) for _ in range(total))
    decided = [
        Counter(looks[name](y) for y in _draws(side, n, source))
        for side, n in ((first, heads), (second, total - heads))
    ]
    plan = plans[name]
    right, wrong = _guessed(decided, plan)
    return Audit(
        epsilon=guess_bound(right, right + wrong, total, allowed, significance),
        event=_event(decided, plan, allowed, significance),
        feature=name,
        correct=right,
        guesses=right + wrong,
        draws=total,
        delta=slack,
        confidence=sure,
        promised=promised,
    )


def _draws(sampler: Sampler, count: int, source: Randomness) -> list[Any]:
    if isinstance(sampler, Law):
        return sampler.sample(count, source=source)
    return [sampler() for _ in range(count)]


# ---- what is looked at ------------------------------------------------------------------------------------------


def _looks(explored: Sequence[Sequence[Any]], features: Mapping[str, Feature]) -> dict[str, Feature]:
    """The features of an output among which the exploration chooses."""
    pooled = [y for side in explored for y in side]
    looks: dict[str, Feature] = dict(features)
    if all(isinstance(y, float) for y in pooled):
        looks["the last binary digit"] = last_digit
    numbers = all(isinstance(y, int | float | Fraction) for y in pooled)
    if len(set(pooled)) <= max(BINS, len(pooled) // 20):
        looks["the output itself"] = lambda y: y
    elif numbers:
        looks["quantile bins"] = _binned(sorted(pooled))
    elif not looks:
        looks["the output itself"] = lambda y: y
    return looks


def last_digit(y: float) -> int:
    """The place of the last binary digit of a float: how finely it can have been rounded."""
    return y.as_integer_ratio()[1].bit_length() if abs(y) < inf else -1


def _binned(ordered: Sequence[Any]) -> Feature:
    from bisect import bisect_right

    n = len(ordered)
    edges = sorted({ordered[i * n // BINS] for i in range(1, BINS)})
    return lambda y: bisect_right(edges, y)


# ---- what is guessed --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    """Classes for which a side is guessed, the best single event and its direction, and what exploration expects."""

    guessed: Mapping[Hashable, int]
    event: frozenset[Hashable]
    side: int
    expected: float


def _plan(explored: Sequence[Sequence[Any]], look: Feature, delta: float, significance: float) -> _Plan:
    counts = [Counter(look(y) for y in side) for side in explored]
    sizes = [len(side) for side in explored]
    classes = [c for c in counts[0] | counts[1] if counts[0][c] + counts[1][c] >= SMALLEST]
    ratio = {c: log((counts[0][c] + 0.5) / (counts[1][c] + 0.5)) for c in classes}
    # A class counts by what its draws surely show, so that rare ones do not lead by luck.
    weight = {c: _surely(counts[0][c], counts[1][c]) for c in classes}
    order = sorted(classes, key=lambda c: -weight[c])
    best, expected, right, wrong = 0, -1.0, 0, 0
    for k, c in enumerate(order, 1):
        a, b = counts[0][c], counts[1][c]
        right, wrong = right + max(a, b), wrong + min(a, b)
        bound = guess_bound(right, right + wrong, sum(sizes), delta, significance)
        if bound > expected:
            best, expected = k, bound
    guessed = {c: 0 if ratio[c] >= 0 else 1 for c in order[:best]}
    event, side = _best_event(counts, sizes, sorted(classes, key=lambda c: ratio[c]), delta, significance)
    return _Plan(guessed, event, side, expected)


def _surely(a: int, b: int) -> float:
    """A lower bound, at about two standard deviations, of the log odds that a class shows."""
    n = a + b
    share = (max(a, b) + 0.5) / (n + 1)
    low = share - 2 * (share * (1 - share) / n) ** 0.5
    return log(low / (1 - low)) if low > 0 else -inf


def _best_event(
    counts: Sequence[Counter[Hashable]],
    sizes: Sequence[int],
    ascending: Sequence[Hashable],
    delta: float,
    significance: float,
) -> tuple[frozenset[Hashable], int]:
    """Among the classes of largest ratio, in either direction, those that promise the best bound."""
    found: tuple[float, frozenset[Hashable], int] = (-1.0, frozenset(), 0)
    for side, order in ((0, list(reversed(ascending))), (1, list(ascending))):
        hits = other = 0
        for k, c in enumerate(order, 1):
            hits, other = hits + counts[side][c], other + counts[1 - side][c]
            bound = event_bound(hits, sizes[side], other, sizes[1 - side], delta, significance)
            if bound > found[0]:
                found = bound, frozenset(order[:k]), side
    return found[1], found[2]


def _guessed(decided: Sequence[Counter[Hashable]], plan: _Plan) -> tuple[int, int]:
    """Right and wrong guesses."""
    right = sum(decided[side][c] for c, side in plan.guessed.items())
    wrong = sum(decided[1 - side][c] for c, side in plan.guessed.items())
    return right, wrong


def _event(decided: Sequence[Counter[Hashable]], plan: _Plan, delta: float, significance: float) -> float:
    hits = [sum(side[c] for c in plan.event) for side in decided]
    sizes = [sum(side.values()) for side in decided]
    if not all(sizes):
        return 0.0
    a, b = plan.side, 1 - plan.side
    return event_bound(hits[a], sizes[a], hits[b], sizes[b], delta, significance)


# ---- other libraries --------------------------------------------------------------------------------------------


def _opendp(samples: int, confidence: Number) -> Audit | None:
    try:
        dp = import_module("opendp.prelude")
    except ImportError:
        return None
    dp.enable_features("contrib")
    noise = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)
    return audit(lambda: noise(0), lambda: noise(1), samples=samples, confidence=confidence, promised=Pure(1))


def _diffprivlib(samples: int, confidence: Number) -> Audit | None:
    try:
        mechanisms = import_module("diffprivlib.mechanisms")
    except ImportError:
        return None
    noise = mechanisms.Laplace(epsilon=1.0, sensitivity=1.0)
    return audit(
        lambda: float(noise.randomise(0.0)),
        lambda: float(noise.randomise(1.0)),
        samples=samples,
        confidence=confidence,
        promised=Pure(1),
    )


LIBRARIES: dict[str, Callable[[int, Number], Audit | None]] = {
    "opendp, discrete Laplace noise": _opendp,
    "diffprivlib, Laplace noise": _diffprivlib,
}
"""The audit of one mechanism of another library each, at ε = 1; None where it is not installed."""
