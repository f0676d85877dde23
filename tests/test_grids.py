"""Grids: index and value convert exactly, ends may be open, nothing empty is accepted."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.grids import Grid, digits, integers, multiples, powers

GRIDS = [
    integers(),
    integers(0, 2**64 - 1),
    integers(None, 7),
    integers(-3, None),
    multiples("0.1"),
    multiples(10, -40, 1000),
    multiples(Fraction(1, 3), 0),
    powers(2),
    powers("1.5", -30, 60),
    powers("1.01", 0, 2000),
    digits(1),
    digits(2),
    digits(3, -2, 4),
    digits(2, high=None),
]
NAMES = [repr(grid) for grid in GRIDS]
each_grid = pytest.mark.parametrize("grid", GRIDS, ids=NAMES)
reals = st.fractions(-(10**30), 10**30, max_denominator=10**15) | st.fractions(-10, 10) | st.integers(-500, 500)


def some_index(grid: Grid, n: int) -> int:
    """An index of the grid, near one of its ends where it has one."""
    if grid.first is not None and grid.last is not None:
        return grid.first + n % (grid.last - grid.first + 1)
    if grid.first is not None:
        return grid.first + abs(n)
    return n if grid.last is None else grid.last - abs(n)


@each_grid
@settings(max_examples=40)
@given(n=st.integers(-(10**4), 10**4))
def test_index_and_value_are_inverse_and_increasing(grid: Grid, n: int) -> None:
    index = some_index(grid, n)
    value = grid.value(index)
    assert grid.index(value) == grid.floor(value) == grid.ceil(value) == grid.nearest(value) == index
    if grid.holds(index + 1):
        above = grid.value(index + 1)
        assert value < above
        middle = (value + above) / 2
        assert (grid.floor(middle), grid.ceil(middle), grid.index(middle)) == (index, index + 1, None)
        assert grid.nearest(middle) == index
        assert grid.nearest((value + 3 * above) / 4) == index + 1


@each_grid
@settings(max_examples=40)
@given(x=reals)
def test_floor_ceil_and_nearest_are_what_they_say(grid: Grid, x: Fraction) -> None:
    floor, ceil, nearest = grid.floor(x), grid.ceil(x), grid.nearest(x)
    if floor is None:
        assert grid.lowest is not None
        assert grid.lowest > x
        assert nearest == ceil == grid.first
    else:
        assert grid.value(floor) <= x
        assert not grid.holds(floor + 1) or grid.value(floor + 1) > x
    if ceil is None:
        assert grid.highest is not None
        assert grid.highest < x
        assert nearest == floor == grid.last
    else:
        assert grid.value(ceil) >= x
        assert not grid.holds(ceil - 1) or grid.value(ceil - 1) < x
    assert all(abs(grid.value(i) - x) >= abs(grid.value(nearest) - x) for i in (floor, ceil) if i is not None)


def test_values_of_each_kind() -> None:
    assert [integers(-1, 2).answer(i) for i in range(-1, 3)] == [-1, 0, 1, 2]
    assert [multiples("0.1", 0).value(i) for i in (0, 1, 25)] == [0, Fraction(1, 10), Fraction(5, 2)]
    assert [powers(2).answer(i) for i in range(4)] == [1, 2, 4, 8]
    one = digits(1, 0, 1)
    assert one.size == 37
    assert [one.value(i) for i in (-18, -1, 0, 1, 9, 10, 18)] == [-90, -1, 0, 1, 9, 10, 90]
    assert [digits(2, -1, 0).value(i) for i in (1, 2, 90, 91)] == [
        Fraction(1, 10),
        Fraction(11, 100),
        Fraction(99, 100),
        1,
    ]


def test_answers_are_ints_exactly_on_grids_of_whole_numbers() -> None:
    whole = [integers(), multiples(10), powers(3), digits(2, 1)]
    other = [multiples("0.5"), powers("1.5"), powers(2, -1), digits(2, 0)]
    assert all(type(grid.answer(4)) is int for grid in whole)
    assert all(type(grid.answer(4)) is Fraction for grid in other)
    assert all(grid.answer(4) == grid.value(4) for grid in whole + other)


def test_size() -> None:
    assert integers(0, 2**64 - 1).size == 2**64
    assert integers(0).size == digits(3, high=None).size == math.inf
    assert digits(2).size == 2 * 51 * 90 + 1


@given(low=st.integers(-50, 50), width=st.integers(0, 50))
def test_between_keeps_values_and_indices(low: int, width: int) -> None:
    grid = multiples("2.5", -200, 200)
    part = grid.between(low, low + width + 3)
    inside = [i for i in range(-80, 81) if low <= grid.value(i) <= low + width + 3]
    assert part.first is not None
    assert part.last is not None
    assert list(range(part.first, part.last + 1)) == inside


def test_grids_compare_and_hash_by_value() -> None:
    assert integers(0, 9) == multiples(1, 0, Decimal("9.5"))
    assert hash(digits(2)) == hash(digits(2))
    assert integers(0, 9) != integers(0, 10)


@pytest.mark.parametrize(
    "build",
    [
        lambda: integers(3, 2),
        lambda: multiples(10, 1, 9),
        lambda: powers(2, 3, 2),
        lambda: digits(2, 3, 2),
        lambda: digits(0),
        lambda: powers(1),
        lambda: multiples(0),
        lambda: integers(0, 9).between(10, 20),
        lambda: integers(0, 9).between(None, -1),
        lambda: digits(1, 0, 0).between(10),
    ],
)
def test_empty_and_senseless_grids_are_refused(build: object) -> None:
    assert callable(build)
    with pytest.raises(InvalidInput):
        build()
