"""Ten nested queries over all small tables, verified exactly: of two persons, with three rows between them at most.

All tables stand in one engine as worlds (`tests.attacks.nesting`), 455 of them. For every neighbouring pair, a world
and the same without one person, what the engine computes may change by that person's rows alone. On top, a small
mechanism counts persons by what all of their derived rows are, in four bins: by the promise one person moves one bin by
one, so discrete Laplace noise on each must keep ε exactly, and its exact law is compared over all pairs. Twins that
look across persons are caught by both checks; written as SQL they are refused.

Whole statistics over nested queries are then verified draw by draw, as `tacit audit` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement
from typing import Any
from zlib import crc32

import pyarrow as pa
import pytest

from tacit import Private, Pure, Session
from tacit.audit.drawn_laws import verify_laws
from tacit.audit.statistics import StatisticCheck
from tacit.engines.requests import Join, Relation
from tacit.engines.requests.derived import PersonGroups, PersonRows
from tacit.language import build
from tacit.language.aggregates import aggregate
from tacit.language.expressions import Column, Expression
from tacit.language.inside import Ordering
from tacit.language.types import INTEGER, TEXT
from tacit.language.windows import window
from tacit.mechanisms.noise.noise import laplace_vector
from tacit.tables.sql.privacy_clause import price
from tacit.tables.sql.queries import understand
from tacit.tables.sql.query import Query
from tests.attacks.nesting import WORLD, Listing, listed, moved, planned

ROWS = [("visits", who, g, v) for who in (1, 2) for g in "ab" for v in (1, 2)]
ROWS += [("refunds", who, g, 1) for who in (1, 2) for g in "ab"]
WORLDS = [rows for size in range(4) for rows in combinations_with_replacement(ROWS, size)]
BINS = 4

QUERIES = [
    "SELECT COUNT(*) FROM (SELECT who, SUM(v) AS s, COUNT(*) AS n FROM visits GROUP BY who) AS t",
    "SELECT COUNT(*) FROM (SELECT who, g, MAX(v) AS m FROM visits GROUP BY who, g HAVING COUNT(*) = 1) AS t",
    "SELECT COUNT(*) FROM (SELECT who, g, v, ROW_NUMBER() OVER (PARTITION BY who ORDER BY v, g) AS r FROM visits) AS t "
    "WHERE r = 1",
    "SELECT COUNT(*) FROM (SELECT who, v FROM visits QUALIFY LAG(v) OVER (PARTITION BY who ORDER BY v, g) < v) AS t",
    "SELECT COUNT(*) FROM (SELECT who, g FROM visits AS a WHERE g NOT IN (SELECT g FROM refunds AS b WHERE b.who = "
    "a.who)"
    ") AS t",
    "SELECT COUNT(*) FROM (SELECT who, v FROM visits AS a WHERE v = 2 OR EXISTS (SELECT 1 FROM refunds AS b WHERE "
    "b.who = "
    "a.who AND b.g = a.g)) AS t",
    "SELECT COUNT(*) FROM (SELECT a.who, a.v, COALESCE(b.n, 0) AS n FROM visits AS a LEFT JOIN (SELECT who, COUNT(*) "
    "AS n "
    "FROM refunds GROUP BY who) AS b ON a.who = b.who) AS t",
    "SELECT COUNT(*) FROM (SELECT who, SUM(v) AS s FROM (SELECT who, v FROM visits UNION ALL SELECT who, -v FROM "
    "refunds) "
    "AS u GROUP BY who) AS t WHERE s > 0",
    "SELECT COUNT(*) FROM (SELECT DISTINCT who, g FROM visits AS a WHERE v > (SELECT MIN(v) FROM visits AS b WHERE "
    "b.who = "
    "a.who)) AS t",
    "SELECT COUNT(*) FROM (SELECT who, MAX(s) AS m FROM (SELECT who, g, SUM(v) AS s FROM visits GROUP BY who, g) AS u "
    "GROUP BY who) AS t WHERE who IN (SELECT who FROM refunds)",
]


def columns(table: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"world": [], "who": [], "g": [], "v": []}
    for number, rows in enumerate(WORLDS):
        for name, who, g, v in rows:
            if name == table:
                for column, value in zip(found, (number, number * WORLD + who, g, v), strict=True):
                    found[column].append(value)
    return found


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    tables = {name: Private(pa.table(columns(name)), person="who") for name in ("visits", "refunds")}
    with Session(tables, Pure(1)) as opened:
        yield opened


@cache
def pairs() -> list[tuple[int, int, int]]:
    """(world, who, the world without them)."""
    numbers = {rows: number for number, rows in enumerate(WORLDS)}
    return [
        (number, who, numbers[tuple(row for row in rows if row[1] != who)])
        for number, rows in enumerate(WORLDS)
        for who in (1, 2)
        if any(row[1] == who for row in rows)
    ]


def bins(rows: Counter[tuple[Any, ...]]) -> tuple[int, ...]:
    """How many persons' derived rows fall into each bin."""
    held: dict[int, list[str]] = {}
    for row, count in rows.items():
        held.setdefault(row[0], []).append(f"{row[1:]}*{count}")
    found = Counter(crc32(repr(sorted(own)).encode()) % BINS for own in held.values())
    return tuple(found[number] for number in range(BINS))


def verified(rows: Listing) -> Any:
    """Whether noise that hides one person in one bin hides everybody."""
    laws: dict[Any, Any] = {(number,): laplace_vector(bins(rows[number]), 1) for number in range(len(WORLDS))}
    return verify_laws(laws, [((world,), (without,)) for world, _, without in pairs()])


@pytest.mark.parametrize("query", QUERIES)
def test_a_nested_query_keeps_its_promise_on_every_small_table(query: str, session: Session) -> None:
    rows = listed(session, *planned(session, query))
    assert sum(len(found) for found in rows.values()) > len(WORLDS) / 20
    assert moved(rows, pairs()) == []
    found = verified(rows)
    assert found.holds
    assert found.tightness > 0.999


def column(table: str, name: str) -> Column:
    return Column(TEXT if name == "g" else INTEGER, table, name)


def unpartitioned() -> tuple[Relation, list[Expression]]:
    """ROW_NUMBER over all persons' rows."""
    source = Relation("visits", "visits", column("visits", "world"))
    order = (Ordering(column("visits", "v")), Ordering(column("visits", "g")), Ordering(column("visits", "who")))
    table = PersonRows(
        source,
        (("who", column("visits", "who")), ("v", column("visits", "v"))),
        (("r", window("row_number", order=order)),),
    )
    first = build.comparison("=", column("t", "r"), build.literal(1))
    return Relation(table, "t", column("t", "who"), filter=first), [column("t", "v")]


def others_rows() -> tuple[Relation, list[Expression]]:
    """EXISTS over anybody's rows."""
    tie = (column("visits", "world"), column("b", "world"))
    same = build.comparison("=", column("visits", "g"), column("b", "g"))
    join = Join("refunds", "b", (tie,), "semi", same)
    return Relation("visits", "visits", column("visits", "who"), (join,)), [column("visits", "v")]


def without_person() -> tuple[Relation, list[Expression]]:
    """GROUP BY g, the group given to the least of its persons."""
    source = Relation("visits", "visits", column("visits", "world"))
    who, n = aggregate("min", [column("visits", "who")]), aggregate("count")
    table = PersonGroups(source, (("g", column("visits", "g")),), (("who", who), ("n", n)))
    return Relation(table, "t", column("t", "who")), [column("t", "g"), column("t", "n")]


@pytest.mark.parametrize("twin", [unpartitioned, others_rows, without_person])
def test_twins_that_look_across_persons_are_caught(
    twin: Callable[[], tuple[Relation, list[Expression]]], session: Session
) -> None:
    rows = listed(session, *twin())
    assert moved(rows, pairs())
    assert verified(rows).broken


# ---- whole statistics, draw by draw -----------------------------------------------------------------------------


def ask(session: Session, text: str) -> None:
    """Ask the one aggregate of a query."""
    query = understand(session._releaser, price(text, 4))
    assert isinstance(query, Query)
    query.releaser.ask(query.relation, query.statistics[0], query.cost)


class NestedCheck(StatisticCheck):
    """Asks in SQL, of the dataset with a number."""

    def table(self, x: Any) -> Any:
        return self.datasets.index(x)


PERSONS = (
    ({"v": 1, "g": "a"},),
    ({"v": 2, "g": "a"}, {"v": 1, "g": "b"}),
    ({"v": 1, "g": "a"}, {"v": 1, "g": "a"}, {"v": 2, "g": None}),
)
INNER = "(SELECT person, SUM(v) AS s, COUNT(*) AS n FROM small WHERE dataset = {} GROUP BY person) AS t"
WHOLE = [
    "SELECT COUNT(DISTINCT person) FROM " + INNER + " WHERE n >= 2",
    "SELECT COUNT(*) FROM (SELECT person, v FROM small WHERE dataset = {} QUALIFY ROW_NUMBER() OVER (PARTITION BY "
    "person "
    "ORDER BY v, g) <= 2) AS t",
    "SELECT COUNT(*) FROM (SELECT person, v FROM small WHERE dataset = {} QUALIFY COUNT(*) OVER (PARTITION BY person) "
    "<= 3) AS t",
]


@pytest.mark.parametrize("query", WHOLE)
def test_whole_statistics_over_nested_queries_are_verified(query: str) -> None:
    check = NestedCheck(PERSONS, 2, {"v": "integer", "g": "text"})
    report = check.check(lambda number: ask(check.session, query.format(number)), paths=2)
    assert report.holds
    assert report.tightness > 0.5


def test_a_statistic_over_a_twin_is_caught() -> None:
    """COUNT over all rows of a dataset: one more person moves all rows of the others out."""
    check = NestedCheck(PERSONS, 3, {"v": "integer", "g": "text"})

    class Twin(NestedCheck):
        def _law(self, relation: Relation, *rest: Any) -> Any:
            derived: Any = relation.table
            dataset = Column(INTEGER, derived.source.alias, "dataset")
            person = (("who", derived.source.person),)
            table = replace(derived, source=replace(derived.source, person=dataset), shown=(*derived.shown, *person))
            who = Column(relation.person.type, relation.alias, "who")
            return super()._law(replace(relation, table=table, person=who), *rest)

    check.__class__ = Twin
    report = check.check(lambda number: ask(check.session, WHOLE[2].format(number)), paths=2)
    assert report.broken
