"""Noisy binary search: halve the grid T = ⌈log2|Y|⌉ times, each time by one noisy look at the loss.

PROMISE  With ``epsilon``: Pure(ε), every comparison with discrete Laplace noise of rate ε/T. With ``rho``: Zcdp(ρ),
every comparison with discrete Gaussian noise of variance T/(2ρ). The loss need not be one-directional.

PROOF  Whatever was compared before, the next comparison sees ℓ(y) + Z at a grid value y that the answers so far fix.
ℓ(y) has sensitivity 1, so this is (ε/T)-DP with Laplace noise and (ρ/T)-zCDP with Gaussian noise: the Rényi
divergence of order α between two discrete Gaussians one step apart is at most α/(2σ²) = αρ/T. No path makes more
than T comparisons, and T of them compose to ε or ρ. T is a whole number: charging log2|Y| would be too little.

THE SEARCH  Positions −1..|Y|−1, where −1 is a sentinel below the first value: it stands for "loss too large" and
lets the first value be returned. Keep low < high, at first −1 and |Y|−1; with t comparisons left look at
low + 2^(t−1), unless that is not below high. If ℓ + Z ≤ τ it becomes high, else low. At the end high = low + 1.

ACCURACY  For a loss that never rises along the grid and is 0 at its top. A comparison is wrong if it says "above τ"
at a loss of 0, or "at most τ" at a loss above w; at one value only one of the two can happen, and the noises are
fresh, so none is wrong with probability at least (1 − max(P[Z ≥ τ + 1], P[Z ≥ w + 1 − τ]))^T. Then high never has a
loss above w, and low has a loss above 0 or is the sentinel, so the answer is not above the lowest value of loss 0 and
has a loss of at most w. The target τ is the smallest with (1 − P[Z ≥ τ + 1])^T ≥ 1 − β, which gives w = 2τ.

COST  T draws of noise; the exact probability of a value is the product along its path, also on a grid of 2^64.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, Self

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.guarantees import Guarantee, Pure, Zcdp
from tacit.mechanisms.grid_law import GridLaw, finite_size
from tacit.mechanisms.law import Accuracy, Named
from tacit.mechanisms.search.scan_rates import BETA
from tacit.noises import DiscreteGaussian, DiscreteLaplace, IntegerNoise
from tacit.numbers.enclosures import Enclosure
from tacit.numbers.exact import Number, between, positive, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.randomness.source import Randomness


class _Look(NamedTuple):
    """One comparison on the way to a position."""

    position: int
    passed: bool
    """Whether the way goes on below, the loss having passed as small."""


class BinarySearchLaw(GridLaw):
    """The law of a noisy binary search."""

    name = "noisy binary search"

    def __init__(self, loss: StepLoss, noise: IntegerNoise, target: int, guarantee: Guarantee) -> None:
        self.grid, self.guarantee = loss.grid, guarantee
        self.noise, self.target = noise, target
        self.comparisons = comparisons(loss.grid)
        self._loss, self._first = loss, loss.grid.first or 0
        self._chance = lru_cache(maxsize=4096)(self._compute_chance)

    def named(self) -> Named:
        """The noise of each comparison, how far what it looks at moves, and among what."""
        times = {"times": str(max(1, self.comparisons))}
        return {"law": "looks", **(self.noise.named() or {}), "sensitivity": "1", **times, "of": self.grid.named()}

    def _compute_chance(self, position: int, passed: bool, bits: int) -> Enclosure:
        """The probability that the comparison at a position passes, or that it does not."""
        over = self._loss.at(self._first + position) - self.target
        return self.noise.tail(over if passed else 1 - over, bits, sharp=True)

    def _looks(self, wanted: int) -> Iterator[_Look]:
        """The comparisons that lead to a position."""
        low, high = -1, int(self.grid.size) - 1
        for left in range(self.comparisons, 0, -1):
            middle = low + (1 << (left - 1))
            if middle < high:
                yield _Look(middle, wanted <= middle)
                low, high = (low, middle) if wanted <= middle else (middle, high)

    def _draw_index(self, source: Randomness) -> int:
        low, high = -1, int(self.grid.size) - 1
        for left in range(self.comparisons, 0, -1):
            middle = low + (1 << (left - 1))
            if middle < high:
                small = self._loss.at(self._first + middle) + self.noise.draw(source) <= self.target
                low, high = (low, middle) if small else (middle, high)
        return self._first + high

    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        result = Enclosure.of(1, bits)
        for look in self._looks(index - self._first):
            result = result * self._chance(look.position, look.passed, bits)
        return result

    def _cdf_at(self, index: int, bits: int) -> Enclosure:
        below, reached = Enclosure.of(0, bits), Enclosure.of(1, bits)
        for look in self._looks(index - self._first):
            if not look.passed:  # all positions on the other side are lower ones
                below = below + reached * self._chance(look.position, True, bits)
            reached = reached * self._chance(look.position, look.passed, bits)
        return (below + reached).clamp(0, 1)

    def _parameters(self) -> Hashable:
        return self.noise, self.target

    def concentrated_loss(self, other: Self) -> Enclosure | None:
        """At most what the looks tell, of which the answer is a function: T times what one tells at the worst value."""
        each = self.noise.concentrated_loss(self._loss.distance(other._loss))
        return None if each is None else Enclosure.between(0, self.comparisons * each)

    def accuracy(self, beta: Number) -> Accuracy:
        """The window [smallest value of loss w, true value], for losses that fall to 0 along the grid."""
        failure = between(beta, "beta", 0, 1)
        reach = self.noise.limit_of_all(self.comparisons, failure)
        if reach > self.target:
            raise InvalidInput("beta must be above what the target allows; give a larger target or a larger beta.")
        window = self.target + reach
        statement = (
            "for a loss that falls to 0 along the grid the answer is not above the lowest value of loss 0 and its loss "
            f"is at most {window}, with probability at least {1 - failure}"
        )
        return Accuracy(failure, window, statement)


def comparisons(grid: Grid) -> int:
    """T = ⌈log2|Y|⌉ for a finite grid."""
    return (finite_size(grid) - 1).bit_length()


def laplace_look(epsilon: Fraction, count: int) -> DiscreteLaplace:
    """The noise of one of so many comparisons that cost ε together."""
    return DiscreteLaplace(epsilon / max(1, count))


def gaussian_look(rho: Fraction, count: int) -> DiscreteGaussian:
    """The noise of one of so many comparisons that cost ρ together."""
    return DiscreteGaussian(max(1, count) / (2 * rho))


def binary_search(
    loss: StepLoss,
    target: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    *,
    beta: Number = BETA,
) -> BinarySearchLaw:
    """The grid value at which the loss falls to about ``target``, by ⌈log2|Y|⌉ noisy comparisons.

    Give ``epsilon`` for Laplace noise or ``rho`` for Gaussian noise. The target follows the public rule for failure
    probability ``beta`` unless it is given.

    >>> from tacit.curves import StepLoss
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import binary_search
    >>> loss = StepLoss.from_losses(integers(0, 3), [3, 2, 1, 0], one_directional=True)
    >>> binary_search(loss, epsilon=1).guarantee
    Pure(1)
    """
    count, failure = comparisons(loss.grid), between(beta, "beta", 0, 1)
    noise: IntegerNoise
    guarantee: Guarantee
    if (epsilon is None) == (rho is None):
        raise InvalidInput("epsilon or rho must be given, not both; epsilon means Laplace noise, rho Gaussian noise.")
    if epsilon is not None:
        budget = positive(epsilon, "epsilon")
        noise, guarantee = laplace_look(budget, count), Pure(budget)
    elif rho is not None:
        budget = positive(rho, "rho")
        noise, guarantee = gaussian_look(budget, count), Zcdp(budget)
    tau = noise.limit_of_all(count, failure) if target is None else whole(target, "target", 0)
    return BinarySearchLaw(loss, noise, tau, guarantee)


def argue(p: Argument, *, rule: Any = laplace_look) -> None:
    """T comparisons of a loss that moves by at most 1, each at a place that those before it fix."""
    epsilon, count = p.positive("ε"), p.count("T")
    rate, move = rule(epsilon, count).rate, p.steps("move", -1, 1)
    p.promise(by.repeated(p, count, by.noise(p, move, rate, rate)), epsilon)


def argue_gaussian(p: Argument, *, rule: Any = gaussian_look) -> None:
    """The same with Gaussian noise."""
    rho, count = p.positive("ρ"), p.count("T")
    price = by.gaussian(p, p.steps("move", -1, 1), rule(rho, count).squared_scale)
    p.promise(by.repeated(p, count, price), rho)


_GIVEN = "a person moves the loss of every value by at most 1; a path has at most T comparisons"

PROOFS = (
    Proof("binary search with Laplace noise", "mechanisms.binary_search", "Pure(ε)", argue, _GIVEN),
    Proof("binary search with Gaussian noise", "mechanisms.binary_search", "Zcdp(ρ)", argue_gaussian, _GIVEN),
)
