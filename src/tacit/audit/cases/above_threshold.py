"""Questions about numbers of persons until one is above a threshold.

Twins: no noise on the threshold or on the questions, half of it, and going on under the same threshold after one was
above. Records are the questions that a person counts for, of three.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import product

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Pure
from tacit.mechanisms.law import Law
from tacit.mechanisms.search.above_threshold import _law, above_threshold, split
from tacit.mechanisms.search.scan_rates import Rates
from tacit.numbers.enclosures import BITS, Enclosure, exp, total
from tacit.randomness import Randomness
from tacit.randomness.discrete import _geometric

EPSILON, THRESHOLD = Fraction(1), 2
UNIVERSE = ((1, 0, 0), (0, 1, 1), (1, 1, 1))
_NONE = Fraction(100)
"""A rate at which the noise is 0 but with probability e^-100."""

Answers = tuple[bool, ...]


def numbers(x: Dataset) -> list[int]:
    """How many persons count for each question."""
    return [sum(person[i] for person in x) for i in range(3)]


def _with(change: Rates) -> Mechanism:
    return lambda x: _law(numbers(x), THRESHOLD, change)


class _GoesOn(Law[Answers]):
    """The twin that answers all questions under one threshold, however many are above."""

    name = "above threshold that goes on"
    LONGEST = 100

    def __init__(self, asked: list[int], pair: Rates) -> None:
        self.guarantee, self._asked, self._rates = Pure(EPSILON), asked, pair

    def _draw(self, source: Randomness) -> Answers:
        first, each = ((rate.numerator, rate.denominator) for rate in self._rates)
        limit = THRESHOLD + _geometric(*first, source)
        return tuple(q + _geometric(*each, source) >= limit for q in self._asked)

    def pmf(self, y: Answers, bits: int = BITS) -> Enclosure:
        """Σ_ξ P(ξ)·Π P(ν_i ≥ need + ξ), or its complement; what is beyond the longest ξ is left out."""
        first, each = self._rates
        parts = []
        for xi in range(self.LONGEST):
            part = exp(-first * xi, bits) * (1 - exp(-first, bits))
            for q, above in zip(self._asked, y, strict=True):
                hit = exp(-each * max(0, THRESHOLD - q + xi), bits)
                part = part * (hit if above else 1 - hit)
            parts.append(part)
        return total(parts, bits)

    def outcomes(self) -> Iterable[Answers]:
        """Every sequence of answers."""
        return product((False, True), repeat=len(self._asked))

    def key(self) -> Hashable:
        """What was asked."""
        return type(self), tuple(self._asked), self._rates


_PAIR = split(EPSILON)

CASES = (
    AuditCase(
        name="above threshold, three questions",
        covers="mechanisms.above_threshold",
        mechanism=lambda x: above_threshold(numbers(x), THRESHOLD, EPSILON),
        datasets=datasets(UNIVERSE, 4),
        promised=Pure(EPSILON),
        twins={
            "no noise on the threshold": _with(Rates(_NONE, _PAIR.each)),
            "no noise on the questions": _with(Rates(_PAIR.threshold, _NONE)),
            "half the noise on the questions": _with(Rates(_PAIR.threshold, 2 * _PAIR.each)),
            "goes on after one was above": lambda x: _GoesOn(numbers(x), _PAIR),
        },
        sampled=[((1, 0, 0), (1, 1, 1))],
    ),
)
