"""The functions that a formula over released values may use, each on values and on ranges.

A function of values is total: NULL where an operand has the wrong kind, and where SQL would fail or overflow. Unless
said otherwise it is NULL where an operand is. Rounding is half away from zero. A function over ranges holds every value
that the function takes there, and NULL where it may be NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from fractions import Fraction
from math import inf
from typing import Any

from tacit.answers.arithmetic import ARITHMETIC, Function
from tacit.answers.quantities import DAY, Point, Possible, Quantity, Range, read, whole, write

LONGEST_TEXT = 10_000
"""The most characters of a text."""


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
    return point.exact if point.kind == "time" else (point.exact - _ORDINAL_OF_1970) * DAY


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
        found: set[Point] = {None} if a.null or b.null else set()
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


FUNCTIONS: dict[str, Function] = ARITHMETIC | {
    "TEXT": Function(_text),
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
