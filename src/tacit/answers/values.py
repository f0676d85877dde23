"""Values as they are released, as people read them, and as JSON holds them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any

Value = int | float | Decimal | str | date | datetime | bool | None
"""What an answer may hold: a number, a text, a date, or nothing."""


def percent(level: Fraction) -> str:
    """A confidence for people."""
    return f"{float(100 * level):g} %"


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


def plain(value: Any) -> Any:
    """A value that JSON can hold without losing digits."""
    if isinstance(value, float) and value in (inf, -inf):
        return None
    if isinstance(value, Decimal | date | Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value
