"""SQL: one SELECT with aggregates becomes the same questions that the fluent face asks.

The cost is split evenly over the distinct aggregates. ORDER BY and LIMIT over output columns are post-processing of
released answers. What cannot be answered privately is refused before anything is spent, with the clause at fault
and what to write instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, cast

from tacit.engines.requests import Relation
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Guarantee
from tacit.language.expressions import Case, Column, Comparison, Expression, In, Literal, Scope, expressions
from tacit.language.parsing import convert, deep, parsed
from tacit.language.types import BOOLEAN
from tacit.numbers.exact import exact
from tacit.tables.face.declarations import Private
from tacit.tables.sql.privacy_clause import Priced, check_unit
from tacit.tables.sql.public_facts import known_keys
from tacit.tables.sql.public_keys import public_keys
from tacit.tables.sql.query import Order, Query
from tacit.tables.sql.views import View, ViewBuilder, refuse
from tacit.tables.statistics import catalogue
from tacit.tables.statistics.base import Call, Operand, Statistic
from tacit.tables.statistics.ways.groups import MOST_KEYS, Groups, for_each, given, listed, written

if TYPE_CHECKING:
    from sqlglot import exp

    from tacit.tables.releasing.releaser import Releaser

_CLAUSES = {"expressions", "from_", "joins", "where", "with_", "group", "order", "limit", "kind"}


MOST_COLUMNS = 100
"""The most output columns of a query, and the most items of its GROUP BY and ORDER BY."""

LARGEST_QUERY = 40_000
"""The most parts of all expressions of a query together, each aggregate with its filter and its keys."""


def understand(releaser: Releaser, asked: Priced, keys: Any = None) -> Query:
    """What a query asks; refuses what cannot be answered, and spends nothing."""
    try:
        return _Reader(releaser, asked, keys).read()
    except RecursionError:
        raise deep("the query") from None


def parse_select(query: str) -> exp.Select:
    """The one SELECT that a text holds."""
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput("a query must be a non-empty string such as 'SELECT SUM(amount) FROM orders'.")
    statements = parsed(query, "the query")
    if len(statements) != 1 or statements[0] is None:
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

    def read(self) -> Query:
        select = parse_select(self.asked.query)
        refuse(select, _CLAUSES)
        for clause in (select, select.args.get("group"), select.args.get("order")):
            if clause is not None and len(clause.expressions) > MOST_COLUMNS:
                raise UnsupportedQuery(f"a query has at most {MOST_COLUMNS} columns; ask several queries.")
        views = ViewBuilder(self.releaser.tables)
        view = views.rows(select, {})
        relation = views.relation(view)
        if self.asked.unit is not None:
            tables = [self.releaser.tables.declared[name] for name in relation.tables]
            persons = [person.column for table in tables if isinstance(table, Private) for person in table.persons]
            check_unit(self.asked.unit, persons, single=not relation.others)
        aliases = {item.alias.lower(): item.this for item in select.expressions if type(item).__name__ == "Alias"}
        by = self._by(select, view.scope, aliases)
        groups = self._groups(by, view) if by else None
        if self.keys is not None and not by:
            raise InvalidInput("keys= needs a GROUP BY; add one, or leave keys= out.")
        statistics: list[Statistic] = []
        columns: list[tuple[str, int]] = []
        size = 0
        for item in select.expressions:
            node = item.this if type(item).__name__ == "Alias" else item
            if by and not _aggregate(node):
                if convert(node, view.scope) not in [expression for expression, _ in by]:
                    raise UnsupportedQuery(f"{node.sql()} must stand in GROUP BY or inside an aggregate.")
                continue
            statistic = self._statistic(node, relation, view.scope, groups)
            if statistic not in statistics:
                statistics.append(statistic)
                size += sum(part.extent[0] for part in expressions((relation, statistic)))
                if size > LARGEST_QUERY:
                    raise UnsupportedQuery(
                        f"the query has more than {LARGEST_QUERY:,} parts, filter and keys counted for each aggregate; "
                        "ask several queries."
                    )
            columns.append((_unused(item.alias or node.sql("duckdb"), columns), statistics.index(statistic)))
        if not statistics:
            raise UnsupportedQuery(f"the query has no aggregate, and rows are never shown; use {_known()}.")
        return Query(
            self.releaser,
            relation,
            tuple(statistics),
            tuple(columns),
            groups is not None,
            self._order(select, columns, by, view.scope),
            _limit(select),
            self.asked.cost,
            self.asked.query,
        )

    def _by(self, select: exp.Select, scope: Scope, aliases: dict[str, Any]) -> list[tuple[Expression, str]]:
        group = select.args.get("group")
        if group is None:
            return []
        if any(part for name, part in group.args.items() if name != "expressions"):
            raise UnsupportedQuery("GROUP BY takes columns or expressions; ROLLUP, CUBE and ALL are not supported.")
        found = []
        for node in group.expressions:
            if type(node).__name__ == "Literal" and not node.is_string:
                item = _position(node, select)
                if item is None:
                    raise UnsupportedQuery(
                        "GROUP BY names an output column that is not there; write the column's name."
                    )
                node = item.this if type(item).__name__ == "Alias" else item
            elif type(node).__name__ == "Column" and not node.table and node.name.lower() in aliases:
                alias = node.name.lower()
                name_in_scope = any(alias == known.lower() for table in scope.tables.values() for known in table)
                node = node if name_in_scope else aliases[alias]
            found.append((convert(node, scope), node.name if type(node).__name__ == "Column" else node.sql()))
        return found

    def _groups(self, by: list[tuple[Expression, str]], view: View) -> Groups:
        expressions = tuple(expression for expression, _ in by)
        names = tuple(name for _, name in by)
        if self.keys is not None:
            return given(expressions, names, listed(self.keys, "keys"))
        parts = [self._public_keys(expression, view) for expression in expressions]
        lists = [part for part in parts if part is not None]
        if len(lists) == len(parts) and (prod(map(len, lists)) <= MOST_KEYS or not _with_delta(self.asked.cost)):
            return given(expressions, names, _product(lists))
        return Groups(expressions, (), (), ", ".join(names))

    def _public_keys(self, expression: Expression, view: View) -> list[Any] | None:
        """Keys that the query itself, or a public table, makes public."""
        for condition in view.conditions:
            if isinstance(condition, In) and condition.operand == expression:
                return [written(item.value) for item in condition.items]
            match condition:
                case Comparison(operator="=", left=left, right=Literal(value=value)) if left == expression:
                    return [written(value)]
        if expression.type == BOOLEAN:
            return [True, False]
        if isinstance(expression, Case):
            values = [value for _, value in expression.branches] + [expression.default]
            if all(isinstance(value, Literal) for value in values):
                return list(dict.fromkeys(written(cast(Literal, value).value) for value in values))
        tables = dict(view.tables) | {join.alias: join.table for join in view.left}
        column = expression
        table = tables[column.table] if isinstance(column, Column) else None
        if isinstance(column, Column) and isinstance(table, str) and table not in self.releaser.tables.private_names:
            values = public_keys(self.releaser.tables, table, column.name)
            absent = [None] if column.table in [join.alias for join in view.left] else []
            return [*map(written, values), *absent]
        return known_keys(expression, view.conditions)

    def _statistic(self, node: Any, relation: Relation, scope: Scope, groups: Groups | None) -> Statistic:
        kind = type(node).__name__
        if kind == "Filter":
            raise UnsupportedQuery("FILTER (WHERE …) is not supported; write the condition in WHERE, or a CASE inside.")
        if kind == "Window":
            raise UnsupportedQuery("window functions (OVER) are not supported; use GROUP BY.")
        if not _aggregate(node):
            if _aggregates_inside(node):
                raise UnsupportedQuery(
                    f"{node.sql()} cannot be answered privately; select one of {_known()} by itself."
                )
            raise UnsupportedQuery(f"{node.sql()} is not an aggregate, and rows are never shown; use {_known()}.")
        extra = [name for name, part in node.args.items() if part and name not in _PARTS]
        if extra or (node.args.get("expressions") and kind != "Anonymous"):
            raise UnsupportedQuery(f"{node.sql()} has more than one argument; name one column.")
        name, call = self._call(node, relation, scope)
        entry = catalogue.asked_by(name)
        assert entry is not None
        statistic = entry.sql[name](call)
        return statistic if groups is None else for_each(statistic, groups)

    def _call(self, node: Any, relation: Relation, scope: Scope) -> tuple[str, Call]:
        """What an aggregate is named in the catalogue, and what it is called on."""

        def operand(part: Any) -> Operand:
            return Operand(convert(part, scope), part.sql(), self.releaser.tables.unit(relation))

        name = _name(node)
        if type(node).__name__ == "Anonymous":
            column, *rest = node.expressions or [None]
            return name, Call(None if column is None else operand(column), tuple(map(_fraction, rest)))
        inner = type(node.this).__name__
        if name == "Count":
            if inner == "Distinct":
                return self._distinct([operand(part) for part in node.this.expressions], relation)
            return name, Call(None if inner in ("Star", "Literal", "NoneType") else operand(node.this))
        if inner == "Distinct":
            raise UnsupportedQuery("DISTINCT inside this aggregate is not supported; use COUNT(DISTINCT …).")
        if name == "WithinGroup":
            column, argument = _within_group(node)
        else:
            column, argument = node.this, node.args.get("quantile") or node.args.get("expression")
        items = argument.expressions if type(argument).__name__ == "Array" else [argument] if argument else []
        return name, Call(operand(column), tuple(map(_fraction, items)))

    @staticmethod
    def _distinct(parts: list[Operand], relation: Relation) -> tuple[str, Call]:
        """COUNT(DISTINCT …) of the persons, or of other values."""
        if [part.expression for part in parts] == [relation.person] and not relation.others:
            return "CountPersons", Call(None)
        if len(parts) != 1:
            raise UnsupportedQuery("COUNT(DISTINCT …) takes one column; name one.")
        return "CountDistinct", Call(parts[0])

    def _order(
        self, select: exp.Select, columns: list[tuple[str, int]], by: list[tuple[Expression, str]], scope: Scope
    ) -> tuple[Order, ...]:
        order = select.args.get("order")
        items = [] if order is None else order.expressions
        return tuple(
            (*self._place(item.this, select, columns, by, scope), bool(item.args.get("desc"))) for item in items
        )

    def _place(
        self,
        node: Any,
        select: exp.Select,
        columns: list[tuple[str, int]],
        by: list[tuple[Expression, str]],
        scope: Scope,
    ) -> tuple[str, int]:
        """The aggregate or the part of the key that an item of ORDER BY names: by position, by name, or written out."""
        named = {item.alias.lower(): item for item in select.expressions if item.alias}
        if (item := _position(node, select)) is not None:
            node = item
        elif type(node).__name__ == "Column" and not node.table and node.name.lower() in named:
            node = named[node.name.lower()]
        bare = node.this if type(node).__name__ == "Alias" else node
        for known, i in columns:
            if known == node.alias or known == bare.sql("duckdb"):
                return "value", i
        if by and not _aggregate(bare):
            expressions = [expression for expression, _ in by]
            found = convert(bare, scope)
            if found in expressions:
                return "key", expressions.index(found)
        raise UnsupportedQuery("ORDER BY takes output columns only; name one of them.")


def _name(node: Any) -> str:
    """What a node of sqlglot is called in the catalogue: its class, or the name of a function it does not know."""
    kind = type(node).__name__
    return str(node.this).upper() if kind == "Anonymous" else kind


def _aggregate(node: Any) -> bool:
    name = _name(node)
    return name in ("Filter", "Window") or catalogue.asked_by(name) is not None


def _aggregates_inside(node: Any) -> bool:
    """Whether a part of a node is an aggregate, or a function that nobody knows."""
    from sqlglot import exp

    return node.find(exp.AggFunc, exp.Anonymous) is not None


def _known() -> str:
    """The aggregates there are."""
    *names, last = dict.fromkeys(entry.call.partition("(")[0] for entry in catalogue.callable_in_sql().values())
    return f"{', '.join(names)} and {last}"


_PARTS = {"this", "quantile", "expression", "expressions", "big_int"}
"""The parts an aggregate may have."""


def _within_group(node: Any) -> tuple[Any, Any]:
    """The column and the number of PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY column)."""
    order = node.expression.expressions if type(node.expression).__name__ == "Order" else []
    if type(node.this).__name__ not in ("PercentileCont", "PercentileDisc") or len(order) != 1:
        raise UnsupportedQuery("WITHIN GROUP is supported as PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY column).")
    if order[0].args.get("desc"):
        raise UnsupportedQuery("WITHIN GROUP (ORDER BY … DESC) is not supported; use 1 minus the number, ascending.")
    return order[0].this, node.this.this


def _position(node: Any, select: exp.Select) -> Any:
    """The output column that a number in GROUP BY or ORDER BY counts to, or None."""
    if type(node).__name__ != "Literal" or node.is_string or not re.fullmatch("[0-9]{1,9}", node.this):
        return None
    number = int(node.this)
    return select.expressions[number - 1] if 1 <= number <= len(select.expressions) else None


def _fraction(node: Any) -> Fraction:
    if type(node).__name__ != "Literal" or node.is_string:
        raise UnsupportedQuery("a quantile needs a constant between 0 and 1, such as QUANTILE_CONT(x, 0.9).")
    return exact(node.this, "a quantile")


def _limit(select: exp.Select) -> int | None:
    limit = select.args.get("limit")
    if limit is None:
        return None
    node = limit.args.get("expression")
    if type(node).__name__ != "Literal" or not re.fullmatch("[0-9]{1,18}", str(node.this)):
        raise UnsupportedQuery("LIMIT takes a whole number.")
    return int(node.this)


def _with_delta(cost: Guarantee) -> bool:
    """Whether groups that are too many to be listed can be found instead."""
    return cost.keywords().get("delta") is not None


def _product(lists: list[list[Any]]) -> list[Any]:
    """Every combination of keys; how many there are is known before they are made."""
    if prod(map(len, lists)) > MOST_KEYS:
        raise UnsupportedQuery(f"the groups have more than {MOST_KEYS} combinations of keys; name the wanted ones.")
    return lists[0] if len(lists) == 1 else list(product(*lists))


def _unused(name: str, columns: list[tuple[str, int]]) -> str:
    taken = {known for known, _ in columns}
    number = 2
    fresh = name
    while fresh in taken:
        fresh, number = f"{name}_{number}", number + 1
    return fresh
