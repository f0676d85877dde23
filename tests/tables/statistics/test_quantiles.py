"""Quantiles, alone, together and by group."""

from fractions import Fraction
from math import log

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit import Answers, Pure
from tacit.engines.requests import LARGEST_ANSWER
from tacit.errors import InvalidInput
from tacit.tables.statistics.quantiles import reach

GRID = 340_000


@pytest.mark.parametrize("epsilon", ["0.0267", "0.08", "1"])
def test_values_far_away_have_little_chance(epsilon: str) -> None:
    steps = reach(Fraction(epsilon), GRID)
    assert 6 * steps <= LARGEST_ANSWER
    assert float(Fraction(epsilon)) * steps / 2 >= log(GRID) + 3


def test_three_quartiles_of_many_persons_for_little() -> None:
    """Ranks off by 13 % have probability below 10^-6: 3·|Y|·2^32·e^{−ε·1300} with ε = 1/20 and |Y| = 340,000."""
    persons = 20_000
    table = tacit.read(pa.table({"person": range(persons), "x": range(persons)}), person="person", budget=Pure(9))
    found = table.quantile("x", ["0.25", "0.5", "0.75"], epsilon="0.1", per="person")
    assert isinstance(found, Answers)
    for q, answer in found.items():
        assert abs(float(answer) / persons - float(q)) < 0.13


def test_many_quantiles_ascend_and_stay_near_their_ranks() -> None:
    """Ten levels of ε = 0.4 each: 1,000 draws, each off by 45 ln-units less often than 10^-9, and errors add up."""
    values = np.arange(30_000) * 7 % 30_011
    table = tacit.read(pa.table({"p": range(len(values)), "x": values.tolist()}), person="p", budget=Pure(9))
    found = table.quantile("x", [Fraction(i, 1001) for i in range(1, 1001)], per="person", epsilon=4)
    assert isinstance(found, Answers)
    answers = [float(answer) for answer in found.values()]
    assert len(answers) == 1000
    assert answers == sorted(answers)
    ranks = np.searchsorted(np.sort(values), answers)
    assert max(abs(ranks - np.arange(1, 1001) * len(values) / 1001)) < 10 * 45 / 0.4
    assert np.mean(abs(ranks - np.arange(1, 1001) * len(values) / 1001)) < 60


def test_quantiles_of_a_value_that_everybody_shares() -> None:
    """Cuts go through ties: each of fifty quantiles is that value; off with probability far below 10^-9."""
    table = tacit.read(pa.table({"p": range(5000), "x": [41] * 5000}), person="p", budget=Pure(99))
    found = table.quantile("x", [Fraction(i, 51) for i in range(1, 51)], epsilon=20)
    assert isinstance(found, Answers)
    assert {answer.value for answer in found.values()} == {41}


def test_medians_of_groups_cost_what_one_costs() -> None:
    """A hundred groups of 200 persons each; the ranks of all are right to 60 persons, off with probability e^-30."""
    rows = [{"p": p, "g": p % 100, "x": p // 100 + 1000 * (p % 100)} for p in range(20_000)]
    table = tacit.read(pa.Table.from_pylist(rows), person="p", budget=Pure(1))
    found = table.group_by("g", keys=range(100)).median("x", epsilon=1)
    assert all(abs(float(answer) - 1000 * group - 100) < 60 for group, answer in found.items())
    with pytest.raises(tacit.BudgetExceeded):
        table.count(epsilon=1)


def test_several_quantiles_by_group_are_named_by_both() -> None:
    rows = {"p": [*range(40)], "g": ["a", "b"] * 20, "h": [1] * 40, "x": [*range(40)]}
    table = tacit.read(pa.table(rows), person="p", budget=Pure(99))
    found = table.group_by("g", keys=["a", "b"]).quantile("x", ["0.25", "0.75"], epsilon=9)
    assert list(found) == [("a", 0.25), ("a", 0.75), ("b", 0.25), ("b", 0.75)]
    assert found.to_arrow().column_names[:2] == ["g", "quantile"]
    both = table.group_by(["g", "h"], keys=[("a", 1)]).quantile("x", ["0.25", "0.75"], per="person", epsilon=9)
    assert list(both) == [("a", 1, 0.25), ("a", 1, 0.75)]


def test_a_method_is_for_one_quantile() -> None:
    table = tacit.read(pa.table({"p": [1], "x": [1]}), person="p", budget=Pure(9))
    with pytest.raises(InvalidInput, match="by levels"):
        table.quantile("x", ["0.25", "0.75"], method="permute_and_flip", epsilon=1)
    with pytest.raises(InvalidInput, match="thousand"):
        table.quantile("x", [Fraction(i, 1002) for i in range(1, 1002)], epsilon=1)
