"""Rounding the safe way: a bound becomes a short decimal that is surely not below (or above) the number meant.

The number is given as a function from a precision in bits to an `Enclosure` that contains it. The precision grows until
the enclosure is narrow beside its value, then its outer end is rounded outward to twelve significant decimal digits, so
that a converted guarantee can be read, typed again and compared. Narrowness is only a matter of accuracy: whatever the
enclosure's width, the result lies on the safe side of it. People read such numbers exact in a repr, and short but never
too small in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from tacit.numbers.enclosures import Enclosure, exp

DIGITS = 12
"""Significant decimal digits of a converted guarantee."""

Real = Callable[[int], Enclosure]
"""A real number: the enclosure that contains it, at any precision in bits."""

_NARROW = 10 ** (DIGITS + 8)
_MOST_BITS = 1 << 14


def up(number: Real) -> Fraction:
    """The number rounded up to twelve significant digits."""
    return shortened(refined(number).high, up=True)


def down(number: Real) -> Fraction:
    """The number rounded down to twelve significant digits."""
    return shortened(refined(number).low, up=False)


def refined(number: Real) -> Enclosure:
    """An enclosure that is narrow relative to its value, unless the value is extremely small or zero."""
    bits = 128
    while True:
        enclosure = number(bits)
        if enclosure.width * _NARROW <= abs(enclosure.high) or bits >= _MOST_BITS:
            return enclosure
        bits *= 2


def shortened(x: Fraction, *, up: bool, digits: int = DIGITS) -> Fraction:
    """The nearest decimal of ``digits`` significant digits that is not below x (``up``) or not above it."""
    if x == 0:
        return x
    scale: Fraction = Fraction(10) ** (digits - 1 - decade(abs(x)))
    scaled = x * scale
    return (-((-scaled) // 1) if up else scaled // 1) / scale


def decade(x: Fraction) -> int:
    """The whole number k with 10^k ≤ x < 10^(k+1), for x > 0."""
    k = (x.numerator.bit_length() - x.denominator.bit_length()) * 30103 // 100000
    while Fraction(10) ** k > x:
        k -= 1
    while Fraction(10) ** (k + 1) <= x:
        k += 1
    return k


def unit(x: Fraction) -> Fraction:
    """One in the last of twelve significant digits of x > 0."""
    return Fraction(10) ** (decade(x) - DIGITS + 1)


def largest(cost: Callable[[Fraction], Fraction], limit: Fraction) -> Fraction:
    """The largest twelve-digit decimal x > 0 with cost(x) ≤ limit, for a cost that grows with x from 0 to infinity."""
    k = 0
    while cost(Fraction(10) ** k) <= limit:
        k += 1
    while cost(Fraction(10) ** k) > limit:
        k -= 1
    step: Fraction = Fraction(10) ** (k - DIGITS + 1)  # the answer lies in [10^k, 10^(k+1))
    low: int = 10 ** (DIGITS - 1)
    high: int = 10**DIGITS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle * step) <= limit else (low, middle)
    return low * step


def written(x: Fraction) -> str:
    """Text that Python reads back as exactly x where an exact number is taken: 0.5, 1e-06, '1/3'."""
    text = _as_float(x)
    return text if text is not None else f"'{_in_full(x)}'"


def plain(x: Fraction) -> str:
    """A number in a sentence: itself where it is short, otherwise four digits, rounded up."""
    text = _as_float(x) or _in_full(x)
    return text if len(text) <= 8 else f"about {_in_full(shortened(x, up=True, digits=4))}"


def percent(x: Fraction) -> str:
    """A probability as a percentage of three digits, rounded up."""
    return f"{_in_full(shortened(100 * x, up=True, digits=3))} %"


def factor(epsilon: Fraction) -> str:
    """e^ε, rounded up to three digits; the formula itself where the number would say nothing any more."""
    if epsilon > 20:
        return f"e^{plain(epsilon)}"
    return _in_full(shortened(exp(epsilon).high, up=True, digits=3))


def _as_float(x: Fraction) -> str | None:
    """The float that denotes exactly x, as Python writes it and without a trailing .0."""
    try:
        text = float.__repr__(float(x))
    except OverflowError:
        return None
    return text.removesuffix(".0") if Fraction(text) == x else None


def _in_full(x: Fraction) -> str:
    """A decimal where x > 0 has one, else a quotient."""
    rest, twos, fives = x.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return f"{x.numerator}/{x.denominator}"
    text = _as_float(x)
    if text is not None:
        return text
    places = max(twos, fives)
    number = x.numerator * 10**places // x.denominator
    while number % 10 == 0:
        number, places = number // 10, places - 1
    return str(Decimal((0, tuple(map(int, str(number))), -places))).replace("E", "e")
