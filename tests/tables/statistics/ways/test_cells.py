"""Cells of many values at once are those that the grid itself names."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.engines.requests import WeighedValues
from tacit.language.types import DATE, FLOAT, INTEGER, TIMESTAMP, decimal
from tacit.tables.statistics.ways.cells import nearest, weights_by_group
from tacit.tables.statistics.ways.scales import Scale

KINDS = {"integer": INTEGER, "decimal": decimal(2), "date": DATE, "timestamp": TIMESTAMP}
BETWEEN = st.builds(
    lambda d, k, s: s * (10 * d + 5) * 10**k, st.integers(10**3, 10**4), st.integers(0, 13), st.sampled_from([1, -1])
)
"""Halfway between two of four significant digits."""


@given(
    st.sampled_from(sorted(KINDS)), st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-20000, 20000) | BETWEEN)
)
def test_whole_numbers(name: str, values: list[int]) -> None:
    kind = KINDS[name]
    if name in ("date", "timestamp"):
        values = [value % 10**6 - 500_000 for value in values]
    scale = Scale(kind, 4)
    expected = [scale.grid.nearest(Fraction(value, 10**kind.scale)) for value in values]
    assert nearest(scale, np.array(values, dtype=np.int64)).tolist() == expected


@given(st.sampled_from([3, 4]), st.lists(st.floats(allow_nan=False, allow_infinity=False) | BETWEEN.map(float)))
def test_doubles(precision: int, values: list[float]) -> None:
    scale = Scale(FLOAT, precision)
    found = nearest(scale, np.array(values, dtype=np.float64)).tolist()
    assert found == [scale.grid.nearest(Fraction(value)) for value in values]


def test_weights_are_added_by_group_and_cell_exactly() -> None:
    found = WeighedValues(
        np.array([1, 0, 0, 0, 2]),
        np.array([7, 10_001, 10_002, 3, 3]),
        np.array([2**32, 5, 2**32, 1, 2**32]),
        np.array([2**31, 3, 1, 1, 2**31]),
    )
    low, high, same, none = weights_by_group(Scale(INTEGER, 4), found, 4)
    assert [b - a for a, b in zip(low.sums, low.sums[1:], strict=False)] == [1, 2**32 + 15]
    assert [high.sums[-1], same.sums[-1]] == [2**63, 2**63]
    assert [*none.cells, *none.sums] == [0]
