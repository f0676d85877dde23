"""The rows a question is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tacit.engines.requests.derived import NOBODY, PERSON, Derived, PersonGroups, PersonRows
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language import expressions
from tacit.language.expressions import Column, Expression
from tacit.language.types import BOOLEAN, INTEGER, Kind

SAMPLE_STEPS = 2**60
"""The chance of a person to be sampled is a multiple of one over this; `Dialect.number` has as many values."""


@dataclass(frozen=True)
class Join:
    """A table joined by equality; whose persons its rows concern is for the relation to say.

    A private table on the right of a "left", "semi" or "anti" join is tied by the person of the rows on its left, so
    that no row depends on another person's. "semi" keeps rows that have a match, "anti" those that have none; neither
    shows a column of the right side.
    """

    table: str | Derived
    alias: str
    on: tuple[tuple[Column, Column], ...]
    kind: Literal["inner", "left", "semi", "anti"] = "inner"
    condition: Expression | None = None
    """What else must be true of both sides for a match; of a "left", "semi" or "anti" join only."""

    def __post_init__(self) -> None:
        if not self.on:
            raise InvalidInput("a join needs at least one equality between the tables; write ON a = b.")
        for left, right in self.on:
            exact = left.type.exact_number and right.type.exact_number
            if Kind.OTHER in (left.type.kind, right.type.kind) or not (exact or left.type == right.type):
                raise InvalidInput(f"a join compares {left.type} with {right.type}; use key columns of one kind.")
        if self.condition is not None:
            _check_condition(self.condition, self.kind)


SIMPLE = (
    expressions.Column,
    expressions.Literal,
    expressions.Comparison,
    expressions.Logic,
    expressions.Not,
    expressions.IsNull,
    expressions.In,
    expressions.Like,
    expressions.Coalesce,
    expressions.Arithmetic,
    expressions.DaysBetween,
    expressions.Extract,
    expressions.DateTrunc,
    expressions.Cast,
)
"""What the condition of a join may be made of; anything else is computed in a derived table before the join."""

LARGEST_CONDITION = 100
"""The most nodes of such a condition."""


def _check_condition(condition: Expression, kind: str) -> None:
    """Refuse a condition that an engine would have to write many times over."""
    if kind == "inner" or condition.type != BOOLEAN:
        raise InvalidInput("the condition of a join is a truth value, and that of an inner join a filter.")
    if not simple(condition):
        raise UnsupportedQuery(
            "a condition of JOIN, IN or EXISTS computes too much; compare columns, sums or differences of them, or "
            "days between dates, as in a.day - b.day <= 30."
        )


def simple(expression: Expression) -> bool:
    """Whether an expression may stand in the condition of a join."""
    return expression.extent[0] <= LARGEST_CONDITION and _simple(expression, 2)


def _simple(expression: Expression, left: int) -> bool:
    """Whether an expression is made of simple nodes, and arithmetic stands at most ``left`` deep in itself."""
    left -= isinstance(expression, expressions.Arithmetic)
    return isinstance(expression, SIMPLE) and left >= 0 and all(_simple(part, left) for part in expression.children())


@dataclass(frozen=True)
class Membership:
    """Only persons whose least ``place`` over all their rows, those that a filter leaves out included, is ``wanted``.

    A person has one least place, so persons of different places are different persons.
    """

    place: Expression
    wanted: int


@dataclass(frozen=True, repr=False)
class Sample:
    """Only persons whose keyed hash is below ``steps`` of `SAMPLE_STEPS`; the key is secret and never reused."""

    steps: int
    key: bytes

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= SAMPLE_STEPS or len(self.key) < 16:
            raise InvalidInput(f"a sample takes 1 to {SAMPLE_STEPS} steps and a key of at least 16 secret bytes.")


@dataclass(frozen=True)
class Bound:
    """The most rows that a relation's joins may have before any filter, compared before the first of them is made.

    With ``root`` public facts say that each row of that table is in at most ``repeats`` of the joined ones; without it
    counts on the join keys say how many there can be (`JoinSize`).
    """

    most: int
    root: str | None = None
    repeats: int = 1


@dataclass(frozen=True)
class Relation:
    """The rows a question is about: a private table, its person column, joins and a filter.

    Derived columns need no place of their own: an expression contains what it is derived from.
    """

    table: str | Derived
    alias: str
    person: Column
    joins: tuple[Join, ...] = ()
    filter: Expression | None = None
    others: tuple[tuple[str, Column], ...] = ()
    """Further persons whom every row concerns, each with its kind; only `Incidence` may then be asked."""
    kind: str = ""
    """The kind of ``person``."""
    members: tuple[Membership, ...] = ()
    """Which persons belong; only where a row concerns one."""
    sample: Sample | None = field(default=None, repr=False)
    """Which of them are sampled; only where a row concerns one."""
    bound: Bound | None = field(default=None, repr=False, compare=False)
    """How many rows there may be, where that is to be compared; no part of the question."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Every table that is read, inside derived ones too."""
        named = [table for table in self._read if isinstance(table, str)]
        return tuple(dict.fromkeys([*named, *(name for source in self._sources for name in source.tables)]))

    @property
    def every(self) -> tuple[Relation, ...]:
        """This relation and all that derived tables are computed from, the innermost first."""
        return (*dict.fromkeys(inner for source in self._sources for inner in source.every), self)

    @property
    def depth(self) -> int:
        """How deep derived tables stand inside one another."""
        return max((table.depth for table in self._read if isinstance(table, Derived)), default=0)

    @property
    def size(self) -> int:
        """How many tables are read, inside derived ones too, each as often as it is written."""
        return sum(table.size if isinstance(table, Derived) else 1 for table in self._read)

    @property
    def one_row_each(self) -> bool:
        """Whether a person has one row at most, which is a public fact: a row and its person are then the same."""
        if self.others or not _one_each(self.table, self.alias, self.person):
            return False
        return all(
            join.kind in ("semi", "anti")
            or any(left == self.person and _one_each(join.table, join.alias, right) for left, right in join.on)
            for join in self.joins
        )

    def read_as(self, alias: str) -> str | Derived:
        """The table under an alias."""
        return {self.alias: self.table, **{join.alias: join.table for join in self.joins}}[alias]

    def origins(self, column: Column) -> tuple[tuple[str, str], ...]:
        """The columns of tables that a column of the relation is, each as table and name; none if it is computed."""
        if column == NOBODY:
            return ()
        table = self.read_as(column.table)
        if isinstance(table, str):
            return ((table, column.name),)
        return tuple(place for source, bare in table.origins(column.name) for place in source.origins(bare))

    @property
    def _read(self) -> tuple[str | Derived, ...]:
        return (self.table, *(join.table for join in self.joins))

    @property
    def _sources(self) -> tuple[Relation, ...]:
        return tuple(source for table in self._read if isinstance(table, Derived) for source in table.sources)

    @property
    def persons(self) -> tuple[tuple[str, Column], ...]:
        """All person columns with their kinds."""
        return ((self.kind, self.person), *self.others)

    def __post_init__(self) -> None:
        if self.filter is not None and self.filter.type != BOOLEAN:
            raise InvalidInput(
                f"filter must be true or false for each row, not {self.filter.type}; write a comparison."
            )
        if self.members and (self.others or any(member.place.type != INTEGER for member in self.members)):
            raise InvalidInput("persons are told apart by a whole number, and only where a row concerns one person.")
        if self.sample and self.others:
            raise InvalidInput("persons are sampled only where a row concerns one person.")
        aliases = [self.alias, *(join.alias for join in self.joins)]
        if len(set(aliases)) < len(aliases):
            raise InvalidInput("each table of a join needs its own name; write AS other_name.")
        hidden = {join.alias for join in self.joins if join.kind in ("semi", "anti")}
        if self.filter is not None and any(column.table in hidden for column in self.filter.columns()):
            raise InvalidInput("EXISTS and IN show no column of their table; compare with it inside.")


def _one_each(table: str | Derived, alias: str, person: Column) -> bool:
    """Whether a table has one row at most for each value of a column, which is its person."""
    if (person.table, person.name) != (alias, PERSON):
        return False
    if isinstance(table, PersonRows):
        return table.source.one_row_each
    return isinstance(table, PersonGroups) and (not table.by or table.source.one_row_each)
