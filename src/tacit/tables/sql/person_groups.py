"""The groups of each person: what rows are grouped by, their aggregates, and what the clauses after GROUP BY see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.engines.requests import Relation
from tacit.engines.requests.derived import NOBODY, PERSON, PersonGroups
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language.expressions import Column, Expression, Literal, Scope
from tacit.language.parsing import parsed_expression
from tacit.tables.sql.inside import aggregate_of, is_aggregate
from tacit.tables.sql.nodes import COMPUTED, aggregates_in, computed_column, inside_window, windows_in
from tacit.tables.sql.views import ViewBuilder


def keeping_apart(
    builder: ViewBuilder, relation: Relation, by: Iterable[Expression], what: str
) -> tuple[Any, list[Expression]]:
    """Whether a column is the person, and what rows are put together by besides; it must keep persons apart."""
    persons = builder.tables.persons
    classes, given = persons.classes(relation), list(dict.fromkeys(by))
    if not persons.determined(relation, given):
        name = relation.person.name
        clause = what.partition(" in ")[0]
        raise UnsupportedQuery(
            f"{what} would put rows of several persons together; add the person: {clause} {name}, …. To ask about "
            "groups of all persons, use GROUP BY in the outermost query."
        )

    def is_person(column: Column) -> bool:
        return relation.person != NOBODY and classes.of(column) == classes.of(relation.person)

    rest = [e for e in given if not (isinstance(e, Column) and is_person(e)) and not isinstance(e, Literal)]
    return is_person, rest


@dataclass(frozen=True)
class Groups:
    """The groups of each person, and how nodes over rows become nodes over groups."""

    builder: ViewBuilder
    scope: Scope
    table: PersonGroups
    is_person: Callable[[Column], bool]
    found: tuple[Any, ...]
    """The aggregates as they are written, and"""
    places: tuple[str, ...]
    """the column that each is in."""

    @classmethod
    def of(
        cls, builder: ViewBuilder, relation: Relation, scope: Scope, by: Sequence[Expression], nodes: Iterable[Any]
    ) -> Groups:
        """The groups that some columns make, with the aggregates in some nodes."""
        is_person, rest = keeping_apart(builder, relation, by, "GROUP BY in a subquery")
        found = tuple(dict.fromkeys(node for each in nodes for node in aggregates_in(each)))
        aggregates = [aggregate_of(node, lambda part: builder.convert(part, scope)) for node in found]
        names = {each: f"a{i}" for i, each in enumerate(dict.fromkeys(aggregates))}
        table = PersonGroups(
            relation,
            tuple((f"g{i}", e) for i, e in enumerate(rest)),
            tuple((name, each) for each, name in names.items()),
        )
        return cls(builder, scope, table, is_person, found, tuple(names[each] for each in aggregates))

    def column_of(self, expression: Expression, columns: Mapping[str, Column]) -> Column | None:
        """The column of the groups that an expression over rows is, if they are grouped by it."""
        if isinstance(expression, Column) and self.is_person(expression):
            return columns[PERSON]
        return next((columns[name] for name, e in self.table.by if e == expression), None)

    def stand_ins(self, nodes: Iterable[Any], columns: Mapping[str, Column]) -> tuple[list[Any], dict[str, Expression]]:
        """Nodes over the groups, and what the columns in them stand for."""
        from sqlglot import exp

        computed: dict[str, Expression] = {}

        def place(expression: Expression) -> Any:
            name = f"{len(computed)}"
            computed[name] = expression
            return computed_column(name)

        def stand_in(node: Any) -> Any:
            kind = type(node).__name__
            if is_aggregate(node):
                return place(columns[self.places[self.found.index(node)]])
            if kind == "Window":
                return inside_window(node, stand_in)
            if not isinstance(node, exp.Condition) or next(aggregates_in(node), None) or next(windows_in(node), None):
                return node
            try:
                expression = self.builder.convert(node, self.scope)
            except UnsupportedQuery:
                return node
            group = self.column_of(expression, columns)
            if group is not None:
                return place(group)
            if kind == "Column" and not isinstance(expression, Literal):
                text = node.sql()
                raise UnsupportedQuery(f"{text} must stand in GROUP BY or inside an aggregate, such as MAX({text}).")
            return place(expression) if kind == "Column" else node

        return [node.transform(stand_in) for node in nodes], computed


def per_person(
    builder: ViewBuilder, relation: Relation, scope: Scope, by: Mapping[str, Expression], texts: Mapping[str, str]
) -> tuple[Relation, Scope]:
    """One row for each person, and each combination of ``by``, with aggregates of the rows."""
    nodes = [parsed_expression(text) for text in texts.values()]
    groups = Groups.of(builder, relation, scope, [relation.person, *by.values()], nodes)
    alias = f"{relation.alias} per person"
    made, columns = builder.computed(groups.table, alias)
    new, computed = groups.stand_ins(nodes, columns)
    known = [name for table in scope.tables.values() for name, e in table.items() if e == relation.person]
    shown: dict[str, Expression] = {known[0] if known else relation.person.name: columns[PERSON]}
    shown |= {name: groups.column_of(e, columns) or e for name, e in by.items()}
    for name, node in zip(texts, new, strict=True):
        if name in shown:
            raise InvalidInput(f"{name!r} names two columns; give the aggregate another name.")
        shown[name] = builder.convert(node, Scope({COMPUTED: computed}))
    rows = builder.one_person(replace(made, scope=Scope({alias: shown})), "per_person")
    return rows, Scope({alias: shown})
