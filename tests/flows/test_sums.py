"""Sums and distinct values: exact where a sort or a flow settles them."""

from fractions import Fraction
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.answers.flows import rounded
from tacit.flows import Incidences, capped_distinct, capped_sum
from tests.flows.hypergraphs import Hypergraph, hypergraphs, relaxed, true_profile


@given(hypergraphs(touched=1, rows=10, weight=2**40), st.integers(0, 2**41))
def test_one_person_per_row_is_a_sort(graph: Hypergraph, cap: int) -> None:
    curve = capped_sum(graph.lists)
    assert list(curve.profile(6)) == true_profile(graph, "sum", 6)
    totals = [sum(w for w, row, _ in graph.live if u in row) for u in graph.persons]
    assert curve.bounds(cap) == (Fraction(sum(min(total, cap) for total in totals)),) * 2
    assert curve.at(cap) == rounded(curve.bounds(cap)[0], cap) if cap else curve.at(cap) == 0


def test_totals_beyond_64_bits() -> None:
    rows = Incidences.from_columns([2**63 - 1] * 6, [[1, 1, 1, 2, 2, 3], [1, 1, 1, 2, 2, 4]])
    curve, unit = capped_sum(rows), 2**63 - 1
    assert curve.profile(3) == (6 * unit, 3 * unit, unit, 0)
    assert curve.at(2 * unit) == 5 * unit
    assert curve.at(2**70) == 3 * 2**64  # the multiple of 2^64 next to it
    assert curve.bounds(2**70) == (Fraction(6 * unit),) * 2


@settings(max_examples=60)
@given(hypergraphs(touched=1, rows=12, values=6))
def test_distinct_values_of_one_person_each_are_a_flow_with_whole_corners(graph: Hypergraph) -> None:
    curve = capped_distinct(graph.lists, graph.values)
    for corner in curve.corners(5):
        assert corner.removed.denominator == corner.remaining.denominator == 1
        assert abs(float(corner.remaining) - relaxed(graph, "distinct", int(corner.removed))) < 1e-7
    assert curve.total == len({v for _, _, v in graph.live})
    low, high = curve.bounds(Fraction(3, 7))
    assert low == high


@settings(max_examples=60)
@given(hypergraphs(touched=2, rows=9))
def test_corners_of_a_graph_are_halves_and_conjugate_to_the_caps(graph: Hypergraph) -> None:
    curve = capped_sum(graph.lists)
    corners = curve.corners(6)
    assert all((2 * corner.removed).denominator == (2 * corner.remaining).denominator == 1 for corner in corners)
    slopes = [(a.remaining - b.remaining) / (b.removed - a.removed) for a, b in pairwise(corners)]
    assert slopes == sorted(slopes, reverse=True)
    for cap in slopes:
        low, high = curve.bounds(cap)
        assert low == high == min(corner.remaining + cap * corner.removed for corner in corners)


def test_many_values_in_few_hands_need_many_removals() -> None:
    # Two persons hold the same ten values: removing one of them removes none.
    rows = Incidences.from_columns([1] * 20, [[0] * 10 + [1] * 10])
    curve = capped_distinct(rows, list(range(10)) * 2)
    assert curve.profile(2) == (10, 5, 0)
    assert [curve.at(cap) for cap in (0, 1, 4, 5, 100)] == [0, 2, 8, 10, 10]
