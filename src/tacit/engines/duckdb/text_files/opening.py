"""Opening text files: one record a line, unless the custodian declares ``multiline=True``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines import Source
from tacit.engines.duckdb.dialect import DIALECT
from tacit.engines.duckdb.text_files import json, sniffing
from tacit.engines.duckdb.text_files.feed import FIELDS, Feed
from tacit.engines.duckdb.text_files.formats import TextFormat, text_format
from tacit.engines.duckdb.text_files.lines import TextFile, text_file
from tacit.engines.duckdb.text_files.sniffing import nulls, option
from tacit.errors import InvalidInput
from tacit.language.types import Schema

if TYPE_CHECKING:
    import duckdb

_BUFFERS = "max_line_size = 262144, buffer_size = 1048576"  # limits what an open quote can swallow; costs no time
_LARGEST = 1 << 28
"""Bytes of the longest object in a document of several lines."""
_CSV_OPTIONS = {"delimiter": "delim", "quote": "quote", "escape": "escape", "skip": "skip"}
_ENCODINGS = {
    "csv": {"utf-8": "utf-8", "utf-16-le": "utf-16", "iso8859-1": "latin-1"},
    "json": {"utf-8": "utf-8"},
}
"""What DuckDB's own readers know."""
_TEXT_OPTIONS = ("date_format", "timestamp_format", "decimal_separator", "multiline")


@dataclass(frozen=True)
class TextTable:
    """Text files as a table: FROM text in which every column is text, its public facts, and the records behind it."""

    source: str
    types: Schema
    form: TextFormat
    feed: Feed | None = None
    """Not there for values that span lines, which DuckDB reads by itself."""


def options(kind: str) -> tuple[str, ...]:
    """The options of CSV and of JSON files."""
    if kind == "csv":
        return (*_CSV_OPTIONS, *_TEXT_OPTIONS, "encoding", "header", "null")
    return (*_TEXT_OPTIONS, "encoding")


def text_table(
    connection: duckdb.DuckDBPyConnection, name: str, kind: str, source: Source, files: list[str], number: int
) -> TextTable:
    """The table of some CSV or JSON files."""
    multiline, declared = source.options.get("multiline", False), source.options.get("encoding")
    if not isinstance(multiline, bool):
        raise InvalidInput(f"table {name!r}: multiline must be True or False.")
    found = tuple(text_file(name, file, None if declared is None else str(declared)) for file in files)
    if multiline:
        encoding = _ENCODINGS[kind].get(found[0].encoding, "")
        if not encoding or len({file.encoding for file in found}) > 1:
            raise InvalidInput(
                f"table {name!r}: files of this encoding cannot be read with multiline; convert them to UTF-8."
            )
        if kind == "json":
            return _multiline_json(connection, source, files)
        return _multiline_csv(connection, source, files, encoding)
    return (_csv if kind == "csv" else _json)(connection, name, source, found, number)


def _csv(
    connection: duckdb.DuckDBPyConnection, name: str, source: Source, files: tuple[TextFile, ...], number: int
) -> TextTable:
    facts = sniffing.csv_facts(connection, name, files, source.options)
    types = facts.types
    if source.schema is not None and not facts.header and len(source.schema) == len(types):
        types = source.schema  # a file without a header gets its names from the schema
    feed = Feed(f"text{number}", files, facts.dialect, len(types), facts.skip)
    connection.register(feed.name, feed)
    empty = f"({', '.join(map(DIALECT.text, nulls(source.options)))})"
    values = [f"CASE WHEN {FIELDS}[{i + 1}] NOT IN {empty} THEN {FIELDS}[{i + 1}] END" for i in range(len(types))]
    return TextTable(
        _columns(values, types, feed.name), types, text_format(source.options, facts.date, facts.timestamp), feed
    )


def _json(
    connection: duckdb.DuckDBPyConnection, name: str, source: Source, files: tuple[TextFile, ...], number: int
) -> TextTable:
    types = sniffing.json_types(connection, name, files, source.schema)
    feed = Feed(f"text{number}", files, objects=True)
    connection.register(feed.name, feed)
    line = f"{FIELDS}[1]"
    objects = f"(SELECT {json.values(line, types)} AS {FIELDS} FROM {feed.name} WHERE {json.is_object(line)})"
    values = [f"{FIELDS}[{i + 1}]" for i in range(len(types))]
    return TextTable(_columns(values, types, objects), types, text_format(source.options), feed)


def _columns(values: list[str], types: Schema, source: str) -> str:
    """Named texts that are computed from records."""
    columns = ", ".join(f"{sql} AS {DIALECT.name(name)}" for sql, name in zip(values, types, strict=True))
    return f"(SELECT {columns} FROM {source})"


def _multiline_csv(connection: duckdb.DuckDBPyConnection, source: Source, files: list[str], encoding: str) -> TextTable:
    """Files whose writer quotes properly, as the custodian declared."""
    given = {sql: source.options[key] for key, sql in _CSV_OPTIONS.items() if key in source.options}
    given["encoding"] = encoding
    if "header" in source.options:
        given["header"] = bool(source.options["header"])
    if "null" in source.options:
        given["nullstr"] = nulls(source.options)
    options = "".join(f", {key} = {option(value)}" for key, value in given.items())
    (row,) = connection.execute(
        "SELECT Delimiter, Quote, Escape, SkipRows, HasHeader, Columns, DateFormat, TimestampFormat "
        f"FROM sniff_csv({DIALECT.text(files[0])}, ignore_errors = true{options})"
    ).fetchall()
    defaults = {"delim": row[0], "quote": row[1], "escape": row[2], "skip": row[3], "header": row[4]}
    for mark in ("quote", "escape"):  # a mark that the first rows happen not to use may come later
        if defaults[mark] == "(empty)":
            defaults[mark] = '"'
    settings = {**defaults, **given}
    native = {str(part["name"]): str(part["type"]) for part in row[5]}
    set_to = ", ".join(f"{key} = {option(value)}" for key, value in settings.items())
    reader = f"read_csv({DIALECT.list_of(files)}, auto_detect = false, ignore_errors = true, {_BUFFERS}, {set_to}, "
    if source.schema is not None and not settings["header"] and len(source.schema) == len(native):
        types = source.schema
    else:
        types = sniffing.whole_types(connection, native, reader + _texts(native))
    return TextTable(reader + _texts(types), types, text_format(source.options, row[6], row[7]))


def _multiline_json(connection: duckdb.DuckDBPyConnection, source: Source, files: list[str]) -> TextTable:
    """Documents of several lines, such as arrays of objects, whose writer the custodian trusts."""
    reader = f"read_json({DIALECT.list_of(files)}, ignore_errors = true, maximum_object_size = {_LARGEST}"
    types = source.schema
    if types is None:
        described = connection.execute(f"DESCRIBE SELECT * FROM {reader})").fetchall()
        native = {str(row[0]): str(row[1]) for row in described}
        types = sniffing.whole_types(connection, native, f"{reader}, {_texts(native)}")
    return TextTable(f"{reader}, {_texts(types)}", types, text_format(source.options))


def _texts(names: Iterable[str]) -> str:
    columns = ", ".join(f"{DIALECT.text(column)}: 'VARCHAR'" for column in names)
    return f"columns = {{{columns}}})"
