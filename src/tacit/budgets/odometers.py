"""Odometers: what has been spent, with a bound that holds whenever one stops to read it.

A filter promises a total fixed in advance. An odometer has no total: it reports a bound after every cost; the costs may
depend on the answers, and so may the moment at which somebody stops and quotes the reading.

PROMISE. δ is fixed first. Let X be the reading when the interaction stops, by whatever rule. For neighbours with laws
P, Q of everything released and every event E: P(E) ≤ E_Q[e^X·1_E] + δ. Without costs that have a δ of their own, more
is true: with probability at least 1 − δ the privacy loss L is at most the reading at all times at once. Without δ only
pure costs are taken, and |L| ≤ X always.

PROOF. Pure costs: |L| ≤ Σε_i on every path. For zCDP costs e^{(α−1)(L_t − αR_t)}, with R_t = Σρ_i, is a supermartingale
under P, so by Ville's inequality P[some t has R_t ≤ ρ_k and L_t > αρ_k + ln(1/δ_k)/(α − 1)] ≤ δ_k; at the best α the
bound is ε_k = ρ_k + 2√(ρ_k·ln(1/δ_k)). Take levels ρ_k = ρ_0·(5/4)^k with δ_k = δ'/((k+1)(k+2)), which sum to δ', and
report ε_k of the first level not exceeded, or Σε_i where that is smaller: both hold together outside an event of mass
δ'. A cost (ε_i, δ_i) is an ε_i-pure one outside a part of mass δ_i; these parts are kept to δ − δ' in all, and on the
rest the argument applies: P(E) ≤ (δ − δ') + δ' + E_Q[e^X·1_E].

ACCURACY. Against a filter opened for exactly the ρ spent, a reading pays at most a step of the levels (12 % in ε) and
ln((k+1)(k+2)) beside ln(1/δ'). COST. O(1) for each reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from threading import Lock

from tacit.budgets.filters import ADVANCED_SHARE, BOUNDLESS, Advanced, Vector, concentrated, plus
from tacit.errors import BudgetExceeded, InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.guarantees.rounding import shortened
from tacit.numbers.enclosures import log
from tacit.numbers.exact import Number, between

START = Fraction(1, 1000)
"""ρ of the first level; below it the sum of ε is the better bound unless costs are tiny."""

STEP = Fraction(5, 4)


class Odometer:
    """Adds up adaptively chosen costs and reports, at any time, a bound on what they have revealed."""

    def __init__(self, delta: Number | None = None) -> None:
        """Fix δ before the first cost; without it only pure costs are taken and the reading is their sum."""
        self._delta = None if delta is None else between(delta, "delta", 0, 1)
        self._sums: Vector = (Fraction(0), Fraction(0), Fraction(0))
        self._lock = Lock()

    def add(self, cost: Guarantee) -> Guarantee:
        """Count a cost and return the new reading."""
        measured = self._measure(cost)
        with self._lock:
            sums = plus(self._sums, measured)
            if self._delta is not None and sums[2] > self._delta * (1 - ADVANCED_SHARE):
                raise BudgetExceeded(
                    f"the δ of all costs may reach half of the odometer's, and {cost!r} goes beyond; nothing was "
                    "counted: open the odometer with a larger delta."
                )
            self._sums = sums
        return self.reading

    @property
    def reading(self) -> Guarantee:
        """The bound now, `Pure` without δ and `Approx` with it; may be zero."""
        epsilon, rho, _ = self._sums
        if self._delta is None:
            return Pure.amount(epsilon)
        return Approx.amount(min(epsilon, reading(rho, self._delta)), self._delta)

    def _measure(self, cost: Guarantee) -> Vector:
        match cost:
            case Pure(epsilon):
                return (epsilon, concentrated(cost), Fraction(0))
            case Zcdp(rho) if self._delta is not None:
                return (BOUNDLESS, rho, Fraction(0))
            case Approx(epsilon, delta) if self._delta is not None:
                return (epsilon, concentrated(cost), delta)
        raise InvalidInput(
            f"{cost!r} cannot be counted: an odometer without delta takes pure costs only, none takes a Rényi bound; "
            "give Odometer(delta=…) and costs in Pure, Zcdp or Approx."
        )

    def __repr__(self) -> str:
        return f"<Odometer at {self.reading!r}>"


def reading(rho: Fraction, delta: Fraction) -> Fraction:
    """ε_k of the first level that ρ does not exceed, rounded up."""
    k = 0
    while rho > START * STEP**k:
        k += 1
    return _bound(k, delta)


@lru_cache(maxsize=4096)
def _bound(k: int, delta: Fraction) -> Fraction:
    """ε_k."""
    weight, level = log((k + 1) * (k + 2) / (delta * ADVANCED_SHARE)), START * STEP**k
    return shortened(((weight * level).sqrt() * 2 + level).high, up=True)


@dataclass(frozen=True)
class Metered(Advanced):
    """An odometer as a budget: what is spent holds whenever one stops, and the total is where it must stop.

    The reading is that of an `Odometer` with the total's δ. It stays within ε while Σε_i ≤ ε, or while Σρ_i is within
    the largest level with ε_k ≤ ε: the same sums as for `Advanced`, with another limit.
    """

    composition = "odometer"

    def spent(self, sums: Vector) -> Guarantee:
        """The reading; without any cost, nothing."""
        epsilon, rho, _ = sums
        if not any(sums):
            return Approx.amount(Fraction(0), Fraction(0))
        return Approx.amount(min(epsilon, reading(rho, self.total.delta)), self.total.delta)


def metered(total: Approx) -> Metered:
    """The odometer that stops at a total."""
    k = -1
    while _bound(k + 1, total.delta) <= total.epsilon:
        k += 1
    most = START * STEP**k if k >= 0 else Fraction(0)
    return Metered(total, (total.epsilon, most, total.delta * (1 - ADVANCED_SHARE)))
