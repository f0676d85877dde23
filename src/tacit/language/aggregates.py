"""Aggregates of a person's rows, with types checked: one list says what each means, on every engine to the last bit.

=================== ===============================================================================================
count               rows, or values that are not NULL; with DISTINCT, different ones (a column's by its key)
sum                 the exact sum, NULL beyond 64 bits; doubles are added as their counts of 10^-6, so that a sum of
                    doubles is a decimal(6), whatever the order
avg                 with |sum| = q·n + r, n the number of values: (q + r/n) / 10^scale as doubles, with the sum's sign
min, max            numbers, dates and truth values in their order, text byte by byte; ``any_value`` is the least
bool_and, bool_or   whether all, or any, of the values that are not NULL are true
quantile_disc       the first value, in order, at or below which a share of q of the values lies
quantile_cont       between two values at the places about q·(n − 1), in proportion; ``median`` is that of 1/2, of
                    anything but numbers the lower one of the middle two
mode                the most frequent value; of equally frequent ones the least
first, last         the value of the first or last row in the order given, or else in that of the values; of equally
                    placed rows the least (or for ``last`` the largest) value
arg_min, arg_max    the value where another one is least or largest; rows where either is NULL do not count
string_agg          the texts one after another, ordered as given and then byte by byte: the first 1,000 of them, each
                    cut at 1,000 characters, all of them at 10,000
var_pop, var_samp   n·Σd² − (Σd)² over n² or n·(n − 1), d the distances from the mean rounded toward zero, in steps or,
                    where one is 2^40 steps or more, in 2^8, 2^16 or 2^24 of them; the stddevs are their square roots
=================== ===============================================================================================

Values that are NULL count nowhere but in ``count(*)``, ``first`` and ``last``; without any value the result is NULL,
that of ``count`` 0. DISTINCT takes each value once. FILTER leaves out rows where it is not true. Minus zero is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Expression, Literal
from tacit.language.inside import Aggregate, Ordering
from tacit.language.types import BOOLEAN, FLOAT, INTEGER, TEXT, ColumnType, Kind, decimal

SUM_SCALE = 6
"""Doubles are added as counts of 10^-6."""
MOST_ITEMS = 1000
"""The most texts of a string_agg."""
LONGEST_ITEM = 1000
"""The most characters of each of them."""
LONGEST_TEXT = 10_000
"""The most characters of all of them."""
FINEST_QUANTILE = 10_000
"""A quantile is a fraction with no larger denominator."""

_SYNONYMS = {
    "mean": "avg",
    "every": "bool_and",
    "all": "bool_and",
    "logical_and": "bool_and",
    "logical_or": "bool_or",
    "some": "bool_or",
    "any": "bool_or",
    "arbitrary": "any_value",
    "first_value": "first",
    "last_value": "last",
    "min_by": "arg_min",
    "max_by": "arg_max",
    "argmin": "arg_min",
    "argmax": "arg_max",
    "percentile_cont": "quantile_cont",
    "percentile_disc": "quantile_disc",
    "quantile": "quantile_disc",
    "listagg": "string_agg",
    "group_concat": "string_agg",
    "stddev": "stddev_samp",
    "variance": "var_samp",
    "var": "var_samp",
}
"""Other names of the same aggregates."""


def aggregate(
    function: str,
    operands: Sequence[Expression] = (),
    *,
    distinct: bool = False,
    filter: Expression | None = None,
    order: Sequence[Ordering] = (),
) -> Aggregate:
    """An aggregate of some rows of one person, by its name in any case; a count of all rows has no operands."""
    name = _SYNONYMS.get(function.lower(), function.lower())
    if name == "median":
        exact = bool(operands) and build.typed(operands[0]).type.number
        name, operands = "quantile_cont" if exact else "quantile_disc", (*operands, Literal(decimal(1), Fraction(1, 2)))
    if name in ("count_if", "countif"):
        name, filter, operands = "count", _both(filter, _only_one(operands, "COUNT_IF")), ()
    rule = _RULES.get(name)
    if rule is None:
        raise UnsupportedQuery(
            f"{function.upper()} is no aggregate that is known inside a person; use one of {', '.join(_RULES)}."
        )
    values = [build.typed(operand) for operand in operands]
    word = function.upper()
    if not rule.least <= len(values) <= rule.most:
        wanted = str(rule.least) if rule.least == rule.most else f"{rule.least} or {rule.most}"
        raise InvalidInput(f"{word} has {len(values)} arguments; give it {wanted}.")
    if distinct and not values:
        raise InvalidInput(f"{word}(DISTINCT *) counts nothing; name a column.")
    if any(value.type.kind is Kind.OTHER for value in (*values, *(item.by for item in order))):
        raise InvalidInput(f"{word} needs values of a type that Tacit reads; use another column.")
    if order and not rule.ordered:
        raise InvalidInput(f"{word} does not depend on an order; leave ORDER BY out.")
    if filter is not None:
        filter = build.widen(filter, BOOLEAN, "FILTER")
    found = rule.make(name, word, values, tuple(order))
    if distinct and found.order and any(item.by != values[0] for item in found.order):
        raise UnsupportedQuery(f"{word} with DISTINCT is ordered by what it is of; leave ORDER BY out.")
    return Aggregate(found.type, name, found.operands, distinct, filter, found.order)


@dataclass(frozen=True)
class _Rule:
    """How many operands an aggregate has, whether it may be ordered, and how it is made of them."""

    make: Callable[[str, str, Sequence[Expression], tuple[Ordering, ...]], Aggregate]
    least: int = 1
    most: int = 1
    ordered: bool = False


def _only_one(operands: Sequence[Expression], word: str) -> Expression:
    if len(operands) != 1:
        raise InvalidInput(f"{word} has {len(operands)} arguments; give it 1.")
    return build.widen(operands[0], BOOLEAN, word)


def _both(filter: Expression | None, condition: Expression) -> Expression:
    return condition if filter is None else build.logic("AND", (filter, condition))


def _of_type(kind: ColumnType) -> _Rule:
    """Of any values, with a result of one type."""
    return _Rule(lambda name, word, values, order: Aggregate(kind, name, tuple(values)), least=0)


def _own(name: str, word: str, values: Sequence[Expression], order: tuple[Ordering, ...]) -> Aggregate:
    """One of the values."""
    return Aggregate(values[0].type, name, tuple(values), order=order)


def _truth(name: str, word: str, values: Sequence[Expression], order: tuple[Ordering, ...]) -> Aggregate:
    return Aggregate(BOOLEAN, name, (build.widen(values[0], BOOLEAN, word),))


def summed(kind: ColumnType, word: str) -> ColumnType:
    """The type of a sum of values of a type."""
    if kind == FLOAT:
        return decimal(SUM_SCALE)
    if not kind.number and kind != BOOLEAN:
        raise InvalidInput(f"{word} needs numbers, not {kind}; use a numeric column.")
    return INTEGER if kind == BOOLEAN else kind


def sum_scale(kind: ColumnType) -> int:
    """The digits after the point of a sum of values of a kind, in whose steps it is added."""
    return SUM_SCALE if kind == FLOAT else kind.scale


def _sum(name: str, word: str, values: Sequence[Expression], order: tuple[Ordering, ...]) -> Aggregate:
    return Aggregate(summed(values[0].type, word), name, tuple(values))


def _number(name: str, word: str, values: Sequence[Expression], order: tuple[Ordering, ...]) -> Aggregate:
    """A double made of numbers."""
    summed(values[0].type, word)
    return Aggregate(FLOAT, name, tuple(values))


def _quantile(name: str, word: str, values: Sequence[Expression], order: tuple[Ordering, ...]) -> Aggregate:
    wanted = values[1]
    share = Fraction(str(wanted.value)) if isinstance(wanted, Literal) and wanted.type.number and wanted.value else 0
    if not (isinstance(wanted, Literal) and wanted.type.number and wanted.value is not None and 0 <= share <= 1):
        raise InvalidInput(f"{word} needs a constant from 0 to 1 as its quantile, such as 0.95.")
    if Fraction(share).denominator > FINEST_QUANTILE:
        raise InvalidInput(f"{word} has a quantile with too many digits; write at most four of them.")
    if len(order) > 1 or (order and order[0].by != values[0]):
        raise InvalidInput(f"{word} is ordered by what it is of; write WITHIN GROUP (ORDER BY x).")
    exact = Literal(decimal(18), Fraction(share))
    if name == "quantile_disc":
        return Aggregate(values[0].type, name, (values[0], exact), order=order)
    if not values[0].type.number:
        raise InvalidInput(f"{word} needs numbers, not {values[0].type}; use QUANTILE_DISC, which gives one of them.")
    return Aggregate(FLOAT, name, (values[0], exact), order=order)


def _extremal(name: str, word: str, values: Sequence[Expression], order: tuple[Ordering, ...]) -> Aggregate:
    by = Ordering(values[1], descending=name == "arg_max")
    return Aggregate(values[0].type, name, (values[0],), order=(by,))


def _texts(name: str, word: str, values: Sequence[Expression], order: tuple[Ordering, ...]) -> Aggregate:
    between = values[1] if len(values) == 2 else Literal(TEXT, ",")
    if values[0].type != TEXT:
        raise InvalidInput(f"{word} needs text, not {values[0].type}; write CAST(… AS TEXT).")
    if not (isinstance(between, Literal) and isinstance(between.value, str) and len(between.value) <= 100):
        raise InvalidInput(f"{word} needs a constant text of up to 100 characters between the others, such as ', '.")
    return Aggregate(TEXT, name, (values[0], between), order=order)


_RULES: dict[str, _Rule] = {
    "count": _of_type(INTEGER),
    "sum": _Rule(_sum),
    "avg": _Rule(_number),
    "min": _Rule(_own),
    "max": _Rule(_own),
    "any_value": _Rule(_own),
    "bool_and": _Rule(_truth),
    "bool_or": _Rule(_truth),
    "quantile_cont": _Rule(_quantile, 2, 2, ordered=True),
    "quantile_disc": _Rule(_quantile, 2, 2, ordered=True),
    "mode": _Rule(_own),
    "first": _Rule(_own, ordered=True),
    "last": _Rule(_own, ordered=True),
    "arg_min": _Rule(_extremal, 2, 2),
    "arg_max": _Rule(_extremal, 2, 2),
    "string_agg": _Rule(_texts, 1, 2, ordered=True),
    "var_pop": _Rule(_number),
    "var_samp": _Rule(_number),
    "stddev_pop": _Rule(_number),
    "stddev_samp": _Rule(_number),
}

AGGREGATES = (*_RULES, "median", "count_if")
"""The names of all aggregates; `aggregate` knows others for the same."""
