"""A count, a sum or a number of persons for each period of time, continued from what was released.

`SeriesTotals` opens a chapter (`open`) or continues one (`go_on`); `tacit.mechanisms.totals.running_totals` says what
that costs and why. Of a chapter's cost `CHOICE` finds the cap, `CUTS` counts the persons who reach it as time goes on,
and the rest is noise on totals. Where public facts say that a person has one row, nothing is capped and nobody is cut.

CAP  Cumulative totals gain one unit for each person above a cap that is higher by one, and lose about ``reach`` units,
the noise's deviation in caps: so about that many persons are left above it, by the scan of `vector_cap`. To them come
`SPARE` over the ε of the choice: without these the scan's own noise may carry it past everybody, and one cap in twenty
would be twice too large, some of them without end. The cap is found from what persons bring to the periods at hand;
for a later chapter, to as many of the last periods as the series has, as if the next ones were like them. So a new
chapter is needed about each time the series has become twice as long: from n₀ to n periods 1 + log₂(n/n₀) of them,
where all persons stay; where persons come and go it is fewer.

OUTGROWN  More persons than the choice of a cap leaves above it anyway, 14/ε of the choice beside the target, have
reached it since the opening, with 95 % confidence by the released counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from math import ceil
from typing import Any

from tacit.answers import Answer
from tacit.answers.nodes import Block
from tacit.answers.series import Chapter, Nodes
from tacit.engines.requests import Entry, GroupNorms, HasValue, Presence, RowCount, RunningTotals, Value
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Guarantee
from tacit.language import build
from tacit.language.expressions import Expression, Literal
from tacit.language.types import DATE
from tacit.mechanisms.totals import running_totals as trees
from tacit.mechanisms.totals.vector_cap import vector_cap
from tacit.numbers.exact import WHOLE, Unit
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.base import Operand, Per, Statistic, unit_of
from tacit.tables.statistics.extremes import Extremum
from tacit.tables.statistics.ways.caps import levels, persons_above

CHOICE = Fraction(1, 20)
"""What the choice of the cap takes of a chapter's cost."""

CUTS = Fraction(1, 20)
"""What counting the persons who reach it takes."""

BEGIN = Fraction(1, 20)
"""What finding the first period takes, where it is not named."""

SPARE = 10
"""So many persons, over the ε of the choice, are left above the cap beside those that it is worth."""

SCANNED = 14
"""So many persons, over the ε of the choice, may be above the cap that is chosen beside the target."""

FINER = 10
"""Caps to choose from are larger by one tenth each."""

MOST_PERIODS = 10_000
"""The most periods of a chapter."""

OF = ("count", "sum", "persons")


@dataclass(frozen=True)
class SeriesTotals(Statistic, tag="Series"):
    """A total for each period."""

    entry: Entry
    period: Expression
    """What rows are grouped by: the beginning of their period."""
    key: str = field(default="count", repr=False, compare=False)
    title: str = field(default="number of rows", repr=False, compare=False)
    per: Per = "row"

    @classmethod
    def of(cls, day: Operand, every: str, of: str, column: Operand | None) -> SeriesTotals:
        """Rows or persons with a value, or the sum of one, in each period of a date."""
        period = build.date_trunc(every, day.expression)
        if of == "sum":
            if column is None:
                raise InvalidInput("a series of sums needs column=, what is added up.")
            return cls(column.value, period, "sum", f"sum of {column.name}")
        having = "" if column is None else f" with {column.name}"
        if of == "count":
            return cls(RowCount(column.expression if column else None), period, "count", f"number of rows{having}")
        if of == "persons":
            entry: Entry = Presence() if column is None else HasValue(column.expression)
            return cls(entry, period, "persons", f"number of persons{having}", "person")
        raise InvalidInput(f"of must be one of {', '.join(OF)}.")

    @property
    def words(self) -> str:
        """What is asked."""
        return f"{self.title} over time"

    @property
    def by(self) -> tuple[Expression, ...]:
        """Periods."""
        return (self.period,)

    @property
    def unit(self) -> Unit:
        """The unit of one entry."""
        return unit_of(self.entry.expression.type, self.entry.unit) if isinstance(self.entry, Value) else WHOLE

    def release(self, room: Room) -> Answer:
        """Never reached: a series is opened or continued."""
        raise UnsupportedQuery("a series is asked for by itself, with .series(…).")

    def keys(self, days: Sequence[date]) -> tuple[tuple[Literal, ...], ...]:
        """The periods that begin on these days, as the column has them."""
        of_type = self.period.type
        return tuple((Literal(of_type, d if of_type == DATE else datetime(d.year, d.month, d.day)),) for d in days)

    def begin(self, room: Room, day: Operand) -> date:
        """The day near which the data begin, found for `BEGIN` of the cost."""
        with room.second(room.allow(noises=4).share(BEGIN).guarantee) as beside:
            found = Extremum.of(day, False).release(beside).value
        if isinstance(found, datetime):
            found = found.date()
        return found if isinstance(found, date) else date(1970, 1, 1)

    def open(
        self, room: Room, days: Sequence[date], window: Sequence[date], cost: Guarantee, single: bool, found: bool
    ) -> Chapter:
        """A cap that fits what persons bring to the ``window``, and the nodes of these periods.

        ``single`` says that a person has one row, ``found`` that the first period was found for a part of the cost.
        """
        laplace = trees.opening(len(days), False)
        allowance = room.allow(noises=4 if found else 1 + len(laplace.sizes))
        if found:
            allowance = allowance.share(1 - BEGIN)
        block = trees.opening(len(days), allowance.concentrated)
        choice = allowance.share(CHOICE)
        cap, cuts, tolerated = 1, None, 0
        if not (single and not isinstance(self.entry, Value)):
            target = reach(block, allowance.concentrated) / allowance.epsilon + SPARE / choice.epsilon
            cap = self._cap(room, window, choice, target)
            cuts = Nodes(allowance.amount * CUTS, 1, allowance.concentrated)
            tolerated = ceil(target + SCANNED / choice.epsilon)
            allowance = allowance.share(1 - CHOICE - CUTS)
        totals = Nodes(allowance.amount, cap, allowance.concentrated)
        empty = Chapter(cost, cap, 0, len(days), (block,), totals, cuts, tolerated)
        return self.go_on(room, empty, days)

    def _cap(self, room: Room, window: Sequence[date], allowance: Allowance, target: Fraction) -> int:
        steps = levels(2**61 if isinstance(self.entry, Value) else 2**40, FINER)
        (norms,) = room.ask(GroupNorms(self.entry, self.by, self.keys(window), "l1", steps))
        law = vector_cap(persons_above(norms), steps, len(window), target=target, **allowance.keywords)
        return steps[int(room.draw(law))]

    def go_on(self, room: Room, chapter: Chapter, days: Sequence[date]) -> Chapter:
        """The chapter with the nodes that are complete once all of these periods, its own from the first, are there."""
        before, done = chapter.bins, len(days)
        blocks = trees.blocks_for(chapter.blocks, done, chapter.totals.concentrated)
        totals, passing = room.ask(RunningTotals(self.entry, self.by, self.keys(days), chapter.cap))[0]
        drawn = drawn_nodes(room, chapter.totals, totals, blocks, before)
        cuts = None if chapter.cuts is None else drawn_nodes(room, chapter.cuts, passing, blocks, before)
        return replace(chapter, bins=done, blocks=blocks, totals=drawn, cuts=cuts)


def drawn_nodes(room: Room, nodes: Nodes, values: Sequence[int], blocks: Sequence[Block], before: int) -> Nodes:
    """The nodes with those that are new, drawn level by level."""
    paid: dict[str, Any] = {"rho" if nodes.concentrated else "epsilon": nodes.amount}
    found = []
    for place, laws in enumerate(trees.batch_laws(values, blocks, before, nodes.moves, **paid)):
        old = nodes.totals[place] if place < len(nodes.totals) else ((),) * len(laws)
        new = [() if law is None else room.draw(law) for law in laws]
        found.append(tuple((*known, *drawn) for known, drawn in zip(old, new, strict=True)))
    return replace(nodes, totals=tuple(found))


def reach(block: Block, concentrated: bool) -> Fraction:
    """About the deviation of a cumulative total, in caps over ε; with Gaussian noise in caps over √(2ρ)."""
    return Fraction(len(block.sizes), 2) if concentrated else Fraction(4 * len(block.sizes))
