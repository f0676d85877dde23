"""Rigorous sums of f(z) = e^{-z²/(2v)} over the integers, at any scale.

All of them: for v ≥ 1 by Poisson's formula √(2πv)·(1 + 2·Σ_k e^{-2π²vk²}), for smaller v one by one; a few terms either
way. A tail Σ_{z ≥ k}: one by one up to v = 4096. Beyond that from integrals, to a relative width of about k²/v²: f is
concave up to √v and convex after it, so with midpoints and trapezoids

- k ≥ √v + ½: ∫_k^∞ f + f(k)/2 ≤ Σ_{z ≥ k} f(z) ≤ ∫_{k−½}^∞ f;
- k ≤ √v: ∫_½^{k−½} f ≤ Σ_{0<z<k} f(z) ≤ ∫_0^k f − (1 + f(k))/2, and the tail is half the whole less 1, less this.

The integral is √(2πv)·P[N ≥ x], x = k/√v, where P[N ≥ x] = ½ − φ(x)·Σ_n x^{2n+1}/(1·3·…·(2n+1)), φ the normal density.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from tacit.numbers.enclosures import BITS, Enclosure, decay, exp, pi

SUMMED = 4096
"""Tails are summed one by one up to this v, unless another is given."""

HALF = Fraction(1, 2)


@lru_cache(maxsize=1024)
def whole_sum(v: Fraction, bits: int = BITS) -> Enclosure:
    """Σ_z e^{-z²/(2v)} over all integers."""
    work = bits + 16
    if v < 1:
        return 1 + 2 * tail_sum(v, 1, work)
    scale = (pi(work) * (2 * v)).sqrt()
    if v > work:  # 2·Σ_k e^{-2π²vk²} < 4·e^{-19v} < 2^-work
        return scale * Enclosure((1 << work), (1 << work) + 1, -work, work)
    fall = pi(work) ** 2 * (-2 * v)
    return scale * (1 + 2 * _series(fall.exp(), (fall * 3).exp(), (fall * 2).exp()))


@lru_cache(maxsize=8192)
def tail_sum(v: Fraction, k: int, bits: int = BITS, summed: int = SUMMED) -> Enclosure:
    """Σ_{z ≥ k} e^{-z²/(2v)}, for k ≥ 1; one by one where v is at most ``summed``."""
    work = bits + 16
    here = decay(k * k / (2 * v), work)
    if here.low == 0:  # Σ_{z ≥ k} f(z) ≤ f(k) + ∫_k^∞ f ≤ f(k)·(1 + √(πv/2)) ≤ f(k)·(2 + v)
        return here * (2 + v)
    if v <= summed:
        return _series(here, exp(-(2 * k + 1) / (2 * v), work), exp(-1 / v, work))
    if (2 * k - 1) ** 2 >= 4 * v:
        return Enclosure.between(_integral(v, k, work) + here * HALF, _integral(v, k - HALF, work), bits)
    if k * k > v:
        return here + tail_sum(v, k + 1, work, summed)
    beyond = _integral(v, k, work)
    least = _integral(v, HALF, work) - _integral(v, k - HALF, work)
    most = _integral(v, 0, work) - beyond - (1 + here) * HALF
    return (whole_sum(v, work) - 1) * HALF - Enclosure.between(least, most, bits)


def normal_tail(v: Fraction, k: Fraction, bits: int = BITS) -> Enclosure:
    """P[N ≥ k] for a normal N of mean 0 and variance v: the series above in fixed point, rounded outward."""
    if k < 0:
        return 1 - normal_tail(v, -k, bits)
    square = k * k / v
    if square > 8 * bits:
        return Enclosure.between(0, decay(Fraction(int(square), 2), bits), bits)
    work = bits + 32 + 2 * int(square)
    low, n, one = (square.numerator << work) // square.denominator, 0, 1 << work
    high = low + 1
    term_low = term_high = one
    sum_low, sum_high, least = 0, 0, int(square) + 1
    while n < least or term_high > 1:
        sum_low, sum_high, n = sum_low + term_low, sum_high + term_high, n + 1
        term_low = (term_low * low >> work) // (2 * n + 1)
        term_high = (term_high * high >> work) // (2 * n + 1) + 1
    series = Enclosure(sum_low, sum_high + 2 * term_high, -work, work)  # the terms fall by half or faster from here
    x = Enclosure(low, high, -work, work)
    density = (x * Fraction(-1, 2)).exp() * x.sqrt() / (pi(work) * 2).sqrt()
    rest = HALF - density * series
    return Enclosure.between(max(rest.low, Fraction(0)), max(rest.high, Fraction(0)), bits)


def _series(term: Enclosure, ratio: Enclosure, fall: Enclosure) -> Enclosure:
    """A sum of positive terms, each from the last by a ratio that is itself multiplied by ``fall`` every time."""
    result = term
    while not term.below(result.low / (1 << term.bits)):
        term, ratio = term * ratio, ratio * fall
        result = result + term
    return result + Enclosure.between(0, term * ratio / (1 - ratio), term.bits)


@lru_cache(maxsize=8192)
def _integral(v: Fraction, k: Fraction | int, bits: int) -> Enclosure:
    """∫_k^∞ e^{-t²/(2v)} dt, for k ≥ 0."""
    square = k * k / v
    if square > 8 * bits:  # P[N ≥ x] ≤ e^{-x²/2}/2
        return (pi(bits) * (2 * v)).sqrt() * Enclosure.between(0, decay(square / 2, bits), bits)
    work = bits + 32 + int(square)  # the difference below loses about x²/(2·ln 2) bits
    n, term, series = 0, Enclosure.of(1, work), Enclosure.of(0, work)
    while 2 * n + 3 < 2 * square or not term.below(Fraction(1, 1 << work)):
        series, n = series + term, n + 1
        term = term * (square / (2 * n + 1))
    series = series + Enclosure.between(0, term * 2, work)  # the terms fall by half or faster from here
    # √(2πv)·(½ − φ(x)·x·series) = √(πv/2) − e^{-x²/2}·k·series
    rest = (pi(work) * (v / 2)).sqrt() - exp(-square / 2, work) * k * series
    return Enclosure.between(max(rest.low, Fraction(0)), rest.high, bits)
