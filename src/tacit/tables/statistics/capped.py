"""Capped sums: the cap found privately, the capped sum released with noise for that cap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.answers.answer import show
from tacit.answers.spreads import Additive, Covers
from tacit.engines.requests import Bucket, Buckets
from tacit.mechanisms.totals.scan_and_release import CAPS as TOTAL_CAPS
from tacit.mechanisms.totals.scan_and_release import CappedTotal, SignedTotal, scan_and_release
from tacit.noises import Difference, Noise
from tacit.tables.releasing.costs import Allowance
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import noisy
from tacit.tables.statistics.caps import cap_law, levels

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
        return Released(room.draw(release, part), cap, noise)


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
        return Released(drawn.value, drawn.counted, TotalNoise(drawn))


@dataclass(frozen=True)
class TotalNoise:
    """How far the capped total may lie from what was released about it."""

    drawn: CappedTotal

    def reach(self, confidence: float) -> tuple[int, int]:
        """From the exact law of the noise."""
        return self.drawn.reach(confidence)

    @property
    def variance(self) -> float:
        """Of the noise."""
        return self.drawn.variance


SURE = Fraction(95, 100)
"""The confidence of what is said in words."""


@dataclass(frozen=True)
class CappedSum(Additive):
    """Noise around a capped sum, how many persons may lie above the cap, and what the truth is at least."""

    covers: Covers = "capped value"

    @property
    def drawn(self) -> CappedTotal | SignedTotal | None:
        """What `scan_and_release` released, where that made the sum."""
        match self.noise:
            case TotalNoise(drawn):
                return drawn
            case Difference(TotalNoise(positive), TotalNoise(negative)):
                return SignedTotal(positive, negative)
        return None

    def persons_above(self, confidence: Fraction) -> int | None:
        """From the released number of persons above the cap."""
        return None if self.drawn is None else self.drawn.persons_above_cap(confidence)

    def at_least(self, value: Any, confidence: Fraction) -> Any:
        """Where persons above a cap count as the cap, what is capped is never above the truth; None of both signs."""
        match self.drawn:
            case CappedTotal() as drawn:
                return self.unit.value(drawn.at_least(confidence))
            case SignedTotal():
                return None
        return None if isinstance(self.noise, Difference) else self.interval(value, confidence)[0]

    def sentences(self, answer: Any) -> Iterator[str]:
        """The interval, the cap, who may lie above it, and what that does to the value."""
        yield f"Noise interval, {answer.interval()}."
        match self.drawn:
            case CappedTotal() as drawn:
                yield self._counted(f"more than {self._shown(drawn.cap)}")
            case SignedTotal(positive, negative):
                yield self._counted(f"more than {self._shown(positive.cap)} or less than {self._shown(-negative.cap)}")
                most, least = self._shown(-negative.at_least(SURE)), self._shown(positive.at_least(SURE))
                yield f"Positive totals add up to at least {least} and negative ones to at most {most} (95 % each)."
            case None:
                yield f"No person counts for more than {show(answer.cap)}."
        least = answer.at_least()
        if least is not None:
            yield f"The truth is at least {show(least)} (95 %)."

    def _shown(self, units: int) -> str:
        return show(self.unit.value(units))

    def _counted(self, beyond: str) -> str:
        return (
            f"A person with {beyond} counts as twice that, which may be more than they have, so the value may lie "
            f"beyond the truth; there are at most {self.persons_above(SURE):,} of them (95 %)."
        )
