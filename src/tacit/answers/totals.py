"""What was released about a sum with a privately chosen cap: the cap, what lies within it and how many lie above it.

`tacit.mechanisms.totals.scan_and_release` draws these and proves that the rates of a `TotalDesign` keep its promise.
Everything they say follows from what was released and from public facts, so it holds whatever the data and for every
cap.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt, sqrt

from tacit.noises import Lopsided, LopsidedSum
from tacit.numbers.exact import Number, between

STATED = Fraction(10**4)
"""Tails are computed for ε up to this; beyond, noise is next to none and its exact tails would fill the memory."""


class Total(ABC):
    """What was released about a total, and the noise in it: with the public design it states its own error."""

    @abstractmethod
    def reach(self, confidence: Number = "0.95") -> tuple[int, int]:
        """Integers (down, up) ≥ 0: the capped total lies in [value − up, value + down] with this confidence."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of the noise."""

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise."""
        return sqrt(self.variance)


@dataclass(frozen=True)
class Charges:
    """The rates of the noises as shares of ε; those of `within` are divided by the cap."""

    within_up: Fraction
    within_down: Fraction
    above_up: Fraction
    above_down: Fraction


@dataclass(frozen=True)
class Scan:
    """The rates of a scan as shares of ε, its threshold in persons times ε, and which caps it visits."""

    threshold: Fraction
    each: Fraction
    offset: Fraction
    stride: int


@dataclass(frozen=True)
class TotalDesign:
    """The public parameters, as shares of ε, or in persons times ε.

    Those of a `CappedTotal` that was stored without one: `DESIGN` is what totals are released with now.
    """

    test: Fraction = Fraction(1, 50)
    """η, the rate of the test for many persons."""
    size: Fraction = Fraction(600)
    """B·ε."""
    choice: Fraction = Fraction(1, 4)
    """κ, the rate of the choice among caps for many persons."""
    power: int = 8
    """Twice p, the power of the cap by which its weight falls."""
    threshold: Fraction = Fraction(3, 10)
    """ε1, the rate of the scan's threshold for few persons."""
    each: Fraction = Fraction(3, 20)
    """ε2, the rate of each of its comparisons."""
    offset: Fraction = Fraction(10)
    """c·ε."""
    counted: Fraction = Fraction(2)
    """What a person above the cap counts as, in caps."""
    allowed: Fraction = Fraction(3, 2)
    """How many persons above the cap, times ε, are put down to noise."""
    doubted: Fraction = Fraction(2)
    """How many more of one, times ε; of n persons one n-th of that."""
    stride: int = 1
    """The scan visits each so-manieth cap."""
    handful: Fraction = Fraction(0)
    """A·ε: fewer persons are a handful, for whom a scan of its own looks; 0 for never."""
    handful_threshold: Fraction = Fraction(0)
    handful_each: Fraction = Fraction(0)
    handful_offset: Fraction = Fraction(0)
    handful_stride: int = 1
    beyond: int = 0
    """How many caps further up the list the limit lies, above which persons are counted."""
    lifted: Fraction = Fraction(0)
    """What is added for those between cap and limit, in caps times ε."""
    scanned_lifted: Fraction = Fraction(0)
    """The same where a scan found the cap, which then lies lower."""
    scanned_doubted: Fraction = Fraction(2)
    """As `doubted`, where a scan found the cap."""

    def scan(self, handful: bool) -> Scan:
        """How the cap is found where persons are not many."""
        if handful:
            return Scan(self.handful_threshold, self.handful_each, self.handful_offset, self.handful_stride)
        return Scan(self.threshold, self.each, self.offset, self.stride)

    def charges(self, many: bool, handful: bool = False) -> Charges:
        """What is left of ε for the noises."""
        if many:
            down = 1 - self.choice
            return Charges(down - self.test, down if self.beyond else Fraction(1), 1 - self.test, down)
        scan, joining = self.scan(handful), self.test if self.handful and not handful else Fraction(0)
        down = 1 - scan.each - self.test
        return Charges(
            1 - scan.threshold - scan.each - joining,
            down if self.beyond else 1 - self.test,
            1 - scan.threshold - joining,
            down,
        )

    def noises(self, many: bool, cap: int, epsilon: Fraction, handful: bool = False) -> tuple[Lopsided, Lopsided]:
        """The noise of what lies within the limit, and that of the number of persons above it."""
        charges, scale = self.charges(many, handful), epsilon / cap
        return (
            Lopsided(charges.within_up * scale, charges.within_down * scale),
            Lopsided(charges.above_up * epsilon, charges.above_down * epsilon),
        )

    def weights(self, caps: tuple[int, ...]) -> tuple[int, ...]:
        """⌊2^k·C^-p⌋ for each cap of an ascending list, with k so large that all of them have 64 bits."""
        return _weights(self.power, caps)


@lru_cache(maxsize=16)
def _weights(power: int, caps: tuple[int, ...]) -> tuple[int, ...]:
    bits: int = 64 + power * caps[-1].bit_length() // 2
    return tuple((1 << bits) // isqrt(cap**power) for cap in caps)


DESIGN = TotalDesign(
    choice=Fraction(1, 5),
    power=11,
    threshold=Fraction(7, 25),
    each=Fraction(4, 25),
    offset=Fraction(15),
    counted=Fraction(12, 5),
    allowed=Fraction(3, 4),
    doubted=Fraction(5, 4),
    stride=2,
    handful=Fraction(70),
    handful_threshold=Fraction(9, 20),
    handful_each=Fraction(3, 10),
    handful_offset=Fraction(10),
    handful_stride=3,
    beyond=1,
    lifted=Fraction(1, 4),
    scanned_lifted=Fraction(1, 2),
    scanned_doubted=Fraction(1),
)


@dataclass(frozen=True)
class CappedTotal(Total):
    """What was released about a sum of positive totals; everything it says follows from that and public facts."""

    cap: int
    within: int
    """The sum of all totals up to the limit, each counted as at most the cap, with noise."""
    above: int
    """The number of persons above the limit, with noise."""
    many: bool
    """How the cap was chosen."""
    epsilon: Fraction
    design: TotalDesign = TotalDesign()
    beyond: int | None = None
    """The limit; None where it is the cap."""
    handful: bool = False
    """Whether a handful's scan chose the cap."""

    @property
    def wanted(self) -> int | None:
        """How many persons this cost would need, where they seem to be fewer."""
        return ceil(self.design.handful / self.epsilon) if self.handful else None

    @property
    def limit(self) -> int:
        """Persons above it are counted apart."""
        return self.cap if self.beyond is None else self.beyond

    @property
    def value(self) -> int:
        """The total, persons above the limit counted as `counted` each as far as they stand out of the noise."""
        design = self.design
        lifted, doubted = (
            (design.lifted, design.doubted) if self.many else (design.scanned_lifted, design.scanned_doubted)
        )
        within = self.within + int(lifted * self.cap / self.epsilon)
        if self.above <= 0:
            return within
        noise = design.allowed + doubted / (self.above * self.epsilon)
        return within + int(self.counted * max(Fraction(0), self.above - noise / self.epsilon))

    @property
    def counted(self) -> int:
        """What one person above the limit counts as."""
        return int(self.design.counted * self.cap)

    @property
    def noise(self) -> LopsidedSum:
        """The noise of within + counted·above."""
        within, above = self.noises
        return LopsidedSum(within, above, self.counted)

    @property
    def noises(self) -> tuple[Lopsided, Lopsided]:
        """Those of `within` and `above` as stated: of an ε above `STATED` as if it were that, which is more noise."""
        return self.design.noises(self.many, self.cap, min(self.epsilon, STATED), self.handful)

    def reach(self, confidence: Number = "0.95") -> tuple[int, int]:
        """Integers (down, up), not negative: with this confidence the capped total lies in [value − up, value + down].

        The capped total is the sum with every person counted as at most the cap, or above the limit as `counted`.
        """
        beta = (1 - between(confidence, "confidence", 0, 1)) / 2
        shift = self.within + self.counted * self.above - self.value  # the noise is around within + counted·above
        up, down = self.noise.limit(beta), self.noise.mirrored.limit(beta)
        return max(0, down + shift), max(0, up - shift)

    def persons_above_cap(self, confidence: Number = "0.95") -> int:
        """With this confidence no more persons than this have a total above the limit, whatever the data.

        `counted` is no less than the limit, so no more are above what one of them counts as. Those between cap and
        limit are cut to the cap as well; their number is not released.
        """
        beta = 1 - between(confidence, "confidence", 0, 1)
        _, noise = self.noises
        return max(0, self.above + noise.mirrored.limit(beta))

    def fewest_above_cap(self, confidence: Number = "0.95") -> int:
        """With this confidence no fewer persons than this have a total above the limit; 0 where noise hides them."""
        beta = 1 - between(confidence, "confidence", 0, 1)
        _, noise = self.noises
        return max(0, self.above - noise.limit(beta))

    def at_least(self, confidence: Number = "0.95") -> int:
        """The sum of all totals is at least this, with this confidence, whatever the data."""
        beta = 1 - between(confidence, "confidence", 0, 1)
        return max(0, self.within + self.limit * self.above - LopsidedSum(*self.noises, self.limit).limit(beta))

    def at_most(self, confidence: Number = "0.95") -> int | None:
        """The sum of all totals is at most this, with this confidence; None unless surely nobody is above the limit.

        With S = Σ_{s≤L} min(s, C) it is at most S·L/C then, for s ≤ min(s, C)·L/C up to the limit. Half of what the
        confidence leaves is for a person above the limit, half for S, which is within − Z'.
        """
        each = (1 + between(confidence, "confidence", 0, 1)) / 2
        if self.persons_above_cap(each):
            return None
        noise, _ = self.noises
        return max(0, self.within + noise.mirrored.limit(1 - each)) * self.limit // self.cap

    def truth(self, confidence: Number = "0.95") -> tuple[int, int] | None:
        """With this confidence the sum of all totals lies between these; None where nothing bounds it above."""
        each = (1 + between(confidence, "confidence", 0, 1)) / 2
        most = self.at_most(each)
        return None if most is None else (self.at_least(each), most)

    @property
    def variance(self) -> float:
        """The variance of the noise of within + counted·above, which that of `value` does not exceed by much."""
        return self.noise.variance


@dataclass(frozen=True)
class SignedTotal(Total):
    """A sum of totals of either sign: the released positive part less the released negative part."""

    positive: CappedTotal
    negative: CappedTotal

    @property
    def value(self) -> int:
        """The difference of the two values."""
        return self.positive.value - self.negative.value

    @property
    def wanted(self) -> int | None:
        """As of a `CappedTotal`, where both parts seem to have fewer."""
        return self.positive.wanted and self.negative.wanted

    @property
    def cap(self) -> int:
        """No person counts for more than this in either direction without being above a cap."""
        return max(self.positive.cap, self.negative.cap)

    def reach(self, confidence: Number = "0.95") -> tuple[int, int]:
        """As those of a `CappedTotal`: each part gets half of what the confidence leaves."""
        each = (1 + between(confidence, "confidence", 0, 1)) / 2
        (down, up), (other_down, other_up) = self.positive.reach(each), self.negative.reach(each)
        return down + other_up, up + other_down

    def persons_above_cap(self, confidence: Number = "0.95") -> int:
        """As of a `CappedTotal`, each person against the cap of their part, from the exact law of both noises' sum.

        Two bounds of 95 % each, added, would hold with 90 %.
        """
        beta = 1 - between(confidence, "confidence", 0, 1)
        (_, noise), (_, other) = self.positive.noises, self.negative.noises
        missed = LopsidedSum(noise.mirrored, other.mirrored, 1).limit(beta)
        return max(0, self.positive.above + self.negative.above + missed)

    def fewest_above_cap(self, confidence: Number = "0.95") -> int:
        """As of a `CappedTotal`: what both noises' sum leaves of the released numbers."""
        beta = 1 - between(confidence, "confidence", 0, 1)
        (_, noise), (_, other) = self.positive.noises, self.negative.noises
        return max(0, self.positive.above + self.negative.above - LopsidedSum(noise, other, 1).limit(beta))

    def truth(self, confidence: Number = "0.95") -> tuple[int, int] | None:
        """With this confidence the sum lies between these; None where one of the two parts is not bounded above."""
        each = (1 + between(confidence, "confidence", 0, 1)) / 2
        one = self.positive.truth(each)
        other = None if one is None else self.negative.truth(each)
        return None if one is None or other is None else (one[0] - other[1], one[1] - other[0])

    @property
    def variance(self) -> float:
        """The sum of the two."""
        return self.positive.variance + self.negative.variance
