"""How DuckDB's own types are read into the few of a schema, so that no row can fail.

Where a column is declared as another type than it has (all columns of text files are text), it is first converted,
failures becoming NULL. Then values saturate: integers and decimals at 64 bits, doubles at the largest finite one, dates
and timestamps at the years 1 and 9999. Keys do not saturate: integers and decimals are counts of 64 or 128 bits, times
are microseconds, whatever kind of text is VARCHAR.

No conversion below may fail: a cast that DuckDB believes infallible and that fails ends the whole database. So moments
outside what a TIMESTAMP holds never reach one, and types whose text or equality is not known to be safe are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit.engines.columns import ColumnSQL
from tacit.engines.dialect import LARGEST, LARGEST_DOUBLE, SMALLEST, Dialect
from tacit.language.types import (
    BOOLEAN,
    DATE,
    FLOAT,
    INTEGER,
    LARGEST_SCALE,
    OTHER,
    TEXT,
    TIMESTAMP,
    ColumnType,
    KeyType,
    Kind,
    decimal,
)

_NARROW = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_WIDE = ("UBIGINT", "HUGEINT", "UHUGEINT")
_ZONED = "TIMESTAMP WITH TIME ZONE"
_TIMES = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", _ZONED)
_TYPES = {
    **dict.fromkeys(_NARROW + _WIDE, INTEGER),
    **dict.fromkeys(_TIMES, TIMESTAMP),
    "FLOAT": FLOAT,
    "DOUBLE": FLOAT,
    "BOOLEAN": BOOLEAN,
    "DATE": DATE,
    "VARCHAR": TEXT,
    "JSON": TEXT,
    "UUID": TEXT,
    '"NULL"': INTEGER,  # a column without any value: every sum over it is an ordinary zero
}


def inferred(native: str) -> ColumnType:
    """The type a schema gives to a native one."""
    digits = _decimal(native)
    if digits:
        return decimal(digits[1]) if digits[1] <= LARGEST_SCALE else OTHER
    return TEXT if native.startswith("ENUM(") else _TYPES.get(native, OTHER)


def writable(native: str) -> bool:
    """Whether every value of a type can be read and has a text, and different ones different texts."""
    return inferred(native) != OTHER or _plain(native)


def _plain(native: str) -> bool:
    """Whether a type that Tacit does not read still tells persons apart by its own equality."""
    return native in ("BLOB", "BIT") or _decimal(native) is not None


def exact(native: str, kind: ColumnType) -> bool:
    """Whether no two values of a native type become one key of a declared type."""
    own, digits = inferred(native), _decimal(native)
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


def _decimal(native: str) -> tuple[int, int] | None:
    match = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", native)
    return (int(match.group(1)), int(match.group(2))) if match else None


@dataclass(frozen=True)
class TextFormat:
    """How text files write dates, times and fractions; None is ISO and the point."""

    date: str | None = None
    timestamp: str | None = None
    decimal_separator: str = "."


def converted(native: str, kind: ColumnType, sql: str, form: TextFormat, dialect: Dialect) -> tuple[str, str]:
    """A column's native type and SQL after conversion to its declared type, where these differ."""
    target = _target(kind)
    if native in ("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS") and kind != OTHER:
        native, sql = "TIMESTAMP", f"TRY_CAST({sql} AS TIMESTAMP)"
    if kind == OTHER or inferred(native) == kind:
        return native, sql
    if native in _TIMES and kind == DATE:
        return target, f"CAST({_moment(native, sql)} AS DATE)"
    if native in _TIMES and kind == TEXT:
        return "VARCHAR", f"CASE WHEN {sql} >= CAST('-infinity' AS {native}) THEN CAST({sql} AS VARCHAR) END"
    if kind == TEXT:
        return "VARCHAR", f"CAST({sql} AS VARCHAR)"
    if native == "VARCHAR" and kind.number and form.decimal_separator != ".":
        sql = f"REPLACE({sql}, {dialect.text(form.decimal_separator)}, '.')"
    pattern = {Kind.DATE: form.date, Kind.TIMESTAMP: form.timestamp}.get(kind.kind)
    if native == "VARCHAR" and pattern is not None:
        sql = f"TRY_STRPTIME({sql}, {dialect.text(pattern)})"
    elif native == "VARCHAR" and kind == TIMESTAMP:  # a cast to TIMESTAMP itself would ignore an offset such as +02
        return target, f"(TRY_CAST({sql} AS TIMESTAMPTZ) AT TIME ZONE 'UTC')"
    read = f"TRY_CAST({sql} AS {target})"
    return target, _unrounded(sql, read) if native == "VARCHAR" and kind == INTEGER else read


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


def column(name: str, native: str, kind: ColumnType, dialect: Dialect, exact: bool = True) -> ColumnSQL:
    """How a column of a native type, converted before if need be, is read; ``exact`` says whether keys survived it."""
    told = inferred(native) if kind == OTHER else kind

    def value(sql: str) -> str:
        match kind.kind:
            case Kind.INTEGER:
                return _integer(native, sql)
            case Kind.DECIMAL:
                return _steps(native, sql)
            case Kind.FLOAT:
                return finite(double(sql), dialect)
            case Kind.DATE:
                return within(sql, "DATE '0001-01-01'", "DATE '9999-12-31'")
            case Kind.TIMESTAMP:
                return _moment(native, sql)
            case Kind.TEXT:
                return _text(native, sql)
        return sql

    def double(sql: str) -> str:
        return sql if native == "DOUBLE" else f"CAST({sql} AS DOUBLE)"

    def key(sql: str) -> str:
        match told.kind:
            case Kind.INTEGER:
                return _whole(native, sql)
            case Kind.DECIMAL:
                return _steps(native, sql) if narrow else _wide_steps(native, sql)
            case Kind.FLOAT:
                return f"CASE WHEN NOT {dialect.is_nan(sql)} THEN {dialect.folded(double(sql))} END"
            case Kind.TIMESTAMP:
                ends = "".join(f"WHEN {sql} = '{sign}infinity' THEN {sign}{LARGEST} " for sign in ("", "-"))
                return f"CASE {ends}ELSE EPOCH_US({sql}) END"
            case Kind.TEXT:
                return _text(native, sql)
        return sql

    digits = _decimal(native)
    narrow = digits[0] <= LARGEST_SCALE if digits else native not in _WIDE
    domain = native if told == OTHER else "number" if told.exact_number else told.kind.value
    group = value if narrow else key
    return ColumnSQL(name, value, key, double, group, KeyType(domain, told.scale, narrow, exact), told.scale)


def binary(sql: str) -> str:
    """Text compared byte by byte, whatever collation the column or the connection has."""
    return f'{sql} COLLATE "binary"'


def _moment(native: str, sql: str) -> str:
    """A moment in UTC between the years 1 and 9999; the time zone of the connection does not matter."""
    first, last = "0001-01-01", "9999-12-31 23:59:59.999999"
    if native == _ZONED:
        inside = within(sql, f"TIMESTAMPTZ '{first} 00:00:00+00'", f"TIMESTAMPTZ '{last}+00'")
        return f"MAKE_TIMESTAMP(EPOCH_US({inside}))"
    return within(sql, f"TIMESTAMP '{first}'", f"TIMESTAMP '{last}'")


def _whole(native: str, sql: str) -> str:
    """An integer whole; beyond HUGEINT it is absent."""
    if native not in _WIDE:
        return sql if native in _NARROW else f"CAST({sql} AS BIGINT)"
    return sql if native == "HUGEINT" else f"{'TRY_' if native == 'UHUGEINT' else ''}CAST({sql} AS HUGEINT)"


def _wide_steps(native: str, sql: str) -> str:
    """A decimal of up to 38 digits as its number of steps: its whole part's and its fraction's, which has 18 digits."""
    _, scale = _decimal(native) or (38, 0)
    whole = f"CAST(TRUNC({sql}) AS HUGEINT)"
    if not scale:
        return whole
    fraction = f"CAST({sql} - TRUNC({sql}) AS DECIMAL({scale + 1},{scale}))"
    return f"({whole} * {10**scale} + CAST({fraction} * {_power(scale, scale + 1)} AS HUGEINT))"


def _power(scale: int, digits: int) -> str:
    """10^scale, by which a decimal of so many digits is multiplied.

    DuckDB multiplies in 64 bits as long as the widths of both stay within 18, and raises where the product, which
    keeps the scale, does not fit: ``digits + scale`` of them must, or the multiplier is made wide.
    """
    return f"CAST({10**scale} AS DECIMAL({scale + 1 if digits + scale <= LARGEST_SCALE else 20},0))"


def _text(native: str, sql: str) -> str:
    return binary(sql if native == "VARCHAR" else f"CAST({sql} AS VARCHAR)")


def _integer(native: str, sql: str) -> str:
    if native not in _WIDE:
        return sql if native == "BIGINT" else f"CAST({sql} AS BIGINT)"
    low = f"WHEN {sql} < {SMALLEST} THEN {SMALLEST} " if native == "HUGEINT" else ""
    return f"CASE WHEN {sql} > {LARGEST} THEN {LARGEST} {low}ELSE CAST({sql} AS BIGINT) END"


def _steps(native: str, sql: str) -> str:
    """A decimal as its number of steps; 19 digits hold every one that fits 64 bits."""
    precision, scale = _decimal(native) or (18, 0)
    ten = _power(scale, precision)
    if precision <= 18:
        return f"CAST({sql} * {ten} AS BIGINT)"
    low, high = (f"CAST('{point(limit, scale)}' AS DECIMAL(38,{scale}))" for limit in (SMALLEST, LARGEST))
    inner = f"CAST(CAST({sql} AS DECIMAL(19,{scale})) * {ten} AS BIGINT)"
    return f"CASE WHEN {sql} >= {high} THEN {LARGEST} WHEN {sql} <= {low} THEN {SMALLEST} ELSE {inner} END"


def point(steps: int, scale: int) -> str:
    """A number of steps of 10^-scale in digits."""
    digits = str(abs(steps)).rjust(scale + 1, "0")
    split = len(digits) - scale
    return ("-" if steps < 0 else "") + digits[:split] + ("." + digits[split:] if scale else "")


def finite(sql: str, dialect: Dialect) -> str:
    """A double with NaN read as NULL and ±inf as the largest finite one of that sign."""
    largest = dialect.double(LARGEST_DOUBLE)
    return (
        f"CASE WHEN ABS({sql}) <= {largest} THEN {sql} WHEN {dialect.is_nan(sql)} THEN NULL "
        f"WHEN {sql} > 0 THEN {largest} WHEN {sql} < 0 THEN -{largest} END"
    )


def within(sql: str, low: str, high: str) -> str:
    """A value saturated at two limits; NULL stays NULL.

    No CASE alone: an engine may compute a function of a column's smallest value, known from statistics, whatever the
    conditions around it say.
    """
    return f"CASE WHEN {sql} IS NOT NULL THEN GREATEST(LEAST({sql}, {high}), {low}) END"
