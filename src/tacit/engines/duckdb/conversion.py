"""Columns that are declared as another type than they have, converted value by value; failures become NULL.

All columns of text files are text, so theirs are. No conversion here may fail: a cast that DuckDB believes infallible
and that fails ends the whole database. So moments outside what a TIMESTAMP holds never reach one, and types whose text
or equality is not known to be safe are refused.
"""

from __future__ import annotations

from tacit.engines.columns import within
from tacit.engines.duckdb.dialect import COARSE, DIALECT, TIMES, ZONED
from tacit.engines.duckdb.text_files.formats import TextFormat
from tacit.language.types import BOOLEAN, DATE, INTEGER, OTHER, TEXT, TIMESTAMP, ColumnType, Kind


def writable(native: str) -> bool:
    """Whether every value of a type can be read and has a text, and different ones different texts."""
    return DIALECT.inferred(native) != OTHER or _plain(native)


def _plain(native: str) -> bool:
    """Whether a type that Tacit does not read still tells persons apart by its own equality."""
    return native in ("BLOB", "BIT") or DIALECT.native_digits(native) is not None


def exact(native: str, kind: ColumnType) -> bool:
    """Whether no two values of a native type become one key of a declared type."""
    own, digits = DIALECT.inferred(native), DIALECT.native_digits(native)
    if kind == OTHER:
        return writable(native)
    if native in ("UHUGEINT", "TIMESTAMP_NS") and kind != TEXT:  # beyond HUGEINT, finer than microseconds
        return False
    if native == "VARCHAR":  # equal integers are equal, however written; other types would round or cut what is written
        return kind in (TEXT, INTEGER, BOOLEAN)
    if kind == own:
        return True
    match kind.kind:
        case Kind.TEXT:
            return writable(native)
        case Kind.INTEGER | Kind.DECIMAL:
            whole = own.kind in (Kind.INTEGER, Kind.BOOLEAN)
            return whole or (digits is not None and digits[1] <= kind.scale)
        case Kind.TIMESTAMP:
            return own == DATE
    return False


def converted(native: str, kind: ColumnType, sql: str, form: TextFormat) -> tuple[str, str]:
    """A column's native type and SQL after conversion to its declared type, where these differ."""
    target = _target(kind)
    if native in COARSE and kind != OTHER:
        native, sql = "TIMESTAMP", f"TRY_CAST({sql} AS TIMESTAMP)"
    if kind == OTHER or DIALECT.inferred(native) == kind:
        return native, sql
    sql = _undamaged(native, sql)
    if native in TIMES and kind == DATE:
        return target, f"CAST({moment(native, sql)} AS DATE)"
    if native in TIMES and kind == TEXT:
        return "VARCHAR", f"CASE WHEN {sql} >= CAST('-infinity' AS {native}) THEN CAST({sql} AS VARCHAR) END"
    if kind == TEXT:
        return "VARCHAR", f"CAST({sql} AS VARCHAR)"
    if native == "VARCHAR" and kind.number and form.decimal_separator != ".":
        sql = f"REPLACE({sql}, {DIALECT.text(form.decimal_separator)}, '.')"
    pattern = {Kind.DATE: form.date, Kind.TIMESTAMP: form.timestamp}.get(kind.kind)
    if native == "VARCHAR" and pattern is not None:
        sql = f"TRY_STRPTIME({sql}, {DIALECT.text(pattern)})"
    elif native == "VARCHAR" and kind == TIMESTAMP:  # a cast to TIMESTAMP itself would ignore an offset such as +02
        return target, f"(TRY_CAST({sql} AS TIMESTAMPTZ) AT TIME ZONE 'UTC')"
    read = f"TRY_CAST({sql} AS {target})"
    return target, _unrounded(sql, read) if native == "VARCHAR" and kind == INTEGER else read


def decimal_ends(precision: int, scale: int) -> tuple[str, str]:
    """The least and the largest number that a decimal of so many digits has."""
    last = f"{'9' * (precision - scale)}.{'9' * scale}"
    low, high = (f"CAST('{sign}{last}' AS DECIMAL({precision},{scale}))" for sign in ("-", ""))
    return low, high


def _undamaged(native: str, sql: str) -> str:
    """A decimal of 128 bits; bits of a damaged frame that no such decimal has are absent: casts of some fail."""
    precision, scale = DIALECT.native_digits(native) or (0, 0)
    if precision <= 18:
        return sql
    low, high = decimal_ends(precision, scale)
    return f"CASE WHEN {sql} BETWEEN {low} AND {high} THEN {within(sql, low, high)} END"


def _unrounded(sql: str, read: str) -> str:
    """Text read as an integer; one with a fraction is absent, for rounding would give two of them one key."""
    marked = " OR ".join(f"CONTAINS({sql}, '{mark}')" for mark in ".eE")
    whole = rf"REGEXP_FULL_MATCH({sql}, '\s*[+-]?\d+(\.0*)?([eE]\+?\d+)?\s*')"
    return f"CASE WHEN NOT ({marked}) OR {whole} THEN {read} END"


def _target(kind: ColumnType) -> str:
    names = {
        Kind.INTEGER: "HUGEINT",  # so that a person's long number stays whole; values saturate afterwards
        Kind.FLOAT: "DOUBLE",
        Kind.TEXT: "VARCHAR",
        Kind.DECIMAL: f"DECIMAL(38,{kind.scale})",
    }
    return names.get(kind.kind, kind.kind.name)


def moment(native: str, sql: str) -> str:
    """A moment in UTC between the years 1 and 9999; the time zone of the connection does not matter."""
    first, last = "0001-01-01", "9999-12-31 23:59:59.999999"
    if native == ZONED:
        inside = within(sql, f"TIMESTAMPTZ '{first} 00:00:00+00'", f"TIMESTAMPTZ '{last}+00'")
        return f"MAKE_TIMESTAMP(EPOCH_US({inside}))"
    return within(sql, f"TIMESTAMP '{first}'", f"TIMESTAMP '{last}'")
