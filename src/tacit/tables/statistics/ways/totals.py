"""Totals of persons, added up without bounds: what counts and sums share.

With ``epsilon=`` the default is `tacit.mechanisms.totals.scan_and_release`, charged jointly. With Gaussian noise a cap
λ is chosen first, and Σ_u min(s_u, λ), which one person moves by at most λ, gets noise of variance λ²/(2ρ). A person's
total is either positive or negative, so the two parts of a signed sum concern disjoint persons and are released side by
side for the cost of one.

TOGETHER  With Gaussian noise nothing worth having is gained by charging cap and value together. A person of total s
shifts the value by λ at every cap below s and at s itself, so where two such caps are chosen evenly the noise loses all
of its ρ and the choice all of its κ²/8 at once, to first order. What is left is that higher caps, which the prior never
rules out, shift it by less. Over the worst data, all orders and ρ from 0.001 to 0.5 both lose 0.96 to 0.97 of the
sum of what they lose apart (tests/tables/releasing/test_allowance.py has the exact curve): a joint charge would make
noise smaller by a fiftieth at most, so there is none. What the choice costs by its own curve is little: a quarter of ρ
buys κ = √(2ρ), twice what it bought as a pure step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.answers import Answer
from tacit.answers.capped import CappedSum
from tacit.answers.totals import DESIGN, TotalDesign
from tacit.engines import requests
from tacit.engines.requests import Bucket, Buckets, Deviation, PersonMean, RowCount, TotalBuckets, Value
from tacit.engines.requests.beside import OfPerson
from tacit.errors import UnsupportedQuery
from tacit.mechanisms.choose.priors import Decaying
from tacit.mechanisms.totals.scan_and_release import CAPS as TOTAL_CAPS
from tacit.mechanisms.totals.scan_and_release import scan_and_release
from tacit.noises import Difference, Noise
from tacit.numbers.exact import WHOLE, Unit
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.base import SHARED_ROWS, Per, Statistic, check_method, noisy
from tacit.tables.statistics.ways.caps import cap_law, levels
from tacit.tables.statistics.ways.fallen import of_persons

SCAN_SHARE = Fraction(1, 4)
"""What the choice of the cap takes of ρ."""

CAPS = levels(2**120)
"""Caps on a person's total for Gaussian noise."""

FALL = Decaying(width=1, ratio=Fraction(1, 4))
"""How the weight of a cap falls, as λ^−3.4: steeper than for ε, because the choice is twice as sure. Over four shapes,
200 to 20,000 persons and ρ from 0.02 to 0.5 the median error is 0.79 times that with a pure choice and λ^−2.3."""


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
    design: TotalDesign = DESIGN
    """How totals are capped, where that is charged jointly."""
    name: ClassVar[str]
    boundaries: ClassVar[tuple[int, ...]]
    """The public boundaries between which persons' totals are counted."""

    @staticmethod
    def of(allowance: Allowance, design: TotalDesign = DESIGN) -> Capper:
        """The default for this kind of allowance."""
        return (GaussianCapper if allowance.concentrated else JointCapper)(allowance, design)

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
        law = cap_law(CAPS, counts, self.allowance.share(SCAN_SHARE), FALL)
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
        counts, sums = tuple(bucket.count for bucket in buckets), tuple(bucket.sum for bucket in buckets)
        law = room.once(
            (counts, sums, self.allowance.amount, self.design),
            lambda: scan_and_release(counts, sums, self.allowance.amount, design=self.design),
        )
        drawn = room.draw(law, part)
        return Released(drawn.value, drawn.counted, drawn)


@dataclass(frozen=True)
class Total(Statistic, sampled="total"):
    """A number for each person, and the sum of them."""

    total: Value | RowCount
    name: str | None = None
    per: Per = "row"
    method: str | None = None
    """One of `SHARED_ROWS`; where a row concerns one person, only that without a cap."""
    several = by_totals = True
    signed: ClassVar[bool] = False
    """Whether a person's number can be negative."""
    as_grouped = "per row and without method=; leave per= and method= out"

    def __post_init__(self) -> None:
        check_method(self.method, SHARED_ROWS)

    @property
    def totals(self) -> tuple[OfPerson, ...]:
        """The one."""
        return (total_of(self.total, self.per),)

    @property
    def unit(self) -> Unit:
        """The step in which totals are counted."""
        return WHOLE

    def suits(self, several: bool) -> None:
        """Methods that choose a cap are for rows of several persons."""
        super().suits(several)
        if self.method not in (None, "shifted_inverse") and not several:
            raise UnsupportedQuery(
                f"method {self.method!r} is for rows that concern several persons; leave it out where they do not, or "
                "use shifted_inverse."
            )

    def release(self, room: Room) -> Answer:
        """One capped sum with its noise."""
        if room.several:
            return self.shared(room)
        if self.method == "shifted_inverse":
            return of_persons(room, self.words, total_of(self.total, self.per), self.signed, self.per, self.unit)
        capper = Capper.of(room.allowance)
        (buckets,) = room.ask(TotalBuckets(total_of(self.total, self.per), capper.boundaries))
        return self.capped(room, capper.release(room, buckets, signed=self.signed), capper.name)

    @abstractmethod
    def shared(self, room: Room) -> Answer:
        """The answer where a row may concern several persons."""

    def capped(self, room: Room, released: Released, mechanism: str, kind: type[CappedSum] = CappedSum) -> Answer:
        """The answer that a capped sum gives."""
        return room.answer(
            self.words,
            self.unit.value(released.value),
            mechanism=mechanism,
            spread=kind(released.noise, self.unit),
            per=self.per,
            unit=self.unit,
            cap=self.unit.value(released.cap),
        )


def total_of(total: Value | RowCount | Deviation, per: Per, parts: int = 1) -> requests.Total:
    """A person's total, or per person the mean of their values in parts of the unit."""
    return total if per == "row" or isinstance(total, RowCount) else PersonMean(total, parts)
