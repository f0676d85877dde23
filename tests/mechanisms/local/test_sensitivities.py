"""Sensitivity calculators: equal to a search over all datasets, marked as not private, far from any answer."""

import ast
from fractions import Fraction
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path

import pytest

import tacit
from tacit.audit.exact import datasets, neighbours
from tacit.errors import InvalidInput
from tacit.mechanisms import InterquartileRange, Maximum, Minimum, Quantile, TrimmedMean
from tacit.mechanisms.local.sensitivities import Count, LocalStatistic, Sum, searched_sensitivities
from tacit.randomness.source import NotPrivateFraction

UNIVERSE = (0, 1, 3, 7)
QUANTILES = [Quantile(0, 7, Fraction(q)) for q in ("1/2", "1/4", "2/3", "9/10")]
BOUNDS = [InterquartileRange(0, 7), TrimmedMean(0, 7, 1), TrimmedMean(0, 7)]
RANGED: list[LocalStatistic] = [*QUANTILES, Maximum(0, 7), Minimum(0, 7), *BOUNDS]


@pytest.mark.parametrize("statistic", RANGED, ids=lambda s: s.name)
def test_calculators_equal_the_search(statistic: LocalStatistic) -> None:
    """Or bound it, where they say so."""
    value = lru_cache(maxsize=None)(statistic.value)
    for x in datasets(UNIVERSE, 3):
        for k in range(3):
            found = searched_sensitivities(value, x, UNIVERSE, k)
            at_distance, local, down = statistic.at_distance(x, k), statistic.local(x, k), statistic.down(x, k)
            assert at_distance == found.at_distance if statistic.exact else at_distance >= found.at_distance
            if isinstance(statistic, InterquartileRange):
                assert local >= found.local
                assert down >= found.down
            else:
                assert (local, down) == (found.local, found.down)


def test_counts_and_sums() -> None:
    universe = (-3, 0, 2)
    for statistic in (Count(), Sum(-3, 2)):
        for x in datasets(universe, 4):
            for k in range(3):
                found = searched_sensitivities(statistic.value, x, universe, k)
                assert (statistic.local(x, k), statistic.at_distance(x, k)) == (found.local, found.at_distance)
                assert statistic.down(x, k) == found.down


@pytest.mark.parametrize("statistic", RANGED, ids=lambda s: s.name)
def test_a_neighbour_is_one_step_further(statistic: LocalStatistic) -> None:
    """U_k(x) ≤ U_{k+1}(x') both ways, and U_k never falls: what smooth sensitivity and propose-test-release rest on."""
    data = datasets(UNIVERSE, 5)
    growth = {x: list(islice(statistic.growth(x), 7)) for x in data}
    for pair in neighbours(data):
        for x, other in (pair, pair[::-1]):
            assert all(a <= b for a, b in zip(growth[x], growth[other][1:], strict=False))
    assert all(a <= b for steps in growth.values() for a, b in pairwise(steps))
    assert all(abs(statistic.value(x) - statistic.value(z)) <= growth[x][0] for x, z in neighbours(data))


@pytest.mark.parametrize("statistic", [*RANGED, Count(), Sum(0, 7)], ids=lambda s: s.name)
def test_the_global_sensitivity_is_reached(statistic: LocalStatistic) -> None:
    data = datasets(UNIVERSE, 4)
    moves = [abs(statistic.value(x) - statistic.value(z)) for x, z in neighbours(data)]
    most = statistic.global_sensitivity
    assert max(moves) <= most
    assert max(moves) == most or isinstance(statistic, InterquartileRange)


def test_what_is_computed_from_data_says_that_it_protects_nobody() -> None:
    median = Quantile(0, 10)
    for value in (median.local([1, 2, 9]), median.at_distance([1, 2, 9], 1), median.down([1, 2, 9])):
        assert isinstance(value, NotPrivateFraction)
        assert value.private is False
        assert repr(value).startswith("NotPrivate(")
    assert all(part.private is False for part in searched_sensitivities(max, (1,), (0, 1), 1))
    assert "TRUSTED USE ONLY" in (__import__("tacit.mechanisms.local.sensitivities", fromlist=["x"]).__doc__ or "")


def test_no_answer_reaches_a_calculator() -> None:
    """The rooms that make answers do not import the calculators, nor does the public face offer them."""
    source = Path(tacit.__file__).parent
    rooms = [
        *source.glob("*.py"),
        *(p for room in ("tables", "ledger", "cli", "budgets") for p in (source / room).rglob("*.py")),
    ]
    for path in rooms:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.module != "tacit.mechanisms.local.sensitivities", path
    assert not {"searched_sensitivities", "local", "at_distance"} & set(tacit.mechanisms.__all__)


def test_values_are_decided_one_by_one() -> None:
    median = Quantile(0, 10)
    assert median.value([float("nan"), None, 99, -5, 4]) == 4
    assert median.value([]) == 0
    assert Minimum(0, 10).value([]) == 10
    assert Quantile().global_sensitivity == 2**64 - 1
    assert TrimmedMean(0, 10, 2).value([1, 2, 3]) == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="low must be below high"):
        Quantile(3, 3)
    with pytest.raises(InvalidInput, match="q must lie"):
        Quantile(0, 3, 0)
    with pytest.raises(InvalidInput, match="trim"):
        TrimmedMean(0, 3, -1)
    with pytest.raises(InvalidInput, match="k must be at least 0"):
        Quantile(0, 3).local([1], -1)
    with pytest.raises(InvalidInput, match="take a smaller universe"):
        searched_sensitivities(max, (1,), range(12), 20)


def test_data_may_come_as_an_iterator() -> None:
    median, values = Quantile(0, 10), [1, 2, 9]
    assert median.local(iter(values)) == median.local(values)
    assert median.down(iter(values)) == median.down(values)
    assert TrimmedMean(0, 10).local(iter(values), 2) == TrimmedMean(0, 10).local(values, 2)
