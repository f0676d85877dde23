"""The mean by two sums: the sums, the guard, and an error that beats sum and count with half of ε each."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.mechanisms import TwoSums, bounded_mean
from tacit.mechanisms.totals.bounded_mean import share
from tests.support import agrees


@given(values=st.lists(st.integers(-9, 9), max_size=20))
def test_without_noise_it_is_the_mean(values: list[int]) -> None:
    """At ε = 10^6 the noise is 0 but with probability e^-50000."""
    law = bounded_mean(values, -5, 5, 10**6, unit=1)
    inside = [min(max(v, -5), 5) for v in values]
    drawn = law.sample()
    assert drawn.value == (Fraction(sum(inside), len(inside)) if values else 0)
    assert (drawn.above, drawn.below) == (sum(inside) + 5 * len(inside), 5 * len(inside) - sum(inside))
    assert law.guarantee == Pure(10**6)


def test_absent_values_are_left_out_or_count_as_low_where_persons_are_public() -> None:
    values = [2, float("nan"), None]
    assert bounded_mean(values, 0, 4, 10**6, unit=1).sample() == TwoSums(Fraction(2), 2, 2)
    public = bounded_mean(values, 0, 4, 10**6, unit=1, persons_public=True).sample()
    assert public == TwoSums(Fraction(2, 3), 2, 10)


def test_nothing_left_is_the_middle() -> None:
    assert share(-3, -1) == Fraction(1, 2)
    assert share(-3, 1) == 0
    law = bounded_mean([], 10, 20, 1, unit=1)
    assert law.pmf(TwoSums(Fraction(15), 0, 0)).low > 0
    assert law.pmf(TwoSums(Fraction(14), 0, 0)).high == 0


def test_two_sums_beat_sum_and_count() -> None:
    """Mean absolute error (1 − p(1−p))/(εn) against at least 1/(εn) for half of ε on each; 5 standard errors apart."""
    n, draws = 2000, 3000
    law = bounded_mean({0: n // 2, 1: n // 2}, 0, 1, 1, unit=1)
    errors = [abs(float(y.value) - 0.5) * n for y in law.sample(draws)]
    mean = sum(errors) / draws
    assert mean == pytest.approx(0.75, abs=0.1)


def test_sampler_agrees_with_its_law() -> None:
    """False alarm 1e-7."""
    law = bounded_mean([0, 1, 2], 0, 2, 12, unit=1)
    assert agrees(law.sample(5000), {y: float(law.pmf(y)) for y in law.outcomes()})
    assert "two sums" in law.accuracy("0.1").statement


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="low must be below high"):
        bounded_mean([1], 2, 1, 1)
    with pytest.raises(InvalidInput, match="unit must divide"):
        bounded_mean([1], 0, 1, 1, unit="0.3")
