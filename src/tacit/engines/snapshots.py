"""What all engines share: up to two rounds over the same rows, and one sentence for whatever fails in them.

A round is one statement: rows, one table of persons computed once, further tables, and the arms of the answers.
It may run in a thread of its own, so that Ctrl-C and a time limit stop it at once.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.engines import FAILED
from tacit.engines.columns import TableSQL
from tacit.engines.dialect import Dialect
from tacit.engines.entries import Entries
from tacit.engines.requests import (
    Blocks,
    Bound,
    Incidence,
    JoinSize,
    KeyRepeats,
    Relation,
    Repeats,
    Request,
    Touches,
    WeighedRows,
    WeighedValues,
)
from tacit.engines.requests.beside import NOTHING, Beside
from tacit.engines.requests.join_size import before_filters
from tacit.engines.requests.operands import Ordered, Value
from tacit.engines.requests.public_rows import PublicRows
from tacit.engines.requests.request import Arm
from tacit.engines.rows import Rows
from tacit.engines.script import ALL_ROWS, Fragment, Part, Piece, Reading, Script, fragment, join
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

    def __init__(self, dialect: Dialect, tables: Mapping[str, OpenTable], beside: Beside = NOTHING) -> None:
        self._beside = beside
        """What all statements have in common, where it is kept for all of them."""
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
            script = render(self.dialect, tables, relation, requests, self._beside)
            rows = withhold_errors(lambda: self.fetch_rows(script))
            return withhold_errors(
                lambda: tuple(
                    request.read([row for row in rows if row[0] == number]) for number, request in enumerate(requests)
                )
            )

    def touches(self, relation: Relation, request: Incidence, /) -> Touches:
        """One statement: whom the rows concern."""
        with self._round(relation) as tables:
            script = request.script(Rows(self.dialect, relation, tables))
            schema = request.schema(len(relation.persons))
            touches = request.read(relation, withhold_errors(lambda: self._numbers(script, schema)))
        if len(touches.weights) > request.limit:
            raise EngineError(FAILED)
        return touches

    def weigh(self, relation: Relation, request: WeighedRows, /) -> WeighedValues:
        """One statement: the values with their weights."""
        if relation.others:
            raise InvalidInput("rows that concern several persons are asked for by their incidence.")
        with self._round(relation) as tables:
            script = request.script(Rows(self.dialect, relation, tables))
            return request.read(withhold_errors(lambda: self._numbers(script, request.schema())))

    def _numbers(self, script: Script, schema: pa.Schema | None) -> Sequence[NDArray[Any]]:
        """The columns of a script in their types, which are 64-bit integers if there is no schema."""
        if schema is None:
            return self.fetch_columns(script)
        return [column.to_numpy() for column in self.fetch_table(script, schema).columns]

    def blocks(self, relation: Relation, request: Blocks | PublicRows, /) -> pa.Table:
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
        names = relation.tables
        before = self._states.setdefault(names, withhold_errors(lambda: self._state(names)))
        if not self.fits(relation):  # before any row is made
            raise EngineError(FAILED)
        yield {name: self.tables[name] for name in names}
        if withhold_errors(lambda: self._state(names)) != before:
            raise EngineError(FAILED)

    def fits(self, relation: Relation, /) -> bool:
        """Whether joins cannot have more rows than their bounds, inside derived tables first; beside the rounds."""
        return all(self._fits(joined, joined.bound) for joined in relation.every if joined.bound is not None)

    def _fits(self, relation: Relation, bound: Bound) -> bool:
        asked = before_filters(relation)
        if asked is None:
            return False
        if (asked, bound) in self._small:
            return True
        size = JoinSize()
        script = size.script(Rows(self.dialect, asked, self.tables))
        small = withhold_errors(lambda: size.read(self.fetch_rows(script))) <= bound.most
        if small:
            self._small.add((asked, bound))
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


def render(
    dialect: Dialect,
    tables: Mapping[str, TableSQL],
    relation: Relation,
    requests: Sequence[Request[Any]],
    beside: Beside = NOTHING,
) -> Script:
    """The statement for some requests; what it has in common with others is kept for them."""
    statement = Statement(dialect, Rows(dialect, relation, tables, beside=beside.columns), beside)
    arms = [(number, arm) for number, request in enumerate(requests) for arm in request.write(statement)]
    return statement.script(arms)


@dataclass
class Statement:
    """A statement being put together: each request adds the columns and tables that its arms read."""

    dialect: Dialect
    rows: Rows
    beside: Beside = NOTHING
    keep_person: bool = False
    """Whether the table of persons names them."""
    need_persons: bool = False
    """Whether there must be such a table even if nothing is known of a person."""
    _aggregates: dict[str, str] = field(default_factory=dict)
    _asked: dict[str, str] = field(default_factory=dict)
    """Those that requests read, of which others may have been said before."""
    _entries: dict[str, Entries] = field(default_factory=dict)
    _tables: dict[Fragment, Part] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """What all statements have in common comes first, so that it has the same names in each of them."""
        for total in self.beside.totals:
            total.of_person(self)
        self._common = len(self._aggregates)
        self._asked.clear()
        self._common_entries = {places: entries.size for places, entries in self._entries.items()}

    def aggregate(self, sql: str) -> str:
        """The name of a column of ``persons`` that aggregates each person's rows."""
        name = self._aggregates.setdefault(sql, f"a{len(self._aggregates)}")
        self._asked[sql] = name
        return name

    def extreme(self, value: Ordered | Value, largest: bool) -> tuple[str, str]:
        """The column of ``persons`` with a person's largest or smallest value, and the order that puts it first."""
        word, order = ("MAX", "DESC") if largest else ("MIN", "ASC")
        return self.aggregate(f"{word}({value.column(self.rows)})"), order

    def entries(self, places: str) -> Entries:
        """What persons have in given groups; ``places`` keeps the rows of these groups.

        Requests about the same groups share it, and so may the next round.
        """
        return self._entries.setdefault(places, Entries(self.dialect, places, len(self._entries)))

    def table(self, prefix: str, *pieces: Piece, kept: bool = True, again: bool = False) -> Reading:
        """A further table, computed once however many requests use it; the next round may read it ``again``."""
        asked = fragment(*pieces)
        part = self._tables.setdefault(asked, Part(f"{prefix}{len(self._tables)}", asked, kept=kept, again=again))
        return Reading(part.name)

    def pairs(self, by: Sequence[Expression]) -> Reading:
        """A table of every person's different keys k0, k1, …"""
        columns = [f"{self.rows.group(expression)} AS k{i}" for i, expression in enumerate(by)]
        return self.table("pairs", f"SELECT DISTINCT person, {', '.join(columns)} FROM ", ALL_ROWS, again=True)

    def _with_persons(self, parts: list[Part]) -> list[Part]:
        """The parts of the rows, and the tables of persons and of persons and groups, as far as they are asked for.

        Such a table is kept where no more is asked than all statements have in common. It then stands on rows of its
        own, whose words do not depend on what else this statement asks.
        """
        parts, own = self._with_own_rows(parts)
        if own is not None and self._asked and len(self._aggregates) == self._common:
            parts.append(_table_of_persons(["person"], self._aggregates, own, again=True))
        elif self.keep_person or self._asked or self.need_persons:
            columns = ["person"] if self.keep_person else [] if self._asked else ["1 AS present"]
            parts.append(_table_of_persons(columns, self._asked, self.rows))
        for places, entries in self._entries.items():
            alike = own is not None and self._common_entries.get(places) == entries.size
            parts.extend(entries.parts(own if own is not None and alike else self.rows))
        return parts

    def _with_own_rows(self, parts: list[Part]) -> tuple[list[Part], Rows | None]:
        """The parts with those of rows for what all statements have in common, if there is something."""
        if not self._common and not self._common_entries:
            return parts, None
        written, relation = self.beside.written, self.rows.relation
        if relation not in written:
            rows = Rows(self.dialect, relation, self.rows.stages, "own_", self.beside.columns)
            Statement(self.dialect, rows, self.beside)
            written[relation] = rows, rows.own_parts()
        rows, own = written[relation]
        known = {part.name: part for part in parts}
        if any(known.get(part.name, part) != part for part in own):
            return parts, None
        return [*parts, *(part for part in own if part.name not in known)], rows

    def script(self, arms: Sequence[tuple[int, Arm]]) -> Script:
        """The whole statement, whose rows are those of the arms, each with the number of its request."""
        parts = [*self._with_persons(self.rows.parts()), *self._tables.values()]
        width = max((len(arm.keys) for _, arm in arms), default=0)
        selects = []
        for number, arm in arms:
            numbers = {"a": arm.a, "b": arm.b, "c": arm.c}
            keys = [*arm.keys, *["NULL"] * (width - len(arm.keys))]
            columns = [
                f"{number} AS request",
                *(f"CAST({sql} AS {self.dialect.int128}) AS {name}" for name, sql in numbers.items()),
                f"CAST({arm.x} AS {self.dialect.float64}) AS x",
                *(f"CAST({key} AS {self.dialect.text_type}) AS k{i}" for i, key in enumerate(keys)),
            ]
            selects.append(fragment(f"SELECT {', '.join(columns)} FROM ", arm.source))
        return self._keep_rows(Script(tuple(parts), join(" UNION ALL ", selects)))

    def _keep_rows(self, script: Script) -> Script:
        """Rows that are not merely read from one table are computed once, however often the statement reads them."""
        times = sum(reading == ALL_ROWS for reading in script.readings)
        if times < 2 or not self.rows.costly:
            return script
        kept = [replace(part, kept=True) if part.name == ALL_ROWS.of else part for part in script.parts]
        return Script(tuple(kept), script.body)


def _table_of_persons(columns: Sequence[str], aggregates: Mapping[str, str], rows: Rows, again: bool = False) -> Part:
    """The table of persons, with some columns and aggregates."""
    listed = ", ".join([*columns, *(f"{sql} AS {name}" for sql, name in aggregates.items())])
    return Part("persons", fragment(f"SELECT {listed} FROM ", rows.grouped()), kept=True, again=again)


NAME = "tacit-statement"
"""The thread's, by which log records of statements can be told."""
_PATIENCE = 0.1
"""Seconds of one wait for a statement: some libraries' signal handlers let Ctrl-C end only a wait with a limit."""


def wait_for(
    work: Callable[[], T],
    interrupt: Callable[[], object] | None,
    timeout: float | None,
    thread: Callable[..., threading.Thread] = threading.Thread,
    grace: float | None = None,
) -> T:
    """What the work returns; whatever it raises becomes one `EngineError` without a trace of the rows.

    Interrupted work is waited for until it ends, or for ``grace`` seconds: an engine that is gone never says that it
    has. Work that nothing interrupts, because it reads no rows, is not waited for.
    """
    results: list[T] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except Exception:
            results.clear()
        finally:
            done.set()

    try:
        thread(target=run, name=NAME, daemon=True).start()
    except Exception:
        raise EngineError(FAILED) from None
    try:
        _wait(done, timeout)
    finally:
        if interrupt is not None and not done.is_set():
            stopper = threading.Thread(target=_stop, args=(interrupt, done), name=NAME, daemon=True)
            stopper.start()
            if _wait(done, grace):
                stopper.join(grace)
    if not results:
        raise EngineError(FAILED)
    return results[0]


def _wait(done: threading.Event, seconds: float | None) -> bool:
    """Whether it was done in time."""
    limit = time.monotonic() + (float("inf") if seconds is None else seconds)
    while not done.wait(_PATIENCE) and time.monotonic() < limit:
        pass
    return done.is_set()


def _stop(interrupt: Callable[[], object], done: threading.Event) -> None:
    """Again and again: an interrupt before the statement began is lost."""
    while not done.is_set():
        with suppress(Exception):
            interrupt()
        done.wait(0.05)
