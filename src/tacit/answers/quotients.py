"""Errors of shares, means and variances: what follows from several noisy sums.

While each noise stays within its reach the sums lie in a box, and the interval holds every value that the quotient
takes there. The noises share what the confidence leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from tacit.answers.spreads import SURE, Covers, Ends, Spread, noun
from tacit.noises import Noise

if TYPE_CHECKING:
    from tacit.answers import Answer


@dataclass(frozen=True)
class Share(Spread):
    """low + (high − low)·b/(a + b) for two sums a, b ≥ 0 released with independent noise.

    On the box the share is smallest at (largest a, smallest b) and largest at the opposite corner.
    """

    rest: int
    part: int
    rest_noise: Noise
    part_noise: Noise
    low: float = 0.0
    high: float = 1.0
    covers: Covers = "truth"

    @property
    def value(self) -> float:
        """The share of the released sums; the middle of the range where they leave it open."""
        return self._at(max(self.rest, 0), max(self.part, 0), 0.5)

    def _at(self, rest: int, part: int, otherwise: float) -> float:
        share = part / (rest + part) if rest + part > 0 else otherwise
        return self.low + (self.high - self.low) * share

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """The opposite corners of the box."""
        rest, part = _box(confidence, (self.rest, self.rest_noise), (self.part, self.part_noise))
        low = self._at(max(rest[1], 0), max(part[0], 0), 0.0)
        high = self._at(max(rest[0], 0), max(part[1], 0), 1.0)
        return low, high

    @property
    def std(self) -> float:
        """To first order: √(a²·Var b + b²·Var a)/(a + b)², at most half the range."""
        a, b = max(self.rest, 0), max(self.part, 0)
        if a + b == 0:
            return (self.high - self.low) / 2
        rate = sqrt((a / (a + b)) ** 2 * self.part_noise.variance + (b / (a + b)) ** 2 * self.rest_noise.variance)
        return min((self.high - self.low) * rate / (a + b), (self.high - self.low) / 2)


@dataclass(frozen=True)
class Quotient(Spread):
    """offset + unit·a/b for a sum a and a count b released with independent noise.

    Where b stays above zero the quotient is largest and smallest at corners of the box.
    """

    top: int
    bottom: int
    top_noise: Noise
    bottom_noise: Noise
    unit: float = 1.0
    offset: float = 0.0
    covers = "capped value"

    @property
    def value(self) -> float:
        """The quotient, a count below one taken as one."""
        return self.offset + self.unit * self.top / max(self.bottom, 1)

    @property
    def std(self) -> float:
        """To first order."""
        b = max(self.bottom, 1)
        return self.unit * sqrt(self.top_noise.variance + (self.top / b) ** 2 * self.bottom_noise.variance) / b

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """The corners of the box; unbounded where the count may be zero."""
        tops, bottoms = _box(confidence, (self.top, self.top_noise), (self.bottom, self.bottom_noise))
        if bottoms[0] < 1:
            return -inf, inf
        corners = [self.offset + self.unit * a / b for a in tops for b in bottoms]
        return min(corners), max(corners)

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """The quotient of what the caps leave of each person."""
        return f"the {noun(answer)} with every person's share capped", "the truth may be far from it"

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval, or why there is none."""
        yield from super().sentences(answer, level)
        _, bottoms = _box(level, (self.top, self.top_noise), (self.bottom, self.bottom_noise))
        if bottoms[0] < 1:
            what = "persons" if answer.per == "person" else "rows"
            yield (
                f"There seem to be too few persons: the number of {what} that the mean is of may be 0, because at "
                f"this cost it is off by up to {self.bottom - bottoms[0]:,}."
            )


@dataclass(frozen=True)
class Variance(Spread):
    """(high−low)²·(m₂ − m₁²) from noisy sums of (1−t), t(1−t) and t²; its root for a standard deviation.

    The interval evaluates m₂ = c/n and m₁ = (b+c)/n over the box.
    """

    sums: tuple[int, int, int]
    noise: Noise
    width: float
    root: bool
    covers = "capped value"

    @property
    def value(self) -> float:
        """From the released sums, those below zero counted as zero."""
        a, b, c = (max(part, 0) for part in self.sums)
        n = a + b + c
        return self._turn(0.0 if n == 0 else c / n - ((b + c) / n) ** 2)

    def _turn(self, fraction: float) -> float:
        """A fraction of the squared width, which lies between 0 and 1/4."""
        inside = min(max(fraction, 0.0), 0.25) * self.width**2
        return sqrt(inside) if self.root else inside

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """Conservative ends."""
        down, up = self.noise.reach(1 - (1 - float(confidence)) / 3)
        low = [max(part - up, 0) for part in self.sums]
        high = [max(part + down, 0) for part in self.sums]
        if sum(low) == 0:
            return self._turn(0.0), self._turn(0.25)
        second_low, second_high = _over(low[2], high[0] + high[1]), _over(high[2], low[0] + low[1])
        first_low, first_high = _over(low[1] + low[2], high[0]), _over(high[1] + high[2], low[0])
        return self._turn(second_low - first_high**2), self._turn(second_high - first_low**2)


def _box(confidence: Fraction, *released: tuple[int, Noise]) -> list[tuple[int, int]]:
    """For each of two released sums the least and the largest that it may come from, both with this confidence."""
    each = (1 + float(confidence)) / 2
    reaches = ((value, noise.reach(each)) for value, noise in released)
    return [(value - up, value + down) for value, (down, up) in reaches]


def _over(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest > 0 else 1.0
