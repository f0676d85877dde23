"""Expressions with their types checked: one function for each operator and clause of the closed list.

Every refusal here follows from the schema and the question alone, names the clause, and comes before anything runs.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Literal as Choice

from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language.expressions import (
    PARTS,
    UNITS,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    Comparison,
    DateTrunc,
    DaysBetween,
    Expression,
    Extract,
    In,
    IsNull,
    Like,
    Literal,
    Logic,
    NamedCall,
    Not,
)
from tacit.language.types import (
    BOOLEAN,
    DATE,
    FLOAT,
    INTEGER,
    LARGEST_SCALE,
    OTHER,
    TEXT,
    TIMESTAMP,
    ColumnType,
    Kind,
    decimal,
)

_DAY = timedelta(days=1)
_TIMES_OF_DAY = ("hour", "minute", "second")


def literal(value: object, name: str = "value") -> Literal:
    """A constant from a Python value; ``name`` is the argument's name in the error."""
    if hasattr(value, "item") and type(value).__module__.partition(".")[0] == "numpy":
        value = value.item()
    if value is None or (isinstance(value, float) and value != value):
        return Literal(OTHER, None)
    if isinstance(value, bool):
        return Literal(BOOLEAN, value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise InvalidInput(f"{name} has an integer beyond 64 bits; write it as a float such as 1e20.")
        return Literal(INTEGER, value)
    if isinstance(value, float):
        if not isfinite(value):
            raise InvalidInput(f"{name} must not be infinite; give an ordinary number.")
        return Literal(FLOAT, value)
    if isinstance(value, Decimal) and value.is_finite():
        return _decimal(Fraction(value), name)
    if isinstance(value, str):
        if any(character == "\x00" or "\ud800" <= character <= "\udfff" for character in value):
            raise InvalidInput(f"{name} must not contain a zero character or half a surrogate pair.")
        return Literal(TEXT, value)
    if isinstance(value, datetime):
        try:
            utc = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        except OverflowError:
            raise InvalidInput(f"{name} has a time outside the years 1 to 9999 in UTC; give another.") from None
        return Literal(TIMESTAMP, datetime(*utc.timetuple()[:6], utc.microsecond))
    if isinstance(value, date):
        return Literal(DATE, value)
    raise InvalidInput(f"{name} must be a number, a text, a truth value, a date, a datetime or None.")


def _decimal(value: Fraction, name: str) -> Literal:
    """A decimal constant with as few digits after the point as it needs."""
    scale = next((s for s in range(LARGEST_SCALE + 1) if 10**s % value.denominator == 0), None)
    if scale is None or not -(2**63) <= value * 10**scale < 2**63:
        raise InvalidInput(f"{name} has more digits than an exact decimal holds; write it as a float such as 1e-20.")
    return Literal(decimal(scale), value) if scale else Literal(INTEGER, int(value))


def widen(expression: Expression, kind: ColumnType, name: str = "expression") -> Expression:
    """The expression as a value of a wider type; constants are converted at once."""
    if expression.type == kind:
        return expression
    if isinstance(expression, Literal):
        return _widen_literal(expression, kind, name)
    if not widens(expression, kind):
        raise InvalidInput(f"{name} cannot turn {expression.type} into {kind}; compare and combine values of one kind.")
    return Cast(kind, expression)


def widens(expression: Expression, kind: ColumnType) -> bool:
    """Whether every value of the expression's type is one of the other type."""
    source = expression.type
    return (
        (kind.kind is Kind.FLOAT and source.exact_number)
        or (kind.kind is Kind.DECIMAL and source.exact_number and source.scale <= kind.scale)
        or (kind.kind is Kind.TIMESTAMP and source.kind is Kind.DATE)
        or (source.kind is Kind.BOOLEAN and kind.kind is Kind.INTEGER)
    )


def _widen_literal(constant: Literal, kind: ColumnType, name: str) -> Literal:
    value = constant.value
    if value is None or constant.type == kind:
        return Literal(kind, value)
    source = constant.type
    try:
        if kind.kind is Kind.FLOAT and source.exact_number:
            return Literal(kind, float(constant.exact))
        if kind.kind is Kind.DECIMAL and source.exact_number and source.scale <= kind.scale:
            return Literal(kind, constant.exact)
        if kind.kind is Kind.INTEGER and source.kind is Kind.BOOLEAN:
            return Literal(kind, int(bool(value)))
        if kind.kind is Kind.DATE and isinstance(value, str):
            return Literal(kind, date.fromisoformat(value))
        if kind.kind is Kind.TIMESTAMP and isinstance(value, str):
            return literal(datetime.fromisoformat(value))
        if kind.kind is Kind.TIMESTAMP and source.kind is Kind.DATE and isinstance(value, date):
            return Literal(kind, datetime(value.year, value.month, value.day))
    except (ValueError, OverflowError):
        pass
    remedy = (
        "write it as 'YYYY-MM-DD'" if kind.kind in (Kind.DATE, Kind.TIMESTAMP) else "use values of the column's type"
    )
    raise InvalidInput(f"{name}: a value of type {source} cannot be used as {kind}; {remedy}.")


def typed(expression: Expression) -> Expression:
    """The expression itself; a bare NULL as a truth value, so that it has a type."""
    return Literal(BOOLEAN, None) if untyped(expression) else expression


def untyped(expression: Expression) -> bool:
    """Whether the expression is a bare NULL."""
    return isinstance(expression, Literal) and expression.type == OTHER


def common_type(expressions: Sequence[Expression], name: str) -> ColumnType:
    """The narrowest type all can be widened to; text constants become dates where dates are asked."""
    kinds = [e.type for e in expressions if not untyped(e)]
    if not kinds:
        return BOOLEAN
    timelike = [k for k in kinds if k.kind in (Kind.DATE, Kind.TIMESTAMP)]
    if timelike:
        return TIMESTAMP if TIMESTAMP in timelike else DATE
    if all(k.exact_number for k in kinds):
        scale = max(k.scale for k in kinds)
        return decimal(scale) if any(k.kind is Kind.DECIMAL for k in kinds) else INTEGER
    if all(k.number for k in kinds):
        return FLOAT
    if len(set(kinds)) == 1:
        return kinds[0]
    listed = " and ".join(sorted({str(k) for k in kinds}))
    raise InvalidInput(f"{name} mixes {listed}; compare and combine values of one kind.")


def numbers(expressions: Sequence[Expression], name: str) -> list[Expression]:
    """The expressions, all of which must be numbers; a bare NULL is an integer."""
    typed = [widen(e, INTEGER) if untyped(e) else e for e in expressions]
    for expression in typed:
        if not expression.type.number:
            raise InvalidInput(f"{name} needs numbers, not {expression.type}; use a numeric column.")
    return typed


def alike(expressions: Sequence[Expression], name: str) -> list[Expression]:
    """The expressions, each widened to their common type."""
    kind = common_type(expressions, name)
    return [widen(expression, kind, name) for expression in expressions]


def ordered(expressions: Sequence[Expression], name: str) -> list[Expression]:
    """The expressions, each widened to their common type, whose values must have an order."""
    if common_type(expressions, name).kind is Kind.OTHER:
        raise InvalidInput(f"{name} needs values Tacit can order; leave the column out.")
    return alike(expressions, name)


def arithmetic(operator: Choice["+", "-", "*", "/"], left: Expression, right: Expression) -> Expression:
    """``left op right``; the difference of two dates is a number of days, which can also be added to a date."""
    if operator == "-" and left.type == DATE and right.type == DATE:
        return DaysBetween(INTEGER, left, right)
    if operator == "+" and right.type == DATE:
        left, right = right, left
    if operator in ("+", "-") and left.type == DATE and right.type == INTEGER:
        if isinstance(left, Literal) and isinstance(right, Literal):
            return shifted(left, 0, right, 1 if operator == "+" else -1)
        days = right if operator == "+" else arithmetic("-", Literal(INTEGER, 0), right)
        return NamedCall(DATE, "ADD_DAYS", (left, days))
    if operator == "-" and {left.type, right.type} <= {DATE, TIMESTAMP}:
        raise UnsupportedQuery(
            "the difference of two timestamps is an interval, which Tacit does not have; write DATE_DIFF('second', "
            "start, end), or EXTRACT(EPOCH FROM end - start) for the fraction too."
        )
    left, right = numbers((left, right), operator)
    kind = FLOAT if operator == "/" else common_type((left, right), operator)
    if kind == FLOAT:
        return Arithmetic(FLOAT, operator, widen(left, FLOAT), widen(right, FLOAT))
    if operator == "*":
        scale = left.type.scale + right.type.scale
        if scale > LARGEST_SCALE:
            raise UnsupportedQuery(
                f"* of {left.type} and {right.type} needs more than {LARGEST_SCALE} decimals; write CAST(… AS DOUBLE)."
            )
        return Arithmetic(decimal(scale) if kind.kind is Kind.DECIMAL else INTEGER, operator, left, right)
    return Arithmetic(kind, operator, widen(left, kind), widen(right, kind))


def shifted(moment: Literal, months: int, days: Literal, sign: int = 1, unit: timedelta = _DAY) -> Literal:
    """A constant date or time some months, days or other units later; NULL outside the years 1 to 9999."""
    value, count = moment.value, days.value
    if not isinstance(value, date) or not isinstance(count, int):
        return Literal(moment.type, None)
    year, month = divmod(value.year * 12 + value.month - 1 + months, 12)
    try:
        last = monthrange(year, month + 1)[1]
        later = value.replace(year=year, month=month + 1, day=min(value.day, last)) + sign * count * unit
    except (OverflowError, ValueError):
        return Literal(moment.type, None)
    return Literal(moment.type, later)


def comparison(operator: Choice["=", "<>", "<", "<=", ">", ">="], left: Expression, right: Expression) -> Expression:
    """``left op right``; exact numbers of different scale are compared exactly."""
    kind = common_type((left, right), operator)
    if kind.kind is Kind.OTHER:
        raise InvalidInput(f"{operator} compares a column of a type that Tacit does not read; leave it out.")
    if kind.exact_number:
        left, right = numbers((left, right), operator)
        return Comparison(BOOLEAN, operator, left, right)
    return Comparison(BOOLEAN, operator, widen(left, kind, operator), widen(right, kind, operator))


def logic(operator: Choice["AND", "OR"], operands: Sequence[Expression]) -> Expression:
    """AND or OR of truth values."""
    return Logic(BOOLEAN, operator, tuple(widen(operand, BOOLEAN, operator) for operand in operands))


def negation(operand: Expression) -> Expression:
    """NOT of a truth value."""
    return Not(BOOLEAN, widen(operand, BOOLEAN, "NOT"))


def membership(operand: Expression, items: Sequence[Expression]) -> Expression:
    """``operand IN (values)``; a NULL among the values makes a row that matches no other one NULL."""
    if not items:
        raise UnsupportedQuery("IN is supported with a list of values; write them out.")
    if not all(isinstance(item, Literal) for item in items):
        return logic("OR", [comparison("=", operand, item) for item in items])
    kind = common_type((operand, *items), "IN")
    if kind.kind is Kind.OTHER:
        raise InvalidInput("IN compares a column of a type that Tacit does not read; leave it out.")
    constants = [_widen_literal(item, kind, "IN") for item in items if isinstance(item, Literal)]
    present = tuple(constant for constant in constants if constant.value is not None)
    found: Expression = Literal(BOOLEAN, None)
    if present:
        found = In(BOOLEAN, numbers((operand,), "IN")[0] if kind.exact_number else widen(operand, kind, "IN"), present)
    if len(present) == len(constants):
        return found
    return logic("OR", (found, Literal(BOOLEAN, None)))


def like(operand: Expression, pattern: Expression) -> Expression:
    """``operand LIKE 'pattern'``."""
    if not (isinstance(pattern, Literal) and isinstance(pattern.value, str)):
        raise UnsupportedQuery("LIKE is supported with a constant pattern; write it out.")
    if "\\" in pattern.value:
        raise UnsupportedQuery("LIKE with a backslash means different things on different engines; use _ in its place.")
    return Like(BOOLEAN, widen(operand, TEXT, "LIKE"), pattern.value)


def distinct(left: Expression, right: Expression) -> Expression:
    """``left IS DISTINCT FROM right``: as <>, but NULL is a value like any other."""
    same = Coalesce(BOOLEAN, (comparison("=", left, right), Literal(BOOLEAN, False)))
    return negation(logic("OR", (same, logic("AND", (is_null(left), is_null(right))))))


def is_null(operand: Expression) -> Expression:
    """``operand IS NULL``."""
    return IsNull(BOOLEAN, typed(operand))


def case(branches: Sequence[tuple[Expression, Expression]], default: Expression | None) -> Expression:
    """CASE WHEN … THEN … ELSE … END."""
    default = default or Literal(OTHER, None)
    kind = common_type([value for _, value in branches] + [default], "CASE")
    return Case(
        kind,
        tuple((widen(when, BOOLEAN, "WHEN"), widen(then, kind, "CASE")) for when, then in branches),
        widen(default, kind, "CASE"),
    )


def extract(part: str, operand: Expression) -> Expression:
    """EXTRACT(part FROM operand)."""
    if part not in PARTS or (operand.type == DATE and part in _TIMES_OF_DAY):
        raise UnsupportedQuery(f"EXTRACT does not know this part of a {operand.type}; use one of {', '.join(PARTS)}.")
    if operand.type not in (DATE, TIMESTAMP):
        raise InvalidInput(f"EXTRACT needs a date or a timestamp, not {operand.type}; use such a column.")
    return Extract(INTEGER, part, operand)


def date_trunc(unit: str, operand: Expression) -> Expression:
    """DATE_TRUNC('unit', operand), of the operand's own type."""
    if unit not in UNITS or (operand.type == DATE and unit in _TIMES_OF_DAY):
        raise UnsupportedQuery(
            f"DATE_TRUNC does not know this unit of a {operand.type}; use one of {', '.join(UNITS)}."
        )
    if operand.type not in (DATE, TIMESTAMP):
        raise InvalidInput(f"DATE_TRUNC needs a date or a timestamp, not {operand.type}; use such a column.")
    return DateTrunc(operand.type, unit, operand)
