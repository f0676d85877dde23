"""Small sets of rows that touch persons, drawn and enumerated, and slow oracles that share no code with the room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import ceil

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from tacit.flows import Incidences


@dataclass(frozen=True)
class Hypergraph:
    """Rows of (weight, persons as listed, value)."""

    rows: tuple[tuple[int, tuple[int, ...], int], ...]

    @property
    def lists(self) -> Incidences:
        starts = np.cumsum([0, *(len(persons) for _, persons, _ in self.rows)])
        persons = [u for _, row, _ in self.rows for u in row]
        return Incidences.from_lists(np.array([w for w, _, _ in self.rows] or [], dtype=object), starts, persons)

    @property
    def values(self) -> list[int]:
        return [value for _, _, value in self.rows]

    @property
    def persons(self) -> list[int]:
        return sorted({u for _, row, _ in self.rows for u in row})

    def without(self, gone: frozenset[int]) -> Hypergraph:
        """The neighbouring data without these persons and their rows."""
        return Hypergraph(tuple(row for row in self.rows if not gone & set(row[1])))

    @property
    def live(self) -> list[tuple[int, frozenset[int], int]]:
        return [(w, frozenset(row), value) for w, row, value in self.rows if w > 0 and row]


def hypergraphs(
    touched: int = 3, persons: int = 5, rows: int = 7, weight: int = 4, values: int = 3
) -> st.SearchStrategy[Hypergraph]:
    """Rows that touch 0 to ``touched`` persons (perhaps the same one twice), weights from 0."""
    row = st.tuples(
        st.integers(0, weight),
        st.lists(st.integers(0, persons - 1), max_size=touched).map(tuple),
        st.integers(0, values - 1),
    )
    return st.lists(row, max_size=rows).map(lambda listed: Hypergraph(tuple(listed)))


def true_profile(graph: Hypergraph, statistic: str, removals: int) -> list[int]:
    """The true D_0, … by trying every set of persons."""
    best = []
    for j in range(removals + 1):
        sets = combinations(graph.persons, min(j, len(graph.persons)))
        best.append(min(true_value(graph.without(frozenset(gone)), statistic) for gone in sets))
    return best


def true_value(graph: Hypergraph, statistic: str) -> int:
    rows = graph.live
    if statistic == "sum":
        return sum(w for w, _, _ in rows)
    if statistic == "distinct":
        return len({value for _, _, value in rows})
    if statistic == "frequency":
        return max((sum(w for w, _, v in rows if v == value) for value in graph.values), default=0)
    assert statistic == "degree"
    return max((sum(w for w, row, _ in rows if u in row) for u in graph.persons), default=0)


def relaxed(graph: Hypergraph, statistic: str, removals: int) -> float:
    """D̃_j by the linear program over removals x and what is left y of each row."""
    return _relaxed(tuple(graph.live), statistic, removals)


def relaxed_up(graph: Hypergraph, statistic: str, removals: int) -> int:
    """D̃_j rounded up; a float close to a whole number counts as that number."""
    return ceil(relaxed(graph, statistic, removals) - 1e-7)


@lru_cache(maxsize=100_000)
def _relaxed(rows: tuple[tuple[int, frozenset[int], int], ...], statistic: str, removals: int) -> float:
    if not rows:
        return 0.0
    persons = sorted({u for _, row, _ in rows for u in row})
    n, m = len(persons), len(rows)
    if statistic == "sum":
        groups: list[tuple[int, ...]] = [(i,) for i in range(m)]
    elif statistic == "degree":
        groups = [tuple(i for i, row in enumerate(rows) if u in row[1]) for u in persons]
    else:
        groups = [tuple(i for i, row in enumerate(rows) if row[2] == v) for v in sorted({row[2] for row in rows})]
    extra = {"sum": 0, "distinct": len(groups), "frequency": 1, "degree": 1}[statistic]
    cost = np.zeros(n + m + extra)
    cost[n + m :] = 1
    lines, limits = [], []

    def add(entries: dict[int, float], limit: float) -> None:
        line = np.zeros(n + m + extra)
        for place, entry in entries.items():
            line[place] = entry
        lines.append(line)
        limits.append(limit)

    for i, (_, row, _) in enumerate(rows):
        add({persons.index(u): -1.0 for u in row} | {n + i: -1.0}, -1.0)
    add(dict.fromkeys(range(n), 1.0), removals)
    if statistic == "sum":
        cost[n : n + m] = [w for w, _, _ in rows]
    for g, group in enumerate(groups):
        if statistic == "distinct":
            for i in group:
                add({n + i: 1.0, n + m + g: -1.0}, 0.0)
        if statistic in ("frequency", "degree"):
            add({n + i: float(rows[i][0]) for i in group} | {n + m: -1.0}, 0.0)
    answer = linprog(cost, A_ub=np.array(lines), b_ub=limits, bounds=(0, None), method="highs").fun
    assert answer is not None
    return float(answer)


def half_integral(graph: Hypergraph, cap: Fraction) -> Fraction:
    """L(cap) of a sum over rows that touch at most two persons, exactly: some optimal removal takes halves only."""
    persons, halves = graph.persons, (Fraction(0), Fraction(1, 2), Fraction(1))
    best = None
    for x in product(halves, repeat=len(persons)):
        removed = dict(zip(persons, x, strict=True))
        left = sum((w * max(Fraction(0), 1 - sum(removed[u] for u in row)) for w, row, _ in graph.live), Fraction(0))
        value = left + cap * sum(x)
        best = value if best is None else min(best, value)
    assert best is not None
    return best


def small_graphs(persons: int) -> Iterator[Hypergraph]:
    """Every graph on so many nodes, each edge a row of weight 1."""
    pairs = list(combinations(range(persons), 2))
    for chosen in product((False, True), repeat=len(pairs)):
        yield Hypergraph(tuple((1, pair, 0) for pair, kept in zip(pairs, chosen, strict=True) if kept))
