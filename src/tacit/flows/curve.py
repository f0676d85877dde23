"""A capped statistic as a function of the cap, and the down profile conjugate to it.

PROMISE. For a fractional removal x ≥ 0 of persons let C(x) be what remains of the statistic (the modules that make a
`CappedStatistic` say what that is), L(λ) = min_x C(x) + λ·Σx its cap curve and D̃_j = min{C(x) : Σx ≤ j} =
max_λ L(λ) − λj its down profile. Then for every person v and every λ, j

    L_{x∖v}(λ) ≤ L_x(λ) ≤ L_{x∖v}(λ) + λ          and          D̃_{j+1}(x) ≤ D̃_j(x∖v) ≤ D̃_j(x),

so L has sensitivity λ, and D̃ may stand in for the true profile in any mechanism that takes one.

PROOF. C never rises when rows are dropped, so a removal does at least as well without v as with v: the lower bounds.
Removing v whole on top of any removal x leaves exactly C(x) of the data without v, at a price of one person: the
upper bounds. Both statements survive rounding. L(λ) is rounded to multiples of a public step s that divides λ, those a
public edge e beyond one going up: r(y) = s·⌈(y − e)/s⌉. It is monotone, so r(L_{x∖v}(λ)) ≤ r(L_x(λ)); and as λ/s is
whole it commutes with adding λ, so r(L_x(λ)) ≤ r(L_{x∖v}(λ) + λ) = r(L_{x∖v}(λ)) + λ. A step that does not divide λ
breaks the second; up or down does not matter, as long as the same value is always rounded in the same way, whatever a
solver said. D̃_j is rounded up to whole units, which is monotone, and more is not asked of it.

`at` and `profile` return these rounded values, always decided by exact arithmetic: for a flow they are computed in
integers; for a linear program two rigorous rational bounds are tightened until both round to the same value, in the
last resort by an exact solver. What a solver's tolerance can still do is cost time. With s = λ/64 bounds must agree to
that only, and e keeps the lattice away from fractions with small denominators, where L likes to be.

COST. One solution of the problem for each corner of the profile and each edge between two corners, at most; edges that
no longer matter to a rounded value are not looked at. Problems are shrunk first (`peeling`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from tacit.answers.flows import rounded
from tacit.flows.solving import LEAST, Support
from tacit.numbers.exact import Number, exact, non_negative, whole

_TINY = Fraction(1, 2**16)
"""A gain below this may be a solver's error: what is asked next is asked more precisely."""


@dataclass(frozen=True)
class Corner:
    """A removal of ``removed`` persons in all that leaves ``remaining``."""

    removed: Fraction
    remaining: Fraction

    def __repr__(self) -> str:
        return "<a corner of a down profile>"


class CappedStatistic(ABC):
    """A statistic of rows that touch persons, capped: what the persons add when none may add more than λ."""

    total: int
    """The statistic itself, uncapped. Private."""

    def _line(self, cap: Fraction, effort: int = 0) -> Support:
        """A supporting line at ``cap`` > 0, remembered: searches come by the same caps."""
        known: dict[tuple[Fraction, int], Support] = self.__dict__.setdefault("_lines", {})
        if (cap, effort) not in known:
            before = known.get((cap, effort - 1))
            exact = before is not None and before.low == before.high
            found = known[cap, effort] = before if before is not None and exact else self._solve(cap, effort)
            self.__dict__.setdefault("_sides", {})[found.remaining, found.removed] = None
        return known[cap, effort]

    @abstractmethod
    def _solve(self, cap: Fraction, effort: int) -> Support:
        """A supporting line at ``cap`` > 0, with bounds that meet as ``effort`` grows."""

    @abstractmethod
    def _probes(self, removals: int) -> Iterator[Fraction]:
        """Falling caps > 0, one of which is likely low enough to remove that many persons."""

    @abstractmethod
    def _everyone(self) -> int:
        """How many persons there are at most."""

    def bounds(self, cap: Number) -> tuple[Fraction, Fraction]:
        """Rational numbers with low ≤ L(cap) ≤ high; they are equal where rows touch at most two persons."""
        limit = exact(cap, "cap")
        if limit <= 0:
            return Fraction(0), Fraction(0)
        support = self._line(limit)
        return support.low, support.high

    def at(self, cap: int) -> int:
        """The capped statistic L(cap) for a whole cap, rounded to the step of that cap."""
        limit = whole(cap, "cap", 0)
        if limit == 0:
            return 0
        effort = LEAST
        while True:
            support = self._line(Fraction(limit), effort)
            low, high = rounded(support.low, limit), rounded(support.high, limit)
            if low == high:
                return high
            effort += 1

    def above(self, cap: int) -> int:
        """An upper bound of what `at` returns for a cap > 0, without solving anything."""
        known = (remaining + cap * removed for remaining, removed in self.__dict__.get("_sides", ()))
        return rounded(min(known, default=Fraction(self.total)), cap)

    def profile(self, removals: int) -> tuple[int, ...]:
        """The down profile D̃_0, …, D̃_removals, each rounded up to a whole unit."""
        count = whole(removals, "removals", 0)
        values = [0] * (count + 1)
        for left, right, line in self._edges(count, rounded=True):
            for j in range(max(ceil(left.removed), 0), min(floor(right.removed), count) + 1):
                values[j] = ceil(left.remaining - line.cap * (j - left.removed))
        values[0] = self.total
        return tuple(values)

    def corners(self, removals: int) -> tuple[Corner, ...]:
        """The corners of the profile over real j, from (0, total) to the first beyond ``removals`` or at 0 remaining.

        Exact where rows touch at most two persons, and for one person per value; otherwise rigorous upper bounds.
        """
        edges = sorted(self._edges(whole(removals, "removals", 0), rounded=False), key=lambda edge: edge[0].removed)
        corners = [Corner(Fraction(0), Fraction(self.total)), *(right for _, right, _ in edges)]
        return tuple(corners)

    def fewest(self, target: Number, most: int | None = None) -> int:
        """The fewest persons j with D̃_j ≤ target, or ``most`` if that is fewer.

        A loss in the sense of the mechanisms: a person more never lowers it and raises it by at most one.
        """
        goal = non_negative(target, "target")
        if self.total <= goal:
            return 0
        ceiling = self._everyone() if most is None else whole(most, "most", 0)
        left, right = Corner(Fraction(0), Fraction(self.total)), None
        for cap in self._probes(ceiling):
            line = self._line(cap)
            if (line.low - goal) / cap >= ceiling:
                return ceiling
            if line.remaining <= goal:
                right = Corner(line.removed, line.remaining)
                break
        return min(ceiling, self._fewest_between(goal, left, right or Corner(Fraction(self._everyone()), Fraction(0))))

    def _fewest_between(self, goal: Fraction, left: Corner, right: Corner) -> int:
        """Where the profile reaches the goal, rounded up; the left corner is above it, the right one is not."""
        start, effort = left, 0
        while True:
            cap = (left.remaining - right.remaining) / (right.removed - left.removed)
            line = self._line(cap, effort)
            most = left.removed + (left.remaining - goal) / cap  # where the chord reaches the goal
            least = (line.low - goal) / cap  # no removal of fewer persons can
            if ceil(most) == ceil(least):
                return ceil(most)
            middle, gained = Corner(line.removed, line.remaining), left.remaining + cap * left.removed - line.high
            effort += gained < _TINY
            if gained > 0 and middle.remaining > goal:
                left = middle
            elif gained > 0:
                left, right = (left if left.removed < middle.removed else start), middle

    def _edges(self, removals: int, rounded: bool) -> Iterator[tuple[Corner, Corner, Support]]:
        """The edges of the profile from 0 to ``removals``; with ``rounded``, chords that give the same whole units."""
        start, nothing = Corner(Fraction(0), Fraction(self.total)), Corner(Fraction(self._everyone()), Fraction(0))
        right = nothing
        for cap in self._probes(removals):
            line = self._line(cap)
            if rounded and ceil(line.low - cap * removals) == self.total:  # not a unit is lost
                yield start, Corner(Fraction(removals), start.remaining), Support(Fraction(0), *[start.remaining] * 3)
                return
            if line.removed >= removals or line.remaining == 0:
                right = Corner(line.removed, line.remaining)
                break
        waiting = [(start, right, 0)]
        while waiting:
            left, right, effort = waiting.pop()
            if right.removed == left.removed or left.removed > removals:
                continue
            cap = (left.remaining - right.remaining) / (right.removed - left.removed)
            if cap <= 0:  # nothing is left to lose, or a solver's corner is worth nothing
                if left.remaining == 0:
                    yield left, right, Support(Fraction(0), right.removed, left.remaining, left.remaining)
                else:
                    waiting.append((left, nothing, 0))
                continue
            line = self._line(cap, effort)
            chord = left.remaining + cap * left.removed
            if _decided(left, right, line, chord, removals) if rounded else line.high >= chord:
                yield left, right, line
                continue
            effort = effort + 1 if chord - line.high < _TINY else 0
            middle = Corner(line.removed, line.remaining)
            if line.high >= chord:
                waiting.append((left, right, effort))
            if line.high < chord and middle.removed > left.removed:
                waiting.append((left, middle, effort))
            if line.high < chord and middle.removed < right.removed:
                waiting.append((middle, right, effort))

    def __repr__(self) -> str:
        return "<a capped statistic>"


def _decided(left: Corner, right: Corner, line: Support, chord: Fraction, removals: int) -> bool:
    """Whether chord and supporting line agree, rounded up, at every whole number of removals between the corners."""
    first, last = ceil(left.removed), min(floor(right.removed), removals)
    return all(ceil(line.low - line.cap * j) == ceil(chord - line.cap * j) for j in range(first, last + 1))
