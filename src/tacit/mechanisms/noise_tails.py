"""Rigorous tails of the integer noises that mechanisms compare with a threshold.

Discrete Laplace, P[z] ∝ e^{-ε|z|}: P[Z ≥ k] = e^{-εk}/(1 + e^{-ε}) for k ≥ 0. Discrete Gaussian, P[z] ∝ e^{-z²/(2v)}:
the terms are summed one by one, each from the last by e^{-(2z+1)/(2v)}; what is left falls faster than a geometric
series. Both are symmetric, so P[Z ≥ k] = 1 − P[Z ≥ 1 − k] for k ≤ 0.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from tacit.enclosures import BITS, Enclosure, exp, log


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
    return _gaussian_sum(variance, k, bits) / (1 + 2 * _gaussian_sum(variance, 1, bits))


@lru_cache(maxsize=8192)
def _gaussian_sum(variance: Fraction, k: int, bits: int) -> Enclosure:
    """Σ_{z ≥ k} e^{-z²/(2·variance)} for k ≥ 1."""
    work = bits + 32
    term = exp(-Fraction(k * k) / (2 * variance), work)
    ratio = exp(-Fraction(2 * k + 1) / (2 * variance), work)
    fall = exp(-1 / variance, work)
    result = Enclosure.of(0, work)
    while True:
        result = result + term
        term = term * ratio
        if term.high < result.low / (1 << work):
            rest = (term / (1 - ratio)).high  # every further ratio is smaller than this one
            return result + Enclosure.between(0, rest, work)
        ratio = ratio * fall


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
