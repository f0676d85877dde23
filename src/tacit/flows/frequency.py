"""How often the most frequent value occurs, and the largest degree, over rows that touch several persons.

C(x) = max_v Σ_{t has v} w_t·(1 − Σ_{u∈t} x_u)⁺: one variable for each row. (A shorter form counts Σ_u cnt(u,v)·x_u as
removed; where a row touches two persons that counts overlapping removals twice and breaks the surrogate condition.)
C falls when rows are dropped and x_v = 1 removes exactly the rows of v, so the proof in `curve` holds. By duality

    L(λ) = max Σz,   z_t ≤ w_t·p_{value of t},   Σp ≤ 1,   Σ_{t∋u} z_t ≤ λ,   p, z ≥ 0.

A degree is the frequency of a person among the rows, so the largest degree is the same problem with every row listed
once for each person it touches.

What makes it small, without changing the optimum:
- the most frequent values are tried first; a value that weighs no more than what a removal leaves of those cannot be
  the maximum under it;
- a person whose single row touches someone else need not be removed: the other does at least as well;
- among degrees, a person off the list of values tried, with weight s ≤ F over their rows, need not be removed to get
  down to F: instead of δ of it, δ·s/F spread over the listed persons it meets does as well, for removing more of a
  listed person whose degree exceeds F lowers that degree at a rate above F, by convexity. So N(F), the fewest removals
  down to F, is right for F ≥ φ if only persons with s ≤ φ are left out;
- persons who cannot be told apart share one x, their average, by convexity (done where rows touch one person);
- a person with no more than λ in any value can never be full, and a row that touches only one person who can needs no
  variable: there 1 − x_u ≥ 0 already. With x_u ≤ 1 priced r_u the load of u is Σ_v W_uv·p_v + Σ_t z_t − r_u ≤ λ, the
  gain Σ_v p_v·Σ_u W_uv + Σz − Σr.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.flows.curve import CappedStatistic
from tacit.flows.incidences import Incidences, Integers, add_at, exact_sum, number_ids
from tacit.flows.programs import Program, over_common_denominator, propose
from tacit.flows.solvers import approached
from tacit.flows.solving import Support
from tacit.numbers.exact import Number, non_negative

_FIRST = 16
"""How many values are tried first."""
_UNIT = 2**24
"""Parts of 1 in which machine integers count."""
_SMALL = 2**34
"""Weights and rooms of which that many parts stay far below 2^63."""


class CappedFrequency(CappedStatistic):
    """The weight of the heaviest value, capped by person."""

    def __init__(self, rows: Incidences, value: Integers, degrees: bool = False) -> None:
        self._rows = rows
        names, self._value = np.unique(value, return_inverse=True)
        weights = add_at(names.size, self._value, rows.weights)
        order = np.argsort(-weights, kind="stable")
        self._rank = np.empty(names.size, dtype=np.int64)
        self._rank[order] = np.arange(names.size)
        self._weights = [int(w) for w in weights[order]]
        self._owners = names[order] if degrees else None
        self.total = self._weights[0] if self._weights else 0
        self._lists = [self._listed(_FIRST)]
        self._left: list[tuple[Fraction, Fraction]] = []  # caps tried and what remained, which rises with the cap

    def fewest(self, target: Number, most: int | None = None) -> int:
        """The fewest persons j with D̃_j ≤ target; values that weigh no more than the target do not matter."""
        goal = non_negative(target, "target")
        above = sum(weight > goal for weight in self._weights)
        count = _FIRST
        while True:
            loss = self._listed(min(count, above), goal).fewest(goal, most)
            if count >= above or loss == most:
                return loss
            count *= 4

    def _listed(self, count: int, floor: Fraction | None = None) -> _Shortlist:
        """The ``count`` heaviest values; right as long as ``floor``, or the next value's weight, remains."""
        chosen = self._rank[self._value] < count
        following = self._weights[count] if count < len(self._weights) else 0
        owners = None if self._owners is None else self._owners[:count]
        rows, rank = self._rows.only(chosen), self._rank[self._value[chosen]]
        return _Shortlist(rows, rank, count, owners, following, Fraction(following) if floor is None else floor)

    def _solve(self, cap: Fraction, effort: int) -> Support:
        least = max((left for tried, left in self._left if tried <= cap), default=Fraction(0))
        chosen = next((one for one in self._lists if one.following < least), self._lists[-1])
        while (line := chosen.reliable(cap, effort)) is None:
            chosen = self._listed(2 * chosen.count)
            self._lists.append(chosen)
        self._left.append((cap, line.remaining))
        return line

    def _probes(self, removals: int) -> Iterator[Fraction]:
        return self._lists[0]._probes(removals)

    def _everyone(self) -> int:
        return self._rows.size


def capped_frequency(rows: Incidences, values: npt.ArrayLike) -> CappedFrequency:
    """The total weight of the value that has most of it, no person adding more than the cap.

    ``values`` has one integer for each row that ``rows`` was made from.
    """
    return CappedFrequency(rows, rows.valued(values))


def capped_degree(rows: Incidences) -> CappedFrequency:
    """The largest total of a person, no person adding more than the cap: a graph's largest degree."""
    return CappedFrequency(rows.listed(rows.row), rows.persons, degrees=True)


class _Shortlist(CappedStatistic):
    """The rows of the most frequent values, reduced: the statistic as if there were no other values."""

    def __init__(
        self, rows: Incidences, value: Integers, count: int, owners: Integers | None, following: int, floor: Fraction
    ) -> None:
        self.count, self.following, self._partial = count, following, owners is not None
        rows, value = rows.merged(value)
        if owners is not None:
            rows = _without_outsiders(rows, owners, floor)
        rows, value = _without_followers(rows).merged(value)
        person, people = number_ids(rows.persons)
        rows, self._alike = rows.touching(rows.row, person, people), np.ones(people, dtype=object)
        if rows.persons.size == rows.weights.size:  # one person per row
            rows, value, self._alike = _joined(rows, value)
        self._rows, self._value, self._weight = rows, value, rows.weights.astype(object)
        pair, pairs = number_ids(rows.persons * count + value[rows.row])
        within = add_at(pairs, pair, self._weight[rows.row])
        self._most = np.zeros(rows.size, dtype=object)
        np.maximum.at(self._most, rows.persons, within[pair])
        self.total = max(add_at(count, value, self._weight).tolist(), default=0)

    def reliable(self, cap: Fraction, effort: int) -> Support | None:
        """A supporting line that holds for all values, not only those listed; None where the list is too short.

        Where persons were left out, a convex F + λ·N(F) known above φ only could fall below ``low`` further down, but
        then it would rise above ``high`` at what remains, R: unless by less than (high − low)·φ/(R − φ).
        """
        line, φ = self._solve(cap, effort), self.following
        if not φ:
            return line
        if line.remaining < φ + Fraction(1, 2):
            return None
        doubt = (line.high - line.low) * φ / (line.remaining - φ) if self._partial else 0
        return Support(cap, line.removed, line.remaining, line.low - doubt)

    def _solve(self, cap: Fraction, effort: int) -> Support:
        heavy = (self._most * cap.denominator > self._alike * cap.numerator).astype(bool)
        row, person = self._rows.row[kept := heavy[self._rows.persons]], self._rows.persons[kept]
        if not row.size:
            return Support(cap, Fraction(0), Fraction(self.total), Fraction(self.total))
        known, number = np.unique(person, return_inverse=True)
        return _Limited.of(self, row, number, self._alike[known]).solve(cap, effort)

    def _probes(self, removals: int) -> Iterator[Fraction]:
        cap = Fraction(max(self._most.tolist(), default=1))
        for _ in range(64):
            cap /= 2
            yield cap

    def _everyone(self) -> int:
        return sum(self._alike.tolist())


@dataclass(frozen=True, repr=False, eq=False)
class _Limited:
    """The linear program at one cap, for the persons who may be full."""

    sure: Integers
    """The weight of each value in rows that touch none of them or one."""
    alike: Integers
    """How many persons each stands for."""
    value: Integers
    """For each weight that one person has alone in a value: the value, the person and the weight."""
    person: Integers
    weight: Integers
    shared_value: Integers
    """For each row that touches several: its value and weight; and its (row, person) pairs."""
    shared_weight: Integers
    row: Integers
    member: Integers

    @classmethod
    def of(cls, listed: _Shortlist, row: Integers, person: Integers, alike: Integers) -> _Limited:
        """Split the pairs (row, person) into rows with one pair and rows with several."""
        length = np.bincount(row, minlength=listed._weight.size)
        shared, single = length > 1, length[row] == 1
        sure = add_at(listed.count, listed._value[~shared], listed._weight[~shared])
        alone = row[single]
        return cls(
            sure,
            alike,
            listed._value[alone],
            person[single],
            listed._weight[alone],
            listed._value[shared],
            listed._weight[shared],
            (np.cumsum(shared) - 1)[row[~single]],
            person[~single],
        )

    def solve(self, cap: Fraction, effort: int) -> Support:
        """Rigorous bounds, from the program with p, z and r scaled by the cap's denominator."""
        room = self.alike * cap.numerator
        program = self._program(cap.denominator, room)
        near = self._near(program, cap, room) if effort < 0 else None
        if near is not None:
            return near
        proposal = propose(program, max(effort, 0))
        prices = proposal.dual[1 + self.shared_weight.size :]
        x, unit = over_common_denominator([min(max(v, Fraction(0)), Fraction(1)) for v in prices])
        scale = proposal.denominator * cap.denominator
        low = Fraction(self._carried(proposal.primal, scale, room * proposal.denominator), scale)
        return Support(cap, Fraction(exact_sum(x * self.alike), unit), self._remaining(x, unit), low)

    def _program(self, budget: int, room: Integers) -> Program:
        values, rows, people = self.sure.size, self.shared_weight.size, self.alike.size
        link, load = 1 + np.arange(rows), 1 + rows
        parts = [  # (constraint, variable, coefficient): Σp ≤ 1; z ≤ w·p; the load of each person
            (np.zeros(values, dtype=np.int64), np.arange(values), np.ones(values, dtype=object)),
            (link, values + np.arange(rows), np.ones(rows, dtype=object)),
            (link, self.shared_value, -self.shared_weight),
            (load + self.person, self.value, self.weight),
            (load + self.member, values + self.row, np.ones(self.row.size, dtype=object)),
            (load + np.arange(people), values + rows + np.arange(people), np.full(people, -1, dtype=object)),
        ]
        constraint, variable, coefficient = (np.concatenate(part) for part in zip(*parts, strict=True))
        gain = np.concatenate([self.sure, np.ones(rows, dtype=object), np.full(people, -1, dtype=object)])
        limit = np.concatenate([[budget], np.zeros(rows, dtype=object), room])
        return Program(gain, limit, constraint, variable, coefficient)

    def _near(self, program: Program, cap: Fraction, room: Integers) -> Support | None:
        """Bounds that are near each other, in machine integers; None where numbers do not fit."""
        heaviest = sum(self.sure.tolist()) + sum(self.shared_weight.tolist()) + sum(self.weight.tolist())
        if cap.denominator > 1 or max(heaviest, sum(room.tolist())) >= _SMALL:
            return None
        upper = np.full(program.gain.size, np.inf)
        answer = approached(
            program.limit, upper, program.constraint, program.variable, program.gain, program.coefficient
        )
        if answer is None:
            return None
        small = _Limited(*(getattr(self, field.name).astype(np.int64) for field in fields(self)))
        most = np.concatenate([np.ones(self.sure.size), small.shared_weight, np.zeros(self.alike.size)])
        primal = np.floor(np.clip(np.nan_to_num(answer[0]), 0, most) * _UNIT).astype(np.int64)
        prices = np.nan_to_num(answer[1][1 + self.shared_weight.size :])
        x = np.rint(np.clip(prices, 0, 1) * _UNIT).astype(np.int64)
        low = Fraction(small._carried(primal, _UNIT, room.astype(np.int64) * _UNIT), _UNIT)
        return Support(cap, Fraction(exact_sum(x * small.alike), _UNIT), small._remaining(x, _UNIT), low)

    def _remaining(self, x: Integers, unit: int) -> Fraction:
        """C(x), exactly."""
        uncovered = np.maximum(unit - add_at(self.shared_weight.size, self.row, x[self.member]), 0)
        left = self.sure * unit + add_at(self.sure.size, self.shared_value, self.shared_weight * uncovered)
        left = left - add_at(self.sure.size, self.value, self.weight * x[self.person])
        return Fraction(int(left.max()), unit)

    def _carried(self, proposed: Integers, budget: int, room: Integers) -> int:
        """What a feasible point attains, in whole units: p within its budget, z within p, r as the loads ask."""
        p, z = proposed[: self.sure.size], proposed[self.sure.size : self.sure.size + self.shared_weight.size]
        share = sum(p.tolist())
        p = p * budget // share if share > budget else p
        z = np.minimum(z, self.shared_weight * p[self.shared_value])
        load = add_at(room.size, self.person, self.weight * p[self.value]) + add_at(room.size, self.member, z[self.row])
        gained: int = sum((self.sure * p).tolist()) + sum(z.tolist()) - sum(np.maximum(load - room, 0).tolist())
        return gained


def _without_outsiders(rows: Incidences, owners: Integers, floor: Fraction) -> Incidences:
    """The rows without persons off the list who weigh no more than ``floor`` in them."""
    kept = add_at(rows.size, rows.persons, rows.weights.astype(object)[rows.row]) > floor
    kept[owners] = True
    chosen = kept.astype(bool)[rows.persons]
    return rows.touching(rows.row[chosen], rows.persons[chosen], rows.size)


def _without_followers(rows: Incidences) -> Incidences:
    """The rows without persons whose single row touches someone else who will do."""
    row = rows.row
    single = np.bincount(rows.persons, minlength=rows.size)[rows.persons] == 1
    led = np.zeros(rows.weights.size, dtype=bool)
    led[row[~single]] = True
    first = np.diff(row, prepend=-1) > 0
    kept = ~single | (first & ~led[row])
    return rows.touching(row[kept], rows.persons[kept], rows.size)


def _joined(rows: Incidences, value: Integers) -> tuple[Incidences, Integers, Integers]:
    """Persons with the same weights in the same values made one, and how many each of them stands for."""
    sizes = np.unique(rows.weights, return_inverse=True)[1]
    has = number_ids(value * (int(sizes.max(initial=0)) + 1) + sizes)[0]
    order = np.lexsort((has, rows.persons))
    person, people = number_ids(rows.persons)
    bundles = Incidences(np.ones(people, dtype=np.int64), np.zeros(0), np.zeros(0), 0, np.arange(people), people)
    bundles = bundles.touching(person[order], has[order], int(has.max(initial=-1)) + 1)
    kind = bundles.alike(np.zeros(people, dtype=np.int64))
    alike = np.bincount(kind).astype(object)
    rows, value = rows.touching(rows.row, kind[person], alike.size).merged(value)
    return rows, value, alike
