"""The category in which a uniform real falls, from integer bounds refined on demand.

Promise: given the ends 0 = C_0 ≤ C_1 ≤ … ≤ C_n = 1 of consecutive intervals, category i (from 0) is drawn with
probability exactly C_{i+1} − C_i. Why: the draw is the i with C_i ≤ U < C_{i+1} for one uniform real U. U is known to
some bits, every C_i·2^bits by an integer below and one above; where they do not decide i, both are refined, and U keeps
the bits it has. So what is decided never depends on the precision one began with.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction

from tacit.numbers.enclosures import exp
from tacit.randomness.source import Randomness

Table = tuple[list[int], list[int]]
"""Integers below and above C_i·2^bits for i = 1, …, n; the last of each is 2^bits."""


class Inversion:
    """The law of the category of a uniform real, given tables of the categories' ends at any precision."""

    __slots__ = ("_tables", "_tabulate", "start")

    def __init__(self, tabulate: Callable[[int], Table], start: int = 64) -> None:
        self._tabulate, self.start = tabulate, start
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

    def draw(self, source: Randomness) -> int:
        """The category of a fresh uniform real."""
        return self.locate(source.bits(self.start), self.start, source)

    def locate(self, known: int, bits: int, source: Randomness) -> int:
        """The category of a uniform real whose first ``bits`` bits are ``known``, the others still to be drawn."""
        while True:
            below, above = self.table(bits)
            category = bisect_right(above, known)
            if known < below[category]:  # above[category − 1] ≤ known and known + 1 ≤ below[category]
                return category
            known = known << bits | source.bits(bits)
            bits *= 2


def shares(low: list[int], high: list[int], bits: int) -> Table:
    """The table of the ends C_i = S_i/S_n, given integers low_i ≤ S_i ≤ high_i that enclose cumulative sums.

    S_i/S_n = S_i/(S_i + rest_i) lies between low_i/(low_i + highest rest_i) and high_i/(high_i + lowest rest_i).
    """
    ends = list(zip(low, high, strict=True))
    lowest, highest = ends[-1]
    below = [(a << bits) // (a + highest - b) if a else 0 for a, b in ends]
    above = [-(-(b << bits) // (b + lowest - a)) for a, b in ends]
    return below, above


def decay(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers (a, b) with a ≤ e^{-x}·2^bits ≤ b, for x ≥ 0."""
    if x > bits:  # e^{-bits} < 2^-bits
        return 0, 1
    low, high = exp(-x, bits + 8).fixed(bits)
    return low, min(high, 1 << bits)


class Powers:
    """e^{-γn} in fixed point, for integers n ≥ 0, from one enclosure for each base-256 digit of n.

    `at(n)` is an integer with at(n) ≤ e^{-γn}·2^bits ≤ at(n) + error. A product of two factors in [0, 1] that are low
    by at most a and b units is low by at most a + b + 2: one unit is lost by the floor and ab/2^bits ≤ 1.
    """

    def __init__(self, gamma: Fraction, largest: int, bits: int) -> None:
        self._bits = bits
        self._digits: list[tuple[int, list[int]]] = []
        self.error = 0
        for place in range(0, max(1, largest.bit_length()), 8):
            low, high = decay(gamma * (1 << place), bits)
            self._digits.append((low, [1 << bits]))
            self.error += 256 * (high - low + 2)

    def at(self, n: int) -> int:
        """An integer at most ``error`` below e^{-γn}·2^bits."""
        result = 1 << self._bits
        for ratio, powers in self._digits:
            if digit := n & 255:
                while len(powers) <= digit:
                    powers.append(powers[-1] * ratio >> self._bits)
                result = result * powers[digit] >> self._bits
            n >>= 8
            if not n:
                break
        return result
