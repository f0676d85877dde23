"""What every noise on the integers can tell about itself.

A noise Z is a frozen value. `mass` and `tail` are rigorous enclosures of P[Z = z] and P[Z ≥ z]. `reach` states integers
(down, up) with P[−down ≤ Z ≤ up] ≥ confidence. Since released = value + Z, the value lies in [released − up, released +
down]. Where a reach is computed with floats, the stated confidence is never less than promised: what one side may miss
is made smaller by what rounding may hide (`half_miss`), and the result is rounded outward (`outward`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Protocol

from tacit.guarantees import Guarantee
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.randomness.source import Randomness

MANY = 1000
"""From so many draws on, tables made for all of them pay."""


class Noise(Protocol):
    """What an interval needs of a noise."""

    def reach(self, confidence: float) -> tuple[int, int]:
        """Integers (down, up) with P[−down ≤ Z ≤ up] ≥ confidence."""
        ...

    @property
    def variance(self) -> float:
        """Var Z, or a bound on it."""
        ...


class IntegerNoise(ABC):
    """Noise on the integers with a known law."""

    name: str
    """What it is called."""

    def named(self) -> dict[str, str] | None:
        """Its name and its rates as certificates name them; None where they do not know it."""
        return None

    @abstractmethod
    def draw(self, source: Randomness) -> int:
        """One exact draw."""

    def draws(self, size: int, source: Randomness) -> list[int]:
        """Independent exact draws, by the same law all at once where they are many."""
        return self._many(size, source) if size >= MANY else [self.draw(source) for _ in range(size)]

    def _many(self, size: int, source: Randomness) -> list[int]:
        """Many independent exact draws; a noise that can make them faster together does."""
        return [self.draw(source) for _ in range(size)]

    @abstractmethod
    def mass(self, z: int, bits: int = BITS) -> Enclosure:
        """P[Z = z], with about ``bits`` significant bits."""

    @abstractmethod
    def tail(self, z: int, bits: int = BITS, *, sharp: bool = False) -> Enclosure:
        """P[Z ≥ z]; ``sharp`` keeps every bit even where that takes long."""

    @abstractmethod
    def reach(self, confidence: float) -> tuple[int, int]:
        """Integers (down, up) with P[−down ≤ Z ≤ up] ≥ confidence."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Var Z, or a bound on it."""

    @abstractmethod
    def guarantee(self, sensitivity: int) -> Guarantee:
        """What value + Z keeps for an integer that moves by at most this between neighbours."""

    def concentrated_loss(self, shift: int) -> Fraction | None:
        """The least ρ with D_α ≤ αρ between Z and Z + shift, both ways; None where no formula knows it."""
        return None

    def limit(self, beta: Fraction) -> int:
        """The smallest k ≥ 0 for which P[Z > k] ≤ β is certain."""
        return upper_limit(self, beta, near=self._near(beta))

    def _near(self, beta: Fraction) -> int:
        """About where P[Z > k] falls below β, to begin a search there, if tails are dear."""
        return 0

    def limit_of_all(self, count: int, beta: Fraction) -> int:
        """The smallest k ≥ 0 for which P[all of ``count`` independent draws are at most k] ≥ 1 − β is certain."""
        return _limit_of_all(self, count, beta)


class Tailed(Protocol):
    """What has a tail."""

    def tail(self, z: int, bits: int, /) -> Enclosure:
        """P[Z ≥ z]."""
        ...


@lru_cache(maxsize=1024)
def upper_limit(noise: Tailed, beta: Fraction, step: int = 1, near: int = 0) -> int:
    """The smallest multiple k ≥ 0 of the step for which P[noise > k] ≤ β is certain; it is looked for from ``near``."""
    return step * first_where(lambda k: noise.tail(k * step + 1, 64).high <= beta, near // step)


@lru_cache(maxsize=1024)
def _limit_of_all(noise: IntegerNoise, count: int, beta: Fraction) -> int:
    return first_where(lambda k: ((1 - noise.tail(k + 1, 64, sharp=True)) ** count).low >= 1 - beta)


def first_where(holds: Callable[[int], bool], near: int = 0) -> int:
    """The smallest k ≥ 0 of a condition that holds from there on, looked for from ``near`` on, up or down."""
    low, high, step = -1, near, 1  # it fails at low, holds at high
    if near and holds(near):
        while high > 0 and holds(lower := max(0, high - step)):
            high, step = lower, 2 * step
        low = max(-1, high - step) if high else -1
    else:
        while not holds(high):
            low, high, step = high, high + step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def half_miss(confidence: float) -> float:
    """What one side may miss, less what rounding the confidence may have hidden."""
    return (1 - confidence) / 2 - 2**-53


def outward(x: float) -> int:
    """The next integer, beyond what rounding may have hidden."""
    return max(0, ceil(x + abs(x) * 1e-12))
