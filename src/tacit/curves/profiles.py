"""Down profiles: how a monotone statistic falls as persons are removed, and the losses made from that.

For f that never rises when persons are removed, D_j(x) = min{ f(x') : x' ⊆ x, at most j persons removed }. A surrogate
may stand for D when D_{j+1}(x) ≤ D_j(x∖v) ≤ D_j(x) for every person v; privacy needs only this. Then

    ℓ(x, y) = min{ j : D_j ≤ y }   and its strict twin   ℓ̄(x, y) = min{ j : D_j < y }

have sensitivity 1 and are one-directional: D_{j+1}(x) ≤ D_j(x∖v) gives ℓ(x) ≤ ℓ(x∖v) + 1, and D_j(x∖v) ≤ D_j(x) gives
ℓ(x∖v) ≤ ℓ(x). Clamping keeps both, so only D_0..D_K are ever needed. Every D_j is first rounded UP to the grid:
rounding is monotone, so the condition above survives, and without it no grid point may have a small loss.

The shifted loss for a public τ is ℓ* = max{ ℓ − τ, τ − ℓ̄ }, of sensitivity 1 but not one-directional. D_τ has ℓ* ≤ 0; a
value above D_0 has ℓ* ≥ τ and one below D_{2τ} has ℓ* > τ. The strict twin is what makes this true for tied values.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import islice, pairwise

from tacit.curves.steps import Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.numbers.exact import Number, exact, whole


class DownProfile:
    """The values D_0 ≥ D_1 ≥ …; those not listed equal ``bottom``, by default the grid's lowest value."""

    __slots__ = ("bottom", "values")

    values: tuple[Fraction, ...]
    bottom: Fraction | None

    def __init__(self, values: Iterable[Number], bottom: Number | None = None) -> None:
        self.values = tuple(exact(value, "profile") for value in values)
        self.bottom = None if bottom is None else exact(bottom, "bottom")
        if any(a < b for a, b in pairwise(self.values)):
            raise InvalidInput("profile must not increase; list D_0, D_1, … from the whole data downward.")
        if self.bottom is not None and self.values and self.values[-1] < self.bottom:
            raise InvalidInput("bottom must be at most every value of the profile; give the statistic of nobody.")

    def at(self, j: int) -> Fraction | None:
        """D_j; None stands for the grid's lowest value."""
        return self.values[j] if whole(j, "j", 0) < len(self.values) else self.bottom

    def loss(self, grid: Grid, limit: int | None = None) -> StepLoss:
        """ℓ(y) = min{ j : D_j ≤ y }, at most ``limit`` where given."""
        return self._loss(grid, limit, self._indices(grid, limit))

    def shifted_loss(self, grid: Grid, tau: int, limit: int | None = None) -> StepLoss:
        """ℓ* + τ = max{ ℓ, 2τ − ℓ̄ }, both parts clamped at ``limit``, which is 2τ unless more is asked.

        The constant τ makes it non-negative; every mechanism that chooses is blind to a constant.
        """
        shift = whole(tau, "tau", 0)
        top = 2 * shift if limit is None else whole(limit, "limit", 2 * shift)
        indices = self._indices(grid, top)
        upper, strict = (self._loss(grid, top, indices, strict) for strict in (False, True))
        return StepLoss.joined(grid, _shifted(upper, strict, shift))

    def _loss(self, grid: Grid, limit: int | None, indices: list[int], strict: bool = False) -> StepLoss:
        """ℓ or ℓ̄ by runs from the highest value down: j = 0 first, at last the points that no D_j reaches."""
        # D_j ≤ y from index D_j on; D_j < y from the next one on.
        starts = [index + 1 if strict else index for index in indices]
        floor = grid.first if self.bottom is None else _ceil(grid, self.bottom)
        if floor is not None:
            starts.append(floor + 1 if strict else floor)
        runs: list[Run] = []
        end = grid.last
        for j, start in enumerate(starts):
            if end is not None and start > end:
                continue
            runs.append(Run(start, end, j))
            end = start - 1
        if floor is None:  # no lowest value: what is not listed lies below everything
            runs.append(Run(None, end, len(starts)))
        elif grid.first is None or end is None or end >= grid.first:
            if limit is None:
                raise InvalidInput(
                    "limit must be given where no D_j reaches the lowest grid values; give a whole number."
                )
            runs.append(Run(grid.first, end, limit))
        return StepLoss.joined(grid, reversed(runs), one_directional=True)

    def _indices(self, grid: Grid, limit: int | None) -> list[int]:
        """The values as grid indices, rounded up; the first ``limit`` of them, where the loss is clamped."""
        count = len(self.values) if limit is None else whole(limit, "limit", 0)
        if self.values:
            _ceil(grid, self.values[0])
            _ceil(grid, self.values[-1])
        # The values lie between two that are inside the grid's range, so no index is None.
        return [index for value in islice(self.values, count) if (index := grid.ceil(value)) is not None]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DownProfile):
            return NotImplemented
        return (self.values, self.bottom) == (other.values, other.bottom)

    def __hash__(self) -> int:
        return hash((self.values, self.bottom))

    def __repr__(self) -> str:
        return "<down profile>"


def _ceil(grid: Grid, value: Fraction) -> int:
    index = grid.ceil(value)
    if index is None or (grid.lowest is not None and value < grid.lowest):
        raise InvalidInput(
            "grid must span the profile; give a grid from the statistic of nobody to beyond its largest value."
        )
    return index


def _shifted(upper: StepLoss, strict: StepLoss, tau: int) -> Iterable[Run]:
    """The runs of max{ ℓ, 2τ − ℓ̄ } over the common refinement of both losses."""
    first, i, j = upper.grid.first, 0, 0
    while True:
        a, b = upper.runs[i], strict.runs[j]
        loss = max(a.loss, 2 * tau - b.loss)
        last = b.last if a.last is None else a.last if b.last is None else min(a.last, b.last)
        yield Run(first, last, loss)
        if last is None or last == upper.grid.last:
            return
        i, j, first = i + (a.last == last), j + (b.last == last), last + 1
