"""Where DuckDB finds a table: files, frames and databases, opened without looking at more than public facts.

Names and types are inferred once, from the file's own description or from its first rows, or are given. Text files
are then read as text under those names, one record a line (`tacit.engines.duckdb.text_files`), and converted value by
value.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from tacit.engines import Source
from tacit.engines.columns import TableSQL, told_apart
from tacit.engines.duckdb import frames, reading
from tacit.engines.duckdb.dialect import DIALECT
from tacit.errors import InvalidInput
from tacit.language.types import OTHER, ColumnType, Schema

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from tacit.engines.duckdb.text_files.feed import Feed

_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".db": "duckdb",
}


@dataclass(frozen=True)
class Frame:
    """A frame that may change, and the names and types that it must keep."""

    data: Any = field(repr=False)
    shape: frames.Shape
    changes: bool

    def now(self) -> pa.Table:
        """The frame as it is now; raises where it has other columns than when it was opened."""
        table = frames.arrow(self.data) if self.changes else self.data
        if frames.shape(table) != self.shape:
            raise LookupError
        return table


@dataclass(frozen=True)
class OpenTable:
    """A table that can be asked: its public schema, its SQL, and the files or the frame behind it."""

    schema: Schema
    sql: TableSQL
    files: tuple[str, ...] = ()
    view: str = ""
    frame: Frame | None = None
    native: Mapping[str, str] = field(default_factory=dict)
    """The types of a Parquet file's columns, as DuckDB reads them."""
    keys: tuple[tuple[str, ...], ...] = ()
    """What the database itself keeps unique."""
    token: str = ""
    """A name of its own for what cannot change while it is open: an Arrow table."""
    feed: Feed | None = None
    """The records of text files."""
    texts: str = ""
    """FROM text of a text file before its texts are converted."""

    @property
    def fixed(self) -> bool:
        """Whether a change of the rows could be seen; not in a database, nor in a frame that is changed in place."""
        return bool(self.files or self.token)


@dataclass(frozen=True)
class _Found:
    """What a source turned out to be: FROM text, native columns as read, and the types a schema would give them."""

    source: str
    native: Mapping[str, str]
    types: Schema
    files: tuple[str, ...] = ()
    frame: Frame | None = None
    form: reading.TextFormat = field(default_factory=reading.TextFormat)
    keys: tuple[tuple[str, ...], ...] = ()
    feed: Feed | None = None
    texts: str = ""


def open_table(connection: duckdb.DuckDBPyConnection, name: str, source: Source, number: int) -> OpenTable:
    """Open a source under a name; ``number`` keeps the names of several databases and frames apart."""
    import duckdb

    try:
        found = _find(connection, name, source, number)
    except duckdb.Error:
        raise InvalidInput(
            f"table {name!r} could not be opened; check that the source is readable, of the kind its name says, "
            "and not in use elsewhere."
        ) from None
    schema = source.schema or found.types
    schema.check_names(name, found.native)
    columns = {}
    reads = []
    for column, kind in schema.columns:
        quoted = DIALECT.name(column)
        given = found.native[column]
        if kind != OTHER and not reading.writable(given):
            raise InvalidInput(
                f"schema of {name!r} declares {column!r} as {kind}, but its type may have values that cannot be "
                "converted; leave the column out, or convert it before."
            )
        native, sql = reading.converted(given, kind, quoted, found.form, DIALECT)
        reads.append(f"{sql} AS {quoted}" if sql != quoted else quoted)
        columns[column] = reading.column(column, native, kind, DIALECT, reading.exact(given, kind))
    plain = all(read == DIALECT.name(column) for read, column in zip(reads, schema, strict=True))
    text = found.source if plain else f"(SELECT {', '.join(reads)} FROM {found.source})"
    unread = {name for name, kind in schema.columns if reading.inferred(found.native[name]) == kind}
    native_types = found.native if found.source.startswith("read_parquet(") else {}
    # The memory of an Arrow table is nobody's to write to; frames of pandas and Polars are changed in place.
    token = uuid4().hex if found.frame is not None and not found.frame.changes else ""
    return OpenTable(
        schema,
        TableSQL(text, columns),
        found.files,
        found.source,
        found.frame,
        native_types,
        told_apart(found.keys, columns, unread),
        token,
        found.feed,
        found.texts,
    )


def _find(connection: duckdb.DuckDBPyConnection, name: str, source: Source, number: int) -> _Found:
    import duckdb

    data = source.data
    if isinstance(data, duckdb.DuckDBPyConnection):
        _refuse_options(name, source, ())
        return _database(connection, name, source, None)
    if isinstance(data, str | os.PathLike):
        return _file(connection, name, source, os.fspath(data), number)
    if frames.is_frame(data):
        _refuse_options(name, source, ())
        return _frame(connection, name, data, number)
    raise InvalidInput(
        f"table {name!r} must come from a path, a pandas or Polars DataFrame, an Arrow table or a DuckDB connection."
    )


def _file(connection: duckdb.DuckDBPyConnection, name: str, source: Source, path: str, number: int) -> _Found:
    files = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    if not files or not all(map(os.path.isfile, files)):
        raise InvalidInput(f"table {name!r}: there is no file at {path!r}; check the path.")
    files = [os.path.abspath(file) for file in files]
    stem = files[0].lower()
    for packed in (".gz", ".zst"):
        stem = stem.removesuffix(packed)
    kind = source.options.get("format") or _SUFFIXES.get(os.path.splitext(stem)[1], "")
    if kind == "parquet":
        _refuse_options(name, source, ("hive_partitioning",))
        hive = "true" if source.options.get("hive_partitioning") else "false"
        options = f"hive_partitioning = {hive}, can_have_nan = true"  # a file's own statistics keep silent about NaN
        return _described(connection, f"read_parquet({_list(files)}, {options})", tuple(files))
    if kind in ("csv", "json"):
        from tacit.engines.duckdb.text_files import opening

        _refuse_options(name, source, opening.options(kind))
        text = opening.text_table(connection, name, kind, source, files, number)
        native = dict.fromkeys(text.types, "VARCHAR")
        return _Found(text.source, native, text.types, tuple(files), form=text.form, feed=text.feed, texts=text.source)
    if kind == "duckdb" and len(files) == 1:
        _refuse_options(name, source, ())
        alias = f"source{number}"
        connection.execute(f"ATTACH {DIALECT.text(files[0])} AS {alias} (READ_ONLY)")
        return _database(connection, name, source, alias)
    raise InvalidInput(f"table {name!r}: the kind of file is not clear; add format= parquet, csv, json or duckdb.")


def _refuse_options(name: str, source: Source, known: tuple[str, ...]) -> None:
    unknown = [option for option in source.options if option not in (*known, "format")]
    if unknown:
        listed = ", ".join(known) or "none"
        raise InvalidInput(f"table {name!r}: {unknown[0]} is not an option of this kind of source; there are {listed}.")


def _list(files: list[str]) -> str:
    return f"[{', '.join(map(DIALECT.text, files))}]"


def _natives(connection: duckdb.DuckDBPyConnection, source: str) -> dict[str, str]:
    described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return {str(row[0]): str(row[1]) for row in described}


def _types(native: Mapping[str, str]) -> Schema:
    return Schema(tuple((column, reading.inferred(kind)) for column, kind in native.items()))


def _described(connection: duckdb.DuckDBPyConnection, source: str, files: tuple[str, ...] = ()) -> _Found:
    native = _natives(connection, source)
    return _Found(source, native, _types(native), files)


def _frame(connection: duckdb.DuckDBPyConnection, name: str, data: Any, number: int) -> _Found:
    """A frame; pandas' columns of Python objects are read as text, so that no object can be of the wrong type."""
    view = f"frame{number}"
    try:
        table = frames.arrow(data)
        connection.register(view, table)
        native = _natives(connection, view)
    except Exception:
        raise InvalidInput(f"table {name!r} has a column whose type cannot be read; leave it out.") from None
    types = {**_types(native), **_object_types(connection, data, view + "_objects")}
    changes = not isinstance(data, type(table))  # an Arrow table never does
    frame = Frame(data if changes else table, frames.shape(table), changes)
    return _Found(view, native, Schema(tuple((column, types[column]) for column in native)), frame=frame)


def _object_types(connection: duckdb.DuckDBPyConnection, data: Any, view: str) -> dict[str, ColumnType]:
    """What pandas' columns of Python objects seem to be by their first rows; nothing where these are no clear case."""
    objects = frames.object_columns(data)
    if objects is None:
        return {}
    try:
        connection.register(view, objects)
        found = dict(_types(_natives(connection, view)))
        connection.unregister(view)
    except Exception:
        return {}
    return found


def _database(connection: duckdb.DuckDBPyConnection, name: str, source: Source, alias: str | None) -> _Found:
    """A table of an attached file, or of the connection that was given."""
    wanted = source.table if source.table is not None else name
    parts = wanted.split(".")
    quoted = [".".join(map(DIALECT.name, parts)), DIALECT.name(wanted)]
    prefix = f"{alias}." if alias else ""
    schema = "main." if alias and len(parts) == 1 else ""
    import duckdb

    for candidate, own in ((f"{prefix}{schema}{quoted[0]}", parts[-1]), (f"{prefix}main.{quoted[1]}", wanted)):
        try:
            found = _described(connection, candidate)
        except duckdb.Error:
            continue
        return replace(found, keys=_constraints(connection, own, alias))
    where = "database_name = current_database()" if alias is None else f"database_name = '{alias}'"
    rows = connection.execute(f"SELECT table_name FROM duckdb_tables() WHERE {where} ORDER BY 1").fetchall()
    if source.table is None and alias and len(rows) == 1:
        own = str(rows[0][0])
        found = _described(connection, f"{prefix}main.{DIALECT.name(own)}")
        return replace(found, keys=_constraints(connection, own, alias))
    listed = ", ".join(str(row[0]) for row in rows) or "none"
    raise InvalidInput(f"the database has no table {wanted!r}; name one with table=, the tables are {listed}.")


def _constraints(connection: duckdb.DuckDBPyConnection, name: str, alias: str | None) -> tuple[tuple[str, ...], ...]:
    """The keys of a table's constraints, where its name means one thing only: what else has it has its own."""

    def listed(what: str, column: str, kind: str) -> list[str]:
        where = f"LOWER({kind}_name) = LOWER($1) AND ($2 IS NULL OR database_name = $2)"
        found = connection.execute(f"SELECT {column} FROM duckdb_{what}() WHERE {where}", [name, alias]).fetchall()
        return [row[0] for row in found]

    if len(listed("tables", "table_name", "table") + listed("views", "view_name", "view")) != 1:
        return ()
    unique = "CASE WHEN constraint_type IN ('PRIMARY KEY', 'UNIQUE') THEN constraint_column_names END"
    return tuple(tuple(key) for key in listed("constraints", unique, "table") if key)
