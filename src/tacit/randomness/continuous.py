"""Continuous noise, released on a fixed public lattice.

Promise: `rounded_laplace(center, scale, lattice)` and its siblings return the multiple of ``lattice`` nearest to
center + scale·Z, with Z of the stated density, exactly. Rounding is post-processing, and the set of possible outputs
shows neither center nor scale: both may be private, the lattice must be public.

Why it holds: Z is a function of lazy reals; their bits are drawn until the nearest multiple is decided.

- Laplace, density ½·e^{-|z|}: an exponential with a fair sign.
- Gaussian, density ∝ e^{-z²/2}: an exponential X kept when a second exponential exceeds (X − 1)²/2, as
  e^{-x}·e^{-(x−1)²/2} ∝ e^{-x²/2}; a fair sign.
- Student with d degrees of freedom, density ∝ (1 + z²/d)^{-(d+1)/2}, and 1/(1 + |z|^γ): a magnitude w of density
  ∝ min(1, w^{-p}), which is uniform on [0, 1] with probability (p − 1)/p and 1/v, v = U^{1/(p−1)}, otherwise. With p = γ it is
  kept with probability 1/(1 + v^γ); with p = d + 1 and z = √d·w with probability (1 + v²)^{-p/2}; v = w in the first case.
  Below 1 and above 1 the ratio of density and envelope is the same function of v.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import cast

from tacit.enclosures import Enclosure, sqrt
from tacit.errors import InvalidInput
from tacit.exact import Number, exact, positive
from tacit.randomness.basic import _coin
from tacit.randomness.lazy import WORD, LazyExponential, LazyUniform
from tacit.randomness.source import SYSTEM, Source

Real = Callable[[int], Enclosure]
"""A real number: an enclosure of it for every number of bits asked."""

HALF = Fraction(1, 2)


def rounded_laplace(center: Number, scale: Number, lattice: Number, *, source: Source = SYSTEM) -> Fraction:
    """center + scale·Z rounded to a multiple of ``lattice``, Z of density ½·e^{-|z|}."""
    return _released(center, scale, lattice, LazyExponential(source).enclosure, source)


def rounded_gaussian(center: Number, scale: Number, lattice: Number, *, source: Source = SYSTEM) -> Fraction:
    """center + scale·Z rounded to a multiple of ``lattice``, Z standard normal."""
    while True:
        x, y = LazyExponential(source).enclosure, LazyExponential(source).enclosure
        if _exceeds(y, lambda bits: (x(bits) - 1) ** 2 * HALF):
            return _released(center, scale, lattice, x, source)


def rounded_student(
    center: Number, scale: Number, lattice: Number, degrees: Number, *, source: Source = SYSTEM
) -> Fraction:
    """center + scale·Z rounded to a multiple of ``lattice``, Z of Student's law with ``degrees`` of freedom (any d > 0)."""
    d = positive(degrees, "degrees")
    while True:
        inner, v = _envelope(d + 1, source)
        if _exceeds(LazyExponential(source).enclosure, lambda bits: (v(bits) ** 2 + 1).log() * ((d + 1) / 2)):
            return _released(
                center, scale, lattice, lambda bits: sqrt(d, bits) * (v(bits) if inner else 1 / v(bits)), source
            )


def rounded_power(
    center: Number, scale: Number, lattice: Number, gamma: Number, *, source: Source = SYSTEM
) -> Fraction:
    """center + scale·Z rounded to a multiple of ``lattice``, Z of density ∝ 1/(1 + |z|^γ), γ > 1."""
    gamma = exact(gamma, "gamma")
    if gamma <= 1:
        raise InvalidInput("gamma must be above 1; the density 1/(1 + |z|^gamma) has no finite mass otherwise.")
    while True:
        inner, v = _envelope(gamma, source)
        if _exceeds(LazyExponential(source).enclosure, lambda bits: (_power(v(bits), gamma) + 1).log()):
            return _released(center, scale, lattice, lambda bits: v(bits) if inner else 1 / v(bits), source)


def _envelope(p: Fraction, source: Source) -> tuple[bool, Real]:
    """(True, w) for w ≤ 1 and (False, 1/w) for w > 1, w of density ∝ min(1, w^{-p})."""
    u = LazyUniform(source)

    def uniform(bits: int) -> Enclosure:
        return u.enclosure(bits + _zeros(u))

    if _coin(p.numerator - p.denominator, p.numerator, source):
        return True, uniform
    return False, lambda bits: _power(uniform(bits), 1 / (p - 1))


def _zeros(u: LazyUniform) -> int:
    """Bits after which u is surely positive, so that its logarithm and reciprocal exist."""
    bits = WORD
    while u.top(bits) == 0:
        bits += WORD
    return bits - u.top(bits).bit_length()


def _power(x: Enclosure, exponent: Fraction) -> Enclosure:
    if exponent.denominator == 1:
        return x**exponent.numerator
    return (x.log() * exponent).exp()


def _exceeds(y: Real, x: Real) -> bool:
    """Whether y > x, for reals that are almost surely different."""
    bits = WORD
    while True:
        a, b = y(bits), x(bits)
        if a.above(b):
            return True
        if a.below(b):
            return False
        bits *= 2


def _released(center: Number, scale: Number, lattice: Number, magnitude: Real, source: Source) -> Fraction:
    """center ± scale·magnitude with a fair sign, rounded to the nearest multiple of the lattice."""
    unit = positive(lattice, "lattice")
    start, factor = exact(center, "center") / unit + HALF, positive(scale, "scale") / unit
    if source.bits(1):
        factor = -factor
    bits = WORD
    while True:
        x = magnitude(bits) * factor + start
        multiple = floor(x.low)
        if x.high < multiple + 1:
            return cast(Fraction, source.mark(multiple * unit))
        bits *= 2
