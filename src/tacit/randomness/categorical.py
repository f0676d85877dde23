"""One of finitely many categories, with weights that are never rounded.

Promise: `Categorical(weights, gamma)` draws i with probability exactly m_i·e^{-γk_i}/Σ_j m_j·e^{-γk_j}.

Why it holds: the draw is the category i with C_{i-1} ≤ U < C_i for one uniform real U, C_i the share of the first i
weights. U is known to some bits, every C_i·2^bits by an integer below and one above it (from one enclosure of e^{-γ}); if they
do not yet decide i, both are refined, U keeping the bits it has. What is decided never depends on how precisely one began.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import cast

from tacit.enclosures import BITS, Enclosure, exp
from tacit.errors import InvalidInput
from tacit.exact import Number, non_negative, whole
from tacit.randomness.source import SYSTEM, Source

Table = tuple[list[int], list[int]]
"""Integers below and above C_i·2^bits, i = 1, …, n; the last of each is 2^bits."""


class Inversion:
    """The law of the category in which a uniform real falls, given tables of its ends at any precision."""

    __slots__ = ("_start", "_tables", "_tabulate")

    def __init__(self, tabulate: Callable[[int], Table], start: int = 64) -> None:
        self._tabulate, self._start = tabulate, start
        self._tables: dict[int, Table] = {}

    def table(self, bits: int) -> Table:
        """The ends at this precision."""
        if bits not in self._tables:
            self._tables[bits] = self._tabulate(bits)
        return self._tables[bits]

    @property
    def precisions(self) -> tuple[int, ...]:
        """The precisions tabulated so far."""
        return tuple(self._tables)

    def draw(self, source: Source) -> int:
        """The category of a fresh uniform real."""
        bits = self._start
        return self.locate(source.bits(bits), bits, source)

    def locate(self, known: int, bits: int, source: Source) -> int:
        """The category of a uniform real whose first ``bits`` bits are ``known``, the others still to be drawn."""
        while True:
            below, above = self.table(bits)
            category = bisect_right(above, known)
            if known < below[category]:  # so above[category − 1] ≤ known and known + 1 ≤ below[category]
                return category
            known = known << bits | source.bits(bits)
            bits *= 2


class Categorical:
    """Category i with probability ∝ m_i·e^{-γk_i}, weights given as pairs (m_i, k_i) of integers, m_i ≥ 0."""

    __slots__ = ("_inversion", "_multiples", "_order", "gamma")

    gamma: Fraction

    def __init__(self, weights: Sequence[tuple[int, int]], gamma: Number, start_bits: int = 64) -> None:
        """``start_bits`` is the precision a draw begins with; it changes the work, never the law."""
        self.gamma = non_negative(gamma, "gamma")
        pairs = [(whole(m, "weights", 0), whole(k, "weights")) for m, k in weights]
        order = sorted((k, i) for i, (m, k) in enumerate(pairs) if m)
        if not order:
            raise InvalidInput("weights must contain a positive one; give at least one pair (m, k) with m above 0.")
        first = order[0][0]
        self._order = [i for _, i in order]
        self._multiples = [(pairs[i][0], k - first) for k, i in order]
        self._inversion = Inversion(self._tabulate, whole(start_bits, "start_bits", 1))

    def draw(self, source: Source = SYSTEM) -> int:
        """The index of one category."""
        return cast(int, source.mark(self._order[self._inversion.draw(source)]))

    def pmf(self, index: int, bits: int = BITS) -> Enclosure:
        """An enclosure of the probability of one category."""
        if index not in self._order:
            return Enclosure(0, 0, 0, bits)
        place = self._order.index(index)
        below, above = self._inversion.table(bits)
        if place == 0:
            return Enclosure(below[0], above[0], -bits, bits)
        return Enclosure(max(0, below[place] - above[place - 1]), above[place] - below[place - 1], -bits, bits)

    @property
    def precisions(self) -> tuple[int, ...]:
        """The precisions (bits) tabulated so far: more than one where a draw was refined."""
        return self._inversion.precisions

    def _tabulate(self, bits: int) -> Table:
        """Cumulative shares in fixed point, walking from the heaviest level e^{-γ·0} = 1 down."""
        work = bits + 16 + len(self._multiples).bit_length()
        low = high = 1 << work
        powers: dict[int, tuple[int, int]] = {}
        sums_low, sums_high = [0], [0]
        level = 0
        for multiple, k in self._multiples:
            if k != level:
                step = k - level
                if step not in powers:
                    powers[step] = exp(-self.gamma * step, work).fixed(work)
                down, up = powers[step]
                low, high, level = low * down >> work, -(-high * up >> work), k
            sums_low.append(sums_low[-1] + multiple * low)
            sums_high.append(sums_high[-1] + multiple * high)
        # C_i/C_n lies between low_i/(low_i + rest_high) and high_i/(high_i + rest_low)
        total_low, total_high = sums_low[-1], sums_high[-1]
        below = [(low << bits) // (low + total_high - high) for low, high in zip(sums_low[1:], sums_high[1:])]
        above = [-(-(high << bits) // (high + total_low - low)) for low, high in zip(sums_low[1:], sums_high[1:])]
        return below, above


def categorical(weights: Sequence[tuple[int, int]], gamma: Number, *, source: Source = SYSTEM) -> int:
    """The index of one category, drawn with probability ∝ m·e^{-γk} for each pair (m, k)."""
    return Categorical(weights, gamma).draw(source)
