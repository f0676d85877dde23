"""The share a/b of persons who have a property, by several methods side by side.

Each person adds 0 or 1 to b, or 1 to both a and b; z = b − a, and the share of nobody is ½. Neighbours differ by one
person added or removed, or by one person replaced (``replacement``), who may also cease to count.

PROMISE  Pure(ε) for "two_counts" and "naive"; Approx(ε, δ) for "local" and "automatic" (`ratio_local`).

PROOF
- "two_counts": the pair (a, z) has ℓ1-sensitivity 1, or 2 under replacement, so discrete Laplace noise of rate ε
  (ε/2) on each is ε-DP; the share of the two noisy counts is post-processing. This is `bounded_mean` of zeros and
  ones.
- "naive": a and b each move by at most 1 in either relation; noise of rate ε/2 on each.

WHICH  With p = a/b the mean absolute error for large b is about, in units of 1/(bε),

    two counts 1 − p(1 − p), twice that with replacement; local max(p, 1 − p)/0.95, 1/0.95 with replacement,

somewhat less for two counts at ε near 1, where noise on whole numbers is often 0. Measured at ε = 1 and δ = 10^-6
(benchmarks/ratio.py):
- added or removed: two counts is best for every b up to some 1000/ε, and at p up to 0.3 for all b; at p = ½ local
  wins from b = 10^4/ε on, 0.52 against 0.67. Two counts is pure and simple: the default.
- replaced: two counts is best up to some 1000/ε, local from 10^4/ε on at every p, 1.05 against 1.45 to 1.92.
- automatic is within 12 % of the better one in both, mostly within 8 %, so it is the default where δ is given. Naive
  (1.9 to 2.3) wins nowhere.

COST  Two to four draws.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any, SupportsIndex

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Pure
from tacit.mechanisms.law import Law
from tacit.mechanisms.totals.ratio_counts import CountedRatio, Ratio, split
from tacit.mechanisms.totals.ratio_local import BOUND_SHARE, LocalRatio
from tacit.numbers.exact import Number, between, check_listed
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by

METHODS = ("two_counts", "naive", "local", "automatic")
"""The methods by name."""


def ratio(
    a: int | SupportsIndex,
    b: int | SupportsIndex,
    epsilon: Number,
    delta: Number | None = None,
    *,
    method: str | None = None,
    replacement: bool = False,
    lattice: Number = Fraction(1, 10**9),
    bound_share: Number | None = None,
    staircase: bool = False,
) -> Law[Ratio]:
    """The share a/b of persons; "two_counts" unless δ is given, then "automatic".

    ``lattice`` is the public lattice of a share released by "local"; 1 must be a multiple of it. ``bound_share`` is the
    part of ε that "local" and "automatic" spend on the bound, a twentieth unless given; with ``staircase`` their noise
    is that of `tacit.noises.Staircase`.

    >>> from tacit.mechanisms import ratio
    >>> law = ratio(30, 100, epsilon=1)
    >>> 0 <= law.sample().value <= 1
    True
    """
    chosen = method or ("two_counts" if delta is None else "automatic")
    check_listed(chosen, "method", METHODS)
    part, rest = split(a, b)
    if chosen in ("local", "automatic"):
        if delta is None:
            raise InvalidInput("delta must be given with this method; or use two_counts, which is pure.")
        spent = BOUND_SHARE if bound_share is None else between(bound_share, "bound_share", 0, 1)
        promised = Approx(epsilon, delta)
        return LocalRatio(part, rest, promised, chosen == "automatic", replacement, lattice, spent, staircase)
    if bound_share is not None or staircase:
        raise InvalidInput("bound_share and staircase go with method local or automatic; leave them out.")
    if delta is not None:
        raise InvalidInput("delta must be left out with this method, which is pure; or use automatic.")
    guarantee = Pure(epsilon)
    rate = count_rate(guarantee.epsilon, chosen, replacement)
    other, moved = part + rest if chosen == "naive" else rest, int(guarantee.epsilon / rate)
    return CountedRatio(part, other, rate, chosen, guarantee, moved)


def count_rate(epsilon: Fraction, method: str, replacement: bool) -> Fraction:
    """The rate of the noise on either count."""
    return epsilon / (2 if replacement or method == "naive" else 1)


def argue(p: Argument, *, rule: Any = count_rate) -> None:
    """Two counts: a and z = b − a for "two_counts", a and b for "naive"; a person may change from one to the other."""
    epsilon = p.positive("ε")
    states = ((0, 0), (1, 0), (0, 1))  # does not count, has the property, has it not
    for method in ("two_counts", "naive"):
        for before, after in permutations(states, 2):
            replaced = (0, 0) not in (before, after)
            with p.case(f"{method}, {before} → {after}"):
                rate = rule(epsilon, method, replaced)
                a, z = after[0] - before[0], after[1] - before[1]
                other = a + z if method == "naive" else z
                p.promise(by.noise(p, a, rate, rate) + by.noise(p, other, rate, rate), epsilon)


PROOFS = (
    Proof(
        "ratio by two counts",
        "mechanisms.ratio",
        "Pure(ε)",
        argue,
        "a person adds 0 or 1 to b, or 1 to both a and b; replaced, they may change or cease to count",
    ),
)
