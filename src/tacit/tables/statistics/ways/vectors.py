"""Count, sum and mean for each of some given groups, with every person's whole vector capped at once.

A person's contribution is a vector over the groups. A norm λ is chosen that few persons exceed, as many as the noise
of all groups is worth (`tacit.mechanisms.totals.vector_cap`); each vector is then scaled down to norm at most λ, its
parts rounded toward zero (ℓ1 with Laplace noise, ℓ2 with Gaussian noise), and the groups' totals get noise for
sensitivity λ. So the cost does not grow with the number of groups. A mean for each group is the quotient of two such
vectors (`mean`).

WITH δ  Where every person is in one group, Laplace noise is best whatever δ is; where persons are in many, Gaussian
noise for the ℓ2 norm may be far smaller. Only the data know. So where public facts and the ℓ1 caps λ chosen allow
Gaussian noise to be `GAIN` times smaller, `TEST` of ε asks them: a choice by weights e^{-ε·N(c)} between Laplace
noise and the ℓ2 caps that are low enough, N(c) persons having a larger ℓ2 norm than c. Who has an ℓ1 norm above the
level below λ, in m groups, has an ℓ2 norm above that by √m, so caps start there; the lowest one is `LIKELY` times as
likely as Laplace noise where nobody exceeds it, or more where groups are many. With several vectors all take Gaussian
noise or none.

PROOF  A person adds 0 or 1 to N(c) at every cap: a one-directional loss, Laplace noise a candidate of loss 0. Where the
choice is Laplace noise, the draws are pure and their ε add up to ε at most. Where it is Gaussian noise, their ρ add up
to at most the ρ that (ε, δ) buys, the pure draws before counted by their ρ (`Room.turn`). Both kinds of outcomes
together are within (ε, δ), as in an advanced budget: `tacit.budgets.filters`.

ACCURACY  Where no cap allows it the answer is that without δ, bit by bit; elsewhere the test makes Laplace noise larger
by a twenty-fifth at most. Measured in benchmarks/delta.py.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tacit.answers import Answers
from tacit.answers.groups import Capped, CappedGroup
from tacit.curves import StepLoss
from tacit.engines.requests import (
    Entry,
    GroupNorms,
    GroupSteps,
    GroupTotals,
    Norm,
    Presence,
    RowCount,
    Value,
    saturation,
)
from tacit.engines.requests.beside import OfPerson
from tacit.grids import integers
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.choose.exponential import exponential
from tacit.mechanisms.choose.priors import Listed
from tacit.mechanisms.law import Law
from tacit.mechanisms.totals import vector_cap
from tacit.noises import Coarser, Noise
from tacit.numbers.exact import WHOLE, Unit
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.base import Per, Statistic, noisy_vector, unit_of
from tacit.tables.statistics.ways.caps import levels, persons_above
from tacit.tables.statistics.ways.groups import Grouped, Groups

LEVEL = 5
"""Caps to choose from are larger by one fifth each."""

SUMMED = (Value, GroupSteps)
"""Entries that add something up, where others count."""

GAIN = Fraction(3, 2)
"""How many times smaller Gaussian noise must be: of equal variance, its median is 1.4 times that of Laplace noise."""

TEST = Fraction(1, 28)
"""What the choice between Laplace and Gaussian noise takes of ε."""

LIKELY = 16
"""How many times as likely as Laplace noise the lowest cap of Gaussian noise is; each further one a fourth of that."""

SPARED = 13
"""So many groups make it twice as likely: the persons whom that may cut off are no more than a cap leaves anyway."""

FINE = 2**12
"""Parts of a scaled vector are counted in steps of 1/FINE, so that rounding toward zero costs little."""


@dataclass(frozen=True)
class GroupedTotals(Grouped, tag="GroupedTotals", sampled="total"):
    """A count or sum for each group."""

    entry: Entry
    name: str
    groups: Groups
    per: Per = "row"
    key: str = field(default="count", repr=False, compare=False)
    """That of what is asked for each group."""
    by_totals = True

    @property
    def totals(self) -> tuple[OfPerson, ...]:
        """The entries of groups."""
        return (group_entries(self.entry, self.groups),)

    @property
    def words(self) -> str:
        """What is counted or added up by group; counts in bins are a histogram."""
        return f"histogram of {self.groups.name}" if self.key == "histogram" else super().words

    @property
    def counts_persons(self) -> bool:
        """Whether each person counts once in each group."""
        return isinstance(self.entry, Presence)

    @property
    def of_single_rows(self) -> Statistic:
        """Persons of each group instead of rows."""
        alone = isinstance(self.entry, RowCount) and self.entry.expression is None
        return replace(self, entry=Presence()) if alone else self

    @property
    def unit(self) -> Unit:
        """The unit of one entry."""
        if isinstance(self.entry, Value):
            return unit_of(self.entry.expression.type, self.entry.unit)
        return WHOLE

    @property
    def several(self) -> bool:  # type: ignore[override]
        """Rows of several persons are counted and added up, in groups that are given."""
        return not self.counts_persons

    def release(self, room: Room) -> Answers:
        """A cap, then noisy totals of the capped vectors, or of capped flows."""
        groups, found = self.groups, (self._flows if room.several else self._vectors)(room)
        spread = (CappedGroup if room.several else Capped)(Coarser(found.noise, found.fine), self.unit)
        answers = {
            label: room.answer(
                f"{self.name} where {groups.name} is {label}",
                self.unit.value(Fraction(total, found.fine)),
                mechanism=found.mechanism,
                spread=spread,
                per=self.per,
                unit=self.unit,
                cap=self.unit.value(found.cap),
            )
            for label, total in zip(groups.labels, found.totals, strict=True)
        }
        return Answers(answers, room.cost, groups.name)

    def _vectors(self, room: Room) -> Vector:
        (found,) = capped_vectors(room, (self.entry,), self.groups)
        return found

    def _flows(self, room: Room) -> Vector:
        from tacit.tables.statistics.ways.shared_groups import NAME, flow_totals

        totals, cap, noise = flow_totals(room, self)
        return Vector(totals, cap, 1, noise, NAME)


@dataclass(frozen=True)
class Vector:
    """Noisy totals of groups, in steps of 1/fine."""

    totals: tuple[int, ...]
    cap: int
    fine: int
    noise: Noise
    mechanism: str = "vectors capped at a privately chosen norm, then noise on every group"


def group_entries(entry: Entry, groups: Groups) -> OfPerson:
    """What is made of each person's rows in each group, whatever cap is chosen."""
    return GroupNorms(entry, groups.by, groups.keys, "l1", (1,))


def capped_vectors(room: Room, entries: Sequence[Entry], groups: Groups) -> list[Vector]:
    """For each entry a chosen cap and noisy totals, each for its part of what the room may spend; two rounds."""
    allowance, norm = room.allowance.share(Fraction(1, len(entries))), _norm(room.allowance)
    most, number = room.most_groups(groups.by, groups.keys), len(groups.keys)
    test = NoiseChoice.of(room, len(entries), most, number) if norm == "l1" else None
    asked = [
        GroupNorms(entry, groups.by, groups.keys, each, norm_steps(entry, groups))
        for each in ((norm, "l2") if test is not None else (norm,))
        for entry in entries
    ]
    norms = room.ask(*asked)
    steps = [norm_steps(entry, groups) for entry in entries]
    caps, rest = [], allowance
    for place, entry in enumerate(entries):
        counted = not isinstance(entry, SUMMED)
        cap, rest = choose_norm(room, steps[place], norms[place], number, allowance, counted)
        caps.append(cap)
    found = None if test is None else test.draw(room, steps, caps, norms[len(entries) :])
    if found is not None:
        norm, caps, rest = found.norm, found.caps, found.rest
    fines = [FINE if cap < 2**50 else 1 for cap in caps]
    requests = [
        GroupTotals(entry, groups.by, groups.keys, norm, cap, fine)
        for entry, cap, fine in zip(entries, caps, fines, strict=True)
    ]
    vectors = []
    for totals, cap, fine in zip(room.ask(*requests), caps, fines, strict=True):
        law, noise = noisy_vector(totals, rest, cap * fine)
        vectors.append(Vector(room.draw(law), cap, fine, noise))
    return vectors


@dataclass(frozen=True)
class Chosen:
    """The caps of all vectors, and what the noise on each may spend."""

    norm: Norm
    caps: list[int]
    rest: Allowance


@dataclass(frozen=True)
class NoiseChoice:
    """A choice between Laplace and Gaussian noise, of which public facts allow the latter to be smaller."""

    epsilon: Fraction
    """Of the choice for one vector."""
    rest: Fraction
    """The ε that is left for the Laplace noise of one vector."""
    rho: Fraction
    """The ρ that would be left for its Gaussian noise."""
    most: int
    """In how many groups a person can be."""
    likely: int
    """How much the lowest cap weighs."""

    @classmethod
    def of(cls, room: Room, vectors: int, most: int, groups: int) -> NoiseChoice | None:
        """The choice for each of so many vectors; None where Gaussian noise cannot be smaller."""
        if not room.delta:
            return None
        epsilon, share = room.allowance.amount / vectors, vector_cap.share(groups)
        before = [Pure(epsilon * part).to(Zcdp).rho for part in (share, TEST)]
        rho = room.rho / vectors - sum(before)
        if rho <= 0 or 4 * most * room.rho / vectors < (GAIN * epsilon) ** 2:
            return None
        likely = max(LIKELY, 1 << min(groups // SPARED, 64))
        return cls(epsilon * TEST, epsilon * (1 - share - TEST), rho, most, likely)

    def candidates(self, steps: Sequence[int], cap: int) -> range:
        """The places of ℓ2 caps low enough for a gain, from the lowest that somebody capped at ``cap`` can have."""
        lower = steps[max(0, steps.index(cap) - 1)] if cap > steps[0] else 0
        first = bisect_right(steps, lower**2, key=lambda step: step**2 * self.most)
        return range(first, bisect_right(steps, 4 * cap**2 * self.rho, key=lambda step: (step * self.rest * GAIN) ** 2))

    def law(self, above: Sequence[int]) -> Law[Any]:
        """The law of the place of a cap that few persons lie above, or of the place after the last: Laplace noise."""
        weights = [max(2, self.likely >> 2 * place) for place in range(len(above))]
        loss = StepLoss.from_losses(integers(0, len(above)), [*above, 0], one_directional=True)
        return exponential(loss, self.epsilon, Listed((*weights, 1)))

    def draw(
        self, room: Room, steps: Sequence[Sequence[int]], caps: Sequence[int], squared: Sequence[Sequence[int]]
    ) -> Chosen | None:
        """What is chosen, ``squared`` counting ℓ2 norms between the steps; None, for nothing, if no cap could gain."""
        ranges = [self.candidates(each, cap) for each, cap in zip(steps, caps, strict=True)]
        if not all(ranges):
            return None
        laws = [self.law(persons_above(counts)[r.start : r.stop]) for counts, r in zip(squared, ranges, strict=True)]
        places = [int(room.draw(law)) for law in laws]
        if any(place == len(r) for place, r in zip(places, ranges, strict=True)):
            return Chosen("l1", list(caps), Allowance(self.rest, concentrated=False))
        lower = [each[r[place]] for each, r, place in zip(steps, ranges, places, strict=True)]
        return Chosen("l2", lower, room.turn().share(Fraction(1, len(lower))))


def choose_norm(
    room: Room, steps: Sequence[int], counts: Sequence[int], releases: int, allowance: Allowance, counted: bool
) -> tuple[int, Allowance]:
    """A cap on the norm of vectors whose noise falls on that many releases, and what is left of the allowance.

    ``counted`` tells vectors that count something from sums.
    """
    concentrated = allowance.concentrated
    share, left = vector_cap.share(releases, concentrated), vector_cap.target(releases, allowance.epsilon, concentrated)
    place = choose_level(room, steps, persons_above(counts), releases, allowance.share(share), left, counted)
    return steps[place], allowance.share(1 - share)


def choose_level(
    room: Room,
    steps: Sequence[int],
    above: Sequence[int],
    releases: int,
    allowance: Allowance,
    left: Fraction,
    counted: bool = False,
) -> int:
    """The place of a cap that leaves about so many persons above it, for all of the allowance; a rough one first."""
    rough, rest = None, allowance
    if vector_cap.roughly(releases, counted, allowance.concentrated):
        first = vector_cap.rough_cap(above, steps, target=left, **allowance.share(vector_cap.ROUGH).keywords)
        rough, rest = int(room.draw(first)), allowance.share(1 - vector_cap.ROUGH)
    paid: dict[str, Any] = {"target": left, "counts": counted, "rough": rough, **rest.keywords}
    return int(room.draw(vector_cap.vector_cap(above, steps, releases, **paid)))


def _norm(allowance: Allowance) -> Norm:
    return "l2" if allowance.concentrated else "l1"


def norm_steps(entry: Entry, groups: Groups) -> tuple[int, ...]:
    """The caps to choose from; a person who counts once in each group has at most as many as there are."""
    count = len(groups.keys)
    return levels(count if isinstance(entry, Presence) else min(saturation(count) * count, 2**62), LEVEL)
