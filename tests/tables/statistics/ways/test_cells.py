"""Cells of many values at once are those that are nearest."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.engines.requests import WeighedValues
from tacit.language.types import DATE, FLOAT, INTEGER, TIMESTAMP, ColumnType, decimal
from tacit.tables.statistics.ways.cells import DIGITS, Cells, weights_by_group
from tacit.tables.statistics.ways.scales import Scale

BETWEEN = st.builds(
    lambda d, k, s: s * (10 * d + 5) * 10**k, st.integers(10**4, 10**5), st.integers(0, 12), st.sampled_from([1, -1])
)
"""Halfway between two of five significant digits."""
NEAR = st.integers(-(10**6), 10**6)


def _nearest(kind: ColumnType, x: Fraction) -> int:
    """The nearest cell by bisection over the values of all cells, which ascend."""
    cells = Cells(kind)
    low, high = cells.ends
    while low < high:
        middle = (low + high) // 2
        if x - _exact(cells, middle) > _exact(cells, middle + 1) - x:
            low = middle + 1
        else:
            high = middle
    return low


def _exact(cells: Cells, index: int) -> Fraction:
    return Fraction(cells.value(index))  # type: ignore[arg-type]


@given(st.sampled_from([INTEGER, decimal(2)]), st.lists(st.integers(-(2**63), 2**63 - 1) | NEAR | BETWEEN, max_size=9))
def test_whole_numbers(kind: ColumnType, values: list[int]) -> None:
    expected = [_nearest(kind, Fraction(value, 10**kind.scale)) for value in values]
    assert Cells(kind).nearest(np.array(values, dtype=np.int64)).tolist() == expected


@given(st.sampled_from([DATE, TIMESTAMP]), st.lists(st.integers(-500_000, 2_000_000)))
def test_dates_and_times(kind: ColumnType, values: list[int]) -> None:
    grid = Scale(kind, DIGITS).grid
    assert Cells(kind).nearest(np.array(values, dtype=np.int64)).tolist() == [grid.nearest(v) for v in values]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | BETWEEN.map(float)))
def test_doubles(values: list[float]) -> None:
    grid = Scale(FLOAT, DIGITS).grid
    found = Cells(FLOAT).nearest(np.array(values, dtype=np.float64)).tolist()
    assert found == [grid.nearest(Fraction(value)) for value in values]


def test_weights_are_added_by_group_and_cell_exactly() -> None:
    found = WeighedValues(
        np.array([1, 0, 0, 0, 2]),
        np.array([7, 1_000_001, 1_000_002, 3, 3]),
        np.array([2**32, 5, 2**32, 1, 2**32]),
        np.array([2**31, 3, 1, 1, 2**31]),
    )
    low, high, same, none = weights_by_group(Cells(INTEGER), found, 4)
    assert [b - a for a, b in zip(low.sums, low.sums[1:], strict=False)] == [1, 2**32 + 15]
    assert [high.sums[-1], same.sums[-1]] == [2**63, 2**63]
    assert [*none.cells, *none.sums] == [0]
