"""Noises made of others, as far as intervals need them."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.noises.base import Noise


@dataclass(frozen=True)
class Difference:
    """X − Y for independent noises: each gets half of what the confidence leaves."""

    first: Noise
    second: Noise

    def reach(self, confidence: float) -> tuple[int, int]:
        """By the union bound."""
        each = (1 + confidence) / 2
        (d1, u1), (d2, u2) = self.first.reach(each), self.second.reach(each)
        return d1 + u2, u1 + d2

    @property
    def variance(self) -> float:
        """The sum of the two."""
        return self.first.variance + self.second.variance


@dataclass(frozen=True)
class Coarser:
    """Noise counted in steps of 1/fine, the sum then rounded to whole units: Z/fine and half a unit of rounding."""

    noise: Noise
    fine: int

    def reach(self, confidence: float) -> tuple[int, int]:
        """Rounded outward."""
        down, up = self.noise.reach(confidence)
        return -(-down // self.fine) + 1, -(-up // self.fine) + 1

    @property
    def variance(self) -> float:
        """That of Z/fine."""
        return self.noise.variance / self.fine**2


@dataclass(frozen=True)
class Rounded:
    """Noise on a number that was rounded to a multiple of a step, one of the two nearest but for a part of 1."""

    noise: Noise
    step: int

    def reach(self, confidence: float) -> tuple[int, int]:
        """With the rounding on both sides."""
        return self.widened(*self.noise.reach(confidence))

    def widened(self, down: int, up: int) -> tuple[int, int]:
        """How far the noise reaches, with the rounding."""
        return down + (self.step + 1) // 2, up + self.step // 2 + 1

    @property
    def variance(self) -> float:
        """That of the noise, for the rounding is no chance."""
        return self.noise.variance
