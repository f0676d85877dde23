"""Count, sum and mean for each of some given groups, with every person's whole vector capped at once.

A person's contribution is a vector over the groups. A norm λ is chosen that few persons exceed, as many as the noise
of all groups is worth (`tacit.mechanisms.totals.vector_cap`); each vector is then scaled down to norm at most λ, its
parts rounded toward zero (ℓ1 with Laplace noise, ℓ2 with Gaussian noise), and the groups' totals get noise for
sensitivity λ. So the cost does not grow with the number of groups. A mean for each group is the quotient of two such
vectors (`mean`).

WITH δ  Where every person is in one group, Laplace noise is best whatever δ is; where persons are in many, Gaussian
noise for the ℓ2 norm may be far smaller. Only the data know. So where public facts allow Gaussian noise to be `GAIN`
times smaller, `TEST` of ε asks them, by a threshold scan: from the ℓ2 cap at which it would be so much smaller, down to
the last one that no more persons exceed than a cap leaves anyway; before that cap stands the ℓ1 cap, which nobody
exceeds, so a scan that stops at once keeps Laplace noise. The choice of the ℓ1 cap, the scan and the noise are charged
one after the other, (ε1, 0), (ε2, 0) and (ε − ε1 − ε2, δ): adaptive composition. The scan costs a fortieth of ε, so a δ
makes noise larger by a thirty-seventh at most.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

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
from tacit.guarantees import Approx, Zcdp
from tacit.mechanisms.noise.noise import NoiseVector
from tacit.mechanisms.search.threshold_scan import threshold_scan
from tacit.mechanisms.totals import vector_cap
from tacit.noises import Coarser, DiscreteGaussian, Noise
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

TEST = Fraction(1, 40)
"""What the scan for Gaussian noise takes of ε, half of it for its threshold."""

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


@dataclass(frozen=True)
class Chosen:
    """A cap, and what the noise for it may spend: Gaussian noise where there is a ρ."""

    cap: int
    rest: Allowance
    rho: Fraction | None = None
    """Where ε with δ is spent on Gaussian noise, the ρ that stays within it."""

    @property
    def norm(self) -> Norm:
        """The norm that is capped."""
        return "l1" if self.rho is None else "l2"


def capped_vectors(room: Room, entries: Sequence[Entry], groups: Groups) -> list[Vector]:
    """For each entry a chosen cap and noisy totals, each for its part of what the room may spend; two rounds."""
    share = Fraction(1, len(entries))
    allowance, delta, first = room.allowance.share(share), room.delta * share, _norm(room.allowance)
    both = first == "l1" and _may_gain(allowance, delta, room.most_groups(groups.by, groups.keys))
    asked = [
        GroupNorms(entry, groups.by, groups.keys, norm, norm_steps(entry, groups))
        for norm in ((first, "l2") if both else (first,))
        for entry in entries
    ]
    norms = room.ask(*asked)
    chosen = []
    for place, entry in enumerate(entries):
        steps, squared = norm_steps(entry, groups), norms[len(entries) + place] if both else None
        counted = not isinstance(entry, SUMMED)
        cap, rest = choose_norm(room, steps, norms[place], len(groups.keys), allowance, counted)
        chosen.append(Chosen(cap, rest))
        if squared is not None:
            chosen[-1] = _tested(room, steps, cap, squared, len(groups.keys), allowance, rest, delta)
    fines = [FINE if each.cap < 2**50 else 1 for each in chosen]
    requests = [
        GroupTotals(entry, groups.by, groups.keys, first if each.rho is None else each.norm, each.cap, fine)
        for entry, each, fine in zip(entries, chosen, fines, strict=True)
    ]
    found = []
    for totals, each, fine in zip(room.ask(*requests), chosen, fines, strict=True):
        if each.rho is None:
            law, noise = noisy_vector(totals, each.rest, each.cap * fine)
        else:
            gaussian = DiscreteGaussian.for_zcdp(each.rho, each.cap * fine)
            law, noise = NoiseVector(totals, gaussian, Approx(each.rest.amount, delta)), gaussian
        found.append(Vector(room.draw(law), each.cap, fine, noise))
    return found


def _may_gain(allowance: Allowance, delta: Fraction, most: int) -> bool:
    """Whether Gaussian noise can be `GAIN` times smaller, where one person is in ``most`` groups."""
    if not delta:
        return False
    rho = Zcdp.within(Approx(allowance.amount, delta)).rho
    return 4 * most * rho >= (GAIN * allowance.amount) ** 2


def _tested(
    room: Room,
    steps: Sequence[int],
    cap: int,
    squared: Sequence[int],
    groups: int,
    allowance: Allowance,
    rest: Allowance,
    delta: Fraction,
) -> Chosen:
    """The ℓ1 cap, or a lower ℓ2 cap that few persons exceed; ``squared`` counts their ℓ2 norms between the steps."""
    rest = Allowance(rest.amount - TEST * allowance.amount, concentrated=False)
    rho = Zcdp.within(Approx(rest.amount, delta)).rho
    number = bisect_right(steps, 4 * cap**2 * rho, key=lambda step: (step * rest.amount * GAIN) ** 2)
    loss = StepLoss.from_losses(integers(0, number), [*persons_above(squared)[:number], 0], one_directional=True)
    most = int(vector_cap.target(groups, allowance.amount))
    place = int(room.draw(threshold_scan(loss, allowance.share(TEST).amount, "down", Fraction(1, 2), most)))
    return Chosen(cap, rest) if place == number else Chosen(steps[place], rest, rho)


def choose_norm(
    room: Room, steps: Sequence[int], counts: Sequence[int], releases: int, allowance: Allowance, counted: bool
) -> tuple[int, Allowance]:
    """A cap on the norm of vectors whose noise falls on that many releases, and what is left of the allowance.

    ``counted`` tells vectors that count something from sums.
    """
    concentrated = allowance.concentrated
    share, left = vector_cap.share(releases, concentrated), vector_cap.target(releases, allowance.epsilon, concentrated)
    paid = allowance.share(share).keywords
    law = vector_cap.vector_cap(persons_above(counts), steps, releases, target=left, counts=counted, **paid)
    return steps[int(room.draw(law))], allowance.share(1 - share)


def _norm(allowance: Allowance) -> Norm:
    return "l2" if allowance.concentrated else "l1"


def norm_steps(entry: Entry, groups: Groups) -> tuple[int, ...]:
    """The caps to choose from; a person who counts once in each group has at most as many as there are."""
    count = len(groups.keys)
    return levels(count if isinstance(entry, Presence) else min(saturation(count) * count, 2**62), LEVEL)
