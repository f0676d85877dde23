"""Tables that are computed inside persons: a relation may read one where it could read a table.

PROMISE. Every row of a derived table is made from rows of one person, and belongs to that person: adding a person adds
just the rows made from theirs, and changes no other. So a relation over derived tables promises what one over tables
does, to any depth, and costs nothing more. It holds because a derived table's source concerns one person per row, and
because aggregates and windows never look beyond a person (`tacit.language.inside`).

A derived table has the column ``person`` and columns of its own, by names that nobody sees. A `Listed` table is public
and has no person.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.language.expressions import Expression, Scalar
from tacit.language.inside import Aggregate, Window
from tacit.language.types import ColumnType

if TYPE_CHECKING:
    from tacit.engines.requests.relation import Relation

PERSON = "person"
"""The name of the person column of a derived table; its key is that of the person column that it comes from."""


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
        return tuple((name, column.type) for name, column in (*self.by, *self.aggregates))

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
        return tuple((name, column.type) for name, column in (*self.shown, *self.windows))

    @property
    def sources(self) -> tuple[Relation, ...]:
        """The rows it shows."""
        return (self.source,)


@dataclass(frozen=True)
class Union(Derived):
    """UNION ALL of tables of the same kind of person, whose columns have the same names and types."""

    parts: tuple[PersonGroups | PersonRows, ...]

    @property
    def columns(self) -> tuple[tuple[str, ColumnType], ...]:
        """The columns of every part."""
        return self.parts[0].columns

    @property
    def sources(self) -> tuple[Relation, ...]:
        """The rows of all parts."""
        return tuple(source for part in self.parts for source in part.sources)


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
