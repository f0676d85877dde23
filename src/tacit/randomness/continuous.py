"""Continuous noise, released on a fixed public lattice.

Promise: `rounded_laplace(center, scale, lattice)` and its siblings return the multiple of ``lattice`` nearest to
center + scale·Z, with Z of the stated density, exactly. Rounding is post-processing, and the set of possible outputs
shows neither center nor scale: both may be private, the lattice must be public.

Why it holds: Z is a function of lazy reals, enclosed ever more narrowly until the nearest multiple is decided.

- Laplace, density ½·e^{-|z|}: an exponential with a fair sign.
- Gaussian, density ∝ e^{-z²/2}: an exponential x kept with probability e^{-(x−1)²/2}, as x + (x − 1)²/2 = (x² + 1)/2.
- Student with d degrees of freedom, density ∝ (1 + z²/d)^{-(d+1)/2}, and the power law 1/(1 + |z|^γ): a magnitude w of
  density ∝ min(1, w^{-p}): uniform, w = v = U, with probability (p − 1)/p, and w = 1/v, v = U^{1/(p−1)}, otherwise. For
  the power law p = γ and w is kept with probability 1/(1 + v^γ); for Student p = d + 1, z = √d·w and w is kept with
  probability (1 + v²)^{-p/2}. On both sides of 1 the ratio of density and envelope is the same function of v.
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
    return _released(center, scale, lattice, lambda: LazyExponential(source).enclosure, source)


def rounded_gaussian(center: Number, scale: Number, lattice: Number, *, source: Source = SYSTEM) -> Fraction:
    """center + scale·Z rounded to a multiple of ``lattice``, Z standard normal."""
    return _released(center, scale, lattice, lambda: _normal(source), source)


def rounded_student(
    center: Number, scale: Number, lattice: Number, degrees: Number, *, source: Source = SYSTEM
) -> Fraction:
    """center + scale·Z rounded to a multiple of ``lattice``, Z of Student's law with ``degrees`` > 0 of freedom."""
    d = positive(degrees, "degrees")
    return _released(center, scale, lattice, lambda: _student(d, source), source)


def rounded_power(
    center: Number, scale: Number, lattice: Number, gamma: Number, *, source: Source = SYSTEM
) -> Fraction:
    """center + scale·Z rounded to a multiple of ``lattice``, Z of density ∝ 1/(1 + |z|^γ), γ > 1."""
    g = exact(gamma, "gamma")
    if g <= 1:
        raise InvalidInput("gamma must be above 1, or 1/(1 + |z|^gamma) has no finite mass; give a number such as 4.")
    return _released(center, scale, lattice, lambda: _power_law(g, source), source)


def _normal(source: Source) -> Real | None:
    """The magnitude of a standard normal, or None where a proposal was not kept (so are those that follow)."""
    x = LazyExponential(source).enclosure
    return x if _kept(lambda bits: (x(bits) - 1) ** 2 * HALF, source) else None


def _student(d: Fraction, source: Source) -> Real | None:
    v, w = _envelope(d + 1, source)
    if _kept(lambda bits: (v(bits) ** 2 + 1).log() * ((d + 1) / 2), source):
        return lambda bits: sqrt(d, bits) * w(bits)
    return None


def _power_law(gamma: Fraction, source: Source) -> Real | None:
    v, w = _envelope(gamma, source)
    return w if _kept(lambda bits: (_power(v(bits), gamma) + 1).log(), source) else None


def _envelope(p: Fraction, source: Source) -> tuple[Real, Real]:
    """(v, w): w of density ∝ min(1, w^{-p}), and v the smaller of w and 1/w."""
    u = LazyUniform(source)

    def uniform(bits: int) -> Enclosure:
        return u.enclosure(bits + _leading_zeros(u))

    def root(bits: int) -> Enclosure:
        return _power(uniform(bits), 1 / (p - 1))

    if _coin(p.numerator - p.denominator, p.numerator, source):
        return uniform, uniform
    return root, lambda bits: 1 / root(bits)


def _leading_zeros(u: LazyUniform) -> int:
    """Zeros with which u begins: with more bits than these it is surely positive and has a logarithm."""
    bits = WORD
    while u.top(bits) == 0:
        bits += WORD
    return bits - u.top(bits).bit_length()


def _power(x: Enclosure, exponent: Fraction) -> Enclosure:
    if exponent.denominator == 1:
        return x**exponent.numerator
    return (x.log() * exponent).exp()


def _kept(x: Real, source: Source) -> bool:
    """True with probability e^{-x}: whether an exponential exceeds x."""
    exponential = LazyExponential(source)
    bits = WORD
    while True:
        e, threshold = exponential.enclosure(bits), x(bits)
        if e.above(threshold):
            return True
        if e.below(threshold):
            return False
        bits *= 2


def _released(
    center: Number, scale: Number, lattice: Number, propose: Callable[[], Real | None], source: Source
) -> Fraction:
    """center ± scale·magnitude with a fair sign, rounded to the nearest multiple of the lattice."""
    unit = positive(lattice, "lattice")
    start, factor = exact(center, "center") / unit + HALF, positive(scale, "scale") / unit
    while (magnitude := propose()) is None:
        pass
    if source.bits(1):
        factor = -factor
    bits = WORD
    while True:
        x = magnitude(bits) * factor + start
        multiple = floor(x.low)
        if x.high < multiple + 1:
            return cast(Fraction, source.mark(multiple * unit))
        bits *= 2
