"""Maximum flows against a plain augmenting-path oracle, with capacities far beyond what the solver can count."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.flows import maxflow
from tacit.flows.maxflow import max_flow

Edge = tuple[int, int, int]


def slow_flow(size: int, edges: list[Edge]) -> tuple[int, set[int]]:
    """Shortest augmenting paths in Python integers; node 0 is the source and 1 the sink."""
    room: dict[tuple[int, int], int] = {}
    for tail, head, capacity in edges:
        room[tail, head] = room.get((tail, head), 0) + capacity
        room.setdefault((head, tail), 0)
    total = 0
    while True:
        before, queue = {0: 0}, deque([0])
        while queue and 1 not in before:
            node = queue.popleft()
            for head in range(size):
                if head not in before and room.get((node, head), 0) > 0:
                    before[head] = node
                    queue.append(head)
        if 1 not in before:
            return total, set(before)
        path, node = [], 1
        while node:
            path.append((before[node], node))
            node = before[node]
        amount = min(room[step] for step in path)
        for tail, head in path:
            room[tail, head] -= amount
            room[head, tail] += amount
        total += amount


def fast_flow(size: int, edges: list[Edge]) -> tuple[int, set[int]]:
    columns = [np.array([edge[i] for edge in edges] or [], dtype=object) for i in range(3)]
    capacity = columns[2] if sum(columns[2]) >= 2**61 else columns[2].astype(np.int64)
    value, reached = max_flow(size, columns[0].astype(np.int64), columns[1].astype(np.int64), capacity, 0, 1)
    return value, set(np.flatnonzero(reached).tolist())


def edges(largest: int) -> st.SearchStrategy[list[Edge]]:
    edge = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, largest)).filter(lambda e: e[0] != e[1])
    return st.lists(edge, max_size=16)


@pytest.mark.parametrize("largest", [3, 2**31, 2**33, 2**62, 2**90])
@settings(max_examples=40)
@given(data=st.data())
def test_value_and_cut_are_exact_at_any_size(largest: int, data: st.DataObject) -> None:
    listed = data.draw(edges(largest))
    assert fast_flow(6, listed) == slow_flow(6, listed)


@pytest.mark.parametrize("capacity", [2**31 - 1, 2**31, 2**31 + 1, 2**32 + 5, 2**63, 2**64 - 1])
def test_around_the_edge_of_32_and_64_bits(capacity: int) -> None:
    diamond = [(0, 2, capacity), (0, 3, capacity - 1), (2, 3, 1), (2, 1, capacity - 1), (3, 1, capacity)]
    assert fast_flow(4, diamond)[0] == 2 * capacity - 1


def test_coarse_units_are_followed_by_finer_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    # With three bits at a time even these small flows take several rounds.
    monkeypatch.setattr(maxflow, "BITS", 3)
    rng = np.random.default_rng(11)
    for _ in range(60):
        pairs = [(a, b) for a in range(6) for b in range(6) if a != b and rng.random() < 0.5]
        listed = [(a, b, int(rng.integers(0, 1000))) for a, b in pairs]
        assert fast_flow(6, listed) == slow_flow(6, listed)
