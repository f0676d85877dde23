"""Count, sum and mean for each of some given groups, with every person's whole vector capped at once.

A person's contribution is a vector over the groups. A threshold scan on the persons' norms chooses λ; each vector
is then scaled down to norm at most λ, its parts rounded toward zero (ℓ1 with Laplace noise, ℓ2 with Gaussian
noise), and the groups' totals get noise for sensitivity λ. So the cost does not grow with the number of groups.
Means use the two-sum method of `moments`: for each group the sums of (1−t) and t, a person's rows scaled to weight
at most κ in all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.answers import Answer, Answers
from tacit.engines.expressions import Expression, Literal
from tacit.engines.requests import Entry, GroupNorms, GroupTotals, Presence, RowCount, Value, saturation
from tacit.spreads import Additive, Covers
from tacit.tables.room import Room
from tacit.tables.statistics.base import Per, Statistic, noisy_vector, unit_of
from tacit.tables.statistics.caps import levels, scan_cap
from tacit.units import WHOLE, Unit

CAP_SHARE = Fraction(1, 5)
"""What the scan for the cap takes of the cost."""

FINE = 2**12
"""Parts of a scaled vector are counted in steps of 1/FINE, so that rounding toward zero costs little."""


@dataclass(frozen=True)
class Groups:
    """Given groups: what rows are grouped by, and the public keys."""

    by: tuple[Expression, ...]
    keys: tuple[tuple[Literal, ...], ...]
    labels: tuple[Any, ...]
    """The keys as the analyst wrote them."""
    name: str


@dataclass(frozen=True)
class GroupedTotals(Statistic):
    """A count or sum for each group."""

    entry: Entry
    name: str
    groups: Groups
    per: Per = "row"

    @property
    def words(self) -> str:
        """What is asked."""
        return f"{self.name} by {self.groups.name}"

    @property
    def unit(self) -> Unit:
        """The unit of one entry."""
        if isinstance(self.entry, Value):
            return unit_of(self.entry.expression.type, self.entry.unit)
        return WHOLE

    def release(self, room: Room) -> Answers:
        """A cap, then noisy totals of the capped vectors."""
        norm: Any = "l2" if room.allowance.concentrated else "l1"
        groups = self.groups
        steps = levels(min(saturation(len(groups.keys)) * len(groups.keys), 2**62))
        (counts,) = room.ask(GroupNorms(self.entry, groups.by, groups.keys, norm, steps))
        cap = scan_cap(room, steps, counts, room.allowance.share(CAP_SHARE))
        fine = FINE if cap < 2**50 else 1
        (totals,) = room.ask(GroupTotals(self.entry, groups.by, groups.keys, norm, cap, fine))
        law, noise = noisy_vector(totals, room.allowance.share(1 - CAP_SHARE), cap * fine)
        unit = Unit(self.unit.step / fine, self.unit.kind)
        spread = Capped(noise, unit, cap, len(groups.keys))
        answers = {
            label: room.answer(
                f"{self.name} where {groups.name} is {label}",
                unit.value(total),
                mechanism=f"vectors capped at a scanned {norm} norm, then noise on every group",
                spread=spread,
                per=self.per,
                unit=self.unit,
                cap=self.unit.value(cap),
            )
            for label, total in zip(groups.labels, room.draw(law), strict=True)
        }
        return Answers(answers, room.cost, groups.name)


@dataclass(frozen=True)
class Capped(Additive):
    """Noise around totals of capped vectors."""

    cap: int = 1
    groups: int = 1
    covers: Covers = "capped value"

    def sentences(self, answer: Answer) -> Iterator[str]:
        """The interval and the cap."""
        yield f"Noise interval, {answer.interval()}."
        yield f"One person counts for at most {answer.cap} over all groups."


def counted(per: Per) -> Entry:
    """Rows, or persons, in each group."""
    return Presence() if per == "person" else RowCount()
