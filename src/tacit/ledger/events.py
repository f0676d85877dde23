"""What was spent, as dp-accounting events, for accounting by privacy-loss distributions or other orders.

Each cost becomes the event that dominates every mechanism of that cost:
- Pure(ε): binary randomised response with noise parameter p = 2/(1 + e^ε), which dominates every ε-DP mechanism;
- Zcdp(ρ): ZCDpEvent(ρ), which the Rényi accountant understands;
- Approx(ε, δ): the event of Pure(ε), and δ counted apart: it is that outside a part of mass δ;
- Renyi: no event describes one order alone; the event is UnsupportedDpEvent, and every accountant says so.

Numbers are rounded to floats on the safe side. The library wants ``neighboring_relation=REPLACE_ONE`` for randomised
response; the pair of laws is the same. Such accounting is for costs fixed in advance: where later costs depended on
answers, only the ledger's own filter is a proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import Any

from tacit.errors import not_installed
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.ledger.ledger import Ledger
from tacit.ledger.reports import charges
from tacit.numbers.enclosures import exp


@dataclass(frozen=True)
class Events:
    """The composition of all charges of a dataset."""

    event: Any
    """A dp_accounting ComposedDpEvent, in the order of the charges."""
    delta: Fraction
    """What to add to the δ an accountant finds: the δ of (ε, δ) costs."""


def dp_events(ledger: Ledger, name: str) -> Events:
    """All charges of a dataset as one composed dp-accounting event."""
    try:
        import dp_accounting
    except ImportError:
        raise not_installed("events need the package dp-accounting", "accounting") from None
    costs = [charge.guarantee for charge in charges(ledger, name)]
    delta = sum((cost.delta for cost in costs if isinstance(cost, Approx)), start=Fraction(0))
    return Events(dp_accounting.ComposedDpEvent([_event(dp_accounting, cost) for cost in costs]), delta)


def _event(library: Any, cost: Guarantee) -> Any:
    match cost:
        case Pure(epsilon) | Approx(epsilon, _):
            if epsilon == 0:
                return library.NoOpDpEvent()
            noise = (2 / (1 + exp(epsilon))).low
            return library.RandomizedResponseDpEvent(noise_parameter=_float(noise, up=False), num_buckets=2)
        case Zcdp(rho):
            return library.ZCDpEvent(rho=_float(rho, up=True))
    return library.UnsupportedDpEvent()


def _float(x: Fraction, *, up: bool) -> float:
    """The nearest float that is not below x (``up``) or not above it."""
    nearest = float(x)
    if up:
        return nearest if Fraction(nearest) >= x else nextafter(nearest, inf)
    return nearest if Fraction(nearest) <= x else nextafter(nearest, 0.0)
