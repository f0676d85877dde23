"""Parts, starts, distances and steps of dates and times: all made of a few, by arithmetic on whole numbers.

A week starts on Monday and is numbered as ISO 8601 does. DATE_DIFF counts how many starts of the unit lie between two
moments, DATE_SUB how many whole units. Months added to the end of a month end at the end of a month.
"""

from __future__ import annotations

from datetime import date, timedelta

from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language import build
from tacit.language.casts import cast
from tacit.language.expressions import DateTrunc, DaysBetween, Expression, Extract, Literal, NamedCall
from tacit.language.types import DATE, INTEGER, TIMESTAMP, Kind, decimal

MICROSECONDS = {
    "week": 604_800_000_000, "day": 86_400_000_000, "hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000,
    "millisecond": 1000, "microsecond": 1,
}  # fmt: skip
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12000}
UNITS = (*MONTHS, *MICROSECONDS)
"""Every unit of time."""
DAYS_OF_ERA = 719_162
"""Days from 0001-01-01 to 1970-01-01."""
_ERA = DAYS_OF_ERA * MICROSECONDS["day"]
_START = Literal(DATE, date(1, 1, 1))
_NAMES = {
    "years": "year", "yr": "year", "y": "year", "quarters": "quarter", "months": "month", "mon": "month",
    "weeks": "week", "days": "day", "dayofmonth": "day", "hours": "hour", "minutes": "minute", "min": "minute",
    "seconds": "second", "sec": "second", "milliseconds": "millisecond", "ms": "millisecond",
    "microseconds": "microsecond", "us": "microsecond", "decades": "decade", "centuries": "century",
    "millennia": "millennium", "dayofyear": "doy", "isoweek": "week", "weekofyear": "week",
}  # fmt: skip


def unit_named(name: str) -> str:
    """The unit or part that people write in several ways."""
    lowered = name.lower()
    return _NAMES.get(lowered, lowered)


def _whole(value: int) -> Literal:
    return Literal(INTEGER, value)


def times(count: Expression, factor: int) -> Expression:
    """A whole number times a constant; of a constant at once."""
    if factor == 1:
        return count
    if isinstance(count, Literal) and isinstance(count.value, int) and abs(count.value * factor) < 2**63:
        return _whole(count.value * factor)
    return build.arithmetic("*", count, _whole(factor))


def quotient(number: Expression, divisor: int) -> Expression:
    """The whole part of a quotient."""
    return number if divisor == 1 else NamedCall(INTEGER, "DIV", (number, _whole(divisor)))


def micros(moment: Expression) -> Expression:
    """Microseconds since the year 1, never negative."""
    moment = build.widen(moment, TIMESTAMP)
    return build.arithmetic("+", NamedCall(INTEGER, "EPOCH_US", (moment,)), _whole(_ERA))


def day_of(moment: Expression) -> Expression:
    """The date of a moment."""
    return cast(moment, DATE)


def part_of(part: str, moment: Expression) -> Expression:
    """EXTRACT(part FROM moment) for every part there is."""
    part = unit_named(part)
    if moment.type.kind not in (Kind.DATE, Kind.TIMESTAMP):
        return build.extract(part, moment)  # says what is wrong
    if part in ("dayofweek", "weekday"):
        raise UnsupportedQuery(f"{part.upper()} counts from 0 or from 1, by engine; write DOW (Sunday is 0) or ISODOW.")
    for name, years in (("decade", 10), ("century", 100), ("millennium", 1000)):
        if part == name:
            year = Extract(INTEGER, "year", moment)
            return quotient(year if years == 10 else build.arithmetic("+", year, _whole(years - 1)), years)
    if part == "isoyear":
        thursday = build.arithmetic("-", _whole(4), Extract(INTEGER, "isodow", moment))
        return Extract(INTEGER, "year", NamedCall(DATE, "ADD_DAYS", (day_of(moment), thursday)))
    if part == "epoch" and moment.type == DATE:
        return build.arithmetic("*", DaysBetween(INTEGER, moment, Literal(DATE, date(1970, 1, 1))), _whole(86_400))
    if part == "epoch":
        return NamedCall(decimal(6), "EPOCH", (moment,))
    if part in ("millisecond", "microsecond") and moment.type == TIMESTAMP:
        inside = NamedCall(INTEGER, "MOD", (micros(moment), _whole(MICROSECONDS["minute"])))
        return quotient(inside, MICROSECONDS[part])
    return build.extract(part, moment)


def start_of(unit: str, moment: Expression) -> Expression:
    """DATE_TRUNC(unit, moment) for every unit that engines agree about."""
    unit = unit_named(unit)
    if unit in ("century", "millennium"):
        raise UnsupportedQuery(f"DATE_TRUNC by {unit} starts in year 00 or 01, by engine; use decade or year.")
    if unit in ("millisecond", "microsecond") and moment.type == TIMESTAMP:
        over = NamedCall(INTEGER, "MOD", (micros(moment), _whole(MICROSECONDS[unit])))
        return NamedCall(TIMESTAMP, "ADD_TIME", (moment, times(over, -1)))
    if unit == "decade" and moment.type.kind in (Kind.DATE, Kind.TIMESTAMP):
        start = DateTrunc(moment.type, "year", moment)
        over = NamedCall(INTEGER, "MOD", (Extract(INTEGER, "year", moment), _whole(10)))
        return step(start, "year", times(over, -1))
    return build.date_trunc(unit, moment)


def step(moment: Expression, unit: str, count: Expression) -> Expression:
    """A moment some units later; a date stays one unless the unit is shorter than a day."""
    unit = unit_named(unit)
    if unit not in UNITS:
        raise UnsupportedQuery(f"INTERVAL does not know this unit; use one of {', '.join(UNITS)}.")
    if count.type != INTEGER:
        raise InvalidInput("INTERVAL needs a whole number of units; use a smaller unit.")
    if isinstance(moment, Literal) and isinstance(count, Literal):
        return _constant_step(moment, unit, count)
    if unit in MONTHS:
        return NamedCall(moment.type, "ADD_MONTHS", (moment, times(count, MONTHS[unit])))
    if moment.type == DATE and unit in ("day", "week"):
        days = MICROSECONDS[unit] // MICROSECONDS["day"]
        return NamedCall(DATE, "ADD_DAYS", (moment, times(count, days)))
    later = times(count, MICROSECONDS[unit])
    return NamedCall(TIMESTAMP, "ADD_TIME", (build.widen(moment, TIMESTAMP), later))


def _constant_step(moment: Literal, unit: str, count: Literal) -> Expression:
    """The same of two constants, at once."""
    if unit in MONTHS:
        if not isinstance(count.value, int):
            return Literal(moment.type, None)
        return build.shifted(moment, count.value * MONTHS[unit], _whole(0))
    short = moment.type == DATE and unit not in ("day", "week")
    start = build.widen(moment, TIMESTAMP) if short else moment
    assert isinstance(start, Literal)
    return build.shifted(start, 0, count, unit=timedelta(microseconds=MICROSECONDS[unit]))


def _index(unit: str, moment: Expression) -> Expression:
    """The number of a moment's unit, counted from the year 1 or before."""
    if unit in ("quarter", "month"):
        years = build.arithmetic("*", Extract(INTEGER, "year", moment), _whole(12 // MONTHS[unit]))
        return build.arithmetic("+", years, Extract(INTEGER, unit, moment))
    if unit in MONTHS:
        return part_of(unit, moment)
    if unit in ("day", "week"):
        return quotient(DaysBetween(INTEGER, day_of(moment), _START), 7 if unit == "week" else 1)
    return quotient(micros(moment), MICROSECONDS[unit])


def distance(unit: str, start: Expression, end: Expression) -> Expression:
    """DATE_DIFF(unit, start, end): how many starts of the unit lie between, the start of ``end`` among them."""
    unit = _distance_unit(unit, "DATE_DIFF")
    if unit == "day":
        return DaysBetween(INTEGER, day_of(end), day_of(start))
    return build.arithmetic("-", _index(unit, end), _index(unit, start))


def whole_units(unit: str, start: Expression, end: Expression) -> Expression:
    """DATE_SUB(unit, start, end): how many whole units lie between, negative where ``end`` is before ``start``."""
    unit = _distance_unit(unit, "DATE_SUB")
    if unit in MONTHS:
        start, end = build.alike((start, end), "DATE_SUB")
        return quotient(NamedCall(INTEGER, "WHOLE_MONTHS", (start, end)), MONTHS[unit])
    if start.type == end.type == DATE and unit in ("day", "week"):
        return quotient(DaysBetween(INTEGER, end, start), 7 if unit == "week" else 1)
    return quotient(build.arithmetic("-", micros(end), micros(start)), MICROSECONDS[unit])


def _distance_unit(unit: str, name: str) -> str:
    found = unit_named(unit)
    if found not in UNITS:
        raise UnsupportedQuery(f"{name} does not know this unit; use one of {', '.join(UNITS)}.")
    return found
