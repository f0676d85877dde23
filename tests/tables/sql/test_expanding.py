"""Which joins public facts bound: the rule against random schemas, keys, joins and rows, and what it refuses."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from tacit import InvalidInput, Private, Public, Pure, Session, UnsupportedQuery
from tacit.engines.requests import Join, Relation
from tacit.language.expressions import Column
from tacit.language.types import INTEGER
from tacit.tables.face.declarations import Key, as_keys
from tacit.tables.sql.expanding import MOST_REPEATS, Keys, Reach, reach
from tests.tables.support import refused

COLUMNS = ("a", "b", "c")
CASES = 2000
Row = dict[str, int | None]


@dataclass(frozen=True)
class Case:
    """Random tables with rows that respect their keys, and random joins of them."""

    keys: Keys
    public: frozenset[str]
    rows: dict[str, list[Row]]
    relation: Relation


def made(rng: random.Random) -> Case:
    names = [f"t{i}" for i in range(rng.randint(1, 4))]
    choices = [("a",), ("b",), ("a", "b"), ("b", "c")]
    keys = {name: frozenset(rng.sample(choices, rng.choice((0, 1, 1, 2)))) for name in names}
    public = frozenset(name for name in names if rng.random() < 0.2)
    rows: dict[str, list[Row]] = {}
    for name in names:
        kept, seen = list[Row](), set[tuple[Key, Any]]()
        for _ in range(rng.randint(0, 7)):
            row: Row = {column: rng.choice((None, 1, 1, 1, 2, 2, 3)) for column in COLUMNS}
            values = {(key, tuple(row[column] for column in key)) for key in keys[name]}
            values = {(key, value) for key, value in values if None not in value}
            if not values & seen:
                kept.append(row)
                seen |= values
        rows[name] = kept
    aliases = {f"x{i}": rng.choice(names) for i in range(rng.randint(1, 4))}

    def column(alias: str) -> Column:
        return Column(INTEGER, alias, rng.choice(COLUMNS))

    joins, joined = [], ["x0"]
    for alias in list(aliases)[1:]:
        pairs = tuple((column(rng.choice(joined)), column(alias)) for _ in range(rng.choice((1, 1, 2, 3))))
        left = aliases[alias] in public and alias == list(aliases)[-1] and rng.random() < 0.5
        joins.append(Join(aliases[alias], alias, pairs, "left" if left else "inner"))
        joined.append(alias)
    return Case(keys, public, rows, Relation(aliases["x0"], "x0", Column(INTEGER, "x0", "a"), tuple(joins)))


def joined_rows(case: Case) -> int:
    """How many rows the joins have, by trying all."""
    found: list[dict[str, Row]] = [{"x0": row} for row in case.rows[str(case.relation.table)]]
    for join in case.relation.joins:
        longer = []
        for before, row in product(found, case.rows[str(join.table)]):
            values = [(before[left.table][left.name], row[right.name]) for left, right in join.on]
            if all(one is not None and one == other for one, other in values):
                longer.append(before | {join.alias: row})
        if join.kind == "left":
            matched = [{name: part for name, part in row.items() if name != join.alias} for row in longer]
            longer += [before | {join.alias: dict.fromkeys(COLUMNS)} for before in found if before not in matched]
        found = longer
    return len(found)


def repeats(rows: list[Row], columns: Key) -> int:
    values = [tuple(row[column] for column in columns) for row in rows]
    return max((values.count(value) for value in values if None not in value), default=0)


def violations(rule: Callable[[Relation, Keys, Callable[[str], bool]], Reach]) -> tuple[int, int]:
    """Of random plans, how many the rule calls bounded, and how many of those have more rows than it says.

    A rule that names no root says that there are no more than in the largest table.
    """
    rng, bounded, wrong = random.Random(1), 0, 0
    for _ in range(CASES):
        case = made(rng)
        found = rule(case.relation, case.keys, case.public.__contains__)
        if found.missed is not None or not case.relation.joins:
            continue
        bounded += 1
        aliases = {"x0": case.relation.table} | {join.alias: join.table for join in case.relation.joins}
        most = max(len(case.rows[str(aliases[root])]) for root in ([found.root] if found.root else aliases))
        for table, columns in found.repeating:
            most *= max(1, repeats(case.rows[str(table)], columns))
        wrong += joined_rows(case) > most
    return bounded, wrong


def pairwise(relation: Relation, keys: Keys, public: Callable[[str], bool]) -> Reach:
    """A wrong rule: every join has a key on one of its sides."""
    tables = {relation.alias: relation.table} | {join.alias: join.table for join in relation.joins}
    for join in relation.joins:
        unique = [any(set(key) <= {pair[i].name for pair in join.on} for key in keys[str(join.table)]) for i in (1,)]
        near = {pair[0].table for pair in join.on}
        if len(near) == 1:
            held = keys[str(tables[near.pop()])]
            unique.append(any(set(key) <= {left.name for left, _ in join.on} for key in held))
        if not any(unique):
            return Reach(relation.alias, (), (join.table, ()))
    return Reach("", ())


def by_keys(relation: Relation, keys: Keys, public: Callable[[str], bool]) -> Reach:
    """The rule where all columns are compared by their keys."""
    return reach(relation, lambda table: keys[str(table)], lambda table: public(str(table)), lambda left, right: True)


def test_bounded_joins_have_no_more_rows_than_the_rule_says() -> None:
    bounded, wrong = violations(by_keys)
    assert bounded > CASES // 5
    assert wrong == 0


def test_the_pairwise_rule_is_caught() -> None:
    assert violations(pairwise)[1] > 0


@pytest.fixture
def tables() -> dict[str, Private | Public]:
    people = pa.table({"id": range(6), "place": [n % 2 for n in range(6)]})
    visits = pa.table({"id": range(12), "who": [n % 6 for n in range(12)], "at": [n % 2 for n in range(12)]})
    notes = pa.table({"visit": [n % 12 for n in range(24)], "x": range(24)})
    places = pa.table({"code": [0, 1], "name": ["north", "south"], "land": [5, 5]})
    lands = pa.table({"land": [5] * (MOST_REPEATS + 1)})
    return {
        "people": Private(people, person="id", key="id"),
        "visits": Private(visits, person="who"),
        "notes": Private(notes, through={"visit": "visits.id"}),
        "places": Public(places),
        "lands": Public(lands),
    }


BOUNDED = [
    "notes",
    "notes JOIN visits ON visit = visits.id",
    "notes JOIN visits ON visit = visits.id JOIN people ON who = people.id",
    "notes n JOIN visits v ON n.visit = v.id JOIN visits w ON w.id = v.id",
    "people JOIN places ON place = code",
    "people LEFT JOIN visits ON people.id = who AND visits.at = 1",
    "people LEFT JOIN (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) AS v ON people.id = v.who",
    "people WHERE id IN (SELECT who FROM visits)",
    "visits AS v WHERE NOT EXISTS (SELECT * FROM notes WHERE notes.visit = v.id AND x > 3)",
    "people p JOIN places ON p.place = code JOIN places o ON places.land = o.land",
    "people LEFT JOIN places ON place = land",
    "visits JOIN people ON who = people.id LEFT JOIN places ON at = code",
]
EXPANDING = {
    "people p JOIN people q ON p.place = q.place": "'people' is joined by place, .*its keys are id",
    "visits v JOIN visits w ON v.who = w.who": "'visits' is joined by who, .*its keys are id",
    "visits JOIN people ON who = people.id JOIN visits w ON w.who = people.id": "'visits' is joined by who",
    "notes n JOIN notes m ON n.visit = m.visit": "'notes' is joined by visit, .*no declared key",
    "people JOIN places ON place = code JOIN lands ON places.land = lands.land": "joining 'places' and 'lands' would",
    "people LEFT JOIN visits v ON people.id = v.who LEFT JOIN visits w ON people.id = w.who": "'visits' is joined",
    "visits v LEFT JOIN visits w ON v.who = w.who": "'visits' is joined by who",
    "people LEFT JOIN lands ON place = land": "joining 'lands' would make more than 1,000 rows",
}


@pytest.mark.parametrize("source", BOUNDED)
def test_bounded_joins_are_answered_everywhere(source: str, tables: dict[str, Private | Public]) -> None:
    with Session(tables, Pure(9), expanding_joins=False) as session:
        session.sql(f"SELECT COUNT(*) FROM {source}", epsilon=1)


@pytest.mark.parametrize("source", EXPANDING)
def test_expanding_joins_are_refused_unpaid_in_previews_too(source: str, tables: dict[str, Private | Public]) -> None:
    query = f"SELECT COUNT(*) FROM {source}"
    with Session(tables, Pure(9), expanding_joins=False) as session:
        asks: tuple[Callable[..., Any], ...] = (session.sql, session.cost)
        for ask in asks:
            refused(session.budget, UnsupportedQuery, EXPANDING[source], partial(ask, query, epsilon=1))
    with Session(tables, Pure(9)) as session:
        assert session.preview(query, epsilon=1).fits


def test_how_keys_are_written() -> None:
    assert as_keys(None) == ()
    assert as_keys("id") == (("id",),)
    assert as_keys(["a", "b"]) == (("a", "b"),)
    assert as_keys([["id"], ["a", "b"]]) == as_keys(["id", ("a", "b")]) == (("id",), ("a", "b"))
    mistakes: tuple[Any, ...] = (3, "", [3], [[]], [["a", 3]], {"a": "b"})
    for wrong in mistakes:
        with pytest.raises(InvalidInput, match="key must name a column"):
            as_keys(wrong)
    data = pa.table({"id": [1], "x": [2]})
    assert str(Private(data, person="id", key=["id", ["x", "id"]])) == "private, person = id, key = id or x with id"
    with pytest.raises(
        InvalidInput, match="key names a column 'y' that table 't' does not have; the columns are id, x"
    ):
        Session({"t": Private(data, person="id", key="y")}, Pure(1))
