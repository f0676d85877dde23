"""Whom the rows of a view concern, also when the query never mentions them.

A row of a join concerns the union of the persons of its parts. A table's persons are its own person columns and,
through foreign keys, those of the tables it points to; where the query does not join such a table itself,
`PersonFinder` does. A derived table's rows concern the one person of the rows they are made from.

PROMISE. Two person columns count as one only where every row that is left has one person in both; then listing them
once lists everybody. That is known from two kinds of fact:
- the rows were kept by an equality of their very keys (`tacit.language.types`): a bare column = a bare column whose
  keys meet. An equality of anything else (a cast, an expression, columns whose keys do not meet) filters rows by what
  was written, and both persons stay listed;
- both are the person of one row: a row of a table is found by a declared key, and so are its persons. Where a column is
  such a key, or a foreign key that leads to one, it is a *root* of the person. Two persons with the same root, whose
  columns equalities of keys make equal, are one. So l2.order = l1.order ties two lines of one order, although neither
  names the customer.
Equalities of keys are transitive, because keys that meet are equal exactly where the values are; so the classes below
are the finest that this allows. A derived table keeps the roots whose columns it shows as they are.

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

from tacit.engines.requests.derived import NOBODY, PERSON, Derived, PersonGroups, PersonRows, Union, key_type
from tacit.engines.requests.relation import Relation
from tacit.errors import InvalidInput, instead
from tacit.language import build
from tacit.language.expressions import Column, Comparison, Expression, Logic, columns_of
from tacit.language.types import BOOLEAN
from tacit.tables.face.declarations import Key, Private, Public

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.language.types import KeyType, Schema

Table = str | Derived
"""What a relation reads: a table of the session by its name, or one that is computed."""
Root = tuple[tuple[str, ...], tuple[Column, ...]]
"""Which person of which table, step by step through foreign keys, and the columns that hold a key of that table."""
Roots = tuple[tuple[tuple[str, ...], Key], ...]
"""The roots that a derived table keeps, by the names of its columns."""


@dataclass(frozen=True)
class PersonColumn:
    """A column that names a person whom every row of a relation concerns."""

    kind: str
    column: Column
    roots: tuple[Root, ...] = ()


class Classes:
    """Which columns hold one key in every row, by some equalities."""

    def __init__(self, pairs: Iterable[tuple[Column, Column]]) -> None:
        self._parent: dict[Column, Column] = {}
        for left, right in pairs:
            self.unite(left, right)

    def of(self, column: Column) -> Column:
        """The column that stands for all that are equal to one."""
        while column in self._parent:
            column = self._parent[column]
        return column

    def unite(self, left: Column, right: Column) -> None:
        """Both are equal from now on."""
        if self.of(left) != self.of(right):
            self._parent[self.of(left)] = self.of(right)


class PersonFinder:
    """Finds the persons of a list of joined tables, adding the tables that foreign keys lead to."""

    def __init__(
        self,
        tables: Mapping[str, Private | Public],
        schemas: Mapping[str, Schema],
        key_type: Callable[[str, str], KeyType],
        keys: Mapping[str, Iterable[Key]] | None = None,
    ) -> None:
        self._tables, self._schemas, self._key_type, self._keys = tables, schemas, key_type, keys or {}
        self._known_roots: dict[Derived, Roots] = {}

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
                f"{argument} names a column {column!r} that table {table!r} does not have; {instead(column, schema)}"
            )
        return Column(schema[column], alias, column)

    # ---- keys of derived tables ---------------------------------------------------------------------------------

    def private(self, table: Table) -> bool:
        """Whether the rows of a table concern persons."""
        if isinstance(table, Derived):
            return any(source.person != NOBODY for source in table.sources)
        return isinstance(self._tables[table], Private)

    def key_type(self, table: Table, column: str) -> KeyType:
        """How a column's values are told apart, in a derived table too."""
        return key_type(table, column, self._key_type)

    def compares_keys(self, left: Column, right: Column, tables: Mapping[str, Table]) -> bool:
        """Whether an equality of two columns compares their very keys; a column of an unknown alias has none."""
        if left == NOBODY:
            return right.name == PERSON
        if left.table not in tables or right.table not in tables:
            return False
        return self.key_type(tables[left.table], left.name).meets(self.key_type(tables[right.table], right.name))

    # ---- persons ------------------------------------------------------------------------------------------------

    def find(
        self, tables: Iterable[tuple[str, Table]], conditions: Iterable[Expression]
    ) -> tuple[list[tuple[str, Table]], list[Expression], list[PersonColumn]]:
        """The tables and conditions with what foreign keys add, and the persons, each once."""
        refs, kept = self._followed(tables, conditions)
        classes = self._classes(dict(refs), kept)
        return refs, kept, _once(self._touched(dict(refs), classes), classes)

    def tied(
        self,
        tables: tuple[tuple[str, Table], ...],
        conditions: Iterable[Expression],
        further: tuple[tuple[str, Table], ...],
        ties: Iterable[Expression],
    ) -> PersonColumn | None:
        """The person of some rows whom the rows of further tables that match them are about, and nobody else."""
        own, kept, before = self.find(tables, conditions)
        refs, kept = self._followed((*own, *further), (*kept, *ties))
        classes = self._classes(dict(refs), kept)
        after = self._touched(dict(refs), classes)
        known = {(item.kind, classes.of(item.column)): item for item in reversed(before)}
        found = [known.get((item.kind, classes.of(item.column))) for item in after]
        if not before or None in found:
            return None  # somebody is added; that ties make persons one who were two does not make up for it
        added = {alias for alias, _ in refs[len(own) :]}
        return next((held for held, item in zip(found, after, strict=True) if item.column.table in added), before[0])

    def _followed(
        self, tables: Iterable[tuple[str, Table]], conditions: Iterable[Expression]
    ) -> tuple[list[tuple[str, Table]], list[Expression]]:
        """The tables and conditions with what foreign keys add."""
        refs, kept = list(tables), list(conditions)
        for alias, name in refs:  # grows while foreign keys are followed
            table = None if isinstance(name, Derived) else self._tables[name]
            for link in table.through if isinstance(table, Private) else ():
                assert isinstance(name, str)
                own = self._column(alias, name, link.column, "through")
                targets = {other for other, target in refs if target == link.table}
                if not any(_ties(part, own, targets, link.key) for part in kept):
                    fresh = f"{alias} through {link.column}"
                    refs.append((fresh, link.table))
                    kept.append(build.comparison("=", own, self._column(fresh, link.table, link.key, "through")))
        return refs, kept

    def classes(self, relation: Relation) -> Classes:
        """Which columns of a relation are equal in every row."""
        tables = {relation.alias: relation.table}
        kept: list[Expression] = []
        for join in relation.joins:
            if join.kind == "inner":
                tables[join.alias] = join.table
                kept += [Comparison(BOOLEAN, "=", *pair) for pair in join.on]
        classes = self._classes(tables, [*kept, *conjuncts(relation.filter)])
        self._touched(tables, classes)
        return classes

    def roots(self, relation: Relation) -> tuple[Root, ...]:
        """The roots of the one person whom each row concerns."""
        tables = {relation.alias: relation.table} | {j.alias: j.table for j in relation.joins if j.kind == "inner"}
        classes = self.classes(relation)
        touched = self._touched(tables, classes)
        own = [item for item in touched if classes.of(item.column) == classes.of(relation.person)]
        return tuple(dict.fromkeys(root for item in own for root in item.roots))

    def determined(self, relation: Relation, columns: Iterable[Expression]) -> bool:
        """Whether rows that agree in some columns concern one person: the person, or a root, is among them."""
        if relation.person == NOBODY:
            return True
        classes = self.classes(relation)
        known = {classes.of(column) for column in columns if isinstance(column, Column)}
        roots = self.roots(relation)
        return classes.of(relation.person) in known or any(
            all(classes.of(column) in known for column in held) for _, held in roots
        )

    def one_each(self, relation: Relation, columns: Iterable[Column]) -> Column | None:
        """One of some columns where rows that agree in all of them concern one and the same person; else None."""
        given = list(columns)
        if relation.others:
            names = tables_by_alias(relation)
            return next((column for column in given if self._names_person(names[column.table], column.name)), None)
        if not given or relation.person == NOBODY or not self.determined(relation, given):
            return None
        return next((column for column in given if self.determined(relation, [column])), given[0])

    def _names_person(self, table: Table, column: str) -> bool:
        if isinstance(table, Derived):
            return column == PERSON
        declared = self._tables[table]
        return isinstance(declared, Private) and column in (person.column for person in declared.persons)

    def _classes(self, tables: Mapping[str, Table], kept: Iterable[Expression]) -> Classes:
        pairs = [pair for pair in map(sides, kept) if pair is not None]
        return Classes(pair for pair in pairs if self.compares_keys(*pair, tables))

    def _touched(self, tables: Mapping[str, Table], classes: Classes) -> list[PersonColumn]:
        """The person columns of some tables, those that are one united in the classes."""
        leading: dict[str, list[tuple[str, str]]] = {}
        for alias, name in tables.items():
            if isinstance(name, Derived):
                continue
            table = self._tables[name]
            for link in table.through if isinstance(table, Private) else ():
                own = classes.of(self._column(alias, name, link.column, "through"))
                for other, target in tables.items():
                    if target == link.table and classes.of(self._column(other, link.table, link.key, "")) == own:
                        leading.setdefault(other, []).append((alias, link.column))
        touched = []
        for alias, name in tables.items():
            if isinstance(name, Derived):
                touched += self._of_derived(alias, name)
                continue
            table = self._tables[name]
            for person in table.persons if isinstance(table, Private) else ():
                roots = tuple(self._walk_back(alias, (person.column,), tables, leading))
                column = self._column(alias, name, person.column, "person")
                touched.append(PersonColumn(person.kind, column, roots))
        found: dict[tuple[str, tuple[str, ...], tuple[Column, ...]], Column] = {}
        for item in touched:
            for path, columns in item.roots:
                root = (item.kind, path, tuple(classes.of(column) for column in columns))
                classes.unite(item.column, found.setdefault(root, item.column))
        return touched

    def _walk_back(
        self,
        alias: str,
        path: tuple[str, ...],
        tables: Mapping[str, Table],
        leading: Mapping[str, list[tuple[str, str]]],
    ) -> Iterable[Root]:
        """The roots of a person: keys of the table that names it, and of those whose foreign keys lead there."""
        name = tables[alias]
        assert isinstance(name, str)
        for key in self._keys[name]:
            yield (name, *path), tuple(self._column(alias, name, column, "key") for column in key)
        for other, column in leading.get(alias, ()):
            yield from self._walk_back(other, (column, name, *path), tables, leading)

    def _of_derived(self, alias: str, table: Derived) -> list[PersonColumn]:
        if not self.private(table):
            return []
        source, kinds = table.sources[0], dict(table.columns)
        kinds[PERSON] = source.person.type
        roots = tuple(
            (path, tuple(Column(kinds[n], alias, n) for n in key)) for path, key in self._derived_roots(table)
        )
        return [PersonColumn(source.kind, Column(source.person.type, alias, PERSON), roots)]

    def _derived_roots(self, table: Derived) -> Roots:
        if table not in self._known_roots:
            self._known_roots[table] = self._find_roots(table)
        return self._known_roots[table]

    def _find_roots(self, table: Derived) -> Roots:
        if isinstance(table, Union):
            common = [set(self._derived_roots(part)) for part in table.parts]
            return tuple(sorted(set.intersection(*common)))
        if not isinstance(table, PersonGroups | PersonRows):
            return ()
        classes, kept = self.classes(table.source), []
        shown = {classes.of(table.source.person): PERSON}
        for name, expression in table.by if isinstance(table, PersonGroups) else table.shown:
            if isinstance(expression, Column):
                shown.setdefault(classes.of(expression), name)
        for path, columns in self.roots(table.source):
            names = [shown.get(classes.of(column)) for column in columns]
            if None not in names:
                kept.append((path, tuple(str(name) for name in names)))
        return tuple(dict.fromkeys(kept))

    def unique(self, table: Derived) -> set[Key]:
        """Columns of a derived table that no two of its rows share."""
        if isinstance(table, PersonGroups):
            by = tuple(name for name, _ in table.by)
            alone = by and self.determined(table.source, [expression for _, expression in table.by])
            return {(PERSON, *by), *([by] if alone else [])}
        if isinstance(table, PersonRows) and not table.source.joins and isinstance(table.source.table, str):
            names = {column.name: name for name, column in table.shown if isinstance(column, Column)}
            names[table.source.person.name] = PERSON
            keys = self._keys[table.source.table]
            return {tuple(names[column] for column in key) for key in keys if set(key) <= set(names)}
        return set()


def tables_by_alias(relation: Relation) -> dict[str, Table]:
    """The tables of a relation by the names it gives them."""
    return {relation.alias: relation.table} | {join.alias: join.table for join in relation.joins}


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """The conditions that AND puts together, at any depth."""
    if isinstance(condition, Logic) and condition.operator == "AND":
        return tuple(part for operand in condition.operands for part in conjuncts(operand))
    return () if condition is None else (condition,)


def _once(touched: Iterable[PersonColumn], classes: Classes) -> list[PersonColumn]:
    """One of each class of columns that are one person."""
    first: dict[tuple[str, Column], PersonColumn] = {}
    for item in touched:
        first.setdefault((item.kind, classes.of(item.column)), item)
    return list(first.values())


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
