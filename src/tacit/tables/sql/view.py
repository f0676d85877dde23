"""Views: tables by name, joined and filtered, and the names that a query may use of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from tacit.errors import UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Column, Expression, Logic, Scope
from tacit.language.parsing import within_bounds
from tacit.tables.sql.persons import Table, sides
from tacit.tables.sql.rewriting import with_columns

MOST_TABLES = 20
"""The most tables of one query: the time that engines take to plan a join grows fast with their number."""


@dataclass(frozen=True)
class Side:
    """A table joined on the side: to show its columns where there is a match, or to keep or drop a row by whether
    there is one. For a match all of the conditions are true.
    """

    kind: Literal["left", "semi", "anti"]
    table: Table
    alias: str
    conditions: tuple[Expression, ...]


@dataclass(frozen=True)
class View:
    """Tables by alias in the order of joining, the conditions that hold, and the names in reach."""

    tables: tuple[tuple[str, Table], ...]
    """(alias, table) pairs."""
    sides: tuple[Side, ...]
    """What is joined on the side, in order."""
    conditions: tuple[Expression, ...]
    scope: Scope

    @property
    def left(self) -> tuple[Side, ...]:
        """The LEFT JOINs."""
        return tuple(side for side in self.sides if side.kind == "left")

    @property
    def aliases(self) -> frozenset[str]:
        """The names that its tables have."""
        return frozenset((*(alias for alias, _ in self.tables), *(side.alias for side in self.sides)))

    def beside(self, other: View) -> View:
        """Both side by side, as in FROM a, b."""
        for alias in other.scope.tables:
            if alias in self.scope.tables:
                raise UnsupportedQuery(f"the name {alias!r} is used twice in FROM; give one of them another with AS.")
        if len(self.aliases | other.aliases) > MOST_TABLES:
            raise UnsupportedQuery(f"a query joins at most {MOST_TABLES} tables; leave some out.")
        other = other.apart(self.aliases)
        return View(
            self.tables + other.tables,
            self.sides + other.sides,
            self.conditions + other.conditions,
            self.scope.beside(other.scope),
        )

    def apart(self, taken: frozenset[str]) -> View:
        """The same with names for its tables that nobody else has taken."""
        new: dict[str, str] = {}
        for alias in (*(alias for alias, _ in self.tables), *(side.alias for side in self.sides)):
            new[alias] = unused(alias, taken | set(new.values()))
        if all(alias == fresh for alias, fresh in new.items()):
            return self

        def renamed(column: Column) -> Expression:
            return replace(column, table=new.get(column.table, column.table))

        return View(
            tuple((new[alias], table) for alias, table in self.tables),
            tuple(replace(s, alias=new[s.alias], conditions=with_columns(s.conditions, renamed)) for s in self.sides),
            with_columns(self.conditions, renamed),
            Scope(
                {
                    name: {column: with_columns(expression, renamed) for column, expression in columns.items()}
                    for name, columns in self.scope.tables.items()
                }
            ),
        )

    def where(self, condition: Expression) -> View:
        """With one more condition."""
        conditions = self.conditions + conjuncts(condition)
        within_bounds(build.logic("AND", conditions))
        return replace(self, conditions=conditions)

    def named(self, alias: str) -> View:
        """The same as a subquery of this name."""
        columns = {name: column for table in self.scope.tables.values() for name, column in table.items()}
        return replace(self, scope=Scope({alias: columns}))


@dataclass(frozen=True)
class Around(Scope):
    """The names of a subquery and, where it has none of that name, those of the query around it."""

    outer: Scope = field(default_factory=lambda: Scope({}))

    def find(self, name: str, table: str | None = None, quoted: bool = False) -> Expression:
        """The innermost of that name."""
        known = {alias.lower(): columns for alias, columns in self.tables.items()}
        inside = known.values() if table is None else [known[table.lower()]] if table.lower() in known else []
        if any(name.lower() == column.lower() for columns in inside for column in columns):
            return super().find(name, table, quoted)
        return self.outer.find(name, table, quoted)


def unused(name: str, taken: Iterable[str]) -> str:
    """A name, with a number behind it where it is taken."""
    known, fresh, number = set(taken), name, 2
    while fresh in known:
        fresh, number = f"{name} {number}", number + 1
    return fresh


def conjuncts(condition: Expression) -> tuple[Expression, ...]:
    """The conditions that AND puts together."""
    return condition.operands if isinstance(condition, Logic) and condition.operator == "AND" else (condition,)


def factored(condition: Expression) -> Expression:
    """The condition with equalities of tables that stand in every branch of an OR put before it.

    (a AND x) OR (a AND y) is a AND (x OR y) in SQL's logic too, and a join needs its equality outside of the OR.
    """
    parts: list[Expression] = []
    for part in conjuncts(condition):
        branches = part.operands if isinstance(part, Logic) and part.operator == "OR" else ()
        common = [e for e in (conjuncts(branches[0]) if branches else ()) if _ties_tables(e)]
        common = [e for e in common if all(e in conjuncts(branch) for branch in branches)]
        if not common:
            parts.append(part)
            continue
        rests = [tuple(e for e in conjuncts(branch) if e not in common) for branch in branches]
        parts += common
        if all(rests):
            parts.append(build.logic("OR", [build.logic("AND", r) if len(r) > 1 else r[0] for r in rests]))
    return condition if tuple(parts) == conjuncts(condition) else build.logic("AND", parts)


def _ties_tables(condition: Expression) -> bool:
    pair = sides(condition)
    return pair is not None and pair[0].table != pair[1].table


def equality(condition: Expression, alias: str) -> tuple[Column, Column] | None:
    """(column of another table, column of the alias) of an equality that links the two, or None."""
    pair = sides(condition)
    if pair is None or (pair[0].table == alias) == (pair[1].table == alias):
        return None
    return pair if pair[1].table == alias else (pair[1], pair[0])
