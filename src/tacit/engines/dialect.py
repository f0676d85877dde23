"""The few places where SQL differs between engines, and what each must mean.

Everything else of a statement is the same SQL everywhere. An engine gives its own subclass; what is written out here
is right for engines that follow the standard, what raises must be given. The conformance tests hold for all.

Three rules: no expression may fail on any row; the same rows give the same numbers, bit for bit; text is compared byte
by byte. Where a docstring says *column*, the operand is a plain name that may be written several times.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from types import MappingProxyType

from tacit.engines.script import Fragment, Reading, Script, fragment
from tacit.language.cases import mapping
from tacit.language.expressions import Literal
from tacit.language.patterns import Pattern
from tacit.language.types import LARGEST_SCALE, OTHER, ColumnType, Kind, Schema, decimal

SMALLEST = -(2**63)
LARGEST = 2**63 - 1
LARGEST_GROUP = 10**38 - 1
"""Where exact numbers that name groups saturate, in steps."""
LARGEST_DOUBLE = 1.7976931348623157e308


def named(types: Mapping[ColumnType, Sequence[str]]) -> dict[str, ColumnType]:
    """Types by the names that an engine has for them."""
    return {name: kind for kind, names in types.items() for name in names}


def digits(steps: int, scale: int) -> str:
    """A number of steps of 10^-scale, written out."""
    text = str(abs(steps)).rjust(scale + 1, "0")
    split = len(text) - scale
    return ("-" if steps < 0 else "") + text[:split] + ("." + text[split:] if scale else "")


class Dialect(ABC):
    """How one engine writes what differs."""

    int64 = "BIGINT"
    int32 = ""
    """Integers whose sums cost much less than those of 64 bits, if there are any."""
    int128: str
    """Integers in which sums of 2^63 64-bit numbers, and products of two of them, are exact."""
    float64 = "DOUBLE"
    text_type = "VARCHAR"
    timestamp_type = "TIMESTAMP"
    kept = "AS MATERIALIZED"
    """Before a part that is computed once."""
    passing = "AS NOT MATERIALIZED"
    """Before a part that is computed where it is used."""
    fence = ""
    """Ends a query whose columns are to be computed once for each row, however often the next query names them."""
    looking_joins = False
    """Whether SEMI JOIN and ANTI JOIN are known, through which filters reach the rows before they are looked up."""
    nested = False
    """Whether links of a long chain are put inside one another, where names for them would cost the planner much."""
    present = ""
    """Drops the rows without a person once they are one group, for engines where a test of every row costs more."""
    row_number = "ROW_NUMBER() OVER ()"
    """A different positive integer for each row."""
    counts_keys = False
    """Whether keys of decimals count their steps; otherwise they are the numbers themselves."""
    native_types: Mapping[str, ColumnType]
    """The engine's own types by their names, but for decimals; all others can only name persons."""
    native_decimal = "DECIMAL"
    """The name of decimals before their digits."""

    # ---- names and constants ------------------------------------------------------------------------------------

    def name(self, identifier: str) -> str:
        """A quoted identifier, whatever its characters."""
        return '"' + identifier.replace('"', '""') + '"'

    def text(self, value: str) -> str:
        """A text constant; there are no escapes but the doubled quote."""
        return "'" + value.replace("'", "''") + "'"

    def type(self, kind: ColumnType) -> str:
        """The type in which values of a kind are computed; decimals as their steps."""
        return {
            Kind.INTEGER: self.int64,
            Kind.DECIMAL: self.int64,
            Kind.FLOAT: self.float64,
            Kind.BOOLEAN: "BOOLEAN",
            Kind.DATE: "DATE",
            Kind.TIMESTAMP: self.timestamp_type,
            Kind.TEXT: self.text_type,
        }[kind.kind]

    def inferred(self, native: str) -> ColumnType:
        """The type a schema gives to a native one."""
        digits = self.native_digits(native)
        if digits is not None:
            return decimal(digits[1]) if 0 <= digits[1] <= LARGEST_SCALE else OTHER
        return self.native_types.get(native, OTHER)

    def native_digits(self, native: str) -> tuple[int, int] | None:
        """Precision and scale of a native decimal that declares them."""
        match = re.fullmatch(rf"{self.native_decimal}\((\d+),(-?\d+)\)", native)
        return (int(match.group(1)), int(match.group(2))) if match else None

    def schema(self, native: Iterable[tuple[str, str]]) -> Schema:
        """The schema of some columns of native types."""
        return Schema(tuple((name, self.inferred(kind)) for name, kind in native))

    def double(self, value: float) -> str:
        """The very double, by its shortest decimal."""
        return f"CAST('{value!r}' AS {self.float64})"

    def constant(self, literal: Literal) -> str:
        """A typed constant; an exact number that does not fit 64 bits has failed, so it is NULL."""
        value, kind = literal.value, self.type(literal.type)
        if literal.type.exact_number and value is not None:
            steps = self.steps(literal, literal.type.scale)
            value = steps if SMALLEST <= steps <= LARGEST else None
        if value is None:
            return f"CAST(NULL AS {kind})"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, float):
            return self.double(value)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, date):
            return f"CAST('{value.isoformat(' ') if isinstance(value, datetime) else value.isoformat()}' AS {kind})"
        return f"CAST({value} AS {kind})"

    def item(self, literal: Literal) -> str:
        """A constant of a list as a text, which `listed` reads."""
        value = literal.value
        if value is None:
            return "NULL"
        if literal.type.exact_number:
            return f"'{self.steps(literal, literal.type.scale)}'"
        if isinstance(value, datetime):
            return f"'{value.isoformat(' ')}'"
        return self.text(value) if isinstance(value, str) else f"'{value!s}'"

    def listed(self, sql: str, kind: ColumnType) -> str:
        """A text of `item` as a value of its kind."""
        return f"CAST({sql} AS {self.type(kind)})"

    def group_key(self, literal: Literal) -> str:
        """A constant to be compared with a group: as `constant`, but an exact number may have 128 bits."""
        if literal.type.exact_number and literal.value is not None:
            steps = self.steps(literal, literal.type.scale)
            if not SMALLEST <= steps <= LARGEST:
                return f"CAST({steps} AS {self.int128})"
        return self.constant(literal)

    def steps(self, literal: Literal, scale: int) -> int:
        """An exact constant as a number of steps of 10^-scale."""
        return int(literal.exact * 10**scale)

    def call(self, function: str, arguments: Sequence[str]) -> str:
        """A function of `tacit.language.functions`."""
        return f"{function}({', '.join(arguments)})"

    # ---- numbers ------------------------------------------------------------------------------------------------

    def wide(self, sql: str) -> str:
        """A 64-bit integer in 128 bits, where sums and products of two of them are exact."""
        return f"CAST({sql} AS {self.int128})"

    def narrow(self, name: str) -> str:
        """A 128-bit integer in 64 bits, or NULL where it does not fit; ``name`` is a column."""
        return f"CASE WHEN {name} BETWEEN {SMALLEST} AND {LARGEST} THEN CAST({name} AS {self.int64}) END"

    @abstractmethod
    def quotient(self, left: str, right: str, *, short: bool = False) -> str:
        """The integer quotient of two integers, the first ≥ 0, the second > 0; ``short`` if both have 64 bits."""

    def total(self, name: str) -> str:
        """The sum of 64-bit integers in 128 bits, an aggregate; ``name`` is a column."""
        return f"SUM({name})"

    def total_over(self, name: str) -> str:
        """As `total`, over a window, which `OVER` can follow."""
        return f"SUM({name})"

    def operation(self, operator: str, left: str, right: str) -> str:
        """+, −, * or / of two finite doubles as one IEEE operation, whose result `finite` reads; both are columns.

        Division by zero is NULL. A result beyond the finite range may be ±inf, NaN or NULL.
        """
        return f"({left} / NULLIF({right}, 0))" if operator == "/" else f"({left} {operator} {right})"

    def finite(self, name: str) -> str:
        """The result of an operation on doubles, or NULL where it is infinite or NaN; ``name`` is a column."""
        return f"CASE WHEN ABS({name}) <= {self.double(LARGEST_DOUBLE)} THEN {name} END"

    def is_nan(self, sql: str) -> str:
        """Whether a double is NaN."""
        return f"ISNAN({sql})"

    def folded(self, sql: str) -> str:
        """A double with −0.0 as 0.0, so that both are one text."""
        return f"({sql} + {self.double(0.0)})"

    def rounded(self, sql: str) -> str:
        """A double well inside 64 bits as an integer, rounded half to even."""
        return f"CAST({sql} AS {self.int64})"

    def truth(self, sql: str) -> str:
        """A truth value as 0 or 1 in 64 bits."""
        return f"CAST({sql} AS {self.int64})"

    def whole(self, sql: str) -> str:
        """The largest whole number, as a double, that is not above a double below 2^53 in size."""
        return f"FLOOR({sql})"

    def placed(self, source: Fragment, size: str, boundaries: Sequence[int], *shown: str) -> Fragment:
        """A SELECT of some columns of a source, and of the bucket of one of them as ``place``."""
        return fragment(f"SELECT {', '.join([*shown, f'{bucket(size, boundaries)} AS place'])} FROM ", source)

    def running(self, table: Reading, key: str, block: str, within: str = "") -> Fragment:
        """A table of weights w with their sums ``upto`` each key, all together or for each value of ``within``.

        ``block`` is a whole number that never falls as the key rises, for engines that had better sum by blocks first.
        """
        return fragment(f"SELECT *, {self.sum_in_order(key, within)} AS upto FROM ", table)

    def sum_in_order(self, key: str, within: str = "") -> str:
        """The sum of w over all rows up to this one."""
        part = f"PARTITION BY {within} " if within else ""
        return f"SUM(w) OVER ({part}ORDER BY {key} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"

    def value_key(self, sql: str, kind: ColumnType) -> str:
        """A value of a kind as the key that a column of that kind has for it."""
        return self.folded(sql) if kind.kind is Kind.FLOAT else sql

    def texts(self, name: str, between: str, order: str) -> str:
        """Texts one after another with a constant between them, an aggregate; ``order`` is a column."""
        return f"STRING_AGG({name}, {between} ORDER BY {order})"

    # ---- comparisons --------------------------------------------------------------------------------------------

    def compared(self, operator: str, left: str, right: str) -> str:
        """A comparison of two texts, not both bare columns or constants; both are columns."""
        return f"({left} {operator} {right})"

    def same(self, left: str, right: str, kind: ColumnType) -> str:
        """Whether two columns of one kind are equal or both NULL, in a form that a join can hash."""
        return f"{left} IS NOT DISTINCT FROM {right}"

    # ---- texts --------------------------------------------------------------------------------------------------

    def text_of(self, sql: str) -> str:
        """A text that a function or a cast made, in binary collation."""
        return sql

    def short(self, sql: str) -> str:
        """A small integer as functions of texts take it."""
        return f"CAST({sql} AS INTEGER)"

    def octets(self, sql: str) -> str:
        """The number of bytes of a text."""
        return f"OCTET_LENGTH({sql})"

    def cased(self, function: str, sql: str) -> str:
        """LOWER or UPPER of a column by the table of `tacit.language.cases`."""
        return self.translated(sql, mapping(function == "UPPER"))

    def translated(self, sql: str, table: Mapping[str, str]) -> str:
        """A text with some characters in place of others."""
        return f"TRANSLATE({sql}, {self.text(''.join(table))}, {self.text(''.join(table.values()))})"

    def substring(self, sql: str, start: str, count: str | None = None) -> str:
        """Some characters of a text, or all, from a place on; both integers are in range."""
        places = [sql, self.short(start), *([] if count is None else [self.short(count)])]
        return f"SUBSTRING({', '.join(places)})"

    def trim(self, function: str, sql: str, characters: str) -> str:
        """TRIM, LTRIM or RTRIM of the characters of a constant."""
        return f"{function}({sql}, {characters})"

    def pad(self, function: str, sql: str, count: str, fill: str) -> str:
        """LPAD or RPAD to some characters by a constant that is not empty."""
        return f"{function}({sql}, {self.short(count)}, {fill})"

    def repeat(self, sql: str, count: str) -> str:
        """A text several times."""
        return f"REPEAT({sql}, {self.short(count)})"

    def split(self, sql: str, delimiter: str, place: str) -> str:
        """A part of a column between delimiters, from 1; empty where there is none."""
        return f"SPLIT_PART({sql}, {delimiter}, {self.short(place)})"

    def position(self, sql: str, wanted: str) -> str:
        """Where a text that is not empty begins in another, from 1, or 0."""
        return f"STRPOS({sql}, {wanted})"

    @abstractmethod
    def matches(self, sql: str, pattern: Pattern) -> str:
        """Whether a pattern is found in a text."""

    # ---- dates --------------------------------------------------------------------------------------------------

    def extract(self, part: str, sql: str, kind: ColumnType) -> str:
        """A part of a date or timestamp as a 64-bit integer; seconds without their fraction."""
        return f"CAST(EXTRACT({part} FROM {sql}) AS {self.int64})"

    def date_trunc(self, unit: str, sql: str, kind: ColumnType) -> str:
        """The start of the unit, in the operand's own type."""
        return f"CAST(DATE_TRUNC('{unit}', {sql}) AS {self.type(kind)})"

    def midnight(self, sql: str) -> str:
        """The first moment of a date, as a timestamp."""
        return f"CAST({sql} AS {self.timestamp_type})"

    def day_of(self, sql: str) -> str:
        """The date of a timestamp."""
        return f"CAST({sql} AS DATE)"

    def date_of(self, sql: str) -> str:
        """The date of a count of days since 1970-01-01, in range."""
        return f"(DATE '1970-01-01' + CAST({sql} AS INTEGER))"

    @abstractmethod
    def moment_of(self, sql: str) -> str:
        """The timestamp of a count of microseconds since 1970-01-01, in range; the operand may be written twice."""

    @abstractmethod
    def microseconds(self, sql: str) -> str:
        """A timestamp as microseconds since 1970-01-01 00:00:00."""

    def days_between(self, left: str, right: str) -> str:
        """The days from the second date to the first as a 64-bit integer."""
        return f"CAST({left} - {right} AS {self.int64})"

    def days(self, sql: str) -> str:
        """A date as days since 1970-01-01."""
        return self.days_between(sql, "DATE '1970-01-01'")

    # ---- the whole ----------------------------------------------------------------------------------------------

    def digest(self, texts: list[str], salt: bytes) -> str:
        """A keyed hash of some texts, each preceded by its length so that no two lists look alike."""
        return self._hashed((f"COALESCE({self.measured(t)}, '-')" for t in texts), salt)

    def measured(self, text: str) -> str:
        """A text preceded by its length, as `digest` and `chance` take it."""
        return f"LENGTH({text}) || ':' || {text}"

    def chance(self, name: str, salt: bytes, steps: int) -> str:
        """Whether the keyed hash of a `measured` text, as `number` reads it, is below some steps of 2^60.

        Digests are compared as the texts they are: all have 32 digits, of which the first 15 decide.
        """
        return f"{self._hashed([name], salt)} < {self.text(f'{steps:015x}')}" if steps < 2**60 else "TRUE"

    def _hashed(self, parts: Iterable[str], salt: bytes) -> str:
        return f"MD5({' || '.join([self.text(salt.hex()), *parts])})"

    def number(self, digest: str) -> str:
        """The first 15 hexadecimal digits of a digest as a 64-bit integer."""
        return f"CAST('0x' || SUBSTR({digest}, 1, 15) AS {self.int64})"

    def statement(self, script: Script, sources: Mapping[str, str] = MappingProxyType({})) -> str:
        """A script as one statement; ``sources`` has what to read in place of some tables."""
        parts = [
            f"{part.name} {self.kept if part.kept else self.passing} ({part.body.text(sources)})"
            for part in script.parts
        ]
        return (f"WITH {', '.join(parts)} " if parts else "") + script.body.text(sources)


def bucket(column: str, boundaries: Sequence[int]) -> str:
    """The SQL of a column's bucket, by binary search: the index of the first boundary at or above it."""

    def search(low: int, high: int) -> str:
        if low == high:
            return str(low)
        middle = (low + high) // 2
        return (
            f"CASE WHEN {column} <= {boundaries[middle]} THEN {search(low, middle)} ELSE {search(middle + 1, high)} END"
        )

    return search(0, len(boundaries))
