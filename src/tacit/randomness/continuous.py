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
    return x if _exceeds(LazyExponential(source), lambda bits: (x(bits) - 1) ** 2 * HALF) else None


def _student(d: Fraction, source: Source) -> Real | None:
    v, w = _envelope(d + 1, source)
    if _exceeds(LazyUniform(source), lambda bits: 1 / _power(v(bits) ** 2 + 1, (d + 1) / 2)):
        return None
    return lambda bits: sqrt(d, bits) * w(bits)


def _power_law(gamma: Fraction, source: Source) -> Real | None:
    v, w = _envelope(gamma, source)
    return None if _exceeds(LazyUniform(source), lambda bits: 1 / (_power(v(bits), gamma) + 1)) else w


def _envelope(p: Fraction, source: Source) -> tuple[Real, Real]:
    """(v, w): w of density ∝ min(1, w^{-p}), and v the smaller of w and 1/w."""
    if _coin(p.numerator - p.denominator, p.numerator, source):
        v = _fraction(LazyUniform(source))
        return v, v
    n = p - 1
    if n.denominator == 1 and n <= 16:  # the largest of n uniforms has the law of U^{1/n}
        v = _fraction(max(LazyUniform(source) for _ in range(int(n))))
    else:
        v = _root(_fraction(LazyUniform(source)), n)
    return v, lambda bits: 1 / v(bits)


def _fraction(u: LazyUniform) -> Real:
    """A uniform with so many bits after its leading zeros: surely positive, so that it has a logarithm."""
    zeros = WORD
    while u.top(zeros) == 0:
        zeros += WORD
    zeros -= u.top(zeros).bit_length()
    return lambda bits: u.enclosure(bits + zeros)


def _root(u: Real, n: Fraction) -> Real:
    return lambda bits: _power(u(bits), 1 / n)


def _power(x: Enclosure, exponent: Fraction) -> Enclosure:
    if exponent.denominator == 1:
        return x**exponent.numerator
    if exponent.denominator == 2:
        return x.sqrt() ** exponent.numerator
    return (x.log() * exponent).exp()


def _exceeds(drawn: LazyUniform | LazyExponential, threshold: Real) -> bool:
    """Whether a lazy real exceeds a threshold, which it almost surely does not equal."""
    bits = WORD
    while True:
        known, (low, high) = drawn.top(bits), threshold(bits).fixed(bits)
        if known >= high:
            return True
        if known < low:
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
        multiple, following = (magnitude(bits) * factor + start).fixed(0)
        if following - multiple <= 1:  # the number lies between two integers and is almost surely neither
            return cast(Fraction, source.mark(multiple * unit))
        bits *= 2
