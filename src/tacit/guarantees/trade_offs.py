"""Trade-off curves: what an attacker who guesses whether a person is in the data must put up with.

Whoever suspects a person falsely with chance α misses one who is there with chance f(α) at least. A test that says
"there" on the outcomes E has α = Q(E) and misses 1 − P(E), and P(E) ≤ x·Q(E) + H(x) for every x, H the hockey stick. So
f(α) = max over x of 1 − H(x) − xα. That is a lower bound for any upper bound on H, at whichever x it is taken: here on
a fine grid of x on both sides of 1, rounded down. The best guess from even odds is (1 + H(1))/2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil

from tacit.errors import InvalidInput
from tacit.guarantees.approximate_zcdp import ApproxZcdp
from tacit.guarantees.base import Guarantee
from tacit.guarantees.gaussian import Gdp
from tacit.guarantees.kinds import Approx, Pure, Renyi, Zcdp
from tacit.guarantees.loss_distribution import LossDistribution
from tacit.guarantees.mechanisms import Concentrated, Gaussian, Mechanism, RandomisedResponse
from tacit.guarantees.renyi_curves import RenyiCurve
from tacit.guarantees.rounding import shortened
from tacit.numbers.enclosures import Enclosure, exp

POINTS = 96
"""At how many losses a curve is looked at, on either side."""

_BITS = 96
_FINE = 1 << 40


def missed(guarantee: Guarantee, suspected: Fraction) -> Fraction:
    """f(α): the least chance of missing a person, rounded down."""
    found = [1 - height - x * suspected for x, height in _profile(guarantee)]
    return shortened(max(Fraction(0), *found), up=False)


@lru_cache(maxsize=64)
def _profile(guarantee: Guarantee) -> tuple[tuple[Fraction, Fraction], ...]:
    """(x, H(x)) on both sides of 1, each height rounded up."""
    reach, above = _curve(guarantee)
    found = list[tuple[Fraction, Fraction]]()
    for i in range(POINTS + 1):
        x = max(Fraction(1), Fraction(int(exp(reach * i / POINTS, _BITS).low * _FINE), _FINE))
        height = Fraction(ceil(min(Fraction(1), above(Enclosure.of(x, _BITS))) * _FINE), _FINE)
        found += [(x, height), (1 / x, 1 - 1 / x + height / x)]
    return tuple(found)


def _curve(guarantee: Guarantee) -> tuple[Fraction, Callable[[Enclosure], Fraction]]:
    """How far losses of interest reach, and the hockey stick at x ≥ 1, rounded up."""
    own = Fraction(0)
    mechanism: Mechanism
    match guarantee:
        case Pure(epsilon):
            mechanism = RandomisedResponse(epsilon)
        case Approx(epsilon, own):
            mechanism = RandomisedResponse(epsilon)
        case Zcdp(rho):
            mechanism = Concentrated(rho)
        case ApproxZcdp(rho, own):
            mechanism = Concentrated(rho)
        case Gdp(mu):
            mechanism = Gaussian(mu * mu / 2)
        case RenyiCurve():
            losses = LossDistribution.of(guarantee, interval=Fraction(1, 200))
            reach = losses.epsilon(Fraction(1, 10**6))
            return reach, lambda x: losses.delta(x.log().low if x.low > 1 else Fraction(0))
        case Renyi():
            raise InvalidInput("one Rényi order has no trade-off curve; convert it with .to(Approx, delta=...).")
        case _:
            raise InvalidInput(f"{guarantee!r} has no trade-off curve; convert it to Pure, Approx or Zcdp first.")

    def above(x: Enclosure) -> Fraction:
        return own + (1 - own) * mechanism.stick(x).high

    return (mechanism.spread(30) or Fraction(1)), above
