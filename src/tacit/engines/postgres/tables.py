"""Where PostgreSQL finds a table, and how its own types are read into the few of a schema, so that no row can fail.

Names and types come from the catalog. Domains are read as what they are made of, enumerations and case-insensitive
text as plain text, CHAR(n) without its padding. NUMERIC without declared digits is read as float unless the schema
declares it decimal; money and everything unknown can only name persons unless declared. Values saturate as everywhere:
integers and decimals at 64 bits, doubles at the largest finite one, dates and times (±infinity too) at the years 1 and
9999; NaN is absent. Keys do not saturate: NUMERIC stays NUMERIC, whatever type it is declared as.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.engines import Source
from tacit.engines.columns import ColumnSQL, TableSQL, told_apart
from tacit.engines.dialect import LARGEST, LARGEST_DOUBLE, LARGEST_GROUP, SMALLEST
from tacit.engines.postgres.dialect import DIALECT
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
    import psycopg


_INTEGERS = ("int2", "int4", "int8")
_DOUBLES = ("float4", "float8")
_TIMES = ("timestamp", "timestamptz")
_TYPES = {
    **dict.fromkeys(_INTEGERS, INTEGER),
    **dict.fromkeys(_DOUBLES, FLOAT),
    **dict.fromkeys(_TIMES, TIMESTAMP),
    **dict.fromkeys(("uuid", "json", "jsonb"), TEXT),
    "bool": BOOLEAN,
    "date": DATE,
}
_EQUAL = ("interval", "bytea", "time", "timetz", "inet", "cidr", "macaddr", "bit", "varbit", "money", "oid")
"""Further types whose own equality tells persons apart; those of any other type are told apart by their text."""
_READABLE: dict[Kind, tuple[str, ...]] = {
    Kind.INTEGER: (*_INTEGERS, "numeric"),
    Kind.DECIMAL: (*_INTEGERS, "numeric", "money"),
    Kind.FLOAT: (*_INTEGERS, "numeric", *_DOUBLES),
    Kind.BOOLEAN: ("bool",),
    Kind.DATE: ("date", *_TIMES),
    Kind.TIMESTAMP: ("date", *_TIMES),
}
"""What can be declared as what, beside text, which everything can be."""

_FIND = """
SELECT c.oid, n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND c.relname = %s
AND n.nspname = ANY(%s::name[]) ORDER BY array_position(%s::name[], n.nspname)
"""
_LIST = """
SELECT n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
AND has_table_privilege(c.oid, 'SELECT') ORDER BY n.nspname = ANY(%s::name[]) DESC, 1 LIMIT 20
"""
_COLUMNS = """
WITH RECURSIVE bases (number, name, type, modifier) AS (
  SELECT attnum, attname, atttypid, atttypmod FROM pg_attribute
  WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped AND has_column_privilege(attrelid, attnum, 'SELECT')
  UNION ALL
  SELECT number, name, typbasetype, CASE WHEN typtypmod >= 0 THEN typtypmod ELSE modifier END
  FROM bases JOIN pg_type ON pg_type.oid = bases.type WHERE typtype = 'd'
)
SELECT name, CASE WHEN typnamespace = 'pg_catalog'::regnamespace THEN typname ELSE '' END, modifier,
  typtype = 'e' OR typcategory = 'S' FROM bases JOIN pg_type ON pg_type.oid = bases.type WHERE typtype <> 'd'
ORDER BY number
"""

_KEYS = """
SELECT array_agg(a.attname::text ORDER BY k.place) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
WHERE i.indrelid = %s AND k.place <= i.indnkeyatts AND i.indisunique AND i.indisvalid AND NOT i.indisexclusion
AND i.indpred IS NULL AND i.indexprs IS NULL AND NOT (c.relkind = 'r' AND c.relhassubclass) GROUP BY i.indexrelid
"""
"""Unique indexes of all rows; a table that others inherit from shows their rows too, which no index of it covers."""


@dataclass(frozen=True)
class Native:
    """A column's type in the catalog: its name, the digits it declares, and whether it is text of some kind."""

    name: str
    modifier: int = -1
    textual: bool = False

    @property
    def digits(self) -> tuple[int, int] | None:
        """Precision and scale of a NUMERIC that declares them."""
        if self.name != "numeric" or self.modifier < 4:
            return None
        packed = self.modifier - 4
        return packed >> 16 & 0xFFFF, (packed & 0x7FF ^ 0x400) - 0x400  # the scale is signed, in eleven bits

    def inferred(self) -> ColumnType:
        """The type a schema gives to it."""
        if self.textual:
            return TEXT
        if self.name == "numeric":
            if self.digits is None:
                return FLOAT
            scale = max(0, self.digits[1])
            return decimal(scale) if scale <= LARGEST_SCALE else OTHER
        return _TYPES.get(self.name, OTHER)


@dataclass(frozen=True)
class OpenTable:
    """A table that can be asked: its public schema, its SQL, and a query that reads no row but names all columns."""

    schema: Schema
    sql: TableSQL
    probe: str
    keys: tuple[tuple[str, ...], ...] = ()
    """What the server itself keeps unique."""


def open_table(cursor: psycopg.Cursor[Any], name: str, source: Source, path: list[str]) -> OpenTable:
    """Find a table in the catalog; ``path`` lists the schemas that a name without one may be in."""
    if source.options:
        raise InvalidInput(f"table {name!r}: {next(iter(source.options))} is not an option of PostgreSQL.")
    oid, namespace, relation = _find(cursor, source.table if source.table is not None else name, path)
    found = cursor.execute(_COLUMNS, (oid,), prepare=False).fetchall()
    native = {str(column): Native(str(kind), modifier, textual) for column, kind, modifier, textual in found}
    if not native:
        raise InvalidInput(f"table {name!r} has no column that this user may read; ask for the SELECT privilege.")
    schema = source.schema or Schema(tuple((column, kind.inferred()) for column, kind in native.items()))
    schema.check_names(name, native)
    for column, declared in schema.columns:
        if not _readable(native[column], declared):
            raise InvalidInput(
                f"schema of {name!r} declares {column!r} as {declared}, which the database's type does not convert to "
                "without failing; declare it as text, or make a view that converts it."
            )
    where = f"{DIALECT.name(namespace)}.{DIALECT.name(relation)}"
    columns = {column: read(column, native[column], kind) for column, kind in schema.columns}
    probe = f"SELECT {', '.join(map(DIALECT.name, schema))} FROM {where} LIMIT 0"
    unread = {column for column, kind in schema.columns if native[column].inferred() == kind}
    unique = [tuple(row[0]) for row in cursor.execute(_KEYS, (oid,), prepare=False)]
    return OpenTable(schema, TableSQL(where, columns), probe, told_apart(unique, columns, unread))


def _find(cursor: psycopg.Cursor[Any], wanted: str, path: list[str]) -> tuple[Any, ...]:
    """By the very name, or as the server would fold it; "schema.table" where parts with dots are in double quotes."""
    parts = [quoted.replace('""', '"') or bare for quoted, bare in re.findall(r'"((?:[^"]|"")+)"|([^".]+)', wanted)]
    if 1 <= len(parts) <= 2:
        for names in (parts, [part.lower() for part in parts]):
            schemas = names[:1] if len(names) == 2 else path
            found = cursor.execute(_FIND, (names[-1], schemas, schemas), prepare=False).fetchall()
            if found:
                return tuple(found[0])
    listed = ", ".join(row[0] for row in cursor.execute(_LIST, (path,), prepare=False)) or "none"
    raise InvalidInput(f"the database has no table {wanted!r}; name one with table=, the first tables are {listed}.")


def _readable(native: Native, kind: ColumnType) -> bool:
    return kind.kind in (Kind.TEXT, Kind.OTHER) or native.name in _READABLE[kind.kind]


def read(name: str, native: Native, kind: ColumnType) -> ColumnSQL:
    """How a column is read."""

    def value(sql: str) -> str:
        match kind.kind:
            case Kind.INTEGER | Kind.DECIMAL:
                return _steps(native, kind.scale, sql)
            case Kind.FLOAT:
                return _finite(native, sql)
            case Kind.DATE:
                return _within(sql, "DATE '0001-01-01'", "DATE '9999-12-31'", native, "DATE")
            case Kind.TIMESTAMP:
                high = "TIMESTAMP '9999-12-31 23:59:59.999999'"
                return _within(sql, "TIMESTAMP '0001-01-01'", high, native, "TIMESTAMP")
            case Kind.TEXT:
                return _text(sql)
        return sql

    key_type = _key_type(native, kind)

    def key(sql: str) -> str:
        if not key_type.exact:
            return value(sql)
        match key_type.domain:
            case "double":
                return f"CASE WHEN {sql} <> 'NaN' THEN {DIALECT.folded(double(sql))} END"
            case "number" if native.name == "money":
                return f"CAST({sql} AS NUMERIC)"
            case "number" if native.name == "numeric":
                return f"CASE WHEN {sql} <> 'NaN' THEN {sql if native.digits else f'TRIM_SCALE({sql})'} END"
            case "timestamp" if native.name == "timestamptz":
                return f"({sql} AT TIME ZONE 'UTC')"
            case "text":
                return _text(sql)
        return sql

    def double(sql: str) -> str:
        return sql if native.name == "float8" else f"CAST({sql} AS {DIALECT.float64})" if _short(native) else value(sql)

    def group(sql: str) -> str:
        return value(sql) if key_type.narrow else _steps(native, kind.scale, sql, DIALECT.int128, LARGEST_GROUP)

    return ColumnSQL(name, value, key, double, group, key_type)


def _key_type(native: Native, kind: ColumnType) -> KeyType:
    """Exact numbers are told apart as numbers, also where they are declared floats; the rest by its type's equality."""
    if native.name in (*_INTEGERS, "numeric") or (native.name == "money" and kind.exact_number):
        if kind != TEXT:
            digits = native.digits or ((LARGEST_SCALE + 1, 0) if native.name == "numeric" else (LARGEST_SCALE, 0))
            narrow = digits[0] + max(0, kind.scale - digits[1]) <= LARGEST_SCALE
            return KeyType("number", kind.scale, narrow)
    elif native.name in _DOUBLES and kind != TEXT:
        return KeyType("double")
    elif native.name in _READABLE[Kind.TIMESTAMP] and kind in (DATE, TIMESTAMP):
        return KeyType(kind.kind.value, exact=_TYPES[native.name] == kind)
    elif native.name in (*_TYPES, *_EQUAL) and kind != TEXT:
        return KeyType(native.name)
    return KeyType("text")


def _short(native: Native) -> bool:
    return native.name in (*_INTEGERS, *_DOUBLES)


def _text(sql: str) -> str:
    return f'(CAST({sql} AS TEXT) COLLATE "C")'


def _steps(native: Native, scale: int, sql: str, target: str = "BIGINT", limit: int = LARGEST) -> str:
    """An exact number as its steps, saturated at a limit."""
    if native.name in _INTEGERS:
        if not scale:
            return sql if native.name == "int8" else f"CAST({sql} AS BIGINT)"
        sql = f"CAST({sql} AS NUMERIC)"
    elif native.name == "money":
        sql = f"CAST({sql} AS NUMERIC)"
    counted = f"{sql} * {10**scale}" if scale else sql
    steps = f"CAST({counted} AS BIGINT)" if target == "BIGINT" else f"ROUND({counted})"
    digits = native.digits
    if digits and digits[0] + max(0, scale - digits[1]) <= LARGEST_SCALE:
        return f"CASE WHEN {sql} <> 'NaN' THEN {steps} END"
    lowest = SMALLEST if limit == LARGEST else -limit
    low, high = (f"CAST({steps} AS NUMERIC) / {10**scale}" for steps in (lowest, limit))
    return (
        f"CASE WHEN {sql} = 'NaN' THEN NULL WHEN {sql} >= {high} THEN {limit} "
        f"WHEN {sql} <= {low} THEN {lowest} ELSE {steps} END"
    )


def _finite(native: Native, sql: str) -> str:
    """A number as a finite double; a NUMERIC too small for any double is zero."""
    cast = sql if native.name == "float8" else f"CAST({sql} AS {DIALECT.float64})"
    if native.name in _INTEGERS:
        return cast
    largest, small = DIALECT.double(LARGEST_DOUBLE), ""
    if native.name == "numeric":
        small = f"WHEN ABS({sql}) < 1e-323 THEN 0 "
    else:
        sql = cast
    return (
        f"CASE WHEN {sql} = 'NaN' THEN NULL WHEN {sql} >= '{LARGEST_DOUBLE}' THEN {largest} "
        f"WHEN {sql} <= '-{LARGEST_DOUBLE}' THEN -{largest} {small}ELSE {cast} END"
    )


def _within(sql: str, low: str, high: str, native: Native, target: str) -> str:
    """A date or time between the years 1 and 9999, in UTC."""
    if native.name == "timestamptz":
        sql = f"({sql} AT TIME ZONE 'UTC')"
    inside = sql if native.name == target.lower() else f"CAST({sql} AS {target})"
    return f"CASE WHEN {sql} > {high} THEN {high} WHEN {sql} < {low} THEN {low} ELSE {inside} END"
