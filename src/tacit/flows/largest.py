"""The largest, or k-th largest, value over rows that touch several persons.

Removing persons brings the k-th largest down to y when fewer than k rows above y are left. The fewest persons that do,
removed in fractions, is J(y) = min{ Σx : Σ_{t above y} w_t·(1 − Σ_{u∈t} x_u)⁺ ≤ k − 1 }, w_t how often the row is
there: the removals at which the count of the rows above y falls to k − 1 (`CappedStatistic.fewest`). For k = 1 it is a
fractional vertex cover.

D̃_j = the lowest y, among the values and the bottom, with J(y) ≤ j. Adding a person never lowers J(y) and raises it by
at most one, for every y, which is the surrogate condition. With one person per row D̃ is the true profile: the largest
numbers of rows above y add up, and the first j persons at which their sum is enough is J rounded up.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
import numpy.typing as npt

from tacit.flows.incidences import Incidences
from tacit.flows.sums import capped_sum
from tacit.numbers.exact import whole


def largest_profile(rows: Incidences, values: npt.ArrayLike, removals: int, rank: int = 1) -> tuple[int | None, ...]:
    """The down profile D̃_0, …, D̃_removals of the ``rank``-th largest value; None stands for the grid's bottom.

    ``values`` has one integer for each row that ``rows`` was made from, in the unit of the grid; a row counts as often
    as its weight says.
    """
    count, k = whole(removals, "removals", 0), whole(rank, "rank", 1)
    value = rows.valued(values)
    order = np.argsort(-value.astype(object) if value.dtype == object else -value, kind="stable")
    sorted_rows = rows.listed(order)
    ordered = value[order]
    ends = (
        np.flatnonzero(np.diff(ordered, append=ordered[-1:] - 1)) + 1 if ordered.size else np.zeros(0, dtype=np.int64)
    )
    # level i: the rows above the i-th distinct value from the top; the last level is all rows, above the bottom
    above = [0, *(int(e) for e in ends)]
    losses = _Losses(sorted_rows, above, k, count)
    places = [losses.last_with(j) for j in range(count + 1)]
    return tuple(int(ordered[above[place]]) if place < len(above) - 1 else None for place in places)


class _Losses:
    """J, rounded up, at levels of rows from the top, computed where asked; it rises with the level."""

    def __init__(self, rows: Incidences, above: list[int], rank: int, most: int) -> None:
        self._rows, self._above, self._rank, self._most = rows, above, rank, most
        self._known: dict[int, int] = {0: 0}

    def _at(self, level: int) -> int:
        if level not in self._known:
            head = self._rows.head(self._above[level])
            self._known[level] = capped_sum(head).fewest(self._rank - 1, self._most + 1)
        return self._known[level]

    def last_with(self, loss: int) -> int:
        """The last level whose loss is at most ``loss``, bracketed by what is known, else by doubling."""
        levels = sorted(self._known)
        place = bisect_right([self._known[level] for level in levels], loss)
        low, last = levels[place - 1], len(self._above) - 1
        step = 1
        while place == len(levels):  # nothing known above: go up until the loss is exceeded
            high = min(low + step, last)
            if self._at(high) > loss:
                break
            if high == last:
                return last
            low, step = high, 2 * step
        else:
            high = levels[place]
        while high - low > 1:
            middle = (low + high) // 2
            if self._at(middle) <= loss:
                low = middle
            else:
                high = middle
        return low
