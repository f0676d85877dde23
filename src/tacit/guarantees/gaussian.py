"""Gaussian differential privacy: results on neighbours show no more than a shift of a normal variable by μ.

PROMISE. `Gdp(μ)` says that the hockey stick of neighbours' results is at most that of N(μ, 1) against N(0, 1) at every
x, which is the same as a trade-off curve of at least G_μ(α) = Φ(Φ⁻¹(1 − α) − μ) (Dong, Roth and Su, 2022).

WHY IT COMPOSES TIGHTLY. Two independent shifts by μ₁ and μ₂ are one by √(μ₁² + μ₂²), because a normal vector looks the
same in every direction. A mechanism within Gdp(μ) is a post-processing of the shift, so also where the second is chosen
after the first was seen: μ² adds up, and a sum of squares with a limit fixed in advance is a filter (`budgets.tight`).

CONVERSIONS, all rounded the safe way:
- ε-DP → μ = 2Φ⁻¹(e^ε/(1+e^ε)). Why: at x = 1 the normal hockey stick 2Φ(μ/2) − 1 and its slope −Φ(−μ/2) are those of
  randomised response, (e^ε − 1)/(1+e^ε) and −1/(1+e^ε); it is convex, so it lies above that line.
- μ → (ε, δ): δ = P[N ≥ ε/μ − μ/2] − e^ε·P[N ≥ ε/μ + μ/2], which is exact; μ → ρ = μ²/2, and Rényi αμ²/2.
- ρ-zCDP and (ε, δ) imply no μ: the one leaves the middle of the curve open, the other its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from tacit.errors import InvalidInput
from tacit.guarantees import rounding
from tacit.guarantees.base import NEIGHBOURS, Guarantee, Numbered
from tacit.guarantees.kinds import Approx, Pure
from tacit.guarantees.mechanisms import Gaussian, RandomisedResponse
from tacit.guarantees.rounding import plain
from tacit.numbers.enclosures import Enclosure, exp, sqrt
from tacit.numbers.exact import Number, positive

__all__ = ["Gdp"]


@dataclass(frozen=True, init=False, repr=False)
class Gdp(Numbered):
    """μ-Gaussian differential privacy: neighbours' results show no more than a normal variable shifted by μ.

    Args:
        mu: above 0; Gaussian noise of deviation σ on what a person moves by Δ has μ = Δ/σ.

    >>> from tacit.guarantees import Gdp
    >>> Gdp(3) + Gdp(4)
    Gdp(5)
    >>> Gdp("0.1").to(Approx, delta="1e-6")
    Approx(0.4..., 1e-06)
    """

    mu: Fraction

    title = "Gaussian differential privacy"
    decides = "mu"
    pays = ("epsilon",)

    def __init__(self, mu: Number) -> None:
        object.__setattr__(self, "mu", positive(mu, "mu"))

    @classmethod
    def _implied_by(cls, given: Guarantee, delta: Number | None, order: Number | None) -> Gdp:
        if delta is not None or order is not None:
            raise InvalidInput("delta and order do not belong to Gdp; leave them out.")
        return cls(given._mu())

    @classmethod
    def within(cls, target: Guarantee) -> Gdp:
        """The largest μ whose conversion stays within ``target``, an `Approx` or a `Gdp`."""
        if isinstance(target, Gdp):
            return target
        if not isinstance(target, Approx):
            raise InvalidInput("target must be Approx or Gdp; convert it to one of these first.")
        x = exp(target.epsilon, 160)
        return cls(rounding.largest(lambda mu: Gaussian(mu * mu / 2).stick(x).high, target.delta))

    def _mu(self) -> Fraction:
        return self.mu

    def _epsilon_approx(self, delta: Fraction) -> Fraction:
        """By bisection: the least of twelve digits at which δ is surely large enough."""
        noise = Gaussian(self.mu**2 / 2)
        if noise.stick(Enclosure.of(1, 160)).high <= delta:
            return Fraction(0)
        low, high = Fraction(0), noise.spread(delta.denominator.bit_length() + 2)
        while high - low > rounding.unit(high):
            middle = rounding.shortened((low + high) / 2, up=True, digits=rounding.DIGITS + 1)
            low, high = (low, middle) if noise.stick(exp(middle, 160)).high <= delta else (middle, high)
        return rounding.shortened(high, up=True)

    def _rho(self) -> Fraction:
        return self.mu**2 / 2

    def _epsilon_renyi(self, order: Fraction) -> Fraction:
        return order * self.mu**2 / 2

    def __add__(self, other: Guarantee) -> Gdp:
        """Composition with another `Gdp` or a `Pure`: μ² adds up."""
        return cast(Gdp, super().__add__(other))

    def _plus(self, other: Guarantee) -> Gdp:
        if not isinstance(other, Gdp | Pure):
            self._refuse_sum(other)
        return Gdp(root(self.mu**2 + other._mu() ** 2, up=True))

    def _scaled(self, by: Fraction) -> Gdp:
        return Gdp(root(by * self.mu**2, up=by >= 1))

    def addends(self) -> tuple[str, tuple[Fraction, ...]]:
        """μ² adds up."""
        return "Gdp, squared:", (self.mu**2,)

    def _spent(self, other: Guarantee) -> tuple[Fraction, ...]:
        return (self.mu,)

    def _distance(self, bits: int) -> Enclosure:
        return Gaussian(self.mu**2 / 2).stick(Enclosure.of(1, bits))

    def _meaning(self) -> str:
        return f"{NEIGHBOURS} shows no more than a shift by {plain(self.mu)} standard deviations in Gaussian noise"


def root(square: Fraction, *, up: bool) -> Fraction:
    """√ of a number: exactly where it is short, else rounded to twelve digits."""
    found = sqrt(square, 160)
    near = rounding.shortened(found.high, up=False)
    return near if near**2 == square else rounding.shortened(found.high if up else found.low, up=up)


def of_pure(epsilon: Fraction) -> Fraction:
    """2Φ⁻¹(e^ε/(1+e^ε)), rounded up: the least μ whose hockey stick at 1 is not below the coin's."""
    one = Enclosure.of(1, 160)
    wanted = RandomisedResponse(epsilon).stick(one).high
    below = rounding.largest(lambda mu: Gaussian(mu * mu / 2).stick(one).low, wanted)
    return below + rounding.unit(below)
