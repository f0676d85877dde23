"""The mean of a column in each of some given groups.

As in `moments`: two scans choose a range, a third a cap κ on a person's rows over all groups. With t the position
of a clamped row in the range, every group gets the sums of (1−t) and of t. A person's rows, scaled to weight at
most κ in all, move this vector of sums by at most κ in ℓ1 and only upward, so noise of scale κ/ε on every part is
ε-DP however many groups there are.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.answers import Answers, show
from tacit.engines.requests import RESOLUTION, GroupMoments, GroupNorms, RowCount, Value
from tacit.spreads import Share
from tacit.tables.room import Room
from tacit.tables.statistics.base import Per, Statistic, noisy_vector
from tacit.tables.statistics.caps import scan_cap
from tacit.tables.statistics.groups import Groups
from tacit.tables.statistics.moments import CAP_SHARE, RANGE_SHARE, draw_range, range_requests
from tacit.tables.statistics.quantiles import ROW_LEVELS
from tacit.units import REAL


@dataclass(frozen=True)
class GroupedMeans(Statistic):
    """A mean for each group."""

    value: Value
    name: str
    groups: Groups
    per: Per = "row"

    @property
    def words(self) -> str:
        """What is asked."""
        return f"{self.name} by {self.groups.name}"

    def release(self, room: Room) -> Answers:
        """Range and cap, then two noisy sums for each group."""
        groups, each = self.groups, room.allowance.share(RANGE_SHARE)
        norms = GroupNorms(RowCount(self.value.expression), groups.by, groups.keys, "l1", ROW_LEVELS)
        low_values, high_values, counts = room.ask(*range_requests(self.value, each), norms)
        found = draw_range(room, low_values, high_values, each)
        cap = scan_cap(room, ROW_LEVELS, counts, room.allowance.share(CAP_SHARE))
        mechanism = "threshold scans for the range, then two noisy sums for each group"
        if found is None:
            note = ("Too few persons to find a range of values, so nothing can be said.",)
            unknown = room.answer(self.words, None, mechanism=mechanism, per=self.per, notes=note)
            return Answers(dict.fromkeys(groups.labels, unknown), room.cost, groups.name)
        low, high = found
        (sums,) = room.ask(GroupMoments(self.value, low, high, groups.by, groups.keys, cap))
        law, noise = noisy_vector(sums, room.allowance.share(1 - 2 * RANGE_SHARE - CAP_SHARE), RESOLUTION * cap)
        released = room.draw(law)
        unit = float(self.value.unit)
        notes = (
            f"Values below {show(low * unit)} and above {show(high * unit)} count as these.",
            f"A person with more than {cap:,} rows counts as {cap:,}.",
        )
        answers = {}
        for i, label in enumerate(groups.labels):
            rest, part = released[2 * i], released[2 * i + 1]
            spread = Share(rest, part, noise, noise, low * unit, high * unit, "capped value")
            answers[label] = room.answer(
                f"{self.name} where {groups.name} is {label}",
                spread.value,
                mechanism=mechanism,
                spread=spread,
                per=self.per,
                unit=REAL,
                notes=notes,
            )
        return Answers(answers, room.cost, groups.name)
