"""Capped sums: the cap chosen privately, the capped sum released with noise for that cap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.engines.requests import Bucket, Buckets
from tacit.mechanisms.totals.scan_and_release import CAPS as TOTAL_CAPS
from tacit.mechanisms.totals.scan_and_release import scan_and_release
from tacit.noises import Difference, Noise
from tacit.tables.releasing.costs import Allowance
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import noisy
from tacit.tables.statistics.ways.caps import cap_law, levels

SCAN_SHARE = Fraction(1, 4)
"""What the choice of the cap takes of ρ."""

CAPS = levels(2**120)
"""Caps on a person's total for Gaussian noise."""


@dataclass(frozen=True)
class Released:
    """A capped sum as released, in units."""

    value: int
    cap: int
    noise: Noise

    def minus(self, other: Released) -> Released:
        """The difference of two."""
        return Released(self.value - other.value, max(self.cap, other.cap), Difference(self.noise, other.noise))


@dataclass(frozen=True)
class Capper(ABC):
    """A way to release a capped sum for an allowance."""

    allowance: Allowance
    name: ClassVar[str]
    boundaries: ClassVar[tuple[int, ...]]
    """The public boundaries between which persons' totals are counted."""

    @staticmethod
    def of(allowance: Allowance) -> Capper:
        """The default for this kind of allowance."""
        return GaussianCapper(allowance) if allowance.concentrated else JointCapper(allowance)

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
    boundaries = CAPS

    def side(self, room: Room, buckets: Sequence[Bucket], part: str) -> Released:
        """Σ min(s, λ) with noise."""
        counts = [bucket.count for bucket in buckets]
        law = cap_law(CAPS, counts, self.allowance.share(SCAN_SHARE))
        level = int(room.draw(law, part))
        below = sum(bucket.sum for bucket in buckets[: level + 1])
        above = sum(bucket.count for bucket in buckets[level + 1 :])
        cap = CAPS[level]
        release, noise = noisy(below + cap * above, self.allowance.share(1 - SCAN_SHARE), cap)
        return Released(room.draw(release, part), cap, noise)


@dataclass(frozen=True)
class JointCapper(Capper):
    """Scan and release: the cap, what lies within it and who lies above it, charged together."""

    name = "cap, sum within it and persons above it, charged together"
    boundaries = TOTAL_CAPS

    def side(self, room: Room, buckets: Sequence[Bucket], part: str) -> Released:
        """The sum within the cap, each person above it counted as somewhat more than the cap."""
        counts, sums = [bucket.count for bucket in buckets], [bucket.sum for bucket in buckets]
        drawn = room.draw(scan_and_release(counts, sums, self.allowance.amount), part)
        return Released(drawn.value, drawn.counted, drawn)
