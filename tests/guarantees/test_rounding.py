"""Rounding is outward, short, and as tight as twelve digits allow."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.guarantees.rounding import (
    DIGITS,
    decade,
    down,
    factor,
    largest,
    percent,
    plain,
    refined,
    shortened,
    unit,
    up,
    written,
)
from tacit.numbers.enclosures import Enclosure, exp
from tacit.numbers.exact import exact

NUMBERS = st.builds(
    lambda n, d, k: Fraction(n, d) * Fraction(10) ** k, *[st.integers(1, 10**40)] * 2, st.integers(-300, 300)
)


@given(NUMBERS)
def test_shortened_is_the_nearest_short_decimal_on_its_side(x: Fraction) -> None:
    above, below = shortened(x, up=True), shortened(x, up=False)
    assert below <= x <= above
    assert above - below <= unit(x)
    assert below % unit(x) == above % unit(x) == 0
    assert shortened(above, up=True) == above == shortened(above, up=False)
    assert shortened(-x, up=True) == -below


@given(NUMBERS)
def test_decade(x: Fraction) -> None:
    assert Fraction(10) ** decade(x) <= x < Fraction(10) ** (decade(x) + 1)


@given(st.fractions(-50, 50, max_denominator=10**6))
@settings(deadline=None)
def test_a_real_number_is_rounded_outward(x: Fraction) -> None:
    def number(bits: int) -> Enclosure:
        return exp(x, bits)

    assert down(number) <= exp(x, 300).low <= exp(x, 300).high <= up(number)
    assert up(number) - down(number) <= unit(up(number))


def test_precision_grows_until_the_enclosure_is_narrow() -> None:
    asked: list[int] = []

    def cancelling(bits: int) -> Enclosure:
        asked.append(bits)
        return exp(Fraction(1, 10**60), bits) - 1

    assert up(cancelling) == Fraction(1, 10**60) + unit(Fraction(1, 10**60))
    assert len(asked) > 1
    assert refined(lambda bits: Enclosure.of(0, bits)).high == 0


def test_the_largest_decimal_within_a_limit() -> None:
    assert largest(lambda x: x * x, Fraction(2)) == Fraction("1.41421356237")
    assert largest(lambda x: 3 * x, Fraction(1)) == Fraction("0.333333333333")
    assert largest(lambda x: x, Fraction(1, 10**20)) == Fraction(1, 10**20)
    assert largest(lambda x: x, Fraction(12345)) == 12345
    assert DIGITS == 12


@given(st.fractions(min_value=Fraction(1, 10**30)))
def test_what_is_written_reads_back_exactly(x: Fraction) -> None:
    assert exact(eval(written(x)), "number") == x


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("1", "1"),
        ("0.5", "0.5"),
        ("1e-6", "1e-06"),
        ("1/3", "'1/3'"),
        ("0.1234567890123456789", "'0.1234567890123456789'"),
        ("1e-400", "'1e-400'"),
        ("1e400", "'1e+400'"),
        ("123456789012345678", "'123456789012345678'"),
    ],
)
def test_written(number: str, text: str) -> None:
    assert written(Fraction(number)) == text


def test_numbers_in_sentences_are_short_and_never_too_small() -> None:
    assert plain(Fraction("0.25")) == "0.25"
    assert plain(Fraction(1, 3)) == "1/3"
    assert plain(Fraction(12345678901, 98765432109)) == "about 0.125"
    assert percent(Fraction(2, 3)) == "66.7 %"
    assert percent(Fraction("0.50001")) == "50.1 %"
    assert factor(Fraction(1)) == "2.72"
    assert factor(Fraction(0)) == "1"
    assert factor(Fraction(30)) == "e^30"
