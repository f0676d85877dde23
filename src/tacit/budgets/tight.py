"""`Tight`: an (ε, δ) budget that is spent in tosses of one coin, each cost priced by its own privacy loss.

PROMISE. However the costs are chosen, each in view of the answers so far, all answers together are (ε, δ).

PROOF. Fix neighbours, P and Q the laws of everything released on them, L the privacy loss. δ' is set aside at opening,
and N is the largest number of tosses of the coin U of `tacit.guarantees.units` that are (ε, δ') together. Let
F_v(x) = E[(1 − x·e^{ε−l})₊], l the loss of v tosses: what a loss of ln(1/x) so far may come to with v tosses left.
1. A cost of m units is charged only if w units or more are left after it, for some w beside which its mechanism M
   costs m. With v before and v' = v − m ≥ w after it, H_{M⊗U^v'} ≤ H_{U^v} + η, so E_M[F_v'(x·e^{−L_M})] ≤ F_v(x) + η
   at every x. (F_v' is convex and falls from at most 1 towards 0: a mixture of functions (1 − cx)₊ of total weight 1.
   So results of M enter through hockey sticks only, and the pair of laws that dominates M may stand for it.)
2. So F_v(e^{−L}), less the η paid so far, is a supermartingale. It begins with F_N(1) ≤ δ', and (1 − e^{ε−L})₊ ≤
   F_v(e^{−L}) at the end: E[(1 − e^{ε−L})₊] ≤ δ' + Ση. How prices, w and questions were chosen does not matter.
3. A cost (ε_i, δ_i) is, outside a part of mass δ_i, a pure one; δ_i and η are kept to δ − δ' in all.
4. A charge is admitted too while Σε_i ≤ ε. Call A the outcomes on which the ε-sum ended within ε, and B the rest, on
   which the units did. On A the loss is at most ε. On B nothing was charged that the units would not have paid, so the
   bound of 2 for whoever stops there holds. Add. (To admit by any of *two* sums that each hold only outside a δ' would
   need a δ' for each of them: tests/budgets/test_filters.py has two whose promises hold and a strategy that breaks it.)
A part of the persons pays for itself alone: what the pair of neighbours sees is its own part's units, which are not
more than the root's. A share of ε is one coin of odds e^ε, whatever is asked for it: its questions' coins, whose ε add
up to it, show no more than that coin does, beside whatever else is asked.

WHAT COSTS WHAT. ``runs`` names mechanisms; without it a cost is priced as the worst with its guarantee: randomised
response for ε, and for ρ a bound on all ρ-zCDP laws, which is dear. Beside many units a mechanism costs its variance
and a little. The last axis adds up what the mechanisms cost beside nothing: it tells what is spent and admits nothing.

ACCURACY. Under Approx(1, 1e-6): 19 medians at ε = 0.1, and 10 pure costs of 0.1, which is the most that anybody could
admit; 542 of pure 0.01 (the advanced filter admits 458). COST. Milliseconds once a price is known; the first of its
kind takes 0.1 to 0.5 s.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import count, takewhile

from tacit.budgets.filters import BOUNDLESS, EitherSum, Filter, Vector, less
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Gdp, Guarantee, Pure, RenyiCurve, Zcdp, units
from tacit.guarantees.gaussian import root
from tacit.guarantees.mechanisms import Gaussian, RandomisedResponse
from tacit.guarantees.rounding import shortened
from tacit.numbers.enclosures import log

TIGHT_SHARE = Fraction(9, 10)
"""How much of the total δ a tight budget sets aside for composition."""

STEPS = 1000
"""How many steps of the coin's loss there are in ε, about."""

LEVEL = Fraction(2, 3)
"""Prices are kept beside N, 2/3 of N, 4/9 of N, …"""


@dataclass(frozen=True)
class Tight(EitherSum):
    """Sums of ε, of units, of δ, and of units beside nothing; admitted while the ε-sum or the units are within."""

    composition = "tight"
    coin: int = 0
    """K, where the coin's odds are 1 + 1/K."""

    @property
    def units(self) -> int:
        """N."""
        return int(self.limits[1])

    def alike(self, total: Guarantee) -> Filter:
        """A limit in the same coin."""
        return tight(total, coin=self.coin)

    def measure(self, cost: Guarantee, runs: RenyiCurve | None = None, left: Vector | None = None) -> Vector:
        """(ε, units, δ, units beside nothing); a cost without ε counts as more than any budget has."""
        match cost:
            case Pure(epsilon):
                own = Fraction(0)
            case Approx(epsilon, own):
                pass
            case Zcdp():
                epsilon, own = BOUNDLESS, Fraction(0)
            case _:
                raise self._refuse(cost, "one Rényi order says nothing of the others", "ask with epsilon= or rho=")
        if runs is None:
            if epsilon == 0:
                return (epsilon, Fraction(0), own, Fraction(0))
            runs = RenyiCurve.concentrated(cost.rho) if isinstance(cost, Zcdp) else RenyiCurve.pure(epsilon)
        else:
            own, pure = Fraction(0), runs.pure_epsilon
            epsilon = BOUNDLESS if pure is None else min(pure, epsilon)
        delta = own + units.SLACK * sum(n for _, n in runs.parts)
        return (epsilon, self._price(runs, left), delta, self._cost(runs, 0) or BOUNDLESS)

    def _price(self, runs: RenyiCurve, left: Vector | None) -> Fraction:
        """The units that these mechanisms cost beside what is left after them; more than any budget has if too many."""
        least = self._cost(runs, self.units)
        if least is None or left is None:
            return BOUNDLESS if least is None else least
        for beside in self._levels(left[1] - least):
            found = self._cost(runs, beside)
            if found is not None and (found := max(found, least)) + beside <= left[1]:
                return found
        return BOUNDLESS

    def _cost(self, runs: RenyiCurve, beside: int) -> Fraction | None:
        prices = [(units.price(part, self.coin, beside, self.units), n) for part, n in runs.parts]
        known = [Fraction(m * n) for m, n in prices if m is not None]
        return sum(known, Fraction(0)) if len(known) == len(prices) else None

    def _levels(self, most: Fraction) -> list[int]:
        """The numbers of units beside which prices are kept, up to ``most``, the largest first."""
        levels = takewhile(bool, (int(self.units * LEVEL**i) for i in count()))
        return [level for level in (*levels, 0) if level <= most]

    def spent(self, sums: Vector) -> Guarantee:
        """The ε-sum where it is the better bound, else what so many tosses beside nothing promise at δ'."""
        epsilon, _, delta, alone = sums
        converted = self.total.epsilon
        if alone <= self.units:
            converted = min(converted, units.epsilon_of(self.coin, int(alone), self.set_aside))
        return self._better(epsilon, delta, converted)

    def remaining(self, sums: Vector) -> Guarantee:
        """The largest ε of one further pure cost, and the δ left for costs with a δ of their own."""
        epsilon, left, delta, _ = less(self.limits, sums)
        return Approx.amount(max(epsilon, self._largest(max(0, int(left))), Fraction(0)), delta)

    def _largest(self, left: int) -> Fraction:
        """The ε of the largest coin, in whole steps, that costs at most so many units beside nothing."""
        step, low, high = log(1 + Fraction(1, self.coin), 128).low, 0, min(left, 4 * STEPS) + 1
        while high - low > 1:
            middle = (low + high) // 2
            fits = units.costs(RandomisedResponse(middle * step), self.coin, 0, left)
            low, high = (middle, high) if fits else (low, middle)
        return shortened(low * step, up=False)

    def smallest(self, share: Fraction) -> Guarantee:
        """A pure cost that takes this share of ε and of the units: m units allow ε·tanh(ε/2) ≤ m·h·tanh(h/2)."""
        step = log(1 + Fraction(1, self.coin), 128).high
        by_units = Pure.within(Zcdp(self.limits[1] * share * step**2 / 2)).epsilon if share else Fraction(0)
        return Pure.amount(max(self.limits[0] * share, shortened(by_units, up=True, digits=6)))

    def reserve(self, share: Filter, left: Vector | None = None) -> Vector:
        """As for every filter; ρ inside a share has no coin that stands for all of it."""
        if isinstance(share.total, Zcdp):
            raise InvalidInput(
                f"a share of {share.total!r} cannot be set apart from {self.total!r} where costs add up tightly; give "
                "it a Pure or Approx total."
            )
        return super().reserve(share, left)


@dataclass(frozen=True)
class Squared(Filter):
    """Sums of μ², for a total of `Gdp`: the same argument as above with a normal shift for the coin, and exact."""

    total: Gdp

    def measure(self, cost: Guarantee, runs: RenyiCurve | None = None, left: Vector | None = None) -> Vector:
        """(μ²); Gaussian noise by its ρ = μ²/2, where that is what is run."""
        if runs is not None and all(isinstance(part, Gaussian) for part, _ in runs.parts):
            return (2 * runs.to(Zcdp).rho,)
        if isinstance(cost, Pure | Gdp):
            return (cost.to(Gdp).mu ** 2,)
        raise self._refuse(cost, "it leaves a part of the trade-off curve open", "ask with epsilon= alone")

    def spent(self, sums: Vector) -> Guarantee:
        """√ of the sum, rounded up."""
        return Gdp.amount(root(sums[0], up=True) if sums[0] else Fraction(0))

    def remaining(self, sums: Vector) -> Guarantee:
        """√ of what is left, rounded down."""
        left = max(self.limits[0] - sums[0], Fraction(0))
        return Gdp.amount(root(left, up=False) if left else left)

    def smallest(self, share: Fraction) -> Guarantee:
        """The μ that takes this share."""
        return Gdp.amount(root(self.limits[0] * share, up=True) if share else share)


def tight(total: Guarantee, set_aside: Fraction | None = None, coin: int | None = None) -> Tight:
    """The tight filter of an Approx total, with a coin of its own or a given one."""
    assert isinstance(total, Approx)
    if total.epsilon == 0:
        raise InvalidInput('composition="tight" needs an epsilon above 0; give one such as Approx(1, "1e-6").')
    kept = total.delta * TIGHT_SHARE if set_aside is None else set_aside
    k = max(1, int(STEPS / total.epsilon)) if coin is None else coin
    most = Fraction(units.most_units(k, total.epsilon, kept))
    return Tight(total, (total.epsilon, most, total.delta - kept, BOUNDLESS), k)
