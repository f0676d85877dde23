"""What is left of a capped total once everything obvious is decided.

The problem: rows t carry z_t ≥ 0, the rows of one *group* g together at most w_g, the rows of one person u at most λ;
maximise Σz. In a sum every row is its own group; among distinct values the rows with one value are a group of weight 1.
Its dual asks for a fractional removal x ≥ 0 of persons: minimise λ·Σx + Σ_g w_g·max_{t∈g}(1 − Σ_{u∈t} x_u)⁺.

Three steps change neither the optimum nor lose a dual optimum, and are repeated until none applies:
- a person whose groups weigh no more than the person's room can never be full: its limit is forgotten (x_u = 0);
- a group with a row that no limit touches is taken whole;
- a group whose only row touches one person is taken first, up to that person's room, for any other use of that room
  gains no more; a person without room left is full (x_u = 1), and the rows that touch it are given up.
Rows that touch the same of the persons who are left are then one row. For the λ that matter almost nothing remains: 0
to a few hundred rows of a graph with millions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tacit.flows.incidences import Incidences, Integers, add_at, exact_sum, multiply


@dataclass(frozen=True, repr=False, eq=False)
class Core:
    """A capped-total problem, λ not yet chosen."""

    free: int
    """The weight of groups that no limit touches."""
    alone: Integers
    """For each person, the weight of groups whose only row touches this person and nobody else."""
    weight: Integers
    """For each other group, its weight."""
    group: Integers
    """For each row, its group."""
    row: Integers
    """For each (row, person) pair, the row; pairs are sorted by row, and every row has one."""
    person: Integers
    """For each (row, person) pair, the person."""

    @classmethod
    def of(cls, rows: Incidences, group: Integers | None = None, weight: Integers | None = None) -> Core:
        """The problem of a sum, or of groups of rows with their weights."""
        count = rows.weights.size
        weight = rows.weights if weight is None else weight
        alone = np.zeros(rows.size, dtype=weight.dtype)
        group = np.arange(count, dtype=np.int64) if group is None else group
        return cls(0, alone, weight, group, rows.row, rows.persons)._folded()

    @property
    def totals(self) -> Integers:
        """What each person would carry without a limit, a group counted once for each row: never too little."""
        return self.alone + add_at(self.alone.size, self.person, self.weight[self.group[self.row]])

    def even_shares(self, units: int) -> Integers:
        """What each person carries when every group is split evenly over its rows, in units of 1/units, rounded up.

        A cap no lower than the largest of these takes nothing away. In a sum they are the totals.
        """
        rows = np.bincount(self.group, minlength=self.weight.size)
        share = -(-multiply(self.weight, units) // np.maximum(rows, 1))
        return multiply(self.alone, units) + add_at(self.alone.size, self.person, multiply(share[self.group[self.row]]))

    @property
    def total(self) -> int:
        """The uncapped total."""
        return self.free + exact_sum(self.alone) + exact_sum(self.weight)

    @property
    def shortest(self) -> int:
        """The fewest persons that a row touches."""
        if self.empty or self.free or self.alone.any():
            return 1
        return int(np.bincount(self.row).min())

    @property
    def empty(self) -> bool:
        """Whether nothing is left to solve."""
        return self.group.size == 0

    def scaled(self, factor: int) -> Core:
        """The same problem with every weight multiplied."""
        return replace(
            self, free=self.free * factor, alone=multiply(self.alone, factor), weight=multiply(self.weight, factor)
        )

    def above(self, limit: int) -> Core:
        """The same problem for every λ ≥ limit, with only the persons whose total exceeds the limit."""
        heavy = (self.totals > limit).astype(bool)
        number = np.cumsum(heavy) - 1
        free = self.free + exact_sum(self.alone[~heavy])
        kept = heavy[self.person]
        core = replace(self, free=free, row=self.row[kept], person=self.person[kept])._without_free_groups()
        core = replace(core, alone=core.alone[heavy], person=number[core.person])
        return core._folded()

    def keep_rows(self, kept: npt.NDArray[np.bool_]) -> Core:
        """The problem with the chosen rows only; groups that lose all rows are gone."""
        if kept.all():
            return self
        number = np.cumsum(kept) - 1
        pairs = kept[self.row]
        group = self.group[kept]
        used = np.zeros(self.weight.size, dtype=bool)
        used[group] = True
        return replace(
            self,
            weight=self.weight[used],
            group=(np.cumsum(used) - 1)[group],
            row=number[self.row[pairs]],
            person=self.person[pairs],
        )

    def _without_free_groups(self) -> Core:
        """Take whole every group that has a row without a pair."""
        touched = np.zeros(self.group.size, dtype=bool)
        touched[self.row] = True
        if touched.all():
            return self
        taken = np.zeros(self.weight.size, dtype=bool)
        taken[self.group[~touched]] = True
        core = replace(self, free=self.free + exact_sum(self.weight[taken]))
        return core.keep_rows(~taken[self.group])

    def _folded(self) -> Core:
        """Move groups whose only row touches one person into ``alone``."""
        if self.empty:
            return self
        length = np.bincount(self.row, minlength=self.group.size)
        single = (length == 1) & (np.bincount(self.group, minlength=self.weight.size) == 1)[self.group]
        if not single.any():
            return self
        pairs = single[self.row]
        extra = add_at(self.alone.size, self.person[pairs], self.weight[self.group[self.row[pairs]]])
        return replace(self, alone=self.alone + extra).keep_rows(~single)

    def merged(self) -> Core:
        """Rows of a group that touch the same persons made one, and so groups of one row each, their weights added."""
        if self.empty:
            return self
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.row))])
        rows = Incidences(self.weight[self.group], starts, self.person, self.alone.size, self.group, self.group.size)
        lone = (np.bincount(self.group, minlength=self.weight.size) == 1)[self.group]
        key = rows.alike(np.where(lone, self.weight.size, self.group))
        first = np.unique(key, return_index=True)[1]
        kept = np.zeros(key.size, dtype=bool)
        kept[first] = True
        together = add_at(first.size, key[lone], self.weight[self.group[lone]])
        weight = self.weight.copy()
        chosen = lone & kept
        weight[self.group[chosen]] = together[key[chosen]]
        return replace(self, weight=weight).keep_rows(kept)

    def without_limits(self, light: npt.NDArray[np.bool_]) -> Core:
        """Forget the limits of the light persons."""
        kept = ~light[self.person]
        return replace(self, row=self.row[kept], person=self.person[kept])._without_free_groups()._folded()


@dataclass(frozen=True, repr=False, eq=False)
class Peeled:
    """A problem at one λ with what could be decided already decided."""

    core: Core
    """What remains, with ``free`` already counting all that was gained."""
    room: Integers
    """How much each person may still carry."""
    full: int
    """How many persons have no room left (x = 1)."""


def peel(core: Core, limit: int) -> Peeled:
    """Decide all that the three steps decide when nobody may carry more than ``limit`` > 0."""
    room = np.full(core.alone.size, limit, dtype=core.alone.dtype if limit < 2**62 else object)
    while True:
        taken = np.minimum(core.alone, room)
        room = room - taken
        core = replace(core, free=core.free + exact_sum(taken), alone=np.zeros_like(core.alone))
        if core.empty:
            break
        given_up = np.zeros(core.group.size, dtype=bool)
        given_up[core.row[(room[core.person] == 0).astype(bool)]] = True
        core = core.keep_rows(~given_up)._folded()
        light = (core.totals <= room).astype(bool)
        if light[core.person].any():
            core = core.without_limits(light)
        elif not core.alone.any():
            break
    return Peeled(core.merged(), room, int((room == 0).sum()))
