"""What was released about a capped statistic where a row may concern several persons: a cap, and the value there.

`tacit.mechanisms.totals.capped_flow` draws these and proves that the rates of a `FlowDesign` keep its promise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from tacit.answers.totals import Total
from tacit.noises import Lopsided, Noise, Rounded
from tacit.numbers.exact import Number

PARTS = 64
"""A capped value is rounded to this part of its cap."""
_OFFSET = Fraction(34, 89)
"""Far from every fraction with a small denominator, where capped values like to be: near it bounds would have to agree
to many digits."""


def step_of(cap: int) -> int:
    """The step to which the value at a cap is rounded: a 64th of the cap where that is whole, else 1."""
    return cap // PARTS if cap % PARTS == 0 else 1


def _edge(step: int) -> Fraction:
    """Up to this far above a multiple of the step a value is rounded to that multiple: about half a step."""
    return (step + 1) // 2 - _OFFSET


def rounded(value: Fraction, cap: int) -> int:
    """A capped value as a multiple of the cap's step, one of the two nearest."""
    step = step_of(cap)
    return step * ceil((value - _edge(step)) / step)


def rounding(noise: Noise, cap: int) -> Noise:
    """The error of a value at a cap that was rounded before it got its noise."""
    step = step_of(cap)
    return noise if step == 1 else Rounded(noise, step)


@dataclass(frozen=True)
class FlowDesign(ABC):
    """The public parameters of a way to choose, as shares of ε."""

    @property
    @abstractmethod
    def share(self) -> Fraction:
        """What the choice would cost alone."""

    @property
    @abstractmethod
    def charged(self) -> tuple[Fraction, Fraction]:
        """What the choice takes of the noise's rates above and below 0."""

    @property
    @abstractmethod
    def sound(self) -> bool:
        """Whether the promise's conditions hold."""

    @property
    @abstractmethod
    def factor(self) -> int:
        """The cap at which L is released, over the level that was chosen."""

    @property
    def up(self) -> Fraction:
        """The rate of the noise above 0, times the cap."""
        return 1 - self.charged[0]

    @property
    def down(self) -> Fraction:
        """The rate of the noise below 0, times the cap."""
        return 1 - self.charged[1]

    def noise(self, cap: int, epsilon: Fraction) -> Lopsided:
        """The noise at a cap."""
        return Lopsided(self.up * epsilon / cap, self.down * epsilon / cap)


@dataclass(frozen=True)
class Weighed(FlowDesign):
    """A level in proportion to a prior and to how few persons gain beyond it; released at the level."""

    weight: Fraction = Fraction(4, 25)
    """κ."""
    ratio: Fraction = Fraction(9, 20)
    """How the prior falls from level to level: about λ^-2.3."""
    parts: int = 16
    """R, the parts of a person in which the loss is counted."""
    least: int = 2**30
    """Levels of the largest loss weigh at most one over this, whatever the data."""
    factor = 1

    @property
    def share(self) -> Fraction:
        """3κ."""
        return 3 * self.weight

    @property
    def charged(self) -> tuple[Fraction, Fraction]:
        """3κ and (2 + 1/R)·κ."""
        return 3 * self.weight, (2 + Fraction(1) / self.parts) * self.weight

    @property
    def sound(self) -> bool:
        """Whether the promise's conditions hold."""
        return self.up > 0 and self.down >= self.weight > 0 and self.parts >= 1


@dataclass(frozen=True)
class Doubled(Weighed):
    """A level as by `Weighed`; released at twice the level, which lets the choice take less of the noise."""

    weight: Fraction = Fraction(1, 10)
    ratio: Fraction = Fraction(2, 5)
    factor = 2

    @property
    def charged(self) -> tuple[Fraction, Fraction]:
        """2κ and 3κ."""
        return 2 * self.weight, 3 * self.weight

    @property
    def sound(self) -> bool:
        """Whether the promise's conditions hold."""
        return self.up >= 2 * self.weight > 0 and self.down > 0 and self.parts >= 1


@dataclass(frozen=True)
class Scanned(FlowDesign):
    """The first level that few persons gain beyond; released at twice the level."""

    threshold: Fraction = Fraction(4, 25)
    """ε1, the rate of the scan's threshold."""
    each: Fraction = Fraction(3, 50)
    """ε2, the rate of each of its comparisons."""
    offset: Fraction = Fraction(20)
    """c·ε."""
    limit: Fraction = Fraction(450)
    """Losses are limited to this over ε: e^{-25} is the chance to stop at a level of that loss."""
    factor = 2

    @property
    def share(self) -> Fraction:
        """2ε1 + 3ε2."""
        return 2 * self.threshold + 3 * self.each

    @property
    def charged(self) -> tuple[Fraction, Fraction]:
        """2ε1 + 2ε2 and ε1 + 3ε2."""
        return 2 * self.threshold + 2 * self.each, self.threshold + 3 * self.each

    @property
    def sound(self) -> bool:
        """Whether the promise's conditions hold."""
        return self.up >= 2 * self.each > 0 and self.down > 0 and self.threshold > 0


WEIGHED, DOUBLED, SCANNED = Weighed(), Doubled(), Scanned()


@dataclass(frozen=True)
class CappedFlow(Total):
    """What was released: a cap, and the statistic with every person capped there, with noise."""

    cap: int
    value: int
    epsilon: Fraction
    design: FlowDesign

    @property
    def noise(self) -> Lopsided:
        """The noise of the value."""
        return self.design.noise(self.cap, self.epsilon)

    def reach(self, confidence: Number = "0.95") -> tuple[int, int]:
        """Integers (down, up), not negative: with this confidence L(cap) lies in [value − up, value + down]."""
        reach, step = self.noise.reach(confidence), step_of(self.cap)
        return reach if step == 1 else Rounded(self.noise, step).widened(*reach)

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return self.noise.variance
