"""Looking at the rows themselves: for the custodian's check (`tacit.checks`) and for nothing else.

Nothing that an analyst can reach imports this; `tests/test_architecture.py` checks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tacit.engines import Engine
from tacit.engines.duckdb.tables import DuckTable
from tacit.engines.duckdb.text_files.feed import Feed
from tacit.engines.requests import duplicate_keys
from tacit.engines.script import Part, Piece, Reading, Script, fragment
from tacit.engines.snapshots import SQLSnapshot, withhold_errors
from tacit.engines.tables import OpenTables
from tacit.language.types import Kind


class Inspection:
    """Plain statements over an engine's tables, each in a snapshot of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        with self._snapshot() as snapshot:
            self.dialect, self.tables = snapshot.dialect, snapshot.tables

    @contextmanager
    def _snapshot(self) -> Iterator[SQLSnapshot]:
        with self._engine.snapshot() as snapshot:
            assert isinstance(snapshot, SQLSnapshot)
            yield snapshot

    def rows(self, *pieces: Piece) -> list[tuple[Any, ...]]:
        """The rows of a query, given in pieces; whatever fails is one `EngineError`."""
        script = Script((Part("looked", fragment(*pieces)),), fragment("SELECT * FROM ", Reading("looked")))
        with self._snapshot() as snapshot:
            return list(withhold_errors(lambda: snapshot.fetch_rows(script)))

    def repeated(self, table: str, columns: Sequence[str]) -> int:
        """How many values of a key several rows have."""
        return duplicate_keys(self._engine, table, columns)

    def source(self, table: str, columns: Iterable[str]) -> Reading:
        """What stands after FROM to use some columns."""
        return Reading(self.tables[table], "t", frozenset(columns))

    def column(self, name: str) -> str:
        """A column of `source` as it is."""
        return f"t.{self.dialect.name(name)}"

    def value(self, table: str, name: str) -> str:
        """A column as its values are read."""
        return self.tables[table].columns[name].value(self.column(name))

    def key(self, table: str, name: str) -> str:
        """A column as persons and keys are compared."""
        return self.tables[table].columns[name].key(self.column(name))

    def kind(self, table: str, name: str) -> Kind:
        """A column's kind."""
        return self._engine.schema(table)[name].kind

    def texts(self, table: str) -> str:
        """What stands after FROM before texts were converted, or "" where there were none."""
        opened = self._opened(table)
        return opened.location.view if opened is not None and opened.location.text is not None else ""

    def feed(self, table: str) -> Feed | None:
        """The lines of text files."""
        opened = self._opened(table)
        return None if opened is None else opened.feed

    def _opened(self, table: str) -> DuckTable | None:
        """A table of DuckDB, the only engine that reads text files."""
        opened = self._engine.tables[table] if isinstance(self._engine, OpenTables) else None
        return opened if isinstance(opened, DuckTable) else None
