"""Random plans: the rows that a plan attributes to a person are exactly those that go when the person goes.

For each plan the relation that the planner made is listed, row by row, over all worlds of a dataset at once (each
joined table is tied to the others by the world, too). With R_0 the rows of the data and R_v those without person v,

    R_v = R_0 without the rows that list v,        as multisets of (persons, every value that a statistic uses).

So v's rows change nothing besides the rows that list v, and a row that goes lists whom it went with. It follows for a
statistic of the rows that one person moves it by no more than what the mechanisms assume. The engine's own comparison
of persons is held to the exact one: equal persons have one name in the engine, different persons have two, nobody has
none. For some plans the engine's incidence must have as many rows and persons as the listing, of the same weights.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tacit import Pure, Session, TacitError
from tacit.engines.duckdb.dialect import DIALECT
from tacit.engines.requests import Incidence, Relation
from tacit.engines.rows import Rows
from tacit.engines.script import ALL_ROWS, Script, fragment
from tacit.language import build
from tacit.language.expressions import Column, Expression, expressions
from tacit.language.types import INTEGER
from tacit.tables.sql.privacy_clause import price
from tacit.tables.sql.queries import understand
from tests.attacks.datasets import POOLS, Dataset, dataset
from tests.attacks.queries import Writer

PLANS_FOR_EACH = 25
"""Plans asked of one dataset."""
WEIGHED = 20
"""Of so many plans with several persons, one is compared with the engine's incidence, too."""


@dataclass
class Tried:
    """What a run of the generator did."""

    plans: int = 0
    """Compared."""
    removals: int = 0
    """Of one person, each with a plan."""
    several: int = 0
    """Plans with rows of several persons."""
    refused: int = 0
    datasets: int = 0
    unreadable: int = 0
    """Datasets that were refused by their declaration."""
    rows: int = 0
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0


def attack(
    seed: int, plans: int, *, natives: Sequence[str] = tuple(POOLS), unique: bool = True, stop: int = 20
) -> Tried:
    """Compare so many plans, from a seed; ends early after ``stop`` failures.

    Persons and keys have ``natives`` types. Not ``unique``: keys to which foreign keys lead may repeat.
    """
    import duckdb

    done, start, draw = Tried(), time.process_time(), Random(seed)
    connection = duckdb.connect(config={"threads": "1"})
    connection.execute("PRAGMA disable_optimizer")  # half of the time for tables this small; other tests have it on
    try:
        while done.plans < plans and len(done.failures) < stop:
            done.datasets += 1
            data = dataset(draw, unique=unique, natives=natives)
            data.store(connection)
            try:
                session = Session(
                    {name: shape.declared(connection, name) for name, shape in data.shapes.items()}, Pure(1)
                )
            except TacitError:
                done.unreadable += 1
                continue
            with session:
                _dataset(done, session, connection, data, draw, min(PLANS_FOR_EACH, plans - done.plans))
    finally:
        connection.close()
    done.seconds = time.process_time() - start
    return done


def _dataset(done: Tried, session: Session, connection: Any, data: Dataset, draw: Random, plans: int) -> None:
    writer, tried = Writer(draw, data), 0
    while tried < plans:
        text, keys = writer.query()
        try:
            found = understand(session._releaser, price(text, 1), keys)
        except TacitError:
            done.refused += 1
            tried += draw.random() < 0.02  # so that a dataset about which nothing can be asked ends
            continue
        tried += 1
        done.plans += 1
        done.removals += len(data.victims)
        done.several += bool(found.relation.others)
        wrong = compare(session, connection, data, found.relation, expressions(found.statistics), done)
        if wrong:
            done.failures.append(f"{wrong} [{data}]: {text}")


def compare(
    session: Session, connection: Any, data: Dataset, asked: Relation, values: list[Expression], done: Tried
) -> str:
    """What is wrong with a relation, or nothing."""
    relation = tied(asked)
    world = Column(INTEGER, relation.alias, "world")
    rows = Rows(DIALECT, relation, {name: table.sql for name, table in session._tables.engine.tables.items()})  # type: ignore[attr-defined]
    numbers = [rows.plain(Column(INTEGER, c.table, f"{c.name}_number")) for _, c in relation.persons]
    place, outputs = rows.plain(world), [rows.plain(value) for value in dict.fromkeys(values)]
    names = [place, *numbers, *rows.persons, *outputs]
    body = fragment(f"SELECT {', '.join(names)} FROM ", ALL_ROWS)
    statement = DIALECT.statement(Script(tuple(rows.parts()), body))
    listed = connection.execute(statement).fetchall()
    done.rows += len(listed)
    kinds, width = [kind for kind, _ in relation.persons], len(numbers)
    worlds: dict[int, Counter[Any]] = defaultdict(Counter)
    named: dict[tuple[str, int], set[str]] = defaultdict(set)
    owners: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in listed:
        persons = row[1 : 1 + width]
        for kind, number, name in zip(kinds, persons, row[1 + width : 1 + 2 * width], strict=True):
            if (number is None) != (name is None):
                return "somebody is nobody"
            if number is not None:
                named[kind, number].add(_name(name))
                owners[kind, _name(name)].add(number)
        if all(number is None for number in persons):
            return "a row of nobody"
        worlds[row[0]][persons, repr(row[1 + 2 * width :])] += 1
    if any(len(names) > 1 for names in named.values()):
        return "one person has two names"
    if any(len(numbers) > 1 for numbers in owners.values()):
        return "two persons have one name"
    for number, victim in enumerate(data.victims, 1):
        left = Counter({row: n for row, n in worlds[0].items() if victim not in zip(kinds, row[0], strict=True)})
        if left != worlds[number]:
            return f"rows of others move with {victim}"
    if relation.others and done.several % WEIGHED == 0:
        return _incidence(session, relation, world, worlds[0], kinds)
    return ""


def tied(relation: Relation) -> Relation:
    """The relation within each world."""
    first = Column(INTEGER, relation.alias, "world")
    joins = (replace(join, on=(*join.on, (first, Column(INTEGER, join.alias, "world")))) for join in relation.joins)
    return replace(relation, joins=tuple(joins))


def _incidence(session: Session, relation: Relation, world: Column, rows: Counter[Any], kinds: list[str]) -> str:
    """Whether the engine's incidence weighs persons as the listing does."""
    only = build.comparison("=", world, build.literal(0))
    where = only if relation.filter is None else build.logic("AND", (relation.filter, only))
    with session._tables.engine.snapshot() as snapshot:
        found = snapshot.touches(replace(relation, filter=where, bound=None), Incidence())  # of all worlds together
    degrees: Counter[Any] = Counter()
    listed: Counter[Any] = Counter()
    for column, kind in zip(found.persons, kinds, strict=True):
        for person, weight in zip(column.tolist(), found.weights.tolist(), strict=True):
            degrees[kind, person] += weight if person else 0
    for (persons, _), times in rows.items():
        for kind, number in zip(kinds, persons, strict=True):
            listed[kind, number] += times if number is not None else 0
    same = sorted(v for v in degrees.values() if v) == sorted(v for v in listed.values() if v)
    return "" if same and int(found.weights.sum()) == sum(rows.values()) else "the incidence differs from the rows"


def _name(value: Any) -> str:
    """What an engine calls a person; -0.0 and 0.0 are one."""
    return repr(value + 0 if isinstance(value, float) else value)
