"""How many rows a join can have: counts on keys alone, before any joined row is made.

PROMISE. The number is at least that of the rows that a relation's joins have, whatever its filter: it follows from the
tables and the columns they are joined by, never from the filter or the statistic. So whether a question fails because
of it is the same for all questions over the same joins, and nobody can aim it at a person by a WHERE.

PROOF. The equalities between tables make a graph; take a spanning tree of it and leave the other equalities out, which
only adds rows. From the leaves up, every table sends its parent, for each value of the key that ties them, the number
of its own rows with that value, each times what its children sent for it: the number of rows of the tree below. The
root's sum is the number of rows of the tree. A LEFT JOIN sends at least one. Where a table is tied to several others,
as in a triangle, there is a second bound: cut it off with all that hangs on it; a row of what remains fixes all its
tied columns, so it goes with at most the largest number sent for any values of them all. The smaller bound counts.

DERIVED TABLES are read as they would be without any filter inside them (`before_filters`): their rows depend on
filters, and so do aggregates and windows, by which no join is counted. What is left has no fewer rows for any values of
the columns that are: leaving out a filter, a condition, a "semi" or "anti" join or an equality only adds rows, and
groups by fewer columns are counted as rows. A join that is tied by computed columns alone cannot be counted.

The numbers are doubles cut at 10^30 after every product and sum, so nothing overflows; whole numbers up to 2^53, and
so every number that a limit is compared with, are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from tacit.engines.requests.derived import PERSON, Derived, Listed, PersonGroups, PersonRows, Union
from tacit.engines.requests.relation import Join, Relation
from tacit.engines.requests.request import AnswerRow, Standalone
from tacit.engines.script import Fragment, Part, Piece, Reading, Script, fill, fragment
from tacit.language.expressions import Column

if TYPE_CHECKING:
    from tacit.engines.rows import Rows

MAX_JOIN_ROWS = 10**9
"""The most rows that a join may have which public facts do not bound, unless said otherwise."""

_MOST = 1e30

Pair = tuple[Column, Column]


@dataclass(frozen=True)
class JoinSize(Standalone[float]):
    """A bound of the number of a relation's joined rows."""

    def script(self, rows: Rows) -> Script:
        """For a relation before filters: by its `Bound` where that names a root, else by counts on the join keys."""
        bound, double = rows.relation.bound, rows.dialect.double
        if bound is not None and bound.root is not None:
            counted = f"SELECT CAST(COUNT(*) AS {rows.dialect.float64}) * {double(float(bound.repeats))} AS w FROM "
            return _script(rows, counted, rows.reading(bound.root))
        tree = _Tree(rows, cut=False).total()
        if not any(len(_parents(join)) > 1 for join in rows.relation.joins if join.kind in ("inner", "left")):
            return _script(rows, "SELECT ", tree, " AS w")
        return _script(rows, "SELECT LEAST(", tree, ", ", _Tree(rows, cut=True).total(), ") AS w")

    def read(self, rows: Sequence[AnswerRow]) -> float:
        """The one number."""
        ((size,),) = rows
        return float(size)


def _script(rows: Rows, *pieces: Piece) -> Script:
    sizes = Part("sizes", fragment(*pieces))
    return Script((*rows.stages.parts(), sizes), fragment("SELECT * FROM ", Reading(sizes.name)))


def before_filters(relation: Relation) -> Relation | None:
    """A relation that no filter decides about, with no fewer rows; None where a join is tied by computed columns alone.

    It is a public fact which of the two it is.
    """
    joins = []
    for join in relation.joins:
        if join.kind in ("inner", "left"):
            ties = tuple(pair for pair in join.on if all(_steady(relation, column) for column in pair))
            table = _unfiltered(join.table)
            if not ties or table is None:
                return None
            joins.append(Join(table, join.alias, ties, join.kind))
    table = _unfiltered(relation.table)
    if table is None:
        return None
    return replace(relation, table=table, joins=tuple(joins), filter=None, members=(), sample=None)


def _steady(relation: Relation, column: Column) -> bool:
    """Whether no filter decides about a column's values."""
    table = relation.read_as(column.table)
    return not isinstance(table, Derived) or column.name in _steady_columns(table)


def _steady_columns(table: Derived) -> set[str]:
    if isinstance(table, Listed):
        return set(dict(table.heads))
    if isinstance(table, Union):
        return set.intersection(*map(_steady_columns, table.parts))
    (source,) = table.sources
    computed = table.computed.items()
    return {PERSON, *(n for n, e in computed if all(_steady(source, column) for column in e.columns()))}


def _unfiltered(table: str | Derived, among: set[str] | None = None) -> str | Derived | None:
    """A table with no fewer rows and those of its columns, or of some, that no filter decides about."""
    if isinstance(table, str | Listed):
        return table
    steady = _steady_columns(table) if among is None else among
    if isinstance(table, Union):
        parts = [_unfiltered(part, steady) for part in table.parts]
        whole = tuple(part for part in parts if isinstance(part, PersonGroups | PersonRows))
        return Union(whole) if len(whole) == len(parts) else None
    source = before_filters(*table.sources)
    if source is None:
        return None
    kept = tuple((name, expression) for name, expression in table.computed.items() if name in steady)
    grouped = isinstance(table, PersonGroups) and len(kept) == len(table.by)
    return PersonGroups(source, kept) if grouped else PersonRows(source, kept)


def _parents(join: Join) -> dict[str, list[Pair]]:
    """The equalities of a join by the table they tie it to."""
    ties: dict[str, list[Pair]] = {}
    for pair in join.on:
        ties.setdefault(pair[0].table, []).append(pair)
    return ties


class _Tree:
    """A spanning tree of the equalities; with ``cut`` tables that are tied to several others stand apart."""

    def __init__(self, rows: Rows, cut: bool) -> None:
        self._rows, self._double, self._number = rows, rows.dialect.double, count()
        self._children: dict[str, list[tuple[Join, list[Pair]]]] = {}
        self._apart: list[Join] = []
        for join in rows.relation.joins:
            if join.kind in ("semi", "anti"):  # they add no row
                continue
            parents = _parents(join)
            if cut and len(parents) > 1:
                self._apart.append(join)
            else:
                parent = max(parents, key=lambda name: len(parents[name]))
                self._children.setdefault(parent, []).append((join, parents[parent]))

    def total(self) -> Fragment:
        """The bound, as one expression."""
        weight, source = self._node(self._rows.relation.alias)
        rows = f"COALESCE(SUM({weight}), {self._double(0.0)})"  # inside LEAST, which passes over NULL
        total = fragment(f"(SELECT {self._least(rows)} FROM ", source, ")")
        for join in self._apart:
            none = self._double(1.0 if join.kind == "left" else 0.0)
            sent = self._sent(join, list(join.on))
            most = fragment("COALESCE((SELECT MAX(w) FROM (", sent, f") AS sent), {none})")
            total = fill(self._least("{} * {}"), total, most)
        return total

    def _node(self, alias: str) -> tuple[str, Fragment]:
        """For each row of a table the number of rows of the tree below it, and what stands after FROM."""
        weight, joins = self._double(1.0), list[Fragment]()
        for join, pairs in self._children.get(alias, []):
            name, left = f"sent{next(self._number)}", join.kind == "left"
            ties = " AND ".join(f"{self._rows.sides(*pair)[0]} = {name}.k{i}" for i, pair in enumerate(pairs))
            word = "LEFT" if left else "INNER"
            joins.append(fragment(f" {word} JOIN (", self._sent(join, pairs), f") AS {name} ON {ties}"))
            sent = f"COALESCE({name}.w, {self._double(1.0)})" if left else f"{name}.w"
            weight = self._least(f"{weight} * {sent}")
        return weight, fragment(self._rows.reading(alias), *joins)

    def _sent(self, join: Join, pairs: list[Pair]) -> Fragment:
        """What a table sends its parent: a number w for each value of its key k0, k1, …"""
        keys = [f"{self._rows.sides(*pair)[1]} AS k{i}" for i, pair in enumerate(pairs)]
        weight, source = self._node(join.alias)
        names = ", ".join(f"k{i}" for i in range(len(pairs)))
        present = " AND ".join(f"k{i} IS NOT NULL" for i in range(len(pairs)))
        return fragment(
            f"SELECT {names}, {self._least('SUM(w)')} AS w FROM (SELECT {', '.join(keys)}, {weight} AS w FROM ",
            source,
            f") AS below WHERE {present} GROUP BY {names}",
        )

    def _least(self, sql: str) -> str:
        return f"LEAST({sql}, {self._double(_MOST)})"
