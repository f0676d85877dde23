"""Numbers of a guarantee as people write them: exact in a repr, short and never too small in a sentence."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from tacit.guarantees.rounding import shortened
from tacit.numbers.enclosures import exp


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
