"""`tacit.audit.check`: a function of your own, verified on all small datasets over a small universe of records.

Two things are looked at, over every dataset of at most so many persons and every pair of neighbours among them:

- *what is claimed about the function*: that one more person never lowers it, that an oracle says what is so, that a
  bound is large enough, that a distance moves by at most one. A claim on which privacy rests and that is wrong
  somewhere is shown with the datasets where it is. A claim that concerns accuracy alone is marked as such.
- *what the answer promises*: the exact laws of neighbours are compared, as for Tacit's own mechanisms
  (`tacit.audit.exact`). Grids and lattices with many values are replaced by coarse ones over the same range.

What holds on all small datasets may still fail on larger ones: this finds mistakes, and does not prove a claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations, islice, pairwise, permutations
from typing import Any, Literal

from tacit.audit.exact import Dataset, Verification, datasets, neighbours, verify
from tacit.black_boxes.values import place_below
from tacit.errors import InvalidInput
from tacit.functions.bounded import Bounded, _rule
from tacit.functions.function import OwnFunction, called
from tacit.functions.inverse import Inverse
from tacit.functions.local import Claimed, Local
from tacit.functions.monotone import Monotone
from tacit.functions.sampled import Sampled
from tacit.functions.several import Several
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.mechanisms.law import Law
from tacit.mechanisms.local.sensitivities import LocalStatistic
from tacit.numbers.enclosures import total
from tacit.numbers.exact import Number, whole
from tacit.tables.releasing.room import cost_of

Concern = Literal["privacy", "accuracy"]

BITS = 64
EPSILON = Fraction(4)
"""The ε that is tried unless one is given."""
DELTA = Fraction(1, 20)
"""The δ that is tried where one is needed and none is given."""


@dataclass(frozen=True)
class Claim:
    """Something that is claimed about a function, and where it is wrong."""

    words: str
    concerns: Concern
    """What rests on it: privacy, or accuracy alone."""
    counterexample: str = ""
    """The datasets that contradict it; empty where none does."""

    @property
    def holds(self) -> bool:
        """Whether no small dataset contradicts it."""
        return not self.counterexample

    def __str__(self) -> str:
        if self.holds:
            return f"holds: {self.words}."
        rests = "privacy rests on it" if self.concerns == "privacy" else "this concerns accuracy alone"
        return f"WRONG ({rests}): {self.words}. {self.counterexample}"


@dataclass(frozen=True)
class Checked:
    """What `check` found about a function.

    >>> from tacit.grids import integers
    >>> mean = tacit.functions.monotone(lambda x: sum(x) / len(x), grid=integers(0, 3), claimed=True, name="mean")
    >>> found = tacit.audit.check(mean, universe=[0, 3], persons=2)
    >>> found.holds, found.wrong[0].counterexample
    (False, 'It is 1.5 on (0, 3) and 3 on (3,).')
    """

    function: str
    claims: tuple[Claim, ...]
    promise: Verification
    datasets: int

    @property
    def holds(self) -> bool:
        """Whether the promise holds on all pairs, and no claim on which privacy rests is wrong."""
        return self.promise.holds and not any(claim.concerns == "privacy" for claim in self.wrong)

    @property
    def wrong(self) -> tuple[Claim, ...]:
        """The claims that some dataset contradicts."""
        return tuple(claim for claim in self.claims if not claim.holds)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        promise = self.promise
        pair = f", worst between {promise.worst[0]!r} and {promise.worst[1]!r}" if promise.worst else ""
        lines = [f"{self.function}, on {self.datasets:,} datasets and {promise.pairs:,} pairs of neighbours"]
        lines.append(f"  promise {promise.verdict}: {promise.shown} of {promise.promised!r}{pair}")
        return "\n".join([*lines, *(f"  {claim}" for claim in self.claims)])


class Small:
    """All datasets of few persons, and what is looked at on each of them once."""

    def __init__(self, universe: Sequence[Any], persons: int) -> None:
        try:
            known = dict.fromkeys(universe)
        except TypeError:
            raise InvalidInput("universe must list records that can be compared, such as numbers or tuples.") from None
        if not known:
            raise InvalidInput("universe must list at least one record.")
        self.universe = tuple(known)
        self.datasets = datasets(self.universe, whole(persons, "persons", 1))
        self.pairs = neighbours(self.datasets)

    @cached_property
    def larger(self) -> list[Dataset]:
        """Those of one more person: neighbours of the largest."""
        return datasets(self.universe, max(map(len, self.datasets)) + 1)

    @cached_property
    def around(self) -> dict[Dataset, list[Dataset]]:
        """The neighbours of every dataset, those with one more person than the largest included."""
        found: dict[Dataset, list[Dataset]] = {x: [] for x in self.larger}
        for large, small in neighbours(self.larger):
            found[large].append(small)
            found[small].append(large)
        return {x: found[x] for x in self.datasets}

    def first(self, found: Iterator[str]) -> str:
        """The first counterexample; the smallest, as datasets come by their size."""
        return next(found, "")


def check(
    function: OwnFunction | LocalStatistic | Callable[[Dataset], Law[Any]],
    universe: Sequence[Any],
    persons: int = 3,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
) -> Checked:
    """Verify a function of `tacit.functions` on all datasets of few persons: what is claimed, and what is promised.

    Args:
        function: what to verify; a `LocalStatistic`, or a function from a dataset to a law, will do too.
        universe: the records of which datasets are made; few, and such that they differ in what matters.
        persons: how many persons the largest dataset has.
        epsilon, delta, rho: the cost at which the promise is verified; ε = 4, with δ = 0.05 where one is needed.

    >>> from tacit.grids import integers
    >>> largest = tacit.functions.monotone(max, grid=integers(0, 9), least=lambda x, k: sorted([0, 0, 0, *x])[-k - 1])
    >>> print(tacit.audit.check(largest, universe=[0, 2, 9], persons=2))
    max, on 10 datasets and 12 pairs of neighbours
      promise ...: ε = ... of Pure(4), worst between ... and ...
      holds: it does not depend on the order of the records.
      holds: one more person never lowers it.
      holds: the profile falls as a profile must, D_j+1 ≤ D_j without a person ≤ D_j.
      holds: least(records, k) is the least value after removing k persons.
    """
    small = Small(universe, persons)
    if isinstance(function, LocalStatistic):
        from tacit.functions import local

        function = local(function)
    if not isinstance(function, OwnFunction):
        laws = {x: function(x) for x in small.datasets}
        return Checked("function", (), _promise(laws, small), len(small.datasets))
    cost = _cost(function, epsilon, delta, rho)
    coarse = function.coarse()
    coarse.check(cost)
    laws = {x: coarse._law(list(x), cost) for x in small.datasets}
    return Checked(function.name, tuple(_claims(function, small, cost)), _promise(laws, small), len(small.datasets))


def _cost(function: OwnFunction, epsilon: Number | None, delta: Number | None, rho: Number | None) -> Guarantee:
    if rho is not None:
        return cost_of(epsilon, delta, rho)
    needed = getattr(function, "needs_delta", False) or getattr(function, "method", "") == "interior_point"
    return cost_of(EPSILON if epsilon is None else epsilon, DELTA if delta is None and needed else delta)


def _promise(laws: dict[Dataset, Law[Any]], small: Small) -> Verification:
    """The laws of all datasets against what they promise; pairs of equal laws are looked at once."""
    promises = {law.guarantee for law in laws.values()}
    if len(promises) != 1:
        raise InvalidInput("the laws of different datasets promise different things; a promise must not tell of data.")
    same: dict[Any, Dataset] = {}
    alike = {x: same.setdefault(law.key(), x) for x, law in laws.items()}
    different = list(dict.fromkeys((alike[x], alike[z]) for x, z in small.pairs))
    known = list(laws.values())
    (promised,) = promises
    found = verify(laws.__getitem__, different, promised, BITS, known[0].telling_points(known))
    worst = next((pair for pair in small.pairs if tuple(alike[x] for x in pair) == found.worst), found.worst)
    return Verification(found.promised, found.measured, worst, len(small.pairs))


# ---- claims ---------------------------------------------------------------------------------------------------------


def _claims(function: OwnFunction, small: Small, cost: Guarantee) -> Iterator[Claim]:
    match function:
        case Several():
            for key, part in function.parts.items():
                share = function._share(cost)
                for claim in _claims(part, small, share):
                    yield Claim(f"{key}: {claim.words}", claim.concerns, claim.counterexample)
        case Monotone():
            yield _ordered(function.f, small)
            yield from _monotone(function, small)
        case Local():
            if isinstance(function.statistic, Claimed):
                yield _ordered(function.statistic.f, small)
            yield from _local(function.statistic, small)
        case Bounded():
            yield _ordered(function.f, small)
            assert isinstance(cost, Approx)
            yield from _bounded(function, small, cost)
        case Inverse():
            yield _ordered(function.f, small)
            yield from _inverse(function, small)
        case Sampled():
            yield _ordered(function.f, small)


def _ordered(f: Callable[..., Any], small: Small) -> Claim:
    """Datasets are looked at in one order only."""

    def wrong() -> Iterator[str]:
        for x in small.datasets:
            value = called(f, list(x))
            for z in dict.fromkeys(permutations(x)):
                if (other := called(f, list(z))) != value:
                    yield f"It is {_told(value)} on {x!r} and {_told(other)} on {z!r}."

    return Claim("it does not depend on the order of the records", "privacy", small.first(wrong()))


def _monotone(function: Monotone, small: Small) -> Iterator[Claim]:
    grid = function.grid

    def at(x: Dataset) -> int:
        return place_below(grid, called(function.f, list(x)))

    values = {x: at(x) for x in small.datasets}
    shown = {x: _told(called(function.f, list(x))) for x in small.datasets}
    lowered = (f"It is {shown[x]} on {x!r} and {shown[z]} on {z!r}." for x, z in small.pairs if values[z] > values[x])
    rests: Concern = "privacy" if function.rests_on else "accuracy"
    yield Claim("one more person never lowers it", rests, small.first(lowered))
    if function.least is None:
        return
    least = {
        x: [place_below(grid, called(function.least, list(x), k)) for k in range(len(x) + 1)] for x in small.datasets
    }
    profiles = {x: list(accumulate(found, min)) for x, found in least.items()}

    def unlike() -> Iterator[str]:
        for x, z in small.pairs:
            mine, theirs = profiles[x], [*profiles[z], 0]
            for j in range(len(mine)):
                after = mine[j + 1] if j + 1 < len(mine) else 0
                if not after <= theirs[j] <= mine[j]:
                    steps = ", ".join(_told(grid.value((grid.first or 0) + s)) for s in (after, theirs[j], mine[j]))
                    yield f"D_{j + 1} of {x!r}, D_{j} of {z!r} and D_{j} of {x!r} are {steps}."

    yield Claim(
        "the profile falls as a profile must, D_j+1 ≤ D_j without a person ≤ D_j", "privacy", small.first(unlike())
    )

    def another() -> Iterator[str]:
        for x, found in least.items():
            for k, step in enumerate(found):
                true = min(values[z] for z in combinations(x, len(x) - k))
                if true != step:
                    told, right = (_told(grid.value((grid.first or 0) + s)) for s in (step, true))
                    yield f"On {x!r} without {k} it says {told}, and it is {right}."

    yield Claim("least(records, k) is the least value after removing k persons", "accuracy", small.first(another()))


def _sensitivity(value: Callable[[Dataset], Fraction], small: Small) -> dict[Dataset, tuple[Fraction, Dataset]]:
    """The local sensitivity of every dataset, with the neighbour that shows it."""
    values = {x: value(x) for x in small.larger}
    found = {}
    for x, others in small.around.items():
        furthest = max(others, key=lambda z: abs(values[z] - values[x]))
        found[x] = abs(values[furthest] - values[x]), furthest
    return found


def _local(statistic: LocalStatistic, small: Small) -> Iterator[Claim]:
    depth = max(map(len, small.datasets)) + 2
    low, high = statistic.window
    bounds = {x: list(islice(statistic.growth(list(x)), depth + 1)) for x in small.datasets}
    moved = _sensitivity(lambda x: statistic.value(list(x)), small)
    if not isinstance(statistic, Claimed):
        outside = (
            f"It is {_told(value)} on {x!r}, and its range is {_told(low)} to {_told(high)}."
            for x in small.datasets
            if not low <= (value := statistic.value(list(x))) <= high
        )
        concerns: Concern = "privacy" if _by_range(statistic) else "accuracy"
        yield Claim("it lies in its range", concerns, small.first(outside))
    too_small = (
        f"From {x!r} to {z!r} it moves by {_told(by)}, and the bound is {_told(bounds[x][0])}."
        for x, (by, z) in moved.items()
        if by > bounds[x][0]
    )
    yield Claim("the bound at distance 0 is at least what one person moves", "privacy", small.first(too_small))
    falls = (
        f"On {x!r} it is {_told(a)} at {k} persons and {_told(b)} at {k + 1}."
        for x, found in bounds.items()
        for k, (a, b) in enumerate(pairwise(found))
        if a > b
    )
    yield Claim("the bound does not fall with the distance", "privacy", small.first(falls))

    def steep() -> Iterator[str]:
        for pair in small.pairs:
            for x, z in (pair, pair[::-1]):
                for k in range(depth):
                    if bounds[x][k] > bounds[z][k + 1]:
                        a, b = _told(bounds[x][k]), _told(bounds[z][k + 1])
                        yield f"It is {a} at {k} persons from {x!r} and {b} at {k + 1} from its neighbour {z!r}."

    yield Claim("no bound exceeds that of a neighbour one person further on", "privacy", small.first(steep()))


def _by_range(statistic: LocalStatistic) -> bool:
    """Whether its global sensitivity is nothing but the width of its range."""
    low, high = statistic.window
    return statistic.global_sensitivity == high - low


def _bounded(function: Bounded, small: Small, cost: Approx) -> Iterator[Claim]:
    first = function._parts(cost)[0]
    measured = {x: function.measure(list(x), first) for x in small.datasets}
    promise = _promise(measured, small)
    shown = ""
    if not promise.holds and promise.worst is not None:
        shown = f"Between {promise.worst[0]!r} and {promise.worst[1]!r} it is {promise.shown}."
    yield Claim(f"the measurement is {Pure(first)!r}", "privacy", shown)
    moved, bound = _sensitivity(lambda x: function.value(list(x)), small), _rule(function, cost)

    def fails() -> Iterator[str]:
        for x, (by, z) in moved.items():
            law = measured[x]
            chance = total([law.pmf(y, BITS) for y in law.outcomes() if bound(y) < by], BITS)
            if chance.low > cost.delta:
                yield (
                    f"From {x!r} to {z!r} it moves by {_told(by)}, and the bound is smaller with probability "
                    f"{float(chance):.4g}."
                )

    words = f"the bound is below what one person moves with probability at most {float(cost.delta):g}"
    yield Claim(words, "privacy", small.first(fails()))


def _inverse(function: Inverse, small: Small) -> Iterator[Claim]:
    losses = {x: function.loss(list(x)) for x in small.datasets}
    grid = function.grid
    assert grid.first is not None
    assert grid.last is not None
    places = range(grid.first, grid.last + 1)
    if function.distance is not None:
        far = (
            f"The distance to {_told(grid.value(i))} is {losses[x].at(i)} from {x!r} and {losses[z].at(i)} from {z!r}."
            for x, z in small.pairs
            for i in places
            if abs(losses[x].at(i) - losses[z].at(i)) > 1
        )
        yield Claim("the distance moves by at most one with one person", "privacy", small.first(far))
    values = {x: called(function.f, list(x)) for x in small.datasets}
    away = (
        f"It is {_told(value)} on {x!r}, and the distance to that is {losses[x].at(index)}."
        for x, value in values.items()
        if value is not None and (index := grid.index(value)) is not None and losses[x].at(index) != 0
    )
    yield Claim("the distance to the value itself is 0", "accuracy", small.first(away))


def _told(value: Fraction | None) -> str:
    """A number for people."""
    if value is None:
        return "no number"
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.6g}"
