"""The magnitude of the discrete Gaussian law, many draws at once.

Promise: draws z ≥ 0 with P[z] ∝ g(z) = e^{-z²/(2σ²)}, exactly, at any scale.

Why it holds: z is proposed from blocks iB ≤ z < (i+1)B, all of whose points get the weight g(iB) of the first, and kept
with probability g(z)/g(iB). A word below g((i+1)B)/g(iB) keeps any z of the block; B ≤ σ/256 makes that so for all but
about three in a thousand, which are decided one by one. Beyond M = NB ≥ 6σ the proposal is M plus a geometric of rate
M/σ², kept with probability e^{-(z−M)²/(2σ²)}, since z² = M² + 2M(z − M) + (z − M)²; the total weight of these proposals
is g(M)/(1 − e^{-M/σ²}).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from tacit.numbers.enclosures import exp
from tacit.randomness.arrays import Integers, categories, put_at
from tacit.randomness.basic import _coin_exp
from tacit.randomness.discrete import _geometric
from tacit.randomness.inversion import Inversion, Powers, Table, decay, shares
from tacit.randomness.source import Randomness

BLOCKS = 256
"""Blocks for each standard deviation, where σ is larger than that."""


class GaussianBlocks:
    """The law of |z| for a discrete Gaussian, with its tables."""

    def __init__(self, variance: Fraction) -> None:
        self._variance = variance
        sigma = isqrt(variance.numerator // variance.denominator)
        self._shift = max(0, (sigma // BLOCKS).bit_length() - 1)  # B = 2^shift
        self._count = (6 * (sigma + 1) >> self._shift) + 1
        self._start = self._count << self._shift  # M
        self._law = Inversion(self._tabulate)
        curvature = (1 << 2 * self._shift) / (2 * variance)  # g(iB) = e^{-curvature·i²}
        powers = Powers(curvature, 2 * self._count, 96)
        sure = [powers.at(2 * i + 1) >> 32 for i in range(self._count)]
        self._sure = np.array([*sure, 0], dtype=np.uint64)

    @staticmethod
    @lru_cache(maxsize=64)
    def of(variance: Fraction) -> GaussianBlocks:
        """The law with its tables, which are public facts and kept."""
        return GaussianBlocks(variance)

    def draws(self, size: int, source: Randomness) -> Integers:
        """``size`` independent magnitudes."""
        result: Integers = np.zeros(size, dtype=np.int64)
        pending = np.arange(size)
        while pending.size:
            block = categories(self._law, pending.size, source)
            drawn = self._points(block, source)
            keep = self._keep(block, drawn, source)
            for i in np.flatnonzero(block == self._count):
                far, keep[i] = self._beyond(source)
                drawn = put_at(drawn, np.array([i]), np.array([far], dtype=object if far >> 62 else np.int64))
            result = put_at(result, pending[keep], drawn[keep])
            pending = pending[~keep]
        return result

    def _points(self, block: NDArray[np.int64], source: Randomness) -> Integers:
        """A uniform point of each block."""
        if self._shift == 0:
            return block.copy()
        if self._shift <= 48:
            within: Integers = (source.words(block.size) >> np.uint64(64 - self._shift)).astype(np.int64)
        else:
            within = np.array([source.bits(self._shift) for _ in range(block.size)], dtype=object)
            block = block.astype(object)
        points: Integers = within + block * (1 << self._shift)
        return points

    def _keep(self, block: NDArray[np.int64], drawn: Integers, source: Randomness) -> NDArray[np.bool_]:
        """Whether each point is kept, with probability g(z)/g(iB)."""
        if self._shift == 0:
            return np.ones(block.size, dtype=np.bool_)
        words = source.words(block.size)
        keep = words < self._sure[block]
        for i in np.flatnonzero(~keep & (block < self._count)):
            z, first = int(drawn[i]), int(block[i]) << self._shift
            coin = Inversion(partial(_kept, (z * z - first * first) / (2 * self._variance)))
            keep[i] = coin.locate(int(words[i]), 64, source) == 0
        return keep

    def _beyond(self, source: Randomness) -> tuple[int, bool]:
        """A proposal beyond M, and whether it is kept."""
        n, d = self._variance.numerator, self._variance.denominator
        further = _geometric(self._start * d, n, source)
        return self._start + further, _coin_exp(further * further * d, 2 * n, source)

    def _tabulate(self, bits: int) -> Table:
        work = bits + 64 + 2 * self._start.bit_length()
        curvature = (1 << 2 * self._shift) / (2 * self._variance)
        powers = Powers(curvature, self._count**2, work)
        low = [powers.at(i * i) << self._shift for i in range(self._count)]
        high = [a + (powers.error << self._shift) for a in low]
        tail = exp(-curvature * self._count**2, work) / (1 - exp(-self._start / self._variance, work))
        tail_low, tail_high = tail.fixed(work)
        return shares(list(accumulate([*low, tail_low])), list(accumulate([*high, tail_high])), bits)


def _kept(x: Fraction, bits: int) -> Table:
    """A coin of probability e^{-x}."""
    low, high = decay(x, bits)
    return [low, 1 << bits], [high, 1 << bits]
