"""How far an answer may be off, from public and released facts only.

A spread is a frozen value that says what it covers: the truth, or what a cap or a sample left of it. An interval for
anything but the truth says so in words, and bounds nothing else. What all spreads share stands in `Spread`; each kind
of answer has its own beside it: sums and counts here, capped ones in `capped`, shares and means in `quotients`, minima
and quantiles in `order`, groups in `groups`, answers about samples in `sampled`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, Literal

from tacit.noises import Noise
from tacit.numbers.exact import WHOLE, Unit

if TYPE_CHECKING:
    from tacit.answers import Answer

Covers = Literal["truth", "capped value", "sampled value", "sampled, capped value"]
"""What an interval covers: the true value, the value after capping, or either of these on the sample that was asked."""

Ends = tuple[Any, Any]
"""The ends of an interval, each a number, date or time as the answer's value is, or ±inf."""

SURE = Fraction(95, 100)
"""The confidence of what is said in words."""

SUREST = Fraction("0.9999999999999")
"""The largest confidence: beyond it a double no longer tells what is missed."""


def noun(answer: Answer) -> str:
    """What an answer is, in one word: a sum, a count, a number, a mean, or a value."""
    first = answer.statistic.split(" ", 1)[0]
    return first if first in ("sum", "count", "number", "mean", "variance") else "value"


class Spread(ABC):
    """What is known about an answer's error."""

    @property
    @abstractmethod
    def covers(self) -> Covers:
        """What the interval covers."""

    @property
    def std(self) -> float | None:
        """Standard deviation of the noise in the value's unit; None where the noise is not added to a value."""
        return None

    @abstractmethod
    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """The ends of an interval that covers what `covers` names with at least this confidence."""

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """What the interval is of, in words, and what is known of the truth where that is something else."""
        return f"the {self.covers}", "" if self.covers == "truth" else "the truth may be far from it"

    def persons_above(self, confidence: Fraction) -> int | None:
        """With this confidence no more persons than this exceed the cap; None where there is no cap."""
        return None

    def at_least(self, value: Any, confidence: Fraction) -> Any:
        """The truth is at least this with this confidence; None where nothing bounds it below."""
        low = self.interval(value, confidence)[0] if self.covers == "truth" else -inf
        return None if low == -inf else low

    def proviso(self, answer: Answer) -> str:
        """What must not be missed about the value, said right after it; mostly nothing."""
        return ""

    def brief(self, confidence: Fraction) -> str:
        """What a table shows where nothing bounds the value; mostly nothing."""
        return ""

    def truth(self, confidence: Fraction) -> Ends | None:
        """Between what the truth lies, where the interval covers something else; None where nothing bounds it."""
        return None

    def cut(self, level: Fraction) -> str:
        """Whom a cap concerns, in a sentence as sure as ``level``, which says 95 %; mostly nothing."""
        return ""

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The statement in words: as sure as ``level``, so that 95 % are left of it where the answer was chosen."""
        interval = answer.interval()
        if interval.low == -inf and interval.high == inf:
            yield f"At this cost nothing bounds {interval.of}."
        else:
            yield f"Noise interval, {interval}."


@dataclass(frozen=True)
class Additive(Spread):
    """Released = value + noise, counted in steps of a unit."""

    noise: Noise
    unit: Unit = WHOLE
    covers: Covers = "truth"

    @property
    def std(self) -> float:
        """√Var·step."""
        return sqrt(self.noise.variance) * float(self.unit.step)

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """[released − up, released + down]."""
        down, up = self.noise.reach(float(confidence))
        return value - self.unit.value(up), value + self.unit.value(down)


@dataclass(frozen=True)
class Around(Spread):
    """The error of an answer that was made of another one's: it covers the same, with the same noise."""

    inside: Spread

    @property
    def covers(self) -> Covers:
        """As of what is inside."""
        return self.inside.covers

    @property
    def std(self) -> float | None:
        """Of the noise that was added."""
        return self.inside.std


@dataclass(frozen=True)
class Chosen(Around):
    """The error of an answer that was chosen by its value among several, whose noise may be why it was chosen.

    With each of the m intervals missing its value with probability at most β/m, all of them hold with 1 − β, and so do
    those chosen, however they were.
    """

    among: int

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """As before the choice, as sure as the interval."""
        level = self._level(confidence)
        return self.inside.meaning(answer, level) if level <= SUREST else super().meaning(answer, confidence)

    def _level(self, confidence: Fraction) -> Fraction:
        return 1 - (1 - confidence) / self.among

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """One of m that hold together; without ends where that is surer than a double can tell."""
        level = self._level(confidence)
        return self.inside.interval(value, level) if level <= SUREST else (-inf, inf)

    def persons_above(self, confidence: Fraction) -> int | None:
        """As the interval."""
        level = self._level(confidence)
        return self.inside.persons_above(level) if level <= SUREST else None

    def at_least(self, value: Any, confidence: Fraction) -> Any:
        """As the interval."""
        level = self._level(confidence)
        return self.inside.at_least(value, level) if level <= SUREST else None

    def truth(self, confidence: Fraction) -> Ends | None:
        """As the interval."""
        level = self._level(confidence)
        return self.inside.truth(level) if level <= SUREST else None

    def cut(self, level: Fraction) -> str:
        """As the interval."""
        level = self._level(level)
        return self.inside.cut(level) if level <= SUREST else ""

    def brief(self, confidence: Fraction) -> str:
        """As the interval."""
        level = self._level(confidence)
        return self.inside.brief(level) if level <= SUREST else ""

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """What was said before the choice, with this interval, and the choice."""
        level = self._level(level)
        if level <= SUREST:
            yield from self.inside.sentences(answer, level)
        yield f"Chosen among {self.among:,} by their released values; what is said of all of these holds together."
