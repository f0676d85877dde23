"""Rigorous bounds of a packing in machine integers.

The problem that peeling leaves: rows carry z ≥ 0, those of one group together at most its weight, those of one person
at most its room; maximise Σz. A solver proposes a packing z and a removal x, in doubles; what is made of them holds
whatever they are:

- z is taken in units of 1/2^k and lowered until no limit is exceeded. Whether one is, is decided on sums of whole
  numbers below 2^53, which doubles add exactly. Σz is a lower bound.
- x is taken in [0, 1] as multiples of 1/D, D small where a vertex of the program has small fractions. For every such x
  Σ_u room·x_u + Σ_g weight·max_t(1 − Σ_{u∈t} x_u)⁺ is an upper bound, in whole numbers below 2^62.

Numbers that do not fit are left to Python's integers (`programs`), as are bounds that are not close enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from tacit.flows.incidences import Integers, exact_sum
from tacit.flows.solvers import Doubles, Solver, approached, packed

_EXACT = 52
"""Whole numbers below 2^52 are exact in doubles, and so are sums that stay below."""
_WIDE = 61
_LEAST = 12
"""Bits of a unit without which machine integers are too coarse."""
_FINE = 30
_NEAR = 1e-7
"""A value this close to a simple fraction is taken for it."""
_SIMPLE = 1000
"""The largest denominator of a simple fraction, and the most different values that are looked at."""


@dataclass(frozen=True, repr=False, eq=False)
class Packing:
    """Rows with their groups and persons, as a linear program with a variable for each row."""

    room: Integers
    """What each person may carry."""
    weight: Integers
    """What each group may carry."""
    group: Integers
    """For each row, its group."""
    row: Integers
    """For each (row, person) pair, the row; pairs are sorted by row, and every row has one."""
    person: Integers

    def bounds(self, near: bool) -> tuple[Fraction, Fraction, Fraction] | None:
        """A lower and an upper bound of the largest total, and the persons removed; None where numbers do not fit.

        They are ``near`` each other, or as near as a vertex has it.
        """
        if self.weight.dtype == object or self.room.dtype == object:
            return None
        listed = exact_sum(self.weight[self.group])
        places = _EXACT - listed.bit_length()
        parts = _WIDE - max(exact_sum(self.room), exact_sum(self.weight)).bit_length()
        if places < _LEAST or parts < _LEAST:
            return None
        room = np.minimum(self.room, listed)
        proposal = self._proposed(room, approached if near else packed)
        if proposal is None:
            return None
        low = self._carried(proposal[0], room, places)
        return None if low is None else (low, *self._remaining(proposal[1], 1 << min(parts, _FINE)))

    def _proposed(self, room: Integers, solver: Solver) -> tuple[Doubles, Doubles] | None:
        """What the solver says: a group of one row is a bound of its variable, another one a constraint."""
        rows = np.bincount(self.group, minlength=self.weight.size)
        several = rows > 1
        number = room.size + np.cumsum(several) - 1
        inside = np.flatnonzero(several[self.group])
        constraint = np.concatenate([self.person, number[self.group[inside]]])
        variable = np.concatenate([self.row, inside])
        answer = solver(np.concatenate([room, self.weight[several]]), self.weight[self.group], constraint, variable)
        return None if answer is None else (answer[0], answer[1][: room.size])

    def _carried(self, proposed: Doubles, room: Integers, places: int) -> Fraction | None:
        """Σz of the proposed packing, lowered until it is one, in units of 2^-places."""
        unit = float(1 << places)
        z = np.floor(np.clip(np.nan_to_num(proposed), 0, self.weight[self.group]) * unit)
        limits = ((np.arange(z.size), self.group, self.weight * unit), (self.row, self.person, room * unit))
        for variable, constraint, limit in limits:
            load = np.bincount(constraint, weights=z[variable], minlength=limit.size)
            share = np.where(load > limit, limit / np.maximum(load, 1) * (1 - 2**-40), 1)
            lowered = np.ones(z.size)
            np.minimum.at(lowered, variable, share[constraint])
            z = np.floor(z * lowered)
        for variable, constraint, limit in limits:  # sums of whole numbers below 2^53: exact
            if (np.bincount(constraint, weights=z[variable], minlength=limit.size) > limit).any():
                return None
        return Fraction(int(z.sum()), 1 << places)

    def _remaining(self, proposed: Doubles, finest: int) -> tuple[Fraction, Fraction]:
        """What the proposed removal leaves, with the room of the removed, and how many it removes."""
        x = np.clip(np.nan_to_num(proposed), 0, 1)
        unit = common_denominator(x, finest)
        taken = np.rint(x * unit).astype(np.int64)
        covered = np.bincount(self.row, weights=taken[self.person], minlength=self.group.size).astype(np.int64)
        worst = np.zeros(self.weight.size, dtype=np.int64)
        np.maximum.at(worst, self.group, np.maximum(unit - covered, 0))
        high = int((self.room * taken).sum()) + int((self.weight * worst).sum())
        return Fraction(high, unit), Fraction(int(taken.sum()), unit)


def common_denominator(x: Doubles, most: int) -> int:
    """A denominator for numbers in [0, 1]: that of the simple fractions they are near to, or a power of two."""
    different, unit = np.unique(np.rint(x / _NEAR)) * _NEAR, 1
    power = 1 << (most.bit_length() - 1)
    if different.size > _SIMPLE:
        return power
    for value in different.tolist():
        near = Fraction(value).limit_denominator(_SIMPLE)
        unit = lcm(unit, near.denominator)
        if abs(float(near) - value) > _NEAR or unit > most:
            return power
    return unit
