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
from typing import Any

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.grid_law import GridLaw, excess_accuracy, finite_size
from tacit.mechanisms.law import Accuracy, Named
from tacit.noises import DiscreteGaussian, DiscreteLaplace, IntegerNoise
from tacit.numbers.enclosures import Enclosure
from tacit.numbers.exact import Number, between, positive
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.randomness import Randomness


def laplace_node(epsilon: Fraction, depth: int, sensitivity: int) -> DiscreteLaplace:
    """The noise of one of so many nodes that cost ε together."""
    return DiscreteLaplace(epsilon / (max(1, depth) * sensitivity))


def gaussian_node(rho: Fraction, depth: int, sensitivity: int) -> DiscreteGaussian:
    """The noise of one of so many nodes that cost ρ together."""
    return DiscreteGaussian(max(1, depth) * sensitivity**2 / (2 * rho))


class TreeDescentLaw(GridLaw):
    """The law of the tree descent."""

    name = "tree descent"

    def __init__(self, loss: StepLoss, epsilon: Fraction | None, rho: Fraction | None) -> None:
        self.grid, self._loss = loss.grid, loss
        self.depth = (finite_size(loss.grid) - 1).bit_length()
        sensitivity = 1 if loss.one_directional else 2
        self.noise: IntegerNoise
        if epsilon is not None:
            self.guarantee, self.noise = Pure(epsilon), laplace_node(epsilon, self.depth, sensitivity)
        elif rho is not None:
            self.guarantee, self.noise = Zcdp(rho), gaussian_node(rho, self.depth, sensitivity)
        self._losses = [run.loss for run in loss.runs]
        self._lasts = [run.last for run in loss.runs if run.last is not None]
        self._first, self._last = self._lasts[0] - (loss.runs[0].length or 1) + 1, self._lasts[-1]

    def named(self) -> Named:
        """The noise at each node, how far what it looks at moves, and among what."""
        moved = str(sum(self._loss.moves))
        facts = {"sensitivity": moved, "times": str(max(1, self.depth)), "of": self.grid.named()}
        return {"law": "looks", **(self.noise.named() or {}), **facts}

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
    """A grid value found by noisy halving, with discrete Laplace noise (``epsilon``) or discrete Gaussian (``rho``).

    >>> from tacit.curves import StepLoss
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import tree_descent
    >>> loss = StepLoss.from_losses(integers(0, 3), [3, 1, 0, 2])
    >>> tree_descent(loss, epsilon=1).guarantee
    Pure(1)
    """
    if (epsilon is None) == (rho is None):
        raise InvalidInput("give either epsilon or rho; epsilon means Laplace noise and rho Gaussian noise.")
    return TreeDescentLaw(
        loss,
        None if epsilon is None else positive(epsilon, "epsilon"),
        None if rho is None else positive(rho, "rho"),
    )


def _query_moves(p: Argument) -> Iterator[tuple[int, Any]]:
    """The sensitivity charged, and the move of a node's query: the difference of the smallest losses of two halves."""
    for name, low, high in (("any loss", -1, 1), ("one-directional, a person added", 0, 1), ("removed", -1, 0)):
        with p.case(name):
            yield high - low, by.extreme(p, "left", low, high) - by.extreme(p, "right", low, high)


def argue(p: Argument, *, rule: Any = laplace_node) -> None:
    """A path of nodes, each with noise on its query."""
    epsilon, depth = p.positive("ε"), p.count("depth")
    for sensitivity, move in _query_moves(p):
        rate = rule(epsilon, depth, sensitivity).rate
        p.promise(by.repeated(p, depth, by.noise(p, move, rate, rate)), epsilon)


def argue_gaussian(p: Argument, *, rule: Any = gaussian_node) -> None:
    """The same with Gaussian noise."""
    rho, depth = p.positive("ρ"), p.count("depth")
    for sensitivity, move in _query_moves(p):
        price = by.gaussian(p, move, rule(rho, depth, sensitivity).squared_scale)
        p.promise(by.repeated(p, depth, price), rho)


_GIVEN = "adding a person moves every loss by something in [−1, 1], or in [0, 1]; a path has at most `depth` nodes"

PROOFS = (
    Proof("tree descent with Laplace noise", "mechanisms.tree_descent", "Pure(ε)", argue, _GIVEN),
    Proof("tree descent with Gaussian noise", "mechanisms.tree_descent", "Zcdp(ρ)", argue_gaussian, _GIVEN),
)
