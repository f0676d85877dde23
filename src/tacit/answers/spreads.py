"""How far an answer may be off, from public and released facts only.

A noise states integers (down, up) with P[−down ≤ Z ≤ up] ≥ confidence. Since released = value + Z, the value
lies in [released − up, released + down]. Quantiles are computed from the closed form of the tail and rounded
outward, so that the stated confidence is never less than promised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, inf, log, sqrt
from statistics import NormalDist
from typing import Any, Literal, Protocol

from tacit.numbers.units import WHOLE, Unit

Covers = Literal["truth", "capped value", "sampled value", "sampled, capped value"]
"""What an interval covers: the true value, the value after capping, or either of these on the sample that was asked."""


class Noise(Protocol):
    """Integer noise with a known law."""

    def tails(self, confidence: float) -> tuple[int, int]:
        """Integers (down, up) with P[−down ≤ Z ≤ up] ≥ confidence."""
        ...

    @property
    def variance(self) -> float:
        """Var Z."""
        ...


@dataclass(frozen=True)
class TwoSidedGeometric:
    """P(z) ∝ e^{−above·z} for z ≥ 0 and e^{−below·|z|} for z < 0; discrete Laplace when the two agree."""

    above: Fraction
    below: Fraction

    def _mass(self) -> tuple[float, float]:
        """The probabilities of z ≥ 0 and of z < 0."""
        up = -1 / expm1(-float(self.above))
        down = exp(-float(self.below)) / -expm1(-float(self.below))
        return up / (up + down), down / (up + down)

    def tails(self, confidence: float) -> tuple[int, int]:
        """P[Z > m] = p₊·e^{−a(m+1)}, P[Z < −m] = p₋·e^{−bm}; each side takes half of what is left."""
        tail = _half_miss(confidence)
        p_up, p_down = self._mass()
        up = log(p_up / tail) / float(self.above) - 1
        down = log(p_down / tail) / float(self.below) if p_down > tail else 0.0
        return _outward(down), _outward(up)

    @property
    def variance(self) -> float:
        """From the moments of the two geometric halves."""
        p_up, p_down = self._mass()
        (m1, v1), (m2, v2) = _geometric(float(self.above)), _geometric(float(self.below))
        m2 = m2 + 1  # the lower half starts at −1
        mean = p_up * m1 - p_down * m2
        return p_up * (v1 + m1 * m1) + p_down * (v2 + m2 * m2) - mean * mean


@dataclass(frozen=True)
class DiscreteGaussian:
    """P(z) ∝ e^{−z²/(2·scale²)} on the integers, ``squared_scale`` = scale²."""

    squared_scale: Fraction

    def tails(self, confidence: float) -> tuple[int, int]:
        """P[Z > m] ≤ P[N ≥ m] for the normal N of the same scale."""
        m = _outward(-NormalDist().inv_cdf(_half_miss(confidence)) * sqrt(self.squared_scale))
        return m, m

    @property
    def variance(self) -> float:
        """At most the normal's."""
        return float(self.squared_scale)


@dataclass(frozen=True)
class Difference:
    """X − Y for independent noises: each gets half of what the confidence leaves."""

    first: Noise
    second: Noise

    def tails(self, confidence: float) -> tuple[int, int]:
        """By the union bound."""
        each = (1 + confidence) / 2
        (d1, u1), (d2, u2) = self.first.tails(each), self.second.tails(each)
        return d1 + u2, u1 + d2

    @property
    def variance(self) -> float:
        """The sum of the two."""
        return self.first.variance + self.second.variance


def _geometric(rate: float) -> tuple[float, float]:
    """Mean and variance of P(z) ∝ e^{−rate·z} on z = 0, 1, 2, …"""
    mean = 1 / expm1(rate) if rate < 700 else 0.0
    return mean, mean * (mean + 1)


def _half_miss(confidence: float) -> float:
    """What one side may miss, less what rounding the confidence may have hidden."""
    return (1 - confidence) / 2 - 2**-53


def _outward(x: float) -> int:
    return max(0, ceil(x + abs(x) * 1e-12))


def laplace_noise(epsilon: Fraction, sensitivity: Fraction | int = 1) -> TwoSidedGeometric:
    """Discrete Laplace noise of scale sensitivity/ε."""
    rate = epsilon / sensitivity
    return TwoSidedGeometric(rate, rate)


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
        down, up = self.noise.tails(float(confidence))
        return value - self.unit.value(up), value + self.unit.value(down)

    def persons_above(self, confidence: Fraction) -> int | None:
        """No cap was used."""
        return None

    def sentences(self, answer: Any) -> Iterator[str]:
        """The interval."""
        yield f"Noise interval, {answer.interval()}."


@dataclass(frozen=True)
class Coarser:
    """Noise counted in steps of 1/fine, the sum then rounded to whole units: Z/fine and half a unit of rounding."""

    noise: Noise
    fine: int

    def tails(self, confidence: float) -> tuple[int, int]:
        """Rounded outward."""
        down, up = self.noise.tails(confidence)
        return -(-down // self.fine) + 1, -(-up // self.fine) + 1

    @property
    def variance(self) -> float:
        """That of Z/fine."""
        return self.noise.variance / self.fine**2


@dataclass(frozen=True)
class TruncatedNoise:
    """Discrete Laplace noise that never exceeds a bound."""

    rate: Fraction
    bound: int

    def tails(self, confidence: float) -> tuple[int, int]:
        """Truncation only shortens the tails."""
        down, up = TwoSidedGeometric(self.rate, self.rate).tails(confidence)
        return min(down, self.bound), min(up, self.bound)

    def log_at_least(self, z: int) -> float:
        """ln Σ_{k ≥ z} e^{−rate·|k|} up to the bound: ln P[Z ≥ z] up to a constant."""
        if z > self.bound:
            return -inf
        rate, left = float(self.rate), log(-expm1(-float(self.rate)))
        upper = log(-expm1(-rate * (self.bound + 1 - max(z, 0)))) - rate * max(z, 0) - left
        below = min(-z, self.bound)  # how many of −1, −2, … are in
        return upper if below <= 0 else log(exp(upper) + exp(-rate - left) * -expm1(-rate * below))

    @property
    def variance(self) -> float:
        """At most that of the noise without the bound."""
        return min(TwoSidedGeometric(self.rate, self.rate).variance, float(self.bound) ** 2)


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
