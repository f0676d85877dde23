"""Noise on the integers: geometric, discrete Laplace (two-sided, asymmetric, truncated) and discrete Gaussian.

Promise: each law below is met exactly, at any scale and for any rational parameter.

- Geometric: floor(E/ε) with E exponential has P[Z ≥ a] = P[E ≥ εa] = e^{-εa}; E gets as many bits as the floor needs.
- Discrete Laplace: a geometric with a fair sign, "minus zero" drawn again.
- Asymmetric: the difference X − Y of independent geometrics of rates a and b takes z ≥ 0 with probability
  Σ_y P[Y = y]·P[X = z + y] ∝ e^{-az}, and z < 0 with probability ∝ e^{-b|z|}, with the same factor.
- Truncated: draws outside are drawn again, from the discrete Laplace where few are (ε·bound ≥ 1), else from the uniform
  law on the window, kept with probability e^{-ε|z|} ≥ 1/e.
- Gaussian: a discrete Laplace of rate 1/t, t = ⌊σ⌋ + 1, kept with probability e^{-(|z| − σ²/t)²/(2σ²)}: the exponents
  |z|/t + (|z| − σ²/t)²/(2σ²) = z²/(2σ²) + σ²/(2t²) add up to the law's and a constant.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import cast

from tacit.numbers.exact import Number, positive, whole
from tacit.randomness.basic import _below, _coin_exp
from tacit.randomness.lazy import WORD, LazyExponential
from tacit.randomness.source import SYSTEM, Randomness


def geometric(epsilon: Number, *, source: Randomness = SYSTEM) -> int:
    """An integer Z ≥ 0 with P[Z ≥ a] = e^{-εa}."""
    epsilon = positive(epsilon, "epsilon")
    return cast(int, source.mark(_geometric(epsilon.numerator, epsilon.denominator, source)))


def discrete_laplace(epsilon: Number, *, source: Randomness = SYSTEM) -> int:
    """An integer with P[z] ∝ e^{-ε|z|}."""
    epsilon = positive(epsilon, "epsilon")
    return cast(int, source.mark(_laplace(epsilon.numerator, epsilon.denominator, source)))


def asymmetric_laplace(above: Number, below: Number, *, source: Randomness = SYSTEM) -> int:
    """An integer with P[z] ∝ e^{-above·z} for z ≥ 0 and ∝ e^{-below·|z|} for z < 0."""
    above, below = positive(above, "above"), positive(below, "below")
    up = _geometric(above.numerator, above.denominator, source)
    return cast(int, source.mark(up - _geometric(below.numerator, below.denominator, source)))


def truncated_laplace(epsilon: Number, bound: int, *, source: Randomness = SYSTEM) -> int:
    """An integer of −bound, …, bound with P[z] ∝ e^{-ε|z|}."""
    epsilon, bound = positive(epsilon, "epsilon"), whole(bound, "bound", 0)
    rate, unit = epsilon.numerator, epsilon.denominator
    while True:
        if rate * bound >= unit:
            z = _laplace(rate, unit, source)
            accept = -bound <= z <= bound
        else:
            z = _below(2 * bound + 1, source) - bound
            accept = _coin_exp(rate * abs(z), unit, source)
        if accept:
            return cast(int, source.mark(z))


def discrete_gaussian(variance: Number, *, source: Randomness = SYSTEM) -> int:
    """An integer with P[z] ∝ e^{-z²/(2·variance)}; ``variance`` is the parameter σ² of the law."""
    return cast(int, source.mark(_gaussian(positive(variance, "variance"), source)))


def _geometric(rate: int, unit: int, source: Randomness) -> int:
    """Geometric of ε = rate/unit."""
    exponential = LazyExponential(source)
    bits = WORD + max(0, unit.bit_length() - rate.bit_length())
    while True:
        known, scale = exponential.top(bits), rate << bits
        z = known * unit // scale
        if (known + 1) * unit <= (z + 1) * scale:
            return z
        bits += WORD


def _laplace(rate: int, unit: int, source: Randomness) -> int:
    while True:
        z = _geometric(rate, unit, source)
        if source.bits(1):
            return z
        if z:
            return -z


def _gaussian(variance: Fraction, source: Randomness) -> int:
    n, d = variance.numerator, variance.denominator
    t = isqrt(n // d) + 1
    while True:
        z = _laplace(1, t, source)
        # (|z| − σ²/t)²/(2σ²) with σ² = n/d
        if _coin_exp((abs(z) * t * d - n) ** 2, 2 * n * d * t * t, source):
            return z
