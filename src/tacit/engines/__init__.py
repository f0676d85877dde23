"""Engines: where rows are, and the only place where they are read.

An engine answers the requests of `tacit.engines.requests`, exactly and always in the same way. It knows SQL and no
privacy: whoever asks has charged for the answer before. The contract:

- ``open_engine(tables, timeout)`` reads public facts only (names and types), refuses what they show to be wrong, and
  starts nothing else. No statement may take longer than ``timeout`` seconds.
- ``engine.snapshot()`` is a context in which up to two rounds see the same rows; no table is ever written. Entering it
  touches no rows: what fails there (`UNREACHABLE`) is known before anything is charged.
- ``snapshot.ask(relation, requests)`` runs one statement and returns one result for each request. Where the relation
  has a `Bound`, a cheap statement before it counts on the join keys, and a join that can be larger is a failure.
- Whatever goes wrong while rows are read (memory, time, a damaged file) ends in one `EngineError` whose words do not
  depend on the rows. Ctrl-C stops the statement and passes on as KeyboardInterrupt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from tacit.errors import InvalidInput
from tacit.language.types import KeyType, Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.engines.requests import (
        Blocks,
        Incidence,
        Relation,
        Repeats,
        Request,
        Touches,
        WeighedRows,
        WeighedValues,
    )
    from tacit.engines.requests.beside import Beside
    from tacit.engines.requests.derived import Derived
    from tacit.engines.requests.public_rows import PublicRows
    from tacit.language.expressions import Column

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

FAILED = (
    "the engine could not finish the question (memory, time, a limit or a damaged source); what was charged stays "
    "charged, and the engine's own message is withheld because it may show rows."
)
"""The one sentence of every failure while rows are read."""

UNREACHABLE = (
    "the tables cannot be reached as they were when they were opened (the server, the privilege to read them, or their "
    "columns); check the source and open it again."
)
"""The sentence of every failure before rows are read; it follows from public facts."""


@dataclass(frozen=True)
class Source:
    """Where a table's rows are, and the public facts given about it.

    ``data`` is a path, a pandas or Polars frame, an Arrow table, an open DuckDB or psycopg connection, a string
    "postgresql://…", a Spark DataFrame or session; ``table`` names the table inside a database; ``schema`` fixes names
    and types (otherwise inferred once); ``options`` are the reader's.
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

    def weigh(self, relation: Relation, request: WeighedRows, /) -> WeighedValues:
        """The values of rows that weigh their part of a person, by group; a round of its own."""

    def blocks(self, relation: Relation, request: Blocks | PublicRows, /) -> pa.Table:
        """Rows with the number of their block, for functions that run on the trusted side, or rows of public tables.

        A round of its own.
        """

    def fits(self, relation: Relation, /) -> bool:
        """Whether a relation's joins cannot have more rows than its `Bound`, by counts on keys; every round asks."""

    def repeats(self, table: str, columns: tuple[Column, ...], /) -> Repeats:
        """How often values of some columns are found in a table; data, for whoever holds it, unless it is public."""


Opening = Callable[[], AbstractContextManager[Snapshot]]
"""How to open a snapshot."""


class Engine(Protocol):
    """A place where tables can be asked."""

    def schema(self, table: str) -> Schema:
        """The public names and types of a table, by the name it was given."""

    def keys(self, table: str) -> tuple[tuple[str, ...], ...]:
        """The keys that the source itself keeps unique, by a constraint; each is read so that none become equal."""

    def key_type(self, table: str | Derived, column: str) -> KeyType:
        """How a column's values are told apart, a public fact too; of a derived table by what it is derived from."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """A read-only view of all tables, the same for every round inside."""

    def together(self, beside: Beside) -> AbstractContextManager[Opening]:
        """How to open snapshots one after another for several statistics of the same rows, or one that asks twice.

        An engine may keep what they have in common from one round to the next, as long as the tables look the same.
        """

    def version(self, tables: Sequence[str]) -> str | None:
        """A name for what some tables hold now, which they have at no other content; None where nobody can know.

        It is made of what can be seen from outside, without a look at rows, so it may be asked before a charge.
        """

    def close(self) -> None:
        """Close files and connections."""


def open_engine(tables: Mapping[str, Source], timeout: float | None = None) -> Engine:
    """The engine for some named tables, all of which must be its own; reads schemas, not answers."""
    if timeout is not None and not (isinstance(timeout, int | float) and 0 < timeout < 10**6):
        raise InvalidInput("timeout must be a number of seconds above 0, such as 600.")
    homes = {_home(source.data) for source in tables.values()}
    if len(homes) > 1:
        raise InvalidInput(
            f"the tables of one session must be in one place, not in {' and '.join(sorted(homes))}; "
            "copy the smaller ones to where the others are."
        )
    match homes.pop() if homes else "":
        case "PostgreSQL":
            from tacit.engines.postgres.engine import Postgres

            return Postgres(tables, timeout)
        case "Spark":
            from tacit.engines.spark.engine import Spark

            return Spark(tables, timeout)
    from tacit.engines.duckdb.engine import DuckDB

    return DuckDB(tables, timeout)


def list_tables(data: str) -> tuple[str, ...] | None:
    """The names of the tables in a database, which are public; None for a file that is one table itself."""
    if _home(data) == "PostgreSQL":
        from tacit.engines.postgres import engine as postgres

        return postgres.list_tables(data)
    from tacit.engines.duckdb import engine as duck

    return duck.list_tables(data)


def _home(data: object) -> str:
    """The engine of a source, told by its type alone: no library is loaded for sources that are not its own."""
    if isinstance(data, str) and data.startswith(("postgresql://", "postgres://")):
        return "PostgreSQL"
    module = type(data).__module__.partition(".")[0]
    return {"psycopg": "PostgreSQL", "pyspark": "Spark"}.get(module, "files, frames or DuckDB")
