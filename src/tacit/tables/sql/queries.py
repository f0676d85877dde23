"""SQL: one SELECT with aggregates becomes the same questions that the fluent face asks.

The cost is split over the distinct aggregates, wherever they stand: in the select list, HAVING or ORDER BY
(`tacit.tables.sql.plan`). What surrounds them is computed from released answers and free. What cannot be answered
privately is refused before anything is spent, with the clause at fault and what to write instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Approx, Guarantee
from tacit.language.expressions import Expression, Scope
from tacit.language.parsing import convert, deep, parsed
from tacit.tables.face.declarations import Private
from tacit.tables.sql.aggregates import AggregateReader, has_aggregate
from tacit.tables.sql.crossing import Crossing, First, QuestionsInTurn, in_turn
from tacit.tables.sql.grouping_sets import grouping_sets
from tacit.tables.sql.privacy_clause import Priced, check_unit
from tacit.tables.sql.public_keys import known_keys
from tacit.tables.sql.public_query import PublicQuery, is_public, public_query
from tacit.tables.sql.query import Query
from tacit.tables.sql.selection import Asked, Selection, bare, position
from tacit.tables.sql.subqueries import with_subqueries
from tacit.tables.sql.view import View
from tacit.tables.sql.views import ViewBuilder, refuse
from tacit.tables.statistics.ways.groups import Groups, given, listed
from tacit.tables.statistics.ways.margins import with_margins

if TYPE_CHECKING:
    from sqlglot import exp

    from tacit.tables.releasing.releaser import Releaser

_CLAUSES = {"expressions", "from_", "joins", "where", "with_", "group", "having", "order", "limit", "offset", "kind"}
_OF_ROWS = {"distinct", "qualify", "windows"}
"""What a query over public tables may have besides."""

Sets = list[tuple[int, ...]] | None
"""Grouping sets, as places of what is grouped by; None where there is one set of all."""

MOST_COLUMNS = 100
"""The most output columns of a query, and the most items of its GROUP BY and ORDER BY."""


Understood = Query | PublicQuery | QuestionsInTurn
"""What a SELECT asks: a question, several in turn, or something public."""


def understand(releaser: Releaser, asked: Priced, keys: Any = None, weights: Any = None) -> Understood:
    """What a query asks; refuses what cannot be answered, and spends nothing."""
    try:
        return in_turn(releaser, asked.cost, partial(_reader, releaser, asked, keys, weights, {}))
    except RecursionError:
        raise deep("the query") from None


def _reader(
    releaser: Releaser,
    asked: Priced,
    keys: Any,
    weights: Any,
    seen: dict[Any, Any],
    crossing: Crossing,
    cost: Guarantee,
) -> _Reader:
    """Who reads a query at a cost."""
    return _Reader(releaser, replace(asked, cost=cost), keys, weights, crossing, seen)


def parse_select(query: str) -> exp.Select:
    """The one SELECT that a text holds."""
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("a query must be a non-empty string such as 'SELECT SUM(amount) FROM orders'.")
    statements = [statement for statement in parsed(query, "the query") if statement is not None]
    if len(statements) != 1:
        raise UnsupportedQuery("one SELECT is expected, not several statements; ask them one after the other.")
    select = statements[0]
    if type(select).__name__ in ("Union", "Except", "Intersect"):
        raise UnsupportedQuery("UNION and other set operations are not supported; ask one SELECT at a time.")
    if type(select).__name__ != "Select":
        raise UnsupportedQuery("only SELECT can be asked; nothing is ever changed.")
    return cast("exp.Select", select)


@dataclass(frozen=True)
class _Reader:
    releaser: Releaser
    asked: Priced
    keys: Any
    weights: Any
    crossing: Crossing
    seen: dict[Any, Any]
    """What public tables hold."""

    def read(self) -> Query | PublicQuery:
        """The query as it is written."""
        select = parse_select(self.asked.query)
        refuse(select, _CLAUSES | _OF_ROWS)
        for clause in (select, select.args.get("group"), select.args.get("order")):
            if clause is not None and len(clause.expressions) > MOST_COLUMNS:
                raise UnsupportedQuery(f"a query has at most {MOST_COLUMNS} columns; ask several queries.")
        views = ViewBuilder(self.releaser.tables, self.crossing, seen=self.seen)
        known = views.ctes(select, {})
        rows = views.rows(select, known)
        if is_public(views, rows):
            for name, given_one in (("keys", self.keys), ("weights", self.weights)):
                if given_one is not None:
                    raise InvalidInput(
                        f"{name}= is for questions about persons, and only public tables are read here; leave it out."
                    )
            return public_query(self.releaser, views, rows, select, known, self.asked.cost)
        refuse(select, _CLAUSES)
        select, view = with_subqueries(views, rows, select, known)
        return self.read_over(views, view, select)

    def first(self, first: First) -> Query:
        """A subquery that is asked before this query."""
        asked = replace(self.asked, query=first.text)
        return replace(self, asked=asked, keys=first.keys, weights=None).read_over(
            first.builder, first.view, first.select
        )

    def read_over(self, views: ViewBuilder, view: View, select: Any) -> Query:
        """What a SELECT asks of a view."""
        relation = views.relation(view)
        if self.asked.unit is not None:
            tables = [self.releaser.tables.declared[name] for name in relation.tables]
            persons = [person.column for table in tables if isinstance(table, Private) for person in table.persons]
            check_unit(self.asked.unit, persons, single=not relation.others)
        by, sets = self._by(select, view.scope)
        groups = self._groups(by, sets, views, view) if by else None
        if self.keys is not None and not by:
            raise InvalidInput("keys= needs a GROUP BY; add one, or leave keys= out.")
        asked = Asked(AggregateReader(view.scope, relation, self.releaser.tables.unit(relation), groups), by)
        layout = Selection(select, asked).layout(tuple(name for _, name in by))
        single = relation.one_row_each
        statistics = tuple(each.of_single_rows if single else each for each in asked.statistics)
        return Query(self.releaser, relation, statistics, layout, self.asked.cost, self.asked.query, self.weights)

    def _by(self, select: exp.Select, scope: Scope) -> tuple[list[tuple[Expression, str]], Sets]:
        """What rows are grouped by, and which of it each of several grouping sets keeps."""
        group = select.args.get("group")
        if group is None:
            return [], None
        nodes, sets = grouping_sets(group) if not group.args.get("all") else ([], None)
        aliases = {item.alias.lower(): item.this for item in select.expressions if type(item).__name__ == "Alias"}
        found = []
        if group.args.get("all"):
            nodes = [node for node in map(bare, select.expressions) if not has_aggregate(node) and _columns(node)]
        for node in nodes:
            if type(node).__name__ == "Literal" and not node.is_string:
                item = position(node, select)
                if item is None:
                    raise UnsupportedQuery(
                        "GROUP BY names an output column that is not there; write the column's name."
                    )
                node = bare(item)
            elif type(node).__name__ == "Column" and not node.table and node.name.lower() in aliases:
                alias = node.name.lower()
                name_in_scope = any(alias == known.lower() for table in scope.tables.values() for known in table)
                node = node if name_in_scope else aliases[alias]
            found.append((convert(node, scope), node.name if type(node).__name__ == "Column" else node.sql()))
        return found, sets

    def _groups(self, by: list[tuple[Expression, str]], sets: Sets, views: ViewBuilder, view: View) -> Groups:
        expressions = tuple(expression for expression, _ in by)
        names = tuple(name for _, name in by)
        if self.keys is None:
            keys = known_keys(views, view, expressions, absent_delta=not isinstance(self.asked.cost, Approx))
        else:
            keys = listed(self.keys, "keys")
        if keys is None and sets is not None:
            raise UnsupportedQuery(
                "ROLLUP, CUBE and GROUPING SETS need groups that are known before anybody is asked; name them with "
                "keys=, with IN, or by a public table."
            )
        groups = Groups(expressions, (), (), ", ".join(names)) if keys is None else given(expressions, names, keys)
        return groups if sets is None else with_margins(groups, sets)


def _columns(node: Any) -> bool:
    """Whether a column is in an expression."""
    from sqlglot import exp

    return node.find(exp.Column) is not None
