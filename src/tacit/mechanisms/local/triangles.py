"""Triangles of a graph under edge privacy: neighbours are graphs that differ by one edge, on a public number of nodes.

The calculators of `sensitivities` apply, with "person" read as "edge": TRUSTED USE ONLY. What is released is private
for one edge, not for one person with all their edges; node privacy is what sessions with `person=["src", "dst"]`
give.

An edge between i and j closes a_ij triangles, a_ij the number of common neighbours. With b_ij nodes joined to exactly
one of the two, s further edges bring at most min(s, b_ij) new common neighbours at one edge each and the rest at two:

    A^(s) = max_{i<j} min(a_ij + ⌊(s + min(s, b_ij))/2⌋, nodes − 2).

COST  One pass over all pairs of nodes with binary numbers of as many digits as there are nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, count, islice

from tacit.errors import InvalidInput
from tacit.mechanisms.local.sensitivities import LocalStatistic
from tacit.numbers.exact import whole

Edges = Iterable[tuple[int, int]]
"""Pairs of nodes 0, …, nodes − 1; loops and nodes beyond are left out, repeated edges and directions count once."""

MOST_NODES = 5000
"""The largest graph whose pairs of nodes are walked."""


@dataclass(frozen=True)
class Triangles(LocalStatistic):
    """The number of triangles in a graph on ``nodes`` nodes, a public number."""

    nodes: int
    name = "number of triangles (edge privacy)"
    lattice = Fraction(1)

    def __post_init__(self) -> None:
        if not 3 <= whole(self.nodes, "nodes") <= MOST_NODES:
            raise InvalidInput(f"nodes must be from 3 to {MOST_NODES}; all pairs of nodes are looked at.")

    @property
    def window(self) -> tuple[Fraction, Fraction]:
        """From 0 on; the upper end only says where the window stops."""
        return Fraction(0), Fraction(64)

    @property
    def global_sensitivity(self) -> Fraction:
        """nodes − 2."""
        return Fraction(self.nodes - 2)

    def value(self, data: Edges) -> Fraction:
        """The number of triangles."""
        return Fraction(sum(_closed(self._rows(data))) // 3)

    def growth(self, data: Edges) -> Iterator[Fraction]:
        """A^(s) over the pairs that no other pair exceeds in both a and b."""
        front, most = self._front(self._rows(data)), self.nodes - 2
        for s in count():
            yield Fraction(min(most, max(a + (s + min(s, b)) // 2 for a, b in front)))

    def reach(self, data: Edges, k: int) -> tuple[Fraction, Fraction]:
        """Bounds: every edge moves the number by at most the local sensitivity where it is."""
        edges = list(data)
        value, moved = self.value(edges), sum(islice(self.growth(edges), k), Fraction(0))
        return max(Fraction(0), value - moved), value + moved

    def fall(self, data: Edges, k: int) -> tuple[Fraction, Fraction]:
        """Bounds: no k edges close more triangles than the k that close most."""
        edges = list(data)
        closed = sorted(_closed(self._rows(edges)), reverse=True)
        value = self.value(edges)
        return max(Fraction(0), value - sum(closed[:k])), value

    def _rows(self, data: Edges) -> list[int]:
        """For each node the binary number whose ones are its neighbours."""
        rows = [0] * self.nodes
        for i, j in data:
            if i != j and 0 <= i < self.nodes and 0 <= j < self.nodes:
                rows[i] |= 1 << j
                rows[j] |= 1 << i
        return rows

    def _front(self, rows: list[int]) -> list[tuple[int, int]]:
        best: dict[int, int] = {}
        for i, j in combinations(range(self.nodes), 2):
            a = (rows[i] & rows[j]).bit_count()
            b = ((rows[i] ^ rows[j]) & ~(1 << i | 1 << j)).bit_count()
            if b > best.get(a, -1):
                best[a] = b
        front: list[tuple[int, int]] = []
        for a in sorted(best, reverse=True):
            if not front or best[a] > front[-1][1]:
                front.append((a, best[a]))
        return front


def _closed(rows: list[int]) -> list[int]:
    """For each edge, how many triangles it closes."""
    return [(row & rows[j]).bit_count() for i, row in enumerate(rows) for j in range(i + 1, len(rows)) if row >> j & 1]
