"""Discrete Gaussian noise: P[Z = z] ∝ e^{-z²/(2v)}, v the squared scale.

PROMISE  An integer of sensitivity s, released as f + Z, is Zcdp(s²/(2v)); `for_zcdp` takes v = s²/(2ρ).

PROOF  Completing the square, the moment of order α of the ratio is e^{α(α−1)(f−f')²/(2v)} times a sum of
e^{-(z−m)²/(2v)} with a real centre m over the same sum with centre 0. By Poisson's formula that sum is
Σ_k c_k·cos(2πkm) with c_k > 0, largest at m = 0. So D_α ≤ α(f − f')²/(2v) ≤ αρ. The same formula gives Var Z ≤ v.

ACCURACY  Tails are sums of `gaussian_sums`, and at most a normal variable's of the same scale (`reach`).

COST  One draw takes some 20 µs at any scale, one of a thousand or more some 0.3 µs. Tails keep all their bits up to
v = 4096, and up to 2^20 where they must be sharp, at the price of summing 16√v terms: a probability along a path of
comparisons needs all its bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import Any, cast

from tacit.guarantees import Zcdp
from tacit.noises.base import IntegerNoise, half_miss, outward
from tacit.numbers.enclosures import BITS, Enclosure, decay
from tacit.numbers.gaussian_sums import SUMMED, tail_sum, whole_sum
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.randomness.discrete import discrete_gaussian
from tacit.randomness.source import Randomness
from tacit.randomness.vectors import discrete_gaussians

SHARP = 2**20
"""Sharp tails keep all their bits up to this squared scale."""


@dataclass(frozen=True)
class DiscreteGaussian(IntegerNoise):
    """P[Z = z] ∝ e^{-z²/(2·scale²)} on the integers, ``squared_scale`` = scale²."""

    name = "discrete Gaussian"

    squared_scale: Fraction

    @classmethod
    def for_zcdp(cls, rho: Fraction, sensitivity: int = 1) -> DiscreteGaussian:
        """The noise that makes an integer of this sensitivity Zcdp(ρ)."""
        return cls(sensitivity**2 / (2 * rho))

    def named(self) -> dict[str, str]:
        """As certificates name it."""
        return {"noise": "discrete Gaussian", "variance": str(self.squared_scale)}

    def guarantee(self, sensitivity: int = 1) -> Zcdp:
        """Zcdp(sensitivity²/(2·squared_scale))."""
        return Zcdp(self.concentrated_loss(sensitivity))

    def concentrated_loss(self, shift: int) -> Fraction:
        """shift²/(2·squared_scale)."""
        return shift**2 / (2 * self.squared_scale)

    def draw(self, source: Randomness) -> int:
        """By `discrete_gaussian`."""
        return discrete_gaussian(self.squared_scale, source=source)

    def _many(self, size: int, source: Randomness) -> list[int]:
        return cast("list[int]", discrete_gaussians(self.squared_scale, size, source=source).tolist())

    def mass(self, z: int, bits: int = BITS) -> Enclosure:
        """e^{-z²/(2v)} over the sum of all."""
        return decay(z * z / (2 * self.squared_scale), bits) / whole_sum(self.squared_scale, bits)

    def tail(self, z: int, bits: int = BITS, *, sharp: bool = False) -> Enclosure:
        """The sum from z on over the sum of all, and by symmetry up to 0."""
        if z <= 0:
            return 1 - self.tail(1 - z, bits, sharp=sharp)
        part = tail_sum(self.squared_scale, z, bits, SHARP if sharp else SUMMED)
        return part / whole_sum(self.squared_scale, bits)

    def reach(self, confidence: float) -> tuple[int, int]:
        """P[Z > m] ≤ P[N ≥ m] for the normal N of the same scale."""
        m = outward(-NormalDist().inv_cdf(half_miss(confidence)) * sqrt(self.squared_scale))
        return m, m

    def _near(self, beta: Fraction) -> int:
        confidence = float(1 - 2 * beta)
        return self.reach(confidence)[1] if 0 < confidence < 1 - 2**-50 else 0

    @property
    def variance(self) -> float:
        """At most the normal's, which this is."""
        return float(self.squared_scale)


def argue(p: Argument, *, rule: Any = DiscreteGaussian.for_zcdp) -> None:
    """An integer that moves by at most s, with the noise of a rule."""
    rho, s = p.positive("ρ"), p.count("s", 1)
    move = p.steps("move", -s, s)
    p.promise(by.gaussian(p, move, rule(rho, s).squared_scale), rho)


PROOFS = (Proof("discrete Gaussian noise", "mechanisms.gaussian", "Zcdp(ρ)", argue, "the integer moves by at most s"),)
