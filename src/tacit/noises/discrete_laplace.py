"""Discrete Laplace noise: P[Z = z] ∝ e^{-rate·|z|}.

PROMISE  An integer of sensitivity s, released as f + Z, is Pure(rate·s); `for_pure` takes rate = ε/s.

PROOF  P[f + Z = y]/P[f' + Z = y] = e^{rate·(|y − f'| − |y − f|)} ≤ e^{rate·|f − f'|} ≤ e^{rate·s}.

ACCURACY  With r = e^{-rate}: P[Z = z] = r^{|z|}·(1 − r)/(1 + r), P[Z ≥ k] = r^k/(1 + r) for k ≥ 0, and by symmetry
P[Z ≥ k] = 1 − P[Z ≥ 1 − k] for k < 0. Its deviation is about 1.4/rate.

COST  One draw takes some 10 µs at any rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import exp as float_exp
from math import expm1
from math import log as float_log
from typing import Any, cast

from tacit.guarantees import Pure
from tacit.noises.base import IntegerNoise, half_miss, outward
from tacit.numbers.enclosures import BITS, Enclosure, ceiling, decay, exp
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.randomness.discrete import discrete_laplace
from tacit.randomness.source import Randomness
from tacit.randomness.vectors import discrete_laplaces


@dataclass(frozen=True)
class DiscreteLaplace(IntegerNoise):
    """P[Z = z] ∝ e^{-rate·|z|} on the integers."""

    name = "discrete Laplace"

    rate: Fraction

    @classmethod
    def for_pure(cls, epsilon: Fraction, sensitivity: Fraction | int = 1) -> DiscreteLaplace:
        """The noise that makes an integer of this sensitivity Pure(ε)."""
        return cls(epsilon / sensitivity)

    def named(self) -> dict[str, str]:
        """As certificates name it."""
        return {"noise": "discrete Laplace", "rate": str(self.rate)}

    def guarantee(self, sensitivity: int = 1) -> Pure:
        """Pure(rate·sensitivity)."""
        return Pure(self.rate * sensitivity)

    def draw(self, source: Randomness) -> int:
        """By `discrete_laplace`."""
        return discrete_laplace(self.rate, source=source)

    def _many(self, size: int, source: Randomness) -> list[int]:
        return cast("list[int]", discrete_laplaces(self.rate, size, source=source).tolist())

    def mass(self, z: int, bits: int = BITS) -> Enclosure:
        """r^{|z|}·(1 − r)/(1 + r)."""
        work = bits + 8 + int(1 / self.rate).bit_length()  # 1 − r loses as many bits as the rate is small
        r = decay(self.rate, work)
        return decay(self.rate * abs(z), work) * (1 - r) / (1 + r)

    def tail(self, z: int, bits: int = BITS, *, sharp: bool = False) -> Enclosure:
        """r^z/(1 + r), and by symmetry below 0."""
        if z < 0:
            return 1 - self.tail(1 - z, bits)
        return decay(self.rate * z, bits) / (1 + decay(self.rate, bits))

    def threshold(self, beta: Fraction) -> int:
        """The smallest k ≥ 0 with P[Z ≥ k] ≤ β, decided rigorously."""
        return _threshold(self.rate, beta)

    def reach(self, confidence: float) -> tuple[int, int]:
        """P[Z > m] = p₊·e^{-rate·(m+1)}, P[Z < −m] = p₋·e^{-rate·m}; each side takes half of what is left."""
        tail, rate = half_miss(confidence), float(self.rate)
        p_up, p_down = self._halves()
        up = float_log(p_up / tail) / rate - 1
        down = float_log(p_down / tail) / rate if p_down > tail else 0.0
        return outward(down), outward(up)

    @property
    def variance(self) -> float:
        """From the moments of the two geometric halves."""
        p_up, p_down = self._halves()
        rate = float(self.rate)
        up = 1 / expm1(rate) if rate < 700 else 0.0  # the mean of P(z) ∝ e^{-rate·z} on z = 0, 1, 2, …
        spread, down = up * (up + 1), up + 1  # its variance; the lower half starts at −1
        mean = p_up * up - p_down * down
        return p_up * (spread + up * up) + p_down * (spread + down * down) - mean * mean

    @cached_property
    def mean_size(self) -> Fraction:
        """E|Z| = 2r/(1 − r²), a little rounded down."""
        r = exp(-self.rate)
        return (2 * r / (1 - r * r)).low

    def _halves(self) -> tuple[float, float]:
        """The probabilities of z ≥ 0 and of z < 0."""
        up = -1 / expm1(-float(self.rate))
        down = float_exp(-float(self.rate)) / -expm1(-float(self.rate))
        return up / (up + down), down / (up + down)


@lru_cache(maxsize=8192)
def _threshold(rate: Fraction, beta: Fraction) -> int:
    """⌈ln(1/(β(1 + e^{-rate})))/rate⌉, or 0 where that is negative. Equality cannot be: e^rate is transcendental."""
    return max(0, ceiling(lambda bits: -((1 + exp(-rate, bits)) * beta).log() / rate))


def argue(p: Argument, *, rule: Any = DiscreteLaplace.for_pure, moved: int = 1) -> None:
    """An integer that moves by at most s, or by a multiple of that, with the noise of a rule."""
    epsilon, s = p.positive("ε"), p.count("s", 1)
    rate, move = rule(epsilon, s).rate, p.steps("move", -moved * s, moved * s)
    p.promise(by.noise(p, move, rate, rate), epsilon)


PROOFS = (Proof("discrete Laplace noise", "mechanisms.laplace", "Pure(ε)", argue, "the integer moves by at most s"),)
