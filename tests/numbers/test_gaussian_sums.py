"""Sums of e^{-z²/(2v)} against flint: theta functions by brute force, tails by summing them."""

from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from tacit.numbers.enclosures import Enclosure
from tacit.numbers.gaussian_sums import SUMMED, tail_sum, whole_sum
from tests.guarantees.oracle import Ball, ball


def summed(v: Fraction, first: int) -> Ball:
    """Σ_{z ≥ first} one by one, first ≥ 0, far enough that what is left is below 10^-80 of it."""
    terms = int(20 * float(v) ** 0.5) + 20
    return sum(((-ball(z * z / (2 * v))).exp() for z in range(first, first + terms)), arb(0))


@given(st.fractions(Fraction(1, 1000), 60, max_denominator=1000), st.integers(32, 200))
def test_whole_sums(v: Fraction, bits: int) -> None:
    result = whole_sum(v, bits)
    with ctx.workprec(300):
        truth = 2 * summed(v, 1) + 1
        assert not ball(result.low) > truth
        assert not ball(result.high) * (1 + arb(10) ** -75) < truth
    assert result.width <= result.high / 2 ** (bits - 4)


@pytest.mark.parametrize("v", [Fraction(200), Fraction(10**6), Fraction(10**30)])
def test_whole_sums_of_wide_laws(v: Fraction) -> None:
    """√(2πv), as the correction is far below the last bit."""
    result = whole_sum(v, 100)
    with ctx.workprec(300):
        truth = (2 * arb.pi() * ball(v)).sqrt()
        assert abs(ball(result.low) - truth) < truth / arb(2) ** 96
        assert not ball(result.low) > truth
    assert result.width <= result.high / 2**90


@given(st.fractions(Fraction(1, 5), 200, max_denominator=100), st.integers(1, 60), st.integers(32, 160))
def test_tails_one_by_one(v: Fraction, k: int, bits: int) -> None:
    result = tail_sum(v, k, bits)
    with ctx.workprec(300):
        truth = summed(v, k)
        assert not ball(result.low) > truth
        assert not ball(result.high) * (1 + arb(10) ** -60) < truth
    assert result.width <= result.high / 2 ** (bits - 12)


@pytest.mark.parametrize("v", [SUMMED + Fraction(1, 3), Fraction(71 * 71), Fraction(9001)])
@pytest.mark.parametrize("factor", ["0", "0.1", "0.7", "0.99", "1", "1.01", "1.5", "4", "9"])
def test_tails_by_integrals(v: Fraction, factor: str) -> None:
    """Both sides of the inflection at √v, and the one integer between the two rules, against the sum itself."""
    for k in range(int(Fraction(factor) * int(v**0.5)), int(Fraction(factor) * int(v**0.5)) + 3):
        if k < 1:
            continue
        by_integrals = tail_sum(v, k, 100)
        one_by_one = tail_sum(v, k, 100, 10**9)
        assert by_integrals.low <= one_by_one.high
        assert by_integrals.high >= one_by_one.low
        assert by_integrals.width <= by_integrals.high * (1 + k * k / v) / v


def test_tails_too_small_to_write_down() -> None:
    assert tail_sum(Fraction(1), 10**9) == Enclosure.between(0, Fraction(3, 2**65536))


@pytest.mark.parametrize("factor", [0, 1, 3, 30])
def test_tails_at_a_scale_beyond_summing(factor: int) -> None:
    v, k = Fraction(10**40), factor * 10**20 + 1
    share = tail_sum(v, k) / whole_sum(v)
    with ctx.workprec(2000):
        truth = (ball(Fraction(k) - Fraction(1, 2)) / (2 * ball(v)).sqrt()).erfc() / 2
        assert abs(ball(share.low) - truth) <= truth / 10**36
        assert abs(ball(share.high) - truth) <= truth / 10**36
