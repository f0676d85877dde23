"""Blocks of bins with a tree over each, and the least-squares fit of the bins to the noisy nodes.

A *block* is a number of neighbouring bins. Level l of its tree cuts it into *nodes* of ``sizes[l]`` bins each, the last
one shorter where the block ends; level 0 has the bins themselves. A node is released when its last bin is.

FIT  The bins x̂ minimise Σ_nodes p·(y − Σ_{i in node} x_i)², with p one over the variance of the node's noise. Nodes
lie inside each other or apart, so with M = Σ_nodes p·1·1ᵀ every M⁻¹q is one walk up the levels: where M₀ is the matrix
of the levels below, x₀ = M₀⁻¹q, u = M₀⁻¹1, s = 1ᵀu and t = 1ᵀx₀ inside a node, M⁻¹q = x₀ − u·p·t/(1 + p·s) and M⁻¹1 =
u/(1 + p·s) there (Sherman and Morrison). The total of the bins in a range, with q = 1 in the range, is off by Σ c·Z
over the nodes, with the public coefficients c = p·Σ_{i in node} (M⁻¹q)_i, and its variance is qᵀM⁻¹q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """Neighbouring bins and the tree over them."""

    bins: int
    """How many it has room for."""
    sizes: tuple[int, ...]
    """How many bins a node of each level has; the first is 1."""
    weights: tuple[Fraction, ...]
    """What each level takes of what is spent on the block; they add up to 1."""

    def __post_init__(self) -> None:
        if len(self.sizes) != len(self.weights) or self.sizes[0] != 1 or sum(self.weights) != 1 or self.bins < 1:
            raise ValueError("a block needs a size and a weight for each level.")

    def complete(self, level: int, done: int) -> int:
        """How many nodes of a level are complete once so many bins are there."""
        size = self.sizes[level]
        return -(-done // size) if done == self.bins else done // size

    def totals(self, values: Sequence[int], before: int) -> list[list[int]]:
        """For each level the totals of the nodes that were not complete ``before`` and are with these bins."""
        done, found = len(values), []
        for level, size in enumerate(self.sizes):
            new = range(self.complete(level, before), self.complete(level, done))
            found.append([sum(values[node * size : (node + 1) * size]) for node in new])
        return found


@dataclass(frozen=True)
class Fit:
    """The bins of one block that fit its noisy nodes best."""

    block: Block
    done: int
    """How many of its bins are there."""
    variances: tuple[float, ...]
    """That of the noise on a node of each level."""

    def _solved(self, right: Numbers) -> Numbers:
        """M⁻¹q."""
        import numpy as np

        found, one = right / (1 / self.variances[0]), np.full(self.done, self.variances[0])
        for level in range(1, len(self.block.sizes)):
            size, precision = self.block.sizes[level], 1 / self.variances[level]
            whole = self.done // size
            _lift(found[: whole * size].reshape(whole, size), one[: whole * size].reshape(whole, size), precision)
            if self.block.complete(level, self.done) > whole:
                _lift(found[whole * size :].reshape(1, -1), one[whole * size :].reshape(1, -1), precision)
        return found

    def bins(self, totals: Sequence[Sequence[int]]) -> list[float]:
        """The bins, from the noisy total of every complete node."""
        import numpy as np

        right = np.zeros(self.done)
        for level, noisy in enumerate(totals):
            size = self.block.sizes[level]
            for node, total in enumerate(noisy):
                right[node * size : (node + 1) * size] += float(total) / self.variances[level]
        found: list[float] = self._solved(right).tolist()
        return found

    def error(self, first: int, after: int) -> tuple[float, list[float]]:
        """The variance of the total of bins ``first`` to ``after``, and the largest coefficient of each level."""
        import numpy as np

        wanted = np.zeros(self.done)
        wanted[first:after] = 1
        found = self._solved(wanted.copy())
        largest = []
        for level, size in enumerate(self.block.sizes):
            count = self.block.complete(level, self.done)
            sums = np.add.reduceat(found[: count * size], range(0, count * size, size)) if count else np.zeros(1)
            largest.append(float(np.abs(sums).max()) / self.variances[level])
        return float(wanted @ found), largest


def _lift(found: Numbers, one: Numbers, precision: float) -> None:
    """M⁻¹q and M⁻¹1 with the nodes of one more level, a row for each."""
    below = one.sum(axis=1, keepdims=True)
    scale = 1 + precision * below
    found -= one * (found.sum(axis=1, keepdims=True) * precision / scale)
    one /= scale
