"""Enclosures contain what they should, and little else: exact rationals and python-flint's balls are the oracles."""

from collections.abc import Callable
from fractions import Fraction
from math import log as float_log
from operator import add, mul, sub, truediv
from typing import Any

import pytest
from flint import arb, ctx
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tacit.numbers.enclosures import Enclosure, decay, exp, log, log_ceiling, pi, sqrt, total
from tests.guarantees.oracle import Ball, ball

BITS = st.integers(8, 300)
NUMBERS = st.one_of(
    st.fractions(-1000, 1000, max_denominator=10**6),
    st.builds(lambda m, e: Fraction(m) * Fraction(2) ** e, st.integers(-(10**9), 10**9), st.integers(-400, 400)),
    st.builds(lambda n, k: 1 + Fraction(n, 10**k), st.integers(-9, 9), st.integers(1, 60)),
)
POSITIVE = NUMBERS.map(abs).filter(bool)
OPERATORS = (add, sub, mul, truediv)
Operator = Callable[[Any, Any], Any]


def holds(enclosure: Enclosure, truth: Ball) -> bool:
    """Whether flint's ball is not surely outside."""
    return not (ball(enclosure.low) > truth or ball(enclosure.high) < truth)


def narrow(enclosure: Enclosure, bits: int) -> bool:
    """Whether the width is a few units of the last of so many significant bits."""
    return enclosure.width <= max(abs(enclosure.low), abs(enclosure.high)) * Fraction(16, 2**bits)


@given(NUMBERS, NUMBERS, NUMBERS, st.fractions(0, 1), st.sampled_from(OPERATORS), BITS)
def test_operators_contain_every_pair(
    a: Fraction, b: Fraction, y: Fraction, t: Fraction, operator: Operator, bits: int
) -> None:
    x = a + t * (b - a)
    left, right = Enclosure.between(min(a, b), max(a, b), bits), Enclosure.of(y, bits)
    assert x in left
    assume(operator is not truediv or (y != 0 and not left.low <= 0 <= left.high))
    for result, truth in (
        (operator(left, right), operator(x, y)),
        (operator(right, left), operator(y, x)),
        (operator(left, y), operator(x, y)),
        (operator(y, left), operator(y, x)),
    ):
        assert truth in result


@given(NUMBERS, NUMBERS, st.sampled_from((add, mul, truediv)), BITS)
@example(Fraction(0), Fraction(1, 2**5000), add, 64)  # zero has no scale
@example(Fraction(1), Fraction(1, 2**5000), add, 64)
def test_operators_on_points_are_narrow(x: Fraction, y: Fraction, operator: Operator, bits: int) -> None:
    assume(operator is not truediv or y != 0)
    assume(operator is not add or x * y >= 0)
    result = operator(Enclosure.of(x, bits), Enclosure.of(y, bits))
    assert operator(x, y) in result
    assert narrow(result, bits)


@given(NUMBERS, NUMBERS, st.fractions(0, 1), st.integers(-30, 60), BITS)
def test_powers(a: Fraction, b: Fraction, t: Fraction, power: int, bits: int) -> None:
    x = a + t * (b - a)
    base = Enclosure.between(min(a, b), max(a, b), bits)
    assume(power >= 0 or not base.low <= 0 <= base.high)
    assert x**power in base**power
    assume(power >= 0 or x)
    assert narrow(Enclosure.of(x, bits) ** power, bits - 2 - abs(power).bit_length())


@given(st.fractions(Fraction(1, 2), 2, max_denominator=1000), st.integers(1, 2**70), st.integers(64, 200))
def test_huge_powers(x: Fraction, power: int, bits: int) -> None:
    """x^power by its logarithm, as far as flint follows; 1 − 10^-18 keeps it within reach."""
    base = 1 - x / 10**21
    result = Enclosure.of(base, bits + 80) ** power
    with ctx.workprec(1000):
        truth = ball(base) ** arb(power)
        assert holds(result, truth)
    assert narrow(result, bits)


@given(NUMBERS.filter(lambda x: abs(x) < 10**6), BITS)
@example(Fraction(1, 10**60), 64)
@example(Fraction(10**5), 64)
@example(Fraction(-(10**5)), 64)
def test_exp(x: Fraction, bits: int) -> None:
    result = exp(x, bits)
    with ctx.workprec(1200):
        assert holds(result, ball(x).exp())
    assert narrow(result, bits)


@pytest.mark.parametrize("x", [10**9, 10**18, Fraction(10**20, 3)])
def test_exponents_beyond_any_float(x: Fraction) -> None:
    product = exp(x, 64) * exp(-x, 64)
    assert 1 in product
    assert narrow(product, 62)


@given(POSITIVE, BITS)
@example(Fraction(10**60 + 1, 10**60), 64)
@example(Fraction(1, 2**4000), 64)
def test_log(x: Fraction, bits: int) -> None:
    result = log(x, bits)
    with ctx.workprec(1200):
        assert holds(result, ball(x).log())
    assert narrow(result, bits)


@given(NUMBERS.map(abs), BITS)
@example(Fraction(1, 9), 64)
@example(Fraction(2**301), 64)
def test_sqrt(x: Fraction, bits: int) -> None:
    result = sqrt(x, bits)
    assert result.low**2 <= x <= result.high**2
    assert narrow(result, bits)


@given(POSITIVE.filter(lambda x: x < 1000), st.fractions(0, 1), BITS)
def test_functions_of_intervals_contain_the_inner_points(x: Fraction, t: Fraction, bits: int) -> None:
    wide = Enclosure.between(x, 2 * x, bits)
    inner = x + t * x
    with ctx.workprec(1200):
        assert holds(wide.exp(), ball(inner).exp())
        assert holds(wide.log(), ball(inner).log())
    assert wide.sqrt().low ** 2 <= inner <= wide.sqrt().high ** 2


@pytest.mark.parametrize("bits", [8, 53, 64, 128, 1000, 5000])
def test_constants(bits: int) -> None:
    with ctx.workprec(bits + 100):
        assert holds(pi(bits), arb.pi())
        assert holds(log(2, bits), arb(2).log())
    assert narrow(pi(bits), bits)


@given(NUMBERS, NUMBERS, st.integers(-200, 200))
def test_fixed_point_ends_enclose(a: Fraction, b: Fraction, places: int) -> None:
    low, high = Enclosure.between(min(a, b), max(a, b)).fixed(places)
    assert low <= min(a, b) * Fraction(2) ** places
    assert high >= max(a, b) * Fraction(2) ** places


@given(st.lists(POSITIVE, max_size=20), BITS)
def test_totals(parts: list[Fraction], bits: int) -> None:
    result = total([Enclosure.of(part, bits) for part in parts], bits)
    assert sum(parts) in result


def test_comparisons_and_clamps() -> None:
    third = Enclosure.of(Fraction(1, 3), 20)
    assert third.below(Fraction(1, 2))
    assert third.above(Fraction(1, 4))
    assert not third.below(Fraction(1, 3))
    assert not third.above(Fraction(1, 3))
    assert third.below(Enclosure.of(1))
    assert Enclosure.between(-1, Fraction(1, 2)).clamp(0, 1) == Enclosure.between(0, Fraction(1, 2))
    assert third.clamp(0, 1) is third
    assert float(third) == pytest.approx(1 / 3, rel=1e-5)
    assert hash(Enclosure(2, 2, 0)) == hash(Enclosure(1, 1, 1))
    assert Enclosure(1, 1) != 1
    assert repr(Enclosure(1, 2)) == "Enclosure(1.0, 2.0)"


def test_what_has_no_value_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        1 / Enclosure.between(-1, 1)
    with pytest.raises(ZeroDivisionError):
        Enclosure.between(0, 1) ** -1
    for x in (0, -1):
        with pytest.raises(ValueError, match="positive"):
            log(x)
    with pytest.raises(ValueError, match="negative"):
        sqrt(-1)
    assert exp(0) == Enclosure.of(1)
    assert log(1) == Enclosure.of(0)
    assert sqrt(0) == Enclosure.of(0)
    assert sqrt(Fraction(9, 4)) == Enclosure.of(Fraction(3, 2))


@given(scale=st.fractions(Fraction(1, 20), 3, max_denominator=20), argument=st.fractions(Fraction(1, 1000), 10**6))
def test_ceilings_of_logarithms(scale: Fraction, argument: Fraction) -> None:
    value = float(scale) * float_log(argument)
    assert value - 1e-6 <= log_ceiling(scale, argument) < value + 1 + 1e-6


def test_ceilings_of_logarithms_where_floats_cannot_tell() -> None:
    assert log_ceiling(Fraction(1), Fraction(1)) == 0
    assert log_ceiling(Fraction(1), 1 + Fraction(1, 10**60)) == 1
    assert log_ceiling(Fraction(1), 1 - Fraction(1, 10**60)) == 0


def test_decays_too_small_to_write_down() -> None:
    assert decay(Fraction(10**30)) == Enclosure.between(0, Fraction(1, 2**65536))
