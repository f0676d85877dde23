"""Errors of minima, maxima and quantiles: how many persons may lie beyond, or how far a rank may be off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, log
from typing import TYPE_CHECKING, Any, Literal

from tacit.answers.spreads import SURE, Covers, Ends, Spread
from tacit.answers.values import Value, counted, show

if TYPE_CHECKING:
    from tacit.answers import Answer

What = Literal["rows", "persons"]
"""What ranks count."""

Levels = tuple[tuple[Fraction, int | None], ...]
"""For each of some confidences a number of persons; None where nothing is promised."""


def persons_at(levels: Levels, confidence: Fraction) -> int | None:
    """The number of persons for the least of the confidences that is large enough."""
    return next((count for level, count in levels if level >= confidence and count is not None), None)


@dataclass(frozen=True)
class Inner(Spread):
    """A value inside the data: with stated confidence few persons lie beyond it and the true extreme does."""

    largest: bool
    beyond: Levels
    """How many persons may lie beyond the value."""
    inner: Value
    """With the same confidence the extreme is not inside of this: the answer before its rounding outward."""
    covers = "truth"

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """One-sided: nothing bounds an extreme from outside without an assumption."""
        if persons_at(self.beyond, confidence) is None:
            return -inf, inf
        return (self.inner, inf) if self.largest else (-inf, self.inner)

    def persons_above(self, confidence: Fraction) -> int | None:
        """A bound on the number of persons beyond the value."""
        return persons_at(self.beyond, confidence)

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """What bounds the true one, and how many persons may lie beyond."""
        count = persons_at(self.beyond, level)
        if answer.value is not None and count is not None:
            bound, side = ("at least", "above") if self.largest else ("at most", "below")
            yield f"The true one is {bound} {show(self.inner)} (95 %) and may lie further out."
            yield self._lie(count, side)

    def _lie(self, count: int, side: str) -> str:
        return f"At most {count:,} persons lie {side} the answer (95 %)."


@dataclass(frozen=True)
class InnerOfGroup(Inner):
    """The same for one of several groups: a person in m of them counts there for 1/m of a person."""

    def persons_above(self, confidence: Fraction) -> int | None:
        """None: how many persons make up the weight is not known."""
        return None

    def _lie(self, count: int, side: str) -> str:
        return (
            f"At most {count:,} persons lie {side} the answer, a person in several groups counted for a part in each "
            "(95 %)."
        )


@dataclass(frozen=True)
class Fallen(Spread):
    """A value inside the data: the statistic is at least that, and without a few persons not above it."""

    persons: Levels
    """How many persons it takes."""
    least: Value
    """With the same confidence the statistic is at least this: the answer before its rounding up to the grid."""

    @property
    def covers(self) -> Covers:
        """The statistic itself."""
        return "truth"

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """One-sided: nothing bounds a total from above without an assumption."""
        return (-inf if persons_at(self.persons, confidence) is None else self.least), inf

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """What the value means."""
        count = persons_at(self.persons, level)
        if count is not None:
            yield (
                f"With 95 % confidence the true one is at least {show(self.least)}, and without at most {count:,} "
                "persons it would not lie above the answer."
            )


@dataclass(frozen=True)
class FallenWithin(Fallen):
    """The same of a function that was evaluated for so many persons at most, and counts as the highest value beyond."""

    most: int = 0

    @property
    def covers(self) -> Covers:
        """The function as it counts."""
        return "capped value"

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """The function itself up to that number."""
        few = f"{self.most:,} persons"
        return f"the value, with more than {few} the grid's highest", f"the truth if there are at most {few}"

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """What the value means."""
        count = persons_at(self.persons, level)
        if count is not None:
            yield (
                f"If there are at most {self.most:,} persons, the true one is at least {show(self.least)}, and without "
                f"at most {counted(count, 'person')} it would not lie above the answer (95 %). With more persons it "
                "counts as the grid's highest value."
            )


@dataclass(frozen=True)
class Changed(Spread):
    """A value that the statistic would take if a few persons came or went."""

    persons: Levels
    """How many it takes."""
    within: float = 0.0
    """How near is near enough."""
    covers = "truth"

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """Unbounded: how far a few persons can move the statistic is not released."""
        return -inf, inf

    def brief(self, confidence: Fraction) -> str:
        """The error in persons, short."""
        count = persons_at(self.persons, confidence)
        return "" if count is None else f"± {counted(count, 'person')}"

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """What the value means."""
        count = persons_at(self.persons, level)
        near = f"within {self.within:g} of the answer" if self.within else "the answer"
        if count is None:
            yield "At this cost nothing is known of how many persons would have to change for it to be the truth."
        elif count == 0:
            yield f"With 95 % confidence the truth is {near}."
        else:
            yield (
                f"With 95 % confidence at most {counted(count, 'person')} would have to come or go for the truth to be "
                f"{near}."
            )


@dataclass(frozen=True)
class Ranked(Spread):
    """A quantile whose rank is off by a bounded amount; in the column's own unit nothing is known."""

    epsilon: Fraction
    size: float
    """How many values the grid has."""
    step: float
    """How much weight one step of the loss is."""
    what: What
    place: int = 1
    """Its place in the chain of quantiles between which it was drawn."""

    @property
    def covers(self) -> Covers:
        """Ranks of rows are those after the cap on a person's rows."""
        return "capped value" if self.what == "rows" else "truth"

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """The quantile, or that of the rows as capped."""
        if self.what == "persons":
            return "the truth", ""
        return "the quantile of rows as capped", "that of all rows may lie elsewhere"

    def rank_error(self, confidence: Fraction) -> float:
        """(2/ε)·ln(|Y|/β) lattice steps, for each of the chain with its part of β."""
        steps = 2 * log(self.size * self.place / float(1 - confidence)) / float(self.epsilon) + 1
        return steps * self.step * self.place

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """Unbounded: how far neighbouring values lie apart is not released."""
        return -inf, inf

    def brief(self, confidence: Fraction) -> str:
        """The error in ranks, short."""
        return f"rank ± {ceil(self.rank_error(confidence)):,} {self.what}"

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The error in ranks."""
        error = ceil(self.rank_error(level))
        rows = self.what == "rows"
        limit = f"{error:,} {'rows as capped' if rows else 'persons'} (95 %)"
        more = "; among all rows it may be off by more" if rows else ""
        yield f"With values rounded as the answer is, its rank is off by at most {limit}{more}."
        if self._alone:
            few = f"{2 * error:,} {'rows as capped' if rows else 'persons'}"
            yield f"With fewer than {few} it may lie beyond all of them."

    @property
    def _alone(self) -> bool:
        """Whether nothing is known but its rank: then that of half of few rows may lie beyond all of them."""
        return True


@dataclass(frozen=True)
class Between(Ranked):
    """The same with an interval in the column's own unit, found beside it for 95 % (`statistics.ways.sides`)."""

    low: Value = None
    """The quantile is at least this; None where too few persons lie below."""
    high: Value = None
    """The quantile is at most this."""

    @property
    def _alone(self) -> bool:
        """Where no interval was found."""
        return self.low is self.high is None

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """As found; nothing is known with more than 95 %."""
        if confidence > SURE:
            return -inf, inf
        return (-inf if self.low is None else self.low), (inf if self.high is None else self.high)

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval, or that both ends are open: told only when it has ends it would hold less often."""
        if self._alone:
            yield "No interval in its own unit was found: at this cost too few persons lie on either side."
        else:
            yield f"Interval, {answer.interval()}."
        yield from super().sentences(answer, level)
