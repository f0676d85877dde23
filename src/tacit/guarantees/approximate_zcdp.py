"""Approximate zero-concentrated privacy: ρ-zCDP, except with probability δ, when nothing is promised.

PROMISE. `ApproxZcdp(ρ, δ)`: outside a part of probability δ on either side, neighbours' results have D_α ≤ αρ at every
order. ρ and δ add up under composition, also of costs chosen one after the other: outside the parts, which miss Σδ_i at
most, the argument for zCDP holds. So a budget of this kind takes pure, zCDP and (ε, δ) costs alike, an (ε, δ) one as
randomised response with a flag: ε·tanh(ε/2) and δ. That is what an advanced budget adds up too; here nothing is
converted until the end, so no δ has to be set aside before.

CONVERSION to (ε, δ'), for δ' > δ: the tight one of ρ at (δ' − δ)/(1 − δ).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from tacit.errors import InvalidInput
from tacit.guarantees.base import NEIGHBOURS, Guarantee, Numbered
from tacit.guarantees.kinds import Approx, Pure, Zcdp, probability
from tacit.guarantees.rounding import plain
from tacit.numbers.enclosures import Enclosure, sqrt
from tacit.numbers.exact import Number, positive

__all__ = ["ApproxZcdp"]


@dataclass(frozen=True, init=False, repr=False)
class ApproxZcdp(Numbered):
    """(ρ, δ)-approximate zCDP: like `Zcdp(ρ)`, except with probability δ, when nothing is promised.

    Args:
        rho: above 0.
        delta: between 0 and 1.

    >>> from tacit.guarantees import ApproxZcdp
    >>> ApproxZcdp("0.1", "1e-7") + Zcdp("0.1")
    ApproxZcdp(0.2, 1e-07)
    >>> ApproxZcdp("0.1", "1e-7").to(Approx, delta="1e-6")
    Approx(2..., 1e-06)
    """

    rho: Fraction
    delta: Fraction

    title = "Approximate zero-concentrated differential privacy"
    decides = "rho"
    pays = ("epsilon", "delta", "rho")

    def __init__(self, rho: Number, delta: Number) -> None:
        object.__setattr__(self, "rho", positive(rho, "rho"))
        object.__setattr__(self, "delta", probability(delta))

    @classmethod
    def _implied_by(cls, given: Guarantee, delta: Number | None, order: Number | None) -> ApproxZcdp:
        if order is not None:
            raise InvalidInput("order is given only when converting to Renyi; leave it out.")
        own = given.delta if isinstance(given, Approx | ApproxZcdp) else None
        wanted = own if delta is None else probability(delta)
        if wanted is None or (own is not None and wanted < own):
            raise InvalidInput("delta is needed for an ApproxZcdp guarantee, no smaller than the given one's own.")
        return cls(concentrated(given), wanted)

    @classmethod
    def within(cls, target: Guarantee) -> ApproxZcdp:
        """A target of this kind, or half of an Approx target's δ and the largest ρ for the other half."""
        if isinstance(target, ApproxZcdp):
            return target
        if not isinstance(target, Approx):
            raise InvalidInput("target must be Approx or ApproxZcdp; convert it to one of these first.")
        own = target.delta / 2
        return cls(Zcdp.within(Approx(target.epsilon, (target.delta - own) / (1 - own))).rho, own)

    def _epsilon_approx(self, delta: Fraction) -> Fraction:
        if delta <= self.delta:
            self._refuse("such", "its own delta is as large; ask for a larger delta")
        return Zcdp(self.rho)._epsilon_approx((delta - self.delta) / (1 - self.delta))

    def __add__(self, other: Guarantee) -> ApproxZcdp:
        """Composition with a `Pure`, `Zcdp`, `Approx` or another `ApproxZcdp`: ρ and δ add up."""
        return cast(ApproxZcdp, super().__add__(other))

    def _plus(self, other: Guarantee) -> ApproxZcdp:
        if not isinstance(other, Pure | Zcdp | Approx | ApproxZcdp):
            self._refuse_sum(other)
        own = other.delta if isinstance(other, Approx | ApproxZcdp) else 0
        return ApproxZcdp(self.rho + concentrated(other), self.delta + own)

    def _spent(self, other: Guarantee) -> tuple[Fraction, ...]:
        return self.rho, self.delta

    def _distance(self, bits: int) -> Enclosure:
        return Zcdp(self.rho)._distance(bits) * (1 - self.delta) + self.delta

    def _meaning(self) -> str:
        shift = sqrt(2 * self.rho).high
        return (
            f"{NEIGHBOURS} shows no more than a shift by {plain(shift)} standard deviations in Gaussian noise, except "
            "with a probability of at most δ, when nothing is promised"
        )


def concentrated(given: Guarantee) -> Fraction:
    """The ρ of a guarantee outside its δ."""
    if isinstance(given, ApproxZcdp):
        return given.rho
    return Pure(given.epsilon)._rho() if isinstance(given, Approx) else given._rho()
