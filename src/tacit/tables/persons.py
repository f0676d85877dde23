"""Whom the rows of a view concern, also when the query never mentions them.

A row of a join concerns the union of the persons of its parts. A table's persons are its own person columns and,
through foreign keys, those of the tables it points to; where the query does not join such a table itself, the planner
does. Two columns that the query declares equal name one person.

ASSUMPTION. The key that a foreign key leads to is unique. Were it shared by the rows of two persons, a row that points
to it would be there twice, once for each, and whoever takes another's key would add all their own rows to that
person's. No rule repairs this from inside a plan. Such a row concerns all persons of the key, and they may be any
number: listed as columns, some are left out, and the row goes with one of them that it does not name; left out
altogether, a row of one person goes when another takes the key; kept for one of them, whom depends on the others. So
the key is unique because the source enforces it (a PRIMARY KEY or UNIQUE constraint of PostgreSQL or DuckDB), or on
the custodian's word, which `Session.verify` and the start of Serve compare with the rows there are. Where rows change
later, a constraint is the only safe way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines import build
from tacit.engines.expressions import Cast, Column, Comparison, Expression
from tacit.errors import InvalidInput
from tacit.tables.declare import Private, Public

if TYPE_CHECKING:
    from tacit.engines.types import Schema


@dataclass(frozen=True)
class Touched:
    """A column that names a person whom every row of a relation concerns."""

    kind: str
    column: Column


class Touching:
    """Finds the persons of a list of joined tables, adding the tables that foreign keys lead to."""

    def __init__(self, tables: Mapping[str, Private | Public], schemas: Mapping[str, Schema]) -> None:
        self._tables, self._schemas = tables, schemas

    def check(self) -> None:
        """Refuse declarations that name what is not there, or foreign keys that lead in a circle."""
        for name, table in self._tables.items():
            if isinstance(table, Private):
                for person in table.persons:
                    self._column(name, name, person.column, "person")
                for link in table.through:
                    if not isinstance(self._tables.get(link.table), Private):
                        raise InvalidInput(f"through leads from {name!r} to {link.table!r}, which is no private table.")
                    self._column(name, name, link.column, "through")
                    self._column(link.table, link.table, link.key, "through")
                self._walk(name, ())
        kinds: dict[str, set[object]] = {}
        for name, table in self._tables.items():
            for person in table.persons if isinstance(table, Private) else ():
                kinds.setdefault(person.kind, set()).add(self._schemas[name][person.column])
        for kind, types in kinds.items():
            if len(types) > 1:
                which = f"of kind {kind!r} " if kind else ""
                raise InvalidInput(f"person columns {which}must have one type; give different persons a kind.")

    def _walk(self, name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise InvalidInput(f"through leads in a circle: {' to '.join((*path, name))}; leave one of them out.")
        table = self._tables[name]
        for link in table.through if isinstance(table, Private) else ():
            self._walk(link.table, (*path, name))

    def _column(self, alias: str, table: str, column: str, argument: str) -> Column:
        schema = self._schemas[table]
        if column not in schema:
            raise InvalidInput(
                f"{argument} names a column {column!r} that table {table!r} does not have; its columns are "
                f"{', '.join(schema)}."
            )
        return Column(schema[column], alias, column)

    def of(
        self, tables: Iterable[tuple[str, str]], conditions: Iterable[Expression]
    ) -> tuple[list[tuple[str, str]], list[Expression], list[Touched]]:
        """The tables and conditions with what foreign keys add, and the persons, each once."""
        refs, found, touched = list(tables), list(conditions), list[Touched]()
        for alias, name in refs:  # grows while foreign keys are followed
            table = self._tables[name]
            if not isinstance(table, Private):
                continue
            touched += [Touched(p.kind, self._column(alias, name, p.column, "person")) for p in table.persons]
            for link in table.through:
                own = self._column(alias, name, link.column, "through")
                targets = {other for other, target in refs if target == link.table}
                if not any(_ties(part, own, targets, link.key) for part in found):
                    fresh = f"{alias} through {link.column}"
                    refs.append((fresh, link.table))
                    found.append(build.comparison("=", own, self._column(fresh, link.table, link.key, "through")))
        return refs, found, _once(touched, found)


def sides(condition: Expression) -> tuple[Column, Column] | None:
    """The two columns of an equality between columns, or None."""
    if not isinstance(condition, Comparison) or condition.operator != "=":
        return None
    a, b = (side.operand if isinstance(side, Cast) else side for side in (condition.left, condition.right))
    return (a, b) if isinstance(a, Column) and isinstance(b, Column) else None


def _ties(condition: Expression, own: Column, targets: set[str], key: str) -> bool:
    pair = sides(condition)
    if pair is None or own not in pair:
        return False
    other = pair[1] if pair[0] == own else pair[0]
    return other.table in targets and other.name == key


def _once(touched: list[Touched], conditions: list[Expression]) -> list[Touched]:
    """One of each class of columns that the conditions make equal."""
    parent: dict[Column, Column] = {}

    def root(column: Column) -> Column:
        while column in parent:
            column = parent[column]
        return column

    for condition in conditions:
        if (pair := sides(condition)) is not None and root(pair[0]) != root(pair[1]):
            parent[root(pair[0])] = root(pair[1])
    first: dict[tuple[str, Column], Touched] = {}
    for item in touched:
        first.setdefault((item.kind, root(item.column)), item)
    return list(first.values())
