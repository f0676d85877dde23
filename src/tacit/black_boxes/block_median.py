"""The private median of block answers, one of which may be replaced.

PROMISE  Pure(ε) for one draw when *one* of the B answers, B public, becomes any other; by the exponential mechanism
also Zcdp(ε²/8). Where every person is in one block, chosen independently of everybody else, that is what adding or
removing a person does: given the choice of blocks, which has the same law with and without that person, only the answer
of that person's block may change. So the promise holds for every choice, and for the choice made at random.

PROOF  ℓ(y) = max(0, #{a_i < y} − ⌊B/2⌋, #{a_i > y} − ⌊B/2⌋) is the number of answers that must be replaced until y is a
median. Replacing one moves both counts by at most 1, so ℓ has sensitivity 1, in both directions: the exponential
mechanism and permute-and-flip take e^{-εℓ/2}. The constant for adding and removing, e^{-εℓ}, would be wrong.

ACCURACY  With probability at least 1 − β the loss is at most t, as the mechanism states it for the grid: at most
⌊B/2⌋ + t answers lie below the released value, and at most as many above.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction

from tacit.curves import Run, StepLoss
from tacit.grids import Grid
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.inverse.inverse_sensitivity import inverse_sensitivity
from tacit.numbers.exact import check_listed

METHODS = {"exponential": "the exponential mechanism", "permute_and_flip": "permute-and-flip, for ε alone"}


def median_loss(places: Sequence[int], grid: Grid) -> StepLoss:
    """ℓ, from the answers in steps above the grid's bottom."""
    return StepLoss.joined(grid, _runs(sorted(places), grid))


def _runs(ordered: list[int], grid: Grid) -> Iterator[Run]:
    assert grid.first is not None
    assert grid.last is not None
    half, top = len(ordered) // 2, grid.last - grid.first
    # the loss changes at an answer and after it
    starts = sorted({0, *ordered, *(place + 1 for place in ordered if place < top)})
    for start, after in zip(starts, [*starts[1:], top + 1], strict=True):
        below, above = bisect_left(ordered, start), len(ordered) - bisect_right(ordered, start)
        yield Run(grid.first + start, grid.first + after - 1, max(0, below - half, above - half))


def block_median(
    places: Sequence[int],
    grid: Grid,
    method: str = "exponential",
    *,
    epsilon: Fraction | None = None,
    rho: Fraction | None = None,
) -> GridLaw:
    """The law of the private median, for ε or ρ."""
    check_listed(method, "method", METHODS)
    return inverse_sensitivity(median_loss(places, grid), epsilon=epsilon, rho=rho, method=method)
