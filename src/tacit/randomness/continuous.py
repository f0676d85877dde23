"""Continuous noise, released on a fixed public lattice.

Promise: `rounded_laplace(center, scale, lattice)` and its siblings return the multiple of ``lattice`` nearest to
center + scale·Z, with Z of the stated density, exactly. Rounding is post-processing, and the set of possible outputs
shows neither center nor scale: both may be private, the lattice must be public.

Why it holds: Z is a function of lazy reals, enclosed between integers (times a power of two) ever more narrowly until
the nearest multiple is decided.

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
from math import isqrt, log2
from typing import cast

from tacit.errors import InvalidInput
from tacit.numbers.enclosures import Enclosure
from tacit.numbers.exact import Number, exact, positive
from tacit.randomness.basic import _coin
from tacit.randomness.lazy import WORD, LazyExponential, LazyUniform
from tacit.randomness.source import SYSTEM, Randomness

Ends = tuple[int, int]
Real = Callable[[int], Ends]
"""A real x ≥ 0: for every number of bits integers (a, b) with a ≤ x·2^bits ≤ b, ever closer as the bits grow."""

HALF = Fraction(1, 2)
SMALL = 64
"""Powers n/m up to this are taken by integer powers and roots, others by logarithms."""


def rounded_laplace(center: Number, scale: Number, lattice: Number, *, source: Randomness = SYSTEM) -> Fraction:
    """center + scale·Z rounded to a multiple of ``lattice``, Z of density ½·e^{-|z|}."""
    return _released(center, scale, lattice, lambda: _known(LazyExponential(source)), source)


def rounded_gaussian(center: Number, scale: Number, lattice: Number, *, source: Randomness = SYSTEM) -> Fraction:
    """center + scale·Z rounded to a multiple of ``lattice``, Z standard normal."""
    return _released(center, scale, lattice, lambda: _normal(source), source)


def rounded_student(
    center: Number, scale: Number, lattice: Number, degrees: Number, *, source: Randomness = SYSTEM
) -> Fraction:
    """center + scale·Z rounded to a multiple of ``lattice``, Z of Student's law with ``degrees`` > 0 of freedom."""
    d = positive(degrees, "degrees")
    return _released(center, scale, lattice, lambda: _student(d, source), source)


def rounded_power(
    center: Number, scale: Number, lattice: Number, gamma: Number, *, source: Randomness = SYSTEM
) -> Fraction:
    """center + scale·Z rounded to a multiple of ``lattice``, Z of density ∝ 1/(1 + |z|^γ), γ > 1."""
    g = exact(gamma, "gamma")
    if g <= 1:
        raise InvalidInput("gamma must be above 1, or 1/(1 + |z|^gamma) has no finite mass; give a number such as 4.")
    return _released(center, scale, lattice, lambda: _power_law(g, source), source)


def _normal(source: Randomness) -> Real | None:
    """The magnitude of a standard normal, or None where a proposal was not kept (so are those that follow)."""
    x = _known(LazyExponential(source))

    def threshold(bits: int) -> Ends:
        low, high = (end - (1 << bits) for end in x(bits))
        nearest = max(low, -high, 0)
        return nearest**2 >> (bits + 1), -(-(max(-low, high) ** 2) >> (bits + 1))

    return x if _exceeds(LazyExponential(source), threshold) else None


def _student(d: Fraction, source: Randomness) -> Real | None:
    v, w = _envelope(d + 1, source)

    def ratio(bits: int) -> Ends:
        low, high = _power(v(bits), Fraction(2), bits)
        one = 1 << bits
        return _reciprocal(_power((one + low, one + high), (d + 1) / 2, bits), bits, bits)

    def magnitude(bits: int) -> Ends:
        n, m = d.numerator << 2 * bits, d.denominator
        low, high = w(bits)
        return isqrt(n // m) * low >> bits, -(-(isqrt(n // m) + 1) * high >> bits)

    return None if _exceeds(LazyUniform(source), ratio) else magnitude


def _power_law(gamma: Fraction, source: Randomness) -> Real | None:
    v, w = _envelope(gamma, source)

    def ratio(bits: int) -> Ends:
        low, high = _power(v(bits), gamma, bits)
        return _reciprocal(((1 << bits) + low, (1 << bits) + high), bits, bits)

    return None if _exceeds(LazyUniform(source), ratio) else w


def _envelope(p: Fraction, source: Randomness) -> tuple[Real, Real]:
    """(v, w): w of density ∝ min(1, w^{-p}), and v the smaller of w and 1/w."""
    if _coin(p.numerator - p.denominator, p.numerator, source):
        v = _known(LazyUniform(source))
        return v, v
    n = p - 1
    if n.denominator == 1 and n <= SMALL:  # the largest of n uniforms has the law of U^{1/n}
        v = _known(max(LazyUniform(source) for _ in range(int(n))))
    else:
        v = _root(_known(LazyUniform(source)), n)

    def inverse(bits: int) -> Ends:
        places = bits
        while v(places)[0] == 0:
            places *= 2
        return _reciprocal(v(places), places, bits)

    return v, inverse


def _known(drawn: LazyUniform | LazyExponential) -> Real:
    def ends(bits: int) -> Ends:
        known = drawn.top(bits)
        return known, known + 1

    return ends


def _root(u: Real, n: Fraction) -> Real:
    return lambda bits: _power(u(bits), 1 / n, bits)


def _power(x: Ends, exponent: Fraction, bits: int) -> Ends:
    """x^exponent in fixed point."""
    n, m = exponent.numerator, exponent.denominator
    low, high = x
    if n <= SMALL and m <= SMALL:  # x^n·2^{m·bits}/2^{n·bits}, of which the m-th root
        up, down = bits * max(m - n, 0), bits * max(n - m, 0)
        return _integer_root(low**n << up >> down, m), _integer_root((high**n << up >> down) + 1, m) + (m > 1)
    below, above = ((Enclosure(end, end, -bits, bits + 16).log() * exponent).exp() for end in (max(low, 1), high))
    return below.fixed(bits)[0] if low else 0, above.fixed(bits)[1]


def _integer_root(x: int, m: int) -> int:
    """floor(x^{1/m}) by Newton's steps, which fall to it from above; a float only says where to begin."""
    if m == 1 or x < 2:
        return x
    exponent = log2(x) / m
    shift = max(0, int(exponent) - 50)
    guess = (int(2 ** (exponent - shift)) + 1) << shift
    root = _newton(x, m, guess)  # not below the floor, wherever it began
    while (following := _newton(x, m, root)) < root:
        root = following
    return root


def _newton(x: int, m: int, root: int) -> int:
    power: int = root ** (m - 1)
    return ((m - 1) * root + x // power) // m


def _reciprocal(x: Ends, places: int, bits: int) -> Ends:
    """1/x with ``bits`` binary places, for x > 0 given in fixed point with ``places`` of them."""
    one = 1 << (places + bits)
    return one // x[1], -(-one // x[0])


def _exceeds(drawn: LazyUniform | LazyExponential, threshold: Real) -> bool:
    """Whether a lazy real exceeds a threshold, which it almost surely does not equal."""
    bits = WORD
    while True:
        known, (low, high) = drawn.top(bits), threshold(bits)
        if known >= high:
            return True
        if known < low:
            return False
        bits *= 2


def _released(
    center: Number, scale: Number, lattice: Number, propose: Callable[[], Real | None], source: Randomness
) -> Fraction:
    """center ± scale·magnitude with a fair sign, rounded to the nearest multiple of the lattice."""
    unit = positive(lattice, "lattice")
    start, factor = exact(center, "center") / unit + HALF, positive(scale, "scale") / unit
    while (magnitude := propose()) is None:
        pass
    sign = 1 - 2 * source.bits(1)
    above, below = factor.numerator * start.denominator * sign, factor.denominator * start.denominator
    offset = start.numerator * factor.denominator
    bits = WORD
    while True:
        low, high = sorted((offset << bits) + above * end for end in magnitude(bits))
        multiple = low // (below << bits)
        if high <= (multiple + 1) * below << bits:  # and is almost surely not equal
            return cast(Fraction, source.mark(multiple * unit))
        bits *= 2
