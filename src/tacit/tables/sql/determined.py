"""In how many groups one person can have rows, as far as public facts tell.

RULE. A person column determines itself, what equalities of keys tie to it, and all columns of a table a key of which it
determines: such a table has at most one row for a person, so everything in it follows from who they are. A part of
GROUP BY all of whose columns are determined has one value for each person. What is left are the groups that agree in
all such parts: the largest number of them bounds in how many one person has rows. A person who is named by several
columns has as many as all of them together.

PROOF. By the order in which columns are found. An equality of keys (`tacit.language.types`) holds in every joined row,
so the tied column has the determined value. A declared key has at most one row with given values, none of them NULL, so
the rest of that row is determined too. A LEFT JOIN adds the one row its key leads to, or NULLs: which of both follows
from the values that it is joined by. Filters only remove rows.

KEYS are believed, as `tacit.tables.sql.expanding` and `tacit.tables.sql.persons` say: were a key shared by several rows
of one person, that person could be in several groups and would lose as many times the cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tacit.engines.requests import Relation
from tacit.engines.requests.derived import NOBODY
from tacit.language.expressions import Column, Comparison, Expression, Logic, columns_of
from tacit.tables.face.declarations import Key
from tacit.tables.sql.persons import Table


def most_groups(
    relation: Relation,
    by: Sequence[Expression],
    keys: Sequence[tuple[Any, ...]],
    known: Callable[[Table], Iterable[Key]],
    meet: Callable[[Column, Column], bool],
) -> int:
    """The most groups in which one person can have rows; ``meet`` as for `expanding.reach`."""
    found: Counter[str] = Counter()
    for kind, person in relation.persons:
        columns = _determined(relation, person, known, meet)
        fixed = [i for i, part in enumerate(by) if all((c.table, c.name) in columns for c in part.columns())]
        alike = Counter(tuple(key[i] for i in fixed) for key in keys)
        found[kind] += max(alike.values())
    return min(len(keys), max(found.values()))


def _determined(
    relation: Relation, person: Column, known: Callable[[Table], Iterable[Key]], meet: Callable[[Column, Column], bool]
) -> set[tuple[str, str]]:
    """The columns, with their tables' aliases, that have one value for each person; "*" stands for all of a table."""
    inner = {relation.alias: relation.table} | {j.alias: j.table for j in relation.joins if j.kind == "inner"}
    pairs = [pair for join in relation.joins if join.kind == "inner" for pair in join.on]
    pairs = [pair for pair in (*pairs, *_equalities(relation.filter, inner)) if NOBODY not in pair and meet(*pair)]
    found, before = _Columns({(person.table, person.name)}), -1
    while len(found) != before:
        before = len(found)
        for left, right in pairs:
            for near, far in ((left, right), (right, left)):
                if (near.table, near.name) in found:
                    found.add((far.table, far.name))
        for alias, table in inner.items():
            if any(all((alias, name) in found for name in key) for key in known(table)):
                found.add((alias, "*"))
        for join in relation.joins:
            tied = {right.name for left, right in join.on if (left.table, left.name) in found and meet(left, right)}
            every = all((left.table, left.name) in found for left, _ in join.on)
            if join.kind == "left" and every and any(set(key) <= tied for key in known(join.table)):
                found.add((join.alias, "*"))
    return found


class _Columns(set[tuple[str, str]]):
    """Columns, in which a table's "*" stands for all of them."""

    def __contains__(self, column: object) -> bool:
        return super().__contains__(column) or (isinstance(column, tuple) and super().__contains__((column[0], "*")))


def _equalities(condition: Expression | None, inner: Mapping[str, Table]) -> list[tuple[Column, Column]]:
    """Equalities of bare columns that a filter asks of every row."""
    if isinstance(condition, Logic) and condition.operator == "AND":
        return [pair for each in condition.operands for pair in _equalities(each, inner)]
    if isinstance(condition, Comparison) and condition.operator == "=" and (pair := columns_of(condition)):
        return [pair] if all(column.table in inner for column in pair) else []
    return []
