"""Looking at the rows themselves: for the custodian's check (`tacit.checks`) and for nothing else.

Nothing that an analyst can reach imports this; `tests/test_architecture.py` checks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.engines import Engine
from tacit.engines.columns import TableSQL
from tacit.engines.dialect import Dialect
from tacit.engines.duckdb.text_files.feed import Feed
from tacit.engines.requests import duplicate_keys
from tacit.engines.script import Part, Piece, Reading, Script, query
from tacit.engines.snapshots import Rounds, withheld
from tacit.language.types import Kind


class Look:
    """Plain statements over an engine's tables, each in a snapshot of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        with engine.snapshot() as snapshot:
            assert isinstance(snapshot, Rounds)
            self.dialect: Dialect = snapshot._dialect
            self.tables: Mapping[str, TableSQL] = snapshot._tables

    def rows(self, *pieces: Piece) -> list[tuple[Any, ...]]:
        """The rows of a query, given in pieces; whatever fails is one `EngineError`."""
        with self._engine.snapshot() as snapshot:
            assert isinstance(snapshot, Rounds)
            script = Script((Part("looked", query(*pieces)),), query("SELECT * FROM ", Reading("looked")))
            return list(withheld(lambda: snapshot._rows(script)))

    def repeated(self, table: str, columns: Sequence[str]) -> int:
        """How many values of a key several rows have."""
        return duplicate_keys(self._engine, table, columns)

    def source(self, table: str) -> Reading:
        """What stands after FROM."""
        return Reading(self.tables[table], "t")

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
        opened = getattr(self._engine, "tables", {}).get(table)
        return str(getattr(opened, "texts", ""))

    def feed(self, table: str) -> Feed | None:
        """The lines of text files."""
        found = getattr(getattr(self._engine, "tables", {}).get(table), "feed", None)
        return found if isinstance(found, Feed) else None
