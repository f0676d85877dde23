"""How many rows a join can have, and how often keys repeat: counts on keys alone, before any joined row is made.

PROMISE. `size` is at least the number of rows that a relation's joins have, whatever its filter: the number follows
from the tables and the columns they are joined by, never from the filter or the statistic. So whether a question fails
because of it is the same for all questions over the same joins, and nobody can aim it at a person by a WHERE.

PROOF. The equalities between tables make a graph; take a spanning tree of it and leave the other equalities out, which
only adds rows. From the leaves up, every table sends its parent, for each value of the key that ties them, the number
of its own rows with that value, each times what its children sent for it: the number of rows of the tree below. The
root's sum is the number of rows of the tree. A LEFT JOIN sends at least one. Where a table is tied to several others,
as in a triangle, there is a second bound: cut it off with all that hangs on it; a row of what remains fixes all its
tied columns, so it goes with at most the largest number sent for any values of them all. The smaller bound counts.

The numbers are doubles cut at 10^30 after every product and sum, so nothing overflows; whole numbers up to 2^53, and
so every number that a limit is compared with, are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from tacit.engines.requests import Join, Relation
from tacit.engines.rows import Rows
from tacit.engines.script import Part, Script
from tacit.language.expressions import Column

if TYPE_CHECKING:
    from tacit.engines import Engine

MAX_JOIN_ROWS = 10**9
"""The most rows that a join may have which public facts do not bound, unless said otherwise."""

_MOST = 1e30

Pair = tuple[Column, Column]


@dataclass(frozen=True)
class Repeats:
    """How often the most frequent value of a key is found in a table, and how many values are found repeatedly."""

    largest: int
    repeated: int

    def __repr__(self) -> str:
        return "<how often keys repeat>"


def duplicate_keys(engine: Engine, table: str, columns: Sequence[str]) -> int:
    """How many values of a key more than one row of a table has: data, for whoever holds the table and nobody else."""
    return key_repeats(engine, table, columns).repeated


def key_repeats(engine: Engine, table: str, columns: Sequence[str]) -> Repeats:
    """How often values of a key are found; a public fact of a public table, otherwise data."""
    schema = engine.schema(table)
    with engine.snapshot() as snapshot:
        return snapshot.repeats(table, tuple(Column(schema[name], table, name) for name in columns))


def repeats(rows: Rows, columns: Sequence[Column]) -> Script:
    """The statement of `Repeats`; NULL is no value."""
    keys = [f"{rows.key(column)} AS k{i}" for i, column in enumerate(columns)]
    names = [f"k{i}" for i in range(len(columns))]
    read = f"SELECT {', '.join(keys)} FROM {_source(rows, rows.relation.alias)}"
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)
    each = f"SELECT COUNT(*) AS n FROM ({read}) AS keyed WHERE {present} GROUP BY {', '.join(names)}"
    int64 = rows.dialect.int64
    return _script(
        f"SELECT CAST(COALESCE(MAX(n), 0) AS {int64}) AS w, "
        f"CAST(COALESCE(SUM(CASE WHEN n > 1 THEN 1 ELSE 0 END), 0) AS {int64}) AS v FROM ({each}) AS grouped"
    )


def size(rows: Rows) -> Script:
    """The statement of a bound of the number of joined rows, one double."""
    bound, double = rows.relation.bound, rows.dialect.double
    if bound is not None and bound.root is not None:
        counted = f"SELECT CAST(COUNT(*) AS {rows.dialect.float64}) * {double(float(bound.repeats))} AS w"
        return _script(f"{counted} FROM {_source(rows, bound.root)}")
    tree = _Tree(rows, cut=False).total()
    if not any(len(_parents(join)) > 1 for join in rows.relation.joins):
        return _script(f"SELECT {tree} AS w")
    return _script(f"SELECT LEAST({tree}, {_Tree(rows, cut=True).total()}) AS w")


def _script(sql: str) -> Script:
    return Script((Part("sizes", sql),), "SELECT * FROM sizes")


def _source(rows: Rows, alias: str) -> str:
    return f"{rows.tables[alias].source} AS {rows.dialect.name(alias)}"


def _sides(rows: Rows, pair: Pair) -> tuple[str, str]:
    """Both sides of an equality as the join itself compares them."""
    left, right = rows.sides(*pair)
    return left, right


def _parents(join: Join) -> dict[str, list[Pair]]:
    """The equalities of a join by the table they tie it to."""
    found: dict[str, list[Pair]] = {}
    for pair in join.on:
        found.setdefault(pair[0].table, []).append(pair)
    return found


class _Tree:
    """A spanning tree of the equalities; with ``cut`` tables that are tied to several others stand apart."""

    def __init__(self, rows: Rows, cut: bool) -> None:
        self._rows, self._double, self._number = rows, rows.dialect.double, count()
        self._children: dict[str, list[tuple[Join, list[Pair]]]] = {}
        self._apart: list[Join] = []
        for join in rows.relation.joins:
            parents = _parents(join)
            if cut and len(parents) > 1:
                self._apart.append(join)
            else:
                parent = max(parents, key=lambda name: len(parents[name]))
                self._children.setdefault(parent, []).append((join, parents[parent]))

    def total(self) -> str:
        """The bound, as one expression."""
        relation: Relation = self._rows.relation
        weight, source = self._node(relation.alias)
        total = f"COALESCE((SELECT {self._least(f'SUM({weight})')} FROM {source}), {self._double(0.0)})"
        for join in self._apart:
            sent = f"SELECT MAX(w) FROM ({self._sent(join, list(join.on))}) AS sent"
            none = self._double(1.0 if join.kind == "left" else 0.0)
            total = self._least(f"{total} * COALESCE(({sent}), {none})")
        return total

    def _node(self, alias: str) -> tuple[str, str]:
        """For each row of a table the number of rows of the tree below it, and what stands after FROM."""
        weight, source = self._double(1.0), _source(self._rows, alias)
        for join, pairs in self._children.get(alias, []):
            name, left = f"sent{next(self._number)}", join.kind == "left"
            ties = " AND ".join(f"{_sides(self._rows, pair)[0]} = {name}.k{i}" for i, pair in enumerate(pairs))
            source += f" {'LEFT' if left else 'INNER'} JOIN ({self._sent(join, pairs)}) AS {name} ON {ties}"
            sent = f"COALESCE({name}.w, {self._double(1.0)})" if left else f"{name}.w"
            weight = self._least(f"{weight} * {sent}")
        return weight, source

    def _sent(self, join: Join, pairs: list[Pair]) -> str:
        """What a table sends its parent: a number w for each value of its key k0, k1, …"""
        weight, source = self._node(join.alias)
        keys = [f"{_sides(self._rows, pair)[1]} AS k{i}" for i, pair in enumerate(pairs)]
        names = ", ".join(f"k{i}" for i in range(len(pairs)))
        present = " AND ".join(f"k{i} IS NOT NULL" for i in range(len(pairs)))
        each = f"SELECT {', '.join(keys)}, {weight} AS w FROM {source}"
        return f"SELECT {names}, {self._least('SUM(w)')} AS w FROM ({each}) AS below WHERE {present} GROUP BY {names}"

    def _least(self, sql: str) -> str:
        return f"LEAST({sql}, {self._double(_MOST)})"
