"""A museum of broken mechanisms: mistakes that were made or published, each caught by the audit of this library.

Every exhibit states what was promised, carries the mistake in a few lines, and beside it the repaired mechanism, which
passes the same check: a check that refuses everything would prove nothing. Those with an exact law are verified over
all their small datasets; the others are audited from samples at confidence 1 − 10^-7.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from math import ceil, floor, isqrt, log
from typing import Any

from tacit.audit.exact import Dataset, Mechanism, Verification, datasets, neighbours, verify
from tacit.audit.statistical import Audit, Sampler, audit
from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.mechanisms.choose.exponential import exponential
from tacit.mechanisms.law import Law
from tacit.mechanisms.local.order_statistics import Quantile
from tacit.mechanisms.local.smooth_sensitivity import smooth_sensitivity
from tacit.mechanisms.noise.noise import NoisyInteger, TruncatedInteger, laplace, laplace_vector, randomised_response
from tacit.mechanisms.repeat.absorb import Absorbed, absorb
from tacit.mechanisms.search.binary_search import BinarySearchLaw, binary_search
from tacit.mechanisms.search.scan_rates import Rates
from tacit.mechanisms.search.threshold_scan import ScanLaw, threshold_scan
from tacit.mechanisms.totals.ratio import ratio
from tacit.noises import DiscreteLaplace, TruncatedLaplace
from tacit.numbers.enclosures import BITS, Enclosure, exp
from tacit.randomness import Categorical, Randomness

ONE = Pure(1)
SURE = 1 - Fraction(1, 10**7)
SAMPLES = 4000


@dataclass(frozen=True)
class Exhibit:
    """One mistake: its story, the check of the broken mechanism and the same check of the repaired one."""

    name: str
    story: str
    promised: Guarantee
    broken: Callable[[], Verification | Audit]
    repaired: Callable[[], Verification | Audit]


@dataclass(frozen=True)
class Caught:
    """What the checks said about an exhibit."""

    exhibit: Exhibit
    broken: Verification | Audit
    repaired: Verification | Audit

    @property
    def passed(self) -> bool:
        """Whether the mistake was caught and the repair was not."""
        return self.broken.broken and not self.repaired.broken

    @property
    def measured(self) -> float:
        """The loss found, in the unit of the promise."""
        return self.broken.loss


def catch(exhibits: Iterable[Exhibit] | None = None) -> Iterator[Caught]:
    """Run the checks of each exhibit (all of them unless given)."""
    for exhibit in EXHIBITS if exhibits is None else exhibits:
        yield Caught(exhibit, exhibit.broken(), exhibit.repaired())


def _exactly(
    mechanism: Mechanism, collection: Sequence[Dataset], promised: Guarantee, points: Sequence[Hashable] | None
) -> Verification:
    return verify(mechanism, neighbours(collection), promised, points=points)


def _sampled(first: Sampler, second: Sampler, promised: Guarantee, delta: Fraction = Fraction(0)) -> Audit:
    return audit(first, second, samples=SAMPLES, delta=delta, confidence=SURE, promised=promised)


def _exact_exhibit(
    name: str,
    story: str,
    promised: Guarantee,
    collection: Sequence[Dataset],
    *,
    broken: Mechanism,
    repaired: Mechanism,
    points: Sequence[Hashable] | None = None,
) -> Exhibit:
    """An exhibit with an exact law; ``points`` are the outputs to compare where there are too many to list."""
    check = partial(_exactly, collection=collection, promised=promised, points=points)
    return Exhibit(name, story, promised, partial(check, broken), partial(check, repaired))


CROWD = datasets((1,), 5)
"""Up to five persons who are all alike: only their number tells."""


# ---- noise that is left out or used twice -----------------------------------------------------------------------


def _scan(x: Dataset) -> StepLoss:
    """The number of persons above y, on 0, …, 5."""
    return StepLoss.from_losses(integers(0, 5), [max(0, len(x) - y) for y in range(6)])


def _silent_scan(x: Dataset) -> Law[Any]:
    """A rate of 100 makes the comparisons' noise 0 but with probability e^-100."""
    return ScanLaw(_scan(x), True, Rates(Fraction(1), Fraction(100)), 2, ONE)


class _SameNoise(Law[tuple[int, int]]):
    """Two counts with one noise between them."""

    name = "one noise for two counts"

    def __init__(self, counts: tuple[int, int], epsilon: Fraction) -> None:
        self.guarantee = ONE
        self._counts, self._noise = counts, laplace(0, epsilon)

    def _draw(self, source: Randomness) -> tuple[int, int]:
        z = self._noise._draw(source)
        return self._counts[0] + z, self._counts[1] + z

    def pmf(self, y: tuple[int, int], bits: int = BITS) -> Enclosure:
        """The noise's probability where both counts agree on it, else 0."""
        first, second = y[0] - self._counts[0], y[1] - self._counts[1]
        return self._noise.pmf(first, bits) if first == second else Enclosure.of(0, bits)

    def outcomes(self) -> Iterable[tuple[int, int]]:
        """What the noise's window makes of the counts."""
        return ((self._counts[0] + z, self._counts[1] + z) for z in self._noise.outcomes())


def _two_counts(x: Dataset) -> tuple[int, int]:
    return sum(x), len(x)


# ---- noise in floating point ------------------------------------------------------------------------------------


@cache
def _uniform() -> Callable[[], float]:
    from random import SystemRandom

    return SystemRandom().random


def _float_laplace(value: float) -> float:
    """A value plus textbook Laplace noise of scale 1, all in doubles."""
    sign = 1.0 if _uniform()() < 0.5 else -1.0
    return value + sign * log(1.0 - _uniform()())


# ---- published mistakes -----------------------------------------------------------------------------------------

STEP, HIGHEST, SHIFT = 10, 20, 7
"""A grid of three values, 0, 10 and 20; the shift is ⌈2·ln(3/β)⌉ for β = 10 %."""


class _Buckets(Law[int]):
    """An exponential mechanism at ε = 1 whose weights m·e^{-k/2} are given one by one."""

    name = "weighed buckets"

    def __init__(self, weights: Sequence[tuple[int, int]]) -> None:
        self.guarantee = ONE
        self._weights, self._drawn = weights, Categorical(weights, Fraction(1, 2))

    def _draw(self, source: Randomness) -> int:
        return STEP * self._drawn.draw(source)

    def pmf(self, y: int, bits: int = BITS) -> Enclosure:
        """The weight of a grid value over all weights."""
        parts = [exp(Fraction(-k, 2), bits) * m for m, k in self._weights]
        return parts[y // STEP] / sum(parts[1:], parts[0])

    def outcomes(self) -> Iterable[int]:
        """The grid."""
        return range(0, HIGHEST + 1, STEP)


def _shifted_buckets(x: Dataset, width: int) -> _Buckets:
    """The largest of persons' values, all 10: the centre D_τ weighs 1, every other grid value its width by e^{-ℓ/2}.

    Below the centre ℓ counts how many persons more than τ must go; above it how many fewer.
    """
    centre = STEP if len(x) > SHIFT else 0
    away = {0: len(x) - SHIFT, STEP: SHIFT + 1 - len(x), HIGHEST: SHIFT + 1}
    return _Buckets([(1, 0) if y == centre else (width, max(1, away[y])) for y in (0, STEP, HIGHEST)])


def _listed_bound(a: tuple[int, int], b: tuple[int, int]) -> Fraction:
    """The listing's bound on the local sensitivity of a/b, with the ends of a the wrong way round."""
    turn = isqrt(max(0, a[0] * a[0] - a[0])) + a[0]
    inside = [n for n in {b[0], b[1], turn, turn + 1} if b[0] <= n <= b[1]]
    return max(Fraction(a[0], b[0] * b[0] - b[0]), *(Fraction(n - a[1], n * n - n) for n in inside))


RATIO = Approx(1, Fraction(1, 10**6))
RATIO_PAIR = ((1, 400), (0, 399))
"""One person in 400 has the property, or nobody in 399: counts near which the listing's bound is far too small."""
LATTICE = 10**9
"""Shares are released in steps of 10^-9, so that no binary digit tells more than the noise does."""


def _listed_ratio(a: int, b: int) -> int:
    """The share by the listing: a tenth of ε for noisy bounds, the rest for Laplace noise of the bound's size."""
    first = RATIO.epsilon / 10
    reach = 2 * log(2 / float(RATIO.delta)) / float(first)
    noisy_a, noisy_b = (laplace(n, first / 2).sample() for n in (a, b))
    ends_a = max(0, floor(noisy_a - reach)), ceil(noisy_a + reach)
    ends_b = floor(noisy_b - reach), ceil(noisy_b + reach)
    if ends_b[0] <= 1:
        return -LATTICE  # the listing's fallback does not run: one more output
    scale = float(_listed_bound(ends_a, ends_b) / (RATIO.epsilon - first))
    return round(LATTICE * (a / b + scale * _float_laplace(0.0)))


def _mended_ratio(a: int, b: int) -> int:
    return int(LATTICE * ratio(a, b, RATIO.epsilon, RATIO.delta, method="local").sample().value)


def _undercharged(x: Dataset) -> BinarySearchLaw:
    """Six values need three comparisons, charged as log2(6) = 2.585."""
    return BinarySearchLaw(_scan(x), DiscreteLaplace(Fraction(1) / Fraction("2.5849625")), 0, ONE)


FINE = 100
"""Steps of the lattice for each person, so that integer noise is close to the continuous one."""
CUT = Approx(2, Fraction(1, 1000))


def _truncated(x: Dataset, bound: float) -> TruncatedInteger:
    return TruncatedInteger(FINE * len(x), TruncatedLaplace(CUT.epsilon / FINE, ceil(FINE * bound)), CUT)


def _bound_published() -> float:
    return (1 + log(1 / (2 * float(CUT.delta)))) / float(CUT.epsilon)


def _bound_valid() -> float:
    return log(1 + (float(exp(CUT.epsilon)) - 1) / (2 * float(CUT.delta))) / float(CUT.epsilon)


ABSORBED = Approx(1, Fraction(1, 10))


def _absorbed(x: Dataset, beta: Fraction) -> Absorbed[int]:
    """A parity told by randomised response, its wrong answers corrected with probability β over all."""
    parity = len(x) % 2
    return absorb(randomised_response(parity, 2, 1), parity, lambda y: y != parity, beta)


MISSING = 2
"""How many persons a subset may lack."""


def _spike(persons: int) -> int:
    """A statistic that is 1 on a single person and 0 otherwise."""
    return 1 if persons == 1 else 0


def _persons_to_remove(count: int, best: Callable[[int], int]) -> int:
    """The fewest persons whose removal brings the monotonised statistic to 0."""
    return next(j for j in range(count + 1) if best(count - j) == 0)


def _relative(count: int) -> int:
    """max f over subsets that lack at most two of these persons."""
    return max(_spike(kept) for kept in range(max(0, count - MISSING), count + 1))


def _absolute(count: int) -> int:
    """max f over subsets of at least one person, a floor that does not move with the data."""
    return max((_spike(kept) for kept in range(1, count + 1)), default=0)


def _monotonised(x: Dataset, best: Callable[[int], int]) -> Law[Any]:
    loss = StepLoss.from_losses(integers(0, 1), [_persons_to_remove(len(x), best), 0], one_directional=True)
    return exponential(loss, 1)


# ---- noise of the size that the data at hand need ----------------------------------------------------------------

MIDDLE = Quantile(0, 8)
"""The median of values from 0 to 8, in whole steps."""


def _at_hand(x: Dataset) -> NoisyInteger:
    """The median with noise for its local sensitivity here, at least for one step: a fact about the data."""
    return laplace(int(MIDDLE.value(x)), 1, max(1, int(MIDDLE.local(x))))


EXHIBITS: tuple[Exhibit, ...] = (
    _exact_exhibit(
        "noise of scale 1/2ε",
        "A count with Laplace noise of half the scale: every log ratio is doubled.",
        ONE,
        CROWD,
        broken=lambda x: NoisyInteger(len(x), DiscreteLaplace(Fraction(2)), ONE),
        repaired=lambda x: laplace(len(x), 1),
    ),
    _exact_exhibit(
        "threshold without noise",
        "A scan whose threshold is noisy but whose comparisons are not: where it stops tells the loss.",
        ONE,
        CROWD,
        broken=_silent_scan,
        repaired=lambda x: threshold_scan(_scan(x), 1, "up", Fraction(2, 5), 2),
    ),
    _exact_exhibit(
        "reused noise",
        "Two counts share one draw of noise, so their difference is released exactly.",
        ONE,
        datasets((0, 1), 3),
        broken=lambda x: _SameNoise(_two_counts(x), Fraction(1, 2)),
        repaired=lambda x: laplace_vector(_two_counts(x), 1, sensitivity=2),
        points=[(i, j) for i in range(-1, 5) for j in range(-1, 5)],
    ),
    Exhibit(
        "Laplace noise in floating point",
        "The last binary digits of value + noise tell which value the noise was added to.",
        ONE,
        lambda: _sampled(lambda: _float_laplace(0.0), lambda: _float_laplace(1.0), ONE),
        lambda: _sampled(laplace(0, 1), laplace(1, 1), ONE),
    ),
    _exact_exhibit(
        "shifted inverse, buckets weighed by raw width",
        "On a grid of step 10 every value weighs ten times its due but the centre, which the data choose.",
        ONE,
        datasets((STEP,), 2 * SHIFT + 1),
        broken=lambda x: _shifted_buckets(x, STEP),
        repaired=lambda x: _shifted_buckets(x, 1),
    ),
    Exhibit(
        "ratio by local sensitivity, as listed",
        "The bound on the local sensitivity takes the ends of an interval the wrong way round: the noise is too small.",
        RATIO,
        lambda: _sampled(
            lambda: _listed_ratio(*RATIO_PAIR[0]), lambda: _listed_ratio(*RATIO_PAIR[1]), RATIO, RATIO.delta
        ),
        lambda: _sampled(
            lambda: _mended_ratio(*RATIO_PAIR[0]), lambda: _mended_ratio(*RATIO_PAIR[1]), RATIO, RATIO.delta
        ),
    ),
    _exact_exhibit(
        "binary search charged log2|Y|",
        "Six values take three comparisons on some paths, each charged a 2.585th of ε.",
        ONE,
        CROWD,
        broken=_undercharged,
        repaired=lambda x: binary_search(_scan(x), 0, epsilon=1),
    ),
    _exact_exhibit(
        "noise truncated at (1 + ln(1/2δ))/ε",
        "The shorter bound is valid only for ε up to about 1.31; at ε = 2 the ends weigh more than δ.",
        CUT,
        CROWD,
        broken=lambda x: _truncated(x, _bound_published()),
        repaired=lambda x: _truncated(x, _bound_valid()),
    ),
    _exact_exhibit(
        "failures absorbed for δ + β",
        "An answer that is good for one dataset may be the one replaced for its neighbour: δ grows by (1 + e^ε)·β.",
        ABSORBED,
        CROWD,
        broken=lambda x: _absorbed(x, ABSORBED.delta),
        repaired=lambda x: _absorbed(x, ABSORBED.delta / 4),
    ),
    _exact_exhibit(
        "monotonised with a relative floor",
        "The best value over subsets that lack at most two persons is not monotone; one person moves the loss by 3.",
        ONE,
        CROWD,
        broken=partial(_monotonised, best=_relative),
        repaired=partial(_monotonised, best=_absolute),
    ),
    _exact_exhibit(
        "noise for the local sensitivity",
        "A median with noise of the size that the data at hand need: an answer far away tells that the size was large.",
        ONE,
        datasets((0, 4, 8), 5),
        broken=_at_hand,
        repaired=lambda x: smooth_sensitivity(MIDDLE, x, 1, lattice=1),
        points=range(-24, 33),
    ),
)
"""All of them."""
