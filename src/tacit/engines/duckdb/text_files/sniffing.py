"""What the first lines of text files say about the rest: dialect, names and types, as public facts.

Only lines that stand by themselves are looked at: readable, and without an open quote. DuckDB's sniffer sees them in a
file of their own that is deleted at once. Whole numbers stay whole: a column of digits is an integer, or text where 38
digits are not enough, and never a float.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from tacit.engines.duckdb.dialect import DIALECT
from tacit.engines.duckdb.text_files import json
from tacit.engines.duckdb.text_files.csv import Dialect, fields
from tacit.engines.duckdb.text_files.lines import TextFile, blocks
from tacit.errors import InvalidInput
from tacit.language.types import FLOAT, INTEGER, OTHER, TEXT, ColumnType, Schema

if TYPE_CHECKING:
    import duckdb

SAMPLE = 20_480
"""Lines from which types are inferred."""
FEW = 1000
"""Lines from which the delimiter is found."""
DELIMITERS = (",", ";", "\t", "|")
_DIGITS = re.compile(r"[-+]?[0-9]+")
_LONGEST_SAMPLE = 2**16
"""Characters of a line that tells about types; one that is nested very deep must not keep a file closed."""
_LONGEST = 38
"""Digits of the longest integer."""


@dataclass(frozen=True)
class Facts:
    """What was found or declared about files of comma-separated lines."""

    dialect: Dialect
    types: Schema
    skip: int
    """Lines before the first record, the header's among them."""
    header: bool
    date: str | None
    timestamp: str | None


def csv_facts(
    connection: duckdb.DuckDBPyConnection, table: str, files: Sequence[TextFile], options: Mapping[str, Any]
) -> Facts:
    """Dialect, names and types of some files that must have the same header."""
    declared = _declared(table, options)
    skip = int(options.get("skip", 0))
    lines = [(n, line) for n, line in _lines(files[:1], skip) if _alone(line, declared.quote)]
    if not lines:
        raise InvalidInput(
            f"table {table!r}: there is neither a header nor a record among the first lines of {files[0].path!r}; "
            "check that its lines end with LF or CR LF."
        )
    dialect, width = _shape([line for _, line in lines], declared, "delimiter" in options)
    lines = [(n, line) for n, line in lines if _width(line, dialect) == width]
    given: dict[str, object] = {
        "delim": dialect.delimiter,
        "quote": dialect.quote,
        "escape": dialect.escape,
        "comment": "",
        "ignore_errors": True,
    }
    if "header" in options:
        given["header"] = bool(options["header"])
    if "null" in options:
        given["nullstr"] = nulls(options)
    with _written(line for _, line in lines) as path:
        (row,) = connection.execute(
            "SELECT SkipRows, HasHeader, Columns, DateFormat, TimestampFormat FROM "
            f"sniff_csv({DIALECT.text(path)}, {', '.join(f'{key} = {option(value)}' for key, value in given.items())})"
        ).fetchall()
    above, header, columns, date, timestamp = row
    above += header
    first = lines[above - 1][0] if above else skip  # the number of the last line above the records
    empty = nulls(options)

    def values(column: int) -> Iterator[str]:
        records = (fields(line, dialect) or () for _, line in lines[above:])
        return (record[column] for record in records if record[column] not in empty)

    kinds = [(part["name"], _whole(str(part["type"]), values(i))) for i, part in enumerate(columns)]
    if header:
        _same_header(table, files, dialect, first)
    return Facts(dialect, Schema(tuple(kinds)), first, bool(header), date, timestamp)


def json_types(
    connection: duckdb.DuckDBPyConnection, table: str, files: Sequence[TextFile], declared: Schema | None
) -> Schema:
    """Names and types of objects, one a line; a declared name that no object has is a column of NULLs."""
    lines = [line for _, line in _lines(files, 0) if len(line) <= _LONGEST_SAMPLE]
    known = connection.execute(
        f"SELECT line FROM (SELECT unnest(CAST(? AS VARCHAR[])) AS line) WHERE {json.is_object('line')}", [lines]
    ).fetchall()
    if not known and (lines or declared is None):
        raise InvalidInput(
            f"table {table!r}: none of the first lines is a JSON object; write one object a line, or declare "
            "multiline=True for an array or objects of several lines whose writer you trust."
        )
    if declared is not None:
        return declared
    lines = [line for (line,) in known]
    with _written(lines) as path:
        described = connection.execute(
            f"DESCRIBE SELECT * FROM read_json({DIALECT.text(path)}, "
            "format = 'newline_delimited', ignore_errors = true)"
        ).fetchall()
    names = [str(row[0]) for row in described]
    rows = connection.execute(
        f"SELECT {json.values('line', names)} FROM (SELECT unnest(CAST(? AS VARCHAR[])) AS line)", [lines]
    ).fetchall()

    def values(column: int) -> Iterator[str]:
        return (row[0][column] for row in rows if row[0][column] is not None)

    kinds = [(names[i], _whole(str(row[1]), values(i))) for i, row in enumerate(described)]
    return Schema(tuple(kinds))


def whole_types(connection: duckdb.DuckDBPyConnection, native: Mapping[str, str], texts: str) -> Schema:
    """The types for what DuckDB inferred, corrected by the first rows as texts."""
    rows = connection.execute(f"SELECT * FROM {texts} LIMIT {SAMPLE}").fetchall()
    columns = enumerate(native.items())
    return Schema(tuple((name, _whole(kind, (r[i] for r in rows if r[i] is not None))) for i, (name, kind) in columns))


def _alone(line: str, quote: str) -> bool:
    """Whether the sniffer reads a line as one: it would take a lone CR for a line's end."""
    return "\r" not in line and not (quote and line.count(quote) % 2)


def nulls(options: Mapping[str, Any]) -> list[str]:
    """The texts that stand for no value."""
    null = options.get("null", [])
    return ["", *([null] if isinstance(null, str) else map(str, null))]


def option(value: object) -> str:
    """A value as an option of DuckDB's readers."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(option, value))}]"
    return str(value) if isinstance(value, int) else DIALECT.text(str(value))


def _declared(table: str, options: Mapping[str, Any]) -> Dialect:
    """The marks as declared; only the delimiter is found."""
    quote = str(options.get("quote", '"'))
    marks = Dialect(str(options.get("delimiter", ",")).replace("\\t", "\t"), quote, str(options.get("escape", quote)))
    for name, mark in (("delimiter", marks.delimiter), ("quote", marks.quote), ("escape", marks.escape)):
        if len(mark) > 1 or not mark.isascii() or mark in ("\n", "\r") or (name == "delimiter" and not mark):
            raise InvalidInput(f"table {table!r}: {name} must be one ASCII character; convert the file.")
    if marks.delimiter in (marks.quote, marks.escape):
        raise InvalidInput(f"table {table!r}: delimiter, quote and escape must differ; correct one of them.")
    return marks


def _shape(lines: list[str], declared: Dialect, fixed: bool) -> tuple[Dialect, int]:
    """The delimiter by which the most of the first lines have one number of fields above one, and that number."""
    found = []
    for mark in [declared.delimiter] if fixed else DELIMITERS:
        dialect = replace(declared, delimiter=mark)
        widths = Counter(width for line in lines[:FEW] if (width := _width(line, dialect)) > 1)
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        found.append((count, width, dialect))
    _, width, dialect = max(found, key=lambda shape: shape[:2])
    return dialect, width


def _width(line: str, dialect: Dialect) -> int:
    """The number of fields, 0 for no record."""
    return len(fields(line, dialect) or ())


def _lines(files: Sequence[TextFile], skip: int) -> Iterator[tuple[int, str]]:
    """The first readable lines with their numbers."""
    found = (
        (block.first + i, block.line(i).decode())
        for file in files
        for block in blocks(file, skip)
        for i in range(len(block.ends))
        if not (block.bad[i] or block.empty[i])
    )
    return islice(found, SAMPLE)


@contextmanager
def _written(lines: Iterable[str]) -> Iterator[str]:
    """A file with some lines, for this user alone and gone at the end."""
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
        path = os.path.join(folder, "first-lines")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.writelines(line + "\n" for line in lines)
        yield path


def _whole(native: str, values: Iterator[str]) -> ColumnType:
    """The type for what DuckDB inferred; a column of digits is no float, and text if it is too long for an integer."""
    kind = DIALECT.inferred(native)
    if kind not in (FLOAT, OTHER) and native not in ("HUGEINT", "UHUGEINT"):
        return kind
    longest = 0
    for value in values:
        if not _DIGITS.fullmatch(value):
            return kind
        longest = max(longest, len(value.lstrip("+-")))
    if not longest:
        return kind
    return INTEGER if longest <= _LONGEST else TEXT


def _same_header(table: str, files: Sequence[TextFile], dialect: Dialect, number: int) -> None:
    """Refuse files whose headers differ from the first one's."""
    first = _header(files[0], dialect, number)
    for file in files[1:]:
        if _header(file, dialect, number) != first:
            raise InvalidInput(
                f"table {table!r}: the header of {file.path!r} is not that of {files[0].path!r}; read files "
                "of the same columns in the same order as one table."
            )


def _header(file: TextFile, dialect: Dialect, number: int) -> list[str] | None:
    """The fields of the line of this number."""
    for block in blocks(file):
        if block.first <= number < block.first + len(block.ends):
            index = number - block.first
            return None if block.bad[index] else fields(block.line(index).decode(), dialect)
    return None
