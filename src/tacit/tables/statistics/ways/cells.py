"""The cells in which rows are weighed for quantiles by levels: a public grid of values, of all values at once.

Integers and decimals have a cell for every step up to 10^`DIGITS` steps, and `DIGITS` significant digits beyond, so
that there is nothing between two neighbouring values of a column; doubles have `DIGITS` significant digits, dates and
times their own grid. A row counts in the cell of the nearest value, of two equally near the lower one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.answers.values import Value
from tacit.engines.requests import WeighedValues
from tacit.grids import Grid
from tacit.language.types import ColumnType, Kind
from tacit.mechanisms.inverse.cuts import Weights
from tacit.tables.statistics.ways.scales import Scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

DIGITS = 5
"""Significant digits."""

_LEAST, _WHOLE = 10 ** (DIGITS - 1), 10**DIGITS
_DECADE = 9 * _LEAST
_LAST = _WHOLE + (19 - DIGITS) * _DECADE - 1
_POWERS = np.array([10**k for k in range(20)], dtype=np.uint64)
_SURE = 1e-6
"""How near to a half a digit may come before it is rounded exactly; doubles are right to 10^-10 of a digit here."""
_TINY, _HUGE = 1e-290, 1e290
"""Doubles beyond these are rounded exactly, one by one."""


@dataclass(frozen=True)
class Cells:
    """The cells of a column of some type, by index."""

    kind: ColumnType

    @cached_property
    def _scale(self) -> Scale:
        return Scale(self.kind, DIGITS)

    @cached_property
    def _grid(self) -> Grid | None:
        """That of the type; none for integers and decimals."""
        return None if self.kind.exact_number else self._scale.grid

    @property
    def ends(self) -> tuple[int, int]:
        """The first index and the last."""
        if self._grid is None:
            return -_LAST, _LAST
        assert self._grid.first is not None
        assert self._grid.last is not None
        return self._grid.first, self._grid.last

    @property
    def number(self) -> int:
        """How many there are."""
        first, last = self.ends
        return last - first + 1

    def value(self, index: int) -> Value:
        """The value of a cell, as the column has it."""
        if self._grid is not None:
            return self._scale.value(self._grid.value(index))
        decade, digits = divmod(abs(index) - _WHOLE, _DECADE)
        steps = abs(index) if abs(index) < _WHOLE else (_LEAST + digits) * 10 ** (decade + 1)
        return self._scale.value(Fraction(steps if index >= 0 else -steps, 10**self.kind.scale))

    def nearest(self, values: NDArray[Any]) -> Integers:
        """The cell of each of some values, which are doubles, or whole numbers of the type's steps."""
        if self._grid is None:
            return _of_steps(values.astype(np.int64))
        if self.kind.kind is Kind.FLOAT:
            return _of_doubles(self._grid, values.astype(np.float64))
        whole = values.astype(np.int64)
        return np.clip(-((500_000 - whole) // 1_000_000) if self.kind.kind is Kind.TIMESTAMP else whole, *self.ends)


def _of_steps(values: Integers) -> Integers:
    """Whole numbers of steps."""
    sizes = np.where(values < 0, -(values + 1), values).astype(np.uint64) + (values < 0).astype(np.uint64)
    decades = np.maximum(np.searchsorted(_POWERS, sizes, side="right").astype(np.int64) - 1, DIGITS)
    unit = _POWERS[decades - DIGITS + 1]
    digits, rest = np.divmod(sizes, unit)
    twice = rest * np.uint64(2)  # rest < 10^15, so twice it fits
    digits = digits + ((twice > unit) | ((twice == unit) & (values < 0))).astype(np.uint64)
    index = _WHOLE + (decades - DIGITS) * _DECADE + digits.astype(np.int64) - _LEAST
    index = np.where(sizes < _WHOLE, sizes.astype(np.int64), index)
    return np.where(values < 0, -index, index)


def _of_doubles(grid: Grid, values: NDArray[np.float64]) -> Integers:
    """Doubles on a grid of significant digits; where arithmetic on doubles might round wrongly, one by one."""
    sizes, smallest = np.abs(values), -308
    usual = (sizes > _TINY) & (sizes < _HUGE)
    safe = np.where(usual, sizes, 1.0)
    decades = np.floor(np.log10(safe)).astype(np.int64)
    digits = safe / np.power(10.0, decades - DIGITS + 1)
    whole = np.floor(digits)
    part = digits - whole
    near = (np.abs(part - 0.5) < _SURE) | (digits < _LEAST - 0.5 + _SURE) | (digits > _WHOLE - 0.5 - _SURE)
    index = (decades - smallest) * _DECADE + whole.astype(np.int64) + (part > 0.5) - _LEAST + 1
    found: Integers = np.where(values < 0, -index, index)
    for at in np.flatnonzero(near | ~usual):
        found[at] = grid.nearest(Fraction(float(values[at])))
    return found


def weights_by_group(cells_of: Cells, found: WeighedValues, groups: int) -> list[Weights]:
    """For each group the weight in each cell."""
    values, back = np.unique(found.values, return_inverse=True)
    cells = cells_of.nearest(values)[back.reshape(-1)]
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
