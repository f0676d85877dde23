"""Noise with a rate of its own on either side, and the sum of two such noises: exact tails, rounded the safe way.

`Lopsided(up, down)` has P[Z = z] ∝ e^{-up·z} for z ≥ 0 and e^{-down·|z|} for z < 0.

PROMISE  An integer that moves up by at most s when a person is added, released as f + Z, changes its log-probability by
something in [−down·s, up·s]; where it may move either way, it is Pure(max(up, down)·s).

PROOF  For y at or above both values the ratio is e^{up·m}, m ≤ s the move; at or below both it is e^{-down·m}; between
them it lies between these two.

ACCURACY  Z is X − Y for independent geometrics of rates up and down, so with r = e^{-up} and q = e^{-down}

    P[Z = z] = (1 − r)(1 − q)/(1 − rq)·e^{-…},   P[Z ≥ k] = (1 − q)/(1 − rq)·r^k for k ≥ 0,   Var Z = Var X + Var Y.

`LopsidedSum(first, second, factor)` is W = Z1 + G·Z2. Split Σ_k P[Z2 = k]·P[Z1 ≥ t − Gk] at K = ⌊t/G⌋: with k ≤ K the
tail of Z1 is a power of r1, beyond it is one minus a power of q1, and the law of Z2 is two geometric halves. So
P[W ≥ t] is a sum of five geometric series, each in closed form.

COST  One draw takes some 10 µs at any rates, a tail well under a millisecond.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp as float_exp
from math import expm1

from tacit.guarantees import Pure
from tacit.noises.base import IntegerNoise, upper_limit
from tacit.numbers.enclosures import BITS, Enclosure, exp
from tacit.numbers.exact import Number, between
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import largest
from tacit.randomness.discrete import asymmetric_laplace
from tacit.randomness.source import Randomness


@dataclass(frozen=True)
class Lopsided(IntegerNoise):
    """P[Z = z] ∝ e^{-up·z} for z ≥ 0 and e^{-down·|z|} for z < 0."""

    name = "lopsided"

    up: Fraction
    down: Fraction

    def guarantee(self, sensitivity: int = 1) -> Pure:
        """Pure(max(up, down)·sensitivity)."""
        return Pure(max(self.up, self.down) * sensitivity)

    def draw(self, source: Randomness) -> int:
        """By `asymmetric_laplace`."""
        return asymmetric_laplace(self.up, self.down, source=source)

    @property
    def mirrored(self) -> Lopsided:
        """The law of −Z."""
        return Lopsided(self.down, self.up)

    @property
    def lost(self) -> int:
        """How many bits 1 − r and 1 − q may lose."""
        return 8 + 2 * int(1 / min(self.up, self.down)).bit_length()

    def mass(self, z: int, bits: int = BITS) -> Enclosure:
        """P[Z = z]."""
        work = bits + self.lost
        r, q = exp(-self.up, work), exp(-self.down, work)
        height = (1 - r) * (1 - q) / (1 - exp(-self.up - self.down, work))
        return height * exp(-self.up * z if z >= 0 else self.down * z, work)

    def tail(self, z: int, bits: int = BITS, *, sharp: bool = False) -> Enclosure:
        """(1 − q)/(1 − rq)·r^z, and from the other side below 0."""
        if z < 0:
            return 1 - self.mirrored.tail(1 - z, bits)
        work = bits + self.lost
        share = (1 - exp(-self.down, work)) / (1 - exp(-self.up - self.down, work))
        return share * exp(-self.up * z, work)

    def reach(self, confidence: Number) -> tuple[int, int]:
        """The smallest for which each side certainly misses at most half of what is left."""
        beta = (1 - between(confidence, "confidence", 0, 1)) / 2
        return self.mirrored.limit(beta), self.limit(beta)

    @property
    def variance(self) -> float:
        """Var Z."""
        return sum(1 / (expm1(x) * -expm1(-x)) if x < 700 else float_exp(-x) for x in map(float, (self.up, self.down)))


@dataclass(frozen=True)
class LopsidedSum:
    """W = Z1 + factor·Z2 for independent noises."""

    first: Lopsided
    second: Lopsided
    factor: int

    @property
    def mirrored(self) -> LopsidedSum:
        """The law of −W."""
        return LopsidedSum(self.first.mirrored, self.second.mirrored, self.factor)

    def tail(self, t: int, bits: int = BITS) -> Enclosure:
        """P[W ≥ t], for t ≥ 0."""
        one, two, g = self.first, self.second, self.factor
        work = bits + one.lost + two.lost + g.bit_length()
        last = t // g  # the largest k with t − G·k ≥ 0
        height, head, foot, before = _constants(one, two, g, work)
        fallen = exp(-one.up * t, work)
        near = fallen * before
        middle = _series(one.up * g - two.up, 0, last, work) * fallen
        beyond = _series(-two.up, last + 1, None, work)
        # P[Z1 ≤ t − Gk − 1] = foot·e^{-down·(1 + Gk − t)} for k > K
        short = foot * exp(-one.down * (1 - t), work) * _series(-two.up - one.down * g, last + 1, None, work)
        return (height * (head * (near + middle) + beyond - short)).clamp(0, 1)

    def limit(self, beta: Fraction) -> int:
        """A k ≥ 0 with P[W > k] ≤ β, at most 1/256 of the factor above the smallest."""
        return upper_limit(self, beta, max(1, self.factor // 256))

    @property
    def variance(self) -> float:
        """Var W."""
        return self.first.variance + float(self.factor) ** 2 * self.second.variance


@lru_cache(maxsize=64)
def _constants(
    one: Lopsided, two: Lopsided, factor: int, bits: int
) -> tuple[Enclosure, Enclosure, Enclosure, Enclosure]:
    """P[Z2 = 0], P[Z1 ≥ 0], P[Z1 ≤ 0], and what lies before 0: Σ e^{-(down of Z2 + factor·up of Z1)·k} over k ≥ 1."""
    before = _series(-two.down - one.up * factor, 1, None, bits)
    return two.mass(0, bits), one.tail(0, bits), one.mirrored.tail(0, bits), before


def _series(rate: Fraction, start: int, last: int | None, bits: int) -> Enclosure:
    """Σ e^{rate·k} over k = start, …, last (None: without end, for a negative rate)."""
    if rate == 0 and last is not None:
        return Enclosure.of(last - start + 1, bits)
    if last is None:
        return exp(rate * start, bits) / (1 - exp(rate, bits))
    if rate > 0:  # from the largest term down
        return exp(rate * last, bits) * _series(-rate, 0, last - start, bits)
    return exp(rate * start, bits) * (1 - exp(rate * (last - start + 1), bits)) / (1 - exp(rate, bits))


def argue(p: Argument) -> None:
    """An integer that moves up by at most s when a person is added: the two rates are two prices."""
    up, down, s = p.positive("up"), p.positive("down"), p.count("s", 1)
    for name, low, high, price in (("added", 0, s, down), ("removed", -s, 0, up), ("either", -s, s, largest(up, down))):
        with p.case(name):
            p.promise(by.noise(p, p.steps("move", low, high), up, down), price * s)


PROOFS = (
    Proof("lopsided noise", "noises.Lopsided", "Pure(max(up, down)·s)", argue, "the integer moves up by at most s"),
)
