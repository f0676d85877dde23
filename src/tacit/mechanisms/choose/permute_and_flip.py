"""Permute-and-flip: visit the grid in random order, toss a coin e^{-γ(ℓ(y) − min ℓ)} for each value, return the first
head.

PROMISE  Pure(ε) for one draw, with γ = ε/2, or γ = ε for a one-directional loss.

PROOF  Equal in law to adding independent Exp(γ) noise N_y to −ℓ(y) and returning the largest (below). Fix all noises
but that of y: y wins when N_y exceeds a number b = ℓ(y) + max_{z≠y}(N_z − ℓ(z)). For neighbours b moves by at most 2,
and by at most 1 for a one-directional loss: by at most ε/γ. P[N > b + ε/γ] ≥ e^{-ε}·P[N > b], with equality for b ≥ 0.
The laws agree: give each y an independent uniform arrival time; y is the first head with probability

    P(y) = p_y·∫_0^1 Π_{z≠y} (1 − p_z·t) dt,   p_z = e^{-γ(ℓ(z) − min ℓ)},

and P[N_y − ℓ(y) largest] is the same integral in t = e^{-γ(N_y − ℓ(y) + min ℓ)}. Its range is not bounded, so for zCDP
charge what the pure promise gives, ε·tanh(ε/2).

ACCURACY  P(y) ≤ p_y, so P[ℓ(Y) − min ℓ ≥ t] ≤ |Y|·e^{-γt}; the mean loss is never above the exponential mechanism's.

COST  A draw is linear in the number of runs on any finite grid. `pmf` multiplies polynomials of degree |Y| − 1 with
rigorous integer coefficients, on grids of at most 2^12 values.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.mechanisms.choose.exponential import excess, factor
from tacit.mechanisms.choose.race import LevelLaw, smallest_uniform
from tacit.mechanisms.grid_law import excess_accuracy, level_counts
from tacit.mechanisms.law import Accuracy
from tacit.numbers.enclosures import Enclosure, exp
from tacit.numbers.exact import Number, between, positive
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by

LARGEST = 2**12
"""The largest grid whose exact probabilities are computed; drawing has no such limit."""


class PermuteAndFlipLaw(LevelLaw):
    """The law of permute-and-flip, which is that of noisy max with exponential noise."""

    name = "permute-and-flip"

    _key = staticmethod(smallest_uniform)

    def _compute_level(self, level: int, bits: int) -> Enclosure:
        """P(y) for a value of this loss: p_y·∫ Π (1 − p_z + p_z·s) ds with s = 1 − t, so that nothing cancels."""
        if self._size > LARGEST:
            raise InvalidInput(f"permute-and-flip states probabilities on grids of at most {LARGEST} values.")
        work = bits + 4 * self._size.bit_length() + 64
        counts = level_counts(self._loss)
        counts[level] -= 1
        heads = {loss: exp(self._gamma * (self._least - loss), work) for loss in counts}
        factors = [(heads[loss].fixed(work), count) for loss, count in counts.items() if count]
        low, high = (_integral(_heads(factors, work, up), work, up) for up in (False, True))
        integral = Enclosure(low, high, -work, work)
        return Enclosure.between(heads[level] * integral, heads[level] * integral, bits).clamp(0, 1)

    def accuracy(self, beta: Number) -> Accuracy:
        """The largest excess loss (over the best value's) with probability at least 1 − β."""
        failure = between(beta, "beta", 0, 1)
        return excess_accuracy(failure, excess(self._gamma, self._size, failure))


Polynomial = list[int]
"""Coefficients over 2^work, all rounded the same way."""


def _heads(factors: Iterable[tuple[tuple[int, int], int]], work: int, up: bool) -> Polynomial:
    """Π (1 − p + p·s)^m, whose coefficients are the probabilities of 0, 1, 2, … heads."""
    one = 1 << work
    bases = [([one - low, high] if up else [one - high, low], m) for (low, high), m in factors]
    powers = sorted((_power(base, m, work, up) for base, m in bases), key=len)
    return reduce(lambda a, b: _product(a, b, work, up), powers, [one])


def _power(base: Polynomial, m: int, work: int, up: bool) -> Polynomial:
    if m == 1:
        return base
    half = _power(base, m // 2, work, up)
    square = _product(half, half, work, up)
    return _product(square, base, work, up) if m & 1 else square


def _product(a: Polynomial, b: Polynomial, work: int, up: bool) -> Polynomial:
    """The product of two polynomials by one multiplication of integers that hold all coefficients side by side."""
    slot = (2 * work + min(len(a), len(b)).bit_length() + 16) // 8 + 1
    packed = [int.from_bytes(b"".join(c.to_bytes(slot, "little") for c in p), "little") for p in (a, b)]
    count = len(a) + len(b) - 1
    wide = (packed[0] * packed[1]).to_bytes(slot * (count + 1), "little")
    products = (int.from_bytes(wide[i * slot : (i + 1) * slot], "little") for i in range(count))
    return [-(-c >> work) if up else c >> work for c in products]


def _integral(coefficients: Polynomial, work: int, up: bool) -> int:
    """∫_0^1 Σ c_k s^k ds = Σ c_k/(k + 1), over 2^work."""
    return sum(-(-c // (k + 1)) if up else c // (k + 1) for k, c in enumerate(coefficients))


def permute_and_flip(loss: StepLoss, epsilon: Number) -> PermuteAndFlipLaw:
    """A grid value chosen by permute-and-flip: heads with probability e^{-εℓ/2} (e^{-εℓ} if one-directional).

    >>> from tacit.curves import StepLoss
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import permute_and_flip
    >>> loss = StepLoss.from_losses(integers(0, 3), [3, 1, 0, 2])
    >>> law = permute_and_flip(loss, epsilon=1)
    >>> round(float(law.pmf(2)), 3)
    0.536
    """
    return PermuteAndFlipLaw(loss, positive(epsilon, "epsilon"))


def win(p: Argument, gamma: Any, low: Any, high: Any, *, sides: int = 1) -> Any:
    """The price of a race of −ℓ(y) + N_y, N of rate γ on one side or on two: the winner's noise grows by high − low."""
    noise, loss, move = p.real("N_y"), p.whole("ℓ_y"), p.steps("move_y", low, high)
    with p.case("any other value"):
        other, its_loss, its_move = p.real("N_z"), p.whole("ℓ_z"), p.steps("move_z", low, high)
        before = noise - loss > other - its_loss
        by.keep(p, before, noise + (high - low) - (loss + move) > other - (its_loss + its_move))
    return by.shift(p, high - low, gamma, None if sides == 1 else gamma, continuous=True)


def argue(p: Argument, *, rule: Any = factor, sides: int = 1) -> None:
    """A loss that moves by something in [−r, s], raced with the factor of a rule."""
    epsilon, r, s = p.positive("ε"), p.count("r"), p.count("s")
    p.assume(r + s >= 1)
    for low, high in by.both_ways(p, -r, s):
        p.promise(win(p, rule(epsilon, (r, s)), low, high, sides=sides), epsilon)


PROOFS = (
    Proof(
        "permute-and-flip",
        "mechanisms.permute_and_flip",
        "Pure(ε)",
        argue,
        "adding a person moves the loss of every value by something in [−r, s]; its law is that of noisy max with "
        "exponential noise (the module's integral)",
    ),
)
