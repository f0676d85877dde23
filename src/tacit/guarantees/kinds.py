"""The kinds of guarantee, as frozen exact values that compose, convert and compare.

Every kind speaks about neighbours: two datasets that differ by one person with all their rows. A mechanism M satisfies

- `Pure(ε)` when P[M(x) ∈ E] ≤ e^ε·P[M(x') ∈ E] for neighbours x, x' and every event E;
- `Approx(ε, δ)` when P[M(x) ∈ E] ≤ e^ε·P[M(x') ∈ E] + δ;
- `Renyi(α, ε)` when the Rényi divergence D_α(M(x) ‖ M(x')) is at most ε;
- `Zcdp(ρ)` when D_α(M(x) ‖ M(x')) ≤ αρ for every α > 1.

**Composition**, ``a + b``: parameters of one kind add up, exactly, also when the second mechanism is chosen after
seeing the first one's answer. `Pure` goes with any kind: its ε adds to an `Approx`, and it enters `Zcdp` and `Renyi` by
the tight conversion, rounded up. That conversion grows faster than ε, so in a long mixed sum let each `Pure` enter by
itself (``Zcdp(1) + a + b``, not ``Zcdp(1) + (a + b)``); both are valid. Any other mixture is refused. ``3 * g`` is
threefold composition and ``g / 3`` an equal share of a budget.

**Conversion**, ``g.to(Approx, delta=1e-6)``: the tight formulas of `conversions`, rounded up to twelve digits, so what
is promised is never less private than said. **The reverse**, ``Zcdp.within(Approx(1, 1e-6))``: the most that may be
spent so that the conversion stays within a target, rounded down.

**Comparison** is exact, within a kind: ``a <= b`` says that a spends no more than b in every parameter. Two `Approx`
may be incomparable; then neither ``a <= b`` nor ``b <= a``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from tacit.errors import InvalidInput
from tacit.guarantees import conversions, rounding
from tacit.guarantees.base import NEIGHBOURS, G, Guarantee, Numbered
from tacit.guarantees.rounding import factor, plain
from tacit.numbers.enclosures import Enclosure, sqrt
from tacit.numbers.exact import Number, exact, non_negative, positive

__all__ = ["Approx", "Guarantee", "Pure", "Renyi", "Zcdp"]


@dataclass(frozen=True, init=False, repr=False)
class Pure(Numbered):
    """ε-differential privacy: no result becomes more than e^ε times as likely when one person comes or goes.

    Args:
        epsilon: above 0. Texts and fractions are exact: "0.1", Fraction(1, 3); a float means what it prints.

    >>> Pure("0.5") + Pure("0.25")
    Pure(0.75)
    """

    epsilon: Fraction

    title = "Pure differential privacy"
    decides = "epsilon"
    pays = ("epsilon",)

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    @classmethod
    def _implied_by(cls, given: Guarantee, delta: Number | None, order: Number | None) -> Pure:
        _unused(delta, order)
        return cls(given._epsilon_pure())

    @classmethod
    def within(cls, target: Guarantee) -> Pure:
        """The largest ε whose conversion stays within ``target``, of any kind."""
        match target:
            case Pure():
                return target
            case Approx(epsilon, delta):
                return cls(rounding.largest(lambda x: cls(x)._epsilon_approx(delta), epsilon))
            case Zcdp(rho):
                return cls(rounding.largest(lambda x: cls(x)._rho(), rho))
            case Renyi(order, epsilon):
                return cls(rounding.largest(lambda x: cls(x)._epsilon_renyi(order), epsilon))
        raise InvalidInput("target must be Pure, Approx, Zcdp or Renyi; convert it to one of these first.")

    def _epsilon_pure(self) -> Fraction:
        return self.epsilon

    def _epsilon_approx(self, delta: Fraction) -> Fraction:
        return _at_most(self.epsilon, lambda bits: conversions.pure_approx(self.epsilon, delta, bits))

    def _rho(self) -> Fraction:
        return _at_most(self.epsilon, lambda bits: conversions.pure_zcdp(self.epsilon, bits))

    def _mu(self) -> Fraction:
        from tacit.guarantees.gaussian import of_pure  # made of the kinds here

        return of_pure(self.epsilon)

    def _epsilon_renyi(self, order: Fraction) -> Fraction:
        return _at_most(self.epsilon, lambda bits: conversions.pure_renyi(self.epsilon, order, bits))

    def __add__(self, other: G) -> G:
        """Composition; the result is of the other's kind, whatever it is."""
        return cast(G, super().__add__(other))

    def _plus(self, other: Guarantee) -> Guarantee:
        return Pure(self.epsilon + other.epsilon) if isinstance(other, Pure) else other._plus(self)

    def _spent(self, other: Guarantee) -> tuple[Fraction, ...]:
        return (self.epsilon,)

    def ratio_bound(self) -> tuple[Fraction, Fraction]:
        """(ε, 0)."""
        return self.epsilon, Fraction(0)

    def _distance(self, bits: int) -> Enclosure:
        return conversions.tanh_half(self.epsilon, bits)

    def _meaning(self) -> str:
        return f"{NEIGHBOURS} changes the probability of any result by a factor of at most {factor(self.epsilon)}"


@dataclass(frozen=True, init=False, repr=False)
class Approx(Numbered):
    """(ε, δ)-differential privacy: like `Pure(ε)`, except with probability δ, when nothing is promised.

    ε may be 0: then results differ by at most δ in total variation. δ = 0 is refused in favour of `Pure`.

    Args:
        epsilon: 0 or more.
        delta: between 0 and 1, far below one in the number of persons.

    >>> Approx(1, "1e-6") / 2
    Approx(0.5, 5e-07)
    """

    epsilon: Fraction
    delta: Fraction

    title = "Approximate differential privacy"
    decides = "delta"
    pays = ("epsilon", "delta", "rho")

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", non_negative(epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(delta))

    @classmethod
    def _implied_by(cls, given: Guarantee, delta: Number | None, order: Number | None) -> Approx:
        _unused(None, order)
        chance = probability(delta)
        return cls(given._epsilon_approx(chance), chance)

    @classmethod
    def within(cls, target: Guarantee) -> Approx:
        """An `Approx` stays within an `Approx` only: the target itself."""
        if not isinstance(target, Approx):
            raise InvalidInput("target must be Approx; no Approx guarantee implies another kind.")
        return target

    def _epsilon_approx(self, delta: Fraction) -> Fraction:
        if delta < self.delta:
            self._refuse("such", "its own delta is larger; ask for a delta that is at least as large")
        excess = (delta - self.delta) / (1 - self.delta)
        return _at_most(self.epsilon, lambda bits: conversions.pure_approx(self.epsilon, excess, bits))

    def __add__(self, other: Guarantee) -> Approx:
        """Composition with another `Approx` or a `Pure`: ε and δ add up."""
        return cast(Approx, super().__add__(other))

    def _plus(self, other: Guarantee) -> Approx:
        if not isinstance(other, Approx | Pure):
            self._refuse_sum(other)
        delta = self.delta + (other.delta if isinstance(other, Approx) else 0)
        if delta >= 1:
            raise InvalidInput("the deltas add up to 1 or more, which promises nothing; give each a smaller delta.")
        return Approx(self.epsilon + other.epsilon, delta)

    def _spent(self, other: Guarantee) -> tuple[Fraction, ...]:
        return self.epsilon, self.delta

    def ratio_bound(self) -> tuple[Fraction, Fraction]:
        """(ε, δ)."""
        return self.epsilon, self.delta

    def _distance(self, bits: int) -> Enclosure:
        return conversions.tanh_half(self.epsilon, bits) * (1 - self.delta) + self.delta

    def _meaning(self) -> str:
        change = f"{NEIGHBOURS} changes the probability of any result by a factor of at most {factor(self.epsilon)}"
        return f"{change}, except with a probability of at most δ, when nothing is promised"


@dataclass(frozen=True, init=False, repr=False)
class Zcdp(Numbered):
    """ρ-zero-concentrated differential privacy: D_α ≤ αρ at every order, as Gaussian noise of variance 1/(2ρ) has.

    Args:
        rho: above 0.

    >>> Zcdp("0.1").to(Approx, delta="1e-6")
    Approx(..., 1e-06)
    """

    rho: Fraction

    title = "Zero-concentrated differential privacy"
    decides = "rho"
    pays = ("epsilon", "rho")

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", positive(rho, "rho"))

    @classmethod
    def _implied_by(cls, given: Guarantee, delta: Number | None, order: Number | None) -> Zcdp:
        _unused(delta, order)
        return cls(given._rho())

    @classmethod
    def within(cls, target: Guarantee) -> Zcdp:
        """The largest ρ whose conversion stays within ``target``, an `Approx`, `Renyi` or `Zcdp`."""
        match target:
            case Zcdp():
                return target
            case Renyi(order, epsilon):
                return cls(epsilon / order)
            case Approx(epsilon, delta):
                rho = rounding.down(conversions.most_zcdp(epsilon, delta))
                while cls(rho)._epsilon_approx(delta) > epsilon:  # rounding up what was rounded down: one unit less
                    rho -= rounding.unit(rho)
                return cls(rho)
        raise InvalidInput("target must be Approx, Zcdp or Renyi; only a pure mechanism stays within a Pure target.")

    def _epsilon_approx(self, delta: Fraction) -> Fraction:
        order = conversions.zcdp_order(self.rho, delta)
        divergence = order * self.rho
        return rounding.up(lambda bits: conversions.renyi_approx(Enclosure.of(divergence, bits), order, delta, bits))

    def _rho(self) -> Fraction:
        return self.rho

    def _epsilon_renyi(self, order: Fraction) -> Fraction:
        return order * self.rho

    def __add__(self, other: Guarantee) -> Zcdp:
        """Composition with another `Zcdp` or a `Pure`: ρ adds up, a `Pure` entering with ε·tanh(ε/2)."""
        return cast(Zcdp, super().__add__(other))

    def _plus(self, other: Guarantee) -> Zcdp:
        if not isinstance(other, Zcdp | Pure):
            self._refuse_sum(other)
        return Zcdp(self.rho + other._rho())

    def _spent(self, other: Guarantee) -> tuple[Fraction, ...]:
        return (self.rho,)

    def _distance(self, bits: int) -> Enclosure:
        return conversions.divergence_distance(self.rho, bits)

    def _meaning(self) -> str:
        root = sqrt(2 * self.rho)
        shift = rounding.shortened(root.low, up=True, digits=3)
        if shift**2 < 2 * self.rho:
            shift = rounding.shortened(root.high, up=True, digits=3)
        return f"{NEIGHBOURS} shows no more than a shift by {plain(shift)} standard deviations in Gaussian noise"


@dataclass(frozen=True, init=False, repr=False)
class Renyi(Numbered):
    """(α, ε)-Rényi differential privacy: the Rényi divergence of order α > 1 is at most ε.

    Args:
        order: the order α, above 1.
        epsilon: above 0.

    >>> Renyi(8, 1) + Renyi(8, 2)
    Renyi(8, 3)
    """

    order: Fraction
    epsilon: Fraction

    title = "Rényi differential privacy"
    decides = "epsilon"
    pays = ("epsilon", "rho")

    def __init__(self, order: Number, epsilon: Number) -> None:
        object.__setattr__(self, "order", above_one(order))
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    @classmethod
    def _implied_by(cls, given: Guarantee, delta: Number | None, order: Number | None) -> Renyi:
        _unused(delta, None)
        alpha = above_one(order)
        return cls(alpha, given._epsilon_renyi(alpha))

    @classmethod
    def within(cls, target: Guarantee, *, order: Number | None = None) -> Renyi:
        """The largest ε at this order whose conversion stays within ``target``, an `Approx` or a `Renyi`."""
        match target:
            case Renyi():
                return target if order is None else target.to(Renyi, order=order)
            case Approx(epsilon, delta):
                alpha = above_one(order)
                most = rounding.down(lambda bits: epsilon - conversions.slack(alpha, delta, bits))
                if most <= 0:
                    raise InvalidInput("no Renyi guarantee of this order stays within the target; give a larger order.")
                while cls(alpha, most)._epsilon_approx(delta) > epsilon:  # as for Zcdp
                    most -= rounding.unit(most)
                return cls(alpha, most)
        raise InvalidInput("target must be Approx or Renyi; convert it to one of these first.")

    def _epsilon_approx(self, delta: Fraction) -> Fraction:
        def bound(bits: int) -> Enclosure:
            return conversions.renyi_approx(Enclosure.of(self.epsilon, bits), self.order, delta, bits)

        return rounding.up(bound)

    def _epsilon_renyi(self, order: Fraction) -> Fraction:
        if order > self.order:
            self._refuse("such", "a bound holds at lower orders but says nothing about higher ones; lower the order")
        return self.epsilon

    def __add__(self, other: Guarantee) -> Renyi:
        """Composition with another `Renyi` of the same order or a `Pure`: ε adds up."""
        return cast(Renyi, super().__add__(other))

    def _plus(self, other: Guarantee) -> Renyi:
        if not isinstance(other, Renyi | Pure):
            self._refuse_sum(other)
        if isinstance(other, Renyi) and other.order != self.order:
            raise InvalidInput("Renyi guarantees compose only at one order, fixed in advance; use one order for both.")
        return Renyi(self.order, self.epsilon + other._epsilon_renyi(self.order))

    def _scaled(self, by: Fraction) -> Renyi:
        return Renyi(self.order, by * self.epsilon)

    def addends(self) -> tuple[str, tuple[Fraction, ...]]:
        """ε adds up at one order only."""
        return f"Renyi at order {self.order}:", (self.epsilon,)

    def _spent(self, other: Guarantee) -> tuple[Fraction, ...]:
        if not (isinstance(other, Renyi) and other.order == self.order):
            raise InvalidInput("Renyi guarantees of different orders are not ordered; compare them at one order.")
        return (self.epsilon,)

    def _distance(self, bits: int) -> Enclosure:
        return conversions.divergence_distance(self.epsilon, bits)

    def _meaning(self) -> str:
        return f"{NEIGHBOURS} moves the results by a Rényi divergence of order α of at most ε"


def above_one(order: Number | None) -> Fraction:
    """A Rényi order."""
    if order is None:
        raise InvalidInput("order is needed for a Renyi guarantee; give a number above 1 such as 8.")
    number = exact(order, "order")
    if number <= 1:
        raise InvalidInput("order must be above 1; give a number such as 2 or 8.")
    return number


def probability(delta: Number | None) -> Fraction:
    """A δ strictly between 0 and 1."""
    if delta is None:
        raise InvalidInput("delta is needed for an Approx guarantee; give a small number such as 1e-6.")
    number = exact(delta, "delta")
    if number == 0:
        raise InvalidInput("delta must be above 0; with delta = 0 the guarantee is pure, so write Pure(epsilon).")
    if not 0 < number < 1:
        raise InvalidInput("delta must lie strictly between 0 and 1; give a small number such as 1e-6.")
    return number


def _unused(delta: Number | None, order: Number | None) -> None:
    if delta is not None:
        raise InvalidInput("delta is given only when converting to Approx; leave it out.")
    if order is not None:
        raise InvalidInput("order is given only when converting to Renyi; leave it out.")


def _at_most(known: Fraction, number: Callable[[int], Enclosure]) -> Fraction:
    """The number rounded up, or a bound known exactly where rounding would exceed it."""
    return min(known, rounding.up(number))
