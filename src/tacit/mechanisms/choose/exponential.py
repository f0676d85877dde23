"""The exponential mechanism: P(y) ∝ π(y)·e^{-γℓ(y)} with γ = ε/2, or ε for a one-directional loss.

PROMISE  Pure(ε) for one draw with ``epsilon``; Zcdp(ρ) with ``rho``, which buys ε = √(8ρ), rounded down. The prior π
is public.

PROOF  Let x' be x with one person added, γ the factor of ℓ. General loss, γ = ε/2: π(y)e^{-γℓ} moves by a factor in
[e^{-ε/2}, e^{ε/2}] and so does its sum, so their quotient moves by at most e^ε. One-directional, γ = ε: ℓ rises by 0 or
1 for every y, so the weight and the sum both move by a factor in [e^{-ε}, 1], and the quotient by at most e^{±ε}.
In general, where adding a person moves ℓ by something in [−r, s], both move by a factor in [e^{-γs}, e^{γr}] and the
quotient by at most e^{γ(r+s)}, so γ = ε/(r + s).
Either way the log ratio over all y lies in an interval of length ε (bounded range), which gives ε²/8-zCDP: a variable
in such an interval has a cumulant generating function that bends by at most ε²/4 (Hoeffding), so D_α ≤ α·ε²/8. A pure
promise of ε alone would be worth ε·tanh(ε/2), four times as much.

ACCURACY  Uniform prior: P[ℓ(Y) − min ℓ ≥ t] ≤ |Y|·e^{-γt}. With a prior, for every value z:
P[ℓ(Y) − ℓ(z) ≥ t] ≤ e^{-γt}/π(z), π scaled to total 1.

COST  Linear in the number of runs: about 2 ms for 500, then 10 µs for each further draw, whatever the size of the grid,
which may have no end if the prior is summable.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import isqrt
from typing import Any, Self

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee, Pure, Zcdp
from tacit.mechanisms.choose.priors import Prior, Uniform
from tacit.mechanisms.grid_law import GridLaw, excess_accuracy
from tacit.mechanisms.law import Accuracy, Named, range_loss
from tacit.numbers.enclosures import Enclosure, exp, log_ceiling, total
from tacit.numbers.exact import Number, between, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.randomness import Categorical, Randomness
from tacit.randomness.inversion import Inversion, Table, shares


def rate(loss: StepLoss, epsilon: Fraction, change: tuple[int, int] | None = None) -> Fraction:
    """The factor γ of the loss that ε pays for: ε for a one-directional loss, ε/2 otherwise, ε/(r+s) for a change."""
    if change is None:
        return factor(epsilon, (0, 1) if loss.one_directional else (1, 1))
    parts = whole(change[0], "change", 0), whole(change[1], "change", 0)
    whole(sum(parts), "the parts of change together", 1)
    return factor(epsilon, parts)


def factor(epsilon: Fraction, moves: tuple[int, int]) -> Fraction:
    """γ = ε/(r + s), where adding a person moves the loss by something in [−r, s]."""
    return epsilon / sum(moves)


def epsilon_within(rho: Fraction) -> Fraction:
    """The largest ε, to forty bits, with ε²/8 ≤ ρ: what a choice of bounded range may take for ρ."""
    p, q = (8 * rho).as_integer_ratio()
    return Fraction(isqrt(p * q << 80), q << 40)


def paid(epsilon: Number | None, rho: Number | None) -> tuple[Fraction, Guarantee]:
    """The ε of a choice of bounded range, and what it promises, for a cost that is named as ε or as ρ."""
    if (epsilon is None) == (rho is None):
        raise InvalidInput("give epsilon or rho, not both; rho buys a choice of ε = √(8·rho).")
    if epsilon is not None:
        pure = Pure(epsilon)
        return pure.epsilon, pure
    assert rho is not None
    concentrated = Zcdp(rho)
    return epsilon_within(concentrated.rho), concentrated


class ExponentialLaw(GridLaw):
    """The law of the exponential mechanism."""

    name = "exponential mechanism"

    def __init__(
        self,
        loss: StepLoss,
        epsilon: Fraction,
        prior: Prior,
        change: tuple[int, int] | None = None,
        guarantee: Guarantee | None = None,
    ) -> None:
        self.grid, self.prior = loss.grid, prior
        self.guarantee, self._moves = guarantee or Pure(epsilon), change or loss.moves
        self.zcdp = Zcdp(epsilon * epsilon / 8)
        self._loss, self._gamma, self._least = loss, rate(loss, epsilon, change), loss.minimum
        # One piece for each run, or a few with a prior that is not constant.
        self._pieces = [(piece, run.loss) for run in loss.runs for piece in prior.pieces(run.first, run.last)]
        self._choose: Callable[[Randomness], int]
        if isinstance(prior, Uniform):  # whole numbers of points: the quicker table
            self._choose = Categorical([(run.length or 0, run.loss) for run in loss.runs], self._gamma).draw
        else:
            self._choose = Inversion(self._table).draw
        self._weights = lru_cache(maxsize=4)(self._compute_weights)

    def named(self) -> Named:
        """The rate of the loss, how far it moves, and among what; a public prior costs nothing."""
        return self._chosen("exponential mechanism", self._gamma, self._moves)

    def _compute_weights(self, bits: int) -> tuple[list[Enclosure], Enclosure]:
        """The weight of every piece, the best loss counted as 0, and their sum."""
        levels, factor, last = {}, Enclosure.of(1, bits), self._least
        for level in sorted({loss for _, loss in self._pieces}):
            if level != last:
                factor, last = factor * exp(-self._gamma * (level - last), bits), level
            levels[level] = factor
        weights = [piece.mass(bits) * levels[loss] for piece, loss in self._pieces]
        return weights, total(weights, bits)

    def _table(self, bits: int) -> Table:
        """The pieces' cumulative shares in fixed point."""
        weights, sum_ = self._weights(bits + 64)
        size = sum_.low.numerator.bit_length() - sum_.low.denominator.bit_length()
        work = bits + 16 + len(weights).bit_length() - min(size, 0)
        ends = [weight.fixed(work) for weight in weights]
        return shares(list(accumulate(low for low, _ in ends)), list(accumulate(high for _, high in ends)), bits)

    def _draw_index(self, source: Randomness) -> int:
        return self._pieces[self._choose(source)][0].draw(source)

    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        work = bits + 64
        factor = exp(self._gamma * (self._least - self._loss.at(index)), work)
        return _rounded(self.prior.weight(index, work) * factor / self._weights(work)[1], bits)

    def _cdf_at(self, index: int, bits: int) -> Enclosure:
        work = bits + 64
        below = Enclosure.of(0, work)
        for run in self._loss.runs:
            if run.first is not None and run.first > index:
                break
            last = index if run.last is None else min(run.last, index)
            mass = total([piece.mass(work) for piece in self.prior.pieces(run.first, last)], work)
            below = below + mass * exp(self._gamma * (self._least - run.loss), work)
        return _rounded(below / self._weights(work)[1], bits).clamp(0, 1)

    def _parameters(self) -> Hashable:
        return self.prior, self._gamma

    def concentrated_loss(self, other: Self) -> Enclosure:
        """At most r²/8 for log ratios in an interval of length r."""
        return range_loss(self, other)

    def accuracy(self, beta: Number) -> Accuracy:
        """The largest excess loss (over the best value's) with probability at least 1 − β."""
        failure = between(beta, "beta", 0, 1)
        if isinstance(self.prior, Uniform) and isinstance(self.grid.size, int):
            return excess_accuracy(failure, excess(self._gamma, self.grid.size, failure))
        statement = (
            f"for every value z the loss exceeds that of z by less than {1 / self._gamma}·ln(1/({failure}·π(z))), "
            f"π(z) the prior's share of z, with probability at least {1 - failure}"
        )
        return Accuracy(failure, None, statement)


def _rounded(x: Enclosure, bits: int) -> Enclosure:
    return Enclosure.between(x, x, bits)


def excess(gamma: Fraction, size: int, beta: Fraction) -> int:
    """The least t ≥ 0 with |Y|·e^{-γ(t+1)} ≤ β: an excess above t has probability at most β."""
    return max(0, log_ceiling(1 / gamma, size / beta) - 1)


def exponential(
    loss: StepLoss,
    epsilon: Number | None = None,
    prior: Prior | None = None,
    *,
    rho: Number | None = None,
    change: tuple[int, int] | None = None,
) -> ExponentialLaw:
    """A grid value chosen with probability in proportion to π·e^{-εℓ/2} (e^{-εℓ} if one-directional).

    Give ``epsilon``, or ``rho`` for ε = √(8ρ). ``change`` = (r, s) says that adding a person moves the loss by
    something in [−r, s]; the factor is then ε/(r+s).

    >>> from tacit.curves import StepLoss
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import exponential
    >>> loss = StepLoss.from_losses(integers(0, 3), [3, 1, 0, 2])
    >>> law = exponential(loss, epsilon=1)
    >>> round(float(law.pmf(2)), 3)
    0.455
    """
    each, guarantee = paid(epsilon, rho)
    return ExponentialLaw(loss, each, Uniform() if prior is None else prior, change, guarantee)


def weigh(p: Argument, gamma: Any, low: Any, high: Any, move: Any) -> Any:
    """The price of a choice by weights π·e^{-γℓ}, where ℓ moves by something in [low, high], at the chosen value by
    ``move``.
    """
    return by.weights(p, -gamma * move, -gamma * low, lambda: -gamma * p.within("any move", low, high))


def argue(p: Argument, *, rule: Any = factor, prior: Any = lambda p: 0) -> None:
    """A loss that moves by something in [−r, s], weighed with the factor of a rule; the prior does not move."""
    epsilon, r, s = p.positive("ε"), p.count("r"), p.count("s")
    p.assume(r + s >= 1)
    gamma = rule(epsilon, (r, s))
    for low, high in by.both_ways(p, -r, s):
        p.promise(weigh(p, gamma, low, high, p.steps("move", low, high)) - prior(p), epsilon)


def argue_range(p: Argument, *, wider: int = 1) -> None:
    """The same as zCDP, at ε with ε² ≤ 8ρ (`epsilon_within`): ln w moves by something in [−γs, γr], or ``wider``."""
    rho, epsilon, r, s = p.positive("ρ"), p.positive("ε"), p.count("r"), p.count("s")
    p.assume(r + s >= 1, epsilon * epsilon <= 8 * rho)
    gamma = factor(epsilon, (r, s))
    price = by.bounded_range(p, -gamma * s, gamma * r, lambda: -gamma * p.steps("any move", -r, s))
    p.promise(wider * wider * price, rho)


_GIVEN = "adding a person moves the loss of every value by something in [−r, s]; the prior is public"

PROOFS = (
    Proof("exponential mechanism with a prior", "mechanisms.exponential", "Pure(ε)", argue, _GIVEN),
    Proof("exponential mechanism as zCDP", "mechanisms.exponential", "Zcdp(ρ)", argue_range, _GIVEN),
)
