"""The cap of a vector: how large the vectors of persons over several groups may be, chosen before noise falls on each.

N(λ) persons have a vector of norm above λ, λ from a public list of levels. A cap higher by one unit costs one unit of
noise in each of G groups, where the noise has the scale of the cap, and gains one unit for each of N(λ) persons. So the
best cap leaves about as many persons above it as there are units of noise, a public target T, and not nobody.

- The upward threshold scan: the first λ with N(λ) ≤ T − ξ + ν, somewhat more than half of ε paying for ξ.
- For counts in up to `FEW` groups, and with ρ in any number of them: λ with probability in proportion to
  λ^-3·e^{-ε·(N(λ) − T)⁺}.

PROMISE  One draw is Pure(ε), for any public T. With ρ it is Zcdp(ρ): weights have ε = √(8ρ), a scan half of that.

PROOF  Adding a person raises N by 0 or 1 at every level, and so (N − T)⁺, for x ↦ max(x − T, 0) never falls and never
rises faster than x: a one-directional loss of sensitivity 1. The rest is `exponential` with a public prior and
`threshold_scan` with a public offset.

ACCURACY  Chosen and measured in benchmarks/vector_caps.py against the best cap that knows the data. The choice is worth
a share of the cost that falls with G (`share`): noise falls on every group, the choice is made once. The scan needs
about 14/share persons/ε beyond T, whatever the unit of the values. Weights need 3·ln λ/share persons/ε: few for a
count, where λ is small and they overshoot it less, but the more the finer the unit of a sum. With fewer persons the cap
falls to the lowest levels. Medians of |error| / total, sums in cents, ε = 1 (the scan in steps of 10^-4:
within a twentieth of it):

    persons      100 by weights   100 by the scan   300 by weights   300 by the scan   the best cap (100, 300)
    1 group          1.00             0.07              0.02             0.03              0.03   0.01
    2 groups         1.00             0.13              0.04             0.04              0.06   0.03
    4 groups         1.00             0.17              0.06             0.07              0.11   0.04

COST  Linear in the length of the list: about a millisecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.choose.exponential import exponential, factor, weigh
from tacit.mechanisms.choose.priors import Listed
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.search.scan_rates import rates
from tacit.mechanisms.search.threshold_scan import threshold_scan, walk
from tacit.numbers.exact import Number, non_negative, whole
from tacit.proofs import Argument, Proof
from tacit.proofs.terms import largest

FEW = 4
"""Up to so many groups a cap on counts is chosen by weights, and a scan has a split of its own."""

POWER = 3
"""The power of the cap by which its weight falls."""


def split(groups: int) -> Fraction:
    """What the scan's threshold takes of ε; a little less where T is a handful of persons."""
    return Fraction(11, 20) if groups <= FEW else Fraction(3, 5)


def share(groups: int, concentrated: bool = False) -> Fraction:
    """The share of a cost that the choice is worth; of ρ it takes less, for a choice pays with its square root."""
    return Fraction(1, 6 + min(groups, 14)) if concentrated else Fraction(1, 2 + min(groups, 18))


def target(groups: int, epsilon: Fraction, concentrated: bool = False) -> Fraction:
    """T, the persons to leave above the cap: G/ε by one and a half; with Gaussian noise of ρ = ε²/2 by a half."""
    return groups * Fraction(1 if concentrated else 3, 2) / epsilon


def vector_cap(
    above: Sequence[int],
    levels: Sequence[int],
    groups: int,
    epsilon: Number | None = None,
    target: Number = 0,
    *,
    counts: bool = False,
    rho: Number | None = None,
) -> GridLaw:
    """The law of the place of a level that leaves about ``target`` persons above it; ``above`` counts them at each.

    ``counts`` says that the vectors count something, so that a small cap is likely. Give ``rho`` instead of ``epsilon``
    for a choice that is paid by its own curve.

    >>> from tacit.mechanisms import vector_cap
    >>> law = vector_cap([9, 4, 0], [1, 2, 4], groups=3, epsilon=1)
    >>> law.guarantee
    Pure(1)
    """
    if len(above) != len(levels) or not levels:
        raise InvalidInput("above must have a number of persons for every level, at least one.")
    grid, left = integers(0, len(levels) - 1), int(non_negative(target, "target"))
    if not counts or (whole(groups, "groups", 1) > FEW and rho is None):
        loss = StepLoss.from_losses(grid, above, one_directional=True)
        pure = epsilon if rho is None else Pure.within(Zcdp(rho)).epsilon
        assert pure is not None
        return threshold_scan(loss, pure, "up", split(groups), left)
    loss = StepLoss.from_losses(grid, [max(0, count - left) for count in above], one_directional=True)
    return exponential(loss, epsilon, Listed.powers(levels, POWER), rho=rho)


def argue(p: Argument, *, weighed: bool, twice: int = 1, target: Any = lambda p: 0, falls: bool = False) -> None:
    """(N − T)⁺ of a number of persons N that a person raises by 0 or 1; ``target`` is how T moves, which is not at all.

    The scan takes N itself, against T.
    """
    epsilon, split = p.positive("ε"), p.within("share", 0, 1)
    number, left = p.count("N"), p.count("T")
    for sign in (1, -1):
        with p.case("a person added" if sign > 0 else "a person removed"):
            move, moved_target = p.steps("move", min(0, sign), max(0, sign)), target(p)
            move = -move if falls else move
            after = largest(number + move - left - moved_target, 0) - largest(number - left, 0)
            low, high = min(0, sign), max(0, sign)
            p.derive((after >= low) & (after <= high), "a one-directional loss")
            if weighed:
                price = weigh(p, factor(twice * epsilon, (0, 1)), low, high, after)
            else:
                pair = rates(twice * epsilon, (0, 1), split)
                price = walk(p, pair, low, move, visited=lambda a=low, b=high: p.steps("any move", a, b))
            p.promise(price, epsilon)


_GIVEN = "a person raises the number of persons above a level by 0 or 1; the target is public"

PROOFS = (
    Proof("cap of a vector, weighed", "mechanisms.vector_cap", "Pure(ε)", partial(argue, weighed=True), _GIVEN),
    Proof("cap of a vector, scanned", "mechanisms.vector_cap", "Pure(ε)", partial(argue, weighed=False), _GIVEN),
)
