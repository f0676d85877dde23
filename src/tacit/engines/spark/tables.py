"""How Spark's types are read into the few of a schema, so that no row can fail.

A frame's columns get new names, c0, c1, …, by their position: whatever characters the old names have, and whether they
differ in case only, does not matter then. As keys decimals stay decimals and timestamps are microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tacit.engines import Source
from tacit.engines.columns import ColumnSQL, TableSQL
from tacit.engines.dialect import LARGEST, SMALLEST
from tacit.engines.duckdb.reading import finite, point, within
from tacit.engines.spark.dialect import SparkDialect, microseconds
from tacit.errors import InvalidInput
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
    Schema,
    decimal,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DIALECT = SparkDialect()

_TYPES = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), INTEGER),
    "void": INTEGER,  # a column without any value: every sum over it is an ordinary zero
    "float": FLOAT,
    "double": FLOAT,
    "boolean": BOOLEAN,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "timestamp_ntz": TIMESTAMP,
}
_EARLIEST = microseconds(datetime.min)
_LATEST = microseconds(datetime.max)
_DAYS = 2**63 // 86_400_000_000 - 1
"""Days on either side of 1970 whose microseconds fit 64 bits."""


@dataclass(frozen=True)
class OpenTable:
    """A table that can be asked: its public schema, its SQL over a frame called ``place``, how to get that frame."""

    schema: Schema
    sql: TableSQL
    place: str
    native: tuple[tuple[str, str], ...]
    find: Callable[[], DataFrame] = field(repr=False)

    def frame(self) -> DataFrame:
        """The frame, its columns named by position; the table may be another by now than when it was opened."""
        found = self.find()
        if natives(found) != self.native:
            raise LookupError
        return found.toDF(*(f"c{i}" for i in range(len(self.native))))


def open_table(session: Any, name: str, source: Source, place: str) -> OpenTable:
    """Open a frame, or a table of a session, under a name."""
    if source.options:
        raise InvalidInput(f"table {name!r}: {next(iter(source.options))} is not an option of Spark.")
    find = _find(session, name, source)
    native = natives(find())
    known = dict(native)
    schema = source.schema or Schema(tuple((column, inferred(kind)) for column, kind in native))
    schema.check_names(name, known)
    for column, declared in schema.columns:
        if not _readable(known[column], declared):
            raise InvalidInput(
                f"schema of {name!r} declares {column!r} as {declared}, but it is {inferred(known[column])}; "
                "convert it in Spark and read the result."
            )
    places = {column: f"c{i}" for i, (column, _) in enumerate(native)}
    columns = {column: read(places[column], known[column], kind) for column, kind in schema.columns}
    return OpenTable(schema, TableSQL(place, columns), place, native, find)


def _readable(native: str, kind: ColumnType) -> bool:
    """A column is read as what it is, and a decimal without a fraction also as an integer."""
    digits = _digits(native)
    return kind in (inferred(native), OTHER) or (kind == INTEGER and digits is not None and digits[1] == 0)


def _find(session: Any, name: str, source: Source) -> Callable[[], DataFrame]:
    data: Any = source.data
    if data is session:
        wanted = source.table if source.table is not None else name
        return lambda: session.table(wanted)
    if source.table is not None and source.table != name:
        raise InvalidInput(f"table {name!r} is a DataFrame, which has no tables; leave table= out.")
    if data.isStreaming:
        raise InvalidInput(f"table {name!r} is a stream, which never ends; write it to a table and read that.")
    return lambda: data


def natives(frame: DataFrame) -> tuple[tuple[str, str], ...]:
    """The names and Spark types of a frame's columns."""
    return tuple((column.name, column.dataType.simpleString()) for column in frame.schema.fields)


def inferred(native: str) -> ColumnType:
    """The type a schema gives to a native one."""
    digits = _digits(native)
    if digits:
        return decimal(digits[1]) if 0 <= digits[1] <= LARGEST_SCALE else OTHER
    return TEXT if re.match(r"(string|char\(|varchar\()", native) else _TYPES.get(native, OTHER)


def _digits(native: str) -> tuple[int, int] | None:
    match = re.fullmatch(r"decimal\((\d+),(-?\d+)\)", native)
    return (int(match.group(1)), int(match.group(2))) if match else None


def read(name: str, native: str, kind: ColumnType) -> ColumnSQL:
    """How a column is read."""

    def value(sql: str) -> str:
        match kind.kind:
            case Kind.INTEGER | Kind.DECIMAL:
                return sql if native == "bigint" else _steps(native, sql)
            case Kind.FLOAT:
                return finite(double(sql), DIALECT)
            case Kind.DATE:
                return within(sql, "DATE '0001-01-01'", "DATE '9999-12-31'")
            case Kind.TIMESTAMP:
                return _moment(native, sql)
            case Kind.TEXT:
                return _text(native, sql)
        return sql

    def double(sql: str) -> str:
        return sql if native == "double" else f"CAST({sql} AS DOUBLE)"

    def key(sql: str) -> str:
        match inferred(native).kind:
            case Kind.FLOAT:
                return f"CASE WHEN NOT {DIALECT.is_nan(sql)} THEN {DIALECT.folded(double(sql))} END"
            case Kind.TIMESTAMP:
                return _whole_moment(native, sql)
            case Kind.TEXT:
                return _text(native, sql)
        if native.startswith(("array<", "struct<", "map<", "variant")):  # as text, whose parts are named and quoted
            return f"CASE WHEN {sql} IS NOT NULL THEN TO_JSON(NAMED_STRUCT('p', {sql})) END"
        return f"CAST({sql} AS BIGINT)" if native == "void" else sql

    def group(sql: str) -> str:
        return value(sql) if narrow else _wide_steps(native, sql)

    digits, told = _digits(native), inferred(native)
    narrow = digits is None or digits[0] <= LARGEST_SCALE
    domain = native if told == OTHER else "number" if told.exact_number else told.kind.value
    return ColumnSQL(name, value, key, double, group, KeyType(domain, told.scale, narrow))


def _text(native: str, sql: str) -> str:
    """Text compared byte by byte, whatever collation the column has."""
    return sql if native == "string" else f"CAST({sql} AS STRING) COLLATE UTF8_BINARY"


def _steps(native: str, sql: str) -> str:
    """A decimal as its number of steps.

    Fifteen digits are exact in a double: the quotient and the product err by 10^15·2^-52 < 1/2 step together.
    """
    precision, scale = _digits(native) or (18, 0)
    if not scale and precision <= 18:
        return f"CAST({sql} AS BIGINT)"
    if precision <= 15:
        return DIALECT.rounded(f"CAST({sql} AS DOUBLE) * {DIALECT.double(10.0**scale)}")
    ten = f"CAST({10**scale} AS DECIMAL({scale + 1},0))"
    if precision <= 18:
        return f"CAST({sql} * {ten} AS BIGINT)"
    low, high = (f"CAST('{point(limit, scale)}' AS DECIMAL(38,{scale}))" for limit in (SMALLEST, LARGEST))
    inner = f"CAST(CAST({sql} AS DECIMAL(19,{scale})) * {ten} AS BIGINT)"
    return f"CASE WHEN {sql} >= {high} THEN {LARGEST} WHEN {sql} <= {low} THEN {SMALLEST} ELSE {inner} END"


def _wide_steps(native: str, sql: str) -> str:
    """A decimal of up to 38 digits as its number of steps: its whole part's and its fraction's, which has 18 digits."""
    _, scale = _digits(native) or (38, 0)
    whole = DIALECT.wide(f"CASE WHEN {sql} < 0 THEN CEIL({sql}) ELSE FLOOR({sql}) END")
    if not scale:
        return whole
    fraction = f"CAST({sql} % 1 AS DECIMAL({scale + 1},{scale})) * CAST({10**scale} AS DECIMAL({scale + 1},0))"
    return f"({whole} * {10**scale} + {DIALECT.wide(fraction)})"


def _moment(native: str, sql: str) -> str:
    """Microseconds between the years 1 and 9999."""
    if native != "timestamp_ntz":
        return within(_microseconds(native, sql), str(_EARLIEST), str(_LATEST))
    low, high = (f"TIMESTAMP_NTZ '{moment}'" for moment in ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"))
    return (
        f"CASE WHEN {sql} > {high} THEN {_LATEST} WHEN {sql} < {low} THEN {_EARLIEST} "
        f"ELSE {_microseconds(native, sql)} END"
    )


def _whole_moment(native: str, sql: str) -> str:
    """Microseconds as far as 64 bits hold them; absent in the last days of what a timestamp without a zone may be."""
    if native != "timestamp_ntz":
        return _microseconds(native, sql)
    day = DIALECT.days(f"CAST({sql} AS DATE)")
    return f"CASE WHEN {day} BETWEEN {-_DAYS} AND {_DAYS} THEN {_microseconds(native, sql)} END"


def _microseconds(native: str, sql: str) -> str:
    """A timestamp as microseconds; one without a time zone is in UTC and is never converted by the session's zone."""
    if native != "timestamp_ntz":
        return f"UNIX_MICROS({sql})"
    day = DIALECT.midnight(f"CAST({sql} AS DATE)")
    seconds = f"CAST(EXTRACT(SECOND FROM {sql}) * 1000000 AS BIGINT)"
    return f"({day} + HOUR({sql}) * 3600000000L + MINUTE({sql}) * 60000000L + {seconds})"
