"""Errors of answers about samples: coverage of the number of persons computed exactly, numbers scaled outward."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf

import pytest

from tacit.answers.sampled import SampledCount, scaled
from tests.support import Binomial


@dataclass(frozen=True)
class Silent:
    """No noise."""

    variance: float = 0.0

    def reach(self, confidence: float) -> tuple[int, int]:
        return 0, 0


@pytest.mark.parametrize("share", [Fraction(1, 100), Fraction(1, 3), Fraction(9, 10)])
@pytest.mark.parametrize("persons", [0, 1, 7, 60, 3000])
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000)])
def test_sampling_alone_misses_the_truth_at_most_half_of_what_the_confidence_leaves(
    share: Fraction, persons: int, confidence: Fraction
) -> None:
    missed = 0.0
    for seen in range(persons + 1):
        low, high = SampledCount(Silent(), seen, share).interval(None, confidence)
        if not low <= persons <= high:
            missed += Binomial(persons, float(share)).exactly(seen)
    assert missed <= (1 - float(confidence)) / 2


def test_the_interval_is_of_the_order_of_the_sampling_error() -> None:
    """10,000 persons, a tenth sampled: the deviation is 300, and 95 % of Bernstein's bound are about four of them."""
    low, high = SampledCount(Silent(), 1000, Fraction(1, 10)).interval(None, Fraction(95, 100))
    assert 10_000 - 1000 < low < 10_000 < high < 10_000 + 1000


def test_few_sampled_persons_are_at_least_there() -> None:
    low, _ = SampledCount(Silent(), 3, Fraction(9, 10)).interval(None, Fraction(999, 1000))
    assert low == 3


def test_numbers_are_scaled_as_the_kind_they_are() -> None:
    third = Fraction(1, 3)
    assert scaled(5, third) == 15
    assert (scaled(1, Fraction(2, 3)), scaled(1, Fraction(2, 3), -inf), scaled(1, Fraction(2, 3), inf)) == (2, 1, 2)
    assert scaled(Decimal("1.25"), third) == Decimal("3.75")
    assert scaled(Decimal("0.01"), Fraction(2, 3), inf) == Decimal("0.02")
    assert scaled(0.5, Fraction(1, 2)) == 1.0
    assert scaled(0.5, Fraction(1, 2), inf) > 1.0 > scaled(0.5, Fraction(1, 2), -inf)
    assert scaled(inf, third) == inf
    assert scaled(None, third) is None
    assert scaled("x", third) == "x"
