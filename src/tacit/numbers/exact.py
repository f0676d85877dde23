"""Exact numbers from what people type.

A promise is only as exact as its parameters, so every ε, δ, ρ, scale and grid value is a `Fraction`. Integers,
`Fraction`, `Decimal` and decimal strings such as "0.1" or "1/3" are taken as they are. A float means the decimal
it is written as, `Fraction(repr(x))`: 0.1 is one tenth, not 3602879701896397/2^55.

BOUNDS. Ten characters such as 1e-7000000 name a number of a million digits, and arithmetic on it takes minutes. So a
number has at most `MOST_DIGITS` digits (on each side of a "/") and an exponent within ±`LARGEST_EXPONENT`, and what is
beyond is refused from its text, before any arithmetic. A `Fraction` that a program made is taken as it is: whoever
runs the program has paid for it already, and samplers pass here on every draw.

UNITS. Inside, every amount is an integer count of a public step (1 for integers, 10^−s for DECIMAL(p, s), 10^−6 for
floats unless hinted otherwise). A `Unit` turns such a count back into the column's own kind of number.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Literal, SupportsIndex

from tacit.errors import InvalidInput, did_you_mean

Number = int | float | str | Fraction | Decimal
"""What a user may type where an exact number is needed."""

MOST_DIGITS = 200
"""The most digits that a number may be written with, on each side of a "/"."""

LARGEST_EXPONENT = 400
"""The largest exponent, up or down, that a number may be written with; doubles end at 324."""

_LARGEST = 10 ** (MOST_DIGITS + LARGEST_EXPONENT)
_TEXT = re.compile(rf"[+-]?([\d_]{{0,{MOST_DIGITS}}})(\.[\d_]{{0,{MOST_DIGITS}}})?(?:[eE]([+-]?\d{{1,4}}))?")
_RATIO = re.compile(rf"[+-]?[\d_]{{1,{MOST_DIGITS}}}/[\d_]{{1,{MOST_DIGITS}}}")


def exact(value: Number, name: str) -> Fraction:
    """The exact rational that ``value`` denotes; ``name`` is the argument's name in the error."""
    if type(value) is Fraction:  # the common case, first: samplers pass here on every draw
        return value
    if isinstance(value, bool):
        raise InvalidInput(f"{name} must be a number, not a truth value; write 1 or 0 if that was meant.")
    if (isinstance(value, float) and not isfinite(value)) or (isinstance(value, Decimal) and not value.is_finite()):
        raise InvalidInput(f"{name} must be finite; give an ordinary number such as 1 or '0.1'.")
    if not bounded(value):
        raise InvalidInput(
            f"{name} must have at most {MOST_DIGITS} digits and an exponent within ±{LARGEST_EXPONENT}, or be a text "
            "such as '0.1' or '1/3'; give an ordinary number."
        )
    try:
        if isinstance(value, float):
            return Fraction(float.__repr__(value))
        if isinstance(value, int | str | Fraction | Decimal):
            return Fraction(value)
        if isinstance(value, SupportsIndex):  # integers of other libraries
            return Fraction(value.__index__())
    except (ValueError, ZeroDivisionError):
        pass
    raise InvalidInput(
        f"{name} must be an exact number: an integer, a Fraction, a Decimal, a float or a string such as '0.1'."
    )


def bounded(value: object) -> bool:
    """Whether a number can be worked with, seen from how it is written; what is no number at all is said elsewhere."""
    if isinstance(value, str):
        if len(value) > 3 * MOST_DIGITS:
            return False
        text = value.strip()
        written = _TEXT.fullmatch(text)
        if written is None:
            return _RATIO.fullmatch(text) is not None or not any(character.isdigit() for character in text)
        return abs(int(written.group(3) or 0)) <= LARGEST_EXPONENT
    if isinstance(value, Decimal):
        _, digits, exponent = value.as_tuple()
        return len(digits) <= MOST_DIGITS and abs(int(exponent)) <= LARGEST_EXPONENT
    return not isinstance(value, int) or -_LARGEST < value < _LARGEST


def positive(value: Number, name: str) -> Fraction:
    """An exact number above zero."""
    number = exact(value, name)
    if number <= 0:
        raise InvalidInput(f"{name} must be above 0; give a positive number such as 1 or '0.1'.")
    return number


def non_negative(value: Number, name: str) -> Fraction:
    """An exact number that is at least zero."""
    number = exact(value, name)
    if number < 0:
        raise InvalidInput(f"{name} must not be negative; give 0 or more.")
    return number


def between(value: Number, name: str, low: Number, high: Number) -> Fraction:
    """An exact number strictly between two others."""
    number = exact(value, name)
    if not exact(low, "low") < number < exact(high, "high"):
        raise InvalidInput(f"{name} must lie strictly between {low} and {high}.")
    return number


def check_listed(value: object, name: str, known: Iterable[str], hint: str = "") -> None:
    """Refuse what is not one of the known words, in the one sentence there is for that."""
    known = list(known)
    if value not in known:
        said = "; ".join(filter(None, (f"{name} must be one of {', '.join(known)}", hint, did_you_mean(value, known))))
        raise InvalidInput(said if said.endswith("?") else f"{said}.")


def whole(value: int | SupportsIndex, name: str, least: int | None = None) -> int:
    """An integer, at least ``least`` where given."""
    if type(value) is int:  # the common case, first: asking for the protocol is slow
        number = value
    elif isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise InvalidInput(f"{name} must be a whole number; give an int.")
    else:
        number = value.__index__()
    if least is not None and number < least:
        raise InvalidInput(f"{name} must be at least {least}.")
    return number


@dataclass(frozen=True)
class Unit:
    """A public step and the kind of number the column holds."""

    step: Fraction = Fraction(1)
    kind: Literal["integer", "decimal", "float"] = "integer"

    def value(self, count: Fraction | int) -> int | float | Decimal:
        """The count of steps as a number of the column's kind."""
        amount = self.step * count
        if self.kind == "integer":
            return round(amount)
        if self.kind == "decimal":
            return Decimal(round(count)) * (Decimal(self.step.numerator) / Decimal(self.step.denominator))
        return float(amount)

    def __str__(self) -> str:
        return f"{float(self.step):g}"


WHOLE = Unit()
"""Counts of persons or rows."""
REAL = Unit(kind="float")
"""Ratios, means and the like."""
