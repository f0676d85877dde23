"""Tables that are computed inside persons: a relation may read one where it could read a table.

PROMISE. Every row of a derived table is made from rows of one person, and belongs to that person: adding a person adds
just the rows made from theirs, and changes no other. So a relation over derived tables promises what one over tables
does, to any depth, and costs nothing more. It holds because a derived table's source concerns one person per row, and
because aggregates and windows never look beyond a person (`tacit.language.inside`).

A derived table has the column ``person`` and columns of its own, by names that nobody sees. A `Listed` table is public
and has no person.

KEYS. A bare column, and the person, keeps the key of the column that it comes from beside its value, so that there is
one notion of equality however deep it stands (`key_type`). What was computed is told apart by its value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.errors import InvalidInput
from tacit.language.expressions import Column, Expression, Scalar
from tacit.language.inside import Aggregate, Window
from tacit.language.types import INTEGER, ColumnType, KeyType, Kind, key_of_values

if TYPE_CHECKING:
    from tacit.engines.requests.relation import Relation

PERSON = "person"
"""The name of the person column of a derived table; its key is that of the person column that it comes from."""

NOBODY = Column(INTEGER, "", "nobody")
"""The person of a relation of public tables alone: all its rows are nobody's, as if one person had them all."""


@dataclass(frozen=True)
class Derived(ABC):
    """A table that is computed, with columns in an order."""

    @property
    @abstractmethod
    def columns(self) -> tuple[tuple[str, ColumnType], ...]:
        """Its columns and their types, without the person."""

    @property
    @abstractmethod
    def sources(self) -> tuple[Relation, ...]:
        """What it is computed from."""

    @property
    def computed(self) -> Mapping[str, Expression]:
        """Those of its columns that are row-wise values of its source, by their names."""
        return {}

    @cached_property
    def depth(self) -> int:
        """How deep derived tables stand inside it, itself included."""
        return 1 + max((source.depth for source in self.sources), default=0)

    @cached_property
    def size(self) -> int:
        """How many tables are read inside it, each as often as it is written."""
        return 1 + sum(source.size for source in self.sources)

    def type_of(self, column: str) -> ColumnType:
        """The type of a column, the person included."""
        return self.sources[0].person.type if column == PERSON else dict(self.columns)[column]

    def origins(self, column: str) -> tuple[tuple[Relation, Column], ...]:
        """The bare columns that a column comes from, each with the relation it is a column of; none if computed."""
        (source,) = self.sources
        found = source.person if column == PERSON else self.computed.get(column)
        return ((source, found),) if isinstance(found, Column) and found != NOBODY else ()


def key_type(table: str | Derived, column: str, known: Callable[[str, str], KeyType]) -> KeyType:
    """How a column's values are told apart; ``known`` says it for tables that are there."""
    if isinstance(table, str):
        return known(table, column)
    found = [key_type(source.read_as(bare.table), bare.name, known) for source, bare in table.origins(column)]
    if found and all(found[0].meets(other) and found[0].scale == other.scale for other in found):
        narrow, exact = all(kind.narrow for kind in found), all(kind.exact for kind in found)
        return KeyType(found[0].domain, found[0].scale, narrow, exact)
    kind = table.type_of(column)
    if found and (column == PERSON or kind.kind is Kind.OTHER):
        raise InvalidInput("UNION ALL joins columns whose values are told apart in different ways; read them alike.")
    return key_of_values(kind)


@dataclass(frozen=True)
class PersonGroups(Derived):
    """One row for each person and each combination of ``by``: GROUP BY person, …, or SELECT DISTINCT."""

    source: Relation
    by: tuple[tuple[str, Expression], ...] = ()
    """A bare column is grouped by its key, and keeps it; anything else by its value."""
    aggregates: tuple[tuple[str, Aggregate], ...] = ()

    @property
    def columns(self) -> tuple[tuple[str, ColumnType], ...]:
        """What it groups by, then its aggregates."""
        return (*((name, e.type) for name, e in self.by), *((name, a.type) for name, a in self.aggregates))

    @property
    def computed(self) -> Mapping[str, Expression]:
        """What it groups by."""
        return dict(self.by)

    @property
    def sources(self) -> tuple[Relation, ...]:
        """The rows it groups."""
        return (self.source,)


@dataclass(frozen=True)
class PersonRows(Derived):
    """The rows of a relation with some of its columns, and windows over the rows of each person."""

    source: Relation
    shown: tuple[tuple[str, Expression], ...] = ()
    """A bare column keeps its key."""
    windows: tuple[tuple[str, Window], ...] = ()

    @property
    def columns(self) -> tuple[tuple[str, ColumnType], ...]:
        """What it shows, then its windows."""
        return (*((name, e.type) for name, e in self.shown), *((name, w.type) for name, w in self.windows))

    @property
    def computed(self) -> Mapping[str, Expression]:
        """What it shows."""
        return dict(self.shown)

    @property
    def sources(self) -> tuple[Relation, ...]:
        """The rows it shows."""
        return (self.source,)


@dataclass(frozen=True)
class Union(Derived):
    """UNION ALL of tables of the same kind of person, whose columns have the same names and types."""

    parts: tuple[PersonGroups | PersonRows, ...]

    @cached_property
    def depth(self) -> int:
        """It reads its parts, which others may read, too: it stands further out than they do."""
        return 1 + max(part.depth for part in self.parts)

    @property
    def columns(self) -> tuple[tuple[str, ColumnType], ...]:
        """The columns of every part."""
        return self.parts[0].columns

    @property
    def sources(self) -> tuple[Relation, ...]:
        """The rows of all parts."""
        return tuple(source for part in self.parts for source in part.sources)

    def origins(self, column: str) -> tuple[tuple[Relation, Column], ...]:
        """Those of every part; none if one of them computes it."""
        found = [part.origins(column) for part in self.parts]
        return tuple(origin for part in found for origin in part) if all(found) else ()


@dataclass(frozen=True)
class Listed(Derived):
    """A small public table written out, such as what another question has released."""

    heads: tuple[tuple[str, ColumnType], ...]
    rows: tuple[tuple[Scalar, ...], ...]

    @property
    def columns(self) -> tuple[tuple[str, ColumnType], ...]:
        """Its columns."""
        return self.heads

    @property
    def sources(self) -> tuple[Relation, ...]:
        """Nothing private."""
        return ()

    def origins(self, column: str) -> tuple[tuple[Relation, Column], ...]:
        """None: all is written out."""
        return ()
