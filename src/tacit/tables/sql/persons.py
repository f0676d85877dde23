"""Whom the rows of a view concern, also when the query never mentions them.

A row of a join concerns the union of the persons of its parts. A table's persons are its own person columns and,
through foreign keys, those of the tables it points to; where the query does not join such a table itself,
`PersonFinder` does.

PROMISE. Two person columns count as one only where the rows were kept by an equality of their very keys
(`tacit.language.types`): a bare column = a bare column whose keys meet. Then every row that is left has one person in
both, and listing them once lists everybody. An equality of anything else (a cast, an expression, columns whose keys do
not meet) filters rows by what was written, and both persons stay listed. Equalities of keys are transitive, because
keys that meet are equal exactly where the values are; so the classes below are the finest that this allows.

ASSUMPTION. The key that a foreign key leads to is unique. Were it shared by the rows of two persons, a row that points
to it would be there twice, once for each, and whoever takes another's key would add all their own rows to that
person's. No rule repairs this from inside a query. Such a row concerns all persons of the key, and they may be any
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

from tacit.errors import InvalidInput
from tacit.language import build
from tacit.language.expressions import Column, Comparison, Expression, columns_of, compares_keys
from tacit.tables.face.declarations import Private, Public

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.language.types import KeyType, Schema


@dataclass(frozen=True)
class PersonColumn:
    """A column that names a person whom every row of a relation concerns."""

    kind: str
    column: Column


class PersonFinder:
    """Finds the persons of a list of joined tables, adding the tables that foreign keys lead to."""

    def __init__(
        self,
        tables: Mapping[str, Private | Public],
        schemas: Mapping[str, Schema],
        key_type: Callable[[str, str], KeyType],
    ) -> None:
        self._tables, self._schemas, self._key_type = tables, schemas, key_type

    def check(self) -> None:
        """Refuse declarations that name what is not there, or foreign keys that lead in a circle."""
        for name, table in self._tables.items():
            if isinstance(table, Private):
                for person in table.persons:
                    self._exact(name, person.column, "person")
                for link in table.through:
                    if not isinstance(self._tables.get(link.table), Private):
                        raise InvalidInput(f"through leads from {name!r} to {link.table!r}, which is no private table.")
                    own, other = self._exact(name, link.column, "through"), self._exact(link.table, link.key, "through")
                    if not own.meets(other):
                        raise InvalidInput(
                            f"through leads from {name}.{link.column} to {link.table}.{link.key}, whose types are not "
                            "compared exactly; declare both as one type in schema=."
                        )
                self._walk(name, ())
        kinds: dict[str, tuple[object, KeyType]] = {}
        for name, table in self._tables.items():
            for person in table.persons if isinstance(table, Private) else ():
                told = self._key_type(name, person.column)
                first, key = kinds.setdefault(person.kind, (self._schemas[name][person.column], told))
                if first != self._schemas[name][person.column] or not key.meets(told):
                    which = f"of kind {person.kind!r} " if person.kind else ""
                    raise InvalidInput(f"person columns {which}must have one type; give different persons a kind.")

    def _exact(self, table: str, column: str, argument: str) -> KeyType:
        """The key type of a column that must tell its values apart exactly."""
        self._column(table, table, column, argument)
        kind = self._key_type(table, column)
        if not kind.exact:
            raise InvalidInput(
                f"{argument} names {table}.{column}, whose values are not told apart exactly as "
                f"{self._schemas[table][column]}; declare it as text or integer in schema=, or convert it before."
            )
        return kind

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

    def find(
        self, tables: Iterable[tuple[str, str]], conditions: Iterable[Expression]
    ) -> tuple[list[tuple[str, str]], list[Expression], list[PersonColumn]]:
        """The tables and conditions with what foreign keys add, and the persons, each once."""
        refs, kept, touched = list(tables), list(conditions), list[PersonColumn]()
        for alias, name in refs:  # grows while foreign keys are followed
            table = self._tables[name]
            if not isinstance(table, Private):
                continue
            touched += [PersonColumn(p.kind, self._column(alias, name, p.column, "person")) for p in table.persons]
            for link in table.through:
                own = self._column(alias, name, link.column, "through")
                targets = {other for other, target in refs if target == link.table}
                if not any(_ties(part, own, targets, link.key) for part in kept):
                    fresh = f"{alias} through {link.column}"
                    refs.append((fresh, link.table))
                    kept.append(build.comparison("=", own, self._column(fresh, link.table, link.key, "through")))
        names = dict(refs)
        pairs = [pair for pair in map(sides, kept) if pair is not None]
        return refs, kept, _once(touched, [pair for pair in pairs if compares_keys(*pair, names, self._key_type)])


def sides(condition: Expression) -> tuple[Column, Column] | None:
    """The two bare columns of an equality, or None."""
    equal = isinstance(condition, Comparison) and condition.operator == "="
    return columns_of(condition) if equal else None


def _ties(condition: Expression, own: Column, targets: set[str], key: str) -> bool:
    pair = sides(condition)
    if pair is None or own not in pair:
        return False
    other = pair[1] if pair[0] == own else pair[0]
    return other.table in targets and other.name == key


def _once(touched: list[PersonColumn], pairs: list[tuple[Column, Column]]) -> list[PersonColumn]:
    """One of each class of columns that some equalities of keys make one."""
    parent: dict[Column, Column] = {}

    def root(column: Column) -> Column:
        while column in parent:
            column = parent[column]
        return column

    for left, right in pairs:
        if root(left) != root(right):
            parent[root(left)] = root(right)
    first: dict[tuple[str, Column], PersonColumn] = {}
    for item in touched:
        first.setdefault((item.kind, root(item.column)), item)
    return list(first.values())
