"""The tables of a session, opened: public facts about them, and the engine that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from functools import partial

from tacit.budgets import Period
from tacit.engines import Engine, open_engine
from tacit.engines.requests import Relation, key_repeats
from tacit.errors import InvalidInput, instead
from tacit.language import build
from tacit.language.expressions import Expression, Literal, Scope
from tacit.language.types import DATE, INTEGER, TIMESTAMP, Schema
from tacit.tables.face.declarations import Private, Public
from tacit.tables.sql.determined import most_groups
from tacit.tables.sql.expanding import JoinRule, check_keys, known_keys, verify_keys, verify_sizes
from tacit.tables.sql.persons import PersonFinder, tables_by_alias
from tacit.tables.sql.views import ViewBuilder


class OpenTables:
    """Declared tables in an open engine; opening them reads no row."""

    def __init__(
        self,
        tables: Mapping[str, Private | Public],
        timeout: float | None,
        *,
        expanding_joins: bool,
        max_join_rows: int,
        max_rows: int,
    ) -> None:
        _check(tables)
        self.declared = dict(tables)
        """How each table was declared."""
        self.period: Period | None = None
        """The period whose rows are asked about, of tables that have a date."""
        self.names = tuple(self.declared)
        self.private_names = tuple(name for name, table in tables.items() if isinstance(table, Private))
        """The names of the tables about persons."""
        self.engine: Engine = open_engine({name: table.source for name, table in self.declared.items()}, timeout)
        try:
            self.schemas = {name: self.engine.schema(name) for name in self.declared}
            self.check_dates()
            self._keys = known_keys(self.declared, self.engine.keys)
            self.persons = PersonFinder(self.declared, self.schemas, self.engine.key_type, self._keys)
            self.persons.check()
            check_keys(self.declared, self.schemas, self.engine.key_type)
            self.joins = JoinRule(
                self.declared,
                self._keys,
                partial(key_repeats, self.engine),
                self.persons,
                allowed=expanding_joins,
                max_join_rows=max_join_rows,
                max_rows=max_rows,
            )
        except BaseException:
            self.close()
            raise

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of person that the private tables are about; the name of the column where a kind has none."""
        declared = [p for t in self.declared.values() if isinstance(t, Private) for p in t.persons]
        return tuple(dict.fromkeys(person.kind or person.column for person in declared))

    def schema(self, name: str) -> Schema:
        """The public names and types of a table."""
        if name not in self.schemas:
            raise InvalidInput(f"there is no table {name!r}; {instead(name, self.schemas, 'tables')}")
        return self.schemas[name]

    def unit(self, relation: Relation) -> Fraction | None:
        """The public unit of floats of the table that a relation is about, or that it is derived from."""
        declared = self.declared[relation.tables[0]]
        return declared.unit if isinstance(declared, Private) else None

    def check_dates(self) -> None:
        """Refuse a date that is none."""
        for name in self.private_names:
            self.dated(name, name)

    def dated(self, name: str, alias: str) -> tuple[Expression, ...]:
        """The conditions that keep a table to the rows of the period; none without one, or where it has no date."""
        declared = self.declared[name]
        if not isinstance(declared, Private) or declared.date is None:
            return ()
        (columns,) = Scope.of(self.schemas[name], alias).tables.values()
        column = columns.get(declared.date)
        year = self.period is None or self.period.every == "year"
        if column is None or not (column.type in (DATE, TIMESTAMP) or (column.type == INTEGER and year)):
            raise InvalidInput(
                f"the date of table {name!r} must be a column of dates or times, or of whole numbers where periods are "
                f"years; {declared.date!r} is not."
            )
        if self.period is None:
            return ()
        start, end = self.period.start, self.period.end
        if column.type == INTEGER:
            return (build.comparison("=", column, build.literal(start.year)),)
        ends = (
            (start, end) if column.type == DATE else (datetime(*start.timetuple()[:3]), datetime(*end.timetuple()[:3]))
        )
        first, after = map(build.literal, ends)
        return (build.comparison(">=", column, first), build.comparison("<", column, after))

    def relation(self, name: str) -> Relation:
        """All rows of one private table."""
        return ViewBuilder(self).relation(ViewBuilder(self).table(name))

    def most_groups(self, relation: Relation, by: Sequence[Expression], keys: Sequence[tuple[Literal, ...]]) -> int:
        """In how many of these groups one person can have rows, as far as public facts tell."""
        meet = partial(self.persons.compares_keys, tables=tables_by_alias(relation))
        return most_groups(relation, by, keys, self.joins.keys_of, meet)

    def verify(self) -> None:
        """Look at the rows: raise if a declared key is not unique, or a table is too large for every question."""
        verify_keys(self.engine, self._keys)
        self.verify_sizes()

    def verify_sizes(self) -> None:
        """Look at the rows: raise if a table is too large for every question."""
        verify_sizes(self.engine, {name: self.relation(name) for name in self.private_names})

    def close(self) -> None:
        """Close files and connections."""
        self.engine.close()


def _check(tables: Mapping[str, Private | Public]) -> None:
    if not isinstance(tables, Mapping) or not any(isinstance(table, Private) for table in tables.values()):
        raise InvalidInput("tables must hold at least one Private table, such as {'orders': Private(…, person=…)}.")
    for name, table in tables.items():
        if not isinstance(name, str) or not name or not isinstance(table, Private | Public):
            raise InvalidInput("tables must map names to Private(…) or Public(…).")
