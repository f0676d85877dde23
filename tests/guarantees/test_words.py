"""Numbers as people write them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.guarantees.rounding import factor, percent, plain, written
from tacit.numbers.exact import exact


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
