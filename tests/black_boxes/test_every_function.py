"""Privacy for every function there is: all 3^8 from the groups of three persons into three values.

Two functions differ for the wrapper only by the profiles they have for each floor, so the exact loss of a pair of
neighbours is computed once for every combination of profiles and looked up for the rest.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import pytest

from tacit.audit.cases.black_boxes import GRID, REACH, profile, relative_profile, small_design
from tacit.audit.exact import SLACK, hockey_stick, max_divergence
from tacit.black_boxes.floors import Design
from tacit.black_boxes.lipschitz import LipschitzFilter, design_filter
from tacit.guarantees import Approx, Pure
from tacit.numbers.enclosures import Enclosure, total
from tests.black_boxes import support

GROUPS = [g for k in range(4) for g in combinations(range(3), k)]
FUNCTIONS = [dict(zip(GROUPS, found, strict=True)) for found in product(range(3), repeat=len(GROUPS))]
PAIRS = [(x, x[:i] + x[i + 1 :]) for x in GROUPS for i in range(len(x))]
REPLACED = [(x, z) for x in GROUPS for z in GROUPS if len(x) == len(z) and len({*x} - {*z}) == 1]
SUBSETS = {x: support.subsets(x) for x in GROUPS}
FLOORS = range(5)
"""With more persons than there are, as with 4, the profile is empty on both sides; below 0 a floor is 0."""

Profiles = tuple[tuple[int, ...], ...]
"""One for each floor."""


@cache
def profiled(of: Callable[..., list[int]]) -> Callable[[tuple[int, ...], tuple[int, ...]], Profiles]:
    """From the persons, and a function's values on their subsets, to the profiles."""

    @cache
    def found(persons: int, values: tuple[int, ...]) -> Profiles:
        x = tuple(range(persons))
        f = dict(zip(support.subsets(x), values, strict=True))
        return tuple(tuple(of(f.__getitem__, x, floor)) for floor in FLOORS)

    return lambda x, values: found(len(x), values)


def neighbours(of: Callable[..., list[int]]) -> Iterator[tuple[int, Profiles, int, Profiles]]:
    """The different pairs of neighbours over all functions, both ways round, as numbers of persons and profiles."""
    found, profiles = set(), profiled(of)
    for f in FUNCTIONS:
        known = {x: profiles(x, tuple(f[s] for s in SUBSETS[x])) for x in GROUPS}
        for x, z in PAIRS:
            found |= {(len(x), known[x], len(z), known[z]), (len(z), known[z], len(x), known[x])}
    yield from found


class Losses:
    """The exact loss of a design between two pairs of a number of persons and profiles."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.law = cache(self._law)
        self.divergence = cache(lambda p, q: max_divergence(self.law(p), self.law(q)))
        self.excess = cache(self._excess)
        self.chance = cache(lambda persons, noisy: design.noisy(persons).pmf(noisy))

    def _law(self, profile: tuple[int, ...]) -> dict[Hashable, Enclosure]:
        law = self.design.select(profile)
        return {y: law.pmf(y) for y in range(3)}

    def pure(self, n: int, p: Profiles, m: int, q: Profiles) -> Fraction:
        """The largest log ratio: of the numbers of persons, exactly, and of the values given each."""
        assert isinstance(self.design.first, Pure)
        rate = self.design.first.epsilon
        return max(
            rate * (abs(noisy - m) - abs(noisy - n)) + self.divergence(p[floor], q[floor]).high
            for noisy in range(-1, 5 + self.design.margin)
            for floor in [min(self.design.floor(noisy), 4)]
        )

    def approximate(self, n: int, p: Profiles, m: int, q: Profiles) -> Fraction:
        """The δ that goes with the design's ε."""
        numbers = range(n - self.design.reach, n + self.design.reach + 1)
        floors = [min(self.design.floor(noisy), 4) for noisy in numbers]
        parts = [self.excess(n, m, k, p[f], q[f]) for k, f in zip(numbers, floors, strict=True)]
        return total(parts, 192).high

    def _excess(self, n: int, m: int, noisy: int, p: tuple[int, ...], q: tuple[int, ...]) -> Enclosure:
        chances = self.chance(n, noisy), self.chance(m, noisy)
        joint = [{y: c * mass for y, mass in self.law(d).items()} for c, d in zip(chances, (p, q), strict=True)]
        assert isinstance(self.design.guarantee, Approx)
        return hockey_stick(joint[0], joint[1], self.design.guarantee.epsilon)


@cache
def cached_neighbours() -> list[tuple[int, Profiles, int, Profiles]]:
    return list(neighbours(profile))


@cache
def replacements() -> list[tuple[int, Profiles, Profiles]]:
    """The different pairs of groups of one size that differ in one person, over all functions, both ways round."""
    found, profiles = set(), profiled(profile)
    for f in FUNCTIONS:
        known = {x: profiles(x, tuple(f[s] for s in SUBSETS[x])) for x in GROUPS}
        found |= {(len(x), known[x], known[z]) for x, z in REPLACED}
    return list(found)


@pytest.mark.parametrize("method", ["scan", "exponential", "permute_and_flip"])
@pytest.mark.parametrize("margin", [0, 1, 2])
def test_a_person_replaced_for_every_function(method: str, margin: int) -> None:
    """With a public number of persons: the floor is public too, and the selector's ε counts twice."""
    rule = small_design(None, method, margin)
    losses = Losses(rule)
    worst = max(losses.divergence(p[rule.floor(n)], q[rule.floor(n)]).high for n, p, q in replacements())
    assert rule.guarantee == Pure(2)
    assert worst <= 2 * (1 + SLACK)


def test_a_selector_that_counts_once_is_caught() -> None:
    """The whole of ε for the selector would be too much where a person is replaced."""
    losses = Losses(replace(small_design(None, "scan", 2), epsilon=Fraction(2)))
    assert max(losses.divergence(p[0], q[0]).high for _, p, q in replacements()) > 2 * (1 + SLACK)


@pytest.mark.parametrize("method", ["scan", "exponential", "permute_and_flip"])
@pytest.mark.parametrize("margin", [0, 1, 2])
def test_pure_for_every_function(method: str, margin: int) -> None:
    losses = Losses(small_design(Pure(1), method, margin))
    worst = max(losses.pure(*pair) for pair in cached_neighbours())
    assert Fraction(29, 10) < worst <= 3 * (1 + SLACK)


def test_approximate_for_every_function() -> None:
    losses = Losses(small_design(Approx(1, "0.1"), "scan", 1, REACH))
    worst = max(losses.approximate(*pair) for pair in cached_neighbours())
    assert Fraction(1, 20) < worst <= Fraction(1, 10) * (1 + SLACK)


def test_a_relative_floor_is_caught() -> None:
    losses = Losses(small_design(Pure(1), "exponential", 1))
    relative = neighbours(lambda f, x, _: relative_profile(f, x, 1))
    assert max(losses.pure(*pair) for pair in relative) > 3


def test_the_filter_has_its_claimed_sensitivity_for_every_function() -> None:
    """And leaves a function alone that keeps its claim."""
    claim = design_filter(GRID, 1, Fraction(1), persons_public=False)
    honest = 0
    for f in FUNCTIONS:
        value = {x: support.extension(f.__getitem__, x, claim.sensitivity) for x in GROUPS}
        assert all(abs(value[x] - value[z]) <= 1 for x, z in PAIRS)
        if all(abs(f[x] - f[z]) <= 1 for x, z in PAIRS):
            honest += 1
            assert value == f
    assert honest > 100


def test_the_filter_where_a_person_is_replaced() -> None:
    """By the exact law of the noise: within ε for every function, and the noise for adding and removing is caught."""
    public = design_filter(GRID, 1, Fraction(1), persons_public=True)
    private = replace(public, size_epsilon=Fraction(1, 9))
    moves = {
        abs(support.extension(f.__getitem__, x, 1) - support.extension(f.__getitem__, z, 1))
        for f in FUNCTIONS
        for x, z in REPLACED
    }
    assert max(moves) == 2

    def worst(claim: LipschitzFilter) -> Fraction:
        laws = [claim.noisy_value(moved) for moved in range(max(moves) + 1)]
        found: list[dict[Hashable, Enclosure]] = [{y: law.pmf(y) for y in range(-3, 6)} for law in laws]
        return max(max_divergence(p, q).high for p in found for q in found)

    assert worst(public) <= 1 + SLACK
    assert worst(private) > Fraction(19, 10)
