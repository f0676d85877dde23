"""Staircase noise: P[Z = z] falls by e^{-ε} in steps as wide as the sensitivity, P[Z = z] ∝ e^{-ε·⌈(|z| − r + 1)/s⌉}.

PROMISE  An integer of sensitivity s, released as f + Z, is Pure(ε), whatever the width r of the first step, 1 ≤ r ≤ s.

PROOF  Let k(z) = 0 for |z| < r and ⌊(|z| − r)/s⌋ + 1 else: the number of steps down to z. If |z − z'| ≤ s then (|z| −
r)/s moves by at most 1, and so does k, being 1 plus its floor, cut off at 0. So P[f + Z = y]/P[f' + Z = y] =
e^{ε(k(y − f') − k(y − f))} ≤ e^ε.

ACCURACY  With r = ⌊s/(1 + e^{ε/2})⌋ the mean size, about s·e^{ε/2}/(e^ε − 1), is the least that any noise of Pure(ε)
has (Geng and Viswanath): 0.43·s at ε = 2 where Laplace noise has 0.5·s, and 0.14·s against 0.25·s at ε = 4. Little is
gained below ε = 1, and nothing where s is 1: there it is discrete Laplace noise.

COST  Two draws of small numbers, half of which are drawn again at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp as float_exp

from tacit.guarantees import Pure
from tacit.noises.base import IntegerNoise, first_where, half_miss
from tacit.numbers.enclosures import BITS, Enclosure, decay, exp
from tacit.proofs import Argument, Proof
from tacit.randomness.basic import _below
from tacit.randomness.discrete import geometric
from tacit.randomness.source import Randomness


@dataclass(frozen=True)
class Staircase(IntegerNoise):
    """Steps of ``sensitivity`` integers, each e^{-ε} times as likely as the one before."""

    name = "staircase"

    epsilon: Fraction
    sensitivity: int
    width: int
    """r: the integers from 0 on that the highest step holds."""

    @classmethod
    def for_pure(cls, epsilon: Fraction, sensitivity: int = 1) -> Staircase:
        """The noise that makes an integer of this sensitivity Pure(ε), with the least mean size."""
        best = sensitivity / (1 + exp(epsilon / 2, 64).high)
        return cls(epsilon, sensitivity, max(1, best.numerator // best.denominator))

    def guarantee(self, sensitivity: int = 1) -> Pure:
        """Pure(ε) for every whole or begun step."""
        return Pure(self.epsilon * -(-sensitivity // self.sensitivity))

    def draw(self, source: Randomness) -> int:
        """A step, and one of 2s places; the highest step has 2r − 1 of them, others are drawn again."""
        while True:
            step, place = int(geometric(self.epsilon, source=source)), _below(2 * self.sensitivity, source)
            if step:
                size = self.width + (step - 1) * self.sensitivity + place % self.sensitivity
                return size if place < self.sensitivity else -size
            if place < 2 * self.width - 1:
                return place - self.width + 1

    def steps(self, z: int) -> int:
        """k(z)."""
        return 0 if abs(z) < self.width else (abs(z) - self.width) // self.sensitivity + 1

    def _rest(self, bits: int) -> Enclosure:
        """Σ_{k ≥ 1} e^{-εk}."""
        return decay(self.epsilon, bits) / (1 - decay(self.epsilon, bits))

    def _whole(self, bits: int) -> Enclosure:
        return 2 * self.width - 1 + self._rest(bits) * (2 * self.sensitivity)

    def _work(self, bits: int) -> int:
        return bits + 8 + int(1 / self.epsilon).bit_length()

    def mass(self, z: int, bits: int = BITS) -> Enclosure:
        """e^{-εk(z)} over the sum of all."""
        work = self._work(bits)
        return decay(self.epsilon * self.steps(z), work) / self._whole(work)

    def tail(self, z: int, bits: int = BITS, *, sharp: bool = False) -> Enclosure:
        """What is left of the step of z, and all steps below it; by symmetry up to 0."""
        if z <= 0:
            return 1 - self.tail(1 - z, bits)
        work, s = self._work(bits), self.sensitivity
        if z < self.width:
            return (self.width - z + self._rest(work) * s) / self._whole(work)
        left = s - (z - self.width) % s
        return decay(self.epsilon * self.steps(z), work) * (left + self._rest(work) * s) / self._whole(work)

    def reach(self, confidence: float) -> tuple[int, int]:
        """The same on both sides, from the exact tails."""
        miss = Fraction(half_miss(confidence))
        far = first_where(lambda k: self.tail(k + 1, 64).high <= miss)
        return far, far

    @cached_property
    def variance(self) -> float:
        """Σ z²·P[Z = z], step by step in closed form."""
        q, s, r = float_exp(-float(self.epsilon)), float(self.sensitivity), float(self.width)
        zeroth, first, second = q / (1 - q), q / (1 - q) ** 2, q * (1 + q) / (1 - q) ** 3  # Σ q^k, Σ k·q^k, Σ k²·q^k
        # Step k ≥ 1 begins at a = r − s + k·s: Σ_{j<s} (a + j)² = s·a² + a·s(s − 1) + (s − 1)s(2s − 1)/6.
        base = r - s
        square = base * base * zeroth + 2 * base * s * first + s * s * second
        line = base * zeroth + s * first
        lower = s * square + s * (s - 1) * line + (s - 1) * s * (2 * s - 1) / 6 * zeroth
        upper = (r - 1) * r * (2 * r - 1) / 6
        return 2 * (lower + upper) / (2 * r - 1 + 2 * s * zeroth)


def argue(p: Argument, *, steep: int = 1) -> None:
    """k moves by at most 1 where z moves by at most s: in units of s, ``steep`` times as fast."""
    epsilon = p.positive("ε")
    here, there = p.real("(|z| − r)/s"), p.real("(|z'| − r)/s")
    p.assume(here - there <= 1, there - here <= 1)
    first, second = p.whole("⌊·⌋"), p.whole("⌊·⌋'")
    for floor, value in ((first, here), (second, there)):
        p.assume(floor <= steep * value, steep * value < floor + 1)
    down = second - first  # cut off at 0 both move less
    p.derive(down <= 1)
    p.promise(epsilon * down, epsilon)


PROOFS = (Proof("staircase noise", "mechanisms.ratio", "Pure(ε)", argue, "the integer moves by at most s"),)
