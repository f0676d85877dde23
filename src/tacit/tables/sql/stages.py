"""What a SELECT inside another means: GROUP BY, HAVING, windows, QUALIFY, DISTINCT and UNION inside each person's rows.

A stage turns a view into a derived table of the same persons (`tacit.engines.requests.derived`), whose rows are made
from rows of one person. So what is grouped, ranked or deduplicated must keep persons apart: the person, or a column
that determines the person (`PersonFinder.determined`), must be among what it is done by. The person is then added
silently, which changes nothing. Where the person is missing, rows of several persons would meet, and the query is
refused with what to write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.engines.requests.derived import NOBODY, PERSON, PersonGroups, PersonRows, Union
from tacit.errors import UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Column, Expression, Scope
from tacit.tables.sql.inside import known_windows, window_of
from tacit.tables.sql.nodes import (
    COMPUTED,
    Outputs,
    aggregates_in,
    computed_column,
    hidden,
    named_column,
    restored,
    swapped,
    windows_in,
)
from tacit.tables.sql.person_groups import Groups, keeping_apart
from tacit.tables.sql.rewriting import with_columns
from tacit.tables.sql.view import View
from tacit.tables.sql.views import ViewBuilder, refuse

_CLAUSES = {
    "expressions", "from_", "joins", "where", "with_", "kind", "order", "group", "having", "windows", "qualify",
    "distinct",
}  # fmt: skip
"""What a subquery may have; an order without LIMIT changes nothing."""


@dataclass(frozen=True)
class Selected:
    """The rows of a SELECT, and its columns by name."""

    rows: View
    columns: Mapping[str, Expression]
    links: tuple[Expression, ...] = ()
    """What the query around it is compared with."""
    counts: frozenset[Column] = frozenset()
    """The columns that are 0 and not NULL where there is no row."""

    def view(self, alias: str) -> View:
        """As a subquery of this name."""
        return replace(self.rows, scope=Scope({alias: self.columns}))


def selected(builder: ViewBuilder, query: Any, alias: str, known: Mapping[str, View]) -> Selected:
    """What a subquery or CTE selects."""
    kind = type(query).__name__
    if kind == "Subquery" and not any(part for name, part in query.args.items() if name != "this"):
        return selected(builder, query.this, alias, known)
    if kind == "Union":
        return _union(builder, query, alias, known)
    if kind in ("Except", "Intersect"):
        instead = "NOT IN or NOT EXISTS" if kind == "Except" else "IN or EXISTS"
        raise UnsupportedQuery(f"{kind.upper()} is not supported; use {instead} over the same person.")
    if kind != "Select":
        raise UnsupportedQuery("a subquery must be a SELECT; nothing is ever changed.")
    check_clauses(query)
    return Stage(builder, query, alias, known).read(builder.rows(query, known))


def check_clauses(query: Any) -> None:
    """Refuse what a subquery cannot have."""
    refuse(query, _CLAUSES, "in a subquery")


@dataclass(frozen=True)
class Stage:
    """One SELECT, step by step; ``view`` and ``scope`` say what the clauses that come next may use."""

    builder: ViewBuilder
    select: Any
    alias: str
    known: Mapping[str, View]

    def computes(self) -> bool:
        """Whether it does more than rename, derive and filter rows."""
        clauses = ("group", "having", "qualify", "distinct")
        inside = (next(aggregates_in(item), None) or next(windows_in(item), None) for item in self.select.expressions)
        return any(self.select.args.get(name) for name in clauses) or any(inside)

    def _groups(self, nodes: list[Any]) -> bool:
        """Whether rows are put together."""
        clauses = self.select.args.get("group") or self.select.args.get("having")
        return bool(clauses) or any(next(aggregates_in(node), None) for node in nodes)

    def read(self, view: View, links: Sequence[Expression] = ()) -> Selected:
        """The rows and columns of a SELECT over a view; ``links`` are kept for the query around it."""
        from tacit.tables.sql.subqueries import with_values

        select = self.select
        clauses = [select.args[name].this for name in ("having", "qualify") if select.args.get(name)]
        items, clauses = self._without_aliases(self._items(view), clauses, view.scope)
        nodes = [node for _, node in items] + clauses
        known = {**self.known, **self.builder.ctes(select, self.known)}
        links, counts = tuple(links), frozenset[Column]()
        if self._across(view, nodes, links):
            nodes, view = with_values(self.builder, view, nodes, known)
            return self._answered_first(view, items, nodes)
        if self._groups(nodes):
            inner = [node for each in nodes for node in aggregates_in(each)]
            new, view = with_values(self.builder, view, inner, known)
            nodes, held = hidden([swapped(node, inner, new) for node in nodes])
            view, nodes, links, counts = self._grouped(view, nodes, [name for name, _ in items], links)
            nodes = [restored(node, held) for node in nodes]
        nodes, view = with_values(self.builder, view, nodes, known)
        shown, clauses = nodes[: len(items)], nodes[len(items) :]
        if select.args.get("having"):
            view = view.where(self.builder.condition(clauses.pop(0), view.scope, "HAVING"))
        if any(next(windows_in(node), None) for node in [*shown, *clauses]):
            view, outputs, links = self._ranked(view, shown, clauses, links)
        elif clauses:
            raise UnsupportedQuery("QUALIFY needs a window function (OVER); write WHERE or HAVING.")
        else:
            outputs = [self.builder.convert(node, view.scope) for node in shown]
        columns: dict[str, Expression] = {}
        for (name, _), output in zip(items, outputs, strict=True):
            columns.setdefault(name, output)
        distinct = select.args.get("distinct")
        if distinct is None:
            return Selected(view, columns, tuple(links), counts)
        if distinct.args.get("on"):
            raise UnsupportedQuery(
                "DISTINCT ON is not supported; use QUALIFY ROW_NUMBER() OVER (PARTITION BY person ORDER BY …) = 1."
            )
        return distinct_rows(self.builder, view, columns, self.alias, links)

    def _items(self, view: View) -> list[tuple[str, Any]]:
        """The output columns with their names, * written out."""
        items: list[tuple[str, Any]] = []
        for item in self.select.expressions:
            kind = type(item).__name__
            star = (
                item
                if kind == "Star"
                else item.this
                if kind == "Column" and type(item.this).__name__ == "Star"
                else None
            )
            if star is None:
                named = item.alias or (item.name if kind == "Column" else item.sql("duckdb"))
                items.append((named, item.this if kind == "Alias" else item))
                continue
            if any(star.args.values()):
                raise UnsupportedQuery("* with EXCLUDE, REPLACE or RENAME is not supported; name the columns.")
            wanted = item.table.lower() if kind == "Column" else ""
            tables = [t for t in view.scope.tables if t != COMPUTED and wanted in ("", t.lower())]
            items += [(name, named_column(name, table)) for table in tables for name in view.scope.tables[table]]
        return items

    def _without_aliases(
        self, items: list[tuple[str, Any]], clauses: list[Any], scope: Scope
    ) -> tuple[list[tuple[str, Any]], list[Any]]:
        """What HAVING, QUALIFY and later columns mean by the name of an output; a table's own comes first."""
        around = self.builder.outer.tables if self.builder.outer else {}
        known = {column.lower() for table in (*scope.tables.values(), *around.values()) for column in table}
        outputs = Outputs()
        found = []
        for name, node in items:
            node = outputs.written_out(node)
            found.append((name, node))
            if name.lower() not in known:
                outputs.add(name.lower(), node)
        return found, [outputs.written_out(clause) for clause in clauses]

    # ---- across persons -----------------------------------------------------------------------------------------

    def _across(self, view: View, nodes: list[Any], links: Sequence[Expression]) -> bool:
        """Whether it is one row about rows of all persons."""
        clauses = ("group", "having", "qualify", "distinct")
        if links or self.builder.crossing is None or any(self.select.args.get(name) for name in clauses):
            return False
        private = any(self.builder.tables.persons.private(table) for _, table in view.tables)
        return private and all(next(aggregates_in(node), None) for node in nodes)

    def _answered_first(self, view: View, items: list[tuple[str, Any]], nodes: list[Any]) -> Selected:
        """Numbers about all persons, which are asked as questions of their own."""
        assert self.builder.crossing is not None
        columns: dict[str, Expression] = {}
        for (name, _), node in zip(items, nodes, strict=True):
            asked = self.select.copy()
            asked.set("expressions", [node.copy()])
            text = asked.sql("duckdb")
            columns[name], _ = self.builder.crossing.value(self.builder, view, asked, text, view, {})
        return Selected(View((), (), (), Scope({})), columns)

    # ---- GROUP BY -----------------------------------------------------------------------------------------------

    def _grouped(
        self, view: View, nodes: list[Any], names: list[str], links: tuple[Expression, ...]
    ) -> tuple[View, list[Any], tuple[Expression, ...], frozenset[Column]]:
        """The groups of each person, and the clauses that come next in terms of them."""
        relation = self.builder.one_person(view, "an aggregate in a subquery")
        by = [self.builder.convert(node, view.scope) for node in self._by(nodes, names, view.scope)]
        groups = Groups.of(self.builder, relation, view.scope, [*by, *links], nodes)
        made, columns = self.builder.computed(groups.table, self.alias)
        new, computed = groups.stand_ins(nodes, columns)
        linked = tuple(column for link in links if (column := groups.column_of(link, columns)) is not None)
        counted = [columns[name] for name, each in groups.table.aggregates if each.function == "count"]
        counts = frozenset() if self.select.args.get("group") else frozenset(counted)
        return replace(made, scope=Scope({COMPUTED: computed})), new, linked, counts

    def _by(self, nodes: list[Any], names: list[str], scope: Scope) -> Iterable[Any]:
        """What rows are grouped by: columns, output columns by number or name, or all that is no aggregate."""
        group = self.select.args.get("group")
        if group is None:
            return
        extra = [name for name, part in group.args.items() if part and name not in ("expressions", "all")]
        if extra:
            raise UnsupportedQuery("GROUP BY takes columns or expressions in a subquery, no ROLLUP, CUBE or SETS.")
        plain = [node for node in nodes[: len(names)] if next(aggregates_in(node), None) is None]
        if group.args.get("all"):
            yield from (node for node in plain if next(windows_in(node), None) is None)
        known = {column.lower() for table in scope.tables.values() for column in table}
        for node in group.expressions:
            if type(node).__name__ == "Literal" and not node.is_string:
                number = int(node.this) if node.this.isdigit() and len(node.this) < 5 else 0
                if not 1 <= number <= len(names):
                    raise UnsupportedQuery("GROUP BY names an output column that is not there; write its name.")
                yield nodes[number - 1]
            elif type(node).__name__ == "Column" and not node.table and node.name.lower() not in known:
                outputs = dict(
                    zip((name.lower() for name in reversed(names)), reversed(nodes[: len(names)]), strict=True)
                )
                yield outputs.get(node.name.lower(), node)
            else:
                yield node

    # ---- windows ------------------------------------------------------------------------------------------------

    def _ranked(
        self, view: View, shown: list[Any], clauses: list[Any], links: tuple[Expression, ...]
    ) -> tuple[View, list[Expression], tuple[Expression, ...]]:
        """The rows with what windows over each person's rows say about them."""
        relation = self.builder.one_person(view, "OVER (…)")
        named = {window.name.lower(): window for window in self.select.args.get("windows") or ()}
        nodes = [*shown, *clauses]
        found = list(dict.fromkeys(node for each in nodes for node in windows_in(each)))
        windows = []
        for node in found:
            window = window_of(known_windows(node, named), lambda part: self.builder.convert(part, view.scope))
            _, by = keeping_apart(self.builder, relation, window.partition, "PARTITION BY in OVER (…)")
            windows.append(replace(window, partition=tuple(by)))
        inside = " ranked"
        ranks = {f"w{i}": Column(window.type, inside, f"w{i}") for i, window in enumerate(windows)}
        mixed = Scope({**view.scope.tables, COMPUTED: {**view.scope.tables.get(COMPUTED, {}), **ranks}})

        def stand_in(node: Any) -> Any:
            return computed_column(f"w{found.index(node)}") if type(node).__name__ == "Window" else node

        outputs = [self.builder.convert(node.transform(stand_in), mixed) for node in shown]
        conditions = [self.builder.condition(node.transform(stand_in), mixed, "QUALIFY") for node in clauses]
        used = [c for e in (*outputs, *conditions, *links) for c in sorted(e.columns(), key=repr) if c.table != inside]
        classes = self.builder.tables.persons.classes(relation)
        own = [c for c in dict.fromkeys(used) if classes.of(c) != classes.of(relation.person)]
        table = PersonRows(
            relation,
            tuple((f"s{i}", column) for i, column in enumerate(own)),
            tuple((f"w{i}", window) for i, window in enumerate(windows)),
        )
        made, columns = self.builder.computed(table, self.alias)

        def moved(column: Column) -> Expression:
            if column.table == inside:
                return columns[column.name]
            return columns[f"s{own.index(column)}"] if column in own else columns[PERSON]

        made = replace(made, scope=Scope({self.alias: {}}))
        for condition in with_columns(tuple(conditions), moved):
            made = made.where(condition)
        return made, [with_columns(output, moved) for output in outputs], with_columns(tuple(links), moved)


# ---- DISTINCT and UNION ------------------------------------------------------------------------------------------


def distinct_rows(
    builder: ViewBuilder, view: View, columns: Mapping[str, Expression], alias: str, links: Sequence[Expression] = ()
) -> Selected:
    """One row for each person and each combination of some columns."""
    relation = builder.one_person(view, "SELECT DISTINCT in a subquery")
    person, by = keeping_apart(builder, relation, [*columns.values(), *links], "SELECT DISTINCT in a subquery")
    made, known = builder.computed(PersonGroups(relation, tuple((f"g{i}", e) for i, e in enumerate(by))), alias)

    def now(expression: Expression) -> Expression:
        if isinstance(expression, Column) and person(expression):
            return known[PERSON]
        return known[f"g{by.index(expression)}"] if expression in by else expression

    return Selected(made, {name: now(e) for name, e in columns.items()}, tuple(map(now, links)))


def _union(builder: ViewBuilder, query: Any, alias: str, known: Mapping[str, View]) -> Selected:
    extra = [
        n for n, part in query.args.items() if part and n not in ("this", "expression", "distinct", "with_", "order")
    ]
    if extra:
        raise UnsupportedQuery(
            f"UNION with {extra[0].strip('_').upper()} is not supported in a subquery; leave it out."
        )
    known = {**known, **builder.ctes(query, known)}
    operands = [query.this, query.expression]
    while (
        type(operands[0]).__name__ == "Union"
        and not operands[0].args.get("distinct")
        and not query.args.get("distinct")
    ):
        operands[:1] = [operands[0].this, operands[0].expression]
    parts = [selected(builder, operand, alias, known) for operand in operands]
    relations = [builder.one_person(part.rows, "UNION") for part in parts]
    if len({len(part.columns) for part in parts}) > 1:
        raise UnsupportedQuery("UNION needs the same number of columns in every part; name them in the same order.")
    if len({relation.kind for relation in relations}) > 1 or len({r.person == NOBODY for r in relations}) > 1:
        raise UnsupportedQuery(
            "UNION puts together rows of the same kind of person; ask about tables of other persons one by one."
        )
    classes = [builder.tables.persons.classes(relation) for relation in relations]
    lists = [list(part.columns.values()) for part in parts]
    shown: list[list[tuple[str, Expression]]] = [[] for _ in parts]
    outputs: dict[str, str] = {}
    for i, name in enumerate(parts[0].columns):
        column = [each[i] for each in lists]
        if relations[0].person != NOBODY and all(
            isinstance(e, Column) and c.of(e) == c.of(r.person)
            for e, c, r in zip(column, classes, relations, strict=True)
        ):
            outputs[name] = PERSON
            continue
        outputs[name] = f"u{i}"
        for part, expression in zip(shown, build.alike(column, "UNION"), strict=True):
            part.append((f"u{i}", expression))
    table = Union(tuple(PersonRows(r, tuple(own)) for r, own in zip(relations, shown, strict=True)))
    made, columns = builder.computed(table, alias)
    named: dict[str, Expression] = {name: columns[column] for name, column in outputs.items()}
    if query.args.get("distinct"):
        return distinct_rows(builder, made, named, alias)
    return Selected(made, named)
