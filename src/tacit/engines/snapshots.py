"""What all engines share: up to two rounds over the same rows, and one sentence for whatever fails in them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.engines import FAILED
from tacit.engines.blocks import Blocks, arrow_schema, blocks
from tacit.engines.columns import TableSQL
from tacit.engines.dialect import Dialect
from tacit.engines.incidence import Incidence, Touches, height_schema, incidence
from tacit.engines.requests import Relation, Request
from tacit.engines.rounds import render
from tacit.engines.rows import Rows
from tacit.engines.script import Script
from tacit.engines.sizes import Repeats, repeats, size
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
            script = incidence(self.dialect, Rows(self.dialect, relation, tables), request)
            weights, *found = withhold_errors(lambda: self._numbers(script, relation, request))
        if len(weights) > request.limit:
            raise EngineError(FAILED)
        kinds = tuple(kind for kind, _ in relation.persons)
        values = None if request.values is None else found[-1]
        return Touches(
            weights, tuple(found[: len(kinds)]), kinds, values, None if request.heights is None else found[-1]
        )

    def _numbers(self, script: Script, relation: Relation, request: Incidence) -> Sequence[NDArray[Any]]:
        """The columns of an incidence; heights may be doubles."""
        if request.heights is None:
            return self.fetch_columns(script)
        table = self.fetch_table(script, height_schema(len(relation.persons), request.heights))
        return [column.to_numpy() for column in table.columns]

    def blocks(self, relation: Relation, request: Blocks, /) -> pa.Table:
        """One statement: the rows with their blocks."""
        if relation.others:
            raise InvalidInput("rows that concern several persons have no one block.")
        with self._round(relation) as tables:
            script = blocks(self.dialect, Rows(self.dialect, relation, tables), request)
            return withhold_errors(lambda: self.fetch_table(script, arrow_schema(request)))

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
        script = size(Rows(self.dialect, relation, {name: self.tables[name] for name in names}))
        ((found,),) = withhold_errors(lambda: self.fetch_rows(script))
        if found <= bound.most:
            self._small.add(joined)
        return bool(found <= bound.most)

    def repeats(self, table: str, columns: tuple[Column, ...], /) -> Repeats:
        """One statement beside the rounds: how often values of some columns are found in a table."""
        relation = Relation(table, table, columns[0])
        script = repeats(Rows(self.dialect, relation, {table: self.tables[table]}), columns)
        ((largest, repeated),) = withhold_errors(lambda: self.fetch_rows(script))
        return Repeats(int(largest), int(repeated))


def withhold_errors(work: Callable[[], T]) -> T:
    """What some work on rows returns; whatever it raises becomes one `EngineError` without a trace of the rows."""
    try:
        return work()
    except Exception:
        pass  # so that the error below has no context either
    raise EngineError(FAILED)
