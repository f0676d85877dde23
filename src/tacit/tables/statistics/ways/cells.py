"""Values on the cells of their grid, all at once: what `Grid.nearest` says of each, and the weight in each cell."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines.requests import WeighedValues
from tacit.language.types import Kind
from tacit.mechanisms.inverse.cuts import Weights
from tacit.tables.statistics.ways.scales import Scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

_POWERS = np.array([10**k for k in range(20)], dtype=np.uint64)
_SURE = 1e-6
"""How near to a half a digit may come before it is rounded exactly; doubles are right to 10^-11 of a digit here."""
_TINY, _HUGE = 1e-290, 1e290
"""Doubles beyond these are rounded exactly, one by one."""


def nearest(scale: Scale, values: NDArray[Any]) -> Integers:
    """The index of the grid's value nearest to each, of two equally near the lower one.

    ``values`` are doubles, or whole numbers of the type's steps.
    """
    match scale.kind.kind:
        case Kind.INTEGER | Kind.DECIMAL:
            found = _of_steps(values.astype(np.int64), scale.precision)
        case Kind.FLOAT:
            found = _of_doubles(scale, values.astype(np.float64))
        case Kind.TIMESTAMP:
            found = -((500_000 - values.astype(np.int64)) // 1_000_000)
        case _:
            found = values.astype(np.int64)
    grid = scale.grid
    return np.clip(found, grid.first, grid.last)


def _of_steps(values: Integers, precision: int) -> Integers:
    """Whole numbers of steps on a grid of significant digits that begins at one step."""
    least = 10 ** (precision - 1)
    sizes = np.where(values < 0, -(values + 1), values).astype(np.uint64) + (values < 0).astype(np.uint64)
    decades = np.maximum(np.searchsorted(_POWERS, sizes, side="right").astype(np.int64) - 1, 0)
    up, down = (_POWERS[np.maximum(part, 0)] for part in (precision - 1 - decades, decades - (precision - 1)))
    digits, rest = np.divmod(sizes, down)
    twice, upward = rest * np.uint64(2), values < 0  # rest < 10^15, so twice it fits
    digits = digits * up + ((twice > down) | ((twice == down) & upward)).astype(np.uint64)
    index = decades * 9 * least + digits.astype(np.int64) - least + 1
    return np.where(values == 0, 0, np.where(values < 0, -index, index))


def _of_doubles(scale: Scale, values: NDArray[np.float64]) -> Integers:
    """Doubles on a grid of significant digits; where arithmetic on doubles might round wrongly, one by one."""
    least, smallest = 10 ** (scale.precision - 1), -308
    sizes = np.abs(values)
    usual = (sizes > _TINY) & (sizes < _HUGE)
    safe = np.where(usual, sizes, 1.0)
    decades = np.floor(np.log10(safe)).astype(np.int64)
    digits = safe / np.power(10.0, decades - scale.precision + 1)
    whole = np.floor(digits)
    part = digits - whole
    near = (np.abs(part - 0.5) < _SURE) | (digits < least - 0.5 + _SURE) | (digits > 10 * least - 0.5 - _SURE)
    index = (decades - smallest) * 9 * least + whole.astype(np.int64) + (part > 0.5) - least + 1
    found = np.where(values < 0, -index, index)
    for at in np.flatnonzero(near | ~usual):
        found[at] = scale.grid.nearest(Fraction(float(values[at])))
    return found


def weights_by_group(scale: Scale, found: WeighedValues, groups: int) -> list[Weights]:
    """For each group the weight in each cell of the grid."""
    values, back = np.unique(found.values, return_inverse=True)
    cells = nearest(scale, values)[back.reshape(-1)]
    order = np.lexsort((cells, found.groups))
    of, cells = found.groups[order], cells[order]
    weights = _exact(found.weights[order], found.numbers[order])
    starts = np.flatnonzero(np.diff(of, prepend=-1) | np.diff(cells, prepend=cells[:1] - 1)) if len(of) else of
    sums = np.add.reduceat(weights, starts) if len(of) else weights
    of, cells = of[starts], cells[starts]
    ends = np.searchsorted(of, np.arange(groups + 1))
    return [Weights(cells[a:b].tolist(), [0, *np.cumsum(sums[a:b]).tolist()]) for a, b in pairwise(ends.tolist())]


def _exact(weights: Integers, numbers: Integers) -> NDArray[Any]:
    """Products whose sums are exact: whole numbers of Python's own where 64 bits might not do."""
    most = float(np.max(weights, initial=0)) * float(np.sum(numbers, dtype=np.float64))
    return weights * numbers if most < 2**62 else weights.astype(object) * numbers
