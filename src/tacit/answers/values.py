"""Values as they are released, as people read them, and as JSON holds them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite
from typing import Any

Value = int | float | Decimal | str | date | datetime | bool | None
"""What an answer may hold: a number, a text, a date, a time, or nothing."""


def show(value: Any) -> str:
    """A value for people: thousands apart, six digits for fractions."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Decimal):
        return f"{value:,f}"
    if isinstance(value, float):
        if value in (inf, -inf):
            return "unbounded"
        size = abs(value)
        return f"{value:,.6g}" if size < 1e6 or size >= 1e15 else f"{value:,.0f}"
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return str(value)


def show_range(low: Any, high: Any) -> str:
    """Both ends of an interval for people, or the one there is."""
    if high == inf:
        return "unbounded" if low == -inf else f"at least {show(low)}"
    if low == -inf:
        return f"at most {show(high)}"
    return f"{show(low)} to {show(high)}"


def show_key(key: Any) -> str:
    """What an answer of several is about."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def counted(number: int, what: str) -> str:
    """A number of things: "1 row", "2 rows"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def percent(level: Fraction) -> str:
    """A confidence for people."""
    return f"{float(100 * level):g} %"


def rough_percent(share: float) -> str:
    """A relative error for people: two digits, more only above 100 %."""
    return f"{100 * share:,.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def plain(value: Any) -> Any:
    """A value that JSON can hold without losing digits; null for a number that is not finite."""
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, Decimal | date | Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value
