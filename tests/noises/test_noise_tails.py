"""Tails of integer noises: against direct sums, and the least integers that reach a probability."""

from fractions import Fraction
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.noises.noise_tails import gaussian_tail, laplace_reach, laplace_tail, log_ceil

rates = st.fractions(Fraction(1, 20), 3, max_denominator=20)


@given(epsilon=rates, k=st.integers(-30, 30))
def test_laplace_tail_is_the_sum_of_its_terms(epsilon: Fraction, k: int) -> None:
    r = exp(-float(epsilon))
    at_zero = (1 - r) / (1 + r)
    below = sum(at_zero * r ** abs(z) for z in range(-400, k))
    assert float(laplace_tail(epsilon, k)) == pytest.approx(1 - below, abs=1e-7)
    assert float(laplace_tail(epsilon, k)) == pytest.approx(1 - float(laplace_tail(epsilon, 1 - k)))


@given(variance=st.fractions(Fraction(1, 10), 50, max_denominator=10), k=st.integers(-20, 40))
def test_gaussian_tail_is_the_sum_of_its_terms(variance: Fraction, k: int) -> None:
    terms = {z: exp(-z * z / (2 * float(variance))) for z in range(-120, 121)}
    expected = sum(p for z, p in terms.items() if z >= k) / sum(terms.values())
    assert float(gaussian_tail(variance, k)) == pytest.approx(expected, rel=1e-9, abs=1e-300)
    assert gaussian_tail(variance, k).width <= gaussian_tail(variance, k).high / 2**110


@given(epsilon=rates, beta=st.fractions(Fraction(1, 10**9), Fraction(99, 100)))
def test_reach_is_the_least_integer_of_its_tail(epsilon: Fraction, beta: Fraction) -> None:
    k = laplace_reach(epsilon, beta)
    assert laplace_tail(epsilon, k).high <= beta
    assert k == 0 or laplace_tail(epsilon, k - 1).low > beta


@given(scale=rates, argument=st.fractions(Fraction(1, 1000), 10**6))
def test_log_ceil(scale: Fraction, argument: Fraction) -> None:
    value = float(scale) * log(argument)
    assert value - 1e-6 <= log_ceil(scale, argument) < value + 1 + 1e-6


def test_log_ceil_where_floats_cannot_tell() -> None:
    assert log_ceil(Fraction(1), Fraction(1)) == 0
    assert log_ceil(Fraction(1), 1 + Fraction(1, 10**60)) == 1
    assert log_ceil(Fraction(1), 1 - Fraction(1, 10**60)) == 0
