"""Constants that are written as calculations: DATE '1994-01-01' + INTERVAL '1 year', 0.06 - 0.01.

What does not depend on a row is computed once, here, by the rules of `tacit.language.expressions`, so that engines
compare a column with a plain value and need not read rows that cannot match. A question stays known as it was written:
this is about how it is computed.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from tacit.language.expressions import Arithmetic, Expression, Literal, NamedCall
from tacit.language.types import FLOAT, INTEGER

_LARGEST = 2**63 - 1


def constant(expression: Expression) -> Literal | None:
    """The value of an expression without columns, where it is one of those above; else None."""
    if isinstance(expression, Literal):
        return expression
    operands: tuple[Expression, ...]
    if isinstance(expression, Arithmetic) and expression.type != FLOAT:
        operands, compute = (expression.left, expression.right), _EXACT.get(expression.operator)
    elif isinstance(expression, NamedCall):
        operands, compute = expression.operands, _SHIFTS.get(expression.name)
    else:
        return None
    if compute is None:
        return None
    known = [constant(operand) for operand in operands]
    values = [None if one is None else one.value for one in known]
    if None in known:
        return None
    return Literal(expression.type, None if None in values else compute(expression, *values))


def _exactly(operation: Callable[[Fraction, Fraction], Fraction]) -> Callable[..., Any]:
    """An operation on exact numbers, NULL where its steps leave 64 bits."""

    def compute(expression: Expression, left: Any, right: Any) -> Any:
        found = operation(Fraction(left), Fraction(right))
        steps = found * 10**expression.type.scale
        if steps.denominator != 1 or not -_LARGEST - 1 <= steps <= _LARGEST:
            return None
        return int(found) if expression.type == INTEGER else found

    return compute


def _add_months(call: Expression, moment: Any, count: int) -> Any:
    """The same day of a later month, or its last."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + count, 12)
    if not 1 <= year <= 9999:
        return None
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def _later(unit: str) -> Callable[..., Any]:
    def compute(call: Expression, moment: date, count: int) -> date | None:
        try:
            return moment + timedelta(**{unit: count})
        except OverflowError:
            return None

    return compute


_EXACT: dict[str, Callable[..., Any]] = {
    "+": _exactly(lambda a, b: a + b),
    "-": _exactly(lambda a, b: a - b),
    "*": _exactly(lambda a, b: a * b),
}
_SHIFTS: dict[str, Callable[..., Any]] = {
    "ADD_MONTHS": _add_months,
    "ADD_DAYS": _later("days"),
    "ADD_TIME": _later("microseconds"),
}
