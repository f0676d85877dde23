"""Privacy filters: how costs chosen one after the other, each in view of the answers so far, add up to a promise.

PROMISE. A filter turns each cost into a vector and adds. As long as every charge leaves the sum admitted, all answers
together satisfy the total guarantee, however the costs were chosen.

PROOF. Write L for the privacy loss of everything released, on one pair of neighbours P, Q.
- `Basic`, total Pure(ε): |L| ≤ Σε_i on every path. Total Approx(ε, δ): the part min(P_i, e^{ε_i}·Q_i) of an answer's
  law is all but δ_i of it, so on every path the product of these parts is at most e^{Σε_i}·Q and misses Σδ_i at most.
- `Concentrated`, total Zcdp(ρ) or Renyi(α, r): given the past, E[e^{(α−1)L_i}] ≤ e^{(α−1)r_i}, so the product of
  e^{(α−1)(L_i − r_i)} is a supermartingale, and Σr_i ≤ r on every path gives E[e^{(α−1)L}] ≤ e^{(α−1)r}. For zCDP
  r_i = αρ_i at every α at once, for ApproxZcdp(ρ, δ) outside parts of mass Σδ_i ≤ δ. A Rényi order chosen after seeing
  answers voids the step: it is fixed at opening.
- `Advanced`, total Approx(ε, δ): δ' < δ is set aside at opening and Σδ_i ≤ δ − δ' is asked. A charge is admitted when
  Σε_i ≤ ε or Σρ_i ≤ ρ*: a pure cost has ρ_i = ε_i·tanh(ε_i/2), and ρ* is the largest ρ that is (ε, δ')-DP by the
  tight conversion. An (ε_i, δ_i) answer is, outside a part of mass δ_i, a pure ε_i one (randomised response with a
  flag dominates it). Split the outcomes into A, where the ε-sum ended within ε, and the rest B, where the ρ-sum did:
  P(E∩A) ≤ e^ε·Q(E∩A) path by path; P(E∩B) ≤ e^ε·Q(E∩B) + δ', since on B the zCDP filter never stopped. Add.
- `Rooted`, total Approx(ε, δ): the classical √(2·ln(1/δ')·S) + S/2 ≤ ε with S = Σε_i². As ε·tanh(ε/2) ≤ ε²/2 and the
  tight conversion is below ρ + 2√(ρ·ln(1/δ')), `Advanced` admits whatever this admits; it is kept for comparison.

Not covered by these arguments, hence refused: a cost with δ in a budget without δ; zCDP in a pure budget; a Rényi
cost of a lower order than the budget's, or in a zCDP budget, which needs all orders.

ACCURACY. Converted costs are rounded up at the 12th digit; nothing else is lost. COST. O(1) for each charge.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TypeVar

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, ApproxZcdp, Gdp, Guarantee, Pure, Renyi, RenyiCurve, Zcdp
from tacit.guarantees.rounding import shortened
from tacit.numbers.enclosures import Enclosure, log
from tacit.numbers.exact import Number, between

CONVERSION_SHARE = Fraction(1, 100)
"""How much of the total δ one zCDP or Rényi cost takes for its conversion in a basic (ε, δ) budget."""

ADVANCED_SHARE = Fraction(1, 2)
"""How much of the total δ an advanced budget sets aside for the conversion at the end."""


BOUNDLESS = Fraction(10**12)
"""The ε of a cost that has none; an advanced budget must be below it."""


@lru_cache(maxsize=4096)
def concentrated(cost: Pure | Approx | Zcdp | ApproxZcdp, runs: RenyiCurve | None = None) -> Fraction:
    """The ρ of a cost, outside its δ if it has one, or of what is run for it where that is less; it may be 0."""
    known = (
        cost.rho
        if isinstance(cost, Zcdp | ApproxZcdp)
        else (Pure(cost.epsilon).to(Zcdp).rho if cost.epsilon else Fraction(0))
    )
    return known if runs is None else min(known, runs.to(Zcdp).rho)


@lru_cache(maxsize=4096)
def approximate(cost: Zcdp | Renyi, delta: Fraction) -> Fraction:
    """The ε of a zCDP or Rényi guarantee at this δ."""
    return cost.to(Approx, delta=delta).epsilon


@dataclass(frozen=True)
class Filter(ABC):
    """A rule that adds up adaptively chosen costs and knows when the total guarantee is reached."""

    total: Guarantee
    limits: Vector
    """The largest sum on each axis."""

    composition = "basic"
    counting = 1
    """How many of the axes, the first ones, every cost counts on; the rest is δ, which may be 0."""

    @abstractmethod
    def measure(self, cost: Guarantee, runs: RenyiCurve | None = None, left: Vector | None = None) -> Vector:
        """The cost on each axis; InvalidInput with the reason when theory does not cover the combination.

        ``runs`` lists the mechanisms that the cost pays for, where they are known: some cost less by their own laws
        than their guarantee tells. ``left`` is what the sums leave, on which a price may depend.
        """

    @abstractmethod
    def spent(self, sums: Vector) -> Guarantee:
        """What the sums promise, in the kind of the total."""

    @abstractmethod
    def remaining(self, sums: Vector) -> Guarantee:
        """A cost that still fits after these sums: the largest where there is one."""

    @property
    def terms(self) -> tuple[object, ...]:
        """What was agreed when the budget was opened."""
        return (self.total, self.composition)

    def describe(self) -> str:
        """The terms in a few words."""
        return repr(self.total) if self.composition == "basic" else f"{self.total!r}, {self.composition} composition"

    @property
    def nothing(self) -> Vector:
        """The sums before any charge."""
        return (Fraction(0),) * len(self.limits)

    def admits(self, sums: Vector) -> bool:
        """Whether the total guarantee still holds at these sums."""
        return all(x <= limit for x, limit in zip(sums, self.limits, strict=True))

    def portion(self, cost: Guarantee, runs: RenyiCurve | None = None) -> Fraction:
        """The share of the budget that a cost takes at least, on whichever axis; 1/s costs of s or more fill it."""
        return self.share_of(self.measure(cost, runs))

    def share_of(self, growth: Vector) -> Fraction:
        """The share of the budget that a growth of the sums takes at least, on whichever axis that counts."""
        axes = list(zip(growth, self.limits, strict=True))[: self.counting]
        return min(x / limit if limit else Fraction(1) for x, limit in axes)

    def with_share(self, sums: Vector, share: Fraction) -> Vector:
        """The sums and a share of the budget, on every axis that counts."""
        counted = zip(sums[: self.counting], self.limits, strict=False)
        return (*(x + share * limit for x, limit in counted), *sums[self.counting :])

    def smallest(self, share: Fraction) -> Guarantee:
        """About the least cost that takes this share of the budget, rounded up, in a kind that people ask with."""
        match self.total:
            case Pure(epsilon) | Approx(epsilon, _):
                return Pure.amount(epsilon * share)
            case Zcdp(rho) | ApproxZcdp(rho, _):
                return Zcdp.amount(rho * share)
            case Renyi(order, epsilon):
                return Renyi.amount(order, epsilon * share)
        raise _unknown(self.total)

    def alike(self, total: Guarantee) -> Filter:
        """The filter of a second limit on the same axes."""
        return filter_for(total, self.composition)

    def reserve(self, share: Filter, left: Vector | None = None) -> Vector:
        """What a share of this budget with its own filter takes at once, so that nothing charged to it can exceed it.

        The measure of the share's total, where sums inside the share never exceed it on any path: ε, δ, ρ add up, and
        ε·tanh(ε/2) and the Rényi curve of pure ε are superadditive.
        """
        if share.composition != "basic" or (isinstance(self.total, Approx) and isinstance(share.total, Renyi)):
            raise InvalidInput(
                f"a share of {share.total!r} with {share.composition} composition cannot be set apart from "
                f"{self.total!r}; give it a Pure, Approx or Zcdp total with basic composition."
            )
        return self.measure(share.total, None, left)

    def _refuse(self, cost: Guarantee, reason: str, remedy: str) -> InvalidInput:
        return InvalidInput(f"a cost of {cost!r} cannot be charged to {self.total!r}: {reason}; {remedy}.")


class Basic(Filter):
    """Sums of ε, or of ε and δ."""

    def measure(self, cost: Guarantee, runs: RenyiCurve | None = None, left: Vector | None = None) -> Vector:
        """(ε) or (ε, δ); zCDP and Rényi costs are converted at a hundredth of the total δ."""
        if isinstance(self.total, Pure):
            if isinstance(cost, Pure):
                return (cost.epsilon,)
            suitable = "an Approx" if isinstance(cost, Approx) else "a Zcdp or Approx"
            raise self._refuse(
                cost, "only pure ε adds up to pure ε", f"ask with epsilon= alone, or open {suitable} budget"
            )
        assert isinstance(self.total, Approx)
        delta = self.total.delta * CONVERSION_SHARE
        match cost:
            case Pure(epsilon):
                return (epsilon, Fraction(0))
            case Approx(epsilon, own):
                return (epsilon, own)
            case Zcdp() | Renyi():
                return (approximate(cost, delta), delta)
        raise _unknown(cost)

    def spent(self, sums: Vector) -> Guarantee:
        """The sums themselves."""
        return self._amount(sums)

    def remaining(self, sums: Vector) -> Guarantee:
        """What the sums leave."""
        return self._amount(less(self.limits, sums))

    def _amount(self, sums: Vector) -> Guarantee:
        if isinstance(self.total, Pure):
            return Pure.amount(sums[0])
        return Approx.amount(sums[0], sums[1])

    def reserve(self, share: Filter, left: Vector | None = None) -> Vector:
        """As for every filter, but a converted total does not bound the sum of converted parts."""
        if isinstance(share.total, Zcdp):
            raise InvalidInput(
                f"a share of {share.total!r} cannot be set apart from {self.total!r} by plain sums; open the "
                'budget with composition="advanced", or give the share a Pure or Approx total.'
            )
        return super().reserve(share, left)


class Concentrated(Filter):
    """Sums of ρ, of ρ and δ, or of the Rényi ε at one order fixed in advance."""

    def measure(self, cost: Guarantee, runs: RenyiCurve | None = None, left: Vector | None = None) -> Vector:
        """(ρ), or (ε at the budget's order)."""
        if isinstance(self.total, ApproxZcdp):
            if isinstance(cost, Approx | ApproxZcdp):
                return (concentrated(cost), cost.delta)
            if isinstance(cost, Pure | Zcdp):
                return (concentrated(cost, runs), Fraction(0))
            raise self._refuse(cost, "one Rényi order says nothing of the others", "ask with epsilon= or rho=")
        if isinstance(cost, Approx):
            raise self._refuse(cost, "it has no room for δ", "ask with epsilon= or rho=, or open an Approx budget")
        if isinstance(self.total, Zcdp):
            if isinstance(cost, Pure | Zcdp):
                return (concentrated(cost, runs),)
            raise self._refuse(cost, "one Rényi order says nothing of the others", "ask with epsilon= or rho=")
        assert isinstance(self.total, Renyi)
        match cost:
            case Pure():
                return (cost.to(Renyi, order=self.total.order).epsilon,)
            case Zcdp(rho):
                return (self.total.order * rho,)
            case Renyi(order, epsilon) if order >= self.total.order:
                return (epsilon,)
        raise self._refuse(
            cost,
            "a Rényi bound says nothing of higher orders, and the order of a budget is fixed before the first question",
            "state the cost at the budget's order or above",
        )

    def spent(self, sums: Vector) -> Guarantee:
        """The sum itself."""
        return self._amount(sums)

    def remaining(self, sums: Vector) -> Guarantee:
        """What the sum leaves."""
        return self._amount(less(self.limits, sums))

    def _amount(self, sums: Vector) -> Guarantee:
        if isinstance(self.total, Renyi):
            return Renyi.amount(self.total.order, *sums)
        return type(self.total).amount(*sums)


@dataclass(frozen=True)
class EitherSum(Filter):
    """Sums of ε, of another measure and of δ: admitted while one of the first two is within its limit, and δ too."""

    counting = 2
    total: Approx

    @property
    def set_aside(self) -> Fraction:
        """δ', the part of δ kept for the conversion of the other measure."""
        return self.total.delta - self.limits[2]

    @property
    def terms(self) -> tuple[object, ...]:
        """What was agreed when the budget was opened."""
        return (*super().terms, self.set_aside)

    def admits(self, sums: Vector) -> bool:
        """Whether the δ-sum fits and so does one of the other two."""
        epsilon, other, delta = (x <= limit for x, limit in zip(sums[:3], self.limits[:3], strict=True))
        return delta and (epsilon or other)

    def _better(self, epsilon: Fraction, delta: Fraction, converted: Fraction) -> Guarantee:
        """The ε-sum, or where that is smaller what the other measure was converted to at δ'."""
        if epsilon <= converted:
            return Approx.amount(epsilon, delta)
        return Approx.amount(converted, delta + self.set_aside)


@dataclass(frozen=True)
class Advanced(EitherSum):
    """Sums of ε, of ρ and of δ: admitted while the ε-sum or the ρ-sum is within its limit, and the δ-sum too."""

    composition = "advanced"

    def smallest(self, share: Fraction) -> Guarantee:
        """A pure cost that takes this share of ε and of ρ."""
        by_rho = Pure.within(Zcdp(self.limits[1] * share)).epsilon if share and self.limits[1] else Fraction(0)
        return Pure.amount(max(self.limits[0] * share, shortened(by_rho, up=True, digits=6)))

    def measure(self, cost: Guarantee, runs: RenyiCurve | None = None, left: Vector | None = None) -> Vector:
        """(ε, ρ, δ); a zCDP cost has no ε and counts as more than any budget has."""
        match cost:
            case Pure(epsilon):
                return (epsilon, concentrated(cost, runs), Fraction(0))
            case Approx(epsilon, delta):
                return (epsilon, concentrated(cost), delta)
            case Zcdp():
                return (BOUNDLESS, concentrated(cost, runs), Fraction(0))
        raise self._refuse(cost, "one Rényi order says nothing of the others", "ask with epsilon= or rho=")

    def spent(self, sums: Vector) -> Guarantee:
        """The ε-sum where it is the better bound, else the ρ-sum converted at δ'."""
        epsilon, rho, delta = sums
        converted = approximate(Zcdp(rho), self.set_aside) if rho else Fraction(0)
        if rho <= self.limits[1]:
            converted = min(converted, self.total.epsilon)
        return self._better(epsilon, delta, converted)

    def remaining(self, sums: Vector) -> Guarantee:
        """The largest ε of one further pure cost, and the δ left for costs with a δ of their own."""
        epsilon, rho, delta = less(self.limits, sums)
        by_rho = Pure.within(Zcdp(rho)).epsilon if rho > 0 else Fraction(0)
        return Approx.amount(max(epsilon, by_rho), delta)


@dataclass(frozen=True)
class Rooted(Filter):
    """The classical advanced filter: sums of ε² and of δ."""

    composition = "rooted"
    total: Approx

    def measure(self, cost: Guarantee, runs: RenyiCurve | None = None, left: Vector | None = None) -> Vector:
        """(ε², δ)."""
        match cost:
            case Pure(epsilon):
                return (epsilon**2, Fraction(0))
            case Approx(epsilon, delta):
                return (epsilon**2, delta)
        raise self._refuse(cost, "this filter adds squares of ε", 'open the budget with composition="advanced"')

    def spent(self, sums: Vector) -> Guarantee:
        """√(2·ln(1/δ')·S) + S/2, rounded up."""
        squares, delta = sums
        if squares == 0:
            return Approx.amount(Fraction(0), delta)
        kept = self.total.delta - self.limits[1]
        bound = (2 * log(1 / kept) * squares).sqrt() + squares / 2
        return Approx.amount(min(shortened(bound.high, up=True), self.total.epsilon), delta + kept)

    def remaining(self, sums: Vector) -> Guarantee:
        """The largest ε of one further pure cost, and the δ left."""
        squares, delta = less(self.limits, sums)
        root = shortened(Enclosure.of(squares).sqrt().low, up=False)
        return Approx.amount(root, delta)


def _unknown(guarantee: object) -> InvalidInput:
    return InvalidInput(f"{guarantee!r} is not a guarantee; give Pure, Approx, Zcdp or Renyi, such as Pure(1).")


def filter_for(total: Guarantee, composition: str = "basic", *, set_aside: Number | None = None) -> Filter:
    """The filter of a budget: its total, how costs compose, and how much of δ is set aside for that.

    >>> from tacit import Pure
    >>> from tacit.budgets import filter_for
    >>> filter_for(Pure(1)).total
    Pure(1)
    """
    if composition not in ("basic", "advanced", "rooted", "tight", "odometer"):
        raise InvalidInput('composition must be "basic", "advanced", "tight" or "odometer".')
    if composition == "basic":
        if set_aside is not None:
            raise InvalidInput('set_aside belongs to composition="advanced" or "tight"; leave it out.')
        match total:
            case Pure(epsilon):
                return Basic(total, (epsilon,))
            case Approx(epsilon, delta):
                return Basic(total, (epsilon, delta))
            case Zcdp(rho):
                return Concentrated(total, (rho,))
            case Renyi(_, epsilon):
                return Concentrated(total, (epsilon,))
            case ApproxZcdp(rho, delta):
                return Concentrated(total, (rho, delta))
            case Gdp(mu):
                from tacit.budgets.tight import Squared  # as below

                return Squared(total, (mu**2,))
        raise _unknown(total)
    if not isinstance(total, Approx):
        raise InvalidInput(f'composition="{composition}" needs an Approx budget, such as Approx(1, "1e-6").')
    if total.epsilon >= BOUNDLESS:
        raise InvalidInput(f"the epsilon of an advanced budget must be below {BOUNDLESS}; give an ordinary one.")
    delta = total.delta
    given = None if set_aside is None else between(set_aside, "set_aside", 0, delta)
    if composition == "odometer":
        from tacit.budgets.odometers import metered  # as below

        if given is not None:
            raise InvalidInput('set_aside belongs to composition="advanced" or "tight"; leave it out.')
        return metered(total)
    if composition == "tight":
        from tacit.budgets.tight import tight  # it is made of what stands here

        return tight(total, given)
    kept = delta * ADVANCED_SHARE if given is None else given
    if composition == "advanced":
        return Advanced(total, (total.epsilon, Zcdp.within(Approx(total.epsilon, kept)).rho, delta - kept))
    weight = 2 * log(1 / kept)
    squares = ((weight + 2 * total.epsilon).sqrt() - weight.sqrt()) ** 2
    return Rooted(total, (shortened(max(squares.low, Fraction(0)), up=False), delta - kept))


Vector = tuple[Fraction, ...]
"""What a filter adds up: one exact number for each of its axes."""

_LARGEST_DENOMINATOR = 2**512
_COARSE = 10**100

G = TypeVar("G", bound=Guarantee)


def plus(a: Vector, b: Vector) -> Vector:
    """The sum of two vectors, never below the true one.

    A sum of many unlike fractions would grow without end; once its denominator passes 512 bits it is rounded up to a
    multiple of 10^-100, so that a charge costs the same however long the history is.
    """
    sums = (x + y for x, y in zip(a, b, strict=True))
    return tuple(x if x.denominator <= _LARGEST_DENOMINATOR else Fraction(ceil(x * _COARSE), _COARSE) for x in sums)


def larger(a: Vector, b: Vector) -> Vector:
    """The larger of two vectors, axis by axis."""
    return tuple(max(x, y) for x, y in zip(a, b, strict=True))


def less(a: Vector, b: Vector) -> Vector:
    """The difference a − b, axis by axis."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def smaller(a: G, b: G) -> G:
    """The smaller of two amounts of one kind, number by number."""
    return type(a).amount(*map(min, a.numbers, b.numbers))
