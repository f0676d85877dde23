"""Dates and times as counts of days and microseconds, between the years 1 and 9999; what lies outside is NULL.

The date of a year, month and day is found by whole-number arithmetic: with years that start in March a leap day comes
last, and the days before month m' = 0 … 11 of such a year are ⌊(153 m' + 2) / 5⌋.
"""

from __future__ import annotations

from tacit.engines.calls.writing import Calling, Writing, inside, step
from tacit.engines.term import Term, combine
from tacit.language.types import DATE

FIRST_DAY, LAST_DAY = -719_162, 2_932_896
DAY = 86_400_000_000
FIRST_MOMENT, LAST_MOMENT = FIRST_DAY * DAY, (LAST_DAY + 1) * DAY - 1
_MARCH = 719_468
"""Days from the first of March of the year 0 to 1970-01-01."""


def date_of(terms: Writing, days: Term) -> Term:
    """The date of a count of days, or NULL."""
    sql = terms.dialect.date_of(inside(days, FIRST_DAY, LAST_DAY))
    return combine(f"CASE WHEN {days.sql} BETWEEN {FIRST_DAY} AND {LAST_DAY} THEN {sql} END", days)


def moment_of(terms: Writing, micros: Term) -> Term:
    """The moment of a count of microseconds, or NULL."""
    sql = terms.dialect.moment_of(inside(micros, FIRST_MOMENT, LAST_MOMENT))
    return combine(f"CASE WHEN {micros.sql} BETWEEN {FIRST_MOMENT} AND {LAST_MOMENT} THEN {sql} END", micros)


def last_day(terms: Writing, year: str, month: str) -> str:
    """The number of days of a month."""
    leap = f"(({year} % 4 = 0 AND {year} % 100 <> 0) OR {year} % 400 = 0)"
    return (
        f"CASE WHEN {month} = 2 THEN CASE WHEN {leap} THEN 29 ELSE 28 END "
        f"WHEN {month} IN (4, 6, 9, 11) THEN 30 ELSE 31 END"
    )


def days_of(terms: Writing, year: Term, month: Term, day: Term) -> Term:
    """The count of days of a date that there is."""
    whole = terms.dialect.quotient
    y = step(terms, f"CASE WHEN {month.sql} > 2 THEN {year.sql} ELSE {year.sql} - 1 END", year, month)
    m = f"CASE WHEN {month.sql} > 2 THEN {month.sql} - 3 ELSE {month.sql} + 9 END"
    leaps = f"{whole(y.sql, '4', short=True)} - {whole(y.sql, '100', short=True)} + {whole(y.sql, '400', short=True)}"
    before = whole(f"(153 * ({m}) + 2)", "5", short=True)
    return combine(f"365 * {y.sql} + {leaps} + {before} + {day.sql} - 1 - {_MARCH}", y, month, day)


def checked_days(terms: Writing, year: Term, month: Term, day: Term) -> Term:
    """The count of days of a year, month and day, or NULL where there is no such date."""
    y = step(terms, inside(year, 1, 9999), year)
    m = step(terms, inside(month, 1, 12), month)
    real = (
        f"{year.sql} = {y.sql} AND {month.sql} = {m.sql} AND {day.sql} >= 1 "
        f"AND {day.sql} <= {last_day(terms, y.sql, m.sql)}"
    )
    d = step(terms, inside(day, 1, 31), day)
    days = days_of(terms, y, m, d)
    return step(terms, f"CASE WHEN {real} THEN {days.sql} END", year, month, day, y, m, days)


def _make_date(terms: Writing, call: Calling) -> Term:
    year, month, day = (terms.named(operand) for operand in call.operands)
    return date_of(terms, checked_days(terms, year, month, day))


def _add_days(terms: Writing, call: Calling) -> Term:
    x, count = (terms.named(operand) for operand in call.operands)
    return date_of(terms, step(terms, f"{terms.dialect.days(x.sql)} + {inside(count, -(10**7), 10**7)}", x, count))


def _add_time(terms: Writing, call: Calling) -> Term:
    x, count = (terms.named(operand) for operand in call.operands)
    total = f"{terms.dialect.microseconds(x.sql)} + {inside(count, -(10**18), 10**18)}"
    return moment_of(terms, step(terms, total, x, count))


def _month_number(terms: Writing, x: Term, call: Calling) -> str:
    kind, part = call.operands[0].type, terms.dialect.extract
    return f"{part('year', x.sql, kind)} * 12 + {part('month', x.sql, kind)} - 1"


def _add_months(terms: Writing, call: Calling) -> Term:
    """The same day of a later month, or its last; of a timestamp at the same time of day."""
    x, count = (terms.named(operand) for operand in call.operands)
    dialect, kind = terms.dialect, call.type
    total = step(terms, f"{_month_number(terms, x, call)} + {inside(count, -(10**6), 10**6)}", x, count)
    safe = step(terms, inside(total, 12, 119_999), total)
    year = step(terms, dialect.quotient(safe.sql, "12", short=True), safe)
    month = step(terms, f"{safe.sql} % 12 + 1", safe)
    day = step(
        terms, f"LEAST({dialect.extract('day', x.sql, kind)}, {last_day(terms, year.sql, month.sql)})", x, year, month
    )
    real = f"{total.sql} = {safe.sql} AND {x.sql} IS NOT NULL"
    found = days_of(terms, year, month, day)
    if kind == DATE:
        return date_of(terms, step(terms, f"CASE WHEN {real} THEN {found.sql} END", total, safe, x, found))
    micros = dialect.microseconds(x.sql)
    time = f"(({micros} - ({FIRST_MOMENT})) % {DAY})"
    return moment_of(
        terms, step(terms, f"CASE WHEN {real} THEN ({found.sql}) * {DAY} + {time} END", total, safe, x, found)
    )


def _whole_months(terms: Writing, call: Calling) -> Term:
    """The difference of the months, less one where the later day and time of the month are not yet reached."""
    x, y = (terms.named(operand) for operand in call.operands)
    dialect, kind = terms.dialect, call.operands[0].type
    swapped = f"{y.sql} < {x.sql}"
    a = step(terms, f"CASE WHEN {swapped} THEN {y.sql} ELSE {x.sql} END", x, y)
    b = step(terms, f"CASE WHEN {swapped} THEN {x.sql} ELSE {y.sql} END", x, y)
    first, last = (step(terms, _month_number(terms, side, call), side) for side in (a, b))
    end = step(
        terms, last_day(terms, f"({dialect.extract('year', b.sql, kind)})", dialect.extract("month", b.sql, kind)), b
    )
    marks = []
    for side in (a, b):
        day = f"LEAST({dialect.extract('day', side.sql, kind)}, {end.sql})"
        if kind == DATE:
            marks.append(step(terms, day, side, end))
        else:
            time = f"(({dialect.microseconds(side.sql)} - ({FIRST_MOMENT})) % {DAY})"
            marks.append(step(terms, f"{day} * {DAY} + {time}", side, end))
    months = f"({last.sql} - {first.sql} - CASE WHEN {marks[1].sql} < {marks[0].sql} THEN 1 ELSE 0 END)"
    sql = f"CASE WHEN {swapped} THEN -{months} WHEN {x.sql} IS NOT NULL AND {y.sql} IS NOT NULL THEN {months} END"
    return combine(f"CAST({sql} AS {dialect.int64})", x, y, first, last, *marks)


def _micros(terms: Writing, call: Calling) -> Term:
    x = terms.term(call.operands[0])
    return combine(terms.dialect.microseconds(x.sql), x)


WRITTEN = {
    "MAKE_DATE": _make_date,
    "ADD_DAYS": _add_days,
    "ADD_TIME": _add_time,
    "ADD_MONTHS": _add_months,
    "WHOLE_MONTHS": _whole_months,
    "EPOCH": _micros,
    "EPOCH_US": _micros,
}
