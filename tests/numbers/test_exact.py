"""Exact numbers from what people type."""

from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput, TacitError
from tacit.numbers.exact import REAL, WHOLE, Number, Unit, between, check_listed, exact, non_negative, positive, whole


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_means_the_decimal_it_is_written_as(x: float) -> None:
    assert exact(x, "x") == Fraction(repr(x))
    assert float(exact(x, "x")) == x


@given(st.fractions())
def test_what_is_exact_stays_so(x: Fraction) -> None:
    assert exact(x, "x") is x
    assert exact(f"{x.numerator}/{x.denominator}", "x") == x
    assert exact(x.numerator, "x") == x.numerator


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_decimals_and_their_text_agree(x: Decimal) -> None:
    assert exact(x, "x") == exact(str(x), "x") == Fraction(x)


def test_examples() -> None:
    assert exact(0.1, "x") == Fraction(1, 10) == exact("0.1", "x") == exact(Decimal("0.1"), "x")
    assert exact("1/3", "x") == Fraction(1, 3)
    assert exact(Decimal("1e400"), "x") == 10**400
    assert exact("1e-9", "x") == Fraction(1, 10**9)
    assert exact(np.int64(7), "x") == 7  # type: ignore[arg-type]
    assert exact(np.float64(0.1), "x") == Fraction(1, 10)
    assert whole(np.int32(3), "n") == 3


@pytest.mark.parametrize("value", ["one", "", "1/0", "nan", "inf", True, None, [1], 1j, object()])
def test_everything_else_is_refused_by_name(value: Number) -> None:
    with pytest.raises(InvalidInput, match=r"^budget must .*[a-z].*\.$") as caught:
        exact(value, "budget")
    assert isinstance(caught.value, TacitError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("value", [nan, inf, -inf, Decimal("nan"), Decimal("sNaN"), Decimal("-inf")])
def test_a_number_must_be_finite(value: Number) -> None:
    with pytest.raises(InvalidInput, match=r"^budget must be finite; give an ordinary number such as 1 or '0.1'\.$"):
        exact(value, "budget")


@pytest.mark.parametrize("value", [0, -1, "-0.5", 0.0, Fraction(-1, 10**30)])
def test_positive_refuses_zero_and_below(value: Number) -> None:
    with pytest.raises(InvalidInput, match=r"^epsilon must be above 0; give a positive number"):
        positive(value, "epsilon")


def test_bounds() -> None:
    assert non_negative(0, "x") == 0
    with pytest.raises(InvalidInput, match=r"^x must not be negative; give 0 or more\.$"):
        non_negative("-1e-30", "x")
    assert between("0.5", "delta", 0, 1) == Fraction(1, 2)
    for value in (0, 1, 2, "-0.1"):
        with pytest.raises(InvalidInput, match=r"^delta must lie strictly between 0 and 1\.$"):
            between(value, "delta", 0, 1)


@pytest.mark.parametrize("value", [1.0, "1", True, None, Fraction(1)])
def test_whole_takes_integers_only(value: int) -> None:
    with pytest.raises(InvalidInput, match=r"^n must be a whole number; give an int\.$"):
        whole(value, "n")


@given(st.integers(), st.integers())
def test_whole_keeps_integers_and_their_lower_bound(value: int, least: int) -> None:
    if value >= least:
        assert whole(value, "n", least) == value
    else:
        with pytest.raises(InvalidInput, match=r"^n must be at least "):
            whole(value, "n", least)


@pytest.mark.parametrize(
    ("unit", "count", "value"),
    [
        (WHOLE, 7, 7),
        (WHOLE, Fraction(15, 2), 8),
        (WHOLE, -(2**100), -(2**100)),
        (REAL, Fraction(1, 4), 0.25),
        (Unit(Fraction(1, 100), "decimal"), 1234, Decimal("12.34")),
        (Unit(Fraction(1, 100), "decimal"), Fraction(2469, 2), Decimal("12.34")),
        (Unit(Fraction(1, 10**6), "float"), 2_500_000, 2.5),
        (Unit(Fraction(100), "float"), 3, 300.0),
    ],
)
def test_a_count_is_shown_in_the_columns_kind(unit: Unit, count: int | Fraction, value: object) -> None:
    found = unit.value(count)
    assert found == value
    assert type(found) is type(value)


def test_the_step_is_written_plainly() -> None:
    assert [str(unit) for unit in (WHOLE, Unit(Fraction(1, 100), "decimal"), Unit(Fraction(1, 10**6), "float"))] == [
        "1",
        "0.01",
        "1e-06",
    ]


def test_a_word_is_one_of_a_list_and_one_like_it_is_asked_about() -> None:
    check_listed("pareto", "shape", ["equal", "pareto"])
    for value, hint, said in (
        ("round", "", "shape must be one of equal, pareto."),
        ("round", "name one", "shape must be one of equal, pareto; name one."),
        ("Paretto", "", r"shape must be one of equal, pareto; did you mean pareto\?"),
        ("Paretto", "name one", r"shape must be one of equal, pareto; name one; did you mean pareto\?"),
        (3, "", "shape must be one of equal, pareto."),
    ):
        with pytest.raises(InvalidInput, match=f"^{said}$"):
            check_listed(value, "shape", ["equal", "pareto"], hint)
