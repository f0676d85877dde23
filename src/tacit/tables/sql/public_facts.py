"""Group keys that follow from public facts: from the query itself, the types of columns, and nothing else.

Every row that the WHERE clause keeps has one of the keys, or NULL. Three ways to know them, none of which reads a row:

- *few values.* An expression of one column, a date or a whole number that the conditions keep within a range, has at
  most as many values as the range: it is computed for each of them, by an engine over made-up rows, so that it means
  what it means. A timestamp will do where the expression looks at its hour, day or anything coarser. Without a range so
  will a date or a time of which only parts are taken that come again, such as the month or the weekday: 28 years have
  them all.
- *steps.* FLOOR, CEIL, ROUND or TRUNC of a number within a range, which rises or falls with it, has the whole numbers
  between those of both ends, and what is made of it by adding, subtracting and multiplying constants as many.
- *bounds of a function.* WIDTH_BUCKET has its buckets, and the rest of a whole number has its remainders.

A range is what comparisons with constants, BETWEEN, IN and equality leave; of conditions joined by OR, what all of
them together leave. Keys that no row has cost noise and nothing else; a key that was left out would lose rows, so each
way claims no more than it proves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, inf, isfinite, isnan, nextafter
from typing import Any

from tacit.engines import open_engine
from tacit.engines.requests import KeyCounts, Relation
from tacit.engines.requests.derived import NOBODY
from tacit.language.expressions import (
    Arithmetic,
    Cast,
    Column,
    Comparison,
    DateTrunc,
    Expression,
    Extract,
    In,
    Literal,
    Logic,
    NamedCall,
)
from tacit.language.types import ColumnType, Kind
from tacit.tables.face.declarations import as_source
from tacit.tables.statistics.ways.groups import MOST_KEYS, written

MOST_VALUES = 100_000
"""The most values of a column for which an expression is computed."""

CYCLE = (date(2000, 1, 1), date(2027, 12, 31))
"""28 years: every month, weekday, day and week of a year, and every combination of them, comes in them."""

RECURRING = frozenset(("quarter", "month", "week", "day", "dow", "isodow", "doy"))
"""Parts of a date that come again."""

COARSE = {"year": 0, "quarter": 0, "month": 0, "week": 0, "day": 0, "dow": 0, "isodow": 0, "doy": 0, "hour": 1}
"""Parts and units that are the same all day (0) or all hour (1)."""


@dataclass(frozen=True)
class Range:
    """The least and the largest value that conditions leave, both possible; None where nothing bounds it."""

    low: Any = None
    high: Any = None

    def within(self, other: Range) -> Range:
        """What both leave."""
        lows = [end for end in (self.low, other.low) if end is not None]
        highs = [end for end in (self.high, other.high) if end is not None]
        return Range(max(lows, default=None), min(highs, default=None))

    def around(self, other: Range) -> Range:
        """What either leaves."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        return Range(low, None if self.high is None or other.high is None else max(self.high, other.high))

    @property
    def closed(self) -> bool:
        """Whether both ends are there."""
        return self.low is not None and self.high is not None


def implied_keys(expression: Expression, conditions: Sequence[Expression]) -> list[Any] | None:
    """All values that an expression can have in the rows that conditions keep; None if they are not known, or many."""
    found = _steps(expression, conditions)
    found = _few_values(expression, conditions) if found is None else found
    found = _bounded(expression, conditions) if found is None else found
    return None if found is None or not 1 <= len(found) <= MOST_KEYS else found


# ---- ranges -----------------------------------------------------------------------------------------------------


def range_of(expression: Expression, conditions: Iterable[Expression]) -> Range:
    """The range in which conditions, all of which hold, keep an expression."""
    found = Range()
    for condition in conditions:
        found = found.within(_kept(expression, condition))
    return found


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def _kept(expression: Expression, condition: Expression) -> Range:
    """What one condition leaves."""
    if isinstance(condition, Logic) and condition.operator == "AND":
        return range_of(expression, condition.operands)
    if isinstance(condition, Logic):
        first, *rest = (_kept(expression, operand) for operand in condition.operands)
        for other in rest:
            first = first.around(other)
        return first
    if isinstance(condition, In) and condition.operand == expression:
        values = [item.value for item in condition.items]
        return Range(min(values), max(values)) if all(map(_plain, values)) else Range()  # type: ignore[type-var]
    if not isinstance(condition, Comparison) or condition.operator not in _FLIPPED:
        return Range()
    if condition.left == expression and isinstance(condition.right, Literal):
        return _beside(condition.operator, condition.right.value, expression.type)
    if condition.right == expression and isinstance(condition.left, Literal):
        return _beside(_FLIPPED[condition.operator], condition.left.value, expression.type)
    return Range()


def _beside(operator: str, value: Any, kind: ColumnType) -> Range:
    """The values that compare so with a constant."""
    if not _plain(value):
        return Range()
    if operator in ("<", ">"):
        value = _next(value, kind, up=operator == ">")
    return Range(value if operator in (">", ">=", "=") else None, value if operator in ("<", "<=", "=") else None)


def _next(value: Any, kind: ColumnType, *, up: bool) -> Any:
    """The next value of a type above or below; the value itself where there is none, which only adds a key."""
    if isinstance(value, float):
        return nextafter(value, inf if up else -inf)
    steps = {Kind.DATE: timedelta(days=1), Kind.TIMESTAMP: timedelta(microseconds=1), Kind.INTEGER: 1}
    step = steps.get(kind.kind, Fraction(1, 10**kind.scale))
    try:
        return value + step if up else value - step
    except OverflowError:
        return value


def _plain(value: Any) -> bool:
    """Whether a constant bounds anything."""
    return value is not None and not isinstance(value, str | bool) and not (isinstance(value, float) and isnan(value))


# ---- few values -------------------------------------------------------------------------------------------------


def _few_values(expression: Expression, conditions: Sequence[Expression]) -> list[Any] | None:
    """The values of an expression of one column, computed for every value that the column can have."""
    columns = expression.columns()
    if len(columns) != 1:
        return None
    (column,) = columns
    return _computed(expression, column, range_of(column, conditions))


@lru_cache(maxsize=256)
def _computed(expression: Expression, column: Column, kept: Range) -> list[Any] | None:
    values = _values(expression, column, kept)
    if values is None or not 1 <= len(values) <= MOST_VALUES:
        return None
    import pyarrow as pa

    kinds: dict[Kind, Any] = {Kind.DATE: pa.date32(), Kind.TIMESTAMP: pa.timestamp("us"), Kind.INTEGER: pa.int64()}
    rows = pa.table({column.name: pa.array(values, kinds[column.type.kind])})
    engine = open_engine({"facts": as_source(rows, None, None, {})}, None)
    try:
        every = KeyCounts((expression,), cap=MOST_VALUES + 1, least=1, salt=bytes(16))
        with engine.snapshot() as snapshot:
            (counts,) = snapshot.ask(Relation("facts", column.table, NOBODY), (every,))
    finally:
        engine.close()
    present = sorted(key[0] for key, _ in counts if key[0] is not None)
    return [written(key) for key in present]


def _values(expression: Expression, column: Column, kept: Range) -> Sequence[Any] | None:
    """Values of the column that stand for all that it can have."""
    kind = column.type.kind
    if kind is Kind.INTEGER and kept.closed:
        first, last = ceil(kept.low), floor(kept.high)
        return range(first, last + 1) if first >= -(2**63) and last < 2**63 else None
    uses = _uses(expression, column)
    if kind in (Kind.DATE, Kind.TIMESTAMP) and not kept.closed:
        if uses is None or not uses <= RECURRING:
            return None
        first, last = CYCLE
        days = [first + timedelta(days=i) for i in range((last - first).days + 1)]
        return days if kind is Kind.DATE else [datetime.combine(day, time()) for day in days]
    if kind is Kind.DATE:
        first, last = kept.low, kept.high
        count = (last - first).days + 1
        return [first + timedelta(days=i) for i in range(count)] if count <= MOST_VALUES else None
    if kind is not Kind.TIMESTAMP or uses is None or not uses <= COARSE.keys():
        return None
    hourly = any(COARSE[use] for use in uses)
    step = timedelta(hours=1) if hourly else timedelta(days=1)
    first = kept.low.replace(hour=kept.low.hour if hourly else 0, minute=0, second=0, microsecond=0)
    steps = (kept.high - first) // step + 1
    return [first + i * step for i in range(steps)] if steps <= MOST_VALUES else None


def _uses(expression: Expression, column: Column) -> frozenset[str] | None:
    """The parts and units of a date or time that an expression looks at; None if it looks at the whole of it."""
    match expression:
        case Extract(part=part, operand=operand) if operand == column:
            return frozenset((part,))
        case DateTrunc(unit=unit, operand=operand) if operand == column:
            return frozenset((unit, "year"))
        case NamedCall(name="TRY_CAST", operands=(operand,)) if operand == column and expression.type.kind is Kind.DATE:
            return frozenset(("day", "year"))
    if expression == column:
        return None
    inner = [_uses(child, column) for child in expression.children()]
    known = [uses for uses in inner if uses is not None]
    return frozenset().union(*known) if len(known) == len(inner) else None


# ---- steps ------------------------------------------------------------------------------------------------------

_ROUNDED = ("FLOOR", "CEIL", "ROUND", "TRUNC")


def _steps(expression: Expression, conditions: Sequence[Expression]) -> list[Any] | None:
    """The values of whole numbers within a range, and of sums and products of them with constants, as doubles."""
    if expression.type.kind is not Kind.FLOAT:
        return None
    match expression:
        case NamedCall(name=name, operands=(operand, Literal(value=0))) if name in _ROUNDED:
            ends = _ends(operand, conditions)
            if ends is None or ends[1] - ends[0] > MOST_KEYS:
                return None
            first, last = (ceil if name == "CEIL" else floor)(ends[0]), (floor if name == "FLOOR" else ceil)(ends[1])
            return [float(k) for k in range(first, last + 1)]
        case Arithmetic(operator=operator, left=left, right=Literal(value=float() as value)):
            return _each(_steps(left, conditions), operator, value, flipped=False)
        case Arithmetic(operator=operator, left=Literal(value=float() as value), right=right):
            return _each(_steps(right, conditions), operator, value, flipped=True)
    return None


def _each(values: list[Any] | None, operator: str, constant: float, *, flipped: bool) -> list[Any] | None:
    """A sum, difference or product with a constant, as IEEE arithmetic gives it on every engine."""
    if values is None or operator == "/":
        return None
    results = [_applied(operator, *((constant, value) if flipped else (value, constant))) for value in values]
    return sorted(set(results)) if all(map(isfinite, results)) else None


def _applied(operator: str, left: float, right: float) -> float:
    return left + right if operator == "+" else left - right if operator == "-" else left * right


def _ends(expression: Expression, conditions: Sequence[Expression]) -> tuple[float, float] | None:
    """Doubles between which an expression lies that rises or falls with one number; rounding keeps their order."""
    kept = range_of(expression, conditions)
    if kept.closed and isinstance(kept.low, int | float | Fraction) and isinstance(kept.high, int | float | Fraction):
        return _sorted(float(kept.low), float(kept.high))
    match expression:
        case Cast(operand=operand) if operand.type.exact_number:
            return _ends(operand, conditions)
        case Arithmetic(operator=operator, left=left, right=Literal(value=float() as value)):
            inner = _ends(left, conditions) if expression.type.kind is Kind.FLOAT else None
            if inner is None or (operator == "/" and not value):
                return None
            if operator == "/":
                return _sorted(inner[0] / value, inner[1] / value)
            return _sorted(_applied(operator, inner[0], value), _applied(operator, inner[1], value))
    return None


def _sorted(one: float, other: float) -> tuple[float, float] | None:
    return (min(one, other), max(one, other)) if isfinite(one) and isfinite(other) else None


# ---- bounds of a function ---------------------------------------------------------------------------------------


def _bounded(expression: Expression, conditions: Sequence[Expression]) -> list[Any] | None:
    """The values of functions that have few."""
    match expression:
        case NamedCall(name="WIDTH_BUCKET", operands=(_, _, _, Literal(value=int() as count))):
            return list(range(count + 2))
        case NamedCall(name="MOD", operands=(left, Literal(value=int() as divisor))) if left.type.kind is Kind.INTEGER:
            largest, low = abs(divisor) - 1, range_of(left, conditions).low
            least = 0 if low is not None and low >= 0 else -largest
            return list(range(least, largest + 1)) if 0 <= largest <= MOST_KEYS else None
        case Extract(part="hour"):
            return list(range(24))
        case Extract(part="minute" | "second"):
            return list(range(60))
    return None
