"""Noise for a bound on the local sensitivity that was itself found privately.

PROMISE  Approx(ε₁ + ε₂, δ₁ + δ) for one draw: a measurement, and the statistic with noise for the bound that follows
from it. The measurement is any law, Pure(ε₁) or Approx(ε₁, δ₁), and what makes a bound of what it draws is a public
rule g. THE CALLER MUST KNOW that on every dataset x the bound is at least the local sensitivity LS(x), the most that
adding or removing one person moves f there, except with probability δ. Privacy rests on it.

PROOF  Let G be the measurements m with g(m) ≥ LS(x), of probability at least 1 − δ on x. For m in G every neighbour x'
has |f(x) − f(x')| ≤ g(m), so discrete Laplace noise of scale g(m)/ε₂ has P[E | m] ≤ e^{ε₂}·P'[E | m] for every event E,
and so P[m ∈ G, E] ≤ e^{ε₁+ε₂}·P'[E] + δ₁, as the measurement is (ε₁, δ₁). Together P[E] ≤ e^{ε₁+ε₂}·P'[E] + δ₁ + δ.
LS(x) is that of x alone: nothing is asked about the bound on x'. Bounds are whole steps of a public lattice, rounded
up, and f is rounded to the lattice, which keeps a difference of whole steps.

ACCURACY  Noise of scale g(m)/ε₂, and both are released: the interval is known.

COST  That of the measurement, and one draw.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from tacit.errors import InvalidInput
from tacit.guarantees import Approx
from tacit.mechanisms.law import Accuracy, Law
from tacit.mechanisms.local.propose_test_release import POINTS, _release
from tacit.mechanisms.noise.noise import NoisyInteger, laplace
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number, between, exact, positive
from tacit.proofs import Argument, Proof
from tacit.randomness import Randomness

Rule = Callable[[Any], Number]
"""From what a measurement drew to a bound on the local sensitivity."""


class Bounded(NamedTuple):
    """What was measured, and the statistic with noise for the bound that follows from it."""

    measured: Any
    value: Fraction


class BoundedLaw(Law[Bounded]):
    """The law of `private_bound`."""

    name = "noise for a private bound"

    def __init__(
        self, value: Fraction, measurement: Law[Any], rule: Rule, epsilon: Fraction, lattice: Fraction, delta: Fraction
    ) -> None:
        self.lattice, self._rule, self._epsilon = lattice, rule, epsilon
        self._measurement, self._index = measurement, round_to(value, lattice)
        self.guarantee = promised(measurement, epsilon, delta)
        self._known: dict[tuple[int, int, int], Enclosure] = {}
        self._noises: dict[Any, NoisyInteger] = {}

    def noise(self, measured: Any) -> NoisyInteger:
        """The law of the value, in steps of the lattice, once the bound is known."""
        if measured not in self._noises:
            self._noises[measured] = laplace(self._index, self._epsilon, steps(self._rule(measured), self.lattice))
        return self._noises[measured]

    def _draw(self, source: Randomness) -> Bounded:
        measured = self._measurement._draw(source)
        return Bounded(measured, self.noise(measured)._draw(source) * self.lattice)

    def pmf(self, y: Bounded, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        index = y.value / self.lattice
        if index.denominator != 1:
            return Enclosure.of(0, bits)
        law = self.noise(y.measured)
        assert law.sensitivity is not None
        if (asked := (law.sensitivity, index.numerator, bits)) not in self._known:  # many measurements have one bound
            self._known[asked] = law.pmf(index.numerator, bits)
        return self._measurement.pmf(y.measured, bits) * self._known[asked]

    def outcomes(self) -> Iterable[Bounded]:
        """What the measurement lists, with a public window of the lattice around 0."""
        values = [i * self.lattice for i in range(-POINTS // 4, POINTS)]
        return (Bounded(*pair) for pair in product(self._measurement.outcomes(), values))

    def key(self) -> Hashable:
        """The measurement's, the value and the public numbers; rules are told apart by being the same object."""
        return type(self), self.guarantee, self._measurement.key(), self._index, self.lattice, self._epsilon, self._rule

    def accuracy(self, beta: Number) -> Accuracy:
        """The noise as a multiple of the bound."""
        failure = between(beta, "beta", 0, 1)
        times = float(laplace(0, self._epsilon, 1000).reach(failure)) / 1000
        words = f"the noise is at most about {times:.4g} times the bound with probability at least {1 - failure}"
        return Accuracy(failure, None, words)


def promised(measurement: Law[Any], epsilon: Fraction, delta: Fraction) -> Approx:
    """The sum of what the measurement, the noise, and the chance that the bound fails cost."""
    known = measurement.guarantee.ratio_bound()
    if known is None:
        raise InvalidInput("the measurement must be Pure or Approx; convert its guarantee first.")
    return Approx(known[0] + epsilon, known[1] + delta)


def round_to(value: Fraction, lattice: Fraction) -> int:
    """The nearest step of the lattice."""
    return int((value / lattice + Fraction(1, 2)) // 1)


def steps(bound: Number, lattice: Fraction) -> int:
    """A bound in whole steps of the lattice, rounded up, at least one."""
    return max(1, int(-(-exact(bound, "bound") // lattice)))


def private_bound(
    value: Number, measurement: Law[Any], rule: Rule, epsilon: Number, delta: Number, lattice: Number = 1
) -> BoundedLaw:
    """A statistic with noise for a bound on its local sensitivity, which ``rule`` makes of what ``measurement`` drew.

    ``epsilon`` is spent on the noise, beside what the measurement costs; ``delta`` is the most, on any dataset, that
    the bound lies below the local sensitivity with. Privacy rests on it.

    >>> from tacit.mechanisms import laplace, private_bound
    >>> law = private_bound("2.3", laplace(10, "0.5"), lambda noisy: "0.3", 1, "0.01", lattice="0.25")
    >>> law.guarantee
    Approx(1.5, 0.01)
    """
    return BoundedLaw(
        exact(value, "value"),
        measurement,
        rule,
        positive(epsilon, "epsilon"),
        positive(lattice, "lattice"),
        between(delta, "delta", 0, 1),
    )


def argue(p: Argument, *, scale: Any = lambda steps: steps, charged: Any = lambda paid: paid, fails: int = 1) -> None:
    """The bound holds, and the noise is for it; or it does not, with probability at most δ."""
    first, rest, delta = p.positive("ε₁"), p.positive("ε₂"), p.positive("δ")
    with p.case("the bound holds"):
        measured = p.real("price of the measurement", lambda x: x <= first)
        p.promise(measured + _release(p, rest, scale), charged(first) + rest)
    with p.case("the bound is too small"):
        chance = p.real("its probability", lambda x: x >= 0, lambda x: x <= fails * delta)
        p.promise(chance, delta)


PROOFS = (
    Proof(
        "noise for a private bound",
        "mechanisms.private_bound",
        "Approx(ε₁ + ε₂, δ)",
        argue,
        "the measurement is Pure(ε₁); the bound is at least the local sensitivity but with probability δ, on all data",
    ),
)
