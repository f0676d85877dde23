"""An interval for a quantile in the column's own unit: a lower and an upper end, each found by a scan.

PROMISE  Two draws of `tacit.mechanisms.search.threshold_scan`, each of half of what is given, around a quantile that
was drawn before. What a draw promises is proven there.

ENDS  Let F(<y) and F(≤y) be the weight below y and up to y, W all of it, Λ the largest weight of one person and
g = max(q, 1−q)·Λ. Every value that can be called the quantile is at least y if F(<y) < qW, and at most y if
F(≤y) > qW. Adding a person moves F − qW by no more than g, so ⌊(F − qW)/g⌋ by no more than one step: losses of
sensitivity 1 on a public list of candidates, which lie around the quantile at distances that grow.

WALK  The lower end is looked for from far below towards the quantile. There F(<y) lies many steps below qW, and fewer
with every candidate. The walk stops at the first that is not surely b steps below, as far as its noise tells, and the
candidate before it is the end. That end is wrong only if the walk passed a candidate that is not even one step below:
with probability at most late(b), whatever the data and however long the list. So b is the least with late(b) ≤ 1/40,
and both ends hold together with 95 %. A walk that stops at once has too few persons to go by: the end is open.

ACCURACY  A walk that stops early gives a wider interval, never a wrong one. On smooth data the ends lie some 10/ε steps
from the quantile, with ε what both draws spend: at ε = 1 and an eighth of it, 80 to 100 persons of a median.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from tacit.answers.values import Value
from tacit.curves import StepLoss
from tacit.engines.requests import Ranks
from tacit.grids import Grid, integers
from tacit.mechanisms.law import Law
from tacit.mechanisms.search.scan_rates import Rates, rates
from tacit.mechanisms.search.threshold_scan import threshold_scan
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.ways.scales import Scale

SHARE = Fraction(1, 8)
"""What both ends take of the cost of a quantile."""

SPLIT = Fraction(1, 2)
"""What a scan spends on its threshold."""

MISSED = Fraction(1, 40)
"""How rarely each end may be on the wrong side of the quantile."""

FINE, NEAR = 4, 1000
"""Candidates lie by a quarter farther off than those before, and beyond this many values of the grid twice as far."""

CANDIDATES = 100
"""About how many there are on each side, for the public rule of how far to look."""


def distances(most: int) -> tuple[int, ...]:
    """0, 1, 2, 3, 4, 5, 6, 8, 10, 13, …: how far candidates are from the quantile, as values of the grid."""
    found = [0]
    while found[-1] < most:
        last = found[-1]
        found.append(min(most, last + (max(1, ceil(last / FINE)) if last < NEAR else last)))
    return tuple(found)


@dataclass(frozen=True)
class Sides:
    """Both ends of the interval of one quantile, for what both may spend."""

    q: Fraction
    largest: int
    """The largest weight of one person."""
    scale: Scale
    epsilon: Fraction
    """What one end spends."""

    @classmethod
    def of(cls, q: Fraction, largest: int, scale: Scale, allowance: Allowance) -> Sides:
        """Each end for half of an allowance."""
        return cls(q, largest, scale, allowance.share(Fraction(1, 2)).epsilon)

    @property
    def _rates(self) -> Rates:
        return rates(self.epsilon, (1, 1), SPLIT)

    @property
    def margin(self) -> int:
        """b: how many steps the threshold lies beyond the quantile."""
        return self._rates.excess_for(MISSED)

    @property
    def reach(self) -> int:
        """How many steps on both sides matter: candidates farther off seldom stop a walk."""
        return self.margin + self._rates.need_for(CANDIDATES, Fraction(1, 20))

    def law(self, ranks: Ranks, limit: int, y: int, upper: bool) -> Law[Any]:
        """The law of the place at which a walk stops; the last place comes after the quantile itself and stops it.

        Weights are known up to ``limit`` steps from the quantile, and ``y`` is the index of what was drawn.
        """
        step, target, (steps,) = max(self.q, 1 - self.q) * self.largest, self.q * ranks.weight, ranks.steps
        known, find = [item.value for item in steps], bisect_right if upper else bisect_left

        def beyond(value: Fraction) -> int:
            """⌊(F − qW)/g⌋, with the sign of the side, between ±limit."""
            place = find(known, value)
            weight = steps[place - 1].after if place else steps[0].before if steps else 0
            found = min(max((weight - target) // step, -limit), limit)
            return int(found if upper else -found)

        losses = [limit + beyond(self.scale.grid.value(index)) for index in self.candidates(y, upper)]
        loss = StepLoss.from_losses(integers(0, len(losses)), [*losses, 0])
        return threshold_scan(loss, self.epsilon, split=SPLIT, offset=limit + self.margin)

    def candidates(self, y: int, upper: bool) -> Sequence[int]:
        """The candidates' indices, those farthest off first."""
        grid: Grid = self.scale.grid
        assert grid.first is not None
        assert grid.last is not None
        sign, most = (1, grid.last - y) if upper else (-1, y - grid.first)
        return [y + sign * distance for distance in reversed(distances(most))]

    def draw(self, room: Room, ranks: Ranks, limit: int, y: int) -> tuple[Value, Value]:
        """Both ends as values of the column, around the one that is shown; None where there is none."""
        shown: Any = self.scale.value(self.scale.grid.value(y))
        lower, upper = (self._end(room, ranks, limit, y, upper) for upper in (False, True))
        return (None if lower is None else min(lower, shown)), (None if upper is None else max(upper, shown))

    def _end(self, room: Room, ranks: Ranks, limit: int, y: int, upper: bool) -> Any:
        place = int(room.draw(self.law(ranks, limit, y, upper)))
        if place == 0:
            return None
        end = self.scale.grid.value(self.candidates(y, upper)[place - 1])
        return self.scale.value(end, upward=not upper)  # a column has no value between two neighbouring ones
