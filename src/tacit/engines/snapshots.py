"""What all engines share: up to two rounds over the same rows, and one sentence for whatever fails in them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.engines import FAILED
from tacit.engines.columns import TableSQL
from tacit.engines.dialect import Dialect
from tacit.engines.requests import Blocks, Incidence, JoinSize, KeyRepeats, Relation, Repeats, Request, Touches
from tacit.engines.rounds import render
from tacit.engines.rows import Rows
from tacit.engines.script import Script
from tacit.engines.tables import OpenTable
from tacit.errors import EngineError, InvalidInput
from tacit.language.expressions import Column

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

T = TypeVar("T")

_ROUNDS = 2


class SQLSnapshot(ABC):
    """A `tacit.engines.Snapshot`: a subclass says how a script runs, and what must not change meanwhile."""

    def __init__(self, dialect: Dialect, tables: Mapping[str, OpenTable]) -> None:
        self.dialect, self.tables = dialect, {name: table.sql for name, table in tables.items()}
        self._count = 0
        self._states: dict[tuple[str, ...], object] = {}
        self._small: set[tuple[object, ...]] = set()

    @abstractmethod
    def fetch_rows(self, script: Script) -> Sequence[tuple[Any, ...]]:
        """The rows of a script, their values exact; whatever it raises is withheld."""

    @abstractmethod
    def fetch_columns(self, script: Script) -> Sequence[NDArray[np.int64]]:
        """The columns of a script whose rows are 64-bit integers, none of them NULL; raises as `fetch_rows`."""

    def fetch_table(self, script: Script, schema: pa.Schema) -> pa.Table:
        """The rows of a script as an Arrow table, which engines have faster ways to make; raises as `fetch_rows`."""
        import pyarrow as pa

        columns = list(zip(*self.fetch_rows(script), strict=True)) or [()] * len(schema)
        return pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)

    def _state(self, names: tuple[str, ...]) -> object:
        """What tables look like from outside, where no transaction keeps them as they are; raises as `fetch_rows`."""
        return None

    def ask(self, relation: Relation, requests: tuple[Request[Any], ...], /) -> tuple[Any, ...]:
        """One statement, one result for each request."""
        if relation.others:
            raise InvalidInput("rows that concern several persons are asked for by their incidence.")
        with self._round(relation) as tables:
            ready = render(self.dialect, tables, relation, requests)
            return withhold_errors(lambda: ready.results(self.fetch_rows(ready.script)))

    def touches(self, relation: Relation, request: Incidence, /) -> Touches:
        """One statement: whom the rows concern."""
        with self._round(relation) as tables:
            script = request.script(Rows(self.dialect, relation, tables))
            schema = request.schema(len(relation.persons))
            touches = request.read(relation, withhold_errors(lambda: self._numbers(script, schema)))
        if len(touches.weights) > request.limit:
            raise EngineError(FAILED)
        return touches

    def _numbers(self, script: Script, schema: pa.Schema | None) -> Sequence[NDArray[Any]]:
        """The columns of a script in their types, which are 64-bit integers if there is no schema."""
        if schema is None:
            return self.fetch_columns(script)
        return [column.to_numpy() for column in self.fetch_table(script, schema).columns]

    def blocks(self, relation: Relation, request: Blocks, /) -> pa.Table:
        """One statement: the rows with their blocks."""
        if relation.others:
            raise InvalidInput("rows that concern several persons have no one block.")
        with self._round(relation) as tables:
            script = request.script(Rows(self.dialect, relation, tables))
            return withhold_errors(lambda: self.fetch_table(script, request.schema()))

    @contextmanager
    def _round(self, relation: Relation) -> Iterator[dict[str, TableSQL]]:
        """The tables of one round, which must not change meanwhile."""
        self._count += 1
        if self._count > _ROUNDS:
            raise InvalidInput(f"a snapshot answers {_ROUNDS} rounds; put more requests into one round.")
        names = (relation.table, *(join.table for join in relation.joins))
        before = self._states.setdefault(names, withhold_errors(lambda: self._state(names)))
        if not self.fits(relation):  # before any row is made
            raise EngineError(FAILED)
        yield {name: self.tables[name] for name in names}
        if withhold_errors(lambda: self._state(names)) != before:
            raise EngineError(FAILED)

    def fits(self, relation: Relation, /) -> bool:
        """Whether a relation's joins cannot have more rows than its bound; one statement beside the rounds."""
        bound, joined = relation.bound, (relation.table, relation.alias, relation.joins, relation.bound)
        if bound is None or joined in self._small:
            return True
        names = (relation.table, *(join.table for join in relation.joins))
        size = JoinSize()
        script = size.script(Rows(self.dialect, relation, {name: self.tables[name] for name in names}))
        small = withhold_errors(lambda: size.read(self.fetch_rows(script))) <= bound.most
        if small:
            self._small.add(joined)
        return small

    def repeats(self, table: str, columns: tuple[Column, ...], /) -> Repeats:
        """One statement beside the rounds: how often values of some columns are found in a table."""
        request, relation = KeyRepeats(columns), Relation(table, table, columns[0])
        script = request.script(Rows(self.dialect, relation, {table: self.tables[table]}))
        return withhold_errors(lambda: request.read(self.fetch_rows(script)))


def withhold_errors(work: Callable[[], T]) -> T:
    """What some work on rows returns; whatever it raises becomes one `EngineError` without a trace of the rows."""
    try:
        return work()
    except Exception:
        pass  # so that the error below has no context either
    raise EngineError(FAILED)
