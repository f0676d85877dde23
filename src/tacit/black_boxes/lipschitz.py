"""Lipschitz filter: a function with a claimed sensitivity, held to its claim whatever it does.

PROMISE  Pure(ε) for one draw, for any function f into a grid of equal steps and any claim of c steps, true or false:
where the number of persons is private, when one is added or removed; where it is public, when one is replaced.

PROOF  Let F(∅) = f(∅), and for a group z let F(z) be the number nearest to f(z) in

    [ max_v F(z∖v) − c,  min_v F(z∖v) + c ],   v over the persons of z.

By induction on the size of z: (1) The interval is not empty. For u ≠ v both F(z∖u) and F(z∖v) are within c of
F(z∖{u,v}), so they differ by at most 2c. (2) |F(z) − F(z∖v)| ≤ c for every v, which is what the interval says. So F has
sensitivity c everywhere, and F(x) is computed from f on the subsets of x alone: discrete Laplace noise of c/ε steps
makes it Pure(ε). To replace v by w is to remove one and to add one: |F(x) − F(x∖v∪w)| ≤ |F(x) − F(x∖v)| + |F(x∖v∪w) −
F(x∖v)| ≤ 2c, and a sum of persons' ±c moves by 2c, so that the noise has 2c/ε steps there. (3) If no person changes f
by more than c on any group of the persons of x, f(z) itself lies in the interval, so F(x) = f(x). Rounding to a grid of
equal steps keeps a claim of c steps: rounding is monotone and commutes with whole steps.

WHICH  This one needs no δ. With a δ a `subset_extension` looks at far fewer subsets, for three times the noise.

COST  2^n values of f. Where the number of persons is private, a quarter of ε pays for a noisy one, by which alone it is
decided whether they are affordable (`floors` says how): two steps, ε/4 + 3ε/4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.mechanisms.noise.noise import NoisyInteger, laplace
from tacit.numbers.exact import Number, positive

SIZE_SHARE = Fraction(1, 4)
"""The share of ε that pays for a noisy number of persons."""


@dataclass(frozen=True)
class LipschitzFilter:
    """The public numbers of a Lipschitz filter."""

    grid: Grid
    step: Fraction
    sensitivity: int
    """c, in steps of the grid."""
    size_epsilon: Fraction | None
    """ε of the noisy number of persons; None where that number is public."""
    epsilon: Fraction
    """ε of the noise on the value."""

    @property
    def moved(self) -> int:
        """The steps by which a change of one person moves the filtered value: c, or 2c where one is replaced."""
        return self.sensitivity if self.size_epsilon is not None else 2 * self.sensitivity

    @property
    def public(self) -> bool:
        """Whether the number of persons is public."""
        return self.size_epsilon is None

    def noisy(self, persons: int) -> NoisyInteger:
        """The law of the noisy number of persons, where that number is private."""
        assert self.size_epsilon is not None
        return laplace(persons, self.size_epsilon)

    def floor(self, noisy: int) -> int:
        """The fewest persons of a group that counts: all groups do."""
        return 0

    def noisy_value(self, filtered: int) -> NoisyInteger:
        """The law of the value, in steps from the grid's bottom."""
        return laplace(filtered, self.epsilon, self.moved)

    def value(self, steps: int) -> Fraction:
        """The number at a count of steps from the grid's bottom, beyond its ends too."""
        assert self.grid.lowest is not None
        return self.grid.lowest + steps * self.step


def design_filter(grid: Grid, sensitivity: Number, epsilon: Fraction, persons_public: bool) -> LipschitzFilter:
    """The filter for a claim that no person changes the function by more than ``sensitivity``."""
    step, steps = in_steps(grid, sensitivity)
    size = None if persons_public else SIZE_SHARE * epsilon
    return LipschitzFilter(grid, step, steps, size, epsilon - (size or 0))


def in_steps(grid: Grid, sensitivity: Number) -> tuple[Fraction, int]:
    """The step of a grid, and how many of them a claim takes."""
    step = getattr(grid, "step", None)
    if not isinstance(step, Fraction):
        raise InvalidInput("grid must have equal steps where a sensitivity is claimed; use integers or multiples.")
    return step, -(-positive(sensitivity, "sensitivity") // step)
