"""Released values as exact quantities, and sets of values that they may stand for.

A number, a date or a time is a rational: of a date its day, of a time its microsecond. So what is computed from
released values is computed exactly and rounded once, at the end. What an interval leaves open is a `Range`; what leaves
only a few values open is a finite set. Both may hold NULL.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor, inf, isfinite, nextafter
from typing import Any, Literal, cast

from tacit.answers.values import Value

Kind = Literal["number", "date", "time", "any"]

MOST_DIGITS = 38
"""The most digits of an exact number; what has more is a float."""

DAY = Fraction(86_400_000_000)
"""A day in microseconds."""

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Quantity:
    """A number, a date or a time."""

    exact: Fraction
    kind: Kind = "number"
    digits: int | None = None
    """How many decimals a number has; None for a float."""


Point = Quantity | str | bool | None
"""One value."""

End = Fraction | float
"""An end of a range: exact, or ±inf."""


@dataclass(frozen=True)
class Range:
    """All quantities of a kind from one end to the other; nothing is known about one of the kind "any"."""

    low: End
    high: End
    kind: Kind = "number"
    null: bool = False
    """Whether it may be NULL, too."""


Possible = Range | frozenset[Point]
"""What a value may be: a range, or one of a few."""

ANYTHING = Range(-inf, inf, "any", null=True)

FEW = 64
"""The most values of a finite set."""


def read(value: Any) -> Point:
    """A released value, exactly; NaN and ±inf are NULL, and so is what would take long to write out."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, datetime):
        naive = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return Quantity(Fraction((naive - _EPOCH) // _MICROSECOND), "time")
    if isinstance(value, date):
        return Quantity(Fraction(value.toordinal()), "date")
    if isinstance(value, int):
        return whole(value)
    if isinstance(value, Fraction):
        return bounded(value, None)
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        if not isinstance(exponent, int) or abs(exponent) > LONGEST:
            return None
        return bounded(Fraction(value), max(0, -exponent))
    number = float(value)
    return Quantity(Fraction(number)) if isfinite(number) else None


def whole(number: int) -> Quantity | None:
    """A whole number."""
    return bounded(Fraction(number), 0)


def bounded(number: Fraction, digits: int | None) -> Quantity | None:
    """A number shown with so many decimals, or as a float where that would be too long; NULL beyond all floats."""
    if digits is not None and 0 <= digits <= MOST_DIGITS and abs(number) * 10**digits < 10**MOST_DIGITS:
        return Quantity(number, "number", digits)
    value = _float(number)
    if not isfinite(value):
        return None
    return Quantity(number if _short(number) else Fraction(value))


def outward(end: End, up: bool) -> End:
    """An end of a range, rounded away from it where it has grown too long, and none where it is huge."""
    beyond = inf if up else -inf
    if isinstance(end, float) or abs(end) >= HUGE:
        return beyond
    return end if _short(end) else Fraction(nextafter(_float(end), beyond))


HUGE = 1e307
"""Ends of ranges beyond this are none."""

LONGEST = 4_000
"""The most bits of a number that is computed with."""


def _short(number: Fraction) -> bool:
    return max(number.numerator.bit_length(), number.denominator.bit_length()) <= LONGEST


def _float(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def write(point: Point) -> Value:
    """The value that a point stands for."""
    if not isinstance(point, Quantity):
        return point
    if point.kind == "date":
        return _date(point.exact)
    if point.kind == "time":
        return _time(point.exact)
    if point.digits is None:
        value = _float(point.exact)
        return value if isfinite(value) else None
    return int(point.exact) if point.digits == 0 else _decimal(point.exact, point.digits)


def _date(day: Fraction) -> date | None:
    return date.fromordinal(int(day)) if 1 <= day <= date.max.toordinal() else None


def _time(microsecond: Fraction) -> datetime | None:
    try:
        return _EPOCH + int(microsecond) * _MICROSECOND
    except OverflowError:
        return None


def _decimal(number: Fraction, digits: int) -> Decimal:
    with localcontext(prec=2 * MOST_DIGITS):
        return Decimal(round(number * 10**digits)).scaleb(-digits)


def ends(possible: Possible, like: Value) -> tuple[Any, Any]:
    """The smallest and largest value that is possible, as the given value is; ±inf where nothing bounds them."""
    found = span(possible)
    if found is None or found.kind == "any":
        only = {point for point in possible if point is not None} if isinstance(possible, frozenset) else set()
        return (like, like) if len(only) == 1 else (-inf, inf)
    return _end(found.low, found.kind, like, up=False), _end(found.high, found.kind, like, up=True)


def _end(end: End, kind: Kind, like: Value, up: bool) -> Any:
    """An end, rounded outward."""
    beyond = inf if up else -inf
    if isinstance(end, float):
        return beyond
    outward = ceil(end) if up else floor(end)
    if kind == "date":
        found: Any = _date(Fraction(outward))
    elif kind == "time":
        found = _time(Fraction(outward))
    elif isinstance(like, int):
        found = outward
    elif isinstance(like, Decimal):
        digits = max(0, -cast(int, like.as_tuple().exponent))
        scaled = end * 10**digits
        found = _decimal(Fraction(ceil(scaled) if up else floor(scaled), 10**digits), digits)
    else:
        found = _float(end)
        inside = isfinite(found) and (Fraction(found) < end if up else Fraction(found) > end)
        found = nextafter(found, beyond) if inside else found
    return beyond if found is None else found


def span(possible: Possible) -> Range | None:
    """The range that holds all that is possible; None of NULL alone."""
    if isinstance(possible, Range):
        return possible
    points = [point for point in possible if point is not None]
    if not points:
        return None
    numbers = [point.exact for point in points if isinstance(point, Quantity)]
    kinds = {point.kind for point in points if isinstance(point, Quantity)}
    if len(numbers) < len(points) or len(kinds) > 1:
        return ANYTHING
    return Range(min(numbers), max(numbers), kinds.pop(), None in possible)


def union(parts: Iterable[Possible]) -> Possible:
    """Whatever is possible by one of several."""
    parts = list(parts)
    finite = [part for part in parts if isinstance(part, frozenset)]
    if len(finite) == len(parts):
        points = frozenset[Point]().union(*finite)
        if len(points) <= FEW:
            return points
    spans = [span(part) for part in parts]
    held = [part for part in spans if part is not None]
    if len({part.kind for part in held}) > 1 or any(part.kind == "any" for part in held):
        return ANYTHING
    null = any(part is None or part.null for part in spans)
    return Range(min(part.low for part in held), max(part.high for part in held), held[0].kind, null)
