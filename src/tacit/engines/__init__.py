"""Engines: where rows are, and the only place where they are read.

An engine answers the requests of `tacit.engines.requests`, exactly and always in the same way. It knows SQL and no
privacy: whoever asks has charged for the answer before. The contract:

- ``open_engine(tables)`` reads public facts only (names and types), refuses what they show to be wrong, and starts
  nothing else.
- ``engine.snapshot()`` is a context in which up to two rounds see the same rows; nothing is ever written.
- ``snapshot.ask(relation, requests)`` runs one statement and returns one result for each request.
- Whatever goes wrong while rows are read (memory, time, a damaged file) ends in one `EngineError` whose words do not
  depend on the rows. Ctrl-C stops the statement and passes on as KeyboardInterrupt.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from tacit.engines.types import Schema

if TYPE_CHECKING:
    from tacit.engines.requests import Incidence, Relation, Request, Touches

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

FAILED = (
    "the engine could not finish the question (memory, time or a damaged source); what was charged stays charged, "
    "and the engine's own message is withheld because it may show rows."
)
"""The one sentence of every failure while rows are read."""


@dataclass(frozen=True)
class Source:
    """Where a table's rows are, and the public facts given about it.

    ``data`` is a path, a pandas or Polars frame, an Arrow table or an open DuckDB connection; ``table`` names the
    table inside a database; ``schema`` fixes names and types (otherwise inferred once); ``options`` are the reader's.
    """

    data: object = field(repr=False)
    schema: Schema | None = None
    table: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)


class Snapshot(Protocol):
    """Up to two rounds over the same rows."""

    @overload
    def ask(self, relation: Relation, requests: tuple[Request[A]], /) -> tuple[A]: ...
    @overload
    def ask(self, relation: Relation, requests: tuple[Request[A], Request[B]], /) -> tuple[A, B]: ...
    @overload
    def ask(self, relation: Relation, requests: tuple[Request[A], Request[B], Request[C]], /) -> tuple[A, B, C]: ...
    @overload
    def ask(self, relation: Relation, requests: tuple[Request[Any], ...], /) -> tuple[Any, ...]: ...
    def touches(self, relation: Relation, request: Incidence, /) -> Touches:
        """Whom the rows of a relation of several persons concern; a round of its own."""


class Engine(Protocol):
    """A place where tables can be asked."""

    def schema(self, table: str) -> Schema:
        """The public names and types of a table, by the name it was given."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """A read-only view of all tables, the same for every round inside."""

    def close(self) -> None:
        """Let go of files and connections."""


def open_engine(tables: Mapping[str, Source]) -> Engine:
    """The engine for some named tables; reads schemas, not answers."""
    from tacit.engines.duckdb import DuckDB

    return DuckDB(tables)
