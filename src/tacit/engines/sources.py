"""Where DuckDB finds a table: files, frames and databases, opened without looking at more than public facts.

Names and types are inferred once, from the file's own description or from its first rows, or are given. Text files
are then read as text under those names, one record a line (`tacit.engines.text_files`), and converted value by value.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.engines import Source, reading
from tacit.engines.dialect import DuckDialect
from tacit.engines.rows import TableSQL
from tacit.engines.types import Schema
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    import duckdb

    from tacit.engines.text_files.feed import Feed

DIALECT = DuckDialect()
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
class OpenTable:
    """A table that can be asked: its public schema, its SQL, and the files or the frame behind it."""

    schema: Schema
    sql: TableSQL
    files: tuple[str, ...] = ()
    view: str = ""
    frame: object = field(default=None, repr=False)
    feed: Feed | None = None
    """The records of text files."""
    texts: str = ""
    """FROM text of a text file before its texts are converted."""


@dataclass(frozen=True)
class _Found:
    """What a source turned out to be: FROM text, native columns as read, and the types a schema would give them."""

    source: str
    native: Mapping[str, str]
    types: Schema
    files: tuple[str, ...] = ()
    frame: object = field(default=None, repr=False)
    form: reading.TextFormat = field(default_factory=reading.TextFormat)
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
        native, sql = reading.converted(found.native[column], kind, quoted, found.form, DIALECT)
        reads.append(f"{sql} AS {quoted}" if sql != quoted else quoted)
        columns[column] = reading.column(column, native, kind, DIALECT)
    plain = all(read == DIALECT.name(column) for read, column in zip(reads, schema, strict=True))
    text = found.source if plain else f"(SELECT {', '.join(reads)} FROM {found.source})"
    return OpenTable(
        schema, TableSQL(text, columns), found.files, found.source, found.frame, feed=found.feed, texts=found.texts
    )


def _find(connection: duckdb.DuckDBPyConnection, name: str, source: Source, number: int) -> _Found:
    import duckdb

    data = source.data
    if isinstance(data, duckdb.DuckDBPyConnection):
        _refuse_options(name, source, ())
        return _database(connection, name, source, None)
    if isinstance(data, str | os.PathLike):
        return _file(connection, name, source, os.fspath(data), number)
    module, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if (module, kind) in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")):
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
        return _described(connection, f"read_parquet({_list(files)}, hive_partitioning = {hive})", tuple(files))
    if kind in ("csv", "json"):
        from tacit.engines.text_files import opening

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
        connection.register(view, data)
    except Exception:
        raise InvalidInput(f"table {name!r} has a column whose type cannot be read; leave it out.") from None
    types = _types(_natives(connection, view))
    connection.execute("SET pandas_analyze_sample = 0")
    native = _natives(connection, view)
    connection.execute("RESET pandas_analyze_sample")
    return _Found(view, native, types, frame=data)


def _database(connection: duckdb.DuckDBPyConnection, name: str, source: Source, alias: str | None) -> _Found:
    """A table of an attached file, or of the connection that was given."""
    wanted = source.table if source.table is not None else name
    parts = wanted.split(".")
    quoted = [".".join(map(DIALECT.name, parts)), DIALECT.name(wanted)]
    prefix = f"{alias}." if alias else ""
    schema = "main." if alias and len(parts) == 1 else ""
    import duckdb

    for candidate in (f"{prefix}{schema}{quoted[0]}", f"{prefix}main.{quoted[1]}"):
        try:
            return _described(connection, candidate)
        except duckdb.Error:
            continue
    where = "database_name = current_database()" if alias is None else f"database_name = '{alias}'"
    rows = connection.execute(f"SELECT table_name FROM duckdb_tables() WHERE {where} ORDER BY 1").fetchall()
    if source.table is None and alias and len(rows) == 1:
        return _described(connection, f"{prefix}main.{DIALECT.name(str(rows[0][0]))}")
    listed = ", ".join(str(row[0]) for row in rows) or "none"
    raise InvalidInput(f"the database has no table {wanted!r}; name one with table=, the tables are {listed}.")
