"""Exact verification of whole statistics, through the public face and the real engine.

All small datasets stand in one table, told apart by a public column, so that each is one filter away. A statistic is
released in a room that stops at its n-th draw and hands over the law instead: the first draw's law on every dataset, then
the second's given a fixed outcome of the first, and so on. By adaptive composition the statistic is private if every
stage keeps its own promise whatever came before and the promises add up to the cost; so each stage is verified over
all neighbouring pairs, for several earlier outcomes, and the sum is compared with the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.answers import Answer, Answers
from tacit.audit.exact import Dataset, Verification, datasets, neighbours, verify
from tacit.guarantees import Guarantee, Pure
from tacit.mechanisms.law import Law
from tacit.randomness import SYSTEM
from tacit.tables import Session, Table
from tacit.tables.declare import Private
from tacit.tables.room import Room
from tacit.tables.statistics.base import Statistic

Row = dict[str, Any]
Ask = Callable[[Table], Answer | Answers]


class _Reached(Exception):
    """The draw that was asked for."""

    def __init__(self, law: Law[Any]) -> None:
        super().__init__()
        self.law = law


class _StoppingRoom(Room):
    """Replays earlier outcomes, then stops at the next draw."""

    earlier: Sequence[Any] = ()

    def draw(self, law: Law[Any], part: str = "") -> Any:
        done = sum(len(drawn) for drawn in self._spent.values())
        if done == len(self.earlier):
            raise _Reached(law)
        self._spent.setdefault(part, []).append(law.guarantee)
        return self.earlier[done]


@dataclass(frozen=True)
class Stage:
    """What the check of one draw found."""

    number: int
    earlier: tuple[Any, ...]
    verification: Verification


@dataclass
class StatisticCheck:
    """Small datasets of persons, each a tuple of rows, loaded once into a real engine."""

    persons: Sequence[tuple[Row, ...]]
    size: int
    schema: dict[str, str]
    cost: Guarantee = field(default_factory=lambda: Pure(1))

    def __post_init__(self) -> None:
        self.datasets: list[Dataset] = datasets(range(len(self.persons)), self.size)
        rows = [
            {"dataset": number, "person": who, **row}
            for number, x in enumerate(self.datasets)
            for who, kind in enumerate(x)
            for row in self.persons[kind]
        ]
        names = ["dataset", "person", *self.schema]
        columns = {name: [row.get(name) for row in rows] for name in names}
        import pyarrow as pa

        types = {"integer": pa.int64(), "float": pa.float64(), "boolean": pa.bool_(), "text": pa.string()}
        fields = [("dataset", pa.int64()), ("person", pa.int64()), *((n, types[t]) for n, t in self.schema.items())]
        table = pa.table({name: pa.array(columns[name], kind) for name, kind in fields})
        self.session = Session({"small": Private(table, person="person")}, budget=Pure(10**6))

    def table(self, x: Dataset) -> Table:
        """The public table of one dataset."""
        return self.session["small"].filter(f"dataset = {self.datasets.index(x)}")

    def law(self, x: Dataset, ask: Callable[[Table], Any], earlier: Sequence[Any]) -> Law[Any] | None:
        """The law of the draw after ``earlier``, or None where the statistic has no further draw."""
        relation, statistic = captured(self.session, lambda: ask(self.table(x)))
        with self.session._engine.snapshot() as snapshot:
            room = _StoppingRoom(
                self.session._engine, snapshot, relation, SYSTEM, self.cost, self.session.protected(relation)
            )
            room.earlier = tuple(earlier)
            try:
                statistic.release(room)
            except _Reached as reached:
                return reached.law
        return None

    def stages(
        self,
        ask: Callable[[Table], Any],
        points: Callable[[int, Law[Any]], Iterable[Hashable] | None] = lambda number, law: None,
        follow: int = 2,
    ) -> list[Stage]:
        """Verify every draw of a statistic, following a few outcomes of each."""
        pairs = neighbours(self.datasets)
        found: list[Stage] = []
        waiting: list[tuple[Any, ...]] = [()]
        while waiting:
            earlier = waiting.pop()
            laws = {x: self.law(x, ask, earlier) for x in self.datasets}
            some = next(iter(laws.values()))
            if some is None:
                continue
            chosen = points(len(earlier), some)
            result = verify(lambda x, laws=laws: _present(laws[x]), pairs, some.guarantee, points=chosen)  # type: ignore[misc]
            found.append(Stage(len(earlier), earlier, result))
            richest = _present(laws[self.datasets[-1]])
            outcomes = dict.fromkeys([richest._draw(SYSTEM) for _ in range(follow)])
            waiting += [(*earlier, outcome) for outcome in outcomes]
        return found


def _present(law: Law[Any] | None) -> Law[Any]:
    assert law is not None, "the number of draws must not depend on the data"
    return law


def captured(session: Session, ask: Callable[[], Any]) -> tuple[Any, Statistic]:
    """The relation and statistic that a call of the public face would ask."""
    caught: list[tuple[Any, Statistic]] = []

    def catch(relation: Any, statistic: Statistic, *rest: Any, **options: Any) -> None:
        caught.append((relation, statistic))

    session.ask = catch  # type: ignore[method-assign, assignment]
    try:
        ask()
    finally:
        del session.ask
    return caught[0]
