"""A function with a claimed sensitivity, on the subsets that miss few persons: the public numbers.

PROMISE  Approx(ε, δ) for one draw of a noisy number of persons, where that is private, and of a value or a refusal.

PROOF  Where the number of persons is public, that of `tacit.mechanisms.local.subset_extension` with the floor k = n −
(3M + 1). Where it is private, n̂ = |x| + Z with Z truncated to ±R costs (ε₀, δ₀), and the floor is k = n̂ − R − 3M. So
|x| − k ≥ 3M for both of two neighbours wherever both may have drawn n̂, and the second step keeps (ε', δ') there; what
only one of them may draw has probability δ₀ at most. Both together keep (ε₀ + ε', δ₀ + δ'). A floor below 0 is 0: then
all subsets count, and nothing is asked of |x| − k.

COST  Σ_{i ≤ λ} C(n, i) values of f, λ = 3M + 1, or 3M + 2R where the number is private: as in `floors`, that number is
known from n̂ alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.black_boxes.lipschitz import in_steps
from tacit.grids import Grid
from tacit.guarantees import Approx
from tacit.mechanisms.local.subset_extension import ExtensionDesign, ExtensionLaw
from tacit.mechanisms.noise.noise import NoisyInteger, TruncatedInteger
from tacit.noises import TruncatedLaplace
from tacit.noises.truncated_laplace import least_bound
from tacit.numbers.exact import Number

SIZE_SHARE = Fraction(1, 3)
"""The share of ε, and half of δ, that pays for a noisy number of persons."""


@dataclass(frozen=True)
class Extension:
    """The public numbers of a subset extension of a function."""

    grid: Grid
    step: Fraction
    design: ExtensionDesign
    first: Approx | None
    """What the noisy number of persons costs; None where that number is public."""
    reach: int
    """R."""

    @property
    def public(self) -> bool:
        """Whether the number of persons is public."""
        return self.first is None

    @property
    def missing(self) -> int:
        """λ: the most persons that a group misses."""
        return self.design.missing + 2 * self.reach

    def noisy(self, persons: int) -> NoisyInteger:
        """The law of the noisy number of persons, where that number is private."""
        assert self.first is not None
        return TruncatedInteger(persons, TruncatedLaplace(self.first.epsilon, self.reach), self.first)

    def floor(self, noisy: int) -> int:
        """The fewest persons of a group that counts."""
        return max(0, noisy - self.reach - self.design.missing)

    def select(self, distance: int, value: int) -> ExtensionLaw:
        """The law of the value, in steps from the grid's bottom."""
        return ExtensionLaw(self.design, distance, value)

    def value(self, steps: int) -> Fraction:
        """The number at a count of steps from the grid's bottom, beyond its ends too."""
        assert self.grid.lowest is not None
        return self.grid.lowest + steps * self.step


def design_extension(grid: Grid, sensitivity: Number, cost: Approx, beta: Fraction, persons_public: bool) -> Extension:
    """The extension for a claim that no person changes the function by more than ``sensitivity``."""
    step, claim = in_steps(grid, sensitivity)
    if persons_public:
        return Extension(grid, step, ExtensionDesign(claim, cost.epsilon, cost.delta, beta, True), None, 0)
    first = Approx(SIZE_SHARE * cost.epsilon, cost.delta / 2)
    design = ExtensionDesign(claim, cost.epsilon - first.epsilon, cost.delta / 2, beta)
    return Extension(grid, step, design, first, least_bound(first.epsilon, first.delta, 1))
