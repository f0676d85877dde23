"""The exponential mechanism: P(y) ∝ π(y)·e^{-γℓ(y)} with γ = ε/2, or ε for a one-directional loss.

PROMISE  Pure(ε) for one draw; also (ε²/8)-zCDP (`law.zcdp`). The prior π is public.

PROOF  Let x' be x with one person added, γ the factor of ℓ. General loss, γ = ε/2: π(y)e^{-γℓ} moves by a factor in
[e^{-ε/2}, e^{ε/2}] and so does its sum, so their quotient moves by at most e^ε. One-directional, γ = ε: ℓ rises by 0 or
1 for every y, so the weight and the sum both move by a factor in [e^{-ε}, 1], and the quotient by at most e^{±ε}.
In general, where adding a person moves ℓ by something in [−r, s], both move by a factor in [e^{-γs}, e^{γr}] and the
quotient by at most e^{γ(r+s)}, so γ = ε/(r + s).
Either way the log ratio over all y lies in an interval of length ε (bounded range), which gives ε²/8.

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

from tacit.curves import StepLoss
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.choose.priors import Prior, Uniform
from tacit.mechanisms.grid_law import GridLaw, excess_accuracy
from tacit.mechanisms.law import Accuracy, Named
from tacit.numbers.enclosures import Enclosure, exp, log_ceiling, total
from tacit.numbers.exact import Number, between, positive, whole
from tacit.randomness import Categorical, Randomness
from tacit.randomness.inversion import Inversion, Table, shares


def rate(loss: StepLoss, epsilon: Fraction, change: tuple[int, int] | None = None) -> Fraction:
    """The factor γ of the loss that ε pays for: ε for a one-directional loss, ε/2 otherwise, ε/(r+s) for a change."""
    if change is not None:
        return epsilon / whole(sum(whole(part, "change", 0) for part in change), "the parts of change together", 1)
    return epsilon if loss.one_directional else epsilon / 2


class ExponentialLaw(GridLaw):
    """The law of the exponential mechanism."""

    name = "exponential mechanism"

    def __init__(self, loss: StepLoss, epsilon: Fraction, prior: Prior, change: tuple[int, int] | None = None) -> None:
        self.grid, self.prior = loss.grid, prior
        self.guarantee, self._moves = Pure(epsilon), change or loss.moves
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
    loss: StepLoss, epsilon: Number, prior: Prior | None = None, *, change: tuple[int, int] | None = None
) -> ExponentialLaw:
    """A grid value chosen with probability in proportion to π·e^{-εℓ/2} (e^{-εℓ} if one-directional).

    ``change`` = (r, s) says that adding a person moves the loss by something in [−r, s]; the factor is then ε/(r+s).
    """
    return ExponentialLaw(loss, positive(epsilon, "epsilon"), Uniform() if prior is None else prior, change)
