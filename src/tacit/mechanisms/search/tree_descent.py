"""Tree descent: halve the grid again and again, each time keeping the half whose smallest loss looks smaller.

PROMISE  Pure(ε) for one draw with discrete Laplace noise, or Zcdp(ρ) with discrete Gaussian noise.

PROOF  At a node let q = (smallest loss of the left half) − (smallest loss of the right half), an integer that moves
by at most Δ = 2 for neighbours, by at most Δ = 1 if the loss is one-directional (both parts then move the same way).
Every root-to-leaf path has at most k = ⌈log2|Y|⌉ nodes. Going left when q + Z ≤ 0 is post-processing of q + Z:
discrete Laplace of rate ε/(kΔ) costs ε/k, discrete Gaussian of variance kΔ²/(2ρ) costs ρ/k, and adaptive composition
over k nodes gives the promise.

ACCURACY  A wrong turn to the left at a node with q > 0 costs q ≤ −Z, one to the right at q ≤ 0 costs −q < Z. The
noises are fresh and symmetric, so with probability at least (1 − P[Z ≥ w + 1])^k none costs more than w, and the
excess loss is at most k·w.

COST  k noises for a draw, and k tails for the probability of a value, on any finite grid: |Y| = 2^64 takes 64.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator
from fractions import Fraction

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.grid_law import GridLaw, excess_accuracy, finite_size
from tacit.mechanisms.law import Accuracy, Named
from tacit.noises import DiscreteGaussian, DiscreteLaplace, IntegerNoise
from tacit.numbers.enclosures import Enclosure
from tacit.numbers.exact import Number, between, positive
from tacit.randomness import Randomness


class TreeDescentLaw(GridLaw):
    """The law of the tree descent."""

    name = "tree descent"

    def __init__(self, loss: StepLoss, epsilon: Fraction | None, rho: Fraction | None) -> None:
        self.grid, self._loss = loss.grid, loss
        self.depth = (finite_size(loss.grid) - 1).bit_length()
        nodes, sensitivity = max(1, self.depth), 1 if loss.one_directional else 2
        self.noise: IntegerNoise
        if epsilon is not None:
            self.guarantee, self.noise = Pure(epsilon), DiscreteLaplace(epsilon / (nodes * sensitivity))
        elif rho is not None:
            self.guarantee, self.noise = Zcdp(rho), DiscreteGaussian(nodes * sensitivity**2 / (2 * rho))
        self._losses = [run.loss for run in loss.runs]
        self._lasts = [run.last for run in loss.runs if run.last is not None]
        self._first, self._last = self._lasts[0] - (loss.runs[0].length or 1) + 1, self._lasts[-1]

    def named(self) -> Named:
        """The noise at each node, how far what it looks at moves, and among what."""
        moved = str(sum(self._loss.moves))
        return {"law": "halving", **(self.noise.named() or {}), "sensitivity": moved, "of": self.grid.named()}

    def _smallest(self, first: int, last: int) -> int:
        """The smallest loss of the indices first..last."""
        return min(self._losses[bisect_left(self._lasts, first) : bisect_left(self._lasts, last) + 1])

    def _query(self, first: int, middle: int, last: int) -> int:
        return self._smallest(first, middle) - self._smallest(middle + 1, last)

    def _draw_index(self, source: Randomness) -> int:
        first, last = self._first, self._last
        while first < last:
            middle = (first + last) // 2
            if self._query(first, middle, last) + self.noise.draw(source) <= 0:
                last = middle
            else:
                first = middle + 1
        return first

    def _path(self, index: int, bits: int) -> Iterator[tuple[bool, Enclosure, Enclosure]]:
        """From the root to a leaf: whether the way goes right, and the probabilities of going left and right there."""
        first, last = self._first, self._last
        while first < last:
            middle = (first + last) // 2
            q = self._query(first, middle, last)
            # P[q + Z ≤ 0] = P[Z ≥ q] and P[q + Z > 0] = P[Z ≥ 1 − q], Z being symmetric
            left, right = (self.noise.tail(k, bits, sharp=True) for k in (q, 1 - q))
            yield index > middle, left, right
            first, last = (middle + 1, last) if index > middle else (first, middle)

    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        result = Enclosure.of(1, bits)
        for goes_right, left, right in self._path(index, bits + 16):
            result = result * (right if goes_right else left)
        return Enclosure.between(result, result, bits)

    def _cdf_at(self, index: int, bits: int) -> Enclosure:
        here, below = Enclosure.of(1, bits), Enclosure.of(0, bits)
        for goes_right, left, right in self._path(index, bits + 16):
            below = below + here * left if goes_right else below
            here = here * (right if goes_right else left)
        return (below + here).clamp(0, 1)

    def _parameters(self) -> Hashable:
        return self.noise

    def accuracy(self, beta: Number) -> Accuracy:
        """The largest excess loss (over the best value's) with probability at least 1 − β."""
        failure = between(beta, "beta", 0, 1)
        window = self.depth * self.noise.limit_of_all(self.depth, failure) if self.depth else 0
        return excess_accuracy(failure, window)


def tree_descent(loss: StepLoss, epsilon: Number | None = None, rho: Number | None = None) -> TreeDescentLaw:
    """A grid value found by noisy halving, with discrete Laplace noise (``epsilon``) or discrete Gaussian (``rho``)."""
    if (epsilon is None) == (rho is None):
        raise InvalidInput("give either epsilon or rho; epsilon means Laplace noise and rho Gaussian noise.")
    return TreeDescentLaw(
        loss,
        None if epsilon is None else positive(epsilon, "epsilon"),
        None if rho is None else positive(rho, "rho"),
    )
