"""Stable arg-min (gap-max): release the value of smallest loss when it is ahead by enough, and otherwise nothing.

PROMISE  Approx(ε, δ) for one draw; the output is a grid value or None (no release).

PROOF  Let gap be the second smallest loss minus the smallest, d = ⌈gap/2⌉, or d = gap for a one-directional loss.
Release the best value when d + Z ≥ T, Z discrete Laplace(ε), T the least integer ≥ 1 with P[Z ≥ T − 1] ≤ δ, which is
T = 1 + ⌈ln(1/(δ(1 + e^{-ε})))/ε⌉. For neighbours the gap moves by at most 2, by at most 1 if one-directional, so d
moves by at most 1. If both have the same best value, whether it is released costs ε, as Z absorbs a shift by 1 at
e^ε. If the best values differ, each is at most 2 ahead of the other's (1 if one-directional), so d ≤ 1 on both sides:
either is released with probability at most P[Z ≥ T − 1] ≤ δ, and no release costs e^ε at most. One-sided noise would
not do: with d = T for x and d = T − 1 for x', x' could refuse where x never does. Ties have d = 0; the lowest index
counts as best.

ACCURACY  A gap with d ≥ T − 1 + k, P[Z ≥ k] ≤ β, is released with probability at least 1 − β.

COST  Linear in the number of runs; the grid may have no end. A fallback where nothing is released pays its own ε.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction

from tacit.curves import Run, StepLoss
from tacit.errors import InvalidInput
from tacit.guarantees import Approx
from tacit.mechanisms.choose.stable_mode import decide
from tacit.mechanisms.grid_law import ENUMERABLE, Answer
from tacit.mechanisms.law import Accuracy, Law, Named
from tacit.noises import DiscreteLaplace
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number, between, positive
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import equal
from tacit.randomness import Randomness


class StableArgminLaw(Law[Answer | None]):
    """The law of the stable arg-min: one value with some probability, None with the rest."""

    name = "stable arg-min"

    def __init__(self, loss: StepLoss, epsilon: Fraction, delta: Fraction) -> None:
        self.grid, self.guarantee = loss.grid, Approx(epsilon, delta)
        self._noise, self._halved = DiscreteLaplace(epsilon), not loss.one_directional
        self.threshold = 1 + self._noise.threshold(delta)
        self._best, self._lead = _leader(loss)

    @property
    def delta(self) -> Enclosure:
        """P[Z ≥ T − 1], the δ actually spent, which is at most the promised one."""
        return self._noise.tail(self.threshold - 1)

    def named(self) -> Named:
        """The noise of the test, and what it must reach where the best value may be another."""
        return {"law": "stable mode", "rate": str(self._noise.rate), "threshold": str(self.threshold - 1)}

    def _draw(self, source: Randomness) -> Answer | None:
        noise = self._noise.draw(source)
        if self._lead is None or self._lead + noise >= self.threshold:
            return self.grid.answer(self._best)
        return None

    def pmf(self, y: Number | None, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]; None is no release."""
        one = Enclosure.of(1, bits)
        released = one if self._lead is None else self._noise.tail(self.threshold - self._lead, bits)
        if y is None:
            return (1 - released).clamp(0, 1)
        return released if self.grid.index(y) == self._best else Enclosure.of(0, bits)

    def outcomes(self) -> Iterable[Answer]:
        """Every value of the grid; what is left is None."""
        first, last = self.grid.first, self.grid.last
        if first is None or last is None or last - first >= ENUMERABLE:
            raise InvalidInput(f"the stable arg-min lists its outputs on grids of at most {ENUMERABLE} values.")
        return (self.grid.answer(i) for i in range(first, last + 1))

    def key(self) -> Hashable:
        """The best value and its lead."""
        return type(self), self.guarantee, self.grid, self._best, self._lead

    def accuracy(self, beta: Number) -> Accuracy:
        """The gap from which the best value is released with probability at least 1 − β."""
        failure = between(beta, "beta", 0, 1)
        lead = self.threshold - 1 + self._noise.threshold(failure)
        gap = 2 * lead - 1 if self._halved else lead
        statement = f"a value ahead by {gap} or more is released with probability at least {1 - failure}"
        return Accuracy(failure, gap, statement)


def _leader(loss: StepLoss) -> tuple[int, int | None]:
    """The lowest index of smallest loss, and its lead d over the second; None where there is no other value."""
    best = min(loss.runs, key=lambda run: run.loss)
    index = best.first if best.first is not None else best.last
    index = 0 if index is None else index
    if _is_long(best):
        return index, 0
    others = [run.loss for run in loss.runs if run is not best]
    if not others:
        return index, None
    gap = min(others) - best.loss
    return index, lead_of(gap, loss.one_directional)


def lead_of(gap: int, one_directional: bool) -> int:
    """d, which a person moves by at most 1."""
    return gap if one_directional else -(-gap // 2)


def _is_long(run: Run) -> bool:
    return run.length is None or run.length > 1


def stable_argmin(loss: StepLoss, epsilon: Number, delta: Number) -> StableArgminLaw:
    """The grid value of smallest loss if it is clearly ahead, otherwise None.

    >>> from tacit.curves import StepLoss
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import stable_argmin
    >>> loss = StepLoss.from_losses(integers(0, 2), [40, 0, 40])
    >>> law = stable_argmin(loss, epsilon=1, delta="1e-6")
    >>> round(float(law.pmf(1)), 3)
    0.998
    """
    return StableArgminLaw(loss, positive(epsilon, "epsilon"), between(delta, "delta", 0, 1))


def argue(p: Argument, *, low: int = 0, sides: int = 2) -> None:
    """The smallest loss and the next, or the losses of two best values; ``low`` is how much too low T is."""
    epsilon, delta = p.positive("ε"), p.positive("δ")
    for name, least, most, one in (("any loss", -1, 1, False), ("added", 0, 1, True), ("removed", -1, 0, True)):
        with p.case(name):
            gap, move = p.count("gap"), p.steps("move of the best", least, most)
            with p.case("the same best value"):
                later = gap + by.extreme(p, "move of the next", least, most) - move
                p.assume(later >= 0)
                lead, other = p.whole("d"), p.whole("d'")
                p.assume(equal(lead, lead_of(gap, one)), equal(other, lead_of(later, one)))
                p.derive((other - lead <= 1) & (other - lead >= -1))
                decide(p, epsilon, delta, lead, other, same=True, room=1 - low, sides=sides)
            with p.case("another best value"):
                back = p.count("gap of the other")  # both at most what separates the two values
                apart, turned = p.count("apart"), p.steps("move of the other", least, most)
                p.assume(gap <= apart, back <= -(apart + turned - move), apart + turned - move <= 0)
                lead, other = p.whole("d"), p.whole("d'")
                p.assume(equal(lead, lead_of(gap, one)), equal(other, lead_of(back, one)))
                p.derive((lead >= 0) & (lead <= 1) & (other >= 0) & (other <= 1))
                decide(p, epsilon, delta, lead, other, same=False, room=1 - low, sides=sides)


PROOFS = (
    Proof(
        "stable arg-min",
        "mechanisms.stable_argmin",
        "Approx(ε, δ)",
        argue,
        "a person moves the loss of every value by something in [−1, 1], or in [0, 1]; P[Z ≥ T − 1] ≤ δ",
    ),
)
