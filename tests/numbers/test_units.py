"""Counts of steps become the column's own kind of number."""

from decimal import Decimal
from fractions import Fraction

import pytest

from tacit.numbers.exact import REAL, WHOLE, Unit


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
