"""Constants that are computed once mean what engines make of them row by row."""

from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.language.constants import constant
from tacit.language.expressions import Column, Expression, Literal, NamedCall, Scope
from tacit.language.parsing import parse
from tacit.language.types import DATE, INTEGER, TIMESTAMP, Schema
from tests.language import meanings

SCOPE = Scope.of(Schema.of({"n": "integer", "day": "date"}), "t")
CONSTANTS = {
    "DATE '1998-12-01' - INTERVAL '90' DAY": date(1998, 9, 2),
    "DATE '1995-01-31' + INTERVAL '1' MONTH": date(1995, 2, 28),
    "DATE '1994-01-01' + INTERVAL '1' YEAR - INTERVAL 1 DAY": date(1994, 12, 31),
    "TIMESTAMP '2024-02-29 23:00:00' + INTERVAL '1 year 2 hours'": datetime(2025, 3, 1, 1),
    "DATE '9999-12-31' + INTERVAL '1' DAY": None,
    ".06 - 0.01": Fraction(1, 20),
    "1 + 2 * 3": 7,
    "9223372036854775807 + 1": None,
    "0.5 * 4": Fraction(2),
    "-3 - (4 - 2)": -5,
}


@pytest.mark.parametrize("text", CONSTANTS)
def test_a_calculation_of_constants_is_one(text: str) -> None:
    found = constant(parse(text, SCOPE))
    assert isinstance(found, Literal)
    assert found.value == CONSTANTS[text]
    assert found.type == parse(text, SCOPE).type


@pytest.mark.parametrize("text", ["n + 1", "day + INTERVAL 1 DAY", "1 / 3", "ABS(-3)", "1e0 + 1", "n"])
def test_what_depends_on_a_row_or_has_other_rules_is_left_to_engines(text: str) -> None:
    assert constant(parse(text, SCOPE)) is None


COUNTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-200_000, 200_000)


@given(st.sampled_from(["ADD_MONTHS", "ADD_DAYS", "ADD_TIME"]), st.datetimes(), COUNTS)
def test_shifts_mean_what_they_mean_in_the_independent_oracle(name: str, moment: datetime, count: int) -> None:
    kind = DATE if name == "ADD_DAYS" else TIMESTAMP
    start = moment.date() if name == "ADD_DAYS" else moment
    call = NamedCall(kind, name, (Literal(kind, start), Literal(INTEGER, count)))
    found = constant(call)
    assert found is not None
    assert found.value == getattr(meanings, name.lower())(call, start, count)


def test_a_missing_constant_stays_missing() -> None:
    nothing: Expression = Literal(DATE, None)
    assert constant(NamedCall(DATE, "ADD_DAYS", (nothing, Literal(INTEGER, 1)))) == nothing
    assert constant(Column(INTEGER, "t", "n")) is None
