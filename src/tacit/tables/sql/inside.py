"""Aggregates and windows of a person's rows: from what an analyst writes to what `tacit.language.inside` knows.

The person is never written here: whoever groups or partitions has seen to it that rows of two persons never meet
(`tacit.tables.sql.stages`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tacit.errors import UnsupportedQuery
from tacit.language.aggregates import aggregate
from tacit.language.expressions import Expression
from tacit.language.inside import Aggregate, Frame, Ordering, Window
from tacit.language.windows import window

Convert = Callable[[Any], Expression]
"""Turns a node into the expression that it means."""

_FUNCTIONS = {
    "Count": "count",
    "CountIf": "count_if",
    "Sum": "sum",
    "Avg": "avg",
    "Min": "min",
    "Max": "max",
    "Median": "median",
    "Mode": "mode",
    "GroupConcat": "string_agg",
    "Stddev": "stddev_samp",
    "StddevSamp": "stddev_samp",
    "StddevPop": "stddev_pop",
    "Variance": "var_samp",
    "VariancePop": "var_pop",
    "LogicalAnd": "bool_and",
    "LogicalOr": "bool_or",
    "First": "first",
    "Last": "last",
    "AnyValue": "any_value",
    "ArgMax": "arg_max",
    "ArgMin": "arg_min",
    "PercentileCont": "quantile_cont",
    "PercentileDisc": "quantile_disc",
    "Quantile": "quantile_cont",
    "ApproxQuantile": "quantile_cont",
    "ApproxDistinct": "count",
    "ArrayAgg": "array_agg",
    "Corr": "corr",
    "CovarSamp": "covar_samp",
    "CovarPop": "covar_pop",
    "Skewness": "skewness",
    "Kurtosis": "kurtosis",
}
"""Aggregates by sqlglot's names."""

_RANKS = {
    "RowNumber": "row_number",
    "Rank": "rank",
    "DenseRank": "dense_rank",
    "PercentRank": "percent_rank",
    "CumeDist": "cume_dist",
    "Ntile": "ntile",
    "Lag": "lag",
    "Lead": "lead",
    "FirstValue": "first_value",
    "LastValue": "last_value",
    "NthValue": "nth_value",
}
"""Functions that only windows have, by sqlglot's names."""


def is_aggregate(node: Any) -> bool:
    """Whether a node is an aggregate of rows, with its FILTER and WITHIN GROUP."""
    kind = type(node).__name__
    if kind in ("Filter", "WithinGroup", "IgnoreNulls", "RespectNulls"):
        return is_aggregate(node.this)
    return kind in _FUNCTIONS or _anonymous(node) in _BY_NAME


_BY_NAME = {
    "PRODUCT": "product", "BIT_XOR": "bit_xor", "VAR_SAMP": "var_samp", "BOOL_AND": "bool_and", "BOOL_OR": "bool_or",
    "QUANTILE": "quantile_disc", "STRING_AGG": "string_agg", "COUNTIF": "count_if", "GEOMETRIC_MEAN": "geometric_mean",
}  # fmt: skip
"""Aggregates that sqlglot reads as functions it does not know."""


def _anonymous(node: Any) -> str:
    return str(node.this).upper() if type(node).__name__ in ("Anonymous", "AnonymousAggFunc") else ""


def aggregate_of(node: Any, convert: Convert) -> Aggregate:
    """The aggregate that a node means."""
    filter_, distinct, order = None, False, tuple[Ordering, ...]()
    if type(node).__name__ == "Filter":
        filter_, node = convert(node.expression.this), node.this
    if type(node).__name__ == "WithinGroup":
        order, node = _orderings(node.expression, convert), node.this
    while type(node).__name__ in ("IgnoreNulls", "RespectNulls"):
        node = node.this
    name = _FUNCTIONS.get(type(node).__name__) or _BY_NAME[_anonymous(node)]
    parts = _arguments(node)
    if parts and type(parts[0]).__name__ == "Order":
        order, parts = _orderings(parts[0], convert), [parts[0].this, *parts[1:]]
    if parts and type(parts[0]).__name__ == "Distinct":
        distinct, parts = True, [*parts[0].expressions, *parts[1:]]
        if parts and type(parts[0]).__name__ == "Order":
            order, parts = _orderings(parts[0], convert), [parts[0].this, *parts[1:]]
    if type(node).__name__ == "ApproxDistinct":
        distinct = True
    if name == "count" and parts and type(parts[0]).__name__ == "Star":
        parts = []
    if name in ("quantile_cont", "quantile_disc", "mode") and order:
        number, parts = parts, [order[0].by]
        if order[0].descending and number:
            raise UnsupportedQuery(
                "WITHIN GROUP (ORDER BY … DESC) is not supported; use 1 minus the number, ascending."
            )
        operands = (*(part for part in parts), *map(convert, number))
        return aggregate(name, operands, distinct=distinct, filter=filter_)
    return aggregate(name, tuple(map(convert, parts)), distinct=distinct, filter=filter_, order=order)


def _arguments(node: Any) -> list[Any]:
    """The arguments of a function, in the order in which they are written."""
    found: list[Any] = []
    for name in ("this", "quantile", "expression", "separator", "offset", "default", "expressions"):
        part = node.args.get(name)
        if part is None or isinstance(part, str) or (name == "this" and _anonymous(node)):
            continue
        found += part if isinstance(part, list) else [part]
    return found


def _orderings(order: Any, convert: Convert) -> tuple[Ordering, ...]:
    """ORDER BY; without a word about NULL it stands last, as DuckDB has it."""
    return tuple(
        Ordering(convert(item.this), bool(item.args.get("desc")), bool(item.args.get("nulls_first")))
        for item in order.expressions
    )


def known_windows(node: Any, named: Mapping[str, Any]) -> Any:
    """A window with what WINDOW says about its name."""
    name = node.args.get("alias")
    if name is None:
        return node
    if name.name.lower() not in named:
        raise UnsupportedQuery(f"there is no window {name.name!r}; write WINDOW {name.name} AS (PARTITION BY …).")
    full = node.copy()
    full.set("alias", None)
    for part, held in known_windows(named[name.name.lower()], named).args.items():
        if part not in ("this", "alias", "over") and held and not full.args.get(part):
            full.set(part, held.copy() if hasattr(held, "copy") and not isinstance(held, list) else held)
    return full


def window_of(node: Any, convert: Convert) -> Window:
    """The window that a node means."""
    function = node.this
    if type(function).__name__ in ("Filter", "IgnoreNulls"):
        raise UnsupportedQuery("FILTER and IGNORE NULLS are not supported in a window; use CASE inside the function.")
    if type(function).__name__ == "RespectNulls":
        function = function.this
    partition = tuple(convert(part) for part in node.args.get("partition_by") or ())
    order = _orderings(node.args["order"], convert) if node.args.get("order") else ()
    frame = _frame(node.args["spec"]) if node.args.get("spec") else None
    kind = type(function).__name__
    if kind in _RANKS:
        operands = tuple(convert(part) for part in _arguments(function))
        return window(_RANKS[kind], operands, partition=partition, order=order, frame=frame)
    if not is_aggregate(function):
        raise UnsupportedQuery(f"{function.sql()} is not known in a window; use one of {', '.join(_RANKS.values())}.")
    found = aggregate_of(function, convert)
    if found.distinct or found.order:
        raise UnsupportedQuery("DISTINCT and ORDER BY inside a window's function are not supported; use a subquery.")
    return window(found.function, found.operands, partition=partition, order=order, frame=frame)


def _frame(spec: Any) -> Frame:
    """ROWS or RANGE BETWEEN …"""
    kind = str(spec.args.get("kind") or "RANGE").lower()
    if kind not in ("rows", "range") or spec.args.get("exclude"):
        raise UnsupportedQuery("a window's frame is written ROWS BETWEEN … AND …; leave GROUPS and EXCLUDE out.")
    start = _edge(spec.args.get("start"), spec.args.get("start_side"))
    end = _edge(spec.args.get("end"), spec.args.get("end_side")) if spec.args.get("end") else 0
    if kind == "range" and {start, end} - {None, 0}:
        raise UnsupportedQuery("RANGE with a distance is not supported in a window; use ROWS BETWEEN … AND ….")
    return Frame("rows" if kind == "rows" else "range", start, end)


def _edge(edge: Any, side: Any) -> int | None:
    if edge == "UNBOUNDED":
        return None
    if edge == "CURRENT ROW":
        return 0
    if type(edge).__name__ != "Literal" or edge.is_string or not edge.this.isdigit() or len(edge.this) > 9:
        raise UnsupportedQuery("a window's frame counts rows by whole numbers, such as 2 PRECEDING.")
    return -int(edge.this) if side == "PRECEDING" else int(edge.this)
