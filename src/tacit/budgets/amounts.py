"""Exact sums that stay short, and the smaller of two amounts.

What was typed is exact and stays exact; converted costs are decimals of twelve digits, which tacit.guarantees rounds
up. A sum of many unlike fractions would grow without end; once its denominator passes 512 bits it is rounded up to a
multiple of 10^-100, so that a charge costs the same however long the history is, and spending is never understated.
"""

from __future__ import annotations

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
    return type(a).amount(*map(min, a.numbers, b.numbers))
