"""Where DuckDB finds a table, and how its own types are read into the few of a schema, so that no row can fail.

A table is a file, a frame or in a database (`frames`, `databases`, `text_files`), opened without looking at more than
public facts: names and types are inferred once, from the file's own description or from its first rows, or are given.
Text files are then read as text under those names, one record a line, and converted value by value.

A column that is declared as another type than it has is converted first (`conversion`). Then values saturate: integers
and decimals at 64 bits, doubles at the largest finite one, dates and timestamps at the years 1 and 9999. Keys do not
saturate: integers and decimals are counts of 64 or 128 bits, times are microseconds, whatever kind of text is VARCHAR.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from tacit.engines import Source
from tacit.engines.columns import NativeColumn, TableSQL, saturated
from tacit.engines.dialect import LARGEST, SMALLEST
from tacit.engines.duckdb import databases, frames, loading
from tacit.engines.duckdb.conversion import converted, decimal_ends, exact, moment, writable
from tacit.engines.duckdb.dialect import DIALECT, NARROW, WIDE
from tacit.engines.duckdb.files import KINDS, file_kind, found, partitioned, unpacked
from tacit.engines.duckdb.text_files.formats import TextFormat
from tacit.engines.script import Reading
from tacit.engines.tables import OpenTable, unique_keys
from tacit.errors import InvalidInput
from tacit.language.types import LARGEST_SCALE, OTHER, ColumnType, KeyType, Kind, Schema

if TYPE_CHECKING:
    import duckdb

    from tacit.engines.duckdb.text_files.feed import Feed
    from tacit.engines.duckdb.text_files.opening import TextTable


@dataclass(frozen=True)
class Location:
    """Where a table's rows are, before their types are read."""

    view: str
    """What stands after FROM."""
    native: Mapping[str, str]
    """The columns' types as DuckDB reads them."""
    files: tuple[str, ...] = ()
    frame: frames.Frame | None = None
    text: TextTable | None = None
    """For text files."""
    keys: databases.Keys = ()
    """For databases, the keys that constraints keep unique."""
    types: Schema | None = None
    """The types to infer, where those of the native ones are not meant."""
    computed: bool = False
    """Whether the columns are computed, as those of a view."""

    @property
    def parquet(self) -> bool:
        """Whether the rows are in Parquet files."""
        return self.view.startswith("read_parquet(")


@dataclass(frozen=True)
class DuckTable(OpenTable):
    """A table of DuckDB, and the files or the frame behind it."""

    location: Location
    token: str
    """A name of its own for what cannot change while it is open, an Arrow table; else empty."""
    converting: str
    """All columns as they are converted, where some are; else empty."""

    @property
    def fixed(self) -> bool:
        """Whether a change of the rows could be seen; not in a database, nor in a frame that is changed in place."""
        return bool(self.location.files or self.token)

    def source(self, view: str) -> str:
        """What stands after FROM to read the same rows from another view."""
        return _source(view, self.converting)

    def columns_read(self, readings: Iterable[Reading]) -> list[str]:
        """Which of its columns are read, in their order; where they are converted all are."""
        own = [reading.columns for reading in readings if reading.place == self.sql.source]
        used = self.schema if own and self.converting else frozenset[str]().union(*own)
        return [name for name in self.location.native if name in used]

    @property
    def feed(self) -> Feed | None:
        """The records of text files."""
        return self.location.text.feed if self.location.text else None


def open_table(connection: duckdb.DuckDBPyConnection, name: str, source: Source, number: int) -> DuckTable:
    """Open a source under a name; ``number`` keeps the names of several databases and frames apart."""
    import duckdb

    try:
        location = _find(connection, name, source, number)
    except duckdb.Error:
        raise InvalidInput(
            f"table {name!r} could not be opened; check that the source is readable, of the kind its name says, "
            "and not in use elsewhere."
        ) from None
    form = location.text.form if location.text else TextFormat()
    schema = source.schema or location.types or DIALECT.schema(location.native.items())
    schema.check_names(name, location.native)
    columns, reads = {}, []
    for column, kind in schema.columns:
        quoted, native = DIALECT.name(column), location.native[column]
        if kind != OTHER and not writable(native):
            raise InvalidInput(
                f"schema of {name!r} declares {column!r} as {kind}, but its type may have values that cannot be "
                "converted; leave the column out, or convert it before."
            )
        target, sql = converted(native, kind, quoted, form)
        reads.append(f"{sql} AS {quoted}" if sql != quoted else quoted)
        columns[column] = DuckColumn(column, target, kind, exact(native, kind), location.computed or sql != quoted)
    converting = "" if reads == list(map(DIALECT.name, schema)) else ", ".join(reads)
    # The memory of an Arrow table is nobody's to write to; frames of pandas and Polars are changed in place.
    token = uuid4().hex if location.frame is not None and not location.frame.changes else ""
    keys = unique_keys(location.keys, columns, location.native)
    read = TableSQL(_source(location.view, converting), columns)
    return DuckTable(schema, read, location, token, converting, keys=keys)


def _source(view: str, converting: str) -> str:
    """What stands after FROM to read a view, converted where it must be."""
    return f"(SELECT {converting} FROM {view})" if converting else view


# ---- where tables are -----------------------------------------------------------------------------------------------


def _find(connection: duckdb.DuckDBPyConnection, name: str, source: Source, number: int) -> Location:
    import duckdb

    data = source.data
    if isinstance(data, duckdb.DuckDBPyConnection):
        _refuse_options(name, source, ())
        return _database(connection, name, source, None)
    if isinstance(data, str | os.PathLike):
        return _files(connection, name, source, [os.fspath(data)], number)
    if isinstance(data, list | tuple) and data and all(isinstance(path, str | os.PathLike) for path in data):
        return _files(connection, name, source, list(map(os.fspath, data)), number)
    if frames.is_frame(data):
        _refuse_options(name, source, ())
        return _frame(connection, name, data, number)
    try:
        read = loading.streamed(data)
    except Exception:
        raise InvalidInput(f"table {name!r} could not be read; make an Arrow table or a frame of it first.") from None
    if read is not None:
        _refuse_options(name, source, ())
        return _frame(connection, name, read, number)
    raise InvalidInput(
        f"table {name!r} must come from a path, a pandas or Polars frame, an Arrow table or whatever offers an Arrow "
        "stream, or a DuckDB connection."
    )


def _files(connection: duckdb.DuckDBPyConnection, name: str, source: Source, paths: list[str], number: int) -> Location:
    files = list(dict.fromkeys(file for path in paths for file in found(name, path)))
    kinds = {str(source.options.get("format") or file_kind(file)) for file in files}
    if len(kinds) > 1:
        listed = ", ".join(sorted(kind or "unknown" for kind in kinds))
        raise InvalidInput(
            f"table {name!r}: the files are of several kinds, {listed}; name those of one, such as 'folder/*.parquet'."
        )
    (kind,) = kinds
    if kind == "parquet":
        _refuse_options(name, source, ("hive_partitioning",))
        hive = "true" if source.options.get("hive_partitioning", partitioned(files)) else "false"
        options = f"hive_partitioning = {hive}, can_have_nan = true"  # a file's own statistics keep silent about NaN
        view = f"read_parquet({DIALECT.list_of(files)}, {options})"
        return Location(view, _natives(connection, view), tuple(files))
    if kind in ("csv", "json"):
        from tacit.engines.duckdb.text_files import opening

        _refuse_options(name, source, opening.options(kind))
        if kind == "csv" and all(unpacked(file).lower().endswith(".tsv") for file in files):
            source = replace(source, options={"delimiter": "\t", **source.options})
        text = opening.text_table(connection, name, kind, source, files, number)
        native = dict.fromkeys(text.types, "VARCHAR")
        return Location(text.source, native, tuple(files), text=text, types=text.types)
    if kind == "duckdb" and len(files) == 1:
        _refuse_options(name, source, ())
        alias = f"source{number}"
        connection.execute(f"ATTACH {DIALECT.text(files[0])} AS {alias} (READ_ONLY)")
        return _database(connection, name, source, alias)
    if kind in ("sqlite", "excel") and len(files) == 1:
        return _loaded(connection, name, source, kind, files[0], number)
    if kind in KINDS:
        raise InvalidInput(f"table {name!r}: several {kind} files are not one table; name one of them.")
    raise InvalidInput(f"table {name!r}: the kind of file is not clear; add format= {', '.join(KINDS)}.")


def _loaded(
    connection: duckdb.DuckDBPyConnection, name: str, source: Source, kind: str, file: str, number: int
) -> Location:
    """A file that is read once, as text."""
    if kind == "sqlite":
        _refuse_options(name, source, ())
        table, types = loading.sqlite(name, file, source.table)
    else:
        _refuse_options(name, source, ("sheet",))
        sheet = source.options.get("sheet")
        table, types = loading.excel(name, file, None if sheet is None else str(sheet))
    if len(set(types)) < len(table.column_names):
        raise InvalidInput(f"table {name!r} has two columns of one name; rename one of them.")
    return replace(_frame(connection, name, table, number), types=types)


def _refuse_options(name: str, source: Source, known: tuple[str, ...]) -> None:
    unknown = [option for option in source.options if option not in (*known, "format")]
    if unknown:
        listed = ", ".join(known) or "none"
        raise InvalidInput(f"table {name!r}: {unknown[0]} is not an option of this kind of source; there are {listed}.")


def _database(connection: duckdb.DuckDBPyConnection, name: str, source: Source, alias: str | None) -> Location:
    view, keys, computed = databases.find(connection, name, source.table, alias)
    return Location(view, _natives(connection, view), keys=keys, computed=computed)


def _natives(connection: duckdb.DuckDBPyConnection, source: str) -> dict[str, str]:
    described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return {str(row[0]): str(row[1]) for row in described}


def _frame(connection: duckdb.DuckDBPyConnection, name: str, data: Any, number: int) -> Location:
    """A frame; pandas' columns of Python objects are read as text, so that no object can be of the wrong type."""
    view = f"frame{number}"
    try:
        table = frames.arrow(data)
        connection.register(view, table)
        native = _natives(connection, view)
    except Exception:
        raise InvalidInput(f"table {name!r} has a column whose type cannot be read; leave it out.") from None
    seeming = {**native, **_object_types(connection, data, view + "_objects")}
    types = DIALECT.schema((column, seeming[column]) for column in native)
    changes = not isinstance(data, type(table))  # an Arrow table never does
    frame = frames.Frame(data if changes else table, frames.shape(table), changes)
    return Location(view, native, frame=frame, types=types)


def _object_types(connection: duckdb.DuckDBPyConnection, data: Any, view: str) -> dict[str, str]:
    """What pandas' columns of Python objects seem to be by their first rows; nothing where these are no clear case."""
    objects = frames.object_columns(data)
    if objects is None:
        return {}
    try:
        connection.register(view, objects)
        native = _natives(connection, view)
        connection.unregister(view)
    except Exception:
        return {}
    return native


# ---- how columns are read --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DuckColumn(NativeColumn):
    """How one of DuckDB's columns is read, converted before if need be."""

    exact: bool = True
    """Whether no two values became one by conversion."""
    made: bool = False
    """Whether it is computed, by a view or by conversion."""

    dialect = DIALECT

    @property
    def computed(self) -> bool:
        """What is told by a text of another type is computed, too."""
        return self.made or self.native != "VARCHAR"

    @cached_property
    def _own(self) -> ColumnType:
        """The type by which values are told apart."""
        return DIALECT.inferred(self.native) if self.kind == OTHER else self.kind

    @cached_property
    def key_type(self) -> KeyType:
        """Exact numbers as numbers, everything else by its type."""
        own = self._own
        domain = self.native if own == OTHER else "number" if own.exact_number else own.kind.value
        narrow = self._digits[0] <= LARGEST_SCALE if self._digits else self.native not in WIDE
        return KeyType(domain, own.scale, narrow, self.exact)

    @property
    def steps(self) -> int:
        """Keys count steps."""
        return self._own.scale

    @cached_property
    def _digits(self) -> tuple[int, int] | None:
        return DIALECT.native_digits(self.native)

    # ---- values -------------------------------------------------------------------------------------------------

    def _exact(self, sql: str) -> str:
        if self.kind.kind is Kind.DECIMAL:
            return self._steps(sql)
        if self.native not in WIDE:
            return sql if self.native == "BIGINT" else f"CAST({sql} AS BIGINT)"
        low = f"WHEN {sql} < {SMALLEST} THEN {SMALLEST} " if self.native == "HUGEINT" else ""
        return f"CASE WHEN {sql} > {LARGEST} THEN {LARGEST} {low}ELSE CAST({sql} AS BIGINT) END"

    def _steps(self, sql: str) -> str:
        precision, scale = self._digits or (18, 0)
        power = _power(scale, precision)
        return f"CAST({sql} * {power} AS BIGINT)" if precision <= 18 else saturated(sql, scale, power)

    def _wide(self, sql: str) -> str:
        return self.key(sql)

    def _moment(self, sql: str) -> str:
        return moment(self.native, sql)

    def _text(self, sql: str) -> str:
        return f'{sql if self.native == "VARCHAR" else f"CAST({sql} AS VARCHAR)"} COLLATE "binary"'

    # ---- keys ---------------------------------------------------------------------------------------------------

    def _exact_key(self, sql: str) -> str:
        """Beyond HUGEINT it is absent."""
        if self._own.kind is Kind.DECIMAL:
            return self._steps(sql) if self.key_type.narrow else self._wide_steps(sql)
        if self.native in (*NARROW, "HUGEINT"):
            return sql
        if self.native not in WIDE:
            return f"CAST({sql} AS BIGINT)"
        return f"{'TRY_' if self.native == 'UHUGEINT' else ''}CAST({sql} AS HUGEINT)"

    def _wide_steps(self, sql: str) -> str:
        """The steps of the whole part and those of the fraction, which has 18 digits.

        Bits that are no such decimal are absent: DuckDB reads them, and raises where it subtracts them, or where it
        looks for the largest key of a join in a column of this type.
        """
        digits, scale = self._digits or (38, 0)
        low, high = decimal_ends(digits, scale)
        steps = f"CAST(TRUNC({sql}) AS HUGEINT)"
        if scale:
            fraction = f"CAST({sql} - TRUNC({sql}) AS DECIMAL({scale + 1},{scale}))"
            steps = f"{steps} * {10**scale} + CAST({fraction} * {_power(scale, scale + 1)} AS HUGEINT)"
        return f"CASE WHEN {sql} BETWEEN {low} AND {high} THEN {steps} END"

    def _moment_key(self, sql: str) -> str:
        ends = "".join(f"WHEN {sql} = '{sign}infinity' THEN {sign}{LARGEST} " for sign in ("", "-"))
        return f"CASE {ends}ELSE EPOCH_US({sql}) END"


def _power(scale: int, digits: int) -> str:
    """10^scale, by which a decimal of some digits is multiplied.

    DuckDB multiplies in 64 bits as long as the widths of both stay within 18, and raises where the product, which
    keeps the scale, does not fit: ``digits + scale`` of them must, or the multiplier is made wide.
    """
    return f"CAST({10**scale} AS DECIMAL({scale + 1 if digits + scale <= LARGEST_SCALE else 20},0))"
