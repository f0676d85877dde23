"""Arithmetic on released values and on ranges of them: what `functions` says of all functions holds here.

Ends of ranges are exact, or ±inf; a range whose end is beyond all floats may be NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, floor, inf, isfinite, log, log10, nextafter, sqrt
from typing import Any

from tacit.answers.quantities import DAY, End, Kind, Point, Possible, Quantity, Range, bounded, outward, whole

SLACK = Fraction(1, 10**12)
"""How far a root, a power or a logarithm of doubles may be off, in parts of itself."""


@dataclass(frozen=True)
class Function:
    """A function on values and, where its operands are left open, on ranges."""

    on: Callable[..., Point]
    over: Callable[..., Possible] | None = None
    """None where nothing is said about ranges."""
    strict: bool = True
    """Whether it is NULL where an operand is."""

    def __call__(self, *points: Any) -> Point:
        """The function's value."""
        if self.strict and None in points:
            return None
        try:
            return self.on(*points)
        except (
            ValueError,
            ArithmeticError,
            AttributeError,
            TypeError,
            LookupError,
        ):  # of the wrong kind, or out of reach
            return None


# ---- arithmetic on ends that may be infinite -----------------------------------------------------------------------


def _infinite(end: End) -> bool:
    return isinstance(end, float)


def _plus(a: End, b: End) -> End:
    return a if _infinite(a) else b if _infinite(b) else a + b


def _times(a: End, b: End) -> End:
    if not _infinite(a) and not _infinite(b):
        return a * b
    sign = ((a > 0) - (a < 0)) * ((b > 0) - (b < 0))
    return sign * inf if sign else Fraction(0)


def _range(low: End, high: End, kind: Kind = "number", null: bool = False) -> Range:
    ends = outward(low, up=False), outward(high, up=True)
    return Range(*ends, kind, null or any(map(_infinite, ends)))  # what is beyond all floats is NULL


def _null(*ranges: Range) -> bool:
    return any(part.null for part in ranges)


# ---- + - * / ------------------------------------------------------------------------------------------------------


def _numbers(*points: Any) -> bool:
    return all(isinstance(point, Quantity) and point.kind == "number" for point in points)


def _digits(a: Quantity, b: Quantity, join: Callable[[int, int], int]) -> int | None:
    return None if a.digits is None or b.digits is None else join(a.digits, b.digits)


_SUMS: dict[tuple[Kind, Kind], tuple[Kind, Fraction]] = {
    ("number", "number"): ("number", Fraction(1)),
    ("date", "number"): ("date", Fraction(1)),
    ("time", "number"): ("time", DAY),
}
"""What a sum is of, and what the second summand counts in: to dates and times, days are added."""


def _add(a: Any, b: Any, sign: int = 1) -> Point:
    if not isinstance(a, Quantity) or not isinstance(b, Quantity):
        return None
    if sign < 0 and a.kind == b.kind != "number":
        days = a.exact - b.exact
        return whole(int(days)) if a.kind == "date" else bounded(days / DAY, None)
    if (a.kind, b.kind) not in _SUMS:
        return _add(b, a) if sign > 0 and (b.kind, a.kind) in _SUMS else None
    kind, unit = _SUMS[a.kind, b.kind]
    total = a.exact + sign * unit * b.exact
    return bounded(total, _digits(a, b, max)) if kind == "number" else Quantity(Fraction(floor(total)), kind)


def _add_over(a: Range, b: Range, sign: int = 1) -> Possible:
    kind: Kind = "number"
    unit = scale = Fraction(1)
    if sign < 0 and a.kind == b.kind != "number":
        scale = Fraction(1) if a.kind == "date" else 1 / DAY
    elif (a.kind, b.kind) in _SUMS:
        kind, unit = _SUMS[a.kind, b.kind]
    else:
        return _add_over(b, a) if sign > 0 and (b.kind, a.kind) in _SUMS else frozenset({None})
    first, last = (b.low, b.high) if sign > 0 else (b.high, b.low)
    low, high = (_times(_plus(x, _times(sign * unit, y)), scale) for x, y in ((a.low, first), (a.high, last)))
    if kind != "number" and not _infinite(low):
        low = Fraction(floor(low))  # a part of a day, or of a microsecond, does not count
    return _range(low, high, kind, _null(a, b))


def _multiply(a: Any, b: Any) -> Point:
    if not _numbers(a, b):
        return None
    return bounded(a.exact * b.exact, _digits(a, b, int.__add__))


def _corners(a: Range, b: Range) -> Possible:
    if a.kind != "number" or b.kind != "number":
        return frozenset({None})
    corners = [_times(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return _range(min(corners), max(corners), null=_null(a, b))


def _divide(a: Any, b: Any) -> Point:
    return bounded(a.exact / b.exact, None) if _numbers(a, b) else None


def _divide_over(a: Range, b: Range) -> Possible:
    """Unbounded where the divisor may be 0."""
    if b.low <= 0 <= b.high:
        return _range(-inf, inf, null=True)
    low, high = (Fraction(0) if isinstance(end, float) else 1 / end for end in (b.high, b.low))
    return _corners(a, Range(low, high, b.kind, b.null))


def _toward_zero(number: Fraction) -> int:
    return int(number)


def _divide_whole(a: Any, b: Any) -> Point:
    return whole(_toward_zero(a.exact / b.exact)) if _numbers(a, b) else None


def _remainder(a: Any, b: Any) -> Point:
    if not _numbers(a, b):
        return None
    rest = a.exact - b.exact * _toward_zero(a.exact / b.exact)
    return bounded(rest, _digits(a, b, max))


# ---- functions of one number --------------------------------------------------------------------------------------


def _each_end(rise: Callable[[Fraction], Fraction]) -> Callable[..., Possible]:
    """Over a range: of a function that never falls, the values at its ends."""

    def over(a: Range, *_: Range) -> Possible:
        if a.kind != "number":
            return frozenset({None})
        low, high = (end if isinstance(end, float) else rise(end) for end in (a.low, a.high))
        return _range(low, high, null=a.null)

    return over


def _half_away(number: Fraction) -> int:
    return floor(abs(number) + Fraction(1, 2)) * (1 if number >= 0 else -1)


_MOST_PLACES = 38


def _round(a: Any, places: Any = None) -> Point:
    """To so many decimals; before the point with fewer than none."""
    if not isinstance(a, Quantity) or a.kind != "number":
        return None
    count = 0 if places is None else int(places.exact)
    count = max(-_MOST_PLACES, min(count, _MOST_PLACES))
    number = Fraction(_half_away(a.exact * Fraction(10) ** count)) / Fraction(10) ** count
    if a.digits is None:
        return bounded(number, None)
    return bounded(number, max(0, min(a.digits, count)))


def _round_over(a: Range, places: Range | None = None) -> Possible:
    if places is not None and (places.low != places.high or _infinite(places.low)):
        return _range(-inf, inf, null=True)
    count = 0 if places is None else max(-_MOST_PLACES, min(int(places.low), _MOST_PLACES))
    scale = Fraction(10) ** count
    return _each_end(lambda end: Fraction(_half_away(end * scale)) / scale)(a)


def _to_whole(rule: Callable[[Fraction], int]) -> Function:
    def on(a: Any) -> Point:
        return whole(rule(a.exact)) if _numbers(a) else None

    return Function(on, _each_end(lambda end: Fraction(rule(end))))


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)


def _negate(a: Any) -> Point:
    return Quantity(-a.exact, "number", a.digits) if _numbers(a) else None


def _negate_over(a: Range) -> Possible:
    return _corners(a, Range(Fraction(-1), Fraction(-1)))


def _absolute(a: Any) -> Point:
    return Quantity(abs(a.exact), "number", a.digits) if _numbers(a) else None


def _absolute_over(a: Range) -> Possible:
    if a.kind != "number":
        return frozenset({None})
    sizes: list[End] = [end if end >= 0 else -end for end in (a.low, a.high)]
    return _range(Fraction(0) if a.low <= 0 <= a.high else min(sizes), max(sizes), null=a.null)


def _rising(rule: Callable[[float], float], least: float = -inf) -> Function:
    """A function of doubles that rises, from its least argument on."""

    def on(a: Any) -> Point:
        if not _numbers(a) or a.exact < least:
            return None
        found = rule(float(a.exact))
        return bounded(Fraction(found), None) if isfinite(found) else None

    def over(a: Range) -> Possible:
        if a.kind != "number" or a.high < least:
            return frozenset({None})
        low, high = _at(a.low, least, up=False), _at(a.high, least, up=True)
        return _range(low, high, null=a.null or a.low <= least)

    def _at(end: End, least: float, up: bool) -> End:
        try:
            found = rule(float(max(end, least)))
            slack = SLACK * abs(Fraction(found)) + Fraction(nextafter(0.0, 1.0))
            return Fraction(found) + (slack if up else -slack)
        except (ValueError, OverflowError):
            return inf if up else -inf

    return Function(on, over)


def _power(a: Any, b: Any) -> Point:
    if not _numbers(a, b):
        return None
    found = float(a.exact) ** float(b.exact)
    return bounded(Fraction(found), None) if isinstance(found, float) and isfinite(found) else None


def _decimal(a: Any, places: Any) -> Point:
    """With exactly so many decimals."""
    rounded = _round(a, places)
    return bounded(rounded.exact, int(places.exact)) if isinstance(rounded, Quantity) else None


ARITHMETIC: dict[str, Function] = {
    "+": Function(_add, _add_over),
    "-": Function(lambda a, b: _add(a, b, -1), lambda a, b: _add_over(a, b, -1)),
    "*": Function(_multiply, _corners),
    "/": Function(_divide, _divide_over),
    "//": Function(_divide_whole),
    "%": Function(_remainder),
    "NEGATE": Function(_negate, _negate_over),
    "ABS": Function(_absolute, _absolute_over),
    "SIGN": _to_whole(_sign),
    "FLOOR": _to_whole(floor),
    "CEIL": _to_whole(lambda number: -floor(-number)),
    "WHOLE": _to_whole(_half_away),
    "TRUNC": _to_whole(_toward_zero),
    "FLOAT": Function(lambda a: bounded(a.exact, None) if _numbers(a) else None, _each_end(lambda end: end)),
    "DECIMAL": Function(_decimal, _round_over),
    "ROUND": Function(_round, _round_over),
    "SQRT": _rising(sqrt, 0.0),
    "EXP": _rising(exp),
    "LN": _rising(log, 0.0),
    "LOG10": _rising(log10, 0.0),
    "POWER": Function(_power),
}
"""What takes numbers, and days and times where they are added or subtracted."""
