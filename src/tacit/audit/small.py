"""Small statistics on which mechanisms are verified exhaustively: every dataset of at most five persons.

Each names a universe of records, all datasets over it and the loss of sensitivity 1 that the statistic gives on a grid
which spans its values. Maximum, sum and count are one-directional and fall to 0 along the grid; the median is neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from tacit.audit.exact import Dataset, datasets
from tacit.curves import DownProfile, StepLoss
from tacit.grids import Grid, integers

PERSONS = 5
"""How many persons the largest dataset has."""


@dataclass(frozen=True)
class Small:
    """A statistic over a small universe."""

    name: str
    universe: tuple[int, ...]
    grid: Grid
    loss: Callable[[Dataset], StepLoss]

    @property
    def datasets(self) -> list[Dataset]:
        """Every dataset of at most five persons."""
        return datasets(self.universe, PERSONS)


_MAXIMA, _SUMS, _COUNTS = integers(0, 3), integers(0, 2 * PERSONS), integers(0, PERSONS)


def _fallen(values: list[int], grid: Grid) -> StepLoss:
    """min{ j : D_j ≤ y } for the profile that these values begin."""
    return DownProfile(values).loss(grid)


@lru_cache(maxsize=4096)
def _maximum(x: Dataset) -> StepLoss:
    return _fallen(sorted(x, reverse=True), _MAXIMA)


@lru_cache(maxsize=4096)
def _sum(x: Dataset) -> StepLoss:
    kept = sorted(x)  # removing j persons at best removes the j largest
    return _fallen([sum(kept[: len(kept) - j]) for j in range(len(kept))], _SUMS)


@lru_cache(maxsize=4096)
def _count(x: Dataset) -> StepLoss:
    return _fallen(list(range(len(x), 0, -1)), _COUNTS)


@lru_cache(maxsize=4096)
def _median(x: Dataset) -> StepLoss:
    """|number below y − number above y|, which one person moves by at most 1, up or down."""
    losses = [abs(sum(v < y for v in x) - sum(v > y for v in x)) for y in range(4)]
    return StepLoss.from_losses(_MAXIMA, losses)


MAXIMUM = Small("max", (0, 1, 2, 3), _MAXIMA, _maximum)
SUM = Small("sum", (0, 1, 2), _SUMS, _sum)
COUNT = Small("count", (1,), _COUNTS, _count)
MEDIAN = Small("median", (0, 1, 2, 3), _MAXIMA, _median)

SMALL = (MAXIMUM, SUM, COUNT, MEDIAN)
"""All of them."""
