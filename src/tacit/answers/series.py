"""A series: noisy totals of every node of trees over bins of time, and what follows from them at no further cost.

A *chapter* is what one charge pays for: a cap, chosen privately, on what a person counts for over all bins of the
chapter, and noise on every node of its trees (`tacit.mechanisms.totals.running_totals`). A series goes on inside its
last chapter, or begins a new one. It holds what was released and public facts, so it can be stored and continued.

ESTIMATES  The bins of each block fit its nodes by least squares (`nodes`). Cumulative totals are rounded to whole units
and bins and ranges are differences of them, so all of them add up exactly. With every release estimates of earlier bins
get better, so they are revised; what was told before stays true with its own interval.

ERROR  As of margins (`tacit.answers.margins`): variances of blocks and chapters add up, and the bound by exponential
moments holds for the sum with the largest scale of all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal

from tacit.answers.answer import Answer
from tacit.answers.certificates import Release
from tacit.answers.margins import Combined
from tacit.answers.nodes import Block, Fit
from tacit.answers.several import Answers
from tacit.answers.spreads import SURE
from tacit.answers.values import Value, show
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee
from tacit.numbers.exact import WHOLE, Unit

Every = Literal["day", "week", "month", "quarter", "year"]
EVERY: tuple[Every, ...] = ("day", "week", "month", "quarter", "year")
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_DAYS = {"day": 1, "week": 7}

MECHANISM = "persons capped over a chapter at a privately chosen cap, noise on every node of trees, then least squares"


def period_of(day: date, every: str) -> date:
    """The first day of the period that a day lies in; a week begins on Monday."""
    if every in _MONTHS:
        months = _MONTHS[every]
        return date(day.year, (day.month - 1) // months * months + 1, 1)
    return day - timedelta(days=day.weekday() if every == "week" else 0)


def later(first: date, every: str, count: int) -> date:
    """The first day of the period so many after the one that begins on this day."""
    if every in _DAYS:
        return first + timedelta(days=count * _DAYS[every])
    months = first.year * 12 + first.month - 1 + count * _MONTHS[every]
    return date(months // 12, months % 12 + 1, 1)


def periods_between(first: date, last: date, every: str) -> int:
    """How many periods lie between the beginnings of two."""
    if every in _DAYS:
        return (last - first).days // _DAYS[every]
    return (12 * (last.year - first.year) + last.month - first.month) // _MONTHS[every]


@dataclass(frozen=True)
class Nodes:
    """What was released for the nodes of a chapter's blocks."""

    amount: Fraction
    """The ε, or ρ, that pays for the noise on all of them."""
    moves: int
    """By how much one person moves the bins of the chapter altogether."""
    concentrated: bool
    """Whether the noise is Gaussian, for ρ."""
    totals: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """For each block and each level the noisy totals of the complete nodes."""

    def scale(self, weight: Fraction) -> float:
        """The scale of Laplace noise on a node of a level of this weight."""
        return float(self.moves / (self.amount * weight))

    def variance(self, weight: Fraction) -> float:
        """One that bounds the exponential moments of the noise on a node."""
        if self.concentrated:
            return float(Fraction(self.moves**2) / (2 * self.amount * weight))
        return 2 * self.scale(weight) ** 2

    def fit(self, block: Block, done: int) -> Fit:
        """The fit of a block of which so many bins are there."""
        return Fit(block, done, tuple(self.variance(weight) for weight in block.weights))


@dataclass(frozen=True)
class Chapter:
    """What one charge paid for: a cap and the noisy nodes of some blocks."""

    guarantee: Guarantee
    """What it cost, for all that was and will be released in it."""
    cap: int
    """What a person counts for at most over all of its bins, in steps of the unit."""
    bins: int
    """How many bins were released."""
    opened: int
    """How many of them were released when it was opened."""
    blocks: tuple[Block, ...]
    totals: Nodes
    cuts: Nodes | None
    """How many persons reached the cap in each bin; None where nobody can."""
    tolerated: int
    """So many persons may reach the cap after the opening before the data have outgrown it."""
    charge: int = 0
    """The number of the charge that paid for it."""

    def parts(self) -> Iterator[tuple[int, int, int]]:
        """For each block its place, its first bin, and how many of its bins are there."""
        first = 0
        for place, block in enumerate(self.blocks):
            yield place, first, min(block.bins, self.bins - first)
            first += block.bins

    def estimates(self, nodes: Nodes) -> list[float]:
        """The bins that fit the nodes best."""
        found: list[float] = []
        for place, _, done in self.parts():
            found += nodes.fit(self.blocks[place], done).bins(nodes.totals[place])
        return found

    def error(self, nodes: Nodes, first: int, after: int) -> tuple[float, float]:
        """The variance of the total of some bins, and the largest scale of Laplace noise in it."""
        variance, largest = 0.0, 0.0
        for place, begin, done in self.parts():
            low, high = max(first - begin, 0), min(after - begin, done)
            if low >= high:
                continue
            block = self.blocks[place]
            part, most = nodes.fit(block, done).error(low, high)
            variance += part
            if not nodes.concentrated:
                scales = [each * nodes.scale(weight) for each, weight in zip(most, block.weights, strict=True)]
                largest = max(largest, *scales)
        return variance, largest

    @cached_property
    def cut_since_opening(self) -> Combined | None:
        """How many persons reached the cap after the opening, as far as is known."""
        if self.cuts is None or self.bins == self.opened:
            return None
        return Combined(sum(self.estimates(self.cuts)[self.opened :]), *self.error(self.cuts, self.opened, self.bins))

    @property
    def outgrown(self) -> bool:
        """Whether more persons than the choice of a cap tolerates have reached it since, with 95 % confidence."""
        known = self.cut_since_opening
        return known is not None and bool(known.interval(round(known.estimate), SURE)[0] > self.tolerated)


@dataclass(frozen=True)
class SeriesError(Combined):
    """The error of a bin, or of the total of several."""

    caps: str = ""
    """How persons are capped, in words."""

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """The total as capped."""
        return f"the total with {self.caps}", "the truth may be far from a capped value"

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval, and that everything adds up."""
        yield f"Noise interval, {answer.interval()}."
        yield "Bins, cumulative totals and ranges add up."


@dataclass(frozen=True)
class Told:
    """What was released of a series, and public facts: all that it takes to continue it."""

    statistic: str
    """What is counted or added up, in words."""
    name: str
    """The column of dates."""
    every: str
    """How long a period is."""
    start: date
    """The first day of the first period."""
    chapters: tuple[Chapter, ...]
    protected: str
    """Who is protected."""
    unit: Unit = WHOLE
    per: str = "row"
    """Whether rows or persons count."""
    private: bool = True
    """False when a seeded source made the noise."""
    asked: datetime = field(default_factory=lambda: datetime.now(UTC))
    """When the last period was released."""
    stored: bool = False
    """Whether it was returned at no cost, with nothing new in it."""


class Series(Answers):
    """A total for each period, with cumulative totals and totals of ranges that agree with them.

    It is a mapping from the first day of each period to its `Answer`, and prints as a table.

    >>> series = orders.series("day", every="month", of="count", start="2025-01-01", until="2025-06-30", epsilon=1)
    >>> len(series)
    6
    >>> series.between("2025-01-01", "2025-03-31").value == sum(list(series.values())[i].value for i in range(3))
    True
    """

    def __init__(self, told: Told, releases: tuple[Release, ...] = ()) -> None:
        """What was released of a series, as a ledger keeps it.

        Args:
            told: what was released, and public facts.
            releases: what was charged and drawn.
        """
        self.told, self.releases = told, releases
        self.statistic, self.name, self.every, self.start = told.statistic, told.name, told.every, told.start
        self.chapters, self.unit = told.chapters, told.unit
        self.guarantee = _added(chapter.guarantee for chapter in told.chapters)

    @property
    def stored(self) -> bool:
        """Whether nothing was released anew."""
        return self.told.stored

    def as_stored(self) -> Series:
        """The same series, marked as returned again at no cost.

        >>> series.as_stored().stored
        True
        """
        return Series(replace(self.told, stored=True), self.releases)

    # Periods

    @property
    def bins(self) -> int:
        """How many periods were released."""
        return sum(chapter.bins for chapter in self.chapters)

    @cached_property
    def periods(self) -> tuple[date, ...]:
        """The first day of each period."""
        return tuple(later(self.start, self.every, place) for place in range(self.bins))

    @property
    def until(self) -> date:
        """The last day that the series covers."""
        return later(self.start, self.every, self.bins) - timedelta(days=1)

    def _place(self, day: date | str, name: str) -> int:
        found = bisect_right(self.periods, day_of(day, name)) - 1
        if found < 0 or day_of(day, name) > self.until:
            raise InvalidInput(f"{name} must lie between {self.start} and {self.until}, the days the series covers.")
        return found

    # Values

    @cached_property
    def _running(self) -> list[Fraction]:
        """The total before each bin, and in all; rounded to whole units they are what is told."""
        estimates = [x for chapter in self.chapters for x in chapter.estimates(chapter.totals)]
        return list(accumulate(map(Fraction, estimates), initial=Fraction(0)))

    @cached_property
    def _answers(self) -> dict[Any, Answer]:  # type: ignore[override]
        return {day: self._total(place, place + 1) for place, day in enumerate(self.periods)}

    def _total(self, first: int, after: int) -> Answer:
        """The answer for some neighbouring periods."""
        variance, largest, begin, caps = 0.0, 0.0, 0, []
        for number, chapter in enumerate(self.chapters):
            low, high = max(first - begin, 0), min(after - begin, chapter.bins)
            if low < high:
                part, most = chapter.error(chapter.totals, low, high)
                variance, largest = variance + part, max(largest, most)
                caps.append((number, chapter.cap))
            begin += chapter.bins
        total, estimate = (
            round(self._running[after]) - round(self._running[first]),
            self._running[after] - self._running[first],
        )
        spread = SeriesError(float(estimate), variance, largest, self.unit, caps=self._capped(caps))
        return Answer(
            statistic=self._words(first, after),
            value=self.unit.value(total),
            guarantee=self.guarantee,
            mechanism=MECHANISM,
            protected=self.told.protected,
            per="person" if self.told.per == "person" else "row",
            unit=str(self.unit),
            spread=spread,
            cap=self.unit.value(caps[0][1]) if len(caps) == 1 else None,
            private=self.told.private,
            asked=self.told.asked,
            stored=self.told.stored,
            releases=self.releases,
        )

    def _capped(self, caps: list[tuple[int, int]]) -> str:
        """How persons are capped in some chapters."""
        ends = list(accumulate((chapter.bins for chapter in self.chapters), initial=0))
        words = []
        for number, cap in caps:
            since = self.periods[ends[number]]
            last = number == len(self.chapters) - 1
            when = f"from {since} on" if last else f"from {since} to {self.periods[ends[number + 1] - 1]}"
            words.append(f"nobody counted beyond {show(self.unit.value(cap))} {when}")
        return " and ".join(words)

    def _words(self, first: int, after: int) -> str:
        if after - first == 1:
            return f"{self.statistic}, {self.every} of {self.periods[first]}"
        return f"{self.statistic} from {self.periods[first]} to {later(self.start, self.every, after) - timedelta(1)}"

    def cumulative(self) -> Answers:
        """The total from the beginning through each period.

        >>> list(series.cumulative().values())[-1].value == sum(answer.value for answer in series.values())
        True
        """
        found = {day: self._total(0, place + 1) for place, day in enumerate(self.periods)}
        return Answers(found, self.guarantee, self.name, self.releases)

    def between(self, first: date | str, last: date | str) -> Answer:
        """The total of neighbouring periods.

        Args:
            first: a day of the first period.
            last: a day of the last period, which counts.

        >>> series.between("2025-02-01", "2025-03-31")
        Answer(number of rows from 2025-02-01 to 2025-03-31: ..., Pure(1))
        """
        begin, end = self._place(first, "first"), self._place(last, "last")
        if begin > end:
            raise InvalidInput("first must not be later than last.")
        return self._total(begin, end + 1)

    # The cap

    @property
    def cap(self) -> Value:
        """What a person counts for at most over all periods of the last chapter.

        >>> series.cap > 0
        True
        """
        return self.unit.value(self.chapters[-1].cap)

    @property
    def outgrown(self) -> bool:
        """Whether the data have outgrown the cap: more persons reached it since the chapter began than it tolerates.

        It is told from released numbers. With ``renew=True`` the next periods begin a new chapter, at its own cost.

        >>> series.outgrown
        False
        """
        return self.chapters[-1].outgrown

    def __str__(self) -> str:
        extra = "\nThe data have outgrown the cap; renew=True begins a new chapter at the cost it names."
        return super().__str__() + (extra if self.outgrown else "")

    def __repr__(self) -> str:
        return f"<Series of {self.statistic} by {self.every}, {self.start} to {self.until}: {self.guarantee!r}>"


def _added(guarantees: Iterable[Guarantee]) -> Guarantee:
    first, *rest = guarantees
    for guarantee in rest:
        first = first + guarantee
    return first


def day_of(day: date | str, name: str) -> date:
    """A day as people write it."""
    if isinstance(day, datetime):
        return day.date()
    if isinstance(day, date):
        return day
    try:
        return date.fromisoformat(str(day) + "-01" if len(str(day)) == 7 else str(day))
    except ValueError:
        raise InvalidInput(f"{name} must be a day such as '2026-11-01'.") from None
