"""The public rule by which a threshold scan picks the rates of its noises and its threshold.

Everything here depends on ε, the grid's size and β alone. `early` and `late` bound the two ways a scan can go wrong
(they are derived in `threshold_scan`); the window they leave is b + d − 1 with late(b) + early(d) ≤ β. The rule takes
the share of ε that pays for the threshold, in twentieths, and the threshold itself with the smallest window.

Where the walk has no end, the chance of still going after m more levels of loss 0 falls only like m^{-ε1/ε2}: the
rule then keeps ε1 ≥ 1.7·ε2, and a choice by hand must do so too or make P[ξ > c] at most 10^-6.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import NamedTuple

from tacit.grids import Grid
from tacit.noises import Lopsided
from tacit.numbers.enclosures import Enclosure

OPEN = 2**64
"""How many points stand for an open end when parameters and accuracy are stated."""

BETA = Fraction(1, 20)
"""The failure probability that parameters are chosen for unless another is given."""


_SHORT = 256
"""Bits after the point of a chance: e^{-ε} as a whole fraction would have as many digits as ε is large."""


class Rates(NamedTuple):
    """The rates of the two noises: ε1 of the threshold, ε2 of every comparison."""

    threshold: Fraction
    each: Fraction

    def early(self, size: int, need: int) -> Enclosure:
        """size·P[ν − ξ ≥ need]: a bound on the chance that one of ``size`` points of this need stops the walk."""
        return size * Lopsided(self.each, self.threshold).tail(need)

    def late(self, excess: int) -> Enclosure:
        """A bound on the chance to pass a point that needs −excess or less: P[ξ − ν > excess]."""
        return Lopsided(self.threshold, self.each).tail(excess + 1)

    def need_for(self, size: int, chance: Fraction) -> int:
        """The smallest need for which `early` is at most a chance."""
        return max(0, ceil(((self.early(size, 0) / chance).log() / self.each).high))

    def excess_for(self, chance: Fraction) -> int:
        """The smallest excess for which `late` is at most a chance."""
        return max(0, ceil(((self.late(0) / chance).log() / self.threshold).high))

    @property
    def ends(self) -> bool:
        """Whether a walk without end stops soon enough after it has reached loss 0: ε1 ≥ 1.7·ε2."""
        return self.threshold * 10 >= self.each * 17


def points(grid: Grid) -> int:
    """How many points the rule counts: the grid's size, or 2^64 where it is open."""
    return grid.size if isinstance(grid.size, int) else OPEN


def rates(total: Fraction, moves: tuple[int, int], share: Fraction) -> Rates:
    """ε1 and ε2 with ε1·max(r, s) = share·ε and ε2·(r + s) = (1 − share)·ε."""
    return Rates(share * total / max(moves), (1 - share) * total / sum(moves))


@lru_cache(maxsize=1024)
def best_share(total: Fraction, moves: tuple[int, int], size: int, endless: bool, failure: Fraction) -> Fraction:
    """The share of ε for the threshold, in twentieths, with the smallest window; the smallest of several."""
    found = {share: rates(total, moves, share) for share in (Fraction(i, 20) for i in range(1, 20))}
    allowed = {share: pair for share, pair in found.items() if not endless or pair.ends}
    return min(allowed, key=lambda share: (best_offset(allowed[share], size, True, failure)[0], share))


@lru_cache(maxsize=4096)
def best_offset(pair: Rates, size: int, up: bool, failure: Fraction) -> tuple[int, int]:
    """b + d as small as possible with late(b) + early(d) ≤ β, and the c that goes with it, the smallest of several.

    In the continuum the best has late(b) = β·ε2/(ε1 + ε2); whole numbers around it are tried.
    """
    centre = pair.excess_for(failure * pair.each / (pair.threshold + pair.each))
    found: list[tuple[int, int]] = []
    for excess in range(max(0, centre - 3), centre + 4):
        left = failure - Fraction(pair.late(excess).fixed(_SHORT)[1], 1 << _SHORT)
        if left > 0:
            need = pair.need_for(size, left)
            found.append((excess + need, excess if up else need))
    return min(found)
