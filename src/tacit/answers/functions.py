"""The functions that a formula over released values may use, each on values and on ranges.

A function of values is total: NULL where an operand has the wrong kind, and where SQL would fail or overflow. Unless
said otherwise it is NULL where an operand is. Rounding is half away from zero. A function over ranges holds every value
that the function takes there, and NULL where it may be NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from math import exp, floor, inf, isfinite, log, log10, nextafter, sqrt
from typing import Any

from tacit.answers.quantities import End, Kind, Point, Possible, Quantity, Range, bounded, outward, read, whole, write

SLACK = Fraction(1, 10**12)
"""How far a root, a power or a logarithm of doubles may be off, in parts of itself."""

LONGEST_TEXT = 10_000
"""The most characters of a text."""


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


_DAY = Fraction(86_400_000_000)
_SUMS: dict[tuple[Kind, Kind], tuple[Kind, Fraction]] = {
    ("number", "number"): ("number", Fraction(1)),
    ("date", "number"): ("date", Fraction(1)),
    ("time", "number"): ("time", _DAY),
}
"""What a sum is of, and what the second summand counts in: to dates and times, days are added."""


def _add(a: Any, b: Any, sign: int = 1) -> Point:
    if not isinstance(a, Quantity) or not isinstance(b, Quantity):
        return None
    if sign < 0 and a.kind == b.kind != "number":
        days = a.exact - b.exact
        return whole(int(days)) if a.kind == "date" else bounded(days / _DAY, None)
    if (a.kind, b.kind) not in _SUMS:
        return _add(b, a) if sign > 0 and (b.kind, a.kind) in _SUMS else None
    kind, unit = _SUMS[a.kind, b.kind]
    total = a.exact + sign * unit * b.exact
    return bounded(total, _digits(a, b, max)) if kind == "number" else Quantity(Fraction(floor(total)), kind)


def _add_over(a: Range, b: Range, sign: int = 1) -> Possible:
    kind: Kind = "number"
    unit = scale = Fraction(1)
    if sign < 0 and a.kind == b.kind != "number":
        scale = Fraction(1) if a.kind == "date" else 1 / _DAY
    elif (a.kind, b.kind) in _SUMS:
        kind, unit = _SUMS[a.kind, b.kind]
    else:
        return _add_over(b, a) if sign > 0 and (b.kind, a.kind) in _SUMS else frozenset({None})
    first, last = (b.low, b.high) if sign > 0 else (b.high, b.low)
    low, high = (_times(_plus(x, _times(sign * unit, y)), scale) for x, y in ((a.low, first), (a.high, last)))
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


# ---- comparing ----------------------------------------------------------------------------------------------------


def _compared(a: Any, b: Any) -> tuple[Any, Any] | None:
    """What is compared of two values: of one kind, or days and times, which may be written out."""
    if isinstance(a, Quantity) and isinstance(b, Quantity):
        if a.kind == b.kind:
            return a.exact, b.exact
        return None if "number" in (a.kind, b.kind) else (_microseconds(a), _microseconds(b))
    if isinstance(a, Quantity) and isinstance(b, str) and a.kind != "number":
        return _compared(a, _moment(b))
    if isinstance(a, str) and isinstance(b, Quantity) and b.kind != "number":
        return _compared(_moment(a), b)
    return (a, b) if type(a) is type(b) else None


def _moment(text: str) -> Any:
    """A day or a time that is written out; NULL of any other text."""
    try:
        return read(date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text))
    except ValueError:
        return None


_ORDINAL_OF_1970 = 719_163


def _microseconds(point: Quantity) -> Fraction:
    return point.exact if point.kind == "time" else (point.exact - _ORDINAL_OF_1970) * _DAY


def _comparison(
    on: Callable[[Any, Any], bool],
    true: Callable[[Range, Range], bool],
    false: Callable[[Range, Range], bool],
) -> Function:
    """A comparison, and whether it can be true or false of two ranges."""

    def compare(a: Any, b: Any) -> Point:
        pair = _compared(a, b)
        return None if pair is None else on(*pair)

    def over(a: Range, b: Range) -> Possible:
        if a.kind != b.kind:
            return frozenset({True, False, None})
        found: set[Point] = {None} if _null(a, b) else set()
        return frozenset(found | ({True} if true(a, b) else set()) | ({False} if false(a, b) else set()))

    return Function(compare, over)


def _meet(a: Range, b: Range) -> bool:
    return a.low <= b.high and b.low <= a.high


def _differ(a: Range, b: Range) -> bool:
    return not a.low == a.high == b.low == b.high


_LESS = (lambda a, b: a.low < b.high, lambda a, b: a.high >= b.low)
_AT_MOST = (lambda a, b: a.low <= b.high, lambda a, b: a.high > b.low)


def _both(a: Any, b: Any) -> Point:
    if a is False or b is False:
        return False
    return True if a is True and b is True else None


def _either(a: Any, b: Any) -> Point:
    if a is True or b is True:
        return True
    return False if a is False and b is False else None


def _same(a: Any, b: Any) -> Point:
    if a is None or b is None:
        return a is b
    pair = _compared(a, b)
    return pair is not None and pair[0] == pair[1]


def _one_of(a: Any, *items: Any) -> Point:
    """Whether a value is one of several; open where it is none of them and one is NULL."""
    if a is None:
        return None
    if any(item is not None and _same(a, item) for item in items):
        return True
    return None if None in items else False


def _null_if(a: Any, b: Any) -> Point:
    return None if b is not None and _same(a, b) else a


def _null_if_over(a: Range, b: Range) -> Possible:
    return Range(a.low, a.high, a.kind, a.null or _meet(a, b))


def _extreme(largest: bool) -> Function:
    """GREATEST or LEAST: of those that are not NULL."""

    def on(*points: Any) -> Point:
        given = [point for point in points if point is not None]
        best = given[0] if given else None
        for point in given[1:]:
            pair = _compared(best, point)
            if pair is None:
                return None
            best = point if (pair[1] > pair[0]) == largest and pair[1] != pair[0] else best
        return best

    def over(*ranges: Range) -> Possible:
        if len({part.kind for part in ranges}) > 1:
            return Range(-inf, inf, "any", null=True)
        sure = [part for part in ranges if not part.null]
        pick = max if largest else min
        low = pick(part.low for part in ranges) if not largest or sure == list(ranges) else min(p.low for p in ranges)
        high = pick(part.high for part in ranges) if largest or sure == list(ranges) else max(p.high for p in ranges)
        return Range(low, high, ranges[0].kind, not sure)

    return Function(on, over, strict=False)


# ---- texts and days -----------------------------------------------------------------------------------------------


def _text(point: Any) -> str:
    value = write(point)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _concat(*points: Any) -> Point:
    found = "".join(_text(point) for point in points)
    return found if len(found) <= LONGEST_TEXT else None


def _substring(text: Any, start: Any, length: Any = None) -> Point:
    if not isinstance(text, str):
        return None
    first = int(start.exact) - 1
    last = len(text) if length is None else first + int(length.exact)
    return text[max(0, first) : max(0, last)]


def _like(text: Any, pattern: Any) -> Point:
    """By going back to the last % only, which takes no more steps than both are long, multiplied."""
    at = here = 0
    star, resumed = -1, 0
    while at < len(text):
        if here < len(pattern) and pattern[here] == "%":
            star, resumed, here = here, at, here + 1
        elif here < len(pattern) and pattern[here] in ("_", text[at]):
            at, here = at + 1, here + 1
        elif star >= 0:
            resumed += 1
            at, here = resumed, star + 1
        else:
            return False
    return not pattern[here:].strip("%")


def _of_text(rule: Callable[[str], Point]) -> Function:
    return Function(lambda text: rule(text) if isinstance(text, str) else None)


def _date_part(part: Any, day: Any) -> Point:
    value = write(day)
    return whole(int(_DATE_PARTS[str(part)](value))) if hasattr(value, "isocalendar") else None


_DATE_PARTS: dict[str, Callable[[Any], int]] = {
    "year": lambda day: day.year,
    "quarter": lambda day: (day.month + 2) // 3,
    "month": lambda day: day.month,
    "week": lambda day: day.isocalendar()[1],
    "day": lambda day: day.day,
    "isodow": lambda day: day.isoweekday(),
    "dow": lambda day: day.isoweekday() % 7,
    "doy": lambda day: day.timetuple().tm_yday,
    "hour": lambda day: getattr(day, "hour", 0),
    "minute": lambda day: getattr(day, "minute", 0),
}
DATE_PARTS = tuple(_DATE_PARTS)
"""What EXTRACT may take."""


def _decimal(a: Any, places: Any) -> Point:
    """With exactly so many decimals."""
    rounded = _round(a, places)
    return bounded(rounded.exact, int(places.exact)) if isinstance(rounded, Quantity) else None


FUNCTIONS: dict[str, Function] = {
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
    "TEXT": Function(_text),
    "ROUND": Function(_round, _round_over),
    "SQRT": _rising(sqrt, 0.0),
    "EXP": _rising(exp),
    "LN": _rising(log, 0.0),
    "LOG10": _rising(log10, 0.0),
    "POWER": Function(_power),
    "=": _comparison(lambda a, b: a == b, _meet, _differ),
    "<>": _comparison(lambda a, b: a != b, _differ, _meet),
    "<": _comparison(lambda a, b: a < b, *_LESS),
    "<=": _comparison(lambda a, b: a <= b, *_AT_MOST),
    ">": _comparison(lambda a, b: a > b, lambda a, b: _LESS[0](b, a), lambda a, b: _LESS[1](b, a)),
    ">=": _comparison(lambda a, b: a >= b, lambda a, b: _AT_MOST[0](b, a), lambda a, b: _AT_MOST[1](b, a)),
    "AND": Function(_both, strict=False),
    "OR": Function(_either, strict=False),
    "NOT": Function(lambda a: (not a) if isinstance(a, bool) else None),
    "IS NULL": Function(lambda a: a is None, lambda a: frozenset({True, False} if a.null else {False}), strict=False),
    "IS": Function(_same, strict=False),
    "IN": Function(_one_of, lambda *_: frozenset({True, False, None}), strict=False),
    "NULLIF": Function(_null_if, _null_if_over, strict=False),
    "GREATEST": _extreme(largest=True),
    "LEAST": _extreme(largest=False),
    "||": Function(_concat),
    "CONCAT": Function(lambda *points: _concat(*(point for point in points if point is not None)), strict=False),
    "UPPER": _of_text(str.upper),
    "LOWER": _of_text(str.lower),
    "TRIM": _of_text(lambda text: text.strip(" ")),
    "LENGTH": _of_text(lambda text: whole(len(text))),
    "SUBSTRING": Function(_substring),
    "LIKE": Function(_like),
    "EXTRACT": Function(_date_part),
}
"""All of them by name."""
