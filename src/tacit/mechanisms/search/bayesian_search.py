"""Bayesian search: many very noisy comparisons, a posterior over the answer, each time a look at its median.

PROMISE  Zcdp(ρ). Each of m looks sees min(ℓ(y), 2τ + 1) + Z, Z discrete Gaussian of variance max(m/(2ρ), 1).

PROOF  Which y is looked at next depends on the noisy answers so far and on coins, on the data in no other way.
Clamping keeps sensitivity 1, so each noisy answer is (ρ/m)-zCDP, whatever y is; m of them compose, adaptively, to ρ.
All else is computed from released numbers: the posterior may be wrong, rounded or replaced without any effect on
privacy, so it is kept in floating point (`search_posterior`). For the same reason the law of the final answer is not
needed for the proof, and `pmf` refuses; what is verified exactly is the noise of one look.

THE SEARCH  Hypothesis h: the loss falls below τ at position h. With u = η(ℓ + Z − τ), a look at q multiplies the
weight of every h > q by e^u and of every h ≤ q by e^{-u}. Let k be the median, with weight a below it and b on it: look
at k with probability (1/2 − a)/b, else at k − 1, so that on average half of the weight lies on either side. After m
looks the median is returned if it holds more than half of the weight; otherwise a single jump does not explain the
answers, and the best position for a staircase is returned.

ACCURACY  Proved for a sharp loss, which is 2τ or more below some value h* and 0 from there on. Let π be the weight of
h* and f the share of the other weights that lies on the far side of a look. The look multiplies the odds (1 − π)/π by
1 − f + f·e^{-2v}, where v = η(τ' ± Z), τ' ≥ τ, is its evidence for h*. By the choice of q the mean of f is at least 1/2
(also when h* is the median itself). For 0 < θ ≤ 1 the mean of (1 − f + f·e^{-2v})^θ over Z is concave in f, 1 at f = 0
and falling there, so a look multiplies the mean of odds^θ by at most G = E[((1 + e^{-2v})/2)^θ]. At first the odds are
|Y| − 1, and an answer other than h* needs odds of at least 1 at the end: its probability is at most (|Y| − 1)^θ·G^m.
G ≤ (1 + e^{2η²σ² − 2ητ})/2 for θ = 1, and for θ < 1, from cosh v ≤ e^{v²/2}, G ≤ E[e^{θ(v²/2 − v)}], a Gaussian sum.
η = τ/((1 + θ)σ²) with the θ that proves most; the target τ is the smallest with a bound of at most β, unless given. In
the limit of many looks ρτ² = (√ln|Y| + √ln(1/β))², where a plain noisy binary search needs about T·ln(T/β).
A loss with values strictly between 0 and 2τ is not covered by this proof. There every such value is a good answer, and
the staircase finds one: without it, a wide plateau near τ/2 or 3τ/2 made the median fail in up to 20 % of the draws,
with it failures are as rare as for sharp losses (simulated: benchmarks/searches.py).

CERTIFICATES  What was seen bounds the loss whatever its shape (`look_bounds`), at no further cost: `with_looks` is the
law of the answer together with all noisy looks, of which the answer is a function.

COST  m = 8·(⌈log2|Y|⌉ + ⌈log2(1/β)⌉) draws of noise and updates of at most m + 1 pieces: 30 ms at |Y| = 2^64.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn, Self

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.guarantees import Zcdp
from tacit.mechanisms.grid_law import Answer, GridLaw
from tacit.mechanisms.law import Accuracy, Law, Named
from tacit.mechanisms.noise.noise import NoisyInteger
from tacit.mechanisms.search.binary_search import comparisons
from tacit.mechanisms.search.look_bounds import LookBounds
from tacit.mechanisms.search.scan_rates import BETA
from tacit.mechanisms.search.search_posterior import Looks, Posterior, best_position
from tacit.noises import DiscreteGaussian
from tacit.noises.base import first_where
from tacit.numbers.enclosures import BITS, Enclosure, exp, log
from tacit.numbers.exact import Number, between, positive, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import equal, smallest
from tacit.randomness.basic import _coin
from tacit.randomness.source import Randomness

THETAS = tuple(Fraction(i, 8) for i in (1, 2, 3, 4, 6, 8))
"""The exponents θ tried in the proof of accuracy."""


class BayesianDesign(NamedTuple):
    """What is fixed before the data are seen."""

    looks: int
    noise: DiscreteGaussian
    target: int
    theta: Fraction

    @property
    def each(self) -> Zcdp:
        """What one look costs."""
        return self.noise.guarantee()

    @property
    def strength(self) -> Fraction:
        """η."""
        return self.target / ((1 + self.theta) * self.noise.squared_scale)


class BayesianSearchLaw(GridLaw):
    """A Bayesian search on given data; it can be drawn from, not enumerated."""

    name = "Bayesian search"

    def __init__(self, loss: StepLoss, design: BayesianDesign, guarantee: Zcdp) -> None:
        self.grid, self.guarantee, self.design = loss.grid, guarantee, design
        self.target = design.target
        self._loss = loss.clamped(2 * design.target + 1)

    def _draw_index(self, source: Randomness) -> int:
        return self._search(source)[0]

    def named(self) -> Named:
        """The noise of each look, how many there are at most, and among what."""
        facts = {"sensitivity": "1", "times": str(self.design.looks), "of": self.grid.named()}
        return {"law": "looks", **self.design.noise.named(), **facts}

    def with_looks(self) -> SearchedLaw:
        """The law of the answer with the looks that led to it."""
        return SearchedLaw(self)

    def _search(self, source: Randomness) -> tuple[int, dict[int, Looks]]:
        """An answer's index, and the looks at each position above the grid's first."""
        first, size = self.grid.first or 0, int(self.grid.size)
        noise, strength = self.design.noise, float(self.design.strength)
        posterior, answers = Posterior(size), dict[int, Looks]()
        for _ in range(self.design.looks):
            k, share, _ = posterior.median()
            q = k if _coin(share.numerator, share.denominator, source) else k - 1
            if 0 <= q < size - 1:  # outside, every hypothesis says the same
                answer = self._loss.at(first + q) + noise.draw(source)
                posterior.update(q, strength * (answer - self.target))
                number, total = answers.get(q, (0, 0))
                answers[q] = Looks(number + 1, total + answer)
        median = posterior.median()
        if median.weight > 0.5 or not answers:
            return first + median.position, answers
        return first + best_position(size, answers, 2 * self.target + 1, noise.variance), answers

    def look(self, y: Number) -> NoisyInteger:
        """The law of one noisy look at a grid value; ``design.looks`` of them make up the promise."""
        index = self.grid.index(y)
        if index is None:
            raise InvalidInput("y must be a value of the grid.")
        return NoisyInteger(self._loss.at(index), self.design.noise, self.design.each)

    def _parameters(self) -> Hashable:
        return self.design

    def concentrated_loss(self, other: Self) -> Enclosure:
        """At most what the looks tell, of which the answer is a function: m times what one tells at the worst value."""
        each = self.design.noise.concentrated_loss(self._loss.distance(other._loss))
        return Enclosure.between(0, self.design.looks * each)

    def outcomes_to_follow(self) -> list[Answer]:
        """The lowest value and one in the middle, for no probabilities are known."""
        first = self.grid.first or 0
        return [self.grid.answer(first), self.grid.answer(first + int(self.grid.size) // 2)]

    def accuracy(self, beta: Number) -> Accuracy:
        """The lowest value of loss 0, for losses that jump there from 2τ or more."""
        failure = between(beta, "beta", 0, 1)
        if not _log_failure(int(self.grid.size), self.design).high <= log(failure).low:
            raise InvalidInput("beta must be above what the target allows; give a larger target or a larger beta.")
        window = 2 * self.target
        statement = (
            f"for a loss that falls from {window} or more to 0 at one grid value the answer is that value, with "
            f"probability at least {1 - failure}; losses with values in between are not covered by the proof"
        )
        return Accuracy(failure, window, statement)

    def _refuse(self) -> NoReturn:
        raise InvalidInput(
            "the law of a Bayesian search is not enumerated; its privacy rests on the composition of its comparisons' "
            "discrete Gaussian noises, which are verified: use sample(), or another search for exact probabilities."
        )

    def pmf(self, y: Number, bits: int = BITS) -> Enclosure:
        """Refused: the answer depends on all noisy comparisons."""
        self._refuse()

    def cdf(self, y: Number, bits: int = BITS) -> Enclosure:
        """Refused, as `pmf`."""
        self._refuse()

    def outcomes(self) -> Iterable[Answer]:
        """Refused, as `pmf`."""
        self._refuse()

    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        self._refuse()


class Searched(NamedTuple):
    """What a search released: its answer, and how often it looked where and saw how much in all."""

    value: Answer
    position: int
    """The answer's, above the grid's first value."""
    looks: tuple[tuple[int, Looks], ...]
    design: BayesianDesign

    def bounds(self, beta: float) -> LookBounds:
        """What the looks say about the loss, each statement with probability at least 1 − β."""
        return LookBounds(self.looks, float(self.design.noise.squared_scale), self.design.looks, beta)


class SearchedLaw(Law[Searched]):
    """A Bayesian search that shows its looks: private as the search is, for they are all that it releases."""

    name = "Bayesian search with its looks"

    def __init__(self, search: BayesianSearchLaw) -> None:
        self._inner, self.guarantee, self.design = search, search.guarantee, search.design

    def _draw(self, source: Randomness) -> Searched:
        index, looks = self._inner._search(source)
        return self._searched(index, tuple(sorted(looks.items())))

    def _searched(self, index: int, looks: tuple[tuple[int, Looks], ...] = ()) -> Searched:
        grid = self._inner.grid
        return Searched(grid.answer(index), index - (grid.first or 0), looks, self.design)

    def named(self) -> Named:
        """The search's."""
        return self._inner.named()

    def pmf(self, y: Searched, bits: int = BITS) -> Enclosure:
        """Refused, as that of the search."""
        self._inner._refuse()

    def key(self) -> Hashable:
        """The search's."""
        return self._inner.key()

    def concentrated_loss(self, other: Self) -> Enclosure:
        """The search's."""
        return self._inner.concentrated_loss(other._inner)

    def outcomes_to_follow(self) -> list[Searched]:
        """Those of the search, as if it had not looked."""
        places = (self._inner.grid.index(y) for y in self._inner.outcomes_to_follow())
        return [self._searched(place) for place in places if place is not None]


# The public rule and the proof of accuracy in numbers


def _log_failure(size: int, design: BayesianDesign) -> Enclosure:
    """An upper bound of ln P[the answer is not h*] for sharp losses: θ·ln(|Y| − 1) + m·ln G."""
    if size == 1:
        return Enclosure.of(-(10**9))
    theta, tau, eta, variance = design.theta, design.target, design.strength, design.noise.squared_scale
    start = theta * log(size - 1)
    if theta == 1:
        return start + design.looks * ((1 + exp(-2 * eta * tau + 2 * eta**2 * variance)) / 2).log()
    spread = 1 - theta * eta**2 * variance  # σ²/s², s² the variance of the sum that e^{θv²/2} leaves
    if spread <= 0:
        return Enclosure.of(0)
    linear = theta * (eta**2 * tau - eta)
    exponent = theta * (eta**2 * tau**2 / 2 - eta * tau) + linear**2 * variance / spread / 2
    # Σ e^{-z²/2s²} ≤ √(2π)s·(1 + 2q/(1 − q)) with q = e^{-2π²s²} ≤ e^{-19}, and Σ e^{-z²/2σ²} ≥ √(2π)σ
    return start + design.looks * (exponent - log(spread) / 2 + Fraction(3, 10**8))


@lru_cache(maxsize=1024)
def _best(size: int, looks: int, noise: DiscreteGaussian, target: int) -> tuple[Enclosure, BayesianDesign]:
    """The design of smallest proved failure for a target."""
    designs = [BayesianDesign(looks, noise, target, theta) for theta in THETAS]
    return min(((_log_failure(size, design), design) for design in designs), key=lambda found: found[0].high)


@lru_cache(maxsize=1024)
def _smallest_target(size: int, looks: int, noise: DiscreteGaussian, beta: Fraction) -> int:
    """The smallest target whose proved failure is at most β, the bound falling in the target."""

    def enough(target: int) -> bool:
        return _best(size, looks, noise, target)[0].high <= log(beta).low

    return 1 + first_where(lambda k: enough(k + 1))


def look_noise(rho: Fraction, looks: int) -> DiscreteGaussian:
    """The noise of one of so many looks that cost ρ together."""
    return DiscreteGaussian(max(Fraction(1), looks / (2 * rho)))


def bayesian_search(
    loss: StepLoss, rho: Number, target: int | None = None, *, beta: Number = BETA
) -> BayesianSearchLaw:
    """The grid value at which the loss falls to about ``target``, by many noisy comparisons at a posterior's median.

    The target follows the public rule for failure probability ``beta`` unless it is given.

    >>> from tacit.curves import StepLoss
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import bayesian_search
    >>> loss = StepLoss.from_losses(integers(0, 3), [3, 2, 1, 0], one_directional=True)
    >>> bayesian_search(loss, rho="0.5").guarantee
    Zcdp(0.5)
    """
    halvings, failure = comparisons(loss.grid), between(beta, "beta", 0, 1)
    budget, size = positive(rho, "rho"), int(loss.grid.size)
    looks = 8 * (halvings + (failure.denominator // failure.numerator).bit_length()) if halvings else 0
    noise = look_noise(budget, looks)
    tau = _smallest_target(size, looks, noise, failure) if target is None else whole(target, "target", 1)
    return BayesianSearchLaw(loss, _best(size, looks, noise, tau)[1], Zcdp(budget))


def argue(p: Argument, *, rule: Any = look_noise) -> None:
    """Looks at a loss that moves by at most 1, limited to a public number: the limited loss moves by at most 1."""
    rho, looks, limit = p.positive("ρ"), p.count("looks"), p.count("limit", 1)
    loss, move, limited = p.count("ℓ"), p.steps("move", -1, 1), p.whole("limited move")
    p.assume(equal(limited, smallest(loss + move, limit) - smallest(loss, limit)))
    p.derive((limited >= -1) & (limited <= 1))
    price = by.gaussian(p, limited, rule(rho, looks).squared_scale)
    p.promise(by.repeated(p, looks, price), rho)


PROOFS = (
    Proof(
        "Bayesian search",
        "mechanisms.bayesian_search",
        "Zcdp(ρ)",
        argue,
        "a person moves the loss of every value by at most 1; all else follows from the noisy answers and coins",
    ),
)
