"""Tables as an engine has opened them, and how their columns are read so that no row can fail: what all engines share.

An engine's own `tables.py` says where its tables are, and writes in a subclass of `NativeColumn` what its own types
need.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from tacit.engines import Source
from tacit.engines.columns import ColumnSQL, TableSQL
from tacit.engines.dialect import LARGEST, LARGEST_DOUBLE, SMALLEST, Dialect
from tacit.errors import InvalidInput
from tacit.language.types import ColumnType, KeyType, Kind, Schema


@dataclass(frozen=True)
class OpenTable:
    """A table that can be asked: its public schema, its SQL, and the keys that its source keeps unique."""

    schema: Schema
    sql: TableSQL
    keys: tuple[tuple[str, ...], ...] = field(default=(), kw_only=True)


T = TypeVar("T", bound=OpenTable)


class OpenTables(Generic[T]):
    """What an engine knows from its open tables alone; see `tacit.engines.Engine`."""

    tables: dict[str, T]

    def schema(self, table: str) -> Schema:
        """The public names and types of a table."""
        return self.tables[table].schema

    def keys(self, table: str) -> tuple[tuple[str, ...], ...]:
        """The keys that the source itself keeps unique."""
        return self.tables[table].keys

    def key_type(self, table: str, column: str) -> KeyType:
        """How a column's values are told apart."""
        return self.tables[table].sql.columns[column].key_type

    def version(self, tables: Sequence[str]) -> str | None:
        """None: rows may change between two questions without a sign that can be seen from outside."""
        return None


def schema_of(name: str, source: Source, native: Collection[tuple[str, str]], dialect: Dialect) -> Schema:
    """The schema that a source declares, or the one that its native types give."""
    schema = source.schema or dialect.schema(native)
    schema.check_names(name, dict(native))
    return schema


def unique_keys(
    keys: Iterable[tuple[str, ...]], columns: Mapping[str, NativeColumn], native: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    """Those of a source's unique keys that stay unique as they are read: no two values become one key.

    A column of a key must be read as what it is: '1' and '01' are unique as texts, but not as numbers.
    """
    as_is = {name for name, column in columns.items() if column.dialect.inferred(native[name]) == column.kind}
    exact = {name for name in as_is if columns[name].key_type.exact}
    return tuple(key for key in keys if exact.issuperset(key))


def refuse_options(name: str, source: Source, place: str) -> None:
    """Refuse options of a source that knows none."""
    if source.options:
        raise InvalidInput(f"table {name!r}: {next(iter(source.options))} is not an option of {place}.")


@dataclass(frozen=True)
class NativeColumn(ColumnSQL):
    """How a column of an engine's own type is read; ``sql`` is a plain name that may be written several times."""

    native: str
    """Its type as the engine names it."""
    kind: ColumnType
    """Its type as the schema declares it."""

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

    # ---- values -------------------------------------------------------------------------------------------------

    @abstractmethod
    def _exact(self, sql: str) -> str:
        """An integer or decimal as its number of steps, saturated at 64 bits."""

    @abstractmethod
    def _wide(self, sql: str) -> str:
        """An integer or decimal as its number of steps in 128 bits."""

    def _finite(self, sql: str) -> str:
        """A double with NaN read as NULL and ±inf as the largest finite one of that sign."""
        x, largest = self.double(sql), self.dialect.double(LARGEST_DOUBLE)
        return (
            f"CASE WHEN ABS({x}) <= {largest} THEN {x} WHEN {self.dialect.is_nan(x)} THEN NULL "
            f"WHEN {x} > 0 THEN {largest} WHEN {x} < 0 THEN -{largest} END"
        )

    def _date(self, sql: str) -> str:
        """A date between the years 1 and 9999."""
        return within(sql, "DATE '0001-01-01'", "DATE '9999-12-31'")

    @abstractmethod
    def _moment(self, sql: str) -> str:
        """A moment in UTC between the years 1 and 9999; the time zone of the connection does not matter."""

    @abstractmethod
    def _text(self, sql: str) -> str:
        """Text compared byte by byte, whatever collation the column or the connection has."""

    # ---- keys ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def _exact_key(self, sql: str) -> str:
        """An exact number whole."""

    @abstractmethod
    def _moment_key(self, sql: str) -> str:
        """A moment whole, whatever its year."""

    def _no_nan(self, sql: str) -> str:
        """Whether a double is a number."""
        return f"NOT {self.dialect.is_nan(sql)}"

    def _other_key(self, sql: str) -> str:
        """A value of any other type, told apart by the type's own equality."""
        return sql


def saturated(sql: str, scale: int, power: str) -> str:
    """A decimal of up to 38 digits as its steps, by ``power`` = 10^scale; 19 digits hold all that fit 64 bits."""
    low, high = (f"CAST('{digits(limit, scale)}' AS DECIMAL(38,{scale}))" for limit in (SMALLEST, LARGEST))
    inner = f"CAST(CAST({sql} AS DECIMAL(19,{scale})) * {power} AS BIGINT)"
    return f"CASE WHEN {sql} >= {high} THEN {LARGEST} WHEN {sql} <= {low} THEN {SMALLEST} ELSE {inner} END"


def digits(steps: int, scale: int) -> str:
    """A number of steps of 10^-scale, written out."""
    text = str(abs(steps)).rjust(scale + 1, "0")
    split = len(text) - scale
    return ("-" if steps < 0 else "") + text[:split] + ("." + text[split:] if scale else "")


def within(sql: str, low: str, high: str) -> str:
    """A value saturated at two limits; NULL stays NULL.

    No CASE alone: an engine may compute a function of a column's smallest value, known from statistics, whatever the
    conditions around it say.
    """
    return f"CASE WHEN {sql} IS NOT NULL THEN GREATEST(LEAST({sql}, {high}), {low}) END"
