"""Shifted inverse over max, sum and count by every method, on grids finer and coarser than the data.

Twins: ℓ* taken for one-directional; the distance to the statistic in place of a loss that counts persons; and buckets
weighed by their raw width in place of their number of grid points, on a grid of step 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.curves import DownProfile, StepLoss
from tacit.grids import Grid, integers, multiples
from tacit.guarantees import Approx, Pure
from tacit.mechanisms.choose.exponential import exponential
from tacit.mechanisms.choose.priors import Piece, Prior, Uniform
from tacit.mechanisms.inverse.shifted_inverse import DELTA, METHODS, shifted_inverse
from tacit.mechanisms.law import Law
from tacit.numbers.enclosures import BITS, Enclosure

EPSILON, BETA = Fraction(3), Fraction(1, 2)
"""Large, so that τ is two or three and the shift is felt by five persons."""
PERSONS = 5


def _max(x: Dataset) -> list[int]:
    return sorted(x, reverse=True)


def _sum(x: Dataset) -> list[int]:
    kept = sorted(x)
    return [sum(kept[: len(kept) - j]) for j in range(len(kept))]


def _count(x: Dataset) -> list[int]:
    return list(range(len(x), 0, -1))


@dataclass(frozen=True)
class _Statistic:
    name: str
    profile: Callable[[Dataset], list[int]]
    universe: tuple[int, ...]
    grid: Grid

    @property
    def datasets(self) -> list[Dataset]:
        return datasets(self.universe, PERSONS)


STATISTICS = (
    _Statistic("max", _max, (0, 4, 17, 30), multiples(10, 0, 40)),
    _Statistic("sum", _sum, (0, 1, 2), integers(0, 2 * PERSONS)),
    _Statistic("count", _count, (1,), integers(0, PERSONS)),
)
MAXIMUM = STATISTICS[0]


def _by(method: str, statistic: _Statistic) -> Mechanism:
    @cache
    def law(profile: tuple[int, ...]) -> Law[int | Fraction]:
        return shifted_inverse(profile, statistic.grid, EPSILON, method, beta=BETA)

    return lambda x: law(tuple(statistic.profile(x)))


STEP, TAU, ONE = 10, 1, Fraction(1)
"""The twins share the maximum's grid of step 10, with τ = 1 at ε = 1."""


def _loss(x: Dataset) -> StepLoss:
    return DownProfile(_max(x)).shifted_loss(MAXIMUM.grid, TAU)


@dataclass(frozen=True)
class _RawWidth(Prior):
    """The step for every grid point, but one for the centre, which the data decide."""

    centre: int

    def weight(self, index: int, bits: int = BITS) -> Enclosure:
        """1 at the centre, the step elsewhere."""
        return Enclosure.of(1 if index == self.centre else STEP, bits)

    def pieces(self, first: int | None, last: int | None) -> Iterator[Piece]:
        """One point at a time."""
        assert first is not None
        assert last is not None
        for index in range(first, last + 1):
            for piece in Uniform().pieces(index, index):
                yield Piece(lambda bits, i=index: self.weight(i, bits), piece.draw)  # type: ignore[misc]


def _raw_width(x: Dataset) -> Law[int | Fraction]:
    centre = DownProfile(_max(x)).at(TAU) or 0
    return exponential(_loss(x), ONE, _RawWidth(-(-centre // STEP)))


def _distance(x: Dataset) -> Law[int | Fraction]:
    top = -(-max(x, default=0) // STEP)
    return exponential(StepLoss.from_losses(MAXIMUM.grid, [abs(i - top) for i in range(5)]), ONE)


_case = partial(AuditCase, covers="mechanisms.shifted_inverse")

CASES = (
    *(
        _case(
            name=f"shifted inverse by {method}, {statistic.name}",
            mechanism=_by(method, statistic),
            datasets=statistic.datasets,
            promised=Approx(EPSILON, DELTA) if method == "interior_point" else Pure(EPSILON),
            sampled=[(0, 17, 30)] if (method, statistic) == ("exponential", MAXIMUM) else [],
        )
        for statistic in STATISTICS
        for method in METHODS
        if method != "bayesian_search"  # which cannot be enumerated; its looks are verified with its own case
        if method != "interior_point" or statistic.name == "count"  # whose law is slow and says little on five persons
    ),
    _case(
        name="shifted loss, max on a grid of step 10",
        mechanism=lambda x: exponential(_loss(x), ONE),
        datasets=MAXIMUM.datasets,
        promised=Pure(ONE),
        twins={
            "no factor 2 for a loss that is not one-directional": lambda x: exponential(
                replace(_loss(x), one_directional=True), ONE
            ),
            "raw width in place of grid points": _raw_width,
            "distance to the statistic in place of the shifted loss": _distance,
        },
    ),
)
