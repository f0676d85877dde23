"""Several quantiles by levels, of all rows or of each group (`tacit.mechanisms.inverse.cuts`).

WEIGHTS  A row weighs 1/Λ of a person, Λ a cap on one person's rows over all groups, chosen privately; rows of persons
with more weigh less. Per person the rows of one group share 1/Λ, Λ a cap on one person's groups. So within a group
everybody below the cap weighs the same, and the question is the one that was asked.

COST  The cap takes `CAP_SHARE`. The rest is divided over ⌊log2 m⌋ + 1 levels for m quantiles, whatever the number of
groups. One statement brings the weights of all values of all groups, and everything is drawn from them.

ERROR  As `tacit.mechanisms.inverse.cuts` says: the d-th cut on the way to a quantile is off by no more than d losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.answers import Answer
from tacit.answers.order import Ranked
from tacit.answers.values import counted
from tacit.engines.requests import GroupNorms, HasValue, Ordered, RowCount, WeighedRows
from tacit.engines.requests.weighed_rows import UNIT
from tacit.mechanisms.choose.priors import Decaying
from tacit.mechanisms.inverse.cuts import TIES, Levels, cuts
from tacit.mechanisms.law import Law
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.base import Per
from tacit.tables.statistics.ways.caps import ROW_LEVELS, choose_cap, row_cap
from tacit.tables.statistics.ways.groups import Groups

CAP_SHARE = Fraction(1, 10)
"""What the cap on rows, or on groups, takes of the cost."""

PRIOR = Decaying(width=1, ratio=Fraction(1, 20))
"""Steeper than that of totals: the error grows with the cap, and who lies above it is not cut but weighs less."""


def ranges(quantiles: int, capped: bool) -> tuple[Fraction, ...]:
    """The shares of a cost that the draws take, all of bounded range: a cap, and the levels."""
    rest, levels = 1 - CAP_SHARE if capped else Fraction(1), quantiles.bit_length()
    return (*([CAP_SHARE] if capped else []), *[rest / levels] * levels)


def weighing(cap: int, what: str) -> str:
    """The note of a cap on what one person has of something."""
    return f"A person counts for at most {counted(cap, what)}; {what}s of persons with more weigh less."


@dataclass(frozen=True)
class Drawn:
    """Quantiles of each group as drawn, and the public facts about their errors."""

    values: list[dict[Fraction, Any]]
    """For each group the value of each quantile."""
    chains: dict[Fraction, tuple[int, Fraction]]
    each: Allowance
    """What a level spent."""
    cap: int | None
    cells: int
    per: Per

    def answer(self, room: Room, words: str, group: int, q: Fraction) -> Answer:
        """The answer for a group's quantile."""
        place, wide = self.chains[q]
        what, parts = ("row", "rows") if self.per == "row" else ("group", "persons")
        return room.answer(
            words,
            self.values[group][q],
            mechanism="quantiles by levels, each a choice by the weight on both sides",
            spread=Ranked(
                self.each.choosing,
                float(self.cells * TIES),
                float(wide * (self.cap or 1)),
                "rows" if parts == "rows" else "persons",
                place,
            ),
            per=self.per,
            notes=(weighing(self.cap, what),) if self.cap else (),
        )


def draw_quantiles(
    room: Room, value: Ordered, quantiles: Sequence[Fraction], per: Per, groups: Groups | None = None
) -> Drawn:
    """Quantiles of all rows, or of each group, for what the room may spend: two rounds at most."""
    from tacit.tables.statistics.ways.cells import Cells, weights_by_group

    number = max(1, len(groups.keys) if groups else 1)
    allowance, cap = room.allow(choices=len(quantiles).bit_length()), None
    if per == "row" or groups is not None:
        cap = _cap(room, value, per, groups, allowance.share(CAP_SHARE))
        allowance = allowance.share(1 - CAP_SHARE)
    by, keys = ((), ()) if groups is None else (groups.by, groups.keys)
    found = room.weigh(WeighedRows(value, by, keys, cap or 1, per == "person"))
    cells = Cells(value.expression.type)
    first, last = cells.ends
    levels = Levels(weights_by_group(cells, found, number), first * TIES, (last + 1) * TIES, quantiles)
    each = allowance.share(Fraction(1, levels.number))
    for _ in range(levels.number):
        law: Law[tuple[int, ...]] = cuts(levels.stretches, largest=UNIT * (cap or 1), **each.keywords)
        drawn = room.draw(law)
        levels.cut(drawn)
    values = [{q: cells.value(min(x // TIES, last)) for q, x in positions.items()} for positions in levels.found]
    return Drawn(values, levels.chains, each, cap, cells.number, per)


def _cap(room: Room, value: Ordered, per: Per, groups: Groups | None, allowance: Allowance) -> int:
    """A cap on one person's rows, or groups."""
    if groups is None:
        return row_cap(room, value, allowance, PRIOR)
    entry = HasValue(value.expression) if per == "person" else RowCount(value.expression)
    (counts,) = room.ask(GroupNorms(entry, groups.by, groups.keys, "l1", ROW_LEVELS))
    return choose_cap(room, ROW_LEVELS, counts, allowance, PRIOR)
