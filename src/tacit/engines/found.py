"""What a source turned out to be, before its columns are converted to the types of its schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.engines import reading
from tacit.engines.dialect import DuckDialect
from tacit.engines.types import Schema

if TYPE_CHECKING:
    import duckdb

_DIALECT = DuckDialect()


@dataclass(frozen=True)
class Found:
    """What a source turned out to be: FROM text, native columns as read, and the types a schema would give them."""

    source: str
    native: Mapping[str, str]
    types: Schema
    files: tuple[str, ...] = ()
    frame: object = field(default=None, repr=False)
    form: reading.TextFormat = field(default_factory=reading.TextFormat)
    view: str = ""
    """The name under which the frame is registered."""


def natives(connection: duckdb.DuckDBPyConnection, source: str) -> dict[str, str]:
    """The names and DuckDB types of a source's columns."""
    rows = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return {str(row[0]): str(row[1]) for row in rows}


def types(native: Mapping[str, str]) -> Schema:
    """The schema of DuckDB types."""
    return Schema(tuple((column, reading.inferred(kind)) for column, kind in native.items()))


def described(connection: duckdb.DuckDBPyConnection, source: str, files: tuple[str, ...] = ()) -> Found:
    """A source that describes itself."""
    native = natives(connection, source)
    return Found(source, native, types(native), files)


def listed(files: Sequence[str]) -> str:
    """Files as a list of SQL."""
    return f"[{', '.join(map(_DIALECT.text, files))}]"
