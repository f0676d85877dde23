"""Exact verification of whole statistics, through the public face and the real engine.

All small datasets stand in one table, told apart by a public column, so that each is one filter away. A statistic is
released in a room that stops at its n-th draw and hands over the law instead: the first draw's law on every dataset,
then the second's given a fixed outcome of the first, and so on. By adaptive composition the statistic is private if
every stage keeps its own promise whatever came before, the number of stages depends on released outcomes alone, and the
promises add up to the cost. So each stage is verified over all neighbouring pairs, for several earlier outcomes, and
what the room says it spent is compared with what it may spend. Draws that the room counts as parallel, because they
concern different persons, must be so: between neighbours the laws of at most one part may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tacit.audit.drawn_laws import Pair, differing, verify_laws
from tacit.audit.exact import Dataset, Verification, datasets, neighbours
from tacit.engines.remembering import Remembering
from tacit.engines.requests import Relation
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.mechanisms.law import Law
from tacit.randomness import SYSTEM
from tacit.tables import Session, Table
from tacit.tables.face.declarations import Private
from tacit.tables.releasing.releaser import Releaser, protected_persons
from tacit.tables.releasing.room import Room, by_division
from tacit.tables.statistics.base import Statistic

Row = dict[str, Any]


# ---- a room that stops ------------------------------------------------------------------------------------------


class _Reached(Exception):
    """The draw that was asked for."""

    def __init__(self, law: Law[Any], part: str) -> None:
        super().__init__()
        self.law, self.part = law, part


class _StoppingRoom(Room):
    """Replays earlier outcomes, then stops at the next draw."""

    earlier: Sequence[Any] = ()

    def draw(self, law: Law[Any], part: str = "") -> Any:
        done = sum(len(drawn) for drawn in self._spent.values())
        if done == len(self.earlier):
            raise _Reached(law, part)
        self._spent.setdefault(part, []).append(law.guarantee)
        return self.earlier[done]

    def secret(self) -> bytes:
        """The same for all datasets: a secret is drawn before the data are seen."""
        return bytes(range(32))


# ---- the check --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """What the check of one draw found."""

    earlier: tuple[Any, ...]
    verification: Verification


@dataclass(frozen=True)
class StatisticReport:
    """What the check of a whole statistic found."""

    stages: tuple[Stage, ...]
    spent: tuple[Guarantee, ...]
    """What the draws of each followed path promise together."""
    affordable: bool
    """Whether all of that is within what the statistic may spend."""
    parallel: bool
    """Whether one person is in one of the parts that are counted as parallel."""

    @property
    def holds(self) -> bool:
        """Whether every stage keeps its promise and the promises add up to the cost."""
        return self.affordable and self.parallel and all(stage.verification.holds for stage in self.stages)

    @property
    def broken(self) -> bool:
        """Whether some stage surely breaks its promise, or the promises exceed the cost."""
        return not (self.affordable and self.parallel) or any(stage.verification.broken for stage in self.stages)

    @property
    def tightness(self) -> float:
        """The largest share of its promise that a stage uses."""
        return max(stage.verification.tightness for stage in self.stages)


@dataclass
class StatisticCheck:
    """Small datasets of persons, each a tuple of rows, loaded once into a real engine."""

    persons: Sequence[tuple[Row, ...]]
    size: int
    schema: dict[str, str]
    datasets: list[Dataset] = field(init=False)

    def __post_init__(self) -> None:
        self.datasets = datasets(range(len(self.persons)), self.size)
        rows = [
            {"dataset": number, "person": who, **row}
            for number, x in enumerate(self.datasets)
            for who, kind in enumerate(x)
            for row in self.persons[kind]
        ]
        self._open(rows, ["person"])

    def _open(self, rows: Sequence[Row], persons: list[str]) -> None:
        """Load rows of all datasets, told apart by their number."""
        import pyarrow as pa

        types = {"integer": pa.int64(), "float": pa.float64(), "boolean": pa.bool_(), "text": pa.string()}
        types |= {"date": pa.date32(), "decimal(2)": pa.decimal128(18, 2)}
        fields = {**dict.fromkeys(["dataset", *persons], "integer"), **self.schema}
        table = pa.table({name: pa.array([row.get(name) for row in rows], types[t]) for name, t in fields.items()})
        self.session = Session({"small": Private(table, person=persons)}, budget=Pure(10**6))
        self._engine = Remembering(self.session._tables.engine)

    def table(self, x: Dataset) -> Table:
        """The public table of one dataset."""
        return self.session["small"].filter(f"dataset = {self.datasets.index(x)}")

    def check(self, ask: Callable[[Table], Any], paths: int = 3) -> StatisticReport:
        """Verify every draw of the statistic that ``ask`` asks of a table, following a few outcomes of each draw."""
        questions = {x: captured(self.session, lambda x=x: ask(self.table(x))) for x in self.datasets}  # type: ignore[misc]
        pairs = neighbours(self.datasets)
        stages: list[Stage] = []
        rooms: list[Room] = []
        parallel = True
        waiting: list[_Path] = [_Path((), {})]
        while waiting:
            further: list[_Path] = []
            for path in waiting:
                found = {x: self._law(*questions[x], path.earlier) for x in self.datasets}
                laws = {x: law for x, (law, _, _) in found.items() if law is not None}
                _, part, room = next(iter(found.values()))
                if not laws:
                    rooms.append(room)
                    continue
                assert len(laws) == len(found), "the number of draws must not depend on the data"
                stages.append(Stage(path.earlier, verify_laws(laws, pairs)))
                moved = path.with_part(part, differing(laws, pairs))
                parallel = parallel and moved.parallel
                largest = list(laws.values())[-1]
                further += [replace(moved, earlier=(*path.earlier, y)) for y in largest.outcomes_to_follow()]
            waiting = _spread_out(further, paths)
        spent = tuple(room.spent for room in rooms)
        return StatisticReport(tuple(stages), spent, all(affordable(room) for room in rooms), parallel)

    def _law(
        self, relation: Relation, statistic: Statistic, cost: Guarantee, earlier: Sequence[Any]
    ) -> tuple[Law[Any] | None, str, Room]:
        """The law of the draw after ``earlier``, or None where the statistic has no further draw; part and room."""
        with self._engine.snapshot() as snapshot:
            protected = protected_persons(relation)
            room = _StoppingRoom(self._engine, snapshot, relation, SYSTEM, cost, protected)
            room.earlier = tuple(earlier)
            try:
                statistic.release(room)
            except _Reached as reached:
                return reached.law, reached.part, room
        return None, "", room


@dataclass(frozen=True)
class _Path:
    """Outcomes so far, and for each part the pairs between which its laws differ."""

    earlier: tuple[Any, ...]
    differs: Mapping[str, frozenset[Pair]]

    def with_part(self, part: str, pairs: Iterable[Pair]) -> _Path:
        """After a draw on a part."""
        return replace(self, differs={**self.differs, part: self.differs.get(part, frozenset()) | set(pairs)})

    @property
    def parallel(self) -> bool:
        """Whether no pair differs in two parts of one division."""
        divisions = by_division(self.differs).values()  # everybody is a division of one part
        return all(sum(map(len, parts)) == len(frozenset().union(*parts)) for parts in divisions)


def captured(session: Session, ask: Callable[[], Any]) -> tuple[Relation, Statistic, Guarantee]:
    """The relation, statistic and cost that a call of the public face would ask."""
    caught: list[tuple[Relation, Statistic, Guarantee]] = []

    class Catcher(Releaser):
        def ask(self, relation: Relation, statistic: Statistic, cost: Guarantee, **options: Any) -> Any:
            statistic.check(cost)
            caught.append((relation, statistic, cost))

    honest = session._releaser
    session._releaser = Catcher(honest.tables, honest.account)
    try:
        ask()
    finally:
        session._releaser = honest
    (found,) = caught
    return found


def affordable(room: Room) -> bool:
    """Whether the promises of a room's draws add up to at most what it may spend."""
    spent = room.spent
    match spent, room.cost:
        case Zcdp(rho), Zcdp() | Approx():
            return rho <= Zcdp.within(room.cost).rho
        case Pure(epsilon), Approx(most, _):  # ε with δ may be spent as ε
            return epsilon <= most
    return spent <= room.cost


def _spread_out(paths: list[_Path], most: int) -> list[_Path]:
    """At most ``most`` of the paths, from the first to the last."""
    if len(paths) <= most:
        return paths
    return [paths[i * (len(paths) - 1) // (most - 1)] for i in range(most)]
