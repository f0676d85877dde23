"""Extremes of every group by shared weight (`tacit.mechanisms.search.shared_scans`).

WEIGHTS  A person in m groups weighs 1/m in each of them. Where rows are ranked, each of the c ≤ k largest rows that a
person has in a group weighs 1/(m·c). Whatever the weights, the loss is 0 at the k-th largest itself: the question is
the one that was asked.

LOSS  ℓ(y) = the weight of the rows above y, less the k − 1 heaviest of them: how much weight must go until fewer than k
are left. A person's rows raise the sum by what they weigh at most, and taking the heaviest away lowers it by no more
than before, so ℓ rises by 0 to w when a person of weight w joins, and so does min(ℓ, K).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heappush, heappushpop
from math import lcm
from typing import TYPE_CHECKING, Any

from tacit.answers.order import Levels
from tacit.curves import Run, StepLoss
from tacit.engines.requests import Ordered, Value, WeighedRows, WeighedValues
from tacit.engines.requests.weighed_rows import UNIT
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.mechanisms.law import Law
from tacit.mechanisms.search.shared_scans import shared_scans, shared_searches
from tacit.mechanisms.together import Together
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.scales import Scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

MISS = Fraction(1, 1000)
"""How rarely a scan may miss its window. One that misses runs far beyond the data, which spoils a mean or a variance
over the range it gives; fifty times as rare costs half as many persons again beyond the answer."""

CONFIDENCES = tuple(Fraction(n, 1000) for n in (500, 800, 900, 950, 980, 990, 995, 999))
"""For which it is stated how many persons may lie beyond an extreme."""

_SMALL = 2**12
"""A unit up to this is taken so that every share of a person is exact."""


def window(law: Law[Any], level: Fraction) -> int | None:
    """How much may lie beyond, where the law promises anything for a confidence: a public fact."""
    try:
        return law.accuracy(1 - level).window
    except InvalidInput:
        return None


def unit_for(groups: int, rank: int) -> int:
    """What a whole person weighs: so much that 1/(m·c) of it is whole, where that is little, else 2^32."""
    exact = lcm(*range(1, min(groups, 20) + 1)) * lcm(*range(1, min(rank, 20) + 1))
    return exact if max(groups, rank) <= 20 and exact <= _SMALL else UNIT


@dataclass(frozen=True)
class End:
    """One end of a column's values, by group: what is drawn, and in which units."""

    value: Ordered | Value
    scale: Scale
    largest: bool
    allowance: Allowance
    groups: Groups
    rank: int = 1
    rows: bool = True
    """Whether rows are ranked, or the persons' own extremes."""

    @cached_property
    def grid(self) -> Grid:
        """The grid of a maximum, or of minus a minimum."""
        return self.scale.outward(self.largest)

    @cached_property
    def unit(self) -> int:
        """What a whole person weighs."""
        return unit_for(len(self.groups.keys), self.rank if self.rows else 1)

    @cached_property
    def depth(self) -> int:
        """How many persons beyond a value matter: those that the scan's own accuracy counts, and one more."""
        return min(9000, -(-(window(self._search([self._flat])._parts[0], 1 - MISS) or 0) // self.unit) + 1)

    def request(self, *others: End) -> WeighedRows:
        """What must be asked, at this end and at others of the same values."""
        ends = (self.largest, *(other.largest for other in others))
        groups = self.groups
        return WeighedRows(
            self.value,
            groups.by,
            groups.keys,
            ends=ends,
            rank=self.rank if self.rows else 1,
            depth=max(end.depth for end in (self, *others)) + self.rank - 1,
            unit=self.unit,
        )

    def draw(self, room: Room, found: WeighedValues, place: int = 0) -> tuple[Fraction, ...]:
        """For each group an extreme on the grid, of a maximum or of minus a minimum; ``place`` as in the request."""
        number = len(self.groups.keys)
        losses = [self.loss(rows) for rows in _by_group(found, place * number, number)]
        law: Law[Any] = self._search(losses)
        return tuple(map(Fraction, room.draw(law)))

    def beyond(self) -> Levels:
        """How many persons may lie beyond the answer, for each confidence."""
        law = self._search([self._flat])._parts[0]
        found = ((level, window(law, level)) for level in CONFIDENCES)
        return tuple((level, None if n is None else -(-n // self.unit) + self.rank - 1) for level, n in found)

    def loss(self, rows: Iterable[tuple[Any, int, int]]) -> StepLoss:
        """The loss of one group from the values of its rows, their weights and their numbers."""
        sign, grid, limit = 1 if self.largest else -1, self.grid, self.depth * self.unit
        placed = sorted(((self._place(sign, value), weight, number) for value, weight, number in rows), reverse=True)
        runs, end, total, heavy = [], grid.last, 0, list[int]()
        for index, weight, number in placed:
            if end is not None and index <= end:
                runs.append(Run(index, end, min(total, limit)))
                end = index - 1
            total += weight * max(0, number - self.rank + 1)
            for _ in range(min(number, self.rank - 1)):  # the heaviest k − 1 so far do not count
                if len(heavy) < self.rank - 1:
                    heappush(heavy, weight)
                else:
                    total += heappushpop(heavy, weight)
        assert grid.first is not None
        assert end is not None
        if end >= grid.first:
            runs.append(Run(grid.first, end, min(total, limit)))
        return StepLoss.joined(grid, reversed(runs), one_directional=True)

    def _place(self, sign: int, value: Any) -> int:
        """The index of a value rounded up to the grid."""
        exact = Fraction(value)
        if isinstance(self.value, Ordered) and not self.value.double:
            exact /= 10**self.value.expression.type.scale
        grid = self.grid
        index = grid.ceil(self.scale.clamped(sign * exact, grid))
        assert index is not None  # it lies inside the grid
        return index

    @cached_property
    def _flat(self) -> StepLoss:
        return StepLoss(self.grid, (Run(self.grid.first, self.grid.last, 0),), one_directional=True)

    def _search(self, losses: list[StepLoss]) -> Together[Any]:
        """All losses together: by scans for ε, by Gaussian looks for ρ."""
        search = shared_searches if self.allowance.concentrated else shared_scans
        return search(losses, self.allowance.amount, self.unit, beta=MISS)


def _by_group(found: WeighedValues, first: int, number: int) -> list[list[tuple[Any, int, int]]]:
    """The rows of each of some groups."""
    rows: list[list[tuple[Any, int, int]]] = [[] for _ in range(number)]
    columns: list[NDArray[Any]] = [found.groups, found.values, found.weights, found.numbers]
    for group, value, weight, count in zip(*(column.tolist() for column in columns), strict=True):
        if first <= group < first + number:
            rows[group - first].append((value, weight, count))
    return rows
