"""What a question costs, and how its cost is divided among the steps of a statistic.

``epsilon=`` means pure mechanisms (Laplace noise), ``rho=`` Gaussian noise under zCDP, ``epsilon=, delta=``
Gaussian noise under the largest ρ whose tight conversion stays within (ε, δ). A step that is pure by nature (a
scan, a choice) takes from a share of ρ the largest ε with ε·tanh(ε/2) ≤ ρ.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.numbers.exact import Number, positive

LEAST = Fraction(1, 10**20)
"""The least ε of a question: below that noise drowns 64-bit sums of everybody alive."""

MOST = 10**6
"""The largest ε or ρ of a question: exact arithmetic would only grow, and there is no privacy to lose any more."""


def cost_of(epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None) -> Guarantee:
    """The guarantee that an analyst names as ε, as ε with δ, or as ρ."""
    for name, amount, least in (("epsilon", epsilon, LEAST), ("rho", rho, LEAST**2)):
        if amount is not None and not least <= positive(amount, name) <= MOST:
            raise InvalidInput(
                f"{name} must lie between {float(least):g} and {MOST:g}; an answer outside is useless or not private."
            )
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise InvalidInput("give either rho= or epsilon= (with delta= if wanted), not both.")
    elif epsilon is None:
        raise InvalidInput("name what the answer may cost: epsilon=0.5, or rho=0.01, or epsilon=0.5, delta=1e-6.")
    return Guarantee.of(epsilon=epsilon, delta=delta, rho=rho)


@dataclass(frozen=True)
class Allowance:
    """What a statistic may spend on its steps: ε of pure privacy or ρ of concentrated privacy."""

    amount: Fraction
    concentrated: bool

    @classmethod
    def of(cls, cost: Guarantee) -> Allowance:
        """The allowance that a cost buys."""
        match cost:
            case Pure(epsilon):
                return cls(epsilon, concentrated=False)
            case Zcdp(rho):
                return cls(rho, concentrated=True)
            case Approx():
                return cls(Zcdp.within(cost).rho, concentrated=True)
        raise InvalidInput("a question costs epsilon, rho, or epsilon with delta; convert other guarantees first.")

    def share(self, part: Fraction) -> Allowance:
        """A part of it."""
        return Allowance(self.amount * part, self.concentrated)

    @property
    def epsilon(self) -> Fraction:
        """The ε of a pure step that this pays for."""
        return Pure.within(Zcdp(self.amount)).epsilon if self.concentrated else self.amount

    @property
    def guarantee(self) -> Guarantee:
        """The promise of a step that uses all of it."""
        return Zcdp(self.amount) if self.concentrated else Pure(self.amount)
