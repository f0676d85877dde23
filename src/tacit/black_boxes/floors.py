"""The wrapper: any function's answer, private, from its values on subsets of the persons.

PROMISE  Pure(ε), or Approx(ε, δ) where a δ is given, for one draw of (n̂, y): a noisy number of persons and a value of
the grid, when one person is added or removed. f is any function from groups of persons into the grid; nothing is
assumed about it. Where the number of persons is public, the same for one draw of y when one person is replaced.

PROOF  Two steps, ε = ε1 + ε2, the second for every outcome of the first.
1. n̂ = |x| + Z with Z discrete Laplace, Pure(ε1), or truncated to ±R, Approx(ε1, δ). The floor is k = n̂ − m, m public.
2. For a *fixed* k let g(z) = max{ f(s) : s ⊆ z, |s| ≥ k }, the grid's bottom where z has fewer than k persons. A
   larger z has all subsets of a smaller one, so g is monotone, and its down profile D_j(x) = min{ g(x') : x' ⊆ x, at
   most j removed } satisfies D_{j+1}(x) ≤ D_j(x∖v) ≤ D_j(x). `shifted_inverse` needs only that and promises ε2 (and
   its own δ, for the method that has one). As g is monotone, D_j is the smallest g over the sets of j missing persons.
A floor relative to |z|, in place of a fixed one, would not make g monotone, and the promise would be wrong.
3. With a public number n the floor is k = n − m itself. To replace a person is to remove one and to add one, at the
   same k: the selector gets ε2 = ε/2, and a δ2 with δ2·(1 + e^{ε2}) ≤ δ, so that both together keep (ε, δ).

ACCURACY  Let w be the window that the selector states at its share of β, and m = R + w. If |Z| ≤ R (always where Z is
truncated, otherwise with probability 1 − β/2) then |x| − λ ≤ k ≤ |x| − w with λ = w + 2R. With probability 1 − β
the answer lies in [D_w, D_0]. D_0 is the largest value of f on subsets of at least k persons, and D_w is at least the
smallest, because a set that misses w persons still has k. So the answer lies between the smallest and the largest
value of f over all groups that miss at most λ persons. With a public number R = 0 and λ = m = w.

RULE  ε1 is the share of ε, in twentieths, with the smallest λ, the smallest of several; β is halved between both steps
without δ, and δ is halved where the method needs one. All of it depends on ε, δ, β, the method and the grid alone.

COST  Σ_{i ≤ |x|−k} C(|x|, i) values of f. Whether that is affordable must not be decided by |x|, nor shown by a run
that ends for lack of memory. `most` decides: it is above |x| but with probability 10^-6 (always above, where Z is
truncated), known from n̂ alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.mechanisms.inverse.shifted_inverse import METHODS, ShiftedInverseLaw, shifted_inverse
from tacit.mechanisms.noise.noise import NoisyInteger, TruncatedInteger, laplace
from tacit.noises import DiscreteLaplace, TruncatedLaplace
from tacit.noises.truncated_laplace import least_bound
from tacit.numbers.enclosures import exp
from tacit.numbers.exact import check_listed

SHARES = tuple(Fraction(i, 20) for i in range(1, 20))
"""The shares of ε that are tried for the number of persons."""

UNLIKELY = Fraction(1, 10**6)
"""How often the number of persons may be above the one by which evaluations are counted."""


@dataclass(frozen=True)
class Design:
    """The public numbers of a wrapper."""

    grid: Grid
    method: str
    beta: Fraction
    first: Guarantee | None
    """What the noisy number of persons costs; None where that number is public."""
    epsilon: Fraction
    """ε of the selector."""
    delta: Fraction | None
    """δ of the selector, where it has one."""
    reach: int
    """R."""
    margin: int
    """m: how far the floor is below the noisy number."""

    @property
    def missing(self) -> int:
        """λ."""
        return self.margin + self.reach

    @property
    def guarantee(self) -> Guarantee:
        """The promise of both steps together."""
        match self.first:
            case Approx(epsilon, delta):
                return Approx(epsilon + self.epsilon, delta + (self.delta or 0))
            case Pure(epsilon):
                return Pure(epsilon + self.epsilon)
        if self.delta is None:
            return Pure(2 * self.epsilon)
        return Approx(2 * self.epsilon, _twice(self.epsilon, self.delta))

    @property
    def public(self) -> bool:
        """Whether the number of persons is public."""
        return self.first is None

    def noisy(self, persons: int) -> NoisyInteger:
        """The law of the noisy number of persons."""
        match self.first:
            case Approx(epsilon, _):
                return TruncatedInteger(persons, TruncatedLaplace(epsilon, self.reach), self.first)
            case Pure(epsilon):
                return NoisyInteger(persons, DiscreteLaplace(epsilon), self.first)
        raise AssertionError("the number of persons costs epsilon, or epsilon and delta")

    def floor(self, noisy: int) -> int:
        """The fewest persons of a group that counts."""
        return max(0, noisy - self.margin)

    def select(self, profile: Sequence[int]) -> ShiftedInverseLaw:
        """The law of the value, from the profile in steps above the grid's bottom."""
        assert self.grid.first is not None
        values = [self.grid.value(self.grid.first + steps) for steps in profile]
        beta = self.beta / 2 if isinstance(self.first, Pure) else self.beta
        law = shifted_inverse(values, self.grid, self.epsilon, self.method, delta=self.delta, beta=beta)
        if self.public:
            law.guarantee = self.guarantee
        return law


class Sized(Protocol):
    """A rule that may draw a noisy number of persons."""

    def noisy(self, persons: int) -> NoisyInteger:
        """The law of the noisy number of persons."""


def most(rule: Sized, noisy: int) -> int:
    """Above the number of persons but with probability 10^-6, from a noisy number of them."""
    return max(noisy, 0) + rule.noisy(0).reach(UNLIKELY)


def _twice(epsilon: Fraction, delta: Fraction) -> Fraction:
    """δ·(1 + e^ε), rounded up to a fraction of few digits: what two changes of (ε, δ) leave besides 2ε."""
    exact = delta * (1 + exp(epsilon).high)
    return Fraction(-(-exact.numerator * 10**24 // exact.denominator), 10**24)


@lru_cache(maxsize=64)
def design(grid: Grid, cost: Pure | Approx, method: str, beta: Fraction, public: bool = False) -> Design:
    """The wrapper that the public rule picks."""
    proved = [name for name in METHODS if name != "bayesian_search"]
    check_listed(method, "method", proved, "a wrapper needs a search whose accuracy is proved")
    if method == "interior_point" and isinstance(cost, Pure):
        raise InvalidInput("method 'interior_point' needs a delta; give one, or use another method.")
    if public:
        return _replacing(grid, cost, method, beta)
    found = [_designed(grid, cost, method, beta, share) for share in SHARES]
    return min(found, key=lambda each: each.missing)


def _replacing(grid: Grid, cost: Pure | Approx, method: str, beta: Fraction) -> Design:
    """The wrapper for a public number of persons."""
    half, delta = cost.epsilon / 2, None
    if method == "interior_point":
        assert isinstance(cost, Approx)
        delta = cost.delta / (1 + exp(half).high)
        delta = Fraction(delta.numerator * 10**30 // delta.denominator, 10**30)
        if not delta:
            raise InvalidInput("epsilon is too large, or delta too small, for method 'interior_point'; use another.")
    return Design(grid, method, beta, None, half, delta, 0, _window(grid, half, delta, method, beta))


def _designed(grid: Grid, cost: Pure | Approx, method: str, beta: Fraction, share: Fraction) -> Design:
    first, rest = cost.epsilon * share, cost.epsilon * (1 - share)
    if isinstance(cost, Pure):
        reach, paid, delta = laplace(0, first).reach(beta / 2), Pure(first), None
        guarantee: Guarantee = paid
    else:
        delta = cost.delta / 2 if method == "interior_point" else None
        guarantee = Approx(first, cost.delta if delta is None else delta)
        reach = least_bound(first, cost.delta if delta is None else delta, 1)
    window = _window(grid, rest, delta, method, beta if isinstance(cost, Approx) else beta / 2)
    return Design(grid, method, beta, guarantee, rest, delta, reach, reach + window)


def _window(grid: Grid, epsilon: Fraction, delta: Fraction | None, method: str, beta: Fraction) -> int:
    window = shifted_inverse([], grid, epsilon, method, delta=delta, beta=beta).accuracy(beta).window
    assert window is not None
    return window
