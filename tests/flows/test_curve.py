"""The promise of the room, for every statistic: the surrogate condition, the sensitivity of the cap, the loss."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.flows import (
    CappedStatistic,
    capped_degree,
    capped_distinct,
    capped_frequency,
    capped_sum,
    largest_profile,
)
from tests.flows.hypergraphs import Hypergraph, hypergraphs, relaxed, relaxed_up, true_profile

STATISTICS: dict[str, Callable[[Hypergraph], CappedStatistic]] = {
    "sum": lambda graph: capped_sum(graph.lists),
    "distinct": lambda graph: capped_distinct(graph.lists, graph.values),
    "frequency": lambda graph: capped_frequency(graph.lists, graph.values),
    "degree": lambda graph: capped_degree(graph.lists),
}
REMOVALS = 4
each_statistic = pytest.mark.parametrize("statistic", STATISTICS)


def neighbours(graph: Hypergraph) -> list[Hypergraph]:
    return [graph.without(frozenset({person})) for person in graph.persons]


@each_statistic
@settings(max_examples=30)
@given(graph=hypergraphs())
def test_profile_is_the_relaxation_rounded_up(statistic: str, graph: Hypergraph) -> None:
    profile = STATISTICS[statistic](graph).profile(REMOVALS)
    assert profile == tuple(relaxed_up(graph, statistic, j) for j in range(REMOVALS + 1))
    assert all(low <= true for low, true in zip(profile, true_profile(graph, statistic, REMOVALS), strict=True))


@each_statistic
@settings(max_examples=30)
@given(graph=hypergraphs(), cap=st.integers(1, 6))
@example(graph=Hypergraph(((0, (0,), 0), (1, (1, 2), 1), (1, (1, 3), 0), (1, (2, 3), 0))), cap=1)  # L(1) = 3/2
def test_one_person_moves_profile_cap_and_loss_as_promised(statistic: str, graph: Hypergraph, cap: int) -> None:
    whole = STATISTICS[statistic](graph)
    profile, value, loss = whole.profile(REMOVALS), whole.at(cap), whole.fewest(cap)
    for smaller in map(STATISTICS[statistic], neighbours(graph)):
        other = smaller.profile(REMOVALS)
        assert all(profile[j + 1] <= other[j] <= profile[j] for j in range(REMOVALS))
        assert smaller.at(cap) <= value <= smaller.at(cap) + cap
        assert smaller.at(cap) <= smaller.above(cap)
        assert smaller.fewest(cap) <= loss <= smaller.fewest(cap) + 1


@settings(max_examples=30)
@given(graph=hypergraphs(values=5), rank=st.integers(1, 3))
def test_one_person_moves_the_largest_as_promised(graph: Hypergraph, rank: int) -> None:
    def profile(data: Hypergraph) -> list[int]:
        values = largest_profile(data.lists, data.values, REMOVALS, rank)
        return [-1 if value is None else value for value in values]

    whole = profile(graph)
    for smaller in map(profile, neighbours(graph)):
        assert all(whole[j + 1] <= smaller[j] <= whole[j] for j in range(REMOVALS))


@each_statistic
@settings(max_examples=25)
@given(graph=hypergraphs(), target=st.integers(0, 6))
def test_fewest_is_the_first_removal_at_the_target(statistic: str, graph: Hypergraph, target: int) -> None:
    curve = STATISTICS[statistic](graph)
    expected = next(j for j in range(6) if relaxed(graph, statistic, j) <= target + 1e-7)
    assert curve.fewest(target) == expected
    assert [curve.fewest(target, most) for most in range(3)] == [min(expected, most) for most in range(3)]


@each_statistic
@settings(max_examples=25)
@given(graph=hypergraphs(), cap=st.fractions(Fraction(1, 8), 6, max_denominator=8))
def test_bounds_enclose_and_corners_support_the_curve(statistic: str, graph: Hypergraph, cap: Fraction) -> None:
    curve = STATISTICS[statistic](graph)
    low, high = curve.bounds(cap)
    corners = curve.corners(REMOVALS)
    assert low <= high <= low + Fraction(1, 10**6)
    assert all(high <= corner.remaining + cap * corner.removed + Fraction(1, 10**6) for corner in corners)
    assert corners[0].removed == 0
    assert corners[0].remaining == curve.total
    assert corners[-1].removed >= REMOVALS or corners[-1].remaining == 0
    profile = curve.profile(REMOVALS)
    assert all(corner.remaining <= profile[int(corner.removed)] for corner in corners if corner.removed <= REMOVALS)


@each_statistic
def test_nothing_and_nobody(statistic: str) -> None:
    for graph in (Hypergraph(()), Hypergraph(((0, (1, 2), 0), (5, (), 1)))):
        curve = STATISTICS[statistic](graph)
        assert curve.total == 0
        assert curve.profile(3) == (0, 0, 0, 0)
        assert (curve.at(0), curve.at(7), curve.fewest(0)) == (0, 0, 0)
        assert curve.bounds(2) == (Fraction(0), Fraction(0))
        assert largest_profile(graph.lists, graph.values, 2) == (None, None, None)


@each_statistic
def test_isolated_persons_and_a_person_named_twice(statistic: str) -> None:
    plain = Hypergraph(((2, (1, 2), 0), (1, (3,), 1), (3, (2, 3), 0)))
    again = Hypergraph((*((w, (*row, *row), v) for w, row, v in plain.rows), (0, (8,), 1), (0, (9, 1), 0)))
    make = STATISTICS[statistic]
    assert make(plain).profile(4) == make(again).profile(4)
    assert [make(plain).at(cap) for cap in range(5)] == [make(again).at(cap) for cap in range(5)]


@each_statistic
def test_no_repr_shows_data(statistic: str) -> None:
    graph = Hypergraph(((123457, (1, 2), 0), (123457, (2, 3), 1)))
    curve = STATISTICS[statistic](graph)
    shown = repr(curve) + repr(graph.lists) + repr(curve.corners(2)) + repr(curve._solve(Fraction(2), 0))
    assert "123457" not in shown
    assert "246914" not in shown


def test_arguments_are_checked() -> None:
    curve = capped_sum(Hypergraph(((1, (1,), 0),)).lists)
    for call in (lambda: curve.at(-1), lambda: curve.profile(-1), lambda: curve.fewest(-1), lambda: curve.bounds("x")):
        with pytest.raises(InvalidInput):
            call()
