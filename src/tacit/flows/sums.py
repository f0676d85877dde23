"""Sums, counts and distinct values over rows that touch several persons.

**Sum.** A row t of weight w_t survives a fractional removal x to the extent (1 − Σ_{u∈t} x_u)⁺, so
C(x) = Σ_t w_t·(1 − Σ_{u∈t} x_u)⁺, and by duality L(λ) = max Σz, 0 ≤ z_t ≤ w_t, Σ_{t∋u} z_t ≤ λ: the largest total
when rows may be scaled down and nobody may carry more than λ. With one person per row L(λ) = Σ_u min(s_u, λ) and D̃ is
the true profile, the total less the largest person totals; with two it is a flow.

**Distinct values.** A value is there as long as one of its rows is: C(x) = Σ_v max_{t has v} (1 − Σ_{u∈t} x_u)⁺, and
L(λ) = max Σz, Σ_{t has v} z_t ≤ 1, Σ_{t∋u} z_t ≤ λ. With one person per row it is a flow from persons to values.

In both, C drops no lower than 0, falls when rows are dropped, and x_v = 1 removes exactly the rows of v: what the
proof in `curve` asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor
from operator import sub

import numpy as np
import numpy.typing as npt

from tacit.answers.flows import rounded
from tacit.flows.curve import CappedStatistic
from tacit.flows.incidences import Incidences, number_ids
from tacit.flows.peeling import Core
from tacit.flows.solving import Support, solve
from tacit.numbers.exact import whole

_UNITS = 2**20
"""Shares of distinct values are rounded up in units of one over this."""


class FlowTotal(CappedStatistic):
    """The total weight of groups of rows, capped by person."""

    def __init__(self, core: Core) -> None:
        self.total = core.total
        self._levels = [(0, core)]
        self._shortest, self._free = core.shortest, core.free
        self._units = 1 if core.group.size == core.weight.size else _UNITS  # in a sum shares are whole
        shares = core.even_shares(self._units)
        self._largest = np.sort(shares[(shares > 0).astype(bool)])[::-1]
        self._enough = Fraction(int(self._largest[0]), self._units) if self._largest.size else Fraction(0)

    def above(self, cap: int) -> int:
        """All persons full, where a row counts once for each of its persons; or a line that is known already."""
        full = self._free + Fraction(cap * self._everyone(), self._shortest)
        return min(super().above(cap), rounded(full, cap))

    def profile(self, removals: int) -> tuple[int, ...]:
        """The down profile D̃_0, …, D̃_removals, each rounded up to a whole unit."""
        count = whole(removals, "removals", 0)
        if not self._levels[0][1].empty:
            return super().profile(count)
        largest = self._largest[:count].tolist()  # one person per row: the totals in order are all it takes
        return tuple(accumulate(largest + [0] * (count - len(largest)), sub, initial=self.total))

    def _solve(self, cap: Fraction, effort: int) -> Support:
        if cap >= self._enough:
            return Support(cap, Fraction(0), Fraction(self.total), Fraction(self.total))
        return solve(self._level(floor(cap)), cap, effort)

    def _level(self, limit: int) -> Core:
        """The problem with only the persons who may be full at caps above ``limit``, or at caps not much lower."""
        level, core = max((pair for pair in self._levels if pair[0] <= limit), key=lambda pair: pair[0])
        if limit <= 2 * level:
            return core
        self._levels.append((limit, core.above(limit)))
        return self._levels[-1][1]

    def _probes(self, removals: int) -> Iterator[Fraction]:
        place = max(removals, 1)
        while place < self._largest.size:
            yield _simple(Fraction(int(self._largest[place]), self._units))
            place *= 2
        cap = _simple(Fraction(int(self._largest[-1]), self._units)) if self._largest.size else Fraction(1)
        for _ in range(64):
            cap /= 2
            yield cap

    def _everyone(self) -> int:
        return int(self._largest.size)


def _simple(cap: Fraction) -> Fraction:
    """The cap rounded down to a whole number or a power of two: small denominators keep flows in few digits."""
    return Fraction(floor(cap)) if cap >= 1 else Fraction(1, 2 ** ceil(1 / cap).bit_length())


def capped_sum(rows: Incidences) -> FlowTotal:
    """The sum of the rows' weights, no person carrying more than the cap."""
    return FlowTotal(Core.of(rows))


def capped_distinct(rows: Incidences, values: npt.ArrayLike, common: int = 0) -> FlowTotal:
    """The number of distinct values among the rows, no person accounting for more than the cap.

    ``values`` has one integer for each row that ``rows`` was made from; weights other than 0 do not matter. ``common``
    further values count whole at every cap of at least 1, and nothing but such caps may be asked then. With one person
    per row L(λ) = V − max_T (|T| − λ·|persons of T|), T any set of the V values: by duality persons are removed whole,
    and exactly those of the values that are given up. For λ ≥ 1 only a T of more values than persons counts. So values
    that are in no such T may be left out, their persons with them, and counted whole (`Incidence` finds some).
    """
    different, value = rows.merged(rows.valued(values))
    group, count = number_ids(value)
    return FlowTotal(replace(Core.of(different, group, np.ones(count, dtype=np.int64)), free=common))
