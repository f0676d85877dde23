"""Step losses: how far the data are from each possible answer, by runs of equal loss.

A loss ℓ(x, y) counts persons: it is a whole number of sensitivity 1, |ℓ(x, y) − ℓ(x', y)| ≤ 1 for neighbours x, x' and
every y. It is *one-directional* when adding a person never lowers it, for any y; that is a property of the loss,
carried by it and never assumed, and it halves what a choice costs. Runs are never expanded, so the grid may have 2^64
points or no end. A loss knows the private data: its repr shows none of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from typing import NamedTuple

from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.numbers.exact import whole


class Run(NamedTuple):
    """Indices first..last of a grid, both included, that have the same loss; None is an open end."""

    first: int | None
    last: int | None
    loss: int

    @property
    def length(self) -> int | None:
        """How many grid points the run holds; None where it has no end."""
        return None if self.first is None or self.last is None else self.last - self.first + 1


@dataclass(frozen=True, repr=False)
class StepLoss:
    """A loss over a grid as consecutive runs that cover it, neighbouring runs of different loss."""

    grid: Grid
    runs: tuple[Run, ...]
    one_directional: bool = False
    """Whether adding a person never lowers the loss, at any grid point."""

    def __post_init__(self) -> None:
        runs = self.runs
        if not runs or runs[0].first != self.grid.first or runs[-1].last != self.grid.last:
            raise InvalidInput("runs must cover the grid from its first index to its last.")
        for run in runs:
            if not isinstance(run.loss, int) or run.loss < 0:
                raise InvalidInput("every loss must be a whole number of persons, at least 0.")
            if run.first is not None and run.last is not None and run.first > run.last:
                raise InvalidInput("runs must not be empty; leave an empty run out.")
        for a, b in pairwise(runs):
            if a.last is None or b.first != a.last + 1:
                raise InvalidInput("runs must follow one another without gap or overlap.")
            if a.loss == b.loss:
                raise InvalidInput("neighbouring runs must have different losses; join them.")

    @classmethod
    def joined(cls, grid: Grid, runs: Iterable[Run], one_directional: bool = False) -> StepLoss:
        """A loss from consecutive runs, neighbours of equal loss joined into one."""
        merged: list[Run] = []
        for run in runs:
            if merged and merged[-1].loss == run.loss:
                merged[-1] = Run(merged[-1].first, run.last, run.loss)
            else:
                merged.append(run)
        return cls(grid, tuple(merged), one_directional)

    @classmethod
    def from_losses(cls, grid: Grid, losses: Sequence[int], one_directional: bool = False) -> StepLoss:
        """A loss from a list with one entry for each grid value, in order."""
        if grid.first is None or grid.size != len(losses):
            raise InvalidInput("losses must list one whole number for each grid value; give a grid of that size.")
        start = grid.first
        if not all(type(loss) is int and loss >= 0 for loss in losses):
            losses = [whole(loss, "a loss", 0) for loss in losses]
        runs = list[Run]()
        for loss, equal in groupby(losses):
            runs.append(Run(start, (start := start + len(list(equal))) - 1, loss))
        return cls(grid, tuple(runs), one_directional)

    def at(self, index: int) -> int:
        """The loss at a grid index."""
        if not self.grid.holds(index):
            raise InvalidInput("index must lie on the grid of the loss.")
        return self.runs[bisect_left(self._lasts, index)].loss

    @property
    def moves(self) -> tuple[int, int]:
        """(r, s): adding a person moves the loss by something in [−r, s]."""
        return (0, 1) if self.one_directional else (1, 1)

    @cached_property
    def _lasts(self) -> list[int]:
        """The last index of every run but the final one."""
        return [run.last for run in self.runs[:-1] if run.last is not None]

    @property
    def minimum(self) -> int:
        """The smallest loss on the grid."""
        return min(run.loss for run in self.runs)

    def distance(self, other: StepLoss) -> int:
        """The largest difference to another loss on the same finite grid."""
        ends = {run.last for loss in (self, other) for run in loss.runs if run.last is not None}
        return max(abs(self.at(last) - other.at(last)) for last in ends)

    def clamped(self, limit: int) -> StepLoss:
        """min(ℓ, limit), which keeps sensitivity 1 and one-directionality."""
        top = whole(limit, "limit", 0)
        runs = (Run(run.first, run.last, min(run.loss, top)) for run in self.runs)
        return StepLoss.joined(self.grid, runs, self.one_directional)

    def __repr__(self) -> str:
        kind = "one-directional step loss" if self.one_directional else "step loss"
        return f"<{kind} on {self.grid!r}>"
