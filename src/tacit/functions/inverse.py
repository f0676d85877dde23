"""`inverse`: a function answered by how many persons would have to change until it is y.

PROMISE  That of `tacit.mechanisms.inverse.inverse_sensitivity` by the method asked for: Pure(ε), or Zcdp(ρ) by the
exponential mechanism.

WHAT IT RESTS ON  With a public ``universe`` of records, nothing: Tacit looks for the nearest dataset on which f is y,
and the distance to a set has sensitivity 1 whatever f does. A record outside the universe counts as its first. With
``distance=``, that for every y it moves by at most one when a person is added or removed. The true distance does, and
so does anything from which it is bounded alike. If it moves by more the promise is void.

A failure of f reaches no value; a distance that fails, or is no whole number, is the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.answers import Answer
from tacit.answers.order import Changed
from tacit.black_boxes.values import cut_grid, step_of
from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.functions.function import Function, OwnFunction, callable_or_refused, called, named, released
from tacit.functions.several import spread_over
from tacit.functions.spending import spend
from tacit.grids import Grid
from tacit.guarantees import Guarantee
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.inverse.inverse_search import checked_size, searched_loss
from tacit.mechanisms.inverse.inverse_sensitivity import METHODS, inverse_sensitivity
from tacit.numbers.exact import Number, check_listed, non_negative, whole
from tacit.tables.releasing.room import Desk
from tacit.tables.statistics.extremes import windows

LARGEST = 2**16
"""The most values of a grid, each of which has its distance."""

LIMIT = 1000
"""Where distances are cut unless another limit is given."""

Distance = Callable[[list[Any], Any], Any]
"""From the records and a value y to how many persons must change until the function is y."""


@dataclass(frozen=True, repr=False)
class Inverse(OwnFunction):
    """A function with the distance to each of its possible values."""

    f: Function
    name: str
    grid: Grid
    distance: Distance | None
    universe: tuple[Hashable, ...]
    limit: int
    within: Fraction
    method: str | None

    @property
    def rests_on(self) -> str:  # type: ignore[override]
        """Nothing where Tacit finds the distance itself."""
        if self.distance is None:
            return ""
        return "for every y the distance moves by at most one when a person is added or removed"

    def check(self, cost: Guarantee) -> None:
        """Refuse a method that does not take the cost."""
        self._select(StepLoss.from_losses(self.grid, [0] * int(self.grid.size)), cost)

    def loss(self, records: list[Any]) -> StepLoss:
        """The distance to every value of the grid, at most the limit. It knows the data."""
        if self.distance is None:
            return searched_loss(
                lambda x: called(self.f, list(x)),
                records,
                self.universe,
                self.grid,
                limit=self.limit,
                within=self.within,
            )
        assert self.grid.first is not None
        assert self.grid.last is not None
        values = [self.grid.answer(i) for i in range(self.grid.first, self.grid.last + 1)]
        return StepLoss.from_losses(self.grid, [self._far(records, value) for value in values])

    def _far(self, records: list[Any], value: int | Fraction) -> int:
        assert self.distance is not None
        found = called(self.distance, list(records), value)
        if found is None or found.denominator != 1:
            return self.limit
        return min(max(int(found), 0), self.limit)

    def _select(self, loss: StepLoss, cost: Guarantee) -> GridLaw:
        return inverse_sensitivity(loss, **spend(cost, self.method, "exponential", "exponential"))

    def _law(self, records: list[Any], cost: Guarantee) -> GridLaw:
        return self._select(self.loss(records), cost)

    def release(self, records: list[Any], desk: Desk, cost: Guarantee) -> Answer:
        """A value that few persons would have to change for."""
        law = self._law(records, cost)
        value = released(desk.draw(law))
        levels = tuple(
            (level, None if count is None or count >= self.limit else count) for level, count in windows(law)
        )
        notes = (f"The promise rests on this: {self.rests_on}.",) if self.rests_on else ()
        return desk.answer(
            self.name,
            value,
            mechanism=law.name,
            per="person",
            unit=step_of(self.grid),  # type: ignore[arg-type]
            spread=Changed(levels, float(self.within)),
            notes=notes,
        )

    def coarse(self) -> Inverse:
        """As it is: its grid is small."""
        return replace(self)


def inverse(
    f: Function,
    *,
    grid: Grid | Sequence[Grid] | Mapping[Any, Grid],
    distance: Distance | None = None,
    universe: Sequence[Hashable] | None = None,
    limit: int | None = None,
    within: Number = 0,
    method: str | None = None,
    name: str | None = None,
) -> OwnFunction:
    """A function of which it is known, or found out, how many persons must change until it takes a value.

    Args:
        f: the function of a list with one record for each person.
        grid: the possible answers; a list or a mapping of grids for an f that returns as many numbers.
        distance: of the records and a value y, how many persons must come or go until f is y, or a lower bound that
            moves as slowly. The promise rests on it.
        universe: all possible records, if they are few; Tacit then finds the distance, and nothing is believed.
        limit: where distances are cut; a universe is searched so far.
        within: how near to y is near enough, with a universe.
        method: "exponential", "permute_and_flip", "noisy_max" or "tree_descent".
        name: what it is called in answers.

    >>> from tacit.grids import integers
    >>> def spread(grades):
    ...     return max(grades) - min(grades)
    >>> grades = tacit.functions.inverse(spread, grid=integers(0, 3), universe=[1, 2, 3, 4], limit=6)
    >>> grades.ask([2, 2, 3, 3, 3, 2] * 5, epsilon=4, budget=Pure(4))
    Answer(spread: ..., Pure(4))
    """
    callable_or_refused(f, "f")
    if method is not None:
        check_listed(method, "method", METHODS)
    if (distance is None) == (universe is None):
        raise InvalidInput(
            "give either distance=, a function of the records and y, or universe=, all possible records."
        )
    if distance is not None:
        callable_or_refused(distance, "distance")
    if universe is not None and limit is None:
        raise InvalidInput("give limit=, how many persons away a universe is searched, such as limit=5.")
    top, known = whole(LIMIT if limit is None else limit, "limit", 1), tuple(universe or ())
    if universe is not None:
        checked_size(len(known), top - 1, None)
        if not known or len(set(known)) < len(known):
            raise InvalidInput("universe must list at least one record, and each only once.")
    slack = non_negative(within, "within")

    def one(function: Function, oracle: Distance | None, grid: Any, called_: str) -> Inverse:
        cut = cut_grid(grid)
        if cut.last is None or int(cut.size) > LARGEST:
            raise InvalidInput(f"grid must have at most {LARGEST:,} values; each has its distance.")
        return Inverse(function, called_, cut, oracle, known, top, slack, method)

    words = named(f, name)
    return one(f, distance, grid, words) if isinstance(grid, Grid) else spread_over(f, distance, grid, words, one)
