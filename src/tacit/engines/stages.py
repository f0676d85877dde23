"""Derived tables in a statement: each becomes parts of the script, under names of its own, however deep it stands.

A derived table that several places read is written once. It has just the columns that they ask for; so those who read
it write what they need first, and it is written after them (`Stages.parts`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.engines.columns import ColumnSQL, DerivedColumn, TableSQL
from tacit.engines.dialect import Dialect
from tacit.engines.requests.derived import PERSON, Derived, Listed, PersonGroups, PersonRows, Union, key_type
from tacit.engines.requests.relation import Relation
from tacit.engines.script import Part, Reading, fragment, join
from tacit.language.expressions import Literal
from tacit.language.types import KeyType

if TYPE_CHECKING:
    from tacit.engines.rows import Rows


@dataclass(frozen=True)
class DerivedSQL(TableSQL):
    """A derived table: the part that it is, and which readings of its columns are asked for."""

    asked: set[tuple[str, str]] = field(default_factory=set)

    def reading(self, alias: str, columns: frozenset[str]) -> Reading:
        """The part."""
        return Reading(self.source, alias)

    def ask(self, column: str, reading: str) -> None:
        """Take note of it; a double is read as a value."""
        self.asked.add((column, "value" if reading == "double" else reading))


class Stages:
    """The tables of a script, those that are there and those that are derived."""

    def __init__(
        self, dialect: Dialect, tables: Mapping[str, TableSQL], rows: Callable[[Relation, Stages, str], Rows]
    ) -> None:
        self.dialect, self._tables, self._rows = dialect, tables, rows
        self._found: dict[Derived, DerivedSQL] = {}

    def table(self, wanted: str | Derived) -> TableSQL:
        """How a table is read."""
        if isinstance(wanted, str):
            return self._tables[wanted]
        if wanted not in self._found:
            columns = {} if isinstance(wanted, Listed) else {PERSON: self._column(wanted, PERSON, "person_value")}
            for place, (name, _) in enumerate(wanted.columns):
                columns[name] = self._column(wanted, name, f"v{place}")
            self._found[wanted] = DerivedSQL(f"derived{len(self._found)}", columns)
        return self._found[wanted]

    def _column(self, table: Derived, column: str, place: str) -> ColumnSQL:
        told = key_type(table, column, self._known)
        key = "person" if column == PERSON else f"{place}_key"
        group = place if told.narrow else f"{place}_group"
        steps = told.scale if self.dialect.counts_keys else 0
        return DerivedColumn(place, "", table.type_of(column), told, key, group, steps)

    def _known(self, table: str, column: str) -> KeyType:
        return self._tables[table].columns[column].key_type

    def parts(self) -> list[Part]:
        """The parts of all derived tables, those that others read first; called once everything is asked for."""
        parts, written = list[Part](), set[Derived]()
        while len(written) < len(self._found):
            outermost = max((table for table in self._found if table not in written), key=lambda table: table.depth)
            written.add(outermost)
            parts = [*self._written(outermost, self._found[outermost]), *parts]
        return parts

    def _written(self, table: Derived, sql: DerivedSQL) -> list[Part]:
        from tacit.engines.inside import write_groups, write_rows  # they are made of rows, as this is of them

        if isinstance(table, PersonGroups):
            return write_groups(table, sql, self._rows(table.source, self, f"{sql.source}_"))
        if isinstance(table, PersonRows):
            return write_rows(table, sql, self._rows(table.source, self, f"{sql.source}_"))
        if isinstance(table, Union):
            return [self._union(table, sql)]
        if isinstance(table, Listed):
            return [self._listed(table, sql)]
        raise TypeError(type(table).__name__)

    def _listed(self, table: Listed, sql: DerivedSQL) -> Part:
        """Texts that are cast to their types, which every engine does exactly."""
        columns = [column for column, _ in table.heads]
        places = [place for place, column in enumerate(columns) if any(column == asked for asked, _ in sql.asked)]
        kinds = [kind for _, kind in table.heads]
        shown = ["1 AS present"]
        for column, reading in sorted(sql.asked):
            own, place = sql.columns[column], columns.index(column)
            value = self.dialect.listed(f"t{place}", own.kind)
            read = self.dialect.value_key(value, own.kind) if reading == "key" else value
            shown.append(f"{read} AS {placed(own, reading)}")
        written = [
            ", ".join(["1", *(self.dialect.item(Literal(kinds[place], row[place])) for place in places)])
            for row in table.rows or [(None,) * len(kinds)]
        ]
        names, nothing = ", ".join(["n", *(f"t{place}" for place in places)]), "" if table.rows else " WHERE 1 = 0"
        source = f"(VALUES {', '.join(f'({row})' for row in written)}) AS t({names})"
        return Part(sql.source, fragment(f"SELECT {', '.join(shown)} FROM {source}{nothing}"))

    def _union(self, table: Union, sql: DerivedSQL) -> Part:
        """The parts one after another; a key that not all of them share is made of the value."""
        selects = []
        for part in table.parts:
            inner = self.table(part)
            shown = ["person"]
            for column, reading in sorted(sql.asked - {(PERSON, "key")}):
                own, other = sql.columns[column], inner.columns[column]
                if reading == "key" and not table.origins(column):
                    inner.ask(column, "value")
                    read = self.dialect.value_key(f"t.{other.name}", own.kind)
                else:
                    inner.ask(column, reading)
                    read = getattr(other, reading)(f"t.{other.name}")
                shown.append(f"{read} AS {placed(own, reading)}")
            selects.append(fragment(f"SELECT {', '.join(shown)} FROM ", inner.reading("t", frozenset())))
        return Part(sql.source, join(" UNION ALL ", selects))


def placed(column: ColumnSQL, reading: str) -> str:
    """The name of a reading of a column in the part of its derived table."""
    sql: str = getattr(column, reading)(f".{column.name}")
    return sql.removeprefix(".")
