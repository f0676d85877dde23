"""The largest and the k-th largest value over joined rows."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.flows import Incidences, largest_profile
from tests.flows.hypergraphs import Hypergraph, hypergraphs, relaxed

BOTTOM = -1


def profile(graph: Hypergraph, removals: int, rank: int) -> list[int]:
    values = largest_profile(graph.lists, graph.values, removals, rank)
    return [BOTTOM if value is None else value for value in values]


def expected(graph: Hypergraph, removals: int, rank: int) -> int:
    """The lowest value y such that so many removals leave fewer than ``rank`` rows above it, in the relaxation."""
    values = sorted({v for _, _, v in graph.live} | {BOTTOM})
    above = {y: Hypergraph(tuple((w, row, v) for w, row, v in graph.rows if v > y)) for y in values}
    return next(y for y in values if relaxed(above[y], "sum", removals) <= rank - 1 + 1e-7)


@settings(max_examples=80)
@given(hypergraphs(touched=3, rows=9, values=5), st.integers(1, 4))
def test_profile_is_the_relaxed_cover(graph: Hypergraph, rank: int) -> None:
    assert profile(graph, 4, rank) == [expected(graph, j, rank) for j in range(5)]


@settings(max_examples=80)
@given(hypergraphs(touched=1, rows=10, values=6), st.integers(1, 4))
def test_one_person_per_row_is_the_true_profile(graph: Hypergraph, rank: int) -> None:
    def kth(data: Hypergraph) -> int:
        values = sorted((v for w, _, v in data.live for _ in range(w)), reverse=True)
        return values[rank - 1] if len(values) >= rank else BOTTOM

    for j, value in enumerate(profile(graph, 3, rank)):
        sets = combinations(graph.persons, min(j, len(graph.persons)))
        assert value == min(kth(graph.without(frozenset(gone))) for gone in sets)


def test_values_of_any_size_and_ties() -> None:
    rows = Incidences.from_columns([1, 1, 1, 1], [[0, 1, 2, 3], [1, 2, 3, 0]])
    assert largest_profile(rows, [2**70, -(2**70), 2**70, 5], 2) == (2**70, 2**70, None)
    assert largest_profile(rows, [-3, -3, -3, -3], 2) == (-3, -3, None)
    assert largest_profile(rows, [4, 3, 2, 1], 0, rank=4) == (1,)
    assert largest_profile(rows, [4, 3, 2, 1], 0, rank=5) == (None,)


def test_a_long_list_is_searched_not_walked() -> None:
    # Every row has persons of its own, so j removals take exactly the j largest values.
    count = 3000
    rows = Incidences.from_columns([1] * count, [range(count), range(count, 2 * count)])
    assert largest_profile(rows, range(count), 40) == tuple(count - 1 - j for j in range(41))
