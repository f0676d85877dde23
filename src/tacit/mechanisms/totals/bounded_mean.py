"""The mean of values in a known range, by two sums.

PROMISE  Pure(ε) for one draw of `TwoSums`: both noisy sums and the mean that follows from them.

PROOF  With values in [low, high], counted in whole units, the pair (Σ(x − low), Σ(high − x)) grows by (x − low, high
− x) when a person is added: non-negative parts that add up to high − low. So its ℓ1-sensitivity is high − low, and
discrete Laplace noise of rate ε/(high − low) on each is ε-DP. Where the number of persons is public and one is
replaced, it is twice that. The mean low + (high − low)·S₁/(S₁ + S₂), negative sums taken as 0 and the middle of the
range where nothing is left, is post-processing.

ACCURACY  For n persons of mean m and share p = (m − low)/(high − low) the mean absolute error is about (high −
low)·(1 − p(1 − p))/(εn): as if n were known and only p or 1 − p, whichever is larger, had noise, and up to a third
less than noise on sum and count with half of ε each.

COST  Two draws.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.mechanisms.law import Accuracy, Law
from tacit.mechanisms.noise.noise import laplace
from tacit.mechanisms.person_values import Values, kept, numbers, persons, span
from tacit.noises import DiscreteLaplace
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number, positive
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.randomness import Randomness


class TwoSums(NamedTuple):
    """A released mean and the noisy sums Σ(x − low) and Σ(high − x), in units, that it follows from."""

    value: Fraction
    above: int
    below: int


def share(above: int, below: int) -> Fraction:
    """above/(above + below), negative numbers taken as 0; ½ where nothing is left."""
    a, b = max(above, 0), max(below, 0)
    return Fraction(a, a + b) if a + b else Fraction(1, 2)


class BoundedMeanLaw(Law[TwoSums]):
    """The law of two noisy sums and their mean."""

    name = "mean by two sums"

    def __init__(
        self, above: int, below: int, low: Fraction, high: Fraction, sensitivity: int, guarantee: Pure
    ) -> None:
        self.low, self.high, self.guarantee = low, high, guarantee
        self._above = laplace(above, guarantee.epsilon, sensitivity)
        self._below = laplace(below, guarantee.epsilon, sensitivity)

    def _released(self, above: int, below: int) -> TwoSums:
        return TwoSums(self.low + (self.high - self.low) * share(above, below), above, below)

    def _draw(self, source: Randomness) -> TwoSums:
        return self._released(self._above._draw(source), self._below._draw(source))

    def pmf(self, y: TwoSums, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        if y != self._released(y.above, y.below):
            return Enclosure.of(0, bits)
        return self._above.pmf(y.above, bits) * self._below.pmf(y.below, bits)

    def outcomes(self) -> Iterable[TwoSums]:
        """Every pair of the sums' windows."""
        return (self._released(*pair) for pair in product(self._above.outcomes(), self._below.outcomes()))

    def key(self) -> Hashable:
        """The two sums, and the range."""
        return type(self), self.guarantee, self.low, self.high, self._above.key(), self._below.key()

    def accuracy(self, beta: Number) -> Accuracy:
        """How far each of the two sums is off."""
        stated = self._above.accuracy(beta)
        return Accuracy(stated.beta, None, f"for each of the two sums, {stated.statement}")


def bounded_mean(
    values: Values,
    low: Number,
    high: Number,
    epsilon: Number,
    *,
    unit: Number | None = None,
    persons_public: bool = False,
) -> BoundedMeanLaw:
    """The mean of values saturated at the ends of a public range, one for each person; absent values are left out.

    Values count in whole units, by default the 2^-20th part of the range. With ``persons_public`` neighbours differ by
    one person replaced, and an absent value counts as the low end.

    >>> from tacit.mechanisms import bounded_mean
    >>> law = bounded_mean([2, 3, 4], 0, 10, epsilon=1)
    >>> 0 <= law.sample().value <= 10
    True
    """
    a, b = span(low, high)
    step = (b - a) / 2**20 if unit is None else positive(unit, "unit")
    width = (b - a) / step
    if width.denominator != 1:
        raise InvalidInput("unit must divide high − low; give a part of the range such as its hundredth.")
    records = kept(values)
    offsets = [((value - a) / step + Fraction(1, 2)) // 1 for value in numbers(records, a, b)]
    counting = persons(records) if persons_public else len(offsets)
    above = sum(offsets)
    below = counting * width.numerator - above
    return BoundedMeanLaw(above, below, a, b, sensitivity(width.numerator, persons_public), Pure(epsilon))


def sensitivity(width: int, persons_public: bool) -> int:
    """How far one person moves the two sums together, in units."""
    return (2 if persons_public else 1) * width


def argue(p: Argument, *, rule: Any = sensitivity) -> None:
    """Two sums that a person of value x raises by x − low and high − x; one replaced moves them up and down."""
    epsilon, width = p.positive("ε"), p.count("high − low", 1)
    x, y = p.steps("x − low", 0, width), p.steps("another x − low", 0, width)
    moves = {"a person added": (x, width - x), "a person removed": (-x, x - width), "replaced": (y - x, x - y)}
    for name, (above, below) in moves.items():
        with p.case(name):
            rate = DiscreteLaplace.for_pure(epsilon, rule(width, name == "replaced")).rate
            p.promise(by.noise(p, above, rate, rate) + by.noise(p, below, rate, rate), epsilon)


PROOFS = (
    Proof(
        "mean by two sums",
        "mechanisms.bounded_mean",
        "Pure(ε)",
        argue,
        "values are saturated to the public range, one for each person; a person is added, removed or replaced",
    ),
)
