"""What all engines share: up to two rounds over the same rows, and one sentence for whatever fails in them.

A round is one statement: rows, one table of persons computed once, further tables, and the arms of the answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.engines import FAILED
from tacit.engines.columns import TableSQL
from tacit.engines.dialect import Dialect
from tacit.engines.requests import Blocks, Incidence, JoinSize, KeyRepeats, Relation, Repeats, Request, Touches
from tacit.engines.requests.operands import Ordered, Value
from tacit.engines.requests.request import AnswerRow, Arm
from tacit.engines.rows import Rows
from tacit.engines.script import Fragment, Part, Piece, Reading, Script, fragment, join
from tacit.engines.tables import OpenTable
from tacit.errors import EngineError, InvalidInput
from tacit.language.expressions import Column, Expression

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


@dataclass(frozen=True)
class Round:
    """A statement ready to run, and the requests that read what it returns."""

    script: Script
    requests: tuple[Request[Any], ...]

    def results(self, rows: Sequence[AnswerRow]) -> tuple[Any, ...]:
        """One result for each request."""
        own: list[list[AnswerRow]] = [[] for _ in self.requests]
        for row in rows:
            own[row[0]].append(row)
        return tuple(request.read(part) for request, part in zip(self.requests, own, strict=True))


def render(
    dialect: Dialect, tables: Mapping[str, TableSQL], relation: Relation, requests: Sequence[Request[Any]]
) -> Round:
    """The statement for some requests."""
    statement = Statement(dialect, Rows(dialect, relation, tables))
    arms = [(number, arm) for number, request in enumerate(requests) for arm in request.write(statement)]
    return Round(statement.script(arms), tuple(requests))


@dataclass
class Statement:
    """A statement being put together: each request adds the columns and tables that its arms read."""

    dialect: Dialect
    rows: Rows
    keep_person: bool = False
    """Whether the table of persons names them."""
    need_persons: bool = False
    """Whether there must be such a table even if nothing is known of a person."""
    _aggregates: dict[str, str] = field(default_factory=dict)
    _tables: dict[Fragment, Part] = field(default_factory=dict)

    @property
    def all_rows(self) -> Reading:
        """The rows of the relation."""
        return self.rows.all_rows

    @property
    def persons(self) -> Reading:
        """The table of persons, with the columns of `aggregate`."""
        return Reading("persons")

    def aggregate(self, sql: str) -> str:
        """The name of a column of ``persons`` that aggregates each person's rows."""
        return self._aggregates.setdefault(sql, f"a{len(self._aggregates)}")

    def extreme(self, value: Ordered | Value, largest: bool) -> tuple[str, str]:
        """The column of ``persons`` with a person's largest or smallest value, and the order that puts it first."""
        word, order = ("MAX", "DESC") if largest else ("MIN", "ASC")
        return self.aggregate(f"{word}({value.column(self.rows)})"), order

    def table(self, prefix: str, *pieces: Piece, again: bool = False) -> Reading:
        """A further table, computed once however many requests use it; the next round may read it ``again``."""
        asked = fragment(*pieces)
        part = self._tables.setdefault(asked, Part(f"{prefix}{len(self._tables)}", asked, kept=True, again=again))
        return Reading(part.name)

    def pairs(self, by: Sequence[Expression]) -> Reading:
        """A table of every person's different keys k0, k1, …"""
        columns = [f"{self.rows.group(expression)} AS k{i}" for i, expression in enumerate(by)]
        return self.table("pairs", f"SELECT DISTINCT person, {', '.join(columns)} FROM ", self.all_rows, again=True)

    def script(self, arms: Sequence[tuple[int, Arm]]) -> Script:
        """The whole statement, whose rows are those of the arms, each with the number of its request."""
        person = ["person"] if self.keep_person else []
        columns = person + [f"{sql} AS {name}" for sql, name in self._aggregates.items()]
        columns = columns or (["1 AS present"] if self.need_persons else [])
        persons = Part("persons", fragment(f"SELECT {', '.join(columns)} FROM ", self.rows.grouped()), kept=True)
        parts = [*self.rows.parts(), *([persons] if columns else []), *self._tables.values()]
        width = max((len(arm.keys) for _, arm in arms), default=0)
        return Script(tuple(parts), join(" UNION ALL ", (self._arm(number, arm, width) for number, arm in arms)))

    def _arm(self, number: int, arm: Arm, width: int) -> Fragment:
        keys = [*arm.keys, *["NULL"] * (width - len(arm.keys))]
        columns = [
            f"{number} AS request",
            *(
                f"CAST({sql} AS {self.dialect.int128}) AS {name}"
                for sql, name in zip((arm.a, arm.b, arm.c), "abc", strict=True)
            ),
            f"CAST({arm.x} AS {self.dialect.float64}) AS x",
            *(f"CAST({key} AS {self.dialect.text_type}) AS k{i}" for i, key in enumerate(keys)),
        ]
        return fragment(f"SELECT {', '.join(columns)} FROM ", arm.source)
