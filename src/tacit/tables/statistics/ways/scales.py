"""Public grids for minima, maxima and quantiles, by column type, and the way back to the column's own values.

Numbers use significant decimal digits over all decades the type can hold, so that no range is asked for; dates use
days and timestamps whole seconds, from year 1 to 9999.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from tacit.answers.values import Value
from tacit.grids import Grid, digits, integers, multiples
from tacit.language.types import ColumnType, Kind

_EPOCH = date(1970, 1, 1)
_FIRST_DAY = (date.min - _EPOCH).days
_LAST_DAY = (date.max - _EPOCH).days
_SECOND = 10**6
_LARGEST = Fraction(sys.float_info.max)


@dataclass(frozen=True)
class Scale:
    """A grid on which values of a column type are released."""

    kind: ColumnType
    precision: int
    """Significant digits for numbers."""

    @property
    def grid(self) -> Grid:
        """The public grid."""
        match self.kind.kind:
            case Kind.BOOLEAN:
                return integers(0, 1)
            case Kind.INTEGER:
                return digits(self.precision, 0, 18)
            case Kind.DECIMAL:
                return digits(self.precision, -self.kind.scale, 18 - self.kind.scale)
            case Kind.DATE:
                return integers(_FIRST_DAY, _LAST_DAY)
            case Kind.TIMESTAMP:
                return multiples(_SECOND, _FIRST_DAY * 86400 * _SECOND, (_LAST_DAY + 1) * 86400 * _SECOND - 1)
        return digits(self.precision, -308, 308)

    def outward(self, largest: bool) -> Grid:
        """The grid of a maximum, or of minus a minimum; its lowest values stand for "no person has any"."""
        match self.kind.kind:
            case Kind.BOOLEAN:
                return integers(-1, 1) if largest else integers(-2, 0)
            case Kind.DATE if not largest:
                return integers(-_LAST_DAY, -_FIRST_DAY)
            case Kind.TIMESTAMP if not largest:
                return multiples(_SECOND, 1 - (_LAST_DAY + 1) * 86400 * _SECOND, -_FIRST_DAY * 86400 * _SECOND)
        return self.grid  # that of numbers is its own mirror image

    @property
    def meaningless(self) -> int:
        """How many of the lowest values name no maximum.

        An upward scan that meets too few persons stops at one of the first values. So among numbers those of the
        lowest decade (integers below −10^18), of doubles of the ten lowest, are taken to say this and nothing else.
        """
        decades = {Kind.INTEGER: 1, Kind.DECIMAL: 1, Kind.FLOAT: 10}.get(self.kind.kind, 0)
        return max(1, decades * 9 * int(10 ** (self.precision - 1)))

    def clamped(self, x: Fraction, grid: Grid | None = None) -> Fraction:
        """The value moved onto the range of the grid; row by row this is a fixed, public function."""
        found = grid or self.grid
        low, high = found.lowest, found.highest
        assert low is not None
        assert high is not None
        return min(max(x, low), high)

    def next_above(self, x: Fraction) -> Fraction:
        """The smallest value a row can have above x; x itself for floats, between which there is always another."""
        if self.kind.kind is Kind.FLOAT:
            return x
        step = Fraction(1, 10**self.kind.scale)
        return (x // step + 1) * step

    def value(self, x: Fraction | int, *, upward: bool = False) -> Value:
        """A grid value as a value of the column; between two of them, the lower one unless ``upward``."""
        turn = ceil if upward else floor
        match self.kind.kind:
            case Kind.BOOLEAN:
                return bool(x)
            case Kind.INTEGER:
                return turn(x)
            case Kind.DECIMAL:
                return Decimal(turn(x * 10**self.kind.scale)).scaleb(-self.kind.scale)
            case Kind.DATE:
                return _EPOCH + timedelta(days=int(x))
            case Kind.TIMESTAMP:
                return datetime(1970, 1, 1) + timedelta(microseconds=int(x))  # naive, UTC
        return float(min(max(Fraction(x), -_LARGEST), _LARGEST))
