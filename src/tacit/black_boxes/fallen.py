"""The wrapper of a function that is monotone: one more person never lowers it.

PROMISE  Pure(ε), or Approx(ε, δ) by the interior point, for one draw when one person is added or removed, GIVEN THAT f
IS MONOTONE. If it is not, the promise is void; `floors` promises the same for any function, at the price of a noisy
number of persons, and `tacit.functions.monotone` for few persons without it.

PROOF  Let J and N be public numbers, and f'(z) = f(z) where z has at most N persons, the grid's highest value where it
has more. f' is monotone. Its down profile D_j, cut to the lowest value after D_J, has D_{j+1}(x) ≤ D_j(x∖v) ≤ D_j(x),
which is all that `shifted_inverse` needs. D_j is the smallest f' over groups without j persons; with more than N + J
persons every D_j up to D_J is the highest value, and nothing is evaluated. Values are rounded down to the grid and
beyond its ends count as its ends, which keeps f monotone.

ACCURACY  With at most N persons the answer lies, with probability 1 − β, between D_w and f itself, w the window that
the selector states; J = w + 1. COST  At most Σ_{j≤J} C(N + J, j) evaluations: N is the largest number for which that is
allowed, so no number of persons makes a question fail, and no floor and no noisy number is needed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from math import comb
from typing import TYPE_CHECKING, Any

from tacit.curves import DownProfile
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.guarantees import Approx, Pure
from tacit.mechanisms.inverse.shifted_inverse import METHODS, ShiftedInverseLaw, shifted_inverse
from tacit.mechanisms.law import Law
from tacit.numbers.exact import Number, check_listed

if TYPE_CHECKING:
    from tacit.black_boxes.lattice import Layer

DEEPEST = 9000
"""The most persons whose removal is looked at."""

PROVED = tuple(name for name in METHODS if name != "bayesian_search")
"""The methods whose accuracy is proved for every profile."""


def depth(law: Law[Any], beta: Number) -> int:
    """J: of how many persons the removal matters, from a law of the same public numbers."""
    window = law.accuracy(beta).window
    return DEEPEST if window is None else min(DEEPEST, window + 1)


@lru_cache(maxsize=256)
def affordable(deep: int, limit: int, *, all_groups: bool = False) -> int:
    """N: for how many persons all groups that miss up to J of them, or all groups, may be evaluated."""

    def allowed(most: int) -> bool:
        found = 0
        for size in range((most if all_groups else deep) + 1):
            found += comb(most + deep, size)
            if found > limit:
                return False
        return True

    if not allowed(max(1, deep)):  # of fewer persons an answer would say nothing
        raise InvalidInput(
            f"at this cost the removal of {deep} persons matters, and the groups of so many are more than "
            f"max_evaluations = {limit:,}; nothing was spent. Spend or allow more, or say how the least value after "
            "removing k persons is computed: tacit.functions.monotone(f, least=…)."
        )
    # groups are more with more persons, so the last allowed number is found by halving
    return bisect_left(range(1, limit + 1), True, key=lambda most: not allowed(most))


@dataclass(frozen=True)
class FallenGroups:
    """The public numbers of the wrapper of a monotone function."""

    grid: Grid
    cost: Pure | Approx
    method: str
    beta: Fraction
    limit: int

    def __post_init__(self) -> None:
        check_listed(self.method, "method", PROVED, "a wrapper needs a search whose accuracy is proved")
        if self.method == "interior_point" and isinstance(self.cost, Pure):
            raise InvalidInput("method 'interior_point' needs a delta; give one, or use another method.")

    @cached_property
    def missing(self) -> int:
        """J."""
        return depth(self.select([]), self.beta)

    @cached_property
    def most(self) -> int:
        """N."""
        return affordable(self.missing, self.limit)

    def select(self, profile: Sequence[int]) -> ShiftedInverseLaw:
        """The law of the value, from the profile in steps above the grid's bottom."""
        assert self.grid.first is not None
        values = [self.grid.value(self.grid.first + steps) for steps in profile]
        delta = self.cost.delta if isinstance(self.cost, Approx) and self.method == "interior_point" else None
        return shifted_inverse(
            DownProfile(values), self.grid, self.cost.epsilon, self.method, delta=delta, beta=self.beta
        )

    def profile(self, persons: int, layers: Sequence[Layer]) -> list[int]:
        """D_0, …, D_J from the values on groups without 0, 1, … persons."""
        assert self.grid.first is not None
        assert self.grid.last is not None
        top = self.grid.last - self.grid.first
        if persons > self.most + self.missing:
            return [top] * (self.missing + 1)
        found = (top if persons - j > self.most else int(layer.min()) for j, layer in enumerate(layers))
        return list(accumulate(found, min))
