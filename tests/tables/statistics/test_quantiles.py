"""Quantiles asked together: as exact as asked alone, but for their part of the cost."""

from fractions import Fraction
from math import log

import pytest

import tacit
from tacit import Answers, Pure
from tacit.engines.requests import LARGEST_ANSWER
from tacit.tables.statistics.quantiles import reach

GRID = 340_000


@pytest.mark.parametrize(("epsilon", "quantiles"), [("0.0267", 3), ("0.08", 1), ("0.02", 5), ("1", 100)])
def test_values_far_away_have_little_chance(epsilon: str, quantiles: int) -> None:
    steps, together = reach(Fraction(epsilon), GRID, quantiles)
    assert 6 * together * steps <= LARGEST_ANSWER
    assert float(Fraction(epsilon)) * steps / 2 >= log(GRID) + 3


def test_three_quartiles_of_many_persons_for_little() -> None:
    """Ranks off by 13 % have probability below 10^-6: 3·|Y|·e^{−ε·1664/2} with ε = 1/30 and |Y| = 340,000."""
    import pyarrow as pa

    persons = 20_000
    table = tacit.read(pa.table({"person": range(persons), "x": range(persons)}), person="person", budget=Pure(9))
    found = table.quantile("x", ["0.25", "0.5", "0.75"], epsilon="0.1", per="person")
    assert isinstance(found, Answers)
    for q, answer in found.items():
        assert abs(float(answer) / persons - float(q)) < 0.13
