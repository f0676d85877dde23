"""Subqueries in conditions and values: IN, EXISTS, and a SELECT in parentheses, as joins on the side.

At the top of WHERE, x IN (SELECT y …) and EXISTS keep the rows that have a match, NOT IN and NOT EXISTS those that have
none. Inside OR, NOT or CASE they are truth values, and a subquery that aggregates is a value: then what is inside
becomes one row for each person and each combination of what it is compared by, which is joined by LEFT JOIN.

NULL is SQL's: x NOT IN (…) keeps a row only if x differs from all values there, none of them NULL. Rows without a
person are nowhere, so NOT IN over persons never meets NULL.

A subquery must be about the persons of the rows around it (`tacit.tables.sql.views`). One that looks across persons is
answered first, as a question of its own (`tacit.tables.sql.crossing`), or refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from tacit.engines.requests.derived import PERSON, PersonGroups
from tacit.errors import UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Column, Comparison, Expression, IsNull, Scope
from tacit.language.expressions import Literal as Constant
from tacit.language.functions import COALESCE
from tacit.language.types import BOOLEAN, FLOAT, INTEGER
from tacit.tables.sql.nodes import COMPUTED, computed_column
from tacit.tables.sql.rewriting import with_columns
from tacit.tables.sql.stages import Stage, check_clauses, selected
from tacit.tables.sql.view import Side, View, equality, unused
from tacit.tables.sql.views import ViewBuilder

TRUE = Constant(BOOLEAN, True)


def filtered(builder: ViewBuilder, view: View, node: Any, known: Mapping[str, View], clause: str) -> View:
    """A view with a condition, which may hold subqueries."""
    if not _nested(node):
        return view.where(builder.condition(node, view.scope, clause))
    parts = list(node.flatten()) if type(node).__name__ == "And" else [node]
    for part in parts:
        if not _nested(part):
            view = view.where(builder.condition(part, view.scope, clause))
    for part in parts:
        if _nested(part):
            view = _Reader(builder, known).condition(view, part, clause)
    return view


def with_values(
    builder: ViewBuilder, view: View, nodes: Sequence[Any], known: Mapping[str, View]
) -> tuple[list[Any], View]:
    """Some nodes in which columns stand for subqueries, and the view with what these are read from."""
    if not any(map(_nested, nodes)):
        return list(nodes), view
    reader, found = _Reader(builder, known), list[Any]()
    for node in nodes:
        node, view = reader.replaced(view, node)
        found.append(node)
    return found, view


def with_subqueries(builder: ViewBuilder, view: View, select: Any, known: Mapping[str, View]) -> tuple[Any, View]:
    """A SELECT in whose columns, GROUP BY and HAVING values stand for subqueries, and the view that has them."""
    clauses = [select.args[name] for name in ("group", "having") if select.args.get(name)]
    if not any(map(_nested, (*select.expressions, *clauses))):
        return select, view
    select = select.copy()
    for item in list(select.expressions):
        if _nested(item) and not item.alias:
            item.replace(_aliased(item.copy(), item.sql("duckdb")))
    clauses = [select.args[name] for name in ("group", "having") if select.args.get(name)]
    for part in (*select.expressions, *clauses):
        if _nested(part):
            (new,), view = with_values(builder, view, [part], known)
            if new is not part:
                part.replace(new)
    return select, view


@dataclass(frozen=True)
class _Inner:
    """A subquery: its rows, its columns, and the conditions that refer to the query around it."""

    rows: View
    columns: tuple[Expression, ...]
    ties: tuple[Expression, ...]
    counts: frozenset[Column] = frozenset()


@dataclass(frozen=True)
class _Opened:
    """The same up to its WHERE: the node, None where it is no plain SELECT, and who reads the rest of it."""

    builder: ViewBuilder
    query: Any
    rows: View
    ties: tuple[Expression, ...]
    text: str = ""


@dataclass(frozen=True)
class _Reader:
    builder: ViewBuilder
    known: Mapping[str, View]

    # ---- conditions ---------------------------------------------------------------------------------------------

    def condition(self, view: View, node: Any, clause: str) -> View:
        """A view with a condition that holds a subquery."""
        node, negative = _bare(node)
        kind = type(node).__name__
        if kind == "Exists":
            return self._matched(view, self._read(view, node.this, values=False), (), negative)
        if kind == "In" and node.args.get("query") is not None:
            inner, pairs = self._membership(view, node)
            return self._matched(view, inner, pairs, negative)
        whole, view = self.replaced(view, node)
        condition = self.builder.condition(whole, view.scope, clause)
        return view.where(build.negation(condition) if negative else condition)

    def _membership(self, view: View, node: Any) -> tuple[_Inner, tuple[Expression, ...]]:
        """The subquery of IN, and the equalities that make a match."""
        inner = self._read(view, node.args["query"])
        left = node.this.expressions if type(node.this).__name__ == "Tuple" else [node.this]
        if len(left) != len(inner.columns):
            raise UnsupportedQuery("IN (SELECT …) needs as many columns inside as stand before it; name them.")
        values = [self.builder.convert(part, view.scope) for part in left]
        return inner, tuple(build.comparison("=", a, b) for a, b in zip(values, inner.columns, strict=True))

    def _matched(self, view: View, inner: _Inner, pairs: tuple[Expression, ...], negative: bool) -> View:
        """Only the rows with a match, or without one."""
        kind: Literal["semi", "anti"] = "anti" if negative else "semi"
        self._refuse_beyond(view, inner, pairs)
        if negative and pairs:
            view, pairs = self._excluded(view, inner, pairs)
        one, conditions = self._as_one(view, inner.rows, (*inner.ties, *pairs))
        ((alias, table),) = one.tables
        return replace(view, sides=(*view.sides, Side(kind, table, alias, (*one.conditions, *conditions))))

    def _excluded(
        self, view: View, inner: _Inner, pairs: tuple[Expression, ...]
    ) -> tuple[View, tuple[Expression, ...]]:
        """What must be false of every value for NOT IN: that it is equal, or might be, because one of them is NULL."""
        if self._private(inner):
            if self._ties(view, inner):
                return view, tuple(COALESCE(pair, TRUE) for pair in pairs)
            kept = [pair for pair in pairs if self._ties(view, inner, pair)] or pairs
            return view, tuple(pair if pair in kept else COALESCE(pair, TRUE) for pair in pairs)
        doubtful, view = self._doubtful(view, inner, pairs)
        return view.where(build.negation(doubtful)), pairs

    def _doubtful(self, view: View, inner: _Inner, pairs: tuple[Expression, ...]) -> tuple[Expression, View]:
        """Whether NULL, on one side or the other, is compared with something."""
        present, view = self._flagged(view, inner, inner.ties)
        absent = build.logic("OR", [IsNull(BOOLEAN, column) for column in inner.columns])
        nulls, view = self._flagged(view, replace(inner, rows=inner.rows.where(absent)), inner.ties)
        own = [IsNull(BOOLEAN, pair.left) for pair in pairs if isinstance(pair, Comparison)]
        return build.logic("AND", [present, build.logic("OR", [nulls, *own])]), view

    def _ties(self, view: View, inner: _Inner, *pairs: Expression) -> bool:
        """Whether a subquery is about the same person by its own conditions, and some more; who is never NULL."""
        conditions = (*inner.rows.conditions, *inner.ties, *pairs)
        return self.builder.tied(view, inner.rows.tables, conditions) is not None

    def _private(self, inner: _Inner) -> bool:
        return any(self.builder.tables.persons.private(table) for _, table in inner.rows.tables)

    def _refuse_beyond(self, view: View, inner: _Inner, pairs: tuple[Expression, ...]) -> None:
        """Refuse rows of other persons as soon as they are seen, with the tables that the analyst named."""
        persons = self.builder.tables.persons
        private = [table for _, table in inner.rows.tables if persons.private(table)]
        if (
            private
            and self.builder.tied(view, inner.rows.tables, (*inner.rows.conditions, *inner.ties, *pairs)) is None
        ):
            name = private[0] if isinstance(private[0], str) else "the subquery"
            raise UnsupportedQuery(
                f"IN or EXISTS over {name} would let rows of one person depend on rows of others; compare the person "
                "too, as in WHERE inner.person = outer.person."
            )

    # ---- values -------------------------------------------------------------------------------------------------

    def replaced(self, view: View, node: Any) -> tuple[Any, View]:
        """A node with columns in the place of its subqueries, and the view that has these columns."""
        made: dict[str, Expression] = {}
        taken = len(view.scope.tables.get(COMPUTED, {}))

        def stand_in(part: Any) -> Any:
            nonlocal view
            kind = type(part).__name__
            if kind == "Exists" or (kind == "In" and part.args.get("query") is not None):
                value, view = self._truth(view, part)
            elif kind == "Subquery":
                value, view = self._value(view, part.this)
            elif kind in ("Any", "All"):
                raise UnsupportedQuery(f"{kind.upper()} (SELECT …) is not supported; use IN, EXISTS, MIN or MAX.")
            else:
                return part
            if isinstance(value, Constant) and value.type == FLOAT and value.value is not None:
                return _number(cast(float, value.value))
            name = f"subquery {taken + len(made)}"
            made[name] = value
            return computed_column(name)

        new = node.transform(stand_in)
        computed = {**view.scope.tables.get(COMPUTED, {}), **made}
        return new, replace(view, scope=Scope({**view.scope.tables, COMPUTED: computed}))

    def _truth(self, view: View, node: Any) -> tuple[Expression, View]:
        """IN or EXISTS as a truth value."""
        if type(node).__name__ == "Exists":
            inner = self._read(view, node.this, values=False)
            self._refuse_beyond(view, inner, ())
            found, view = self._flagged(view, inner, inner.ties)
            return found, view
        inner, pairs = self._membership(view, node)
        self._refuse_beyond(view, inner, pairs)
        found, view = self._flagged(view, inner, (*inner.ties, *pairs))
        if self._private(inner) and not self._ties(view, inner):
            if len(pairs) == 1:
                return found, view  # the person is never NULL
            raise UnsupportedQuery(
                "(a, b) IN (SELECT …) inside OR, NOT or CASE needs the person in the subquery's WHERE, as in WHERE "
                "inner.person = outer.person; or write EXISTS."
            )
        doubtful, view = self._doubtful(view, inner, pairs)
        value = build.case([(found, TRUE), (doubtful, Constant(BOOLEAN, None))], Constant(BOOLEAN, False))
        return value, view

    def _flagged(self, view: View, inner: _Inner, ties: tuple[Expression, ...]) -> tuple[Expression, View]:
        """Whether there is a match: one row for each person and what they are compared by, joined if there is one."""
        relation = self.builder.one_person(inner.rows, "EXISTS or IN inside a condition")
        within = inner.rows.aliases
        keys = [_sides(tie, within, "EXISTS or IN inside OR, NOT or CASE") for tie in ties]
        classes = self.builder.tables.persons.classes(relation)
        person = classes.of(relation.person)
        own = [e for _, e in keys if not (isinstance(e, Column) and classes.of(e) == person)]
        by = list(dict.fromkeys(own))
        table = PersonGroups(relation, tuple((f"g{i}", e) for i, e in enumerate(by)))
        alias = unused("subquery", self.builder.taken | view.aliases)
        columns = {name: Column(kind, alias, name) for name, kind in table.columns}
        columns[PERSON] = Column(relation.person.type, alias, PERSON)
        now = {e: columns[f"g{by.index(e)}"] if e in by else columns[PERSON] for _, e in keys}
        conditions = tuple(build.comparison("=", outside, now[e]) for outside, e in keys)
        present = columns[PERSON]
        side = Side("left", table, alias, conditions)
        return build.negation(IsNull(BOOLEAN, present)), replace(view, sides=(*view.sides, side))

    def _value(self, view: View, query: Any) -> tuple[Expression, View]:
        """A SELECT in parentheses as a value."""
        opened = self._open(view, query)
        persons = self.builder.tables.persons
        private = any(persons.private(table) for _, table in opened.rows.tables)
        if private and self.builder.tied(view, opened.rows.tables, (*opened.rows.conditions, *opened.ties)) is None:
            if self.builder.crossing is None:
                raise UnsupportedQuery(
                    "a subquery that is a value must be about the same person here, as in WHERE inner.person = "
                    "outer.person; ask one across persons as a question of its own."
                )
            keys = [_sides(tie, opened.rows.aliases, "a subquery across persons") for tie in opened.ties]
            alone = replace(opened.builder, outer=None)
            return self.builder.crossing.value(alone, view, opened.query, opened.text, opened.rows, dict(keys))
        inner = self._close(opened)
        if not inner.rows.tables and len(inner.columns) == 1:
            return inner.columns[0], view  # a number that was answered first
        if len(inner.columns) != 1:
            raise UnsupportedQuery("a subquery that is a value selects one column; name one.")
        one, (value, *ties) = self._as_one(view, inner.rows, (inner.columns[0], *inner.ties), computed=True)
        ((alias, table),) = one.tables
        self._refuse_several(one, table, ties)
        side = Side("left", table, alias, (*one.conditions, *ties))

        def counted(column: Column) -> Expression:
            return COALESCE(column, Constant(INTEGER, 0)) if column in inner.counts else column

        return with_columns(value, counted), replace(view, sides=(*view.sides, side))

    def _refuse_several(self, one: View, table: Any, ties: Sequence[Expression]) -> None:
        """Refuse a value that may have several rows: which of them is meant nobody knows."""
        alias = one.tables[0][0]
        names = {pair[1].name for tie in ties if (pair := equality(tie, alias)) is not None}
        tables = self.builder.tables
        if not isinstance(table, str):
            names.add(PERSON)  # by which it is tied
        if not any(set(key) <= names for key in tables.joins.keys_of(table)):
            raise UnsupportedQuery(
                "a subquery that is a value may have several rows; select an aggregate such as MIN(…), compared by "
                "equalities alone."
            )

    # ---- what is inside -----------------------------------------------------------------------------------------

    def _open(self, view: View, query: Any, values: bool = True) -> _Opened:
        """A subquery that may refer to the rows of a view, up to its WHERE."""
        while type(query).__name__ == "Subquery":
            query = query.this
        inside = self.builder.inside(view)
        if type(query).__name__ != "Select":
            alone = replace(inside, outer=None)
            return _Opened(alone, None, selected(alone, query, "subquery", self.known).view("subquery"), ())
        text, query = query.sql("duckdb"), query.copy()
        if not values:
            query.set("limit", None)
            if not any(query.args.get(name) for name in ("group", "having", "qualify")):
                query.set("expressions", [_aliased(_one(), "one")])
        if query.args.get("distinct") and not query.args["distinct"].args.get("on"):
            query.set("distinct", None)  # nobody asks how often a value is there
        for number, item in enumerate(query.expressions):
            if not item.alias_or_name and type(item).__name__ != "Star":
                item.replace(_aliased(item.copy(), f"column {number}"))
        check_clauses(query)
        rows = inside.rows(query, self.known)
        own = rows.aliases
        ties = tuple(c for c in rows.conditions if any(column.table not in own for column in c.columns()))
        if any(c.table not in own for side in rows.sides for e in side.conditions for c in e.columns()):
            raise UnsupportedQuery("a subquery may refer to the query directly around it only; join the tables there.")
        rows = replace(rows, conditions=tuple(c for c in rows.conditions if c not in ties))
        return _Opened(inside, query, rows, ties, text)

    def _close(self, opened: _Opened) -> _Inner:
        """The subquery with its SELECT, GROUP BY and what else it has."""
        rows, ties = opened.rows, opened.ties
        if opened.query is None:
            return _Inner(rows, tuple(rows.scope.tables["subquery"].values()), ())
        stage = Stage(opened.builder, opened.query, "subquery", self.known)
        if not stage.computes():
            found = stage.read(rows)
            return _Inner(found.rows, tuple(found.columns.values()), ties)
        stage = replace(stage, builder=replace(opened.builder, outer=None))
        keys = [_sides(tie, rows.aliases, "a subquery with aggregates") for tie in ties]
        found = stage.read(rows, [e for _, e in keys])
        now = tuple(build.comparison("=", outside, e) for (outside, _), e in zip(keys, found.links, strict=True))
        return _Inner(found.rows, tuple(found.columns.values()), now, found.counts)

    def _read(self, view: View, query: Any, values: bool = True) -> _Inner:
        return self._close(self._open(view, query, values))

    def _as_one(
        self, view: View, rows: View, expressions: tuple[Expression, ...], computed: bool = False
    ) -> tuple[View, tuple[Expression, ...]]:
        """Some rows as one table, and expressions in terms of it."""
        rows = rows.apart(self.builder.taken | view.aliases) if rows.aliases & view.aliases else rows
        if len(rows.tables) == 1 and not rows.sides and not (computed and rows.conditions):
            return rows, expressions
        own = rows.aliases
        used = dict.fromkeys(c for e in expressions for c in sorted(e.columns(), key=repr) if c.table in own)
        alias = unused("subquery", self.builder.taken | view.aliases | own)
        made, columns = self.builder.wrap(rows, {column: f"s{i}" for i, column in enumerate(used)}, alias)
        return made, with_columns(expressions, lambda column: columns.get(column, column))


def _sides(tie: Expression, own: frozenset[str], what: str) -> tuple[Expression, Expression]:
    """(what the query around brings, what is inside) of an equality."""
    if isinstance(tie, Comparison) and tie.operator == "=":
        for outside, inside in ((tie.left, tie.right), (tie.right, tie.left)):
            tables = {column.table for column in inside.columns()}
            if tables and tables <= own and not {column.table for column in outside.columns()} & own:
                return outside, inside
    raise UnsupportedQuery(f"{what} is compared with the query around it by equalities only; write a = b.")


def _bare(node: Any) -> tuple[Any, bool]:
    """A condition without the NOT and the parentheses around it, and whether it is negated."""
    negative = False
    while type(node).__name__ in ("Not", "Paren"):
        negative ^= type(node).__name__ == "Not"
        node = node.this
    return node, negative


def _nested(node: Any) -> bool:
    """Whether a subquery stands in a node."""
    from sqlglot import exp

    return node.find(exp.Select, exp.SetOperation) is not None


def _one() -> Any:
    from sqlglot import exp

    return exp.Literal.number(1)


def _number(value: float) -> Any:
    """A released number, written out."""
    from sqlglot import exp

    return exp.Paren(this=exp.Literal.number(f"{value!r}e0" if "e" not in repr(value) else repr(value)))


def _aliased(node: Any, name: str) -> Any:
    from sqlglot import exp

    return exp.alias_(node, name, quoted=True)
