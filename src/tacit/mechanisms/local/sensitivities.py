"""How far a statistic moves when persons come and go: sensitivity calculators. TRUSTED USE ONLY: their values depend on
the data and protect nobody.

For a dataset x and neighbours that differ by one person added or removed:
- global: max over all neighbours of |f(x) − f(x')|, a public number;
- k-local: max |f(x) − f(x')| over x' within k persons of x;
- local at distance k: the largest 1-local sensitivity of any x' within k persons of x (not the k-step change);
- k-down: max |f(x) − f(x')| over x' made from x by removing at most k persons.

What is computed from data comes as a `NotPrivateFraction`, which says that it protects nobody. No answer holds or
reaches one. Where ``exact`` is False the local sensitivities at distance k are upper bounds U_k that keep what smooth
sensitivity and propose-test-release need: U_0(x) ≥ LS(x), U_k ≤ U_{k+1}, and U_k(x) ≤ U_{k+1}(x') for neighbours.

The statistics of `order_statistics` and `triangles` have these calculators, and so have `Count` and `Sum` below: a
count moves by 1, a sum of numbers in a range by the larger of |low| and |high|. For any other function on a small
universe `searched_sensitivities` looks at all datasets within k persons, after the estimate of `inverse_search`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, repeat
from typing import Any, NamedTuple

from tacit.mechanisms.inverse.inverse_search import (
    Counts,
    Function,
    changed,
    checked_size,
    in_universe,
    rings,
    value_of,
)
from tacit.mechanisms.person_values import Values, kept, numbers, span
from tacit.numbers.exact import Number, whole
from tacit.randomness.source import NotPrivateFraction

LOW, HIGH = -(2**63), 2**63 - 1
"""The default range."""


class LocalStatistic(ABC):
    """A number computed from data, with what is known about its sensitivities.

    A statistic of one's own needs three members: `window`, `value` and `growth`. What else there is follows from them,
    less tightly than a formula of its own would say. Privacy rests on `growth`, and on `value` lying in the window
    unless the statistic has a global sensitivity of its own; `tacit.audit.check` looks for what contradicts them.
    """

    exact: bool = True
    """Whether `growth` is the local sensitivity at distance k itself, not an upper bound."""

    @property
    def name(self) -> str:
        """What it is, in words."""
        return type(self).__name__

    @property
    @abstractmethod
    def window(self) -> tuple[Fraction, Fraction]:
        """A public range in which the values lie, or most of them."""

    @property
    def global_sensitivity(self) -> Fraction:
        """The most one person can move the statistic, on any data; a public number. The width of the range."""
        low, high = self.window
        return high - low

    @property
    def lattice(self) -> Fraction:
        """The public lattice for released values: 1, or the 2^-20th part of the range where that is finer."""
        low, high = self.window
        return min(Fraction(1), (high - low) / 2**20)

    @abstractmethod
    def value(self, data: Any) -> Fraction:
        """The statistic itself."""

    @abstractmethod
    def growth(self, data: Any) -> Iterator[Fraction]:
        """The local sensitivity at distance 0, 1, 2, … without end, never falling."""

    def reach(self, data: Any, k: int) -> tuple[Fraction, Fraction]:
        """The smallest and the largest value within k persons, or bounds: each step moves by at most `growth`."""
        records = kept(data)
        value, moved = self.value(records), sum(islice(self.growth(records), k), Fraction(0))
        return value - moved, value + moved

    def fall(self, data: Any, k: int) -> tuple[Fraction, Fraction]:
        """The smallest and the largest value after removing at most k persons, or bounds."""
        return self.reach(data, k)

    def local(self, data: Any, k: int = 1) -> NotPrivateFraction:
        """The k-local sensitivity. NOT PRIVATE."""
        records = kept(data)
        return self._furthest(records, self.reach(records, whole(k, "k", 0)))

    def at_distance(self, data: Any, k: int) -> NotPrivateFraction:
        """The local sensitivity at distance k, or its upper bound. NOT PRIVATE."""
        steps = self.growth(data)
        for _ in range(whole(k, "k", 0)):
            next(steps)
        return NotPrivateFraction(next(steps))

    def down(self, data: Any, k: int = 1) -> NotPrivateFraction:
        """The k-down sensitivity. NOT PRIVATE."""
        records = kept(data)
        return self._furthest(records, self.fall(records, whole(k, "k", 0)))

    def _furthest(self, data: Any, ends: tuple[Fraction, Fraction]) -> NotPrivateFraction:
        value = self.value(data)
        return NotPrivateFraction(max(ends[1] - value, value - ends[0]))


@dataclass(frozen=True)
class Ranged(LocalStatistic):
    """A statistic that stays in a public range, as the values do."""

    low: Number = LOW
    high: Number = HIGH

    def __post_init__(self) -> None:
        low, high = span(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def window(self) -> tuple[Fraction, Fraction]:
        """The range."""
        assert isinstance(self.low, Fraction)
        assert isinstance(self.high, Fraction)
        return self.low, self.high

    @property
    def global_sensitivity(self) -> Fraction:
        """All of it."""
        low, high = self.window
        return high - low


@dataclass(frozen=True)
class Count(LocalStatistic):
    """How many persons have a value that is not 0."""

    name = "count"

    lattice = Fraction(1)

    @property
    def window(self) -> tuple[Fraction, Fraction]:
        """From 0 on; the upper end only says where the window stops."""
        return Fraction(0), Fraction(64)

    @property
    def global_sensitivity(self) -> Fraction:
        """1."""
        return Fraction(1)

    def value(self, data: Values) -> Fraction:
        """The number of persons."""
        return Fraction(sum(number != 0 for number in numbers(data, Fraction(LOW), Fraction(HIGH))))

    def growth(self, data: Values) -> Iterator[Fraction]:
        """1, always: a person can be added."""
        return repeat(Fraction(1))

    def reach(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """k fewer or more."""
        return self.fall(data, k)[0], self.value(data) + k

    def fall(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """k fewer."""
        return max(Fraction(0), self.value(data) - k), self.value(data)


@dataclass(frozen=True)
class Sum(LocalStatistic):
    """The sum of values saturated at the ends of a public range."""

    low: Number = LOW
    high: Number = HIGH
    name = "sum"

    def __post_init__(self) -> None:
        span(self.low, self.high)

    @property
    def window(self) -> tuple[Fraction, Fraction]:
        """One person's range."""
        return span(self.low, self.high)

    @property
    def global_sensitivity(self) -> Fraction:
        """The larger of |low| and |high|."""
        return max(abs(end) for end in self.window)

    def value(self, data: Values) -> Fraction:
        """The sum."""
        return sum(numbers(data, *self.window), Fraction(0))

    def growth(self, data: Values) -> Iterator[Fraction]:
        """The global sensitivity, always: a person can be added."""
        return repeat(self.global_sensitivity)

    def reach(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Add at an end of the range or remove what is beyond its opposite, whichever moves the sum more."""
        x, (low, high) = numbers(data, *self.window), self.window
        falls = sorted([*(-v for v in x), *[low] * k])[:k]
        rises = sorted([*(-v for v in x), *[high] * k])[-k:] if k else []
        return self.value(data) + min(0, sum(falls)), self.value(data) + max(0, sum(rises))

    def fall(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Remove the largest, or the smallest."""
        x = numbers(data, *self.window)
        total = sum(x, Fraction(0))
        positive, negative = [v for v in x if v > 0], [v for v in x if v < 0]
        return total - sum(positive[-k:] if k else []), total - sum(negative[:k])


class SearchedSensitivities(NamedTuple):
    """What `searched_sensitivities` found. NOT PRIVATE."""

    local: NotPrivateFraction
    at_distance: NotPrivateFraction
    down: NotPrivateFraction


def searched_sensitivities(
    f: Function,
    records: Iterable[Hashable],
    universe: Sequence[Hashable],
    k: int,
    *,
    persons_public: bool = False,
) -> SearchedSensitivities:
    """All three sensitivities of any function at k, by looking at every dataset within k + 1 persons. NOT PRIVATE.

    Datasets on which f fails or returns no number are left out.
    """
    start, radius = in_universe(records, universe), whole(k, "k", 0)
    checked_size(len(universe), radius + 1, sum(start) if persons_public else None)
    found: dict[Counts, Fraction] = {}
    near: list[Counts] = []
    for distance, ring in rings(start, radius + 1, persons_public):
        for x in ring:
            if (value := value_of(f, x, universe)) is not None:
                found[x] = value
        near += ring if distance <= radius else []
    here = found.get(start)
    inside = [x for x in near if x in found]
    below = [x for x in inside if all(a <= b for a, b in zip(x, start, strict=True))]
    steps = (abs(found[x] - found[z]) for x in inside for z in changed(x, persons_public) if z in found)
    parts = (
        max((abs(found[x] - here) for x in inside), default=Fraction(0)) if here is not None else Fraction(0),
        max(steps, default=Fraction(0)),
        max((abs(found[x] - here) for x in below), default=Fraction(0)) if here is not None else Fraction(0),
    )
    return SearchedSensitivities(*map(NotPrivateFraction, parts))
