"""Triangles: local sensitivities at every distance by looking at all graphs on four and five nodes."""

from fractions import Fraction
from itertools import combinations, islice

import pytest

from tacit.errors import InvalidInput
from tacit.mechanisms import Triangles


def test_growth_is_exact_on_all_graphs_of_four_nodes() -> None:
    triangles, edges = Triangles(4), list(combinations(range(4), 2))
    graphs = [frozenset(g) for n in range(7) for g in combinations(edges, n)]
    value = {g: triangles.value(g) for g in graphs}
    assert value[frozenset(edges)] == 4
    local = {g: max(abs(value[g] - value[g ^ {e}]) for e in edges) for g in graphs}
    for g in graphs:
        for k, found in enumerate(islice(triangles.growth(g), 5)):
            near = [h for h in graphs if len(g ^ h) <= k]
            assert found == max(local[h] for h in near)
            assert triangles.local(g, k) >= max(abs(value[g] - value[h]) for h in near)
            assert triangles.down(g, k) >= max(value[g] - value[h] for h in near if h <= g)


def test_half_built_triangles_cost_one_edge_and_others_two() -> None:
    """A star: two leaves share one neighbour; its centre and a node apart share none, three nodes are joined to one."""
    triangles = Triangles(7)
    star = [(0, 2), (0, 3), (0, 4)]
    assert list(islice(triangles.growth(star), 8)) == [1, 1, 2, 3, 3, 4, 4, 5]


def test_edges_are_decided_one_by_one() -> None:
    triangles = Triangles(3)
    assert triangles.value([(0, 1), (1, 0), (1, 2), (2, 0), (2, 2), (5, 0), (-1, 2)]) == 1
    assert triangles.global_sensitivity == 1
    assert triangles.lattice == Fraction(1)
    with pytest.raises(InvalidInput, match="nodes"):
        Triangles(2)
    with pytest.raises(InvalidInput, match="nodes"):
        Triangles(10**6)
