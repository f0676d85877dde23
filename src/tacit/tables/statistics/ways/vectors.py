"""Count, sum and mean for each of some given groups, with every person's whole vector capped at once.

A person's contribution is a vector over the groups. A norm λ is chosen that few persons exceed, as many as the noise
of all groups is worth (`tacit.mechanisms.totals.vector_cap`); each vector is then scaled down to norm at most λ, its
parts rounded toward zero (ℓ1 with Laplace noise, ℓ2 with Gaussian noise), and the groups' totals get noise for
sensitivity λ. So the cost does not grow with the number of groups. A mean for each group is the quotient of two such
vectors (`mean`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from tacit.answers import Answers
from tacit.answers.groups import Capped, CappedGroup
from tacit.engines.requests import Entry, GroupNorms, GroupTotals, Norm, Presence, RowCount, Value, saturation
from tacit.engines.requests.beside import OfPerson
from tacit.mechanisms.totals import vector_cap
from tacit.noises import Coarser, Noise
from tacit.numbers.exact import WHOLE, Unit
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.base import Per, Statistic, noisy_vector, unit_of
from tacit.tables.statistics.ways.caps import levels, persons_above
from tacit.tables.statistics.ways.groups import Grouped, Groups

LEVEL = 5
"""Caps to choose from are larger by one fifth each."""

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
        (norms,) = room.ask(group_norms(self.entry, self.groups, room.allowance))
        (found,) = capped_vectors(room, (self.entry,), self.groups, (norms,), room.allowance)
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


def group_norms(entry: Entry, groups: Groups, allowance: Allowance) -> GroupNorms:
    """What must be known to choose a cap on the persons' vectors."""
    return GroupNorms(entry, groups.by, groups.keys, _norm(allowance), norm_steps(entry, groups))


def capped_vectors(
    room: Room, entries: Sequence[Entry], groups: Groups, norms: Sequence[Sequence[int]], allowance: Allowance
) -> list[Vector]:
    """For each entry a chosen cap and noisy totals; ``allowance`` is spent on each."""
    norm = _norm(allowance)
    chosen = [
        choose_norm(room, norm_steps(entry, groups), counts, len(groups.keys), allowance, not isinstance(entry, Value))
        for entry, counts in zip(entries, norms, strict=True)
    ]
    caps = [cap for cap, _ in chosen]
    fines = [FINE if cap < 2**50 else 1 for cap in caps]
    requests = [
        GroupTotals(entry, groups.by, groups.keys, norm, cap, fine)
        for entry, cap, fine in zip(entries, caps, fines, strict=True)
    ]
    found = []
    for totals, (cap, rest), fine in zip(room.ask(*requests), chosen, fines, strict=True):
        law, noise = noisy_vector(totals, rest, cap * fine)
        found.append(Vector(room.draw(law), cap, fine, noise))
    return found


def choose_norm(
    room: Room, steps: Sequence[int], counts: Sequence[int], releases: int, allowance: Allowance, counted: bool
) -> tuple[int, Allowance]:
    """A cap on the norm of vectors whose noise falls on that many releases, and what is left of the allowance.

    ``counted`` tells vectors that count something from sums.
    """
    concentrated = allowance.concentrated
    share, left = vector_cap.share(releases, concentrated), vector_cap.target(releases, allowance.epsilon, concentrated)
    paid = allowance.share(share).epsilon
    law = vector_cap.vector_cap(persons_above(counts), steps, releases, paid, left, counts=counted)
    return steps[int(room.draw(law))], allowance.share(1 - share)


def _norm(allowance: Allowance) -> Norm:
    return "l2" if allowance.concentrated else "l1"


def norm_steps(entry: Entry, groups: Groups) -> tuple[int, ...]:
    """The caps to choose from; a person who counts once in each group has at most as many as there are."""
    count = len(groups.keys)
    return levels(count if isinstance(entry, Presence) else min(saturation(count) * count, 2**62), LEVEL)
