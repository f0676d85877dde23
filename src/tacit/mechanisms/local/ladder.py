"""Ladders: a statistic given with what it can become within 1, 2, 3, … persons. TRUSTED USE ONLY, as `sensitivities`.

A ladder is a list of an odd number of rungs, L_{-R} ≤ … ≤ L_0 ≤ … ≤ L_R, of which the middle one is the statistic, with

    L_{j-1}(x) ≤ L_j(x') ≤ L_{j+1}(x)   for neighbours x, x', wherever the rungs exist.

So a quantile of weighted rows has one (`tacit.tables.statistics.local_quantiles`), which an engine finds without
sorting persons. Within k persons of x the statistic and its neighbours lie between rungs −k−1 and k+1, so

    U_k = max(L_{k+1} − L_{-k}, L_k − L_{-k-1}),   and the whole range from k = R on,

bounds the local sensitivity at distance k: for x' within k persons L_0(x') ≥ L_{-k}(x) and its neighbours are at most
L_1(x') ≤ L_{k+1}(x), and likewise below. It never falls as k grows, and U_k(x) ≤ U_{k+1}(x') by the same steps. That is
all that smooth sensitivity and propose-test-release ask for.

The difference of the middle rungs of two ladders, as an interquartile range is one, moves by at most what both move:
the sum of the two bounds, which inherits both properties.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import repeat

from tacit.mechanisms.local.sensitivities import Ranged
from tacit.mechanisms.person_values import span

Rungs = Sequence[Fraction]


@dataclass(frozen=True)
class Ladder(Ranged):
    """The middle rung of a ladder of values in a public range."""

    name: str = "ladder"
    exact = False

    def value(self, data: Rungs) -> Fraction:
        """The middle rung."""
        return data[len(data) // 2]

    def growth(self, data: Rungs) -> Iterator[Fraction]:
        """U_k."""
        middle = len(data) // 2
        for k in range(middle):
            up, down = middle + k, middle - k
            yield max(data[up + 1] - data[down], data[up] - data[down - 1])
        yield from repeat(self.global_sensitivity)

    def reach(self, data: Rungs, k: int) -> tuple[Fraction, Fraction]:
        """Rungs −k and k, or the range."""
        middle = len(data) // 2
        return (data[middle - k], data[middle + k]) if k <= middle else self.window

    def fall(self, data: Rungs, k: int) -> tuple[Fraction, Fraction]:
        """No better than `reach`: a ladder does not say who was removed."""
        return self.reach(data, k)


@dataclass(frozen=True)
class LadderDifference(Ranged):
    """The middle rung of one ladder less that of another, of values in a public range; never below zero."""

    name: str = "difference of ladders"
    exact = False

    @property
    def window(self) -> tuple[Fraction, Fraction]:
        """From 0 to the length of the range."""
        return Fraction(0), self.global_sensitivity

    @property
    def global_sensitivity(self) -> Fraction:
        """The length of the range."""
        low, high = span(self.low, self.high)
        return high - low

    @property
    def _one(self) -> Ladder:
        return Ladder(self.low, self.high)

    def value(self, data: Sequence[Rungs]) -> Fraction:
        """The upper less the lower one."""
        lower, upper = data
        return max(Fraction(0), self._one.value(upper) - self._one.value(lower))

    def growth(self, data: Sequence[Rungs]) -> Iterator[Fraction]:
        """The sum of both bounds, at most the range."""
        lower, upper = map(self._one.growth, data)
        return (min(a + b, self.global_sensitivity) for a, b in zip(lower, upper, strict=True))

    def reach(self, data: Sequence[Rungs], k: int) -> tuple[Fraction, Fraction]:
        """Bounds, from what both reach."""
        (a, b), (c, d) = (self._one.reach(rungs, k) for rungs in data)
        return max(Fraction(0), c - b), d - a

    def fall(self, data: Sequence[Rungs], k: int) -> tuple[Fraction, Fraction]:
        """No better than `reach`."""
        return self.reach(data, k)
