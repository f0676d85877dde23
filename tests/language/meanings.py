"""What every function means, in plain Python over one row's values: the judge of the engines.

Nothing here is shared with the code under test but the values that describe a call. Exact numbers are counts of steps
of their scale; None is NULL.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any
from unicodedata import ucd_3_2_0

from tacit.language.expressions import Literal, NamedCall
from tacit.language.types import FLOAT, Kind

LONGEST = 100_000
EPOCH = datetime(1970, 1, 1)
MICRO = timedelta(microseconds=1)


def narrow(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def exact(value: int, scale: int) -> Fraction:
    return Fraction(value, 10**scale)


def steps(value: Fraction, scale: int) -> int | None:
    """A fraction rounded to steps, halves away from zero."""
    scaled = abs(value) * 10**scale
    size = int(scaled) + (scaled - int(scaled) >= Fraction(1, 2))
    return narrow(size if value >= 0 else -size)


# ---- numbers -----------------------------------------------------------------------------------------------------


def rounded(call: NamedCall, x: Any, digits: int) -> Any:
    rule: dict[str, Callable[[Fraction], int]] = {
        "ROUND": lambda v: (1 if v >= 0 else -1) * math.floor(abs(v) + Fraction(1, 2)),
        "TRUNC": math.trunc,
        "FLOOR": math.floor,
        "CEIL": math.ceil,
    }
    how = rule[call.name]
    if call.operands[0].type == FLOAT:
        power = 10.0 ** abs(digits)
        if abs(x) >= (2.0**52 / power if digits > 0 else 2.0**52 * power):
            return x
        y = x * power if digits > 0 else x / power
        found = float(how(Fraction(y)))
        return found / power if digits > 0 else found * power
    found = how(exact(x, call.operands[0].type.scale) * Fraction(10) ** digits)
    return narrow(found * 10 ** max(-digits, 0))


def remainder(call: NamedCall, x: int, y: int) -> Any:
    return None if y == 0 else int(math.copysign(1, x)) * (abs(x) % abs(y))


def quotient(call: NamedCall, x: int, y: int) -> Any:
    return None if y == 0 else narrow(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1))


def bucket(call: NamedCall, x: Any, low: Any, high: Any, count: int) -> Any:
    if x < low:
        return 0
    if x >= high:
        return count + 1
    if call.operands[0].type == FLOAT:
        return min(math.floor((x - low) / (high - low) * count), count - 1) + 1
    return (x - low) * count // (high - low) + 1


LG = [0.6666666666666735, 0.3999999999940942, 0.2857142874366239, 0.22222198432149784, 0.1818357216161805,
      0.15313837699209373, 0.14798198605116586]  # fmt: skip
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")


def fraction(x: float) -> tuple[float, float, float, float]:
    """k, f, f²/2 and s·(f²/2 + R), by Python's own frexp."""
    m, k = math.frexp(x)
    m, k = m * 2, k - 1
    if m >= 2.0**0.5:
        m, k = m / 2, k + 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd = LG[0] + w * (LG[2] + w * (LG[4] + w * LG[6]))
    even = LG[1] + w * (LG[3] + w * LG[5])
    half = 0.5 * f * f
    return float(k), f, half, s * (half + (z * odd + w * even))


def ln(x: float) -> float | None:
    if x <= 0:
        return None
    k, f, half, rest = fraction(x)
    return (((rest + k * LN2_LOW) - half) + f) + k * LN2_HIGH


def log2(x: float) -> float | None:
    if x <= 0:
        return None
    k, f, half, rest = fraction(x)
    return k + ((rest - half) + f) * 1.4426950408889634


def log10(x: float) -> float | None:
    if x <= 0:
        return None
    k, f, half, rest = fraction(x)
    return (k * 3.69423907715893078616e-13 + ((rest - half) + f) * 0.4342944819032518) + k * 3.01029995663611771306e-01


def exp(x: float) -> float | None:
    if x < -700:
        return 0.0
    if x > 709.782712893384:
        return None
    if abs(x) < 2.0**-54:
        return 1.0
    k = math.floor(x * 1.4426950408889634 + 0.5)
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    q = r * r
    p = 0.16666666666666602 + q * (
        -0.0027777777777015593
        + q * (6.613756321437934e-05 + q * (-1.6533902205465252e-06 + q * 4.1381367970572385e-08))
    )
    c = r - q * p
    return math.ldexp(1.0 + ((r * c / (2.0 - c) - low) + high), k)


def finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def power(call: NamedCall, x: float, y: float) -> float | None:
    if isinstance(call.operands[1], Literal) and y.is_integer() and abs(y) <= 64:
        if y == 0:
            return 1.0
        found, square, rest = None, x, int(abs(y))
        while rest:
            if rest & 1:
                found = square if found is None else found * square
                if not math.isfinite(found):
                    return None
            rest >>= 1
            square = square * square
        if y > 0:
            return found
        return None if not found else finite(1.0 / found)
    if y == 0:
        return 1.0
    if x == 0:
        return 0.0 if y > 0 else None
    if x < 0 and not y.is_integer():
        return None
    size = finite(y * ln(abs(x)))  # type: ignore[operator]
    found = None if size is None else exp(size)
    if found is None:
        return None
    if x.is_integer() and y.is_integer() and y > 0 and found < 1e12:
        found = float(math.floor(found + 0.5))
    return -found if x < 0 and y % 2 else found


# ---- texts -------------------------------------------------------------------------------------------------------


@cache
def other_character(character: str, upper: bool) -> str:
    if ord(character) > 0xFFFF or ucd_3_2_0.category(character) == "Cn":
        return character
    found = character.upper() if upper else character.lower()
    return found if len(found) == 1 and ucd_3_2_0.category(found) != "Cn" else character


def other_case(text: str, upper: bool) -> str:
    return "".join(other_character(character, upper) for character in text)


def bounded(text: str) -> str | None:
    return text if len(text) <= LONGEST else None


def substring(call: NamedCall, text: str, start: int, count: int = 2**63) -> str | None:
    return None if start < 1 or count < 0 else text[start - 1 : start - 1 + count]


def pad(call: NamedCall, text: str, count: int, fill: str) -> str | None:
    if not 0 <= count <= LONGEST:
        return None
    filling = (fill * count)[: max(count - len(text), 0)]
    return (filling + text if call.name == "LPAD" else text + filling)[:count] if len(text) < count else text[:count]


def trim(call: NamedCall, text: str, characters: str) -> str:
    return {"TRIM": text.strip, "LTRIM": text.lstrip, "RTRIM": text.rstrip}[call.name](characters)


def replaced(call: NamedCall, text: str, old: str, new: str) -> str | None:
    return text if not old else bounded(text.replace(old, new))


def repeated(call: NamedCall, text: str, count: int) -> str | None:
    if count < 0 or len(text) * count > LONGEST:
        return None
    return text * count if text else ""


def part(call: NamedCall, text: str, delimiter: str, place: int) -> str | None:
    if place < 1:
        return None
    parts = text.split(delimiter)
    return parts[place - 1] if place <= len(parts) else ""


def matches(call: NamedCall, text: str, pattern: str, any_case: bool) -> bool | None:
    if len(text) > 500:
        return None
    if any_case:  # both in lower case and both in upper case: patterns of the tests have no \D, \W or \S then
        return any(re.search(python(other_case(pattern, u)), other_case(text, u)) is not None for u in (True, False))
    return re.search(python(pattern), text) is not None


def python(pattern: str) -> str:
    """A pattern as Python's own module reads it: the very end has another sign there, classes are ASCII by a flag."""

    def ends(found: re.Match[str]) -> str:
        return r"\Z" if found.group() == "$" else found.group()

    return "(?a)" + re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$", ends, pattern)


# ---- dates -------------------------------------------------------------------------------------------------------


def add_days(call: NamedCall, day: date, count: int) -> date | None:
    try:
        return day + timedelta(days=count)
    except OverflowError:
        return None


def add_time(call: NamedCall, moment: datetime, count: int) -> datetime | None:
    try:
        return moment + timedelta(microseconds=count)
    except OverflowError:
        return None


def add_months(call: NamedCall, moment: Any, count: int) -> Any:
    year, month = divmod(moment.year * 12 + moment.month - 1 + count, 12)
    if not 1 <= year <= 9999:
        return None
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def whole_months(call: NamedCall, start: Any, end: Any) -> Any:
    """The most months that can be added to the earlier one without passing the later one."""
    if end < start:
        return -whole_months(call, end, start)
    months = (end.year - start.year) * 12 + end.month - start.month
    while (later := add_months(call, start, months)) is None or later > end:
        months -= 1
    return months


def make_date(call: NamedCall, year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None


def micros(call: NamedCall, moment: datetime) -> int:
    return (moment - EPOCH) // MICRO


# ---- casts -------------------------------------------------------------------------------------------------------


def cast(call: NamedCall, value: Any) -> Any:
    source, target = call.operands[0].type, call.type
    match source.kind, target.kind:
        case _, Kind.TEXT:
            return f"{Decimal(value).scaleb(-source.scale):f}" if source.scale else str(value)
        case Kind.FLOAT, _:
            scaled = value * 10.0**target.scale if abs(value) < 2.0**63 / 10.0**target.scale else math.inf
            return round(scaled) if abs(scaled) < 2.0**63 else None
        case Kind.TIMESTAMP, Kind.DATE:
            return value.date()
    text = value.strip(" ")
    if len(text) > 1000 or not text.isascii():
        return None
    if target.kind is Kind.FLOAT:
        found = re.fullmatch(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?(\d+))?", text)
        few = found and len(text) <= 100 and (not found[4] or (len(found[4]) <= 12 and int(found[4]) < 250))
        return float(text) if few else None
    if target.exact_number:
        if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)", text):
            return None
        return steps(Fraction(Decimal(text if text[-1] != "." else text[:-1])), target.scale)
    form = r"(\d{4})-(\d\d)-(\d\d)"
    if target.kind is Kind.TIMESTAMP:
        form += r"([ T](\d\d):(\d\d)(:(\d\d)(\.\d{1,6})?)?Z?)?"
    found = re.fullmatch(form, text)
    if not found:
        return None
    try:
        if target.kind is Kind.DATE:
            return date(*map(int, found.groups()))
        fraction = int((found[9] or ".0")[1:].ljust(6, "0"))
        year, month, day, hour, minute, second = (int(found[i] or 0) for i in (1, 2, 3, 5, 6, 8))
        return datetime(year, month, day, hour, minute, second, fraction)
    except ValueError:
        return None


MEANING: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("ROUND", "TRUNC", "FLOOR", "CEIL"), rounded),
    "MOD": remainder,
    "DIV": quotient,
    "SQRT": lambda call, x: math.sqrt(x) if x >= 0 else None,
    "WIDTH_BUCKET": bucket,
    "LN": lambda call, x: ln(x),
    "LOG2": lambda call, x: log2(x),
    "LOG10": lambda call, x: log10(x),
    "EXP": lambda call, x: exp(x),
    "POWER": power,
    "LOWER": lambda call, text: other_case(text, False),
    "UPPER": lambda call, text: other_case(text, True),
    "LENGTH": lambda call, text: len(text),
    "SUBSTRING": substring,
    "LEFT": lambda call, text, count: None if count < 0 else text[:count],
    "RIGHT": lambda call, text, count: None if count < 0 else text[max(len(text) - count, 0) :],
    **dict.fromkeys(("TRIM", "LTRIM", "RTRIM"), trim),
    "||": lambda call, *texts: bounded("".join(texts)),
    "REPLACE": replaced,
    "REPEAT": repeated,
    **dict.fromkeys(("LPAD", "RPAD"), pad),
    "SPLIT_PART": part,
    "POSITION": lambda call, text, wanted: text.find(wanted) + 1,
    "STARTS_WITH": lambda call, text, wanted: text.startswith(wanted),
    "ENDS_WITH": lambda call, text, wanted: text.endswith(wanted),
    "REGEXP_MATCHES": matches,
    "ADD_DAYS": add_days,
    "ADD_TIME": add_time,
    "ADD_MONTHS": add_months,
    "WHOLE_MONTHS": whole_months,
    "MAKE_DATE": make_date,
    "EPOCH": micros,
    "EPOCH_US": micros,
    "TRY_CAST": cast,
}
"""By name; called only where no argument is NULL."""


def meaning(call: NamedCall, values: list[Any]) -> Any:
    """The value of a call whose arguments have these values."""
    return None if any(value is None for value in values) else MEANING[call.name](call, *values)
