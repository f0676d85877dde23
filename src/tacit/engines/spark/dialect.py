"""Spark's SQL.

It means the same under every setting of the user's session, which is therefore left as it is. In ANSI mode an overflow
is an error and without it NULL, so there is none: 64-bit sums are taken in three parts, and 128-bit integers are
DECIMAL(38). The session's time zone does not matter, because timestamps are counts of microseconds. Text constants that
an escape, a variable or a placeholder could change are written as bytes, names that case could change in hexadecimal.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from tacit.engines.dialect import LARGEST, SMALLEST, Dialect, digits, named
from tacit.engines.script import Fragment, Reading, fragment
from tacit.language.expressions import Literal
from tacit.language.patterns import BACKSLASH_Z, Pattern, braced, write
from tacit.language.types import BOOLEAN, DATE, FLOAT, INTEGER, TEXT, TIMESTAMP, ColumnType

_DAY = 86_400_000_000
_SPANS = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}
_PARTS = {"dow": "DAYOFWEEK", "isodow": "DAYOFWEEK_ISO"}
_THIRD = 21
"""Bits of a part of a sum: three parts hold 64 bits, and each can be added 2^42 times."""
_STEP = 2**20
_BUCKETS = 4096


def microseconds(value: datetime) -> int:
    """A moment in UTC as microseconds since 1970-01-01."""
    return (value.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


class SparkDialect(Dialect):
    """Spark 4. Casts from double to integer truncate; NaN is larger than any number; least and greatest skip NULL."""

    int128 = "DECIMAL(38,0)"
    text_type = "STRING"
    timestamp_type = "BIGINT"
    kept = passing = "AS"
    row_number = (
        f"ROW_NUMBER() OVER (PARTITION BY PMOD(XXHASH64(p), {_BUCKETS}) ORDER BY p) * {_BUCKETS} + "
        f"PMOD(XXHASH64(p), {_BUCKETS})"
    )
    """Counted inside many buckets, for a count over everything would take all rows to one machine."""
    native_types = named(
        {
            INTEGER: ("tinyint", "smallint", "int", "bigint", "void"),  # void has no value: every sum is a zero
            FLOAT: ("float", "double"),
            BOOLEAN: ("boolean",),
            DATE: ("date",),
            TIMESTAMP: ("timestamp", "timestamp_ntz"),
        }
    )
    native_decimal = "decimal"

    def inferred(self, native: str) -> ColumnType:
        """Text may name its length or its collation."""
        return TEXT if native.startswith(("string", "char(", "varchar(")) else super().inferred(native)

    def name(self, identifier: str) -> str:
        """A quoted identifier; all but short lower-case names in hexadecimal, which no setting reads differently."""
        plain = re.fullmatch(r"(?!x_)[a-z_][a-z0-9_]{0,99}", identifier)
        return f"`{identifier if plain else 'x_' + identifier.encode().hex()}`"

    def text(self, value: str) -> str:
        """A constant, as bytes where it has more than letters, digits and a few harmless marks."""
        plain = re.fullmatch(r"[\w.:%-]*", value)
        return f"'{value}'" if plain else f"CAST(X'{value.encode().hex()}' AS STRING)"

    def constant(self, literal: Literal) -> str:
        """A timestamp is a number here."""
        if isinstance(literal.value, datetime):
            return f"CAST({microseconds(literal.value)} AS {self.int64})"
        return super().constant(literal)

    def item(self, literal: Literal) -> str:
        """A timestamp is a number here."""
        if isinstance(literal.value, datetime):
            return f"'{microseconds(literal.value)}'"
        return super().item(literal)

    # ---- numbers ------------------------------------------------------------------------------------------------

    def total(self, name: str) -> str:
        """Three sums of 64 bits are three times as fast as one of decimals, and exact for fewer than 2^42 rows."""
        mask = 2**_THIRD - 1
        high = self.wide(f"SUM(SHIFTRIGHT({name}, {2 * _THIRD}))")
        middle = self.wide(f"SUM(SHIFTRIGHT({name}, {_THIRD}) & {mask})")
        return f"({high} * {2 ** (2 * _THIRD)} + {middle} * {2**_THIRD} + {self.wide(f'SUM({name} & {mask})')})"

    def total_over(self, name: str) -> str:
        """A sum of decimals; windows are no place for three of 64 bits."""
        return f"SUM({self.wide(name)})"

    def quotient(self, left: str, right: str, *, short: bool = False) -> str:
        """DIV gives 64 bits, so a wide quotient, below 2^83 wherever one is asked for, is taken in two steps."""
        if short:
            return f"({left} DIV NULLIF({right}, 0))"
        wide, divisor = self.wide(left), f"NULLIF({self.wide(right)}, 0)"
        upper = f"{wide} DIV ({divisor} * {_STEP})"
        lower = f"({wide} % ({divisor} * {_STEP})) DIV {divisor}"
        return f"({self.wide(upper)} * {_STEP} + {self.wide(lower)})"

    def narrow(self, name: str) -> str:
        """Limits of the very type: Spark finds types in at most 100 rounds, and a conversion at each link takes one."""
        low, high = self.wide(str(SMALLEST)), self.wide(str(LARGEST))
        return f"CASE WHEN {name} BETWEEN {low} AND {high} THEN CAST({name} AS {self.int64}) END"

    def value_key(self, sql: str, kind: ColumnType) -> str:
        """Keys of decimals are decimals; 19 digits and those after the point fit a product of 38."""
        if not kind.scale:
            return super().value_key(sql, kind)
        step = f"CAST('{digits(1, kind.scale)}' AS DECIMAL({kind.scale},{kind.scale}))"
        return f"CAST(CAST({sql} AS DECIMAL(19,0)) * {step} AS DECIMAL(38,{kind.scale}))"

    def rounded(self, sql: str) -> str:
        """RINT rounds half to even."""
        return f"CAST(RINT({sql}) AS {self.int64})"

    def whole(self, sql: str) -> str:
        """FLOOR gives a 64-bit integer."""
        return f"CAST(FLOOR({sql}) AS {self.float64})"

    def running(self, table: Reading, key: str, block: str, within: str = "") -> Fragment:
        """One machine sums the blocks, which are few; the sums inside blocks are shared among all machines."""
        keys = [within, "block"] if within else ["block"]
        listed, matches = ", ".join(keys), " AND ".join(f"t.{name} = b.{name}" for name in keys)
        placed = fragment(f"(SELECT *, {block} AS block FROM ", table, ") AS t")
        blocks = fragment(f"(SELECT {listed}, SUM(w) AS w FROM ", placed, f" GROUP BY {listed}) AS blocks")
        before = f"(SELECT {listed}, {self.sum_in_order('block', within)} - w AS before FROM "
        inside = self.sum_in_order(f"t.{key}", ", ".join(f"t.{name}" for name in keys))
        shown = f"SELECT t.*, before + {inside} AS upto FROM "
        return fragment(shown, placed, " INNER JOIN ", before, blocks, f") AS b ON {matches}")

    # ---- texts --------------------------------------------------------------------------------------------------

    def trim(self, function: str, sql: str, characters: str) -> str:
        """By words, for the order of arguments differs."""
        side = {"TRIM": "BOTH", "LTRIM": "LEADING", "RTRIM": "TRAILING"}[function]
        return f"TRIM({side} {characters} FROM {sql})"

    def position(self, sql: str, wanted: str) -> str:
        """Under another name."""
        return f"INSTR({sql}, {wanted})"

    def matches(self, sql: str, pattern: Pattern) -> str:
        """Regular expressions of Java."""
        return f"({sql} RLIKE {self.text(write(pattern, braced, BACKSLASH_Z))})"

    def texts(self, name: str, between: str, order: str) -> str:
        """A sorted list: LISTAGG cannot stand beside a COUNT(DISTINCT …)."""
        pairs = f"COLLECT_LIST(CASE WHEN {name} IS NOT NULL THEN STRUCT({order} AS o, {name} AS x) END)"
        joined = f"ARRAY_JOIN(TRANSFORM(ARRAY_SORT({pairs}), pair -> pair.x), {between})"
        return f"CASE WHEN COUNT({name}) > 0 THEN {joined} END"

    # ---- dates --------------------------------------------------------------------------------------------------

    def extract(self, part: str, sql: str, kind: ColumnType) -> str:
        """Of a timestamp's day, or of its count of microseconds."""
        if part in _SPANS:
            whole = {"hour": _DAY, "minute": _SPANS["hour"], "second": _SPANS["minute"]}[part]
            return f"(PMOD({sql}, {whole}) DIV {_SPANS[part]})"
        day = sql if kind == DATE else self._day(sql)
        found = f"CAST(EXTRACT({_PARTS.get(part, part.upper())} FROM {day}) AS {self.int64})"
        return f"({found} - 1)" if part == "dow" else found

    def date_trunc(self, unit: str, sql: str, kind: ColumnType) -> str:
        """TRUNC of the day; times of day by their remainder."""
        if unit in _SPANS:
            return f"({sql} - PMOD({sql}, {_SPANS[unit]}))"
        day = sql if kind == DATE else self._day(sql)
        start = day if unit == "day" else f"TRUNC({day}, '{unit.upper()}')"
        return self.midnight(start) if kind == TIMESTAMP else start

    def _day(self, sql: str) -> str:
        """The date of a count of microseconds."""
        return f"DATE_ADD(DATE '1970-01-01', CAST(({sql} - PMOD({sql}, {_DAY})) DIV {_DAY} AS INT))"

    def midnight(self, sql: str) -> str:
        """Days times the microseconds of a day."""
        return f"({self.days(sql)} * {_DAY})"

    def day_of(self, sql: str) -> str:
        """Of a count of microseconds."""
        return self._day(sql)

    def date_of(self, sql: str) -> str:
        """A function of its own."""
        return f"DATE_ADD(DATE '1970-01-01', CAST({sql} AS INT))"

    def moment_of(self, sql: str) -> str:
        """What it is already."""
        return sql

    def days_between(self, left: str, right: str) -> str:
        """A function of its own; the difference would be an interval."""
        return f"CAST(DATEDIFF({left}, {right}) AS {self.int64})"

    def microseconds(self, sql: str) -> str:
        """What it is already."""
        return sql

    # ---- hashes -------------------------------------------------------------------------------------------------

    def number(self, digest: str) -> str:
        """CONV reads hexadecimal digits."""
        return f"CAST(CONV(SUBSTR({digest}, 1, 15), 16, 10) AS {self.int64})"


DIALECT = SparkDialect()
