"""The most frequent value and the largest degree: rows as variables, and the published shorter form that is wrong."""

from itertools import combinations
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tacit.flows import Incidences, capped_degree, capped_frequency, frequency
from tests.flows.hypergraphs import Hypergraph, hypergraphs, relaxed, relaxed_up


def shorter_form(graph: Hypergraph, removals: int) -> float:
    """The published form: min F ≥ 0 with F ≥ cnt(v) − Σ_u cnt(u, v)·x_u for every value, 0 ≤ x ≤ 1, Σx ≤ j."""
    rows, persons = graph.live, graph.persons
    lines, limits = [np.array([*[1.0] * len(persons), 0.0])], [float(removals)]
    for value in sorted({v for _, _, v in rows}):
        mine = [(w, row) for w, row, v in rows if v == value]
        lines.append(np.array([*(-float(sum(w for w, row in mine if u in row)) for u in persons), -1.0]))
        limits.append(-float(sum(w for w, _ in mine)))
    bounds = [*[(0.0, 1.0)] * len(persons), (0.0, None)]
    answer = linprog([*[0.0] * len(persons), 1.0], A_ub=np.array(lines), b_ub=limits, bounds=bounds, method="highs").fun
    assert answer is not None
    return float(answer)


def test_the_shorter_form_breaks_the_condition_and_ours_does_not() -> None:
    # A triangle and three edges of one value: removing the triangle's corners counts its edges twice, six in all.
    edges = [(0, 1), (0, 2), (1, 2), (3, 4), (5, 6), (7, 8)]
    graph = Hypergraph(tuple((1, edge, 0) for edge in edges))
    smaller = graph.without(frozenset({0}))
    assert shorter_form(graph, 3) < shorter_form(smaller, 3) - 0.9
    ours, theirs = (capped_frequency(g.lists, g.values).profile(4) for g in (graph, smaller))
    assert all(ours[j + 1] <= theirs[j] <= ours[j] for j in range(4))


@settings(max_examples=40)
@given(hypergraphs(touched=1, rows=8))
def test_the_shorter_form_is_right_for_one_person_per_row(graph: Hypergraph) -> None:
    profile = capped_frequency(graph.lists, graph.values).profile(3)
    assert profile == tuple(ceil(shorter_form(graph, j) - 1e-7) for j in range(4))


@pytest.mark.parametrize("first", [1, 2])
@settings(max_examples=18)
@given(data=st.data())
def test_a_short_list_of_values_changes_nothing(first: int, data: st.DataObject) -> None:
    graph = data.draw(hypergraphs(touched=3, rows=9, values=6, weight=3))
    was, frequency._FIRST = frequency._FIRST, first
    try:
        degree, common = capped_degree(graph.lists), capped_frequency(graph.lists, graph.values)
        for name, curve in (("degree", degree), ("frequency", common)):
            assert curve.profile(3) == tuple(relaxed_up(graph, name, j) for j in range(4))
            for target in range(4):
                expected = next(j for j in range(9) if relaxed(graph, name, j) <= target + 1e-7)
                assert curve.fewest(target) == expected
    finally:
        frequency._FIRST = was


@settings(max_examples=40)
@given(hypergraphs(touched=1, persons=6, rows=14, values=3, weight=2))
def test_persons_who_cannot_be_told_apart(graph: Hypergraph) -> None:
    curve = capped_frequency(graph.lists, graph.values)
    assert curve.profile(4) == tuple(relaxed_up(graph, "frequency", j) for j in range(5))


def test_many_like_persons_are_one_variable() -> None:
    # Ten values of a hundred persons each: every ten removals take one from every value.
    persons = np.arange(1000)
    curve = capped_frequency(Incidences.from_columns(np.ones(1000, dtype=int), [persons]), persons % 10)
    assert curve.profile(40) == tuple(ceil(100 - j / 10) for j in range(41))
    assert curve.fewest(90) == 100


def test_degrees_of_a_star_and_a_clique() -> None:
    star = Hypergraph(tuple((1, (0, leaf), 0) for leaf in range(1, 9)))
    assert capped_degree(star.lists).profile(2) == (8, 0, 0)
    clique = Hypergraph(tuple((1, pair, 0) for pair in combinations(range(6), 2)))
    assert capped_degree(clique.lists).profile(3) == tuple(relaxed_up(clique, "degree", j) for j in range(4))
    assert capped_degree(clique.lists).total == 5
