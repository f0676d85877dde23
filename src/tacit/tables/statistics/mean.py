"""Means as SQL means them: a sum over a count, taken around a centre.

Per row the sum of the values over the number of rows that have one; per person the sum of the persons' means over the
number of persons that have one. Groups use the capped vectors of `ways.vectors` for both.

PROMISE  An answer costs what the room allows. PROOF  It is put together from draws one after the other, each with its
own share of the allowance: adaptive composition. The parts of a sum that are positive and those that are negative
concern disjoint persons and cost as much as one (`ways.totals`), whatever the centre is.

CENTRE  A sum needs noise for the largest totals that count, although nearly all of a total may be what everybody has.
So where there are many persons, by a test, a rough sum and the count give a centre c, in whole units; then Σ(x − c),
whose totals are only as large as persons differ, is released for most of the cost, and the mean is c + Σ(x − c)/count.
The count's own noise then matters little: it multiplies what is left of the mean. With few persons a rough sum would
say nothing and a small share for the count would spoil the answer: sum and count get half each.

ACCURACY  benchmarks/changes.py, beside half each: a tenth of the error where persons have many rows alike, half of it
for ages, little less where a few large values decide. Below MANY/ε persons a centre does more harm than good.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.answers import Answer, Answers
from tacit.answers.quotients import Quotient
from tacit.engines.requests import (
    SATURATION,
    Buckets,
    Deviation,
    Filled,
    FlagCounts,
    Flags,
    RowCount,
    TotalBuckets,
    Value,
)
from tacit.engines.requests.beside import OfPerson
from tacit.guarantees import Pure
from tacit.language import build
from tacit.noises import Noise
from tacit.numbers.exact import REAL, Number
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import Operand, Per, Statistic, noisy, per_of
from tacit.tables.statistics.count import Count
from tacit.tables.statistics.sum import Sum
from tacit.tables.statistics.variance import Moment
from tacit.tables.statistics.ways.centres import rough_centre
from tacit.tables.statistics.ways.groups import Grouped, Groups
from tacit.tables.statistics.ways.totals import Capper, Released, total_of
from tacit.tables.statistics.ways.vectors import capped_vectors, group_entries

HALF = Fraction(1, 2)

TEST = Fraction(1, 40)
"""What the test for many persons takes of the cost."""
MANY = 800
"""How many persons, times ε, are many."""
ROUGH = Fraction(1, 8)
"""What the rough sum takes of the rest."""
COUNT = Fraction(3, 16)
"""What the count takes of the rest, where the sum is around a centre."""
CLEAR = 2
"""A rough sum of fewer standard deviations of its noise is taken as zero."""
PARTS = 1000
"""Into how many parts of the unit a person's own mean is divided."""


@dataclass(frozen=True)
class Mean(Statistic, tag="Mean", phrase="mean of {name}", sampled="itself"):
    """The mean of a column."""

    value: Value
    name: str
    per: Per = "row"
    key = "mean"
    rereads = by_totals = True

    @classmethod
    def of(cls, column: Operand, *, per: str = "row", range: tuple[Number, Number] | None = None) -> Statistic:
        """Around a centre, or over a range that is public."""
        if range is not None:
            return Moment.of(column, "mean", per=per, range=range)
        return cls(column.value, column.name, per_of(per))

    def grouped(self, groups: Groups) -> Statistic:
        """The mean over the rows of each group, or over its persons, each group with a range of its own."""
        if self.per == "person":
            return Moment(self.value, self.name, "mean", self.per).grouped(groups)
        return GroupedMeans(self.value, self.words, groups)

    @property
    def quotient_of(self) -> tuple[Statistic, Statistic] | None:
        """The sum of the values and the number of rows that have one."""
        return None if self.per == "person" else _parts(self.value, self.name)

    @property
    def totals(self) -> tuple[OfPerson, ...]:
        """A sum and the number of values, from which deviations follow; per person whether there is one."""
        return total_of(Deviation(self.value, 0), self.per, PARTS), self._rows

    def release(self, room: Room) -> Answer:
        """A test for many persons, then a sum and a count, around a centre where it passes."""
        rest, boundaries = room.allowance.share(1 - TEST), Capper.of(room.allowance).boundaries
        share = self._rows
        counting = share if isinstance(share, Flags) else TotalBuckets(share, boundaries)
        sums, rows = room.ask(TotalBuckets(total_of(self.value, self.per, PARTS), boundaries), counting)
        persons = rows.true if isinstance(rows, FlagCounts) else sum(bucket.count for bucket in rows.positive)
        law, _ = noisy(persons, room.allowance.share(TEST))
        if room.draw(law) * room.allowance.epsilon < MANY:
            count, count_noise = _count(room, rows, rest.share(HALF))
            total, centre, name = _sum(room, sums, rest.share(HALF), "sum"), 0, "sum over count"
        else:
            count, count_noise = _count(room, rows, rest.share(COUNT))
            centre = self._centre(_sum(room, sums, rest.share(ROUGH), "rough"), count)
            deviation = total_of(Deviation(self.value, centre), self.per, PARTS)
            (sums,) = room.ask(TotalBuckets(deviation, boundaries))
            total = _sum(room, sums, rest.share(1 - ROUGH - COUNT), "sum")
            name = "sum around a rough mean over count"
        unit = self.value.unit
        spread = Quotient(total.value, count, total.noise, count_noise, float(unit / self._parts), float(unit * centre))
        return room.answer(
            self.words,
            spread.value,
            mechanism=f"{name}, each by: {Capper.of(rest).name}",
            spread=spread,
            per=self.per,
            unit=REAL,
        )

    @property
    def _parts(self) -> int:
        """Into how many parts of the unit totals are divided."""
        return PARTS if self.per == "person" else 1

    @property
    def _rows(self) -> Filled | Flags:
        """A person's share in the count."""
        if self.per == "person":
            return Flags(build.negation(build.is_null(self.value.expression)))
        return Filled(self.value)

    def _centre(self, rough: Released, count: int) -> int:
        """The rough mean in whole units."""
        return rough_centre(rough, max(count, 1) * self._parts, CLEAR, SATURATION)


def _parts(value: Value, name: str) -> tuple[Statistic, Statistic]:
    """A sum and the number of rows that have a value, as they are asked by themselves."""
    return Sum(value, name), Count(RowCount(value.expression), name)


def _sum(room: Room, totals: Buckets, allowance: Allowance, part: str) -> Released:
    """Both signs."""
    return Capper.of(allowance).release(room, totals, signed=True, part=part)


def _count(room: Room, rows: Buckets | FlagCounts, allowance: Allowance) -> tuple[int, Noise]:
    """Of rows, with a cap; or of persons."""
    if isinstance(rows, FlagCounts):
        law, noise = noisy(rows.true, allowance)
        return room.draw(law), noise
    released = Capper.of(allowance).release(room, rows, signed=False)
    return released.value, released.noise


@dataclass(frozen=True)
class GroupedMeans(Grouped, tag="GroupedMeans", sampled="itself"):
    """A mean for each group."""

    value: Value
    name: str
    groups: Groups
    per: Per = "row"
    key = "mean"
    by_totals = True

    @property
    def totals(self) -> tuple[OfPerson, ...]:
        """Sums and counts of groups."""
        return tuple(group_entries(entry, self.groups) for entry in self._entries)

    @property
    def _entries(self) -> tuple[Value, RowCount]:
        return self.value, RowCount(self.value.expression)

    @property
    def quotient_of(self) -> tuple[Statistic, Statistic] | None:
        """The sums and the counts by group."""
        top, bottom = _parts(self.value, self.name.removeprefix(Mean.phrase.format(name="")))
        return top.grouped(self.groups), bottom.grouped(self.groups)

    def release(self, room: Room) -> Answers:
        """Capped vectors of sums and of counts."""
        tops, bottoms = capped_vectors(room, self._entries, self.groups)
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


class AsksMean(Asking[AnswerT]):
    """The mean of a column."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Mean,
            "mean",
            sql={"Avg": lambda call: Mean.of(call.column)},
            made=Made("AVG(value)", lambda column: Mean.of(column("value")), draws=40),
            audited=(Audited("mean", Pure(4), lambda t, **c: t.mean("value", **c)),),
        ),
    )

    def mean(
        self, column: str, *, per: Per = "row", range: tuple[Number, Number] | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The mean over rows, or over persons of their means.

        Args:
            column: a column, or a SQL expression of columns.
            per: "row", or "person" for the mean of the persons' means.
            range: an optional public hint: values outside count as its ends.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.mean("amount", epsilon=0.5)
        Answer(mean of amount: ..., Pure(0.5))
        """
        return self._one(Mean.of(self._operand(column), per=per, range=range), epsilon, delta, rho, fresh)
