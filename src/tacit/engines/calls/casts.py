"""TRY_CAST: text is checked against the grammar of `tacit.language.casts` before an engine reads any of it.

What an engine's own CAST gets is always well formed: where a text is not, a zero stands in its place.
"""

from __future__ import annotations

from tacit.engines.calls.dates import DAY, checked_days, date_of, moment_of
from tacit.engines.calls.writing import Calling, Writing, step
from tacit.engines.term import Term, combine
from tacit.language.patterns import pattern
from tacit.language.types import DATE, FLOAT, TEXT

_NUMBER = pattern("^[+-]?([0-9]+([.][0-9]*){0,1}|[.][0-9]+)$")
_DOUBLE = pattern(
    "^[+-]?([0-9]{1,40}([.][0-9]{0,40}){0,1}|[.][0-9]{1,40})([eE][+-]?0{0,9}([0-9]{1,2}|1[0-9]{2}|2[0-4][0-9])){0,1}$"
)
_DATE = pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
_MOMENT = pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}){0,1}){0,1}Z?){0,1}$")
_ZERO_MOMENT = "0000-00-00 00:00:00.000000"
_MOST_DIGITS = 19
"""Digits before the point that a number within 64 bits can have."""


def _cast(terms: Writing, call: Calling) -> Term:
    operand, target = call.operands[0], call.type
    if target == TEXT:
        return _written(terms, terms.named(operand), operand.type.scale)
    if operand.type == FLOAT:
        return _counted(terms, terms.named(operand), target.scale)
    if operand.type == TEXT:
        return _read(terms, terms.named(operand), call)
    x = terms.term(operand)
    return combine(terms.dialect.day_of(x.sql), x)


def _counted(terms: Writing, x: Term, scale: int) -> Term:
    """x·10^scale, one IEEE operation, rounded half to even."""
    double = terms.dialect.double
    limit = f"ABS({x.sql}) < {double(2.0**63 / 10.0**scale)}"
    y = step(terms, f"CASE WHEN {limit} THEN {x.sql} * {double(10.0**scale)} END", x)
    inside = f"ABS({y.sql}) < {double(2.0**63)}"
    safe = step(terms, f"CASE WHEN {inside} THEN {y.sql} ELSE {double(0.0)} END", y)
    return combine(f"CASE WHEN {inside} THEN {terms.dialect.rounded(safe.sql)} END", y, safe)


def _written(terms: Writing, x: Term, scale: int) -> Term:
    """A whole number of steps as digits."""
    dialect = terms.dialect
    if not scale:
        return combine(dialect.text_of(f"CAST({x.sql} AS {dialect.text_type})"), x)
    size = step(terms, f"ABS({dialect.wide(x.sql)})", x)
    whole = step(terms, dialect.quotient(size.sql, dialect.wide(str(10**scale))), size)
    rest = step(terms, f"{size.sql} - {whole.sql} * {10**scale}", size, whole)
    shown = [dialect.text_of(f"CAST({part.sql} AS {dialect.text_type})") for part in (whole, rest)]
    sign = f"CASE WHEN {x.sql} < 0 THEN '-' ELSE '' END"
    digits = dialect.pad("LPAD", shown[1], str(scale), dialect.text("0"))
    return combine(dialect.text_of(f"({sign} || {shown[0]} || '.' || {digits})"), x, whole, rest)


def _read(terms: Writing, text: Term, call: Calling) -> Term:
    dialect, target = terms.dialect, call.type
    x = step(terms, dialect.trim("TRIM", text.sql, dialect.text(" ")), text)
    if target == FLOAT:
        fits = step(terms, _fits(terms, x, 100, _DOUBLE), x)
        safe = step(terms, f"CASE WHEN {fits.sql} THEN {x.sql} ELSE '0' END", x, fits)
        return combine(f"CASE WHEN {fits.sql} THEN CAST({safe.sql} AS {dialect.float64}) END", fits, safe)
    if target.exact_number:
        return _number(terms, x, target.scale)
    if target == DATE:
        fits = step(terms, _fits(terms, x, 10, _DATE), x)
        return date_of(terms, _days(terms, _canonical(terms, x, fits), fits))
    return _moment(terms, x)


def _fits(terms: Writing, x: Term, longest: int, grammar: object) -> str:
    return f"CASE WHEN LENGTH({x.sql}) <= {longest} THEN {terms.dialect.matches(x.sql, grammar)} ELSE FALSE END"  # type: ignore[arg-type]


def _number(terms: Writing, x: Term, scale: int) -> Term:
    """Digits before the point, as many after it as asked for and one more, which decides about rounding."""
    dialect = terms.dialect
    bare = step(terms, dialect.trim("LTRIM", x.sql, dialect.text("+-")), x)
    before = dialect.trim("LTRIM", dialect.split(bare.sql, dialect.text("."), "1"), dialect.text("0"))
    whole = step(terms, dialect.text_of(f"('0' || {before})"), bare)
    after = dialect.pad("RPAD", dialect.split(bare.sql, dialect.text("."), "2"), str(scale + 1), dialect.text("0"))
    digits = step(terms, dialect.text_of(f"({whole.sql} || {after})"), whole, bare)
    fits = step(
        terms,
        f"(LENGTH({whole.sql}) <= {_MOST_DIGITS + 1} AND {_fits(terms, x, 1000, _NUMBER)})",
        whole,
        x,
    )
    safe = step(terms, f"CASE WHEN {fits.sql} THEN {digits.sql} ELSE '0' END", fits, digits)
    size = step(terms, dialect.quotient(f"({dialect.wide(safe.sql)} + 5)", dialect.wide("10")), safe)
    signed = f"CASE WHEN {x.sql} LIKE '-%' THEN -{size.sql} ELSE {size.sql} END"
    found = terms.bind(terms.narrow(combine(signed, x, size)))
    return combine(f"CASE WHEN {fits.sql} THEN {found.sql} END", fits, found)


def _canonical(terms: Writing, x: Term, fits: Term) -> Term:
    """A date or time with all its digits; zeros where the text is none."""
    dialect = terms.dialect
    bare = dialect.trim("RTRIM", x.sql, dialect.text("Z"))
    short = step(terms, f"CASE WHEN {fits.sql} THEN {bare} ELSE '' END", x, fits)
    rest = dialect.substring(dialect.text(_ZERO_MOMENT), f"LENGTH({short.sql}) + 1")
    return step(terms, dialect.text_of(f"({short.sql} || {rest})"), short)


def _digits(terms: Writing, x: Term, start: int, count: int) -> Term:
    return step(terms, f"CAST({terms.dialect.substring(x.sql, str(start), str(count))} AS {terms.dialect.int64})", x)


def _days(terms: Writing, x: Term, fits: Term) -> Term:
    year, month, day = (_digits(terms, x, *place) for place in ((1, 4), (6, 2), (9, 2)))
    days = checked_days(terms, year, month, day)
    return step(terms, f"CASE WHEN {fits.sql} THEN {days.sql} END", fits, days)


def _moment(terms: Writing, x: Term) -> Term:
    fits = step(terms, _fits(terms, x, 27, _MOMENT), x)
    full = _canonical(terms, x, fits)
    days = _days(terms, full, fits)
    hour, minute, second, micro = (_digits(terms, full, *place) for place in ((12, 2), (15, 2), (18, 2), (21, 6)))
    real = f"{hour.sql} <= 23 AND {minute.sql} <= 59 AND {second.sql} <= 59"
    time = f"(({hour.sql} * 60 + {minute.sql}) * 60 + {second.sql}) * 1000000 + {micro.sql}"
    total = step(terms, f"CASE WHEN {real} THEN {days.sql} * {DAY} + {time} END", days, hour, minute, second, micro)
    return moment_of(terms, total)


WRITTEN = {"TRY_CAST": _cast}
