"""Shifted inverse: a private underestimate of a monotone statistic, from its down profile, with no bound on anybody's
share.

PROMISE  Pure(ε), Zcdp(ρ) for the methods that take ρ, or Approx(ε, δ), for one draw: that of the mechanism named by
``method``, applied to a loss of sensitivity 1.

PROOF  The losses ℓ and ℓ* of a down profile have sensitivity 1 (`tacit.curves.profiles`): ℓ is one-directional and
serves the searches; ℓ* = max{ ℓ − τ, τ − ℓ̄ } is not, and serves the choices. τ, K and all other parameters depend
only on ε (or ρ), the grid and β, by the rule below, so the promise is the mechanism's own.

ACCURACY  With probability at least 1 − β the answer lies in [D_w, D_0] (profile rounded up to the grid);
`accuracy(beta)` states the window w. "exponential" and "permute_and_flip": a value with ℓ* < t lies in [D_{τ+t−1},
D_{τ−t}], some value has ℓ* ≤ 0, and P[ℓ* ≥ t] ≤ |Y|·e^{-εt/2}.

RULE  β is 5 % unless given.
- "scan" walks the grid upward, "scan_down" downward, on ℓ: `threshold_scan` with its own public rule for that β.
- "exponential" (ε or ρ, which buys ε = √(8ρ)), "permute_and_flip": τ = ⌈(2/ε)·ln(|Y|/β)⌉ and ℓ* clamped at K = 2τ,
  rate ε/2, on a finite grid.
- "binary_search" (ε or ρ) and "bayesian_search" (ρ): on ℓ, with the target their own modules state.
- "interior_point": (ε, δ) with δ = 10^-6 unless given, Approx(ε, δ); ℓ* with τ = w + 1, where w is the excess loss that
  the search states for the grid: ℓ* ≤ w means ℓ ≤ τ + w and ℓ̄ ≥ 1, so the answer lies in [D_{2w+1}, D_0].

COST  That of the mechanism; the loss is built in time linear in the number of profile values used.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Self

from tacit.curves import DownProfile, Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.mechanisms.choose.exponential import epsilon_within, exponential, factor, weigh
from tacit.mechanisms.choose.permute_and_flip import permute_and_flip, win
from tacit.mechanisms.grid_law import Answer, finite_size
from tacit.mechanisms.law import Accuracy, Law, Named
from tacit.mechanisms.search.bayesian_search import bayesian_search, look_noise
from tacit.mechanisms.search.binary_search import binary_search, laplace_look
from tacit.mechanisms.search.interior_point import interior_point
from tacit.mechanisms.search.scan_rates import BETA, rates
from tacit.mechanisms.search.threshold_scan import threshold_scan, walk
from tacit.numbers.enclosures import BITS, Enclosure, log_ceiling
from tacit.numbers.exact import Number, between, check_listed, positive
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import equal, largest, smallest
from tacit.randomness import Randomness

DELTA = Fraction(1, 10**6)
"""δ of the method that needs one, unless it is given."""


@dataclass(frozen=True)
class _Task:
    """What every method is given."""

    profile: DownProfile
    grid: Grid
    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction | None
    beta: Fraction

    @property
    def pure(self) -> Fraction:
        """ε, for a method that takes nothing else."""
        if self.epsilon is None or self.rho is not None or self.delta is not None:
            raise InvalidInput("give epsilon alone with this method; it is a pure mechanism.")
        return self.epsilon

    @property
    def ranged(self) -> Fraction:
        """The ε of a choice of bounded range: ε itself, or what ρ buys."""
        return self.pure if self.rho is None else epsilon_within(self.concentrated)

    @property
    def concentrated(self) -> Fraction:
        """ρ, for a method that takes nothing else."""
        if self.rho is None or self.epsilon is not None or self.delta is not None:
            raise InvalidInput("give rho alone with this method; it uses Gaussian noise.")
        return self.rho

    @property
    def approximate(self) -> tuple[Fraction, Fraction]:
        """ε and δ."""
        if self.epsilon is None or self.rho is not None:
            raise InvalidInput("give epsilon, and delta if it is not to be 10^-6, with this method.")
        return self.epsilon, DELTA if self.delta is None else self.delta


class ShiftedInverseLaw(Law[Answer]):
    """The law of a shifted inverse: that of the mechanism it uses, its accuracy stated for the profile."""

    def __init__(self, method: str, inner: Law[Answer], accuracy: Callable[[Fraction], Accuracy]) -> None:
        self.method, self.guarantee = method, inner.guarantee
        self.name = f"shifted inverse by {method}"
        self._inner, self._accuracy = inner, accuracy

    def _draw(self, source: Randomness) -> Answer:
        return self._inner._draw(source)

    def pmf(self, y: Number, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        return self._inner.pmf(y, bits)  # type: ignore[arg-type]

    def cdf(self, y: Number, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output ≤ y]."""
        return self._inner.cdf(y, bits)  # type: ignore[arg-type]

    def outcomes(self) -> Iterable[Answer]:
        """As the mechanism lists them."""
        return self._inner.outcomes()

    def named(self) -> Named | None:
        """The mechanism's."""
        return self._inner.named()

    def key(self) -> Hashable:
        """The mechanism's."""
        return self._inner.key()

    def telling_points(self, laws: Sequence[Self]) -> Sequence[Answer] | None:
        """The mechanism's."""
        return self._inner.telling_points([law._inner for law in laws])

    def outcomes_to_follow(self) -> Sequence[Answer]:
        """The mechanism's."""
        return self._inner.outcomes_to_follow()

    def concentrated_loss(self, other: Self) -> Enclosure | None:
        """The mechanism's."""
        return self._inner.concentrated_loss(other._inner)

    def accuracy(self, beta: Number) -> Accuracy:
        """The window: with probability at least 1 − β the answer lies in [D_window, D_0]."""
        return self._accuracy(between(beta, "beta", 0, 1))


Built = tuple[Law[Answer], Callable[[Fraction], Accuracy]]
"""A law and what it promises for a β."""


def _scan(direction: str) -> Callable[[_Task], Built]:
    def build(task: _Task) -> Built:
        loss = task.profile.loss(task.grid)
        return _search(threshold_scan(loss, task.pure, direction, beta=task.beta), task)

    return build


def _binary(task: _Task) -> Built:
    if task.delta is not None:
        raise InvalidInput("give epsilon or rho, and no delta, with this method.")
    loss = task.profile.loss(task.grid)
    return _search(binary_search(loss, epsilon=task.epsilon, rho=task.rho, beta=task.beta), task)


def _bayesian(task: _Task) -> Built:
    law = bayesian_search(task.profile.loss(task.grid), task.concentrated, beta=task.beta)
    return law, law.accuracy  # proved for sharp losses only, as its statement says


def _interior(task: _Task) -> Built:
    (epsilon, delta), grid, beta = task.approximate, task.grid, task.beta
    finite_size(grid)
    # What the search states for any loss that is 0 somewhere: w, so that τ = w + 1 keeps the answer at or below D_0.
    flat = StepLoss(grid, (Run(grid.first, grid.last, 0),))
    excess = interior_point(flat, epsilon, delta, beta=beta).accuracy(beta).window
    assert excess is not None
    tau = excess + 1
    law = interior_point(task.profile.shifted_loss(grid, tau), epsilon, delta, target=tau, beta=beta)

    def accuracy(failure: Fraction) -> Accuracy:
        window = law.accuracy(failure).window
        assert window is not None
        return _window(failure, window)

    return law, accuracy


def _search(law: Law[Answer], task: _Task) -> Built:
    """A search on ℓ: what it states about the loss of its answer is a window of the profile."""
    condition = "" if isinstance(task.grid.size, int) else ", if D_0 is among the first 2^64 values of the walk"

    def accuracy(beta: Fraction) -> Accuracy:
        window = law.accuracy(beta).window
        assert window is not None  # searches count their window in persons
        return _window(beta, window, condition)

    return law, accuracy


def _window(beta: Fraction, window: int, condition: str = "") -> Accuracy:
    statement = f"the answer lies in [D_{window}, D_0] with probability at least {1 - beta}{condition}"
    return Accuracy(beta, window, statement)


def shift(epsilon: Fraction, size: int, beta: Fraction) -> int:
    """τ = ⌈(2/ε)·ln(|Y|/β)⌉."""
    return log_ceiling(2 / epsilon, size / beta)


def _choice(choose: Callable[[StepLoss, _Task], Law[Answer]]) -> Callable[[_Task], Built]:
    def build(task: _Task) -> Built:
        epsilon, size = task.ranged if choose is _weighed else task.pure, finite_size(task.grid)
        tau = shift(epsilon, size, task.beta)

        def accuracy(beta: Fraction) -> Accuracy:
            excess = shift(epsilon, size, beta)
            if excess > tau:
                raise InvalidInput("beta must be at least that of the law; build the law with a smaller beta.")
            return _window(beta, tau + excess - 1)

        return choose(task.profile.shifted_loss(task.grid, tau), task), accuracy

    return build


def _weighed(loss: StepLoss, task: _Task) -> Law[Answer]:
    return exponential(loss, task.epsilon, rho=task.rho)


def _flipped(loss: StepLoss, task: _Task) -> Law[Answer]:
    return permute_and_flip(loss, task.pure)


METHODS: dict[str, Callable[[_Task], Built]] = {
    "scan": _scan("up"),
    "scan_down": _scan("down"),
    "exponential": _choice(_weighed),
    "permute_and_flip": _choice(_flipped),
    "binary_search": _binary,
    "bayesian_search": _bayesian,
    "interior_point": _interior,
}
"""The mechanisms a shifted inverse may use, by name."""


def shifted_inverse(
    profile: DownProfile | Iterable[Number],
    grid: Grid,
    epsilon: Number | None = None,
    method: str = "scan",
    rho: Number | None = None,
    *,
    delta: Number | None = None,
    beta: Number = BETA,
) -> ShiftedInverseLaw:
    """A private underestimate of D_0 from the profile D_0 ≥ D_1 ≥ …; what it does not list is the grid's lowest value.

    ``beta`` is the failure probability the public parameters are chosen for; ``delta`` is for "interior_point" alone.

    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import shifted_inverse
    >>> law = shifted_inverse([100, 60, 55, 54, 0], integers(0, 1000), epsilon=1)
    >>> law.guarantee
    Pure(1)
    """
    check_listed(method, "method", METHODS)
    task = _Task(
        profile if isinstance(profile, DownProfile) else DownProfile(profile),
        grid,
        None if epsilon is None else positive(epsilon, "epsilon"),
        None if rho is None else positive(rho, "rho"),
        None if delta is None else between(delta, "delta", 0, 1),
        between(beta, "beta", 0, 1),
    )
    return ShiftedInverseLaw(method, *METHODS[method](task))


def falls(p: Argument, strict: bool = False) -> Any:
    """The move of ℓ = min{ j : D_j ≤ y } when a person is added, or of its strict twin: 0 or 1.

    D is the profile with the person, D⁻ that without: D_{j+1} ≤ D⁻_j ≤ D_j at every j.
    """
    y, here, after, without = p.real("y"), p.real("D_j"), p.real("D_j+1"), p.real("D⁻_j")
    p.assume(after <= without, without <= here)

    def passes(value: Any) -> Any:
        return value < y if strict else value <= y

    before, later = p.count("ℓ"), p.count("ℓ with the person")
    by.least(p, before, later, 1, passes(without), passes(after))
    by.least(p, later, before, 0, passes(here), passes(without))
    return before, later - before


def shifted(p: Argument) -> Any:
    """The move of the shifted loss max{ ℓ, 2τ − ℓ̄ }, both limited to K, when a person is added: −1, 0 or 1."""
    tau, limit, move = p.count("τ"), p.count("K"), p.whole("move of ℓ*")
    with p.lemma() as known:
        (upper, rise), (strict, its_rise) = falls(p), falls(p, strict=True)
        before = largest(smallest(upper, limit), 2 * tau - smallest(strict, limit))
        after = largest(smallest(upper + rise, limit), 2 * tau - smallest(strict + its_rise, limit))
        p.assume(equal(move, after - before))
        known.append(p.derive((move >= -1) & (move <= 1)))
    return move


def argue(p: Argument, *, method: str, moves: Any = (1, 1), prior: Any = lambda p: 0) -> None:
    """A method on the loss it takes: the searches ℓ, in [0, 1], the choices ℓ*, in [−1, 1]."""
    budget = p.positive("ε or ρ")
    searched = method in ("scan", "scan_down", "binary_search", "bayesian_search")
    if searched:
        move = p.whole("move of ℓ")
        with p.lemma() as known:
            p.assume(equal(move, falls(p)[1]))
            known.append(p.derive((move >= 0) & (move <= 1)))
    else:
        move = shifted(p)
    for sign in (1, -1):
        low, high = (min(0, sign), max(0, sign)) if searched else (-1, 1)
        with p.case("a person added" if sign > 0 else "a person removed"):
            p.promise(_price(p, method, budget, low, high, sign * move, moves) - prior(p), budget)


def _price(p: Argument, method: str, budget: Any, low: Any, high: Any, move: Any, moves: Any) -> Any:
    """What a method costs on a loss that moves by something in [low, high], by ``move`` at the answer."""

    def any_move() -> Any:
        return p.steps("any move", low, high)

    if method in ("scan", "scan_down"):
        pair, up = rates(budget, (0, 1), p.within("share", 0, 1)), method == "scan"
        return walk(p, pair, low if up else -high, move, visited=any_move, up=up)
    if method == "exponential":
        return weigh(p, factor(budget, moves), low, high, move)
    if method == "permute_and_flip":
        return win(p, factor(budget, moves), low, high)
    looks = p.count("T")
    if method == "binary_search":
        rate = laplace_look(budget, looks).rate
        return by.repeated(p, looks, by.noise(p, move, rate, rate))
    if method == "bayesian_search":
        return by.repeated(p, looks, by.gaussian(p, move, look_noise(budget, looks).squared_scale))
    return p.real("price of an interior point", lambda x: x <= budget)  # of a loss that moves by at most 1


PROOFS = tuple(
    Proof(
        f"shifted inverse by {method}",
        "mechanisms.shifted_inverse",
        {"bayesian_search": "Zcdp(ρ)", "interior_point": "Approx(ε, δ)"}.get(method, "Pure(ε)"),
        partial(argue, method=method),
        "D_{j+1}(x) ≤ D_j(x without a person) ≤ D_j(x) for every j and person",
    )
    for method in METHODS
)
