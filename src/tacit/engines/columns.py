"""How an engine's tables and columns are read, in SQL of its own that no row can make fail: what all engines share.

What values and keys promise is in `tacit.language.types`. Every engine has a subclass of `NativeColumn` in its
`tables.py` and writes there what its own types need.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tacit.engines.dialect import LARGEST, LARGEST_DOUBLE, SMALLEST, Dialect, digits
from tacit.engines.script import Reading
from tacit.language.types import ColumnType, KeyType, Kind


@dataclass(frozen=True)
class ColumnSQL(ABC):
    """How one column is read: as a value of its declared type, as a key, as a double with NaN and ±inf, as a group.

    ``sql`` is a plain name that may be written several times.
    """

    name: str
    native: str
    """Its type as the engine names it; empty where it is computed."""
    kind: ColumnType
    """Its type as the schema declares it."""

    @property
    @abstractmethod
    def key_type(self) -> KeyType:
        """How its values are told apart."""

    @property
    def computed(self) -> bool:
        """Whether an engine may see more in it than a column: it is computed from others before."""
        return False

    @property
    def steps(self) -> int:
        """The scale of the steps that an exact key counts; 0 where the key is the number itself."""
        return 0

    @abstractmethod
    def value(self, sql: str) -> str:
        """What is counted, added, ordered and shown."""

    @abstractmethod
    def key(self, sql: str) -> str:
        """What tells two values apart."""

    @abstractmethod
    def double(self, sql: str) -> str:
        """A number as a double; NaN and ±inf stay what they are."""

    @abstractmethod
    def group(self, sql: str) -> str:
        """An exact number as a group shows it, in up to 38 digits."""


READINGS = ("value", "key", "double", "group")
"""The ways in which a column is read."""


@dataclass(frozen=True)
class DerivedColumn(ColumnSQL):
    """A column of a derived table, which holds its value, and where they differ its key and its group beside it."""

    told: KeyType
    key_name: str
    group_name: str
    counted: int = 0
    """The scale of the steps that the key counts."""

    @property
    def key_type(self) -> KeyType:
        """That of the column it comes from, or of its own type."""
        return self.told

    @property
    def computed(self) -> bool:
        """Always."""
        return True

    @property
    def steps(self) -> int:
        """As the engine writes keys."""
        return self.counted

    def value(self, sql: str) -> str:
        """Itself."""
        return sql

    def key(self, sql: str) -> str:
        """The key that came with it."""
        return self._beside(sql, self.key_name)

    def double(self, sql: str) -> str:
        """What a double was read as before."""
        return sql

    def group(self, sql: str) -> str:
        """The group that came with it."""
        return self._beside(sql, self.group_name)

    def _beside(self, sql: str, name: str) -> str:
        """Another column of the same table; the names of derived tables have no dots."""
        return f"{sql.rpartition('.')[0]}.{name}"


class NativeColumn(ColumnSQL):
    """A column of a table that an engine holds, in a type of its own."""

    dialect: ClassVar[Dialect]

    def value(self, sql: str) -> str:
        """What is counted, added, ordered and shown."""
        match self.kind.kind:
            case Kind.INTEGER | Kind.DECIMAL:
                return self._exact(sql)
            case Kind.FLOAT:
                return self._finite(sql)
            case Kind.DATE:
                return self._date(sql)
            case Kind.TIMESTAMP:
                return self._moment(sql)
            case Kind.TEXT:
                return self._text(sql)
        return sql

    def key(self, sql: str) -> str:
        """What tells two values apart."""
        match self.key_type.domain:
            case "number":
                return self._exact_key(sql)
            case "float":
                return f"CASE WHEN {self._no_nan(sql)} THEN {self.dialect.folded(self.double(sql))} END"
            case "timestamp":
                return self._moment_key(sql)
            case "text":
                return self._text(sql)
        return self._other_key(sql)

    def double(self, sql: str) -> str:
        """A number as a double; NaN and ±inf stay what they are."""
        return sql if self.native.upper() == self.dialect.float64 else f"CAST({sql} AS {self.dialect.float64})"

    def group(self, sql: str) -> str:
        """An exact number as a group shows it, in up to 38 digits."""
        return self.value(sql) if self.key_type.narrow else self._wide(sql)

    @abstractmethod
    def _text(self, sql: str) -> str:
        """Text compared byte by byte, whatever collation the column or the connection has."""

    # ---- values -------------------------------------------------------------------------------------------------

    @abstractmethod
    def _exact(self, sql: str) -> str:
        """An integer or decimal as its number of steps, saturated at 64 bits."""

    def _finite(self, sql: str) -> str:
        """A double with NaN read as NULL and ±inf as the largest finite one of that sign."""
        x, largest = self.double(sql), self.dialect.double(LARGEST_DOUBLE)
        return (
            f"CASE WHEN ABS({x}) <= {largest} THEN {x} WHEN {self.dialect.is_nan(x)} THEN NULL "
            f"WHEN {x} > 0 THEN {largest} WHEN {x} < 0 THEN -{largest} END"
        )

    @abstractmethod
    def _moment(self, sql: str) -> str:
        """A moment in UTC between the years 1 and 9999; the time zone of the connection does not matter."""

    def _date(self, sql: str) -> str:
        """A date between the years 1 and 9999."""
        return within(sql, "DATE '0001-01-01'", "DATE '9999-12-31'")

    @abstractmethod
    def _wide(self, sql: str) -> str:
        """An integer or decimal as its number of steps in 128 bits."""

    # ---- keys ---------------------------------------------------------------------------------------------------

    def _other_key(self, sql: str) -> str:
        """A value of any other type, told apart by the type's own equality."""
        return sql

    @abstractmethod
    def _exact_key(self, sql: str) -> str:
        """An exact number whole."""

    def _no_nan(self, sql: str) -> str:
        """Whether a double is a number."""
        return f"NOT {self.dialect.is_nan(sql)}"

    @abstractmethod
    def _moment_key(self, sql: str) -> str:
        """A moment whole, whatever its year."""


@dataclass(frozen=True)
class TableSQL:
    """What stands after FROM, and how each column is read."""

    source: str
    columns: Mapping[str, ColumnSQL]

    def reading(self, alias: str, columns: frozenset[str]) -> Reading:
        """It, under an alias, with the columns that are used."""
        return Reading(self, alias, columns)

    def ask(self, column: str, reading: str) -> None:
        """Take note that a column is read in one of the `READINGS`; a table that is there has them all."""


def saturated(sql: str, scale: int, power: str) -> str:
    """A decimal of up to 38 digits as its steps, by ``power`` = 10^scale; 19 digits hold all that fit 64 bits."""
    low, high = (f"CAST('{digits(limit, scale)}' AS DECIMAL(38,{scale}))" for limit in (SMALLEST, LARGEST))
    inner = f"CAST(CAST({sql} AS DECIMAL(19,{scale})) * {power} AS BIGINT)"
    return f"CASE WHEN {sql} >= {high} THEN {LARGEST} WHEN {sql} <= {low} THEN {SMALLEST} ELSE {inner} END"


def within(sql: str, low: str, high: str) -> str:
    """A value saturated at two limits; NULL stays NULL.

    No CASE alone: an engine may compute a function of a column's smallest value, known from statistics, whatever the
    conditions around it say.
    """
    return f"CASE WHEN {sql} IS NOT NULL THEN GREATEST(LEAST({sql}, {high}), {low}) END"
