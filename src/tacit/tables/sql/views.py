"""FROM and WHERE: which rows a query is about.

A view is some tables, joined and filtered, and the names a query may use. A subquery or CTE that only renames, derives
and filters rows is inlined; one that groups, ranks, deduplicates or puts tables together becomes a derived table of the
same persons (`tacit.tables.sql.stages`), and so views nest to any depth. IN, EXISTS and subqueries that are values
become joins on the side (`tacit.tables.sql.subqueries`). Anything else is refused by name.

A join on the side (LEFT, or one that only keeps or drops rows) must not look beyond the persons of the rows on its
left: its table is public, or every person of a match is a person of the row already (`PersonFinder`). Then a row still
depends on the rows of its own persons alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tacit.engines.requests import Join, Relation
from tacit.engines.requests.derived import NOBODY, PERSON, Derived, PersonRows
from tacit.errors import UnsupportedQuery, instead
from tacit.language import build
from tacit.language.expressions import Column, Expression, Scope
from tacit.language.parsing import convert
from tacit.language.types import BOOLEAN
from tacit.tables.sql.persons import PersonColumn, Table
from tacit.tables.sql.rewriting import substituted
from tacit.tables.sql.view import MOST_TABLES, Around, Side, View, conjuncts, equality, factored, unused

if TYPE_CHECKING:
    from sqlglot import exp

    from tacit.tables.sql.crossing import Crossing
    from tacit.tables.sql.open_tables import OpenTables

_WORDS = {
    "having": ("HAVING", "leave groups out after they are released"),
    "distinct": ("SELECT DISTINCT", "use GROUP BY, or COUNT(DISTINCT …)"),
    "qualify": ("QUALIFY", "use it in a subquery, with PARTITION BY the person"),
    "windows": ("WINDOW", "use it in a subquery, with PARTITION BY the person"),
    "laterals": ("LATERAL", "use a subquery"),
    "limit": (
        "LIMIT",
        "which rows would stay depends on other persons: rank them inside each person, with QUALIFY "
        "ROW_NUMBER() OVER (PARTITION BY person ORDER BY …) <= 10",
    ),
    "order": ("ORDER BY", "order the outer query"),
    "group": ("GROUP BY", "group the outer query"),
    "offset": ("OFFSET", "skip rows after they are released"),
    "sample": ("USING SAMPLE", "ask about all rows"),
}
"""Clauses by sqlglot's name: what analysts call them, and what to do instead."""


MOST_NESTED = 100
"""The most tables of a query with all its subqueries, each counted as often as it is used."""


@dataclass(frozen=True)
class ViewBuilder:
    """Builds views from parsed FROM clauses."""

    _tables: OpenTables
    crossing: Crossing | None = None
    """Who answers subqueries that look across persons; None where nobody does."""
    taken: frozenset[str] = frozenset()
    """Names of tables of the query around this one."""
    outer: Scope | None = None
    """What a subquery may use of the query around it."""
    seen: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """What public tables hold, read once for a question however often it is gone over."""

    @property
    def tables(self) -> OpenTables:
        """The tables of the session."""
        return self._tables

    def table(self, name: str, alias: str | None = None) -> View:
        """All rows of one table, or those of the period that is asked about, under its name or an alias."""
        called = alias or name
        inside = unused(called, self.taken)
        (columns,) = Scope.of(self._tables.schemas[name], inside).tables.values()
        return View(((inside, name),), (), self._tables.dated(name, inside), Scope({called: columns}))

    def computed(self, table: Derived, alias: str) -> tuple[View, dict[str, Column]]:
        """All rows of a derived table, and its columns by name, the person among them; its scope is empty."""
        inside = unused(alias, self.taken)
        columns = {name: Column(kind, inside, name) for name, kind in table.columns}
        if table.sources:
            columns[PERSON] = Column(table.sources[0].person.type, inside, PERSON)
        return View(((inside, table),), (), (), Scope({alias: {}})), columns

    def inside(self, view: View) -> ViewBuilder:
        """The builder of a subquery that may refer to the rows of a view."""
        outer = view.scope if self.outer is None else Around(view.scope.tables, self.outer)
        return replace(self, taken=self.taken | view.aliases, outer=outer)

    def convert(self, node: Any, scope: Scope) -> Expression:
        """The expression that a node means."""
        return convert(node, scope if self.outer is None else Around(scope.tables, self.outer))

    def rows(self, select: exp.Select, known: Mapping[str, View]) -> View:
        """The rows that a SELECT's WITH, FROM, JOIN and WHERE name."""
        from tacit.tables.sql.subqueries import filtered

        known = {**known, **self.ctes(select, known)}
        source = select.args.get("from_")
        if source is None:
            raise UnsupportedQuery("a FROM clause is needed; name a table of the session.")
        view = self._source(source.this, known)
        for join in [*source.this.args.get("joins", []), *select.args.get("joins", [])]:
            view = self._join(view, join, known)
        where = select.args.get("where")
        return view if where is None else filtered(self, view, where.this, known, "WHERE")

    def ctes(self, select: Any, known: Mapping[str, View]) -> dict[str, View]:
        """The named subqueries of WITH."""
        views: dict[str, View] = {}
        with_ = select.args.get("with_")
        if with_ is None:
            return views
        if with_.args.get("recursive"):
            raise UnsupportedQuery("WITH RECURSIVE is not supported; write plain WITH.")
        for cte in with_.expressions:
            views[cte.alias.lower()] = self._derived(cte.this, cte.args["alias"], {**known, **views})
        return views

    def _source(self, node: Any, known: Mapping[str, View]) -> View:
        kind = type(node).__name__
        full = f"{node.db}.{node.name}" if kind == "Table" and node.db else ""
        in_schema = full in self._tables.names  # a database's table goes by the name it was read under
        if kind in ("Subquery", "Table"):
            _plain_source(node, ("db",) if in_schema else ())
        if kind == "Subquery":
            return self._derived(node.this, node.args.get("alias") or _unnamed(node), known)
        if kind == "Lateral":
            raise UnsupportedQuery("LATERAL is not supported; write a subquery that stands by itself, or in WHERE.")
        if kind != "Table" or type(node.this).__name__ != "Identifier":
            raise UnsupportedQuery("FROM takes tables of the session and subqueries, not functions or files.")
        alias, name = node.alias or node.name, full if in_schema else node.name
        if name.lower() in known:
            view = known[name.lower()].named(alias).apart(self.taken)
        else:
            table = name if in_schema else self._table(name, bool(node.this.args.get("quoted")))
            view = self.table(table, alias)
        return _with_names(view, node.args.get("alias"))

    def _table(self, name: str, quoted: bool) -> str:
        if name in self._tables.names:
            return name
        loose = [] if quoted else [table for table in self._tables.names if table.lower() == name.lower()]
        if len(loose) == 1:
            return loose[0]
        raise UnsupportedQuery(f"there is no table {name!r}; {instead(name, self._tables.names, 'tables')}")

    def _derived(self, query: Any, alias: Any, known: Mapping[str, View]) -> View:
        """A subquery or CTE under its name: rows with the columns that it selects."""
        from tacit.tables.sql.stages import selected

        alone = replace(self, outer=None)  # it stands by itself: no LATERAL
        return _with_names(selected(alone, query, alias.name, known).view(alias.name), alias)

    def _join(self, view: View, node: exp.Join, known: Mapping[str, View]) -> View:
        side, kind = str(node.args.get("side") or ""), str(node.args.get("kind") or "")
        method = node.args.get("method")
        if side not in ("", "LEFT", "RIGHT") or kind not in ("", "INNER", "CROSS", "OUTER") or method:
            word = " ".join(str(part) for part in (method, side, kind) if part)
            raise UnsupportedQuery(f"{word} JOIN is not supported; use JOIN … ON a = b, or LEFT JOIN.")
        other = self._source(node.this, known)
        both = view.beside(other)
        other = other.apart(view.aliases)
        conditions = [
            build.comparison("=", view.scope.find(name.name), other.scope.find(name.name))
            for name in node.args.get("using") or []
        ]
        if node.args.get("on") is not None:
            conditions.append(self.condition(node.args["on"], both.scope, "ON"))
        if side:
            return self._left(view, other, conditions) if side == "LEFT" else self._left(other, view, conditions)
        for condition in conditions:
            both = both.where(condition)
        return both

    def _left(self, view: View, other: View, conditions: list[Expression]) -> View:
        """All rows of a view, beside each those of another that match, or NULL."""
        parts = tuple(part for condition in conditions for part in conjuncts(condition))
        bare = all(isinstance(column, Column) for table in other.scope.tables.values() for column in table.values())
        if len(other.tables) != 1 or other.sides or not bare:
            other, parts = self._as_one(other, parts, view.aliases)
        ((alias, table),) = other.tables
        side = Side("left", table, alias, (*other.conditions, *parts))
        return View(view.tables, (*view.sides, side), view.conditions, view.scope.beside(other.scope))

    def _as_one(
        self, view: View, parts: tuple[Expression, ...], taken: frozenset[str]
    ) -> tuple[View, tuple[Expression, ...]]:
        """A view as one derived table, and some conditions in terms of it."""
        shown = dict.fromkeys(column for table in view.scope.tables.values() for column in table.values())
        known = {column: f"s{i}" for i, column in enumerate(shown)}
        wrapped, columns = self.wrap(view, known, unused(next(iter(view.scope.tables)), taken | view.aliases))
        scope = {n: {c: columns[e] for c, e in table.items()} for n, table in view.scope.tables.items()}
        now = substituted(parts, columns)
        if any(column.table in view.aliases for part in now for column in part.columns()):
            raise UnsupportedQuery("ON computes with columns of a subquery; compute them inside it, under names.")
        return replace(wrapped, scope=Scope(scope)), now

    def wrap(self, view: View, shown: Mapping[Expression, str], alias: str) -> tuple[View, dict[Expression, Column]]:
        """A view as a derived table that shows some expressions by name, and the columns that now stand for them."""
        relation = self.one_person(view, "a subquery joined by LEFT JOIN, IN or EXISTS")
        classes = self._tables.persons.classes(relation)
        person = classes.of(relation.person)
        own = {e: n for e, n in shown.items() if not (isinstance(e, Column) and classes.of(e) == person)}
        wrapped, columns = self.computed(PersonRows(relation, tuple((name, e) for e, name in own.items())), alias)
        return wrapped, {e: columns[own.get(e, PERSON)] for e in shown}

    def condition(self, node: Any, scope: Scope, clause: str) -> Expression:
        """A node that must be true or false."""
        condition = factored(self.convert(node, scope))
        if condition.type != BOOLEAN:
            raise UnsupportedQuery(f"{clause} must be true or false, not {condition.type}; write a comparison.")
        return condition

    # ---- relations ----------------------------------------------------------------------------------------------

    def one_person(self, view: View, what: str) -> Relation:
        """The relation of a view, in which every row must concern one person."""
        relation = self.relation(view, public=True)
        if relation.others:
            raise UnsupportedQuery(
                f"{what} works on rows that concern one person each, and these concern several "
                f"({', '.join(column.name for _, column in relation.persons)}); join by the same person, or ask about "
                "the joined rows themselves."
            )
        return relation

    def relation(self, view: View, public: bool = False) -> Relation:
        """The engine's relation: the tables in an order in which each is tied to those before, and its persons."""
        persons = self._tables.persons
        if not view.tables:
            raise UnsupportedQuery("the query reads no table, only numbers that were answered first; name a table.")
        private = [pair for pair in view.tables if persons.private(pair[1])]
        if not private and (about := [side for side in view.sides if persons.private(side.table)]):
            raise UnsupportedQuery(
                f"{_called(about[0])} is joined to rows of public tables, which concern nobody; begin with the private "
                "table, or use an inner JOIN."
            )
        if not private and not public:
            raise UnsupportedQuery("the query names no private table; name one, or ask about public tables alone.")
        waiting, conditions, touched = persons.find(view.tables, view.conditions)
        for alias, name in waiting:
            if (alias, name) not in view.tables and isinstance(name, str):  # followed through a foreign key
                conditions += self._tables.dated(name, alias)
        if len(waiting) + len(view.sides) > MOST_TABLES:
            raise UnsupportedQuery(
                f"a query may join at most {MOST_TABLES} tables, those that through= adds included; ask about fewer."
            )
        read = [*(table for _, table in waiting), *(side.table for side in view.sides)]
        if sum(table.size if isinstance(table, Derived) else 1 for table in read) > MOST_NESTED:
            raise UnsupportedQuery(
                f"a query reads at most {MOST_NESTED} tables, those of its subqueries included, each as often as it is "
                "used; ask about fewer."
            )
        alias, table = next(pair for pair in waiting if pair in private or not private)
        waiting.remove((alias, table))
        joined, joins = [alias], list[Join]()
        while waiting:
            linked = ((pair, _links(conditions, pair[0], joined)) for pair in waiting)
            found = next(((pair, links) for pair, links in linked if links), None)
            if found is None:
                raise UnsupportedQuery(
                    f"table {_named(*waiting[0])!r} is joined without an equality of two columns of one kind, which "
                    "would repeat every row; add ON a = b."
                )
            (other, name), links = found
            joins.append(Join(name, other, tuple(links.values())))
            conditions = [part for part in conditions if part not in links]
            joined.append(other)
            waiting.remove((other, name))
        on_side = [self._joined(view, side, touched) for side in view.sides]
        filter_ = build.logic("AND", conditions) if len(conditions) > 1 else (conditions[0] if conditions else None)
        first, *others = touched or [PersonColumn("", NOBODY)]
        further = tuple((other.kind, other.column) for other in others)
        relation = Relation(table, alias, first.column, (*joins, *on_side), filter_, further, first.kind)
        return self._tables.joins.bound(relation)

    def _joined(self, view: View, side: Side, touched: list[PersonColumn]) -> Join:
        """A join on the side, tied to the persons of the rows on its left."""
        pairs = {part: pair for part in side.conditions if (pair := equality(part, side.alias)) is not None}
        on = list(pairs.values())
        if self._tables.persons.private(side.table):
            person = self.tied(view, ((side.alias, side.table),), side.conditions)
            if person is None:
                raise UnsupportedQuery(beyond(_called(side), touched))
            if isinstance(side.table, Derived):
                tie = (person.column, Column(person.column.type, side.alias, PERSON))
                on = [tie, *(pair for pair in on if pair != tie)]
        rest = [part for part in side.conditions if part not in pairs]
        condition = build.logic("AND", rest) if len(rest) > 1 else (rest[0] if rest else None)
        if not on and isinstance(side.table, Derived) and side.table.sources:
            on = [(NOBODY, Column(NOBODY.type, side.alias, PERSON))]  # public rows: all of them match
        if not on:
            raise UnsupportedQuery(f"{_called(side)} is joined without an equality of two columns; add a = b.")
        return Join(side.table, side.alias, tuple(on), side.kind, condition)

    def tied(
        self, view: View, tables: tuple[tuple[str, Table], ...], conditions: Iterable[Expression]
    ) -> PersonColumn | None:
        """The person of the rows of a view whom further tables are about, and nobody else; None if there is none."""
        return self._tables.persons.tied(view.tables, view.conditions, tables, conditions)


def beyond(what: str, touched: list[PersonColumn]) -> str:
    """The refusal of a table whose rows of other persons would decide."""
    person = touched[0].column.name
    return (
        f"{what} would let rows of one person depend on rows of others; tie it to the same person, as in "
        f"{what}.person = {person}, or ask it as a question of its own."
    )


def _called(side: Side) -> str:
    return _named(side.alias, side.table)


def _named(alias: str, table: Table) -> str:
    return table if isinstance(table, str) else alias


def _unnamed(node: Any) -> Any:
    """A name for a subquery that has none: the same for the same text."""
    from sqlglot import exp

    return exp.TableAlias(this=exp.to_identifier(f"subquery_{sha256(node.sql().encode()).hexdigest()[:12]}"))


def _plain_source(node: Any, allowed: tuple[str, ...]) -> None:
    """Refuse a sample, a pivot or another database behind a table's name."""
    extra = [name for name, part in node.args.items() if part and name not in ("this", "alias", "joins", *allowed)]
    if extra and extra[0] in ("db", "catalog"):
        raise UnsupportedQuery(f"a table is named by its name alone; write FROM {node.name}.")
    if extra:
        raise UnsupportedQuery(f"FROM with {extra[0].upper()} is not supported; name a table of the session.")


def _with_names(view: View, alias: Any) -> View:
    """The view with its columns renamed, as by AS t(a, b)."""
    names = [column.name for column in (alias.args.get("columns") if alias is not None else None) or ()]
    if not names:
        return view
    ((called, columns),) = view.scope.tables.items()
    if len(names) > len(columns) or len(set(names)) < len(names):
        raise UnsupportedQuery(f"{called}({', '.join(names)}) must name each of its {len(columns)} columns once.")
    renamed = [*names, *list(columns)[len(names) :]]
    return replace(view, scope=Scope({called: dict(zip(renamed, columns.values(), strict=True))}))


def refuse(select: exp.Select, allowed: Iterable[str], where: str = "") -> None:
    """Refuse the first clause of a SELECT that is not on the list."""
    for name, part in select.args.items():
        if part and name not in allowed:
            word, remedy = _WORDS.get(name, (name.strip("_").upper(), "remove it"))
            raise UnsupportedQuery(f"{word} is not supported{' ' + where if where else ''}; {remedy}.")


def _links(conditions: list[Expression], alias: str, joined: list[str]) -> dict[Expression, tuple[Column, Column]]:
    """The equalities that tie a table to those already joined, each with its two sides."""
    pairs = ((condition, equality(condition, alias)) for condition in conditions)
    return {condition: pair for condition, pair in pairs if pair is not None and pair[0].table in joined}
