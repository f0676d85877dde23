"""Totals of groups where a row may touch several persons: one cap for all groups, then noise on each.

L_g(λ) is the capped total of group g alone, in whole units: adding a person raises it by something in [0, λ] if they
have a row there, else not at all (`tacit.flows`). A public m bounds in how many groups a person has rows: all G of
them, or fewer where declared keys say so. A sum of either sign is L⁺_g − L⁻_g, the flows of its positive and negative
rows.

1. *the cap.* S(λ) = Σ_g L_g(λ), both signs added, is the flow of all rows with every person taken apart by group and
   by sign. Over a public list of levels the loss is k(X) = ⌊(S(2X) − S(X))/X⌋, about how many of these persons still
   gain from a larger cap. The upward threshold scan stops at the first X with k(X) ≤ T − ξ + ν, and λ = ⌈3X/2⌉.
2. *the totals.* L_g(λ), or L⁺_g(λ) − L⁻_g(λ), with noise on each (`laplace_vector`, `gaussian_vector`).

PROMISE  `flow_cap` is Pure(ε) for any public T. The totals have ℓ1 sensitivity m·λ and ℓ2 sensitivity √m·λ
(`sensitivity`), whichever signs there are.

PROOF  Let c = m, or 2m where both signs are. Adding a person adds at most c persons taken apart, so it raises S(X) by
some a ∈ [0, cX] and S(2X) by some b ∈ [0, 2cX]; rounding S up to whole units keeps both. (b − a)/X lies in [−c, 2c], so
k moves by a whole number in [−c, 2c], and a public limit only brings that nearer to 0: what `threshold_scan` asks for,
with change = (c, 2c). At the cap, L⁺_g and L⁻_g each rise by something in [0, λ] in at most m groups; so their
difference moves by at most λ in each of them, as either alone would.

ACCURACY  As for vectors (`vector_cap`), the best cap leaves as many persons gaining as the noise of all groups is
worth: T = G times the noise's mean size at cap 1, but at least twice the mean of ξ, lest the scan run on where nobody
gains. Measured in benchmarks/shared_groups.py.

COST  A flow of all rows for each level that is looked at, then one for each group.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt
from typing import Any

from tacit.mechanisms.search.scan_rates import rates
from tacit.mechanisms.search.threshold_scan import ScanLaw, threshold_scan, walk
from tacit.mechanisms.totals.capped_flow import slope
from tacit.mechanisms.totals.flow_levels import Curve, Slopes
from tacit.numbers.exact import Number, non_negative, positive, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by

SHARE = Fraction(1, 4)
"""What the choice takes of the cost."""

SPLIT = Fraction(1, 2)
"""What the scan's threshold takes of the choice."""

FACTOR = Fraction(3, 2)
"""The cap, over the level that was chosen."""

LATE = 2
"""T is at least so many times the mean of ξ."""

SURE = 12
"""Losses are limited where a stop has a chance of e^-12: a larger one changes little, and takes time to find."""


def sensitivity(cap: int, most: int, concentrated: bool) -> int:
    """How far one person moves the totals: in ℓ1 norm, or in ℓ2 norm rounded up."""
    return 1 + isqrt(most * cap * cap - 1) if concentrated else most * cap


def target(groups: int, most: int, epsilon: Fraction, concentrated: bool) -> Fraction:
    """T: G·m/ε, the size of Laplace noise at cap 1 over all groups; of Gaussian noise of ρ = ε²/2 about G·√m/ε."""
    return groups * (isqrt(most) if concentrated else most) / epsilon


def changes(most: int) -> tuple[int, int]:
    """(r, s): how far a person, taken apart into so many, moves the loss down and up."""
    return most, 2 * most


def cap_of(level: int) -> int:
    """The cap, for a level."""
    return ceil(FACTOR * level)


def flow_cap(curve: Curve, epsilon: Number, *, levels: tuple[int, ...], most: int = 1, target: Number = 0) -> ScanLaw:
    """The law of the place of a level that leaves about ``target`` persons with more; ``most`` bounds those of one.

    >>> from tacit.flows import Incidences, capped_sum
    >>> from tacit.mechanisms import flow_cap
    >>> edges = Incidences.from_columns([1, 1, 1], [[1, 1, 2], [2, 3, 3]])
    >>> flow_cap(capped_sum(edges), epsilon=1, levels=(1, 2, 4)).guarantee
    Pure(1)
    """
    total, left = positive(epsilon, "epsilon"), int(non_negative(target, "target"))
    change = changes(whole(most, "most", 1))
    pair = rates(total, change, SPLIT)
    left = max(left, ceil(LATE / pair.threshold))
    limit = left + ceil(SURE / pair.each)
    return threshold_scan(Slopes(curve, levels, 1, limit).all(), total, "up", SPLIT, left, change=change)


def argue(p: Argument, *, charged: Any = changes, twice: int = 1) -> None:
    """The scan of a slope that a person, taken apart into ``most``, moves by something in [−most, 2·most]."""
    epsilon, most = p.positive("ε"), p.count("most", 1)
    pair = rates(twice * epsilon, charged(most), SPLIT)
    d, _, _ = slope(p, 1, most)
    for low, high in by.both_ways(p, -most, 2 * most):
        move = p.steps("move", low, high)
        p.derive((d >= -most) & (d <= 2 * most))
        price = walk(p, pair, low, move, visited=lambda a=low, b=high: p.steps("any move", a, b))
        p.promise(price, epsilon)


PROOFS = (
    Proof(
        "cap of grouped flows",
        "mechanisms.flow_cap",
        "Pure(ε)",
        argue,
        "a person is taken apart into at most `most`, each of whom raises L(λ) by something in [0, λ]",
    ),
)
