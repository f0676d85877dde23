"""`monotone`: a function that one more person never lowers, answered by the shifted inverse.

PROMISE  That of `tacit.mechanisms.inverse.shifted_inverse` by the method asked for: Pure(ε), Zcdp(ρ) for those that
take ρ, Approx(ε, δ) for the interior point. No floor on the size of groups is needed, and no noisy number of persons.

WHAT IT RESTS ON  There are three ways to get the profile D_0, D_1, …, the least values after removing 0, 1, … persons:

- by default Tacit believes nothing: it evaluates f on all groups and works with g(z) = the largest value of f on groups
  inside z, which is monotone whatever f is. If f is monotone, g = f. If it is not, the answer is about g: a wrong claim
  costs accuracy and never privacy. It runs in this process: f must depend on the records of its group alone, keep
  nothing from one call to the next, and leave the records as they are; `tacit.wrap` enforces that.
- with ``claimed=True`` it evaluates f on groups that miss a few persons only, and believes that f is monotone. If that
  is wrong the promise is void.
- with ``least=``, a function of the records and k, it believes that too: the promise needs D_{j+1}(x) ≤ D_j(x without
  v) ≤ D_j(x) for every person v. Otherwise it is void.

A failure of f, and what is no number, is the grid's lowest value; values beyond its ends count as its ends.

PUBLIC NUMBERS  Only D_0, …, D_J are looked at, J the window that the method states for the grid and the cost, and what
lies beyond is the lowest value, which keeps the condition above. Where Tacit evaluates f itself it does so for at most
N persons, N the largest number for which every group that matters is affordable; with more persons f counts as the
grid's highest value, and no number of persons makes a question fail (`tacit.black_boxes.fallen` has the proof).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, combinations
from typing import TYPE_CHECKING, Any

from tacit.answers import Answer
from tacit.answers.order import Fallen, FallenWithin
from tacit.black_boxes.fallen import PROVED, affordable, depth
from tacit.black_boxes.values import cut_grid, place_below, step_of
from tacit.curves import DownProfile
from tacit.errors import InvalidInput
from tacit.functions.function import (
    Function,
    OwnFunction,
    callable_or_refused,
    called,
    coarsened,
    named,
    released,
)
from tacit.functions.several import spread_over
from tacit.functions.spending import spend
from tacit.grids import Grid
from tacit.guarantees import Guarantee
from tacit.mechanisms.inverse.shifted_inverse import ShiftedInverseLaw, shifted_inverse
from tacit.mechanisms.search.scan_rates import BETA
from tacit.numbers.exact import Number, between, check_listed, exact, whole
from tacit.tables.releasing.room import Desk
from tacit.tables.statistics.extremes import windows

if TYPE_CHECKING:
    from tacit.black_boxes.lattice import Layer

LIMIT = 2**20
"""The most evaluations unless more are allowed."""

Least = Callable[[list[Any], int], Any]
"""From the records and k to the least value of f after removing k persons."""


@dataclass(frozen=True, repr=False)
class Monotone(OwnFunction):
    """A function that one more person never lowers."""

    f: Function
    name: str
    grid: Grid
    least: Least | None
    claimed: bool
    method: str | None
    beta: Fraction
    limit: int

    @property
    def rests_on(self) -> str:  # type: ignore[override]
        """Nothing, or the claim of its author."""
        if self.least is not None:
            return "least(records, k) is the least value after removing k persons, and no more persons lower it"
        return "no more persons lower the function" if self.claimed else ""

    def check(self, cost: Guarantee) -> None:
        """Refuse a method or a cost, or a cost at which no number of persons is affordable."""
        self.affordable(cost)

    def depth(self, cost: Guarantee) -> int:
        """J: of how many persons the removal matters, a public number."""
        return depth(self.select([], cost), self.beta)

    def affordable(self, cost: Guarantee) -> int | None:
        """N: for how many persons every group that matters is evaluated; None with ``least``, for any number."""
        deep = self.depth(cost)
        return None if self.least is not None else affordable(deep, self.limit, all_groups=not self.claimed)

    def profile(self, records: list[Any], cost: Guarantee) -> list[int]:
        """D_0, …, D_J in steps above the grid's bottom. It knows the data."""
        depth, most = self.depth(cost), self.affordable(cost)
        if self.least is not None:
            below = (place_below(self.grid, called(self.least, list(records), k)) for k in range(len(records) + 1))
            found = [step for step, _ in zip(below, range(depth + 1), strict=False)]
        else:
            assert most is not None
            found = self._searched(records, depth, most)
        return list(accumulate(found, min))

    def _searched(self, records: list[Any], depth: int, most: int) -> list[int]:
        assert self.grid.last is not None  # made sure of when it was made
        assert self.grid.first is not None
        persons, top = len(records), self.grid.last - self.grid.first
        if persons > most + depth:
            return [top] * (depth + 1)
        if self.claimed:
            smaller = range(min(persons, depth) + 1)
            return [top if persons - j > most else min(self._values(records, j)) for j in smaller]
        from tacit.black_boxes.lattice import Lattice

        lattice = Lattice(persons, persons)
        return lattice.profile([self._layer(records, j, size, most, top) for j, size in enumerate(lattice.sizes())])[
            : depth + 1
        ]

    def _layer(self, records: list[Any], missing: int, size: int, most: int, top: int) -> Layer:
        """The values on all groups without so many persons, in the order of `subsets`."""
        import numpy as np

        if len(records) - missing > most:
            return np.full(size, top, dtype=np.int64)
        return np.array(self._values(records, missing), dtype=np.int64)

    def _values(self, records: list[Any], missing: int) -> list[int]:
        """In steps; the missing ordered by their largest member first, as `black_boxes.subsets` ranks them."""
        absent = sorted(combinations(range(len(records)), missing), key=lambda gone: gone[::-1])
        return [
            place_below(self.grid, called(self.f, [r for i, r in enumerate(records) if i not in gone]))
            for gone in map(set, absent)
        ]

    def select(self, profile: Sequence[int], cost: Guarantee) -> ShiftedInverseLaw:
        """The shifted inverse of a profile in steps."""
        assert self.grid.first is not None
        values = [self.grid.value(self.grid.first + step) for step in profile]
        told = spend(cost, self.method)
        return shifted_inverse(DownProfile(values), self.grid, beta=self.beta, **told)

    def _law(self, records: list[Any], cost: Guarantee) -> ShiftedInverseLaw:
        return self.select(self.profile(records, cost), cost)

    def release(self, records: list[Any], desk: Desk, cost: Guarantee) -> Answer:
        """A value that the function falls to without a few persons."""
        law, most = self._law(records, cost), self.affordable(cost)
        value, levels = released(desk.draw(law)), windows(law)
        notes: tuple[str, ...] = ("Values are rounded down to the grid, and beyond its ends count as its ends.",)
        if self.rests_on:
            notes += (f"The promise rests on this: {self.rests_on}.",)
        return desk.answer(
            self.name,
            value,
            mechanism=law.name,
            per="person",
            unit=step_of(self.grid),  # type: ignore[arg-type]
            spread=Fallen(levels, value) if most is None else FallenWithin(levels, value, most),
            notes=notes,
        )

    def coarse(self) -> Monotone:
        """On a grid of few values over the same range."""
        return replace(self, grid=coarsened(self.grid))


def monotone(
    f: Function,
    *,
    grid: Grid | Sequence[Grid] | Mapping[Any, Grid],
    least: Least | None = None,
    claimed: bool = False,
    method: str | None = None,
    beta: Number = BETA,
    name: str | None = None,
    max_evaluations: int = LIMIT,
) -> OwnFunction:
    """A function that one more person never lowers, such as the sum of the three largest or a number of triangles.

    Args:
        f: the function of a list with one record for each person.
        grid: the possible answers; a list or a mapping of grids for an f that returns as many numbers, or a mapping.
        least: computes the least value after removing k persons, of the records and k; without it Tacit evaluates f on
            groups, which few persons allow. The promise rests on it.
        claimed: whether to believe that f is monotone; without it, and without ``least``, nothing is believed.
        method: "scan", "scan_down", "exponential", "permute_and_flip", "binary_search" or "interior_point", which needs
            δ; by default the scan, or the binary search for ρ.
        beta: with what probability the stated accuracy may fail.
        name: what it is called in answers; by default as f is.
        max_evaluations: the most evaluations of f.

    >>> from tacit.grids import integers
    >>> widest = tacit.functions.monotone(lambda x: max(x) - min(x), grid=integers(0, 100), name="widest difference")
    >>> widest.ask([12, 30, 31, 35, 90], epsilon=8, budget=Pure(8))
    Answer(widest difference: ..., Pure(8))
    """
    if method is not None:
        check_listed(method, "method", PROVED)
    callable_or_refused(f, "f")
    if least is not None:
        callable_or_refused(least, "least")
    options = {
        "claimed": bool(claimed),
        "method": method,
        "beta": between(beta, "beta", 0, 1),
        "limit": whole(max_evaluations, "max_evaluations", 1),
    }

    def one(function: Function, oracle: Least | None, grid: Any, called_: str) -> Monotone:
        cut = cut_grid(grid)
        if oracle is None and grid.last is None:
            raise InvalidInput("grid must have a highest value where least= is not given; cut it with between.")
        return Monotone(function, called_, cut, oracle, **options)  # type: ignore[arg-type]

    words = named(f, name)
    if isinstance(grid, Grid):
        return one(f, least, grid, words)
    return spread_over(f, least, grid, words, one)


def monotonise(f: Function, *, floor: int = 0, bottom: Number = 0) -> Function:
    """The monotone function that is the largest value of f on groups of at least ``floor`` persons.

    It is monotone for any f, because a larger group has all groups of a smaller one. The floor must be a public number
    that does not follow the number of persons. All groups are evaluated, 2^n of n persons.

    Args:
        f: any function of a list with one record for each person.
        floor: the fewest persons of a group that counts.
        bottom: the value where there are fewer persons, and of a group on which f fails or returns no number.

    >>> largest_mean = tacit.functions.monotonise(lambda x: sum(x) / len(x), floor=2)
    >>> largest_mean([1, 5, 6]), largest_mean([1, 5]), largest_mean([1])
    (Fraction(11, 2), Fraction(3, 1), Fraction(0, 1))
    """
    callable_or_refused(f, "f")
    fewest, lowest = whole(floor, "floor", 0), exact(bottom, "bottom")

    def monotonised(records: Sequence[Any]) -> Fraction:
        known = [
            called(f, list(group)) for size in range(fewest, len(records) + 1) for group in combinations(records, size)
        ]
        return max([lowest, *(value for value in known if value is not None)])

    monotonised.__name__ = f"monotonised {named(f, None)}"
    return monotonised
