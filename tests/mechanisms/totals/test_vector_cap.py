"""The cap of a vector: exact laws at few persons."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tacit.mechanisms.totals.vector_cap import share, target, vector_cap
from tacit.tables.statistics.ways.caps import levels

LEVELS = levels(2**62, 5)
PERSONS = 100


def _too_low(groups: int, unit: int, counts: bool) -> float:
    """The chance of a cap below a hundred units, which is what everybody has, at ε = 1."""
    above = [PERSONS if level < 100 * unit else 0 for level in LEVELS]
    law = vector_cap(above, LEVELS, groups, share(groups), target(groups, Fraction(1)), counts=counts)
    return float(law.cdf(sum(level < 100 * unit for level in LEVELS) - 1))


@pytest.mark.parametrize("groups", [1, 2, 3, 4])
def test_a_sum_of_a_hundred_persons_keeps_its_cap_whatever_the_unit(groups: int) -> None:
    """By weights the unit would decide: from a certain one on the cap falls to the lowest levels."""
    chances = [_too_low(groups, unit, counts=False) for unit in (1, 100, 10_000, 10**8)]
    assert max(chances) < 0.06  # in proportion to the number of levels below
    assert max(chances) < 8 * chances[0]
    assert _too_low(groups, 10**8, counts=True) > 0.99
