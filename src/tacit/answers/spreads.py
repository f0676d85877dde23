"""How far an answer may be off, from public and released facts only: what a noise's `reach` makes of a value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, Literal, Protocol

from tacit.noises import Noise
from tacit.numbers.units import WHOLE, Unit

Covers = Literal["truth", "capped value", "sampled value", "sampled, capped value"]
"""What an interval covers: the true value, the value after capping, or either of these on the sample that was asked."""


class Spread(Protocol):
    """What is known about an answer's error."""

    @property
    def covers(self) -> Covers:
        """What the interval covers."""
        ...

    @property
    def std(self) -> float | None:
        """Standard deviation of the noise in the value's unit."""
        ...

    def interval(self, value: Any, confidence: Fraction) -> tuple[Any, Any]:
        """The ends of an interval that covers what `covers` names."""
        ...

    def persons_above(self, confidence: Fraction) -> int | None:
        """At most so many persons exceed the cap."""
        ...

    def sentences(self, answer: Any) -> Iterator[str]:
        """The statement in words."""
        ...


@dataclass(frozen=True)
class Additive:
    """Released = value + noise, counted in steps of a unit."""

    noise: Noise
    unit: Unit = WHOLE
    covers: Covers = "truth"

    @property
    def std(self) -> float:
        """√Var·step."""
        return sqrt(self.noise.variance) * float(self.unit.step)

    def interval(self, value: Any, confidence: Fraction) -> tuple[Any, Any]:
        """[released − up, released + down]."""
        down, up = self.noise.reach(float(confidence))
        return value - self.unit.value(up), value + self.unit.value(down)

    def persons_above(self, confidence: Fraction) -> int | None:
        """No cap was used."""
        return None

    def sentences(self, answer: Any) -> Iterator[str]:
        """The interval."""
        yield f"Noise interval, {answer.interval()}."


@dataclass(frozen=True)
class Chosen:
    """The error of an answer that was chosen by its value among several, whose noise may be why it was chosen.

    With each of the m intervals missing its value with probability at most β/m, all of them hold with 1 − β, and so do
    those chosen, however they were.
    """

    inside: Spread
    among: int

    @property
    def covers(self) -> Covers:
        """As before the choice."""
        return self.inside.covers

    @property
    def std(self) -> float | None:
        """Of the noise, chosen or not."""
        return self.inside.std

    def _level(self, confidence: Fraction) -> Fraction:
        return 1 - (1 - confidence) / self.among

    def interval(self, value: Any, confidence: Fraction) -> tuple[Any, Any]:
        """One of m that hold together."""
        return self.inside.interval(value, self._level(confidence))

    def persons_above(self, confidence: Fraction) -> int | None:
        """As the interval."""
        return self.inside.persons_above(self._level(confidence))

    def sentences(self, answer: Any) -> Iterator[str]:
        """What was said before the choice, with this interval, and the choice."""
        yield from self.inside.sentences(answer)
        yield f"Chosen among {self.among:,} by their released values; the intervals of all of these hold together."
