"""Capped sums: the cap found privately, the capped sum released with noise for that cap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.answers import show
from tacit.engines.requests import Bucket, Buckets
from tacit.mechanisms.scan_and_release import CAPS as TOTAL_CAPS
from tacit.mechanisms.scan_and_release import CappedTotal, scan_and_release
from tacit.spreads import Additive, Covers, Difference, Noise
from tacit.tables.costs import Allowance
from tacit.tables.room import Room
from tacit.tables.statistics.base import noisy
from tacit.tables.statistics.caps import cap_law, levels

SCAN_SHARE = Fraction(1, 4)
"""What the choice of the cap takes of ρ."""

CAPS = levels(2**120)
"""Caps on a person's total for Gaussian noise."""

CONFIDENCES = tuple(Fraction(n, 1000) for n in (500, 800, 900, 950, 980, 990, 999))
"""The confidences for which the number of persons above the cap is stated."""

Risks = tuple[tuple[Fraction, int], ...]
"""For each confidence, at most how many persons lie above the cap."""


@dataclass(frozen=True)
class Released:
    """A capped sum as released, in units."""

    value: int
    cap: int
    noise: Noise
    risks: Risks

    def minus(self, other: Released) -> Released:
        """The difference of two."""
        risks = tuple((level, a + b) for (level, a), (_, b) in zip(self.risks, other.risks, strict=True))
        return Released(self.value - other.value, max(self.cap, other.cap), Difference(self.noise, other.noise), risks)


@dataclass(frozen=True)
class Capper(ABC):
    """A way to release a capped sum for an allowance."""

    allowance: Allowance
    name = "capped sum"

    @staticmethod
    def of(allowance: Allowance) -> Capper:
        """The default for this kind of allowance."""
        return GaussianCapper(allowance) if allowance.concentrated else JointCapper(allowance)

    @property
    @abstractmethod
    def boundaries(self) -> tuple[int, ...]:
        """The public boundaries between which persons' totals are counted."""

    @abstractmethod
    def side(self, room: Room, buckets: Sequence[Bucket], part: str) -> Released:
        """The capped sum of the absolute totals of one sign."""

    def release(self, room: Room, buckets: Buckets, *, signed: bool, part: str = "") -> Released:
        """The capped sum; the two signs concern disjoint persons, so they cost as much as one."""
        if not signed:
            return self.side(room, buckets.positive, part)
        positive = self.side(room, buckets.positive, f"{part}+")
        negative = self.side(room, buckets.negative, f"{part}-")
        return positive.minus(negative)


@dataclass(frozen=True)
class GaussianCapper(Capper):
    """A choice of the cap, then noise for that cap."""

    name = "cap chosen by the exponential mechanism, then noise for that cap"

    @property
    def boundaries(self) -> tuple[int, ...]:
        """All caps."""
        return CAPS

    def side(self, room: Room, buckets: Sequence[Bucket], part: str) -> Released:
        """Σ min(s, λ) with noise."""
        counts = [bucket.count for bucket in buckets]
        law = cap_law(CAPS, counts, self.allowance.share(SCAN_SHARE))
        level = int(room.draw(law, part))
        below = sum(bucket.sum for bucket in buckets[: level + 1])
        above = sum(bucket.count for bucket in buckets[level + 1 :])
        cap = CAPS[level]
        release, noise = noisy(below + cap * above, self.allowance.share(1 - SCAN_SHARE), cap)
        return Released(room.draw(release, part), cap, noise, ())


@dataclass(frozen=True)
class JointCapper(Capper):
    """Scan and release: the cap, what lies within it and who lies above it, charged together."""

    name = "cap, sum within it and persons above it, charged together"

    @property
    def boundaries(self) -> tuple[int, ...]:
        """The mechanism's caps."""
        return TOTAL_CAPS

    def side(self, room: Room, buckets: Sequence[Bucket], part: str) -> Released:
        """The sum within the cap, each person above it counted as somewhat more than the cap."""
        counts, sums = [bucket.count for bucket in buckets], [bucket.sum for bucket in buckets]
        drawn = room.draw(scan_and_release(counts, sums, self.allowance.amount), part)
        risks = tuple((level, drawn.persons_above_cap(level)) for level in CONFIDENCES)
        return Released(drawn.value, drawn.counted, TotalNoise(drawn), risks)


@dataclass(frozen=True)
class TotalNoise:
    """How far the capped total may lie from what was released about it."""

    drawn: CappedTotal

    def tails(self, confidence: float) -> tuple[int, int]:
        """From the exact law of the noise."""
        return self.drawn.tails(confidence)

    @property
    def variance(self) -> float:
        """Of the noise."""
        return self.drawn.variance


@dataclass(frozen=True)
class CappedSum(Additive):
    """Noise around a capped sum, and how many persons may lie above the cap."""

    risks: Risks = ()
    covers: Covers = "capped value"

    def persons_above(self, confidence: Fraction) -> int | None:
        """From the released number of persons above the cap."""
        return next((count for level, count in self.risks if level >= confidence), None)

    def sentences(self, answer: Any) -> Iterator[str]:
        """The interval, the cap, and who may lie above it."""
        yield f"Noise interval, {answer.interval()}."
        count = self.persons_above(Fraction(95, 100))
        above = "" if count is None else f"; at most {count:,} persons exceed that (95 %)"
        yield f"No person counts for more than {show(answer.cap)}{above}."
