"""How DuckDB's own types are read into the few of a schema, so that no row can fail.

Where a column is declared as another type than it has (all columns of text files are text), it is first converted,
failures becoming NULL. Then values saturate: integers and decimals at 64 bits, doubles at the largest finite one, dates
and timestamps at the years 1 and 9999. A person is read unsaturated, so that no two persons become one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit.engines.dialect import LARGEST, LARGEST_DOUBLE, SMALLEST, Dialect, DuckDialect
from tacit.engines.rows import ColumnSQL
from tacit.engines.types import (
    BOOLEAN,
    DATE,
    FLOAT,
    INTEGER,
    LARGEST_SCALE,
    OTHER,
    TEXT,
    TIMESTAMP,
    ColumnType,
    Kind,
    decimal,
)

_NARROW = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_WIDE = ("UBIGINT", "HUGEINT", "UHUGEINT")
_TIMES = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE")
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


def faithful(native: str, kind: ColumnType) -> bool:
    """Whether different values of a native type stay different when they are read as a kind."""
    return (native in _NARROW and kind == INTEGER) or (native in ("VARCHAR", "UUID") and kind == TEXT)


def _decimal(native: str) -> tuple[int, int] | None:
    match = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", native)
    return (int(match.group(1)), int(match.group(2))) if match else None


@dataclass(frozen=True)
class TextFormat:
    """How text files write dates, times and fractions; None is ISO and the point."""

    date: str | None = None
    timestamp: str | None = None
    decimal_separator: str = "."


def converted(native: str, kind: ColumnType, sql: str, form: TextFormat, dialect: DuckDialect) -> tuple[str, str]:
    """A column's native type and SQL after conversion to its declared type, where these differ."""
    target = _target(kind)
    if native == "TIMESTAMP WITH TIME ZONE" and kind == TIMESTAMP:
        return "TIMESTAMP", f"({sql} AT TIME ZONE 'UTC')"
    if kind == OTHER or (inferred(native) == kind and native not in ("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")):
        return native, sql
    if kind == TEXT:
        return "VARCHAR", f"CAST({sql} AS VARCHAR)"
    if native == "VARCHAR" and kind.number and form.decimal_separator != ".":
        sql = f"REPLACE({sql}, {dialect.text(form.decimal_separator)}, '.')"
    pattern = {Kind.DATE: form.date, Kind.TIMESTAMP: form.timestamp}.get(kind.kind)
    if native == "VARCHAR" and pattern is not None:
        sql = f"TRY_STRPTIME({sql}, {dialect.text(pattern)})"
    elif native == "VARCHAR" and kind == TIMESTAMP:  # a cast to TIMESTAMP itself would ignore an offset such as +02
        return target, f"(TRY_CAST({sql} AS TIMESTAMPTZ) AT TIME ZONE 'UTC')"
    return target, f"TRY_CAST({sql} AS {target})"


def _target(kind: ColumnType) -> str:
    names = {
        Kind.INTEGER: "HUGEINT",  # so that a person's long number stays whole; values saturate afterwards
        Kind.FLOAT: "DOUBLE",
        Kind.TEXT: "VARCHAR",
        Kind.DECIMAL: f"DECIMAL(38,{kind.scale})",
    }
    return names.get(kind.kind, kind.kind.name)


def column(name: str, native: str, kind: ColumnType, dialect: DuckDialect) -> ColumnSQL:
    """How a column of a native type, converted before if need be, is read."""

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
                return within(sql, "TIMESTAMP '0001-01-01'", "TIMESTAMP '9999-12-31 23:59:59.999999'")
            case Kind.TEXT:
                return binary(sql) if native == "VARCHAR" else f"CAST({sql} AS VARCHAR)"
        return sql

    def double(sql: str) -> str:
        return sql if native == "DOUBLE" else f"CAST({sql} AS DOUBLE)"

    def person(sql: str) -> str:
        if kind == FLOAT:
            return f"CASE WHEN NOT {dialect.is_nan(sql)} THEN {sql} END"
        return binary(sql) if native == "VARCHAR" else sql

    return ColumnSQL(name, value, person, double)


def binary(sql: str) -> str:
    """Text compared byte by byte, whatever collation the column or the connection has."""
    return f'{sql} COLLATE "binary"'


def _integer(native: str, sql: str) -> str:
    if native not in _WIDE:
        return sql if native == "BIGINT" else f"CAST({sql} AS BIGINT)"
    low = f"WHEN {sql} < {SMALLEST} THEN {SMALLEST} " if native == "HUGEINT" else ""
    return f"CASE WHEN {sql} > {LARGEST} THEN {LARGEST} {low}ELSE CAST({sql} AS BIGINT) END"


def _steps(native: str, sql: str) -> str:
    """A decimal as its number of steps; 19 digits hold every one that fits 64 bits."""
    precision, scale = _decimal(native) or (18, 0)
    ten = f"CAST({10**scale} AS DECIMAL({scale + 1},0))"
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
    """A value saturated at two limits; NULL stays NULL."""
    return f"CASE WHEN {sql} > {high} THEN {high} WHEN {sql} < {low} THEN {low} ELSE {sql} END"
