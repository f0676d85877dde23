"""FROM and WHERE: which rows a query is about.

A view is a private table with public tables joined to it, a filter, and the names a query may use. Subqueries and
CTEs that only rename, derive and filter rows are inlined, so a view never nests. Joins with public tables keep
every row's person: INNER and LEFT joins by equality. Anything else is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.engines.requests import Join, Relation
from tacit.errors import UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Column, Expression, Logic, Scope
from tacit.language.parsing import convert, within_bounds
from tacit.language.types import BOOLEAN
from tacit.tables.sql.persons import sides

if TYPE_CHECKING:
    from sqlglot import exp

    from tacit.tables.sql.open_tables import OpenTables

MOST_TABLES = 20
"""The most tables of one query: the time that engines take to plan a join grows fast with their number."""

_ROWWISE = {"expressions", "from_", "joins", "where", "with_", "kind"}
"""The parts of a subquery that neither aggregate nor reorder."""

_WORDS = {
    "having": ("HAVING", "leave groups out after they are released"),
    "distinct": ("SELECT DISTINCT", "use GROUP BY, or COUNT(DISTINCT …)"),
    "qualify": ("QUALIFY", "use WHERE"),
    "windows": ("WINDOW", "use GROUP BY"),
    "laterals": ("LATERAL", "use a row-wise subquery"),
    "limit": ("LIMIT", "use WHERE"),
    "order": ("ORDER BY", "order the outer query"),
    "group": ("GROUP BY", "group the outer query"),
    "offset": ("OFFSET", "skip rows after they are released"),
    "sample": ("USING SAMPLE", "ask about all rows"),
}
"""Clauses by sqlglot's name: what analysts call them, and what to do instead."""


@dataclass(frozen=True)
class View:
    """Tables by alias in the order of joining, the conditions that hold, and the names in reach."""

    tables: tuple[tuple[str, str], ...]
    """(alias, table) pairs."""
    left: tuple[Join, ...]
    """LEFT JOINs of public tables."""
    conditions: tuple[Expression, ...]
    scope: Scope

    def beside(self, other: View) -> View:
        """Both side by side, as in FROM a, b."""
        used = {alias for alias, _ in self.tables} | {join.alias for join in self.left}
        for alias, _ in other.tables:
            if alias in used:
                raise UnsupportedQuery(f"the name {alias!r} is used twice in FROM; give one of them another with AS.")
        if len(used) + len(other.tables) > MOST_TABLES:
            raise UnsupportedQuery(f"a query joins at most {MOST_TABLES} tables; leave some out.")
        return View(
            self.tables + other.tables,
            self.left + other.left,
            self.conditions + other.conditions,
            self.scope.beside(other.scope),
        )

    def where(self, condition: Expression) -> View:
        """With one more condition."""
        conditions = self.conditions + _conjuncts(condition)
        within_bounds(build.logic("AND", conditions))
        return replace(self, conditions=conditions)


@dataclass(frozen=True)
class ViewBuilder:
    """Builds views from parsed FROM clauses."""

    _tables: OpenTables

    def table(self, name: str, alias: str | None = None) -> View:
        """All rows of one table, under its name or an alias."""
        called = alias or name
        return View(((called, name),), (), (), Scope.of(self._tables.schemas[name], called))

    def rows(self, select: exp.Select, known: Mapping[str, View]) -> View:
        """The rows that a SELECT's WITH, FROM, JOIN and WHERE name."""
        known = {**known, **self._ctes(select, known)}
        source = select.args.get("from_")
        if source is None:
            raise UnsupportedQuery("a FROM clause is needed; name a table of the session.")
        view = self._source(source.this, known)
        for join in [*source.this.args.get("joins", []), *select.args.get("joins", [])]:
            view = self._join(view, join, known)
        where = select.args.get("where")
        return view if where is None else view.where(self._condition(where.this, view.scope, "WHERE"))

    def _ctes(self, select: exp.Select, known: Mapping[str, View]) -> dict[str, View]:
        views: dict[str, View] = {}
        with_ = select.args.get("with_")
        if with_ is None:
            return views
        if with_.args.get("recursive"):
            raise UnsupportedQuery("WITH RECURSIVE is not supported; write plain WITH.")
        for cte in with_.expressions:
            name = cte.alias
            if cte.args["alias"].args.get("columns"):
                raise UnsupportedQuery("WITH name(columns) is not supported; use AS inside the query.")
            views[name.lower()] = self._derived(cte.this, name, {**known, **views})
        return views

    def _source(self, node: Any, known: Mapping[str, View]) -> View:
        kind = type(node).__name__
        full = f"{node.db}.{node.name}" if kind == "Table" and node.db else ""
        in_schema = full in self._tables.names  # a database's table goes by the name it was read under
        if kind in ("Subquery", "Table"):
            _plain_source(node, ("db",) if in_schema else ())
        if kind == "Subquery":
            if not node.alias:
                raise UnsupportedQuery("a subquery in FROM needs a name; write AS t after it.")
            return self._derived(node.this, node.alias, known)
        if kind != "Table" or type(node.this).__name__ != "Identifier":
            raise UnsupportedQuery("FROM takes tables of the session and row-wise subqueries, not functions or files.")
        alias, name = node.alias or node.name, full if in_schema else node.name
        if name.lower() in known:
            view = known[name.lower()]
            (columns,) = view.scope.tables.values()
            return replace(view, scope=Scope({alias: columns}))
        table = name if in_schema else self._table(name, bool(node.this.args.get("quoted")))
        return self.table(table, alias)

    def _table(self, name: str, quoted: bool) -> str:
        if name in self._tables.names:
            return name
        loose = [] if quoted else [table for table in self._tables.names if table.lower() == name.lower()]
        if len(loose) == 1:
            return loose[0]
        raise UnsupportedQuery(f"there is no table {name!r}; the tables are {', '.join(self._tables.names)}.")

    def _derived(self, select: Any, alias: str, known: Mapping[str, View]) -> View:
        """A row-wise subquery: its columns become expressions under the alias."""
        if type(select).__name__ != "Select":
            raise UnsupportedQuery("UNION and other set operations are not supported; ask one SELECT at a time.")
        refuse(select, _ROWWISE, "in a subquery")
        view = self.rows(select, known)
        columns: dict[str, Expression] = {}
        for item in select.expressions:
            if type(item).__name__ == "Star":
                if any(item.args.values()):
                    raise UnsupportedQuery("* with EXCLUDE, REPLACE or RENAME is not supported; name the columns.")
                for named in view.scope.tables.values():
                    columns = {**named, **columns}  # of two columns of one name the first is meant
            else:
                node = item.this if type(item).__name__ == "Alias" else item
                columns.setdefault(item.alias_or_name, convert(node, view.scope))
        if "" in columns:
            raise UnsupportedQuery("every column of a subquery needs a name; write AS name.")
        return replace(view, scope=Scope({alias: columns}))

    def _join(self, view: View, node: exp.Join, known: Mapping[str, View]) -> View:
        side, kind = str(node.args.get("side") or ""), str(node.args.get("kind") or "")
        method = node.args.get("method")
        if side not in ("", "LEFT") or kind not in ("", "INNER", "CROSS", "OUTER") or method:
            word = " ".join(str(part) for part in (method, side, kind) if part)
            raise UnsupportedQuery(f"{word} JOIN is not supported; use an inner JOIN … ON a = b.")
        other = self._source(node.this, known)
        both = view.beside(other)
        conditions = [
            build.comparison("=", view.scope.find(name.name), other.scope.find(name.name))
            for name in node.args.get("using") or []
        ]
        if node.args.get("on") is not None:
            conditions.append(self._condition(node.args["on"], both.scope, "ON"))
        if side == "LEFT":
            return self._left(view, other, conditions)
        for condition in conditions:
            both = both.where(condition)
        return both

    def _left(self, view: View, other: View, conditions: list[Expression]) -> View:
        if len(other.tables) != 1 or other.conditions or other.left or other.tables[0][1] in self._tables.private_names:
            raise UnsupportedQuery(
                "LEFT JOIN is supported with one public table on its right side; use an inner JOIN, or filter first."
            )
        alias, table = other.tables[0]
        pairs = []
        for condition in conditions:
            for part in _conjuncts(condition):
                pair = equality(part, alias)
                if pair is None:
                    raise UnsupportedQuery("LEFT JOIN is supported with equalities between the tables in ON.")
                pairs.append(pair)
        join = Join(table, alias, tuple(pairs), "left")
        return View(view.tables, (*view.left, join), view.conditions, view.scope.beside(other.scope))

    def _condition(self, node: Any, scope: Scope, clause: str) -> Expression:
        condition = convert(node, scope)
        if condition.type != BOOLEAN:
            raise UnsupportedQuery(f"{clause} must be true or false, not {condition.type}; write a comparison.")
        return condition

    def relation(self, view: View) -> Relation:
        """The engine's relation: the tables in an order in which each is tied to those before, and its persons."""
        if not any(table in self._tables.private_names for _, table in view.tables):
            raise UnsupportedQuery(
                "the query names no private table; public tables need no privacy, query them directly."
            )
        waiting, conditions, touched = self._tables.persons.find(view.tables, view.conditions)
        if len(waiting) + len(view.left) > MOST_TABLES:
            raise UnsupportedQuery(
                f"a query may join at most {MOST_TABLES} tables, those that through= adds included; ask about fewer."
            )
        alias, table = next(pair for pair in waiting if pair[1] in self._tables.private_names)
        waiting.remove((alias, table))
        joined, joins = [alias], list[Join]()
        while waiting:
            linked = ((pair, _links(conditions, pair[0], joined)) for pair in waiting)
            found = next(((pair, links) for pair, links in linked if links), None)
            if found is None:
                raise UnsupportedQuery(
                    f"table {waiting[0][1]!r} is joined without an equality of two columns of one kind, which would "
                    "repeat every row; add ON a = b."
                )
            (other, name), links = found
            joins.append(Join(name, other, tuple(links.values())))
            conditions = [part for part in conditions if part not in links]
            joined.append(other)
            waiting.remove((other, name))
        filter_ = build.logic("AND", conditions) if len(conditions) > 1 else (conditions[0] if conditions else None)
        first, *others = touched
        further = tuple((other.kind, other.column) for other in others)
        relation = Relation(table, alias, first.column, (*joins, *view.left), filter_, further, first.kind)
        return self._tables.joins.bound(relation)


def _conjuncts(condition: Expression) -> tuple[Expression, ...]:
    """The conditions that AND puts together."""
    return condition.operands if isinstance(condition, Logic) and condition.operator == "AND" else (condition,)


def _plain_source(node: Any, allowed: tuple[str, ...]) -> None:
    """Refuse a sample, a pivot, another database or renamed columns behind a table's name."""
    extra = [name for name, part in node.args.items() if part and name not in ("this", "alias", "joins", *allowed)]
    if extra:
        raise UnsupportedQuery(f"FROM with {extra[0].upper()} is not supported; name a table of the session.")
    if node.args.get("alias") and node.args["alias"].args.get("columns"):
        raise UnsupportedQuery("FROM … AS name(columns) is not supported; use AS for each column in a subquery.")


def refuse(select: exp.Select, allowed: Iterable[str], where: str = "") -> None:
    """Refuse the first clause of a SELECT that is not on the list."""
    for name, part in select.args.items():
        if part and name not in allowed:
            word, remedy = _WORDS.get(name, (name.strip("_").upper(), "remove it"))
            raise UnsupportedQuery(f"{word} is not supported{' ' + where if where else ''}; {remedy}.")


def equality(condition: Expression, alias: str) -> tuple[Column, Column] | None:
    """(column of another table, column of the alias) of an equality that links the two, or None."""
    pair = sides(condition)
    if pair is None or (pair[0].table == alias) == (pair[1].table == alias):
        return None
    return pair if pair[1].table == alias else (pair[1], pair[0])


def _links(conditions: list[Expression], alias: str, joined: list[str]) -> dict[Expression, tuple[Column, Column]]:
    """The equalities that tie a table to those already joined, each with its two sides."""
    pairs = ((condition, equality(condition, alias)) for condition in conditions)
    return {condition: pair for condition, pair in pairs if pair is not None and pair[0].table in joined}
