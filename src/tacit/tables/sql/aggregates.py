"""Aggregates of a SELECT: what each asks of the rows, in whatever spelling people paste.

GoogleSQL's COUNTIF, APPROX_QUANTILES and ANON_SUM, DuckDB's QUANTILE_DISC and COUNT_IF, and FILTER (WHERE …) behind any
aggregate are other spellings of what the catalogue knows. A condition stands inside, as a CASE: rows that do not meet
it have NULL there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tacit.errors import UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Case, Expression, Literal, Scope
from tacit.language.parsing import convert
from tacit.language.types import BOOLEAN, INTEGER
from tacit.numbers.exact import exact
from tacit.tables.statistics import catalogue
from tacit.tables.statistics.base import Call, Operand, Statistic
from tacit.tables.statistics.ways.groups import Groups, for_each

if TYPE_CHECKING:
    from tacit.engines.requests import Relation

MOST_PARTS = 1_000
"""The most parts that APPROX_QUANTILES cuts the rows into."""

_PARTS = {"this", "quantile", "expression", "expressions", "big_int"}
"""The parts an aggregate may have."""

TWO_COLUMNS = frozenset(
    (
        "Corr",
        "CovarPop",
        "CovarSamp",
        *(f"Regr{name}" for name in ["Slope", "Intercept", "R2", "Count", "Avgx", "Avgy", "Sxx", "Syy", "Sxy"]),
    )
)
"""The aggregates of two columns, by the names of sqlglot's nodes."""

_ONE_ROW = "shows a value of one row, and a row is somebody's; use MIN, MEDIAN or MAX, or GROUP BY it and count"
_FREQUENT = "is not answered in SQL; GROUP BY it and ORDER BY COUNT(*) DESC LIMIT 1[[, or ask .mode(…)]]"
_ALL_ROWS = "shows rows, and rows are never shown; use COUNT, or GROUP BY for a number of each"
_LAST_ROW = "is decided by a single row, and a row is somebody's; use COUNTIF for how many rows there are"
REFUSED = {
    **dict.fromkeys(("AnyValue", "First", "FirstValue", "Last", "LastValue", "ArgMax", "ArgMin", "NthValue"), _ONE_ROW),
    **dict.fromkeys(("ArrayAgg", "List", "GroupConcat", "ArrayUniqueAgg", "JSONArrayAgg", "JSONObjectAgg"), _ALL_ROWS),
    **dict.fromkeys(("LogicalOr", "LogicalAnd"), _LAST_ROW),
    "Mode": _FREQUENT,
}
"""Aggregates that are refused, and why: nearly all of them because no private system can answer them."""


def known() -> str:
    """The aggregates there are."""
    *names, last = dict.fromkeys(entry.call.partition("(")[0] for entry in catalogue.entries() if entry.call)
    return f"{', '.join(names)} and {last}"


def is_aggregate(node: Any) -> bool:
    """Whether a node of sqlglot is an aggregate that is answered, or refused for a reason of its own."""
    name = _name(_canonical(node))
    return name in ("Filter", "Window", *REFUSED) or catalogue.asked_by(name) is not None


def has_aggregate(node: Any) -> bool:
    """Whether a node is an aggregate, or a part of it is, or may be: a function that nobody knows."""
    from sqlglot import exp

    return is_aggregate(node) or node.find(exp.AggFunc, exp.Anonymous, exp.Window) is not None


@dataclass(frozen=True)
class AggregateReader:
    """Reads the aggregates of one SELECT."""

    scope: Scope
    relation: Relation
    step: Fraction | None
    """The public unit of floats, where the table has one."""
    groups: Groups | None

    def statistic(self, node: Any) -> Statistic:
        """What an aggregate asks, for each group where there are groups."""
        node, condition = self._unfiltered(node)
        kind, called = type(node).__name__, node.sql("duckdb")
        if kind == "Window" and self.groups is not None:
            raise UnsupportedQuery(
                f"{called} is computed from several groups of the answer, which is not supported; ask for each group's "
                "own, and combine the groups when you have them."
            )
        if kind == "Window":
            raise UnsupportedQuery(
                f"{called} is a window function (OVER) over rows of several persons; use GROUP BY, or a subquery with "
                "PARTITION BY the person."
            )
        if kind in REFUSED:
            raise UnsupportedQuery(f"{called} {REFUSED[kind]}.")
        extra = [name for name, part in node.args.items() if part and name not in _PARTS]
        if extra or (node.args.get("expressions") and kind != "Anonymous"):
            raise UnsupportedQuery(f"{called} has more than one argument; name one column.")
        name, call = self._call(node, condition)
        entry = catalogue.asked_by(name)
        assert entry is not None
        statistic = entry.sql[name](call)
        return statistic if self.groups is None else for_each(statistic, self.groups)

    def _unfiltered(self, node: Any) -> tuple[Any, Any]:
        """The aggregate itself, and the condition of its FILTER or of COUNTIF."""
        node, condition = _canonical(node), None
        if type(node).__name__ == "Filter":
            condition, node = node.expression.this, _canonical(node.this)
        if type(node).__name__ == "CountIf":
            from sqlglot import exp

            both = node.this if condition is None else exp.and_(node.this, condition)
            return exp.Count(this=exp.Star()), both
        return node, condition

    def _call(self, node: Any, condition: Any) -> tuple[str, Call]:
        """What an aggregate is named in the catalogue, and what it is called on."""
        name = _name(node)
        if type(node).__name__ == "Anonymous":
            column, *rest = node.expressions or [None]
            return name, Call(self._rows(column, condition), tuple(map(_fraction, rest)))
        inner = type(node.this).__name__
        if name == "Count":
            if inner == "Distinct":
                return self._distinct(node.this.expressions, condition)
            return name, Call(self._rows(None if inner in ("Star", "Literal", "NoneType") else node.this, condition))
        if inner == "Distinct":
            raise UnsupportedQuery("DISTINCT inside this aggregate is not supported; use COUNT(DISTINCT …).")
        if name in TWO_COLUMNS:
            return name, Call(self._operand(node.this, condition), second=self._operand(node.expression, condition))
        if name == "WithinGroup":
            column, argument = _within_group(node)
        else:
            column, argument = node.this, node.args.get("quantile") or node.args.get("expression")
        items = argument.expressions if type(argument).__name__ == "Array" else [argument] if argument else []
        return name, Call(self._operand(column, condition), tuple(map(_fraction, items)))

    def _condition(self, node: Any) -> Expression:
        condition = convert(node, self.scope)
        if condition.type != BOOLEAN:
            raise UnsupportedQuery(f"FILTER and COUNTIF take what is true or false, not {condition.type}; compare it.")
        return condition

    def _operand(self, node: Any, condition: Any = None) -> Operand:
        """A column or an expression, with NULL where a condition does not hold."""
        expression, name = convert(node, self.scope), node.sql()
        if condition is not None:
            expression = build.case([(self._condition(condition), expression)], None)
            name = f"{name} where {condition.sql()}"
        return Operand(expression, name, self.step)

    def _rows(self, node: Any, condition: Any) -> Operand | None:
        """What rows are counted by: a value, a condition, or that they are there."""
        if node is not None:
            return self._operand(node, condition)
        if condition is None:
            return None
        return Operand(
            build.case([(self._condition(condition), Literal(INTEGER, 1))], None), condition.sql(), self.step
        )

    def _distinct(self, nodes: list[Any], condition: Any) -> tuple[str, Call]:
        """COUNT(DISTINCT …) of the persons, of those whom a condition concerns, or of other values."""
        if len(nodes) != 1:
            raise UnsupportedQuery("COUNT(DISTINCT …) takes one column; name one.")
        (node,) = nodes
        person, single = self.relation.person, not self.relation.others
        expression = convert(node, self.scope)
        if single and expression == person:
            return "CountPersons", Call(self._rows(None, condition))
        match expression:
            case Case(branches=((_, value),), default=Literal(value=None)) if single and value == person:
                name = node.args["ifs"][0].this.sql() if type(node).__name__ == "Case" else node.sql()
                name = name if condition is None else f"{name} where {condition.sql()}"
                return "CountPersons", Call(Operand(self._operand(node, condition).expression, name))
        return "CountDistinct", Call(self._operand(node, condition))


def _name(node: Any) -> str:
    """What a node of sqlglot is called in the catalogue: its class, or the name of a function it does not know."""
    kind = type(node).__name__
    if kind == "Anonymous":
        return str(node.this).upper()
    return {"CountIf": "Count", "ApproxQuantiles": "Quantile"}.get(kind, kind)


def spread_out(node: Any) -> list[tuple[str, Any]]:
    """An aggregate as those that are asked, each with what its name ends with.

    APPROX_QUANTILES has the smallest value first and the largest last, which a quantile does not tell well.
    """
    from sqlglot import exp

    found = _canonical(node)
    if type(found).__name__ == "Filter":
        return [(end, exp.Filter(this=one, expression=found.expression)) for end, one in spread_out(found.this)]
    if type(found).__name__ != "ApproxQuantiles":
        return [("", node)]
    column, inner = found.this, [exp.Literal.number(str(q)) for q in _even_parts(found)[1:-1]]
    middle = [("", exp.Quantile(this=column, quantile=exp.Array(expressions=inner)))] if inner else []
    if len(inner) == 1:
        middle = [(" at 0.5", exp.Quantile(this=column, quantile=inner[0]))]
    return [(" at 0.0", exp.Min(this=column)), *middle, (" at 1.0", exp.Max(this=column))]


def _canonical(node: Any) -> Any:
    """One spelling for what has several."""
    from sqlglot import exp

    kind = type(node).__name__
    if kind == "IgnoreNulls":
        return _canonical(node.this)
    if kind == "ApproxDistinct" and not node.args.get("accuracy"):
        return exp.Count(this=exp.Distinct(expressions=[node.this]))
    if kind == "ApproxQuantile":
        return exp.Quantile(this=node.this, quantile=node.args.get("quantile"))
    if kind == "Bracket" and type(_canonical(node.this)).__name__ == "ApproxQuantiles":
        return _one_of(_canonical(node.this), node)
    if kind == "Anonymous" and str(node.this).upper() in _ANONYMIZED:
        first, *rest = node.expressions or [exp.Star()]
        made: exp.Expression = getattr(exp, _ANONYMIZED[str(node.this).upper()])(this=first)
        if rest:
            made.set("expression", rest[0])
        return made
    return node


_ANONYMIZED = {
    "ANON_COUNT": "Count",
    "ANON_SUM": "Sum",
    "ANON_AVG": "Avg",
    "ANON_VAR_POP": "VariancePop",
    "ANON_STDDEV_POP": "StddevPop",
    "ANON_PERCENTILE_CONT": "PercentileCont",
    "ANON_QUANTILES": "ApproxQuantiles",
}
"""GoogleSQL's older names of private aggregates, and what they are."""


def _whole(node: Any, most: int) -> int | None:
    """A whole number that is written out."""
    written = type(node).__name__ == "Literal" and not node.is_string and re.fullmatch("[0-9]{1,9}", str(node.this))
    return int(node.this) if written and int(node.this) <= most else None


def _even_parts(node: Any) -> tuple[Fraction, ...]:
    """The ends of n parts with as many rows each, from the smallest value to the largest: n + 1 of them."""
    parts = _whole(node.expression, MOST_PARTS)
    if not parts:
        raise UnsupportedQuery(f"APPROX_QUANTILES takes a column and a whole number from 1 to {MOST_PARTS:,}.")
    return tuple(Fraction(i, parts) for i in range(parts + 1))


def _one_of(quantiles: Any, node: Any) -> Any:
    """APPROX_QUANTILES(x, 100)[OFFSET(50)], which is one quantile."""
    from sqlglot import exp

    (place,), first = node.expressions, 0
    if type(place).__name__ == "Anonymous" and len(place.expressions) == 1:
        word = str(place.this).upper()
        first, place = (1 if word.endswith("ORDINAL") else 0), place.expressions[0]
        known_word = word in ("OFFSET", "SAFE_OFFSET", "ORDINAL", "SAFE_ORDINAL")
    else:
        known_word = True
    number, parts = _whole(place, MOST_PARTS + 1), _even_parts(quantiles)
    if not known_word or number is None or not 0 <= number - first < len(parts):
        raise UnsupportedQuery("APPROX_QUANTILES(x, n) has n + 1 values; write one as [OFFSET(0)] to [OFFSET(n)].")
    q = parts[number - first]
    if q in (0, 1):
        return (exp.Max if q else exp.Min)(this=quantiles.this)
    return exp.Quantile(this=quantiles.this, quantile=exp.Literal.number(f"{q.numerator}/{q.denominator}"))


def _within_group(node: Any) -> tuple[Any, Any]:
    """The column and the number of PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY column)."""
    order = node.expression.expressions if type(node.expression).__name__ == "Order" else []
    if type(node.this).__name__ not in ("PercentileCont", "PercentileDisc") or len(order) != 1:
        raise UnsupportedQuery("WITHIN GROUP is supported as PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY column).")
    if order[0].args.get("desc"):
        raise UnsupportedQuery("WITHIN GROUP (ORDER BY … DESC) is not supported; use 1 minus the number, ascending.")
    return order[0].this, node.this.this


def _fraction(node: Any) -> Fraction:
    if type(node).__name__ != "Literal" or node.is_string:
        raise UnsupportedQuery("a quantile needs a constant between 0 and 1, such as QUANTILE_CONT(x, 0.9).")
    return exact(node.this, "a quantile")
