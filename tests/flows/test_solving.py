"""Flows at one cap, exactly, and the wrong flow for a row that touches one person."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.flows.maxflow import max_flow
from tacit.flows.peeling import Core, peel
from tacit.flows.solving import solve
from tests.flows.hypergraphs import Hypergraph, half_integral, hypergraphs, small_graphs

caps = st.fractions(Fraction(1, 6), 7, max_denominator=6)


@settings(max_examples=120)
@given(hypergraphs(touched=2, persons=4, rows=8), caps)
def test_two_persons_in_a_row_are_solved_exactly(graph: Hypergraph, cap: Fraction) -> None:
    line = solve(Core.of(graph.lists), cap)
    assert line.low == line.high == half_integral(graph, cap)
    for other in (Fraction(1, 3), Fraction(2), Fraction(9)):
        assert half_integral(graph, other) <= line.remaining + other * line.removed


@pytest.mark.parametrize("scale", [2**31 - 1, 2**33 + 7, 2**62, 2**80 + 1])
@settings(max_examples=25)
@given(graph=hypergraphs(touched=2, persons=4, rows=7), cap=caps)
def test_weights_beyond_32_and_64_bits(scale: int, graph: Hypergraph, cap: Fraction) -> None:
    scaled = Hypergraph(tuple((w * scale + (w > 1), row, v) for w, row, v in graph.rows))
    assert solve(Core.of(scaled.lists), cap * scale).low == half_integral(scaled, cap * scale)


def test_every_small_graph() -> None:
    for graph in small_graphs(4):
        for cap in (Fraction(1), Fraction(3, 2), Fraction(2)):
            assert solve(Core.of(graph.lists), cap).low == half_integral(graph, cap)


def test_a_triangle_is_worth_one_and_a_half() -> None:
    triangle = Hypergraph(((1, (0, 1), 0), (1, (1, 2), 0), (1, (0, 2), 0)))
    line = solve(Core.of(triangle.lists), Fraction(1))
    assert (line.low, line.removed, line.remaining) == (Fraction(3, 2), Fraction(3, 2), Fraction(0))


def plain_double_cover(graph: Hypergraph, cap: int, lonely: Callable[[int], list[tuple[object, object]]]) -> Fraction:
    """The double cover without peeling; ``lonely`` says which edges a one-person row becomes."""
    names: dict[object, int] = {"S": 0, "T": 1}
    edges: list[tuple[object, object, int]] = []
    for u in graph.persons:
        edges += [("S", ("out", u), cap), (("in", u), "T", cap)]
    for w, row, _ in graph.live:
        if len(row) == 1:
            edges += [(a, b, w) for a, b in lonely(next(iter(row)))]
        else:
            u, v = row
            edges += [(("out", u), ("in", v), w), (("out", v), ("in", u), w)]
    numbers = [[names.setdefault(end, len(names)) for end in edge[:2]] for edge in edges]
    ends, capacity = np.array(numbers), np.array([edge[2] for edge in edges])
    return Fraction(max_flow(len(names), ends[:, 0], ends[:, 1], capacity, 0, 1)[0], 2)


@settings(max_examples=60)
@given(hypergraphs(touched=2, persons=4, rows=6), st.integers(1, 5))
def test_a_one_person_row_goes_to_the_sink_and_comes_from_the_source(graph: Hypergraph, cap: int) -> None:
    if graph.live:
        value = plain_double_cover(graph, cap, lambda u: [(("out", u), "T"), ("S", ("in", u))])
        assert value == half_integral(graph, Fraction(cap))


def test_the_edge_to_its_own_copy_counts_half() -> None:
    lonely = Hypergraph(((2, (0,), 0),))
    assert half_integral(lonely, Fraction(5)) == 2
    assert plain_double_cover(lonely, 5, lambda u: [(("out", u), ("in", u))]) == 1


@settings(max_examples=80)
@given(hypergraphs(touched=3, persons=6, rows=12), st.integers(1, 9))
def test_peeling_leaves_nobody_light_and_nobody_full(graph: Hypergraph, cap: int) -> None:
    peeled = peel(Core.of(graph.lists), cap)
    core = peeled.core
    touched = np.unique(core.person)
    assert not core.alone.any()
    assert (peeled.room[touched] > 0).all()
    assert (core.totals[touched] > peeled.room[touched]).all()
    assert core.empty or np.bincount(core.row).min() >= 2
