"""How a cost is spent by one draw of a mechanism that chooses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee
from tacit.tables.releasing.room import Allowance
from tacit.tables.statistics.extremes import CURVED


def spend(cost: Guarantee, method: str | None, default: str = "scan", by_rho: str = "binary_search") -> dict[str, Any]:
    """The method and what it is told: ε, ρ where it has a curve for it, or ε and δ."""
    if method == "interior_point":
        if not isinstance(cost, Approx):
            raise InvalidInput("method 'interior_point' needs a delta; give one, or use another method.")
        return {"method": method, "epsilon": cost.epsilon, "delta": cost.delta}
    allowance = Allowance.of(cost)
    if isinstance(cost, Approx) and (method or default) not in CURVED:
        allowance = Allowance(cost.epsilon, concentrated=False)  # what is pure is within (ε, δ) as it is
    chosen = method or (by_rho if allowance.concentrated else default)
    if chosen in CURVED:
        return {"method": chosen, **allowance.keywords}
    return {"method": chosen, "epsilon": allowance.epsilon}


def shares(cost: Guarantee, parts: int, with_delta: bool) -> Guarantee:
    """An even share of a cost; of ε with δ as ρ where that is better and nobody needs the δ."""
    if with_delta and isinstance(cost, Approx):
        return Approx(cost.epsilon / parts, cost.delta / parts)
    allowance = Allowance.of(cost, choices=parts)
    return allowance.share(Fraction(1, parts)).guarantee
