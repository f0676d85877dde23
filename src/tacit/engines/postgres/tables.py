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
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tacit.engines import Source
from tacit.engines.columns import NativeColumn, TableSQL
from tacit.engines.dialect import LARGEST, LARGEST_DOUBLE, LARGEST_GROUP, SMALLEST
from tacit.engines.postgres.dialect import DIALECT, DOUBLES, INTEGERS, TIMES
from tacit.engines.tables import OpenTable, refuse_options, schema_of, unique_keys
from tacit.errors import InvalidInput
from tacit.language.types import DATE, LARGEST_SCALE, TEXT, TIMESTAMP, ColumnType, KeyType, Kind

if TYPE_CHECKING:
    import psycopg


_EQUAL = ("interval", "bytea", "time", "timetz", "inet", "cidr", "macaddr", "bit", "varbit", "money", "oid")
"""Further types whose own equality tells persons apart; those of any other type are told apart by their text."""
_READABLE: dict[Kind, tuple[str, ...]] = {
    Kind.INTEGER: (*INTEGERS, "numeric"),
    Kind.DECIMAL: (*INTEGERS, "numeric", "money"),
    Kind.FLOAT: (*INTEGERS, "numeric", *DOUBLES),
    Kind.BOOLEAN: ("bool",),
    Kind.DATE: ("date", *TIMES),
    Kind.TIMESTAMP: ("date", *TIMES),
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
_NAMES = """
SELECT CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN '' ELSE n.nspname || '.' END || c.relname
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
AND pg_catalog.has_table_privilege(c.oid, 'SELECT') ORDER BY 1
"""
"""Asked under the user's own search path, so it names the catalog itself."""
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
class PostgresTable(OpenTable):
    """A table or view of the server, and a query that reads no row but names all its columns."""

    probe: str


def open_table(cursor: psycopg.Cursor[Any], name: str, source: Source, path: list[str]) -> PostgresTable:
    """Find a table in the catalog; ``path`` lists the schemas that a name without one may be in."""
    refuse_options(name, source, "PostgreSQL")
    oid, namespace, relation = _find(cursor, source.table if source.table is not None else name, path)
    described = cursor.execute(_COLUMNS, (oid,), prepare=False).fetchall()
    native = {str(column): native_name(*facts) for column, *facts in described}
    if not native:
        raise InvalidInput(f"table {name!r} has no column that this user may read; ask for the SELECT privilege.")
    schema = schema_of(name, source, native.items(), DIALECT)
    for column, declared in schema.columns:
        if not readable(native[column], declared):
            raise InvalidInput(
                f"schema of {name!r} declares {column!r} as {declared}, which the database's type does not convert to "
                "without failing; declare it as text, or make a view that converts it."
            )
    where = f"{DIALECT.name(namespace)}.{DIALECT.name(relation)}"
    columns = {column: PostgresColumn(column, native[column], kind) for column, kind in schema.columns}
    probe = f"SELECT {', '.join(map(DIALECT.name, schema))} FROM {where} LIMIT 0"
    keys = [tuple(row[0]) for row in cursor.execute(_KEYS, (oid,), prepare=False)]
    return PostgresTable(schema, TableSQL(where, columns), probe, keys=unique_keys(keys, columns, native))


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


def list_names(cursor: psycopg.Cursor[Any]) -> tuple[str, ...]:
    """The tables and views that this user may read, "schema.table" where the search path does not lead there."""
    return tuple(row[0] for row in cursor.execute(_NAMES, prepare=False))


def native_name(name: str, modifier: int, textual: bool) -> str:
    """A column's type from the catalog: text of any kind is text, and a NUMERIC shows the digits that it declares."""
    if textual:
        return "text"
    if name != "numeric" or modifier < 4:
        return name
    precision, scale = modifier - 4 >> 16 & 0xFFFF, (modifier - 4 & 0x7FF ^ 0x400) - 0x400  # signed, in eleven bits
    return f"numeric({precision + max(0, -scale)},{max(0, scale)})"


def readable(native: str, kind: ColumnType) -> bool:
    """Whether a column of a native type may be declared as a type."""
    return kind.kind in (Kind.TEXT, Kind.OTHER) or native.partition("(")[0] in _READABLE[kind.kind]


class PostgresColumn(NativeColumn):
    """How one of PostgreSQL's columns is read."""

    dialect = DIALECT

    @cached_property
    def key_type(self) -> KeyType:
        """Exact numbers as numbers, even if they are declared floats; everything else by its type's own equality."""
        native, kind = self.native, self.kind
        if kind == TEXT:
            return KeyType("text")
        if native in INTEGERS or self._numeric or (native == "money" and kind.exact_number):
            return KeyType("number", kind.scale, self._narrow)
        if native in DOUBLES:
            return KeyType("float")
        if native in _READABLE[Kind.TIMESTAMP] and kind in (DATE, TIMESTAMP):
            return KeyType(kind.kind.value, exact=DIALECT.inferred(native) == kind)
        if native == "bool":
            return KeyType("boolean")
        return KeyType(native if native in (*DIALECT.native_types, *_EQUAL) else "text")

    @cached_property
    def _digits(self) -> tuple[int, int] | None:
        return DIALECT.native_digits(self.native)

    @property
    def _numeric(self) -> bool:
        return self.native.startswith("numeric")

    @property
    def _narrow(self) -> bool:
        """Whether every value fits 64 bits of the declared scale."""
        precision, scale = self._digits or (LARGEST_SCALE + self._numeric, 0)
        return precision + max(0, self.kind.scale - scale) <= LARGEST_SCALE

    def key(self, sql: str) -> str:
        """A date and a moment that are declared as one another have no key but their value."""
        return super().key(sql) if self.key_type.exact else self.value(sql)

    def double(self, sql: str) -> str:
        """NUMERIC has values that no double holds."""
        if self.native == "float8":
            return sql
        return self._cast(sql) if self.native in (*INTEGERS, *DOUBLES) else self.value(sql)

    def _cast(self, sql: str) -> str:
        return f"CAST({sql} AS {DIALECT.float64})"

    # ---- values -------------------------------------------------------------------------------------------------

    def _exact(self, sql: str) -> str:
        return self._steps(sql, "BIGINT", SMALLEST, LARGEST)

    def _wide(self, sql: str) -> str:
        return self._steps(sql, DIALECT.int128, -LARGEST_GROUP, LARGEST_GROUP)

    def _steps(self, sql: str, target: str, lowest: int, largest: int) -> str:
        """An exact number as its steps, saturated at two limits."""
        power = 10**self.kind.scale
        if self.native in INTEGERS and power == 1:
            return sql if self.native == "int8" else f"CAST({sql} AS BIGINT)"
        if not self._numeric:
            sql = f"CAST({sql} AS NUMERIC)"
        counted = f"{sql} * {power}" if power > 1 else sql
        steps = f"CAST({counted} AS BIGINT)" if target == "BIGINT" else f"ROUND({counted})"
        if self._digits and self._narrow:
            return f"CASE WHEN {sql} <> 'NaN' THEN {steps} END"
        low, high = (f"CAST({limit} AS NUMERIC) / {power}" for limit in (lowest, largest))
        return (
            f"CASE WHEN {sql} = 'NaN' THEN NULL WHEN {sql} >= {high} THEN {largest} "
            f"WHEN {sql} <= {low} THEN {lowest} ELSE {steps} END"
        )

    def _finite(self, sql: str) -> str:
        """A NUMERIC too small for any double is zero."""
        cast = sql if self.native == "float8" else self._cast(sql)
        if self.native in INTEGERS:
            return cast
        largest, small = DIALECT.double(LARGEST_DOUBLE), ""
        if self._numeric:
            small = f"WHEN ABS({sql}) < 1e-323 THEN 0 "
        else:
            sql = cast
        return (
            f"CASE WHEN {sql} = 'NaN' THEN NULL WHEN {sql} >= '{LARGEST_DOUBLE}' THEN {largest} "
            f"WHEN {sql} <= '-{LARGEST_DOUBLE}' THEN -{largest} {small}ELSE {cast} END"
        )

    def _date(self, sql: str) -> str:
        return self._between(sql, "DATE", "0001-01-01", "9999-12-31")

    def _moment(self, sql: str) -> str:
        return self._between(sql, "TIMESTAMP", "0001-01-01", "9999-12-31 23:59:59.999999")

    def _between(self, sql: str, target: str, first: str, last: str) -> str:
        """A date or a moment between two; ±infinity cannot be cast from one to the other."""
        sql, low, high = self._in_utc(sql), f"{target} '{first}'", f"{target} '{last}'"
        inside = sql if self.native == target.lower() else f"CAST({sql} AS {target})"
        return f"CASE WHEN {sql} > {high} THEN {high} WHEN {sql} < {low} THEN {low} ELSE {inside} END"

    def _in_utc(self, sql: str) -> str:
        return f"({sql} AT TIME ZONE 'UTC')" if self.native == "timestamptz" else sql

    def _text(self, sql: str) -> str:
        return f'(CAST({sql} AS TEXT) COLLATE "C")'

    # ---- keys ---------------------------------------------------------------------------------------------------

    def _exact_key(self, sql: str) -> str:
        if self.native == "money":
            return f"CAST({sql} AS NUMERIC)"
        if not self._numeric:
            return sql
        return f"CASE WHEN {sql} <> 'NaN' THEN {sql if self._digits else f'TRIM_SCALE({sql})'} END"

    def _moment_key(self, sql: str) -> str:
        return self._in_utc(sql)

    def _no_nan(self, sql: str) -> str:
        return f"{sql} <> 'NaN'"
