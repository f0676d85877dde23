"""The cap of a vector: how large the vectors of persons over several groups may be, chosen before noise falls on each.

N(λ) persons have a vector of norm above λ, λ from a public list of levels. A cap higher by one unit costs one unit of
noise in each of G groups, where the noise has the scale of the cap, and gains one unit for each of N(λ) persons. So the
best cap leaves about as many persons above it as there are units of noise, a public target T, and not nobody.

1. *A rough cap.* The upward threshold scan with a share `ROUGH` of the choice and `SPARE` more persons to spare than T,
   over the ε of its threshold ξ, most of which pays for ξ: rough, but hardly ever above everybody.
2. *The cap.* From there on λ with probability in proportion to λ^-p·e^{-ε·(N(λ) − T)⁺}, p ≥ 4 (`power`). Where the
   rough cap is `LOW` units or less, it may only say that persons are few. Then sums take the first λ of all with
   N(λ) ≤ T − ξ + ν, by a scan again.

Counts in up to `FEW` groups, and with ρ in any number of them, have small caps: they go without a rough one, by weights
from the lowest on, with p = `POWER`.

PROMISE  One draw is Pure(ε), for any public T. With ρ it is Zcdp(ρ): weights have ε = √(8ρ), a scan half of that. Both
together cost what both cost.

PROOF  Adding a person raises N by 0 or 1 at every level, and so (N − T)⁺, for x ↦ max(x − T, 0) never falls and never
rises faster than x: a one-directional loss of sensitivity 1. The rest is `exponential` with a public prior and
`threshold_scan` with a public offset. The second draw looks at the first one's outcome only, which is public by then.

WHY ROUGHLY FIRST  A single scan with all of the choice's ε, which it divides with ν about evenly, aims at T ≈ 1.5·G/ε
persons; but ξ has the mean (G + 2)/(0.55·ε), which is more, at any ε. Where ξ > T the scan passes everybody, and then
stops at a level with a chance of e^{-ε2(ξ − T)}: it is still going m levels later with a chance like m^{-ε1/ε2}, hardly
1/m, while caps grow by a fifth with each level. So one cap in 20 was three times the largest norm, and one in 60 thirty
times, some without end. More persons to spare end that, but they are then cut off in every answer. From a rough cap on,
weights fall like λ^-p beyond everybody, at no such price. Medians and 99 % of |error| over the median with the best cap
that knows the data, the geometric mean over four shapes, two sizes and ε = 0.5, 1, 4, and how often the cap is more
than 3 and more than 30 times the largest norm:

                  a single scan                          this
    2 groups      1.57   99 %: 400   4.9 %   1.7 %       1.55   99 %: 6.5   0.5 %   0.01 %
    10 groups     1.18          10   2.0 %   0.4 %       1.21          3.6   0.5 %   0.07 %
    100 groups    1.07         1.4   0.1 %   0.0 %       1.08          1.5   0.0 %   0.00 %

What is left is of small data, where persons are too few for a rough cap: there one cap in 150 still runs away.

ACCURACY  Chosen and measured in benchmarks/vector_caps.py against the best cap that knows the data. The choice is worth
a share of the cost that falls with G (`share`): noise falls on every group, the choice is made once. It needs about
14/share persons/ε beyond T, whatever the unit of the values. With fewer persons the cap falls to the lowest levels.
Weights from the lowest level on would need 3·ln λ/share persons/ε: few for a count, where λ is small and they overshoot
it less, but the more the finer the unit of a sum. Medians of |error| / total, sums in cents, ε = 1 (in steps of 10^-4:
within a twentieth of it):

    persons      100 by weights   100 by this   300 by weights   300 by this   the best cap (100, 300)
    1 group          1.00            0.09             0.02             0.03           0.03   0.01
    2 groups         1.00            0.15             0.04             0.05           0.06   0.03
    4 groups         1.00            0.22             0.06             0.07           0.11   0.04

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
from tacit.numbers.exact import Number, non_negative, positive, whole
from tacit.proofs import Argument, Proof
from tacit.proofs.terms import equal, largest

FEW = 4
"""Up to so many groups a cap on counts is chosen by weights from the lowest on, and a scan has a split of its own."""

POWER = 3
"""The power of the cap by which its weight falls, from the lowest on."""

ROUGH = Fraction(3, 20)
"""What the rough cap takes of the choice."""

STEADY = Fraction(4, 5)
"""What its threshold takes of that: m levels beyond everybody it still goes on with a chance like m^-4."""

SPARE = 6
"""So many persons, over the ε of its threshold, are left above the rough cap beside the target."""

LOW = 12
"""A rough cap up to so many units may only say that persons are few."""

AGAIN = Fraction(3, 5)
"""What the threshold takes of a scan after such a rough cap."""


def roughly(groups: int, counts: bool, concentrated: bool = False) -> bool:
    """Whether a rough cap is found first."""
    return not counts or (groups > FEW and not concentrated)


def power(groups: int) -> int:
    """The power of the cap by which its weight falls from a rough cap on, faster where many persons are left above."""
    return min(4 + groups // 25, 16)


def split(groups: int) -> Fraction:
    """What the threshold takes of a single scan; a little less where T is a handful of persons."""
    return Fraction(11, 20) if groups <= FEW else Fraction(3, 5)


def share(groups: int, concentrated: bool = False) -> Fraction:
    """The share of a cost that the choice is worth; of ρ it takes less, for a choice pays with its square root."""
    return Fraction(1, 6 + min(groups, 14)) if concentrated else Fraction(1, 2 + min(groups, 18))


def target(groups: int, epsilon: Fraction, concentrated: bool = False) -> Fraction:
    """T, the persons to leave above the cap: G/ε by one and a half; with Gaussian noise of ρ = ε²/2 by a half."""
    return groups * Fraction(1 if concentrated else 3, 2) / epsilon


def rough_cap(
    above: Sequence[int],
    levels: Sequence[int],
    epsilon: Number | None = None,
    target: Number = 0,
    *,
    rho: Number | None = None,
) -> GridLaw:
    """The law of the place of a level to begin from, which leaves far more than ``target`` persons above it."""
    pure = _pure(epsilon, rho)
    left = int(non_negative(target, "target") + SPARE / (STEADY * pure))
    return threshold_scan(_loss(above, levels), pure, "up", STEADY, left)


def vector_cap(
    above: Sequence[int],
    levels: Sequence[int],
    groups: int,
    epsilon: Number | None = None,
    target: Number = 0,
    *,
    counts: bool = False,
    rho: Number | None = None,
    rough: int | None = None,
) -> GridLaw:
    """The law of the place of a level that leaves about ``target`` persons above it; ``above`` counts them at each.

    ``counts`` says that the vectors count something, so that a small cap is likely; ``rough`` is the place of a rough
    cap, if one was drawn. Give ``rho`` instead of ``epsilon`` for a choice that is paid by its own curve.

    >>> from tacit.mechanisms import vector_cap
    >>> law = vector_cap([9, 4, 0], [1, 2, 4], groups=3, epsilon=1)
    >>> law.guarantee
    Pure(1)
    """
    loss, left = _loss(above, levels), int(non_negative(target, "target"))
    first, falls = whole(rough or 0, "rough", 0), POWER if rough is None else power(whole(groups, "groups", 1))
    if rough is None and roughly(groups, counts, rho is not None):
        return threshold_scan(loss, _pure(epsilon, rho), "up", split(groups), left)
    if rough is not None and not counts and levels[first] <= LOW:
        return threshold_scan(loss, _pure(epsilon, rho), "up", AGAIN, left)
    beyond = [max(0, count - left) for count in above[first:]]
    loss = StepLoss.from_losses(integers(first, len(levels) - 1), beyond, one_directional=True)
    return exponential(loss, epsilon, Listed.powers(levels, falls), rho=rho)


def _loss(above: Sequence[int], levels: Sequence[int]) -> StepLoss:
    if len(above) != len(levels) or not levels:
        raise InvalidInput("above must have a number of persons for every level, at least one.")
    return StepLoss.from_losses(integers(0, len(levels) - 1), above, one_directional=True)


def _pure(epsilon: Number | None, rho: Number | None) -> Fraction:
    """The ε of a scan."""
    if rho is not None:
        return Pure.within(Zcdp(rho)).epsilon
    assert epsilon is not None
    return positive(epsilon, "epsilon")


def argue(p: Argument, *, weighed: bool, twice: int = 1, target: Any = lambda p: 0, falls: bool = False) -> None:
    """(N − T)⁺ of a number of persons N that a person raises by 0 or 1; ``target`` is how T moves, which is not at all.

    The scan takes N itself, against T.
    """
    epsilon, split = p.positive("ε"), p.within("share", 0, 1)
    for sign in (1, -1):
        with p.case("a person added" if sign > 0 else "a person removed"):
            price = _weights if weighed else _scan
            p.promise(price(p, sign, twice * epsilon, split=split, target=target, falls=falls), epsilon)


def argue_roughly(p: Argument, *, free: bool = False, noisy: bool = True) -> None:
    """A rough cap for a share of ε and then a cap for the rest, by weights or by a scan; or the first for ``free``.

    If it is not ``noisy``, it must be the same without the person, or nothing can be compared after it.
    """
    epsilon, split = p.positive("ε"), p.within("share", 0, 1)
    rest = epsilon if free else (1 - ROUGH) * epsilon
    for sign in (1, -1):
        for then, name in ((_weights, "weights"), (_scan, "a scan")):
            with p.case(f"a person {'added' if sign > 0 else 'removed'}, then {name}"):
                rough: Any = 0
                if noisy:
                    rough = _scan(p, sign, ROUGH * epsilon, split=STEADY)
                else:
                    p.derive(equal(p.steps("move of the rough cap", 0, 1), 0), "the same rough cap")
                p.promise(rough + then(p, sign, rest, split=split), epsilon)


def _weights(
    p: Argument, sign: int, epsilon: Any, *, split: Any = None, target: Any = lambda p: 0, falls: bool = False
) -> Any:
    """The price of a choice by weights."""
    number, left = p.count("N"), p.count("T")
    low, high = min(0, sign), max(0, sign)
    move, moved_target = p.steps("move", low, high), target(p)
    after = largest(number + (-move if falls else move) - left - moved_target, 0) - largest(number - left, 0)
    p.derive((after >= low) & (after <= high), "a one-directional loss")
    return weigh(p, factor(epsilon, (0, 1)), low, high, after)


def _scan(p: Argument, sign: int, epsilon: Any, *, split: Any, target: Any = None, falls: bool = False) -> Any:
    """The price of a scan."""
    low, high = min(0, sign), max(0, sign)
    pair, move = rates(epsilon, (0, 1), split), p.steps("move", low, high)
    return walk(p, pair, low, move, visited=lambda: p.steps("any move", low, high))


_GIVEN = "a person raises the number of persons above a level by 0 or 1; the target is public"

PROOFS = (
    Proof("cap of a vector, weighed", "mechanisms.vector_cap", "Pure(ε)", partial(argue, weighed=True), _GIVEN),
    Proof("cap of a vector, scanned", "mechanisms.vector_cap", "Pure(ε)", partial(argue, weighed=False), _GIVEN),
    Proof("cap of a vector, a rough one first", "mechanisms.vector_cap", "Pure(ε)", argue_roughly, _GIVEN),
)
