"""Rigorous tails of the integer noises that mechanisms compare with a threshold.

Discrete Laplace, P[z] ∝ e^{-ε|z|}: P[Z ≥ k] = e^{-εk}/(1 + e^{-ε}) for k ≥ 0. Discrete Gaussian, P[z] ∝ e^{-z²/(2v)}:
sums of `gaussian_sums`, term by term as long as that is affordable, since a probability along a path of comparisons
needs all its bits. Both are symmetric, so P[Z ≥ k] = 1 − P[Z ≥ 1 − k] for k ≤ 0.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from tacit.noises.gaussian_sums import _series, tail_sum, whole_sum
from tacit.numbers.enclosures import BITS, Enclosure, exp, log

SUMMED = 2**20
"""Gaussian tails keep all their bits up to this variance, at the price of summing 16σ terms."""


def laplace_tail(epsilon: Fraction, k: int, bits: int = BITS) -> Enclosure:
    """P[Z ≥ k] for the discrete Laplace law of rate ε."""
    if k < 0:
        return 1 - laplace_tail(epsilon, 1 - k, bits)
    return exp(-epsilon * k, bits) / (1 + exp(-epsilon, bits))


@lru_cache(maxsize=8192)
def gaussian_tail(variance: Fraction, k: int, bits: int = BITS) -> Enclosure:
    """P[Z ≥ k] for the discrete Gaussian law of parameter σ² = ``variance``."""
    if k <= 0:
        return 1 - gaussian_tail(variance, 1 - k, bits)
    if variance > SUMMED:
        part = tail_sum(variance, k, bits)
    else:
        ends = (Fraction(k * k), Fraction(2 * k + 1), Fraction(2))
        part = _series(*(exp(-end / (2 * variance), bits + 16) for end in ends))
    return part / whole_sum(variance, bits)


@lru_cache(maxsize=8192)
def laplace_reach(epsilon: Fraction, beta: Fraction) -> int:
    """The smallest k ≥ 0 with P[Z ≥ k] ≤ β for the discrete Laplace law of rate ε, decided rigorously.

    It is ⌈ln(1/(β(1 + e^{-ε})))/ε⌉, and 0 where that is negative. Equality cannot occur: e^ε is transcendental.
    """
    bits = 64
    while True:
        real = -((1 + exp(-epsilon, bits)) * beta).log() / epsilon
        low, high = (-(-end.numerator // end.denominator) for end in (real.low, real.high))
        if low == high:
            return max(0, low)
        bits *= 2


def log_ceil(scale: Fraction, argument: Fraction) -> int:
    """⌈scale·ln(argument)⌉ for positive rationals, decided rigorously."""
    if argument == 1:
        return 0
    bits = 64
    while True:
        real = log(argument, bits) * scale
        low, high = (-(-end.numerator // end.denominator) for end in (real.low, real.high))
        if low == high:
            return low
        bits *= 2
