"""Cuts by shared weight, of two groups and of one level of quantiles, and three quantiles by levels from end to end.

A person has up to two rows, on cells 0 to 2, of group 0 or 1; each row weighs its part of one person. Twins: rows that
weigh a whole person each; losses rounded up to whole persons; rows of a cut cell counted fully on both sides; persons
scaled up to a whole one on each side of a cut, as if nobody were on both; and levels that each cost the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.inverse.cuts import CutLaw, Levels, Stretch, Weights, cuts
from tacit.mechanisms.law import Law
from tacit.mechanisms.together import Together
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.randomness.source import Randomness

EPSILON, HALF = Fraction(1), Fraction(1, 2)
UNIT = 2
"""What a whole person weighs: so much that half of them is a whole number."""
TIES, CELLS = 2, 3
LAST = CELLS * TIES

GROUPED = (((0, 0),), ((1, 2),), ((0, 1), (1, 1)), ((0, 2), (1, 0)))
"""Persons with a row in one group, or one in each; a row is a group and a cell."""
ALONE = (((0, 0),), ((0, 1),), ((0, 0), (0, 2)), ((0, 1), (0, 1)))
"""Persons with rows in one group."""

Weigh = Callable[[Sequence[tuple[int, int]]], int]


def _weights(x: Dataset, group: int, weigh: Weigh) -> Weights:
    found: dict[int, int] = {}
    for person in x:
        for of, cell in person:
            if of == group:
                found[cell] = found.get(cell, 0) + weigh(person)
    return Weights.of(found, TIES)


def _shared(person: Sequence[tuple[int, int]]) -> int:
    return UNIT // len(person)


def _whole(person: Sequence[tuple[int, int]]) -> int:
    return UNIT


def _groups(weigh: Weigh, share: Fraction, law: type[CutLaw] = CutLaw) -> Callable[[Dataset], Law[tuple[int, ...]]]:
    def mechanism(x: Dataset) -> Law[tuple[int, ...]]:
        stretches = [Stretch(_weights(x, group, weigh), 0, LAST, share) for group in (0, 1)]
        return Together([law(stretch, EPSILON, UNIT) for stretch in stretches], Pure(EPSILON))

    return mechanism


class _Rounded(CutLaw):
    """Losses rounded up to whole persons."""

    def loss(self, x: int) -> int:
        step = self._scale * UNIT * TIES
        return -(-super().loss(x) // step) * step

    def pmf(self, y: int, bits: int = BITS) -> Enclosure:
        """One by one: such a loss is not linear between the bends."""
        weights = [(-Enclosure.of(self._exponent(x), bits)).exp() for x in self.outcomes()]
        whole = weights[0]
        for weight in weights[1:]:
            whole = whole + weight
        return weights[y - self.first] / whole


LARGE = Fraction(4)
"""So much that the largest ratio comes near its bound with a few persons."""
SPLIT = 3
"""The cut of the level before: through the middle of cell 1."""


def _level(x: Dataset) -> Law[tuple[int, ...]]:
    weights = _weights(x, 0, _shared)
    return cuts([Stretch(weights, 0, SPLIT, HALF), Stretch(weights, SPLIT, LAST, HALF)], LARGE, UNIT)


def _both_sides(x: Dataset) -> Law[tuple[int, ...]]:
    """What lies in the cell of the cut counts on either side as all of it."""
    found: dict[int, int] = {}
    for person in x:
        for _, cell in person:
            found[cell] = found.get(cell, 0) + _shared(person) * (2 if cell == SPLIT // TIES else 1)
    weights = Weights.of(found, TIES)
    return cuts([Stretch(weights, 0, SPLIT, HALF), Stretch(weights, SPLIT, LAST, HALF)], LARGE, UNIT)


def _as_if_apart(x: Dataset) -> Law[tuple[int, ...]]:
    """Whoever has rows on a side weighs a whole person there."""
    found = []
    for first, last, kept in ((0, 2, {0}), (2, LAST, {1, 2})):
        sides = tuple(tuple(row for row in person if row[1] in kept) for person in x)
        weights = _weights(tuple(side for side in sides if side), 0, _shared)
        found.append(Stretch(weights, first, last, HALF))
    return cuts(found, LARGE, UNIT)


class ThreeQuantiles(Law[tuple[int, ...]]):
    """Three quantiles by levels: the law of all their positions together."""

    name = "three quantiles by levels"

    def __init__(self, weights: Weights, each: Fraction, promised: Fraction) -> None:
        self.guarantee = Pure(promised)
        self._weights, self._each = weights, each
        self._laws: dict[tuple[int, ...], Together[int]] = {}

    def _levels(self, *cut: int) -> Levels:
        levels = Levels([self._weights], 0, LAST, [Fraction(i, 4) for i in (1, 2, 3)])
        if cut:
            levels.cut(cut)
        return levels

    def _law(self, *cut: int) -> Together[int]:
        if cut not in self._laws:
            self._laws[cut] = cuts(self._levels(*cut).stretches, self._each, UNIT)
        return self._laws[cut]

    def _draw(self, source: Randomness) -> tuple[int, ...]:
        (middle,) = self._law()._draw(source)
        low, high = self._law(middle)._draw(source)
        return low, middle, high

    def pmf(self, y: tuple[int, ...], bits: int = BITS) -> Enclosure:
        """The middle one, then both sides given it."""
        low, middle, high = y
        return self._law().pmf((middle,), bits) * self._law(middle).pmf((low, high), bits)

    def outcomes(self) -> list[tuple[int, ...]]:
        """Every ascending triple of positions."""
        return list(combinations_with_replacement(range(LAST + 1), 3))

    def key(self) -> Hashable:
        """The weights."""
        return self._each, tuple(self._weights.cells), tuple(self._weights.sums)


def _three(each: Fraction) -> Callable[[Dataset], ThreeQuantiles]:
    return lambda x: ThreeQuantiles(_weights(x, 0, _shared), each, EPSILON)


def _concentrated(weigh: Weigh) -> Callable[[Dataset], Law[tuple[int, ...]]]:
    def mechanism(x: Dataset) -> Law[tuple[int, ...]]:
        stretches = [Stretch(_weights(x, group, weigh), 0, LAST, HALF) for group in (0, 1)]
        return cuts(stretches, largest=UNIT, rho=RHO)

    return mechanism


RHO = Fraction(2)
"""ε = 4: so much that the divergence comes near its bound with a few persons."""

CASES = (
    AuditCase(
        "cuts of two groups, zCDP",
        "mechanisms.cuts",
        _concentrated(_shared),
        datasets(GROUPED, 2),
        Zcdp(RHO),
        twins={"rows that weigh a whole person each": _concentrated(_whole)},
    ),
    AuditCase(
        "cuts of two groups, medians",
        "mechanisms.cuts",
        _groups(_shared, HALF),
        datasets(GROUPED, 3),
        Pure(EPSILON),
        twins={
            "rows that weigh a whole person each": _groups(_whole, HALF),
            "losses rounded up to whole persons": _groups(_shared, HALF, _Rounded),
        },
        sampled=[(GROUPED[0], GROUPED[2], GROUPED[3])],
    ),
    AuditCase(
        "cuts of two groups, upper quarters",
        "mechanisms.cuts",
        _groups(_shared, Fraction(3, 4)),
        datasets(GROUPED, 3),
        Pure(EPSILON),
    ),
    AuditCase(
        "cuts of one level, beside an earlier cut",
        "mechanisms.cuts",
        _level,
        datasets(ALONE, 3),
        Pure(LARGE),
        twins={"the cell of the cut fully on both sides": _both_sides, "as if nobody were on both": _as_if_apart},
    ),
    AuditCase(
        "three quantiles by levels",
        "mechanisms.cuts",
        _three(EPSILON / 2),
        datasets(ALONE, 3),
        Pure(EPSILON),
        twins={"every level for the whole cost": _three(EPSILON)},
        sampled=[(ALONE[0], ALONE[2])],
    ),
)
