"""Where Spark finds a table, and how its own types are read into the few of a schema, so that no row can fail.

A frame's columns get new names, c0, c1, …, by their position: whatever characters the old names have, and whether they
differ in case only, does not matter then. As keys decimals stay decimals and timestamps are microseconds. What Spark's
tables say about unique keys is not enforced, so there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tacit.engines import Source
from tacit.engines.columns import NativeColumn, TableSQL, saturated, within
from tacit.engines.spark.dialect import DIALECT, microseconds
from tacit.engines.tables import OpenTable, refuse_options, schema_of
from tacit.errors import InvalidInput
from tacit.language.types import INTEGER, LARGEST_SCALE, OTHER, ColumnType, KeyType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EARLIEST = microseconds(datetime.min)
_LATEST = microseconds(datetime.max)
_DAYS = 2**63 // 86_400_000_000 - 1
"""Days on either side of 1970 whose microseconds fit 64 bits."""


@dataclass(frozen=True)
class SparkTable(OpenTable):
    """A table over a frame called ``place``, and how to get that frame."""

    place: str
    native: tuple[tuple[str, str], ...]
    find: Callable[[], DataFrame] = field(repr=False)

    def frame(self) -> DataFrame:
        """The frame, its columns named by position; the table may be another by now than when it was opened."""
        frame = self.find()
        if _natives(frame) != self.native:
            raise LookupError
        return frame.toDF(*(f"c{i}" for i in range(len(self.native))))


def open_table(session: Any, name: str, source: Source, place: str) -> SparkTable:
    """Open a frame, or a table of a session, under a name."""
    refuse_options(name, source, "Spark")
    find = _find(session, name, source)
    native = _natives(find())
    known = dict(native)
    schema = schema_of(name, source, native, DIALECT)
    for column, declared in schema.columns:
        if not readable(known[column], declared):
            raise InvalidInput(
                f"schema of {name!r} declares {column!r} as {declared}, but it is {DIALECT.inferred(known[column])}; "
                "convert it in Spark and read the result."
            )
    places = {column: f"c{i}" for i, (column, _) in enumerate(native)}
    columns = {column: SparkColumn(places[column], known[column], kind) for column, kind in schema.columns}
    return SparkTable(schema, TableSQL(place, columns), place, native, find)


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


def _natives(frame: DataFrame) -> tuple[tuple[str, str], ...]:
    """The names and Spark types of a frame's columns."""
    return tuple((column.name, column.dataType.simpleString()) for column in frame.schema.fields)


def readable(native: str, kind: ColumnType) -> bool:
    """Whether a column may be declared as a type: as what it is, and a decimal without a fraction as an integer too."""
    digits = DIALECT.native_digits(native)
    return kind in (DIALECT.inferred(native), OTHER) or (kind == INTEGER and digits is not None and digits[1] == 0)


class SparkColumn(NativeColumn):
    """How one of Spark's columns is read."""

    dialect = DIALECT

    @cached_property
    def key_type(self) -> KeyType:
        """By what the column is, whatever it is declared as."""
        own, digits = DIALECT.inferred(self.native), self._digits
        domain = self.native if own == OTHER else "number" if own.exact_number else own.kind.value
        return KeyType(domain, own.scale, digits is None or digits[0] <= LARGEST_SCALE)

    @cached_property
    def _digits(self) -> tuple[int, int] | None:
        return DIALECT.native_digits(self.native)

    # ---- values -------------------------------------------------------------------------------------------------

    def _exact(self, sql: str) -> str:
        """Fifteen digits are exact in a double: quotient and product err by 10^15·2^-52 < 1/2 step together."""
        if self.native == "bigint":
            return sql
        precision, scale = self._digits or (18, 0)
        if not scale and precision <= 18:
            return f"CAST({sql} AS BIGINT)"
        if precision <= 15:
            return DIALECT.rounded(f"CAST({sql} AS DOUBLE) * {DIALECT.double(10.0**scale)}")
        power = f"CAST({10**scale} AS DECIMAL({scale + 1},0))"
        return f"CAST({sql} * {power} AS BIGINT)" if precision <= 18 else saturated(sql, scale, power)

    def _wide(self, sql: str) -> str:
        """The steps of the whole part and those of the fraction, which has 18 digits."""
        _, scale = self._digits or (38, 0)
        whole = DIALECT.wide(f"CASE WHEN {sql} < 0 THEN CEIL({sql}) ELSE FLOOR({sql}) END")
        if not scale:
            return whole
        fraction = f"CAST({sql} % 1 AS DECIMAL({scale + 1},{scale})) * CAST({10**scale} AS DECIMAL({scale + 1},0))"
        return f"({whole} * {10**scale} + {DIALECT.wide(fraction)})"

    def _moment(self, sql: str) -> str:
        if self._zoned:
            return within(self._microseconds(sql), str(_EARLIEST), str(_LATEST))
        low, high = (f"TIMESTAMP_NTZ '{moment}'" for moment in ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"))
        return (
            f"CASE WHEN {sql} > {high} THEN {_LATEST} WHEN {sql} < {low} THEN {_EARLIEST} "
            f"ELSE {self._microseconds(sql)} END"
        )

    @property
    def _zoned(self) -> bool:
        return self.native != "timestamp_ntz"

    def _microseconds(self, sql: str) -> str:
        """A moment without a time zone is in UTC and is never converted by the session's zone."""
        if self._zoned:
            return f"UNIX_MICROS({sql})"
        day = DIALECT.midnight(f"CAST({sql} AS DATE)")
        seconds = f"CAST(EXTRACT(SECOND FROM {sql}) * 1000000 AS BIGINT)"
        return f"({day} + HOUR({sql}) * 3600000000L + MINUTE({sql}) * 60000000L + {seconds})"

    def _text(self, sql: str) -> str:
        return sql if self.native == "string" else f"CAST({sql} AS STRING) COLLATE UTF8_BINARY"

    # ---- keys ---------------------------------------------------------------------------------------------------

    def _exact_key(self, sql: str) -> str:
        return f"CAST({sql} AS BIGINT)" if self.native == "void" else sql

    def _moment_key(self, sql: str) -> str:
        """As far as 64 bits hold it; absent in the last days of what a moment without a time zone may be."""
        if self._zoned:
            return self._microseconds(sql)
        day = DIALECT.days(f"CAST({sql} AS DATE)")
        return f"CASE WHEN {day} BETWEEN {-_DAYS} AND {_DAYS} THEN {self._microseconds(sql)} END"

    def _other_key(self, sql: str) -> str:
        """What has parts as a text in which they are named and quoted."""
        if not self.native.startswith(("array<", "struct<", "map<", "variant")):
            return sql
        return f"CASE WHEN {sql} IS NOT NULL THEN TO_JSON(NAMED_STRUCT('p', {sql})) END"
