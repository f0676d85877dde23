"""Alternating series of slowly falling terms, rigorously: what arctan and the tails of power laws are made of.

PROMISE  `alternating(w, start, step)` encloses Σ_k (−w)^k/(start + k·step), `arctan(s)` encloses arctan √s.

PROOF  The k-th term w^k/(start + k·step) is the k-th moment of a positive measure on [0, 1], so the sum is S = ∫
dμ(v)/(1 + v). With P = T_n(1 − 2v), |P| ≤ 1 on [0, 1] and P(−1) = T_n(3), the quotient (P(−1) − P(v))/(1 + v) is a
polynomial in v whose integral, divided by P(−1), differs from S by ∫ P(v)/(P(−1)(1 + v)) dμ, at most S/T_n(3) ≤ 2·(3
+ √8)^{-n}·S (Cohen, Rodriguez Villegas and Zagier). Its coefficients are whole numbers, made one from the other.

COST  One multiplication and division for each of 0.4 terms per bit, also at w = 1.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from tacit.numbers.enclosures import BITS, Enclosure, pi, sqrt


@lru_cache(maxsize=64)
def _weights(n: int) -> tuple[tuple[int, ...], int]:
    """The n weights of the terms with their signs, and T_n(3) by which their sum is divided."""
    before, top = 1, 3  # T_0(3), T_1(3)
    for _ in range(n - 1):
        before, top = top, 6 * top - before
    coefficient, weight, weights = Fraction(-1), -top, []
    for k in range(n):
        weight = int(coefficient) - weight
        weights.append(weight)
        coefficient = coefficient * (k + n) * (k - n) / ((k + Fraction(1, 2)) * (k + 1))
    return tuple(weights), top


def alternating(w: Enclosure, start: Fraction, step: Fraction, bits: int) -> Enclosure:
    """Σ_k (−w)^k/(start + k·step) for 0 ≤ w ≤ 1 and positive start and step."""
    weights, top = _weights(bits * 2 // 5 + 4)  # log2(3 + √8) = 2.54
    result, power = Enclosure.of(0, bits), Enclosure.of(1, bits)
    for k, weight in enumerate(weights):
        result = result + power * (weight / (start + k * step))
        power = power * w
    result = result / top
    slack = (result / (top - 1)).high
    return result + Enclosure.between(-slack, slack, bits)


def arctan(square: Fraction, bits: int = BITS) -> Enclosure:
    """arctan(√square), for square ≥ 0."""
    if square > 1:
        return pi(bits) * Fraction(1, 2) - arctan(1 / square, bits)
    return alternating(Enclosure.of(square, bits), Fraction(1), Fraction(2), bits) * sqrt(square, bits)
