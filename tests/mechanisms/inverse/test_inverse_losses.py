"""Fast losses of inverse sensitivity: equal to a breadth-first oracle, and their accuracy in terms of the statistic."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import ceil, inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.curves import Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers, multiples, powers
from tacit.mechanisms import Quantile, count_loss, inverse_sensitivity, median_loss, mode_loss, quantile_loss, sum_loss
from tacit.mechanisms.inverse.inverse_losses import inverse_accuracy
from tests.mechanisms.nearest import distances, multisets, records

PERSONS = 6
Statistic = Callable[[tuple[Any, ...]], Any]


def quantile(q: Fraction) -> Statistic:
    return lambda x: sorted(x)[ceil(q * len(x)) - 1]


def mode(x: tuple[int, ...]) -> int:
    return max(sorted(set(x)), key=x.count)


def same_everywhere(f: Statistic, universe: tuple[int, ...], loss: Callable[[tuple[int, ...]], StepLoss]) -> bool:
    """Whether a loss equals the oracle on every dataset of at most six persons (the oracle has room for seven more)."""
    oracle = distances(f, universe, 2 * PERSONS + 1)
    for x in multisets(len(universe), PERSONS):
        found = loss(records(x, universe))
        if any(found.at(y) != oracle[Fraction(y)][x] or found.at(y) > PERSONS + 1 for y in universe):
            return False
    return True


def same_replaced(f: Statistic, universe: tuple[int, ...], loss: Callable[[tuple[int, ...]], StepLoss]) -> bool:
    """The same where the number of persons is public and persons are replaced."""
    for n in range(1, PERSONS + 1):
        oracle = distances(f, universe, n, replaced=True)
        for x in multisets(len(universe), n):
            if sum(x) == n:
                found = loss(records(x, universe))
                if any(found.at(y) != oracle[Fraction(y)][x] for y in universe):
                    return False
    return True


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 4), Fraction(2, 3), Fraction(9, 10)])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_quantile_loss_is_the_distance_to_the_nearest_dataset(q: Fraction, size: int) -> None:
    universe, grid = tuple(range(size)), integers(0, size - 1)
    assert same_everywhere(quantile(q), universe, lambda x: quantile_loss(x, q, grid))
    assert same_replaced(quantile(q), universe, lambda x: quantile_loss(x, q, grid, persons_public=True))


@pytest.mark.parametrize("size", [1, 2, 4, 5])
def test_mode_loss_is_the_distance_to_the_nearest_dataset(size: int) -> None:
    universe = tuple(range(size))
    nobody = mode_loss((), universe)
    assert [nobody.at(y) for y in universe] == [min(y, 1) for y in universe]  # of nobody, the first
    oracle = distances(mode, universe, 2 * PERSONS + 1)
    for x in multisets(size, PERSONS):
        if sum(x):
            found = mode_loss(records(x, universe), universe)
            assert all(found.at(y) == oracle[Fraction(y)][x] for y in universe)
    assert same_replaced(mode, universe, lambda x: mode_loss(x, universe, persons_public=True))


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 4), (-2, 2), (-1, 3), (-4, 0), (2, 5), (-3, -1)])
def test_sum_loss_is_the_distance_to_the_nearest_dataset(low: int, high: int) -> None:
    universe, limit = tuple(range(low, high + 1)), 5
    oracle = distances(sum, universe, PERSONS + limit - 1)
    totals, grid = range(-26, 31), integers(-26, 30)
    for x in multisets(len(universe), PERSONS):
        found = sum_loss(records(x, universe), low, high, grid, limit=limit)
        assert all(found.at(y) == min(oracle.get(Fraction(y), {}).get(x, limit), limit) for y in totals)
    for n in (1, 4):
        replaced = distances(sum, universe, n, replaced=True)
        for x in multisets(len(universe), n):
            if sum(x) == n:
                found = sum_loss(records(x, universe), low, high, grid, limit=limit, persons_public=True)
                assert all(found.at(y) == min(replaced.get(Fraction(y), {}).get(x, limit), limit) for y in totals)


@pytest.mark.parametrize("c", range(PERSONS + 1))
def test_count_loss_is_the_difference(c: int) -> None:
    free = count_loss(c, integers(-2, 9), limit=5)
    assert [free.at(y) for y in range(-2, 10)] == [5 if y < 0 else min(5, abs(c - y)) for y in range(-2, 10)]
    fixed = count_loss(c, integers(0, 9), limit=5, persons=PERSONS)
    assert [fixed.at(y) for y in range(10)] == [min(5, abs(c - y)) if y <= PERSONS else 5 for y in range(10)]
    coarse = count_loss(c, multiples("0.5", 0, 6), limit=9)
    assert [coarse.at(i) for i in range(13)] == [9 if i % 2 else abs(c - i // 2) for i in range(13)]


@given(values=st.lists(st.integers(-5, 15), max_size=12), extra=st.integers(-5, 15), q=st.fractions(0, 1))
def test_one_person_moves_a_loss_by_at_most_one(values: list[int], extra: int, q: Fraction) -> None:
    grid, share = integers(-6, 12), min(max(q, Fraction(1, 9)), Fraction(8, 9))
    losses = [
        (quantile_loss(x, share, grid), sum_loss(x, -3, 9, grid, limit=4), mode_loss(x, range(-5, 14)))
        for x in (values, [*values, extra])
    ]
    for before, after in zip(*losses, strict=True):
        first, last = before.grid.first, before.grid.last
        assert first is not None
        assert last is not None
        assert all(abs(before.at(i) - after.at(i)) <= 1 for i in range(first, last + 1))


def test_data_come_as_values_or_as_counts_and_nothing_in_them_is_refused() -> None:
    grid = integers(0, 10)
    values = [1, 4, 4, 7, 7, 7]
    assert quantile_loss(values, "0.25", grid) == quantile_loss(Counter(values), "0.25", grid)
    assert mode_loss(values, [4, 7]) == mode_loss({1: 1, 4: 2, 7: 3}, [4, 7])
    assert median_loss([*values, nan, None, "none", object()], grid) == median_loss(values, grid)
    assert median_loss([inf, -inf, 3, True], grid) == median_loss([10, 0, 3, 1], grid)
    assert median_loss([3, inf], integers()) == median_loss([3], integers())  # nowhere to go on an open grid
    assert sum_loss([99, -99], -1, 2, grid, limit=3) == sum_loss([2, -1], -1, 2, grid, limit=3)
    assert median_loss([2, nan], grid, persons_public=True) == median_loss([2, 0], grid, persons_public=True)


def test_grids_may_be_open_or_uneven() -> None:
    loss = median_loss([3, 3, 9], integers())
    assert loss.runs == (Run(None, 2, 3), Run(3, 3, 0), Run(4, 9, 2), Run(10, None, 4))
    assert median_loss([], integers()).runs == (Run(None, None, 1),)
    assert median_loss([1, 2, 100], powers(2, 0, 10)).at(1) == 0
    assert median_loss([1] * 50, integers(0, 5), limit=7).at(5) == 7


def test_refusals_use_public_facts_only() -> None:
    with pytest.raises(InvalidInput, match="q must lie strictly"):
        quantile_loss([1], 1, integers(0, 3))
    with pytest.raises(InvalidInput, match="at least one person"):
        median_loss([], integers(0, 3), persons_public=True)
    with pytest.raises(InvalidInput, match="candidates"):
        mode_loss([1], [])
    with pytest.raises(InvalidInput, match="candidates"):
        mode_loss([1], [1, 1])
    with pytest.raises(InvalidInput, match="low must be below high"):
        sum_loss([1], 2, 2, integers(0, 3), limit=2)
    with pytest.raises(InvalidInput, match="would take 1010000 steps"):
        sum_loss([1], 0, 100, integers(0, 3), limit=100)
    with pytest.raises(InvalidInput, match="limit"):
        count_loss(3, integers(0, 3), limit=0)


@given(values=st.lists(st.integers(0, 40), min_size=1, max_size=60))
def test_the_answer_is_within_the_local_sensitivity_of_its_window(values: list[int]) -> None:
    """P[|answer − median| ≤ LS^k] ≥ 1 − β for the k that is stated, by the exact law."""
    grid, beta = integers(0, 40), Fraction(1, 4)
    law = inverse_sensitivity(median_loss(values, grid), epsilon=2)
    stated = inverse_accuracy(law, beta)
    assert stated.window is not None
    assert f"within LS^{stated.window} of the truth" in stated.statement
    median = Quantile(0, 40)
    truth, far = median.value(values), median.local(values, stated.window)
    inside = sum(law.pmf(y).low for y in range(41) if abs(y - truth) <= far)
    assert inside >= 1 - beta - Fraction(1, 2**60)
