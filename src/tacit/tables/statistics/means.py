"""Means as SQL means them: a sum over a count, each released without bounds for half of the cost.

Per row the sum of the values over the number of rows that have one; per person the sum of the persons' means over
the number of persons that have one. Groups use the capped vectors of `groups` for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import Any

from tacit.answers import Answer, Answers
from tacit.engines import build
from tacit.engines.requests import Flags, RowCount, TotalBuckets, Value
from tacit.spreads import Covers, Noise
from tacit.tables.room import Room
from tacit.tables.statistics.base import Per, Statistic, noisy
from tacit.tables.statistics.capped import Capper
from tacit.tables.statistics.groups import Groups, capped_vectors, group_norms
from tacit.tables.statistics.totals import total_of
from tacit.units import REAL

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Mean(Statistic):
    """The mean of a column."""

    value: Value
    name: str
    per: Per = "row"

    @property
    def words(self) -> str:
        """What is asked."""
        return f"mean of {self.name}"

    def release(self, room: Room) -> Answer:
        """A sum and a count."""
        half = room.allowance.share(HALF)
        capper = Capper.of(half)
        top = TotalBuckets(total_of(self.value, self.per), capper.boundaries)
        if self.per == "row":
            sums, counts = room.ask(top, TotalBuckets(RowCount(self.value.expression), capper.boundaries))
            number = capper.release(room, counts, signed=False)
            count, count_noise = number.value, number.noise
        else:
            sums, flags = room.ask(top, Flags(build.negation(build.is_null(self.value.expression))))
            law, count_noise = noisy(flags.true, half)
            count = room.draw(law)
        total = capper.release(room, sums, signed=True, part="sum")
        spread = Quotient(total.value, count, total.noise, count_noise, float(self.value.unit))
        return room.answer(
            self.words,
            spread.value,
            mechanism=f"sum over count, each by: {capper.name}",
            spread=spread,
            per=self.per,
            unit=REAL,
        )


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
        """Capped vectors of sums and of counts."""
        half = room.allowance.share(HALF)
        entries = (self.value, RowCount(self.value.expression))
        norms = room.ask(*(group_norms(entry, self.groups, half) for entry in entries))
        tops, bottoms = capped_vectors(room, entries, self.groups, norms, half)
        answers = {}
        for i, label in enumerate(self.groups.labels):
            spread = Quotient(
                tops.totals[i],
                bottoms.totals[i],
                tops.noise,
                bottoms.noise,
                float(self.value.unit) * bottoms.fine / tops.fine,
            )
            answers[label] = room.answer(
                f"{self.name} where {self.groups.name} is {label}",
                spread.value,
                mechanism="vectors of sums and counts, each capped at a chosen norm, then noise on every group",
                spread=spread,
                per=self.per,
                unit=REAL,
            )
        return Answers(answers, room.cost, self.groups.name)


@dataclass(frozen=True)
class Quotient:
    """unit·a/b for a sum a and a count b released with independent noise.

    With each noise inside its interval (the confidence's rest halved between them) a and b lie in a box; where b stays
    above zero the quotient is largest and smallest at corners of it.
    """

    top: int
    bottom: int
    top_noise: Noise
    bottom_noise: Noise
    unit: float = 1.0
    covers: Covers = "capped value"

    @property
    def value(self) -> float:
        """The quotient, a count below one taken as one."""
        return self.unit * self.top / max(self.bottom, 1)

    @property
    def std(self) -> float:
        """To first order."""
        b = max(self.bottom, 1)
        return self.unit * sqrt(self.top_noise.variance + (self.top / b) ** 2 * self.bottom_noise.variance) / b

    def interval(self, value: Any, confidence: Fraction) -> tuple[Any, Any]:
        """The corners of the box; unbounded where the count may be zero."""
        each = (1 + float(confidence)) / 2
        (d1, u1), (d2, u2) = self.top_noise.tails(each), self.bottom_noise.tails(each)
        low, high = self.bottom - u2, self.bottom + d2
        if low < 1:
            return -inf, inf
        corners = [self.unit * a / b for a in (self.top - u1, self.top + d1) for b in (low, high)]
        return min(corners), max(corners)

    def persons_above(self, confidence: Fraction) -> int | None:
        """Two caps were used; neither is the mean's own."""
        return None

    def sentences(self, answer: Any) -> Iterator[str]:
        """The interval."""
        yield f"Noise interval, {answer.interval()}."
