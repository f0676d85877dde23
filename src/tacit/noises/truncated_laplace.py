"""Discrete Laplace noise that never exceeds a bound R: P[Z = z] ∝ e^{-rate·|z|} on {−R, …, R}.

PROMISE  An integer of sensitivity s, released as f + Z, is Approx(rate·s, δ) if P[Z > R − s] ≤ δ; `for_approx` takes
rate = ε/s and the least such R.

PROOF  Where both f + Z and f' + Z have mass the ratio is at most e^{rate·s}, and outputs that only one of them can make
have probability at most P[Z > R − s]. With r = e^{-rate} that is r^{R+1}(e^ε − 1)/(1 + r − 2r^{R+1}), so the least R
has R + 1 = ⌈(s/ε)·ln((e^ε − 1 + 2δ)/(δ(1 + r)))⌉.

ACCURACY  |Z| ≤ R always, and P[a ≤ Z ≤ b] = (r^a − r^{b+1})/(1 + r − 2r^{R+1}) for 0 ≤ a ≤ b ≤ R. Truncation only
shortens the tails and only lowers the variance of the discrete Laplace law.

COST  One draw takes some 10 µs at any rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp as float_exp
from math import expm1, inf
from math import log as float_log

from tacit.errors import InvalidInput
from tacit.guarantees import Approx
from tacit.guarantees.rounding import shortened
from tacit.noises.base import IntegerNoise
from tacit.noises.discrete_laplace import DiscreteLaplace
from tacit.numbers.enclosures import BITS, Enclosure, ceiling, decay, exp
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import either
from tacit.randomness.discrete import truncated_laplace
from tacit.randomness.source import Randomness
from tacit.randomness.vectors import discrete_laplaces


@dataclass(frozen=True)
class TruncatedLaplace(IntegerNoise):
    """P[Z = z] ∝ e^{-rate·|z|} on {−bound, …, bound}."""

    name = "truncated discrete Laplace"

    rate: Fraction
    bound: int

    @classmethod
    def for_approx(cls, epsilon: Fraction, delta: Fraction, sensitivity: int = 1) -> TruncatedLaplace:
        """The noise that makes an integer of this sensitivity Approx(ε, δ), with the least bound."""
        return cls(epsilon / sensitivity, least_bound(epsilon, delta, sensitivity))

    def named(self) -> dict[str, str]:
        """As certificates name it."""
        return {"noise": "truncated Laplace", "rate": str(self.rate), "bound": str(self.bound)}

    def guarantee(self, sensitivity: int = 1) -> Approx:
        """Approx(rate·sensitivity, P[Z > bound − sensitivity]), δ rounded up."""
        lost = shortened(self.tail(self.bound - sensitivity + 1, 64).high, up=True)
        if lost >= 1:
            raise InvalidInput("noise within this bound protects nobody at this sensitivity; take a larger bound.")
        return Approx(self.rate * sensitivity, lost)

    def draw(self, source: Randomness) -> int:
        """By `truncated_laplace`."""
        return truncated_laplace(self.rate, self.bound, source=source)

    def _many(self, size: int, source: Randomness) -> list[int]:
        if self.rate * self.bound < 1:  # most untruncated draws would be too large
            return super()._many(size, source)
        drawn: list[int] = []
        while len(drawn) < size:
            whole = discrete_laplaces(self.rate, size - len(drawn), source=source).tolist()
            drawn += [z for z in whole if -self.bound <= z <= self.bound]
        return drawn

    def mass(self, z: int, bits: int = BITS) -> Enclosure:
        """r^{|z|}·(1 − r)/(1 + r − 2r^{R+1}) up to the bound."""
        return self._between(abs(z), min(abs(z), self.bound), bits)

    def tail(self, z: int, bits: int = BITS, *, sharp: bool = False) -> Enclosure:
        """From z to the bound, and by symmetry below 0."""
        return 1 - self.tail(1 - z, bits) if z < 0 else self._between(z, self.bound, bits)

    def _between(self, first: int, last: int, bits: int) -> Enclosure:
        """P[first ≤ Z ≤ last], for first ≥ 0: (r^first − r^{last+1})/(1 + r − 2r^{R+1})."""
        if first > last:
            return Enclosure.of(0, bits)
        work = bits + 8 + int(1 / self.rate).bit_length()
        part = decay(self.rate * first, work) * (1 - decay(self.rate * (last - first + 1), work))
        whole = 1 + decay(self.rate, work) - 2 * decay(self.rate * (self.bound + 1), work)
        return part / whole

    def reach(self, confidence: float) -> tuple[int, int]:
        """At most that of the noise without the bound, and at most the bound."""
        down, up = DiscreteLaplace(self.rate).reach(confidence)
        return min(down, self.bound), min(up, self.bound)

    def log_at_least(self, z: int) -> float:
        """ln Σ_{k ≥ z} e^{−rate·|k|} up to the bound: ln P[Z ≥ z] up to a constant."""
        if z > self.bound:
            return -inf
        rate, left = float(self.rate), float_log(-expm1(-float(self.rate)))
        upper = float_log(-expm1(-rate * (self.bound + 1 - max(z, 0)))) - rate * max(z, 0) - left
        below = min(-z, self.bound)  # how many of −1, −2, … are in
        return upper if below <= 0 else float_log(float_exp(upper) + float_exp(-rate - left) * -expm1(-rate * below))

    @property
    def variance(self) -> float:
        """At most that of the noise without the bound."""
        return min(DiscreteLaplace(self.rate).variance, float(self.bound) ** 2)


def least_bound(epsilon: Fraction, delta: Fraction, sensitivity: int) -> int:
    """The smallest R ≥ sensitivity with P[Z > R − sensitivity] ≤ δ for discrete Laplace noise truncated at R."""
    rate = epsilon / sensitivity

    def real(bits: int) -> Enclosure:  # an integer would make e^{ε/s} algebraic
        top = exp(epsilon, bits) - 1 + 2 * delta
        return (top / ((1 + exp(-rate, bits)) * delta)).log() / rate

    return max(ceiling(real) - 1, sensitivity)


def argue(p: Argument, *, bounded: int = 1, short: int = 0) -> None:
    """An integer that moves by at most s; R is ``short`` steps less than `least_bound` for a move by s·bounded says."""
    epsilon, delta, s = p.positive("ε"), p.positive("δ"), p.count("s", 1)
    least = p.count("least R", 1)  # P[Z > least R − s] ≤ δ
    p.assume(least >= s)
    move, rate, bound = p.steps("move", -s, s), epsilon / s, least - short
    z = p.steps("Z", -bound, bound)
    beyond = abs(z - move) > bound  # what the neighbour cannot release
    lost = by.event(p, beyond, either(move >= 0, -z, z), least - (s if bounded else 1) + 1, delta)
    p.promise(by.noise(p, move, rate, rate), epsilon)
    p.promise(lost, delta)


PROOFS = (
    Proof(
        "truncated discrete Laplace noise",
        "mechanisms.truncated_laplace",
        "Approx(ε, δ)",
        argue,
        "the integer moves by at most s; P[Z > R − s] ≤ δ by the choice of R (`least_bound`), Z being symmetric",
    ),
)
