"""Nested queries listed row by row, over many worlds at once, and random ones.

A world is one dataset; its persons have names of their own, so that one statement lists all worlds, and what is
computed inside persons never mixes them. With R_w the rows of a world and R_v those of the world without a person,

    R_v = R_w without the rows of that person,        as multisets of (person, every value).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from tacit import Session
from tacit.engines.duckdb.dialect import DIALECT
from tacit.engines.requests import Relation
from tacit.engines.rows import Rows
from tacit.engines.script import ALL_ROWS, Script, fragment
from tacit.language.expressions import Column, Expression
from tacit.tables.sql.queries import parse_select
from tacit.tables.sql.views import ViewBuilder

WORLD = 1000
"""A person's name is the number of the world times this, plus who it is."""

Listing = dict[int, Counter[tuple[Any, ...]]]
"""For each world its rows: who, then the values."""


def planned(session: Session, query: str) -> tuple[Relation, list[Expression]]:
    """The relation of a nested query, and its columns without the person."""
    builder = ViewBuilder(session._tables)
    view = builder.rows(parse_select(query), {})
    relation = builder.relation(view)
    classes = session._tables.persons.classes(relation)
    person = classes.of(relation.person)
    (columns,) = view.scope.tables.values()
    return relation, [c for c in columns.values() if not (isinstance(c, Column) and classes.of(c) == person)]


def listed(session: Session, relation: Relation, columns: Sequence[Expression]) -> Listing:
    """Every row of a relation, by world, as the engine computes it."""
    engine: Any = session._tables.engine
    rows = Rows(DIALECT, relation, {name: table.sql for name, table in engine.tables.items()})
    names = [rows.plain(column) for column in columns]
    asked = fragment(f"SELECT {', '.join(['person', *names])} FROM ", ALL_ROWS)
    script = Script(tuple(rows.parts()), asked)
    found: Listing = defaultdict(Counter)
    with engine.snapshot() as snapshot:
        for person, *values in snapshot.fetch_rows(script):
            world, who = divmod(int(person), WORLD)
            found[world][(who, *values)] += 1
    return found


def moved(rows: Listing, pairs: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Of (world, who, the world without them), those in which rows of others move, too."""
    wrong = []
    for world, who, without in pairs:
        left = Counter({row: count for row, count in rows[world].items() if row[0] != who})
        if left != rows[without]:
            wrong.append((world, who, without))
    return wrong


class Nested:
    """Random nested queries over tables with the columns who, g and v."""

    def __init__(self, draw: Random, tables: Sequence[str]) -> None:
        self._draw, self._tables, self._number = draw, tables, 0

    def query(self, depth: int) -> str:
        """A subquery in FROM, with a filter around it."""
        return f"SELECT COUNT(*) FROM ({self._rows(depth)}) AS q WHERE v IS NOT NULL OR g IS NULL"

    def _rows(self, depth: int) -> str:
        if depth == 0:
            return f"SELECT who, g, v FROM {self._draw.choice(self._tables)}"
        kind = self._draw.choice(KINDS)
        parts = {name: self._rows(self._draw.randrange(depth)) for name in ("T", "S") if "{" + name + "}" in kind}
        self._number += 1
        names = {"t": f"t{self._number}", "s": f"s{self._number}"}
        return kind.format(
            **parts,
            **names,
            agg=self._draw.choice(("SUM", "MIN", "MAX", "COUNT")),
            win=self._draw.choice(WINDOWS),
            no=self._draw.choice(("", "NOT ")),
            all=self._draw.choice(("", " ALL")),
            op=self._draw.choice((">", "<=", "=")),
        )


WINDOWS = (
    "ROW_NUMBER()", "RANK()", "DENSE_RANK()", "LAG(v)", "LEAD(v, 2)", "SUM(v)", "COUNT(*)", "MAX(v)",
    "FIRST_VALUE(v)", "LAST_VALUE(v)",
)  # fmt: skip

KINDS = (
    "SELECT who, g, {agg}(v) AS v FROM ({T}) AS {t} GROUP BY who, g",
    "SELECT who, MIN(g) AS g, {agg}(v) AS v FROM ({T}) AS {t} GROUP BY who HAVING COUNT(*) {op} 1",
    "SELECT who, MAX(g) AS g, COUNT(DISTINCT v) AS v FROM ({T}) AS {t} GROUP BY 1",
    "SELECT who, g, {win} OVER (PARTITION BY who ORDER BY v, g) AS v FROM ({T}) AS {t}",
    "SELECT who, g, {win} OVER (PARTITION BY who, g ORDER BY v DESC, g) AS v FROM ({T}) AS {t}",
    "SELECT who, g, v FROM ({T}) AS {t} QUALIFY ROW_NUMBER() OVER (PARTITION BY who ORDER BY g, v) {op} 2",
    "SELECT DISTINCT who, g, v FROM ({T}) AS {t}",
    "{T} UNION{all} {S}",
    "SELECT who, g, v FROM ({T}) AS {t} WHERE g {no}IN (SELECT g FROM ({S}) AS {s} WHERE {s}.who = {t}.who)",
    "SELECT who, g, v FROM ({T}) AS {t} WHERE who {no}IN (SELECT who FROM ({S}) AS {s})",
    "SELECT who, g, v FROM ({T}) AS {t} "
    "WHERE {no}EXISTS (SELECT 1 FROM ({S}) AS {s} WHERE {s}.who = {t}.who AND {s}.v {op} {t}.v)",
    "SELECT who, g, v FROM ({T}) AS {t} "
    "WHERE v > 2 OR {no}EXISTS (SELECT 1 FROM ({S}) AS {s} WHERE {s}.who = {t}.who AND {s}.g = {t}.g)",
    "SELECT who, g, v FROM ({T}) AS {t} "
    "WHERE (g {no}IN (SELECT g FROM ({S}) AS {s} WHERE {s}.who = {t}.who)) IS NOT TRUE",
    "SELECT who, g, (SELECT {agg}(v) FROM ({S}) AS {s} WHERE {s}.who = {t}.who) AS v FROM ({T}) AS {t}",
    "SELECT {t}.who, {s}.g, COALESCE({s}.v, 0) + {t}.v AS v FROM ({T}) AS {t} "
    "LEFT JOIN ({S}) AS {s} ON {t}.who = {s}.who AND {t}.g = {s}.g AND {s}.v {op} 2",
    "SELECT {s}.who, {s}.g, {t}.v FROM ({T}) AS {t} JOIN ({S}) AS {s} ON {t}.who = {s}.who WHERE {t}.v {op} {s}.v",
    "SELECT who, g, v + 1 AS v FROM ({T}) AS {t} WHERE g = 'a' OR v {op} 1",
)  # fmt: skip
"""Ways to make a table of one person's rows out of others."""
