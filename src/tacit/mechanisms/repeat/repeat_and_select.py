"""Repeat and select: run a private mechanism K times, K random and secret, and return the output of the best score.

PROMISE  For one draw, whatever the number of runs turns out to be (`repeat_promises` has the proofs):
- K truncated negative binomial: a Pure(ε) mechanism gives Pure((2+η)ε), an Approx(ε, δ) one Approx((2+η)ε, δ·E[K]) or a
  little less; with ``order=`` or ``delta=`` the Rényi bound, also for Zcdp and Rényi curves, which is better for many
  runs of a mechanism with Gaussian noise;
- K Poisson: the Rényi bound alone.
The score must be part of what the mechanism releases: it is not looked up in the data.

ACCURACY  The best of K runs has score quantile z or more with probability 1 − E[z^K]: with K geometric of mean 1/γ, at
least the top share t of one run's scores except with probability (1−t)γ/(t + (1−t)γ).

COST  K runs. The time taken shows K, and K known makes the promise void: let nobody time it who sees the output.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Any, TypeVar

from tacit.guarantees import Guarantee
from tacit.mechanisms.law import Law
from tacit.mechanisms.repeat.repeat_promises import promised
from tacit.mechanisms.repeat.run_counts import RunCount
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number
from tacit.randomness.source import Randomness

T = TypeVar("T")
Score = Callable[[Any], Any]


def first_item(output: Any) -> Any:
    """The score of an output that is a pair (score, …)."""
    return output[0]


class Selected(Law[T | None]):
    """The law of the best of K draws; None where there was no draw, as Poisson allows."""

    def __init__(self, law: Law[T], runs: RunCount, score: Score, guarantee: Guarantee) -> None:
        self.name = f"best of several {law.name}"
        self.guarantee, self.runs = guarantee, runs
        self._law, self._score = law, score
        self._known: dict[int, dict[Any, tuple[Enclosure, Enclosure]]] = {}

    def _draw(self, source: Randomness) -> T | None:
        return best((self._law._draw(source) for _ in range(self.runs.draw(source))), self._score)

    def _levels(self, bits: int) -> dict[Any, tuple[Enclosure, Enclosure]]:
        """Score → the probability that the best has it, and one draw's; draws not listed may have any score."""
        if bits not in self._known:
            work = 2 * bits
            shares: dict[Any, Enclosure] = {}
            rest = Enclosure.of(1, work)
            for y in self._law.outcomes():
                p = self._law.pmf(y, work)
                rest = rest - p
                shares[self._score(y)] = shares.get(self._score(y), Enclosure.of(0, work)) + p
            unlisted = Enclosure.between(0, max(rest.high, Fraction(0)), work)
            levels: dict[Any, tuple[Enclosure, Enclosure]] = {}
            below, up_to = self.runs.generating(unlisted), unlisted
            for score in sorted(shares):
                up_to = (up_to + shares[score]).clamp(0, 1)
                here = self.runs.generating(up_to)
                levels[score] = (here - below).clamp(0, 1), shares[score]
                below = here
            self._known[bits] = levels
        return self._known[bits]

    def pmf(self, y: T | None, bits: int = BITS) -> Enclosure:
        """f(Q(≤ y)) − f(Q(< y)) for the score's level, shared among its outputs as one draw shares it."""
        if y is None:
            return self.runs.pmf(0, bits)
        one = self._law.pmf(y, 2 * bits)
        levels = self._levels(bits)
        if one.high == 0 or self._score(y) not in levels:
            return Enclosure.of(0, bits)
        chosen, all_of_it = levels[self._score(y)]
        return (chosen * one / all_of_it).clamp(0, 1)

    def outcomes(self) -> Iterable[T]:
        """The law's; what is left is no draw at all, where that may be."""
        return self._law.outcomes()

    def key(self) -> Hashable:
        """The law of one draw, how many there are, and how they are ranked."""
        return type(self), self.guarantee, self.runs, self._score, self._law.key()


def best(outputs: Iterable[T], score: Score) -> T | None:
    """The first output of the largest score, which is a fair choice among equal ones; None if there is none."""
    found, largest = None, None
    for output in outputs:
        value = score(output)
        if largest is None or value > largest:
            found, largest = output, value
    return found


def repeat_and_select(
    law: Law[T],
    runs: RunCount,
    *,
    score: Score = first_item,
    order: Number | None = None,
    delta: Number | None = None,
) -> Selected[T]:
    """The law of the best of several draws of a private mechanism's law.

    ``runs`` is `NegativeBinomial(eta, gamma)` or `Poisson(mean)`; ``score`` ranks outputs, the first item of a tuple
    unless given. The guarantee is of the law's own kind, or Renyi at ``order``, or Approx at ``delta``.

    >>> from tacit.mechanisms import NegativeBinomial, laplace, repeat_and_select
    >>> law = repeat_and_select(laplace(0, 1), NegativeBinomial(1, "0.5"), score=int)
    >>> law.guarantee
    Pure(3)
    """
    return Selected(law, runs, score, promised(law.guarantee, runs, order=order, delta=delta))
