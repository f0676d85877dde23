"""Down profiles and the losses made from them, against their definitions."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.audit.exact import datasets, neighbours
from tacit.curves import DownProfile
from tacit.errors import InvalidInput
from tacit.grids import Grid, digits, integers, multiples

GRIDS = [integers(0, 12), multiples(5, 0, 15), multiples("2.5", 0, 12.5), multiples(Fraction(7, 3), 0, 14)]
profiles = st.lists(st.integers(0, 12), max_size=8).map(lambda values: sorted(values, reverse=True))


def at(values: list[Fraction], j: int, lowest: Fraction) -> Fraction:
    return values[j] if j < len(values) else lowest


def rounded(values: list[int], grid: Grid) -> list[Fraction]:
    points = [grid.value(i) for i in range(int(grid.size))]
    return [min(p for p in points if p >= value) for value in values]


@pytest.mark.parametrize("grid", GRIDS, ids=map(repr, GRIDS))
@settings(max_examples=50)
@given(values=profiles, limit=st.integers(0, 12), tau=st.integers(0, 5))
def test_losses_are_what_their_definitions_say(grid: Grid, values: list[int], limit: int, tau: int) -> None:
    points = [grid.value(i) for i in range(int(grid.size))]
    on_grid, profile = rounded(values, grid), DownProfile(values)

    def ell(y: Fraction, strict: bool, top: int) -> int:
        reached = (
            j for j in range(top) if at(on_grid, j, points[0]) < y or (not strict and at(on_grid, j, points[0]) == y)
        )
        return next(reached, top)

    loss, clamped, shifted = profile.loss(grid), profile.loss(grid, limit), profile.shifted_loss(grid, tau)
    for i, y in enumerate(points):
        assert loss.at(i) == ell(y, False, 99)
        assert clamped.at(i) == ell(y, False, limit)
        # ℓ* + τ with ℓ* = max{ℓ − τ, τ − ℓ̄}
        assert shifted.at(i) == max(ell(y, False, 2 * tau) - tau, tau - ell(y, True, 2 * tau)) + tau
    assert loss.one_directional
    assert not shifted.one_directional
    assert all(a.loss > b.loss for a, b in pairwise(loss.runs))


@pytest.mark.parametrize("grid", GRIDS, ids=map(repr, GRIDS))
def test_some_value_has_shifted_loss_zero_and_values_outside_the_window_at_least_tau(grid: Grid) -> None:
    for values in ([12, 9, 9, 4, 4, 4, 1], [5, 5, 5, 5, 5, 5], [], [12]):
        on_grid = rounded(values, grid)
        for tau in (1, 2, 3):
            shifted = DownProfile(values).shifted_loss(grid, tau)
            centre = at(on_grid, tau, grid.value(0))
            assert shifted.at(grid.ceil(centre) or 0) <= tau
            for i in range(int(grid.size)):
                y = grid.value(i)
                if y > at(on_grid, 0, grid.value(0)) or y < at(on_grid, 2 * tau, grid.value(0)):
                    assert shifted.at(i) >= 2 * tau


def test_sensitivity_and_direction_over_all_small_datasets() -> None:
    grid = multiples(3, 0, 12)
    for x, smaller in neighbours(datasets((0, 2, 5, 11), 5)):
        with_, without = (DownProfile(sorted(z, reverse=True)) for z in (x, smaller))
        for i in range(int(grid.size)):
            assert with_.loss(grid).at(i) - without.loss(grid).at(i) in (0, 1)
            assert abs(with_.shifted_loss(grid, 2).at(i) - without.shifted_loss(grid, 2).at(i)) <= 1


def test_a_grid_without_a_lowest_value_lets_the_profile_fall_forever() -> None:
    loss = DownProfile([7, 3]).loss(integers())
    assert [loss.at(i) for i in (-(10**30), 2, 3, 6, 7)] == [2, 2, 1, 1, 0]
    shifted = DownProfile([7, 3]).shifted_loss(integers(), 1)  # max{ℓ, 2 − ℓ̄}
    assert [shifted.at(i) for i in (-(10**30), 2, 3, 4, 7, 8)] == [2, 2, 1, 1, 1, 2]


def test_a_bottom_above_the_lowest_grid_value_leaves_the_rest_out_of_reach() -> None:
    profile = DownProfile([9, 6], bottom=4)
    assert [profile.loss(integers(0, 9), 20).at(i) for i in (3, 4, 5, 6, 9)] == [20, 2, 2, 1, 0]
    assert [profile.at(j) for j in range(4)] == [9, 6, 4, 4]
    with pytest.raises(InvalidInput, match="limit"):
        profile.loss(integers(0, 9))


def test_bad_profiles_and_grids_are_refused() -> None:
    with pytest.raises(InvalidInput, match="must not increase"):
        DownProfile([5, 6])
    with pytest.raises(InvalidInput, match="bottom"):
        DownProfile([5], bottom=6)
    for grid in (integers(0, 99), integers(1, 1000), digits(2, 0, 1)):
        with pytest.raises(InvalidInput, match="grid must span the profile"):
            DownProfile([100, 0]).loss(grid)
    with pytest.raises(InvalidInput, match="limit"):
        DownProfile([100, 0]).shifted_loss(integers(0, 100), 5, 9)


def test_repr_is_silent() -> None:
    assert repr(DownProfile([5, 1])) == "<down profile>"
