"""Exact amounts: sums that stay short, and guarantees that say how much has been spent or is left.

What was typed is exact and stays exact; converted costs are decimals of twelve digits, which tacit.guarantees rounds
up. A sum of many unlike fractions would grow without end; once its denominator passes 512 bits it is rounded up to a
multiple of 10^-100, so that a charge costs the same however long the history is, and spending is never understated.
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import TypeVar

from tacit.guarantees import Guarantee

Vector = tuple[Fraction, ...]
"""What a filter adds up: one exact number for each of its axes."""

_LARGEST_DENOMINATOR = 2**512
_COARSE = 10**100

G = TypeVar("G", bound=Guarantee)


def plus(a: Vector, b: Vector) -> Vector:
    """The sum of two vectors, never below the true one."""
    return tuple(_short(x + y) for x, y in zip(a, b, strict=True))


def larger(a: Vector, b: Vector) -> Vector:
    """The larger of two vectors, axis by axis."""
    return tuple(max(x, y) for x, y in zip(a, b, strict=True))


def less(a: Vector, b: Vector) -> Vector:
    """The difference a − b, axis by axis."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def _short(x: Fraction) -> Fraction:
    return x if x.denominator <= _LARGEST_DENOMINATOR else Fraction(-(-x.numerator * _COARSE // x.denominator), _COARSE)


def smaller(a: G, b: G) -> G:
    """The smaller of two amounts of one kind, number by number."""
    names = [field.name for field in fields(a)]  # type: ignore[arg-type]
    return amount(type(a), **{name: min(getattr(a, name), getattr(b, name)) for name in names})


def amount(kind: type[G], **numbers: Fraction) -> G:
    """A guarantee used as an amount, which may be zero.

    Nobody asks for a promise of ε = 0, so the public constructors refuse it; but a budget of which nothing is spent
    has spent exactly that, and `budget.spent.epsilon` should be 0, not an error.
    """
    result = object.__new__(kind)
    for name, number in numbers.items():
        object.__setattr__(result, name, number)
    return result
