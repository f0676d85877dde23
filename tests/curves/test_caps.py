"""Cap curves: sums with a cap, conjugate to the profile, exactly."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.curves import CapCurve, DownProfile
from tacit.errors import InvalidInput

totals = st.lists(st.fractions(0, 20, max_denominator=6) | st.integers(0, 20), max_size=9)


@settings(max_examples=50)
@given(sizes=totals, cap=st.fractions(0, 25, max_denominator=8))
def test_a_curve_from_totals_is_the_capped_sum(sizes: list[Fraction], cap: Fraction) -> None:
    curve = CapCurve.from_totals(sizes)
    assert curve.at(cap) == sum(min(size, cap) for size in sizes)
    assert curve.slope(cap) == sum(size > cap for size in sizes)
    assert curve.total == sum(sizes)


@settings(max_examples=50)
@given(sizes=totals)
def test_curve_and_profile_are_conjugate(sizes: list[Fraction]) -> None:
    curve = CapCurve.from_totals(sizes)
    kept = sorted(sizes)
    fewest = [sum(kept[: len(kept) - j], Fraction(0)) for j in range(len(kept) + 1)]
    profile = curve.profile(len(sizes) + 1)
    assert profile == DownProfile([*fewest, 0])
    assert [curve.conjugate(j) for j in range(len(fewest))] == fewest
    assert CapCurve.from_profile(profile) == CapCurve.from_profile(DownProfile(fewest)) == curve


@settings(max_examples=50)
@given(values=st.lists(st.integers(0, 30), max_size=7), cap=st.fractions(0, 40, max_denominator=4))
def test_a_curve_from_any_profile_is_the_lower_envelope(values: list[int], cap: Fraction) -> None:
    profile = sorted(values, reverse=True)
    curve = CapCurve.from_profile(DownProfile(profile))
    assert curve.at(cap) == min(value + cap * j for j, value in enumerate([*profile, 0]))
    assert all(curve.conjugate(j) <= value for j, value in enumerate(profile))


def test_one_more_person_raises_the_curve_by_at_most_the_cap() -> None:
    people = [0, 1, 3, 3, 8, 20]
    for few in combinations(people, 4):
        for extra in people:
            for cap in (0, 1, 2, 5, 30):
                rise = CapCurve.from_totals([*few, extra]).at(cap) - CapCurve.from_totals(few).at(cap)
                assert 0 <= rise <= cap


def test_equal_curves_have_equal_points() -> None:
    assert CapCurve([(1, 3), (2, 6), (4, 8)]) == CapCurve([(0, 0), (2, 6), (3, 7), (4, 8), (9, 8)])
    assert hash(CapCurve([(1, 3), (2, 6)])) == hash(CapCurve([(2, 6)]))


@pytest.mark.parametrize(
    "points",
    [[(1, 2), (1, 3)], [(2, 3), (1, 2)], [(1, 1), (2, 3)], [(1, 3), (2, 2)], [(0, 1), (1, 2)], [(1, -1)]],
)
def test_points_that_are_not_a_cap_curve_are_refused(points: list[tuple[int, int]]) -> None:
    with pytest.raises(InvalidInput):
        CapCurve(points)


def test_other_bad_input_is_refused_and_repr_is_silent() -> None:
    with pytest.raises(InvalidInput):
        CapCurve.from_totals([1, -1])
    with pytest.raises(InvalidInput):
        CapCurve.from_profile(DownProfile([5, -1]))
    with pytest.raises(InvalidInput):
        CapCurve.from_totals([1]).at(-1)
    assert repr(CapCurve.from_totals([1, 2])) == "<cap curve>"
