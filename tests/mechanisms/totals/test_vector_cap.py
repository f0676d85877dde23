"""The cap of a vector: exact laws at few persons, and far beyond everybody."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tacit.mechanisms.totals.vector_cap import LOW, ROUGH, power, rough_cap, roughly, share, target, vector_cap
from tacit.tables.statistics.ways.caps import levels

LEVELS = levels(2**62, 5)


def _above(persons: int, unit: int) -> list[int]:
    """Everybody has a hundred units."""
    return [persons if level < 100 * unit else 0 for level in LEVELS]


def _too_low(groups: int, unit: int, counts: bool) -> float:
    """The chance of a cap below what everybody of 150 persons has, at ε = 1, after a rough cap that says nothing."""
    above, rest = _above(150, unit), share(groups) * (1 if counts else 1 - ROUGH)
    rough = None if counts else 0
    law = vector_cap(above, LEVELS, groups, rest, target(groups, Fraction(1)), counts=counts, rough=rough)
    return float(law.cdf(sum(level < 100 * unit for level in LEVELS) - 1))


@pytest.mark.parametrize("groups", [1, 4])
def test_a_sum_of_a_few_persons_keeps_its_cap_whatever_the_unit(groups: int) -> None:
    """By weights the unit would decide: from a certain one on the cap falls to the lowest levels."""
    chances = [_too_low(groups, unit, counts=False) for unit in (1, 10**8)]
    assert max(chances) < 0.06  # in proportion to the number of levels below
    assert max(chances) < 8 * chances[0]
    assert _too_low(groups, 10**8, counts=True) > 0.99


@pytest.mark.parametrize(("groups", "epsilon"), [(3, 16), (10, 60)])
def test_a_cap_is_hardly_ever_far_above_everybody(groups: int, epsilon: int) -> None:
    above, left = _above(5000, 100), target(groups, Fraction(epsilon))
    choice, top = share(groups) * epsilon, sum(level < 10_000 for level in LEVELS)
    far = sum(level < 300_000 for level in LEVELS)
    rough = rough_cap(above, LEVELS, ROUGH * choice, left)
    assert 1 - float(rough.cdf(far)) < 1e-6
    for place in (top - 20, top):
        assert LEVELS[place] > LOW
        law = vector_cap(above, LEVELS, groups, (1 - ROUGH) * choice, left, rough=place)
        assert 1 - float(law.cdf(far)) < 2e-5
    single = vector_cap(above, LEVELS, groups, choice, left)
    assert 1 - float(single.cdf(far)) > 0.001  # as it would be without a rough cap


def test_counts_in_few_groups_need_no_rough_cap() -> None:
    assert [roughly(groups, counts) for groups, counts in ((4, True), (5, True), (1, False))] == [False, True, True]
    assert not roughly(5, True, concentrated=True)
    assert [power(groups) for groups in (1, 100, 10_000)] == [4, 8, 16]
    lone = vector_cap([9, 4, 0], [1, 2, 4], 3, 1, rough=2, counts=True)
    assert lone.sample() == 2  # from the highest on there is one level
