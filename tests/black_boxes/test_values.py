"""Whatever a function returns becomes a place on the grid."""

from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from tacit.black_boxes.values import SPAN, cut_grid, place, places
from tacit.errors import InvalidInput
from tacit.grids import digits, integers, multiples, powers

TENTHS = cut_grid(multiples("0.1", -1, 5))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (-1, 0),
        (0, 10),
        (0.04, 10),
        (0.06, 11),
        (0.05, 10),
        (5, 60),
        (Fraction(1, 3), 13),
        (Decimal("0.3"), 13),
        (np.float32(0.5), 15),
        (np.float64(0.5), 15),
        (np.int8(2), 30),
        (np.array(2.0), 30),
    ],
)
def test_numbers_become_the_nearest_value(value: Any, expected: int) -> None:
    assert place(TENTHS, value) == expected


@pytest.mark.parametrize(
    "value",
    [
        5.01,
        -1.01,
        10**400,
        nan,
        inf,
        -inf,
        None,
        "0.3",
        True,
        np.True_,
        [0.3],
        {},
        1j,
        Decimal("nan"),
        Decimal("1e999999"),
    ],
)
def test_all_else_is_the_bottom(value: Any) -> None:
    assert place(TENTHS, value) == 0


def test_several_coordinates() -> None:
    grids = (TENTHS, cut_grid(integers(0, 3)))
    assert places(grids, [0, 2], True) == places(grids, (x for x in (0, 2)), True) == [10, 2]
    assert places(grids, np.array([0.0, 9]), True) == [10, 0]
    for wrong in ([0], [0, 1, 2], None, 3):
        with pytest.raises((TypeError, ValueError)):
            places(grids, wrong, True)


def test_grids_have_a_bottom_and_an_end() -> None:
    assert cut_grid(powers(2)).size == SPAN
    assert place(cut_grid(integers(7, 7)), 7) == place(cut_grid(integers(7, 7)), 8) == 0
    for wrong in (integers(None, 5), digits(2, 0, None), "0..5"):
        with pytest.raises(InvalidInput):
            cut_grid(wrong)  # type: ignore[arg-type]
