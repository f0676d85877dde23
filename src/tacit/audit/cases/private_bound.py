"""Noise for a private bound: a number of persons, squared, whose local sensitivity 2n + 1 follows from a noisy n.

Twins: noise for half the bound, a bound that forgets the noise of what it follows from, and a measurement that is not
charged.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Approx
from tacit.mechanisms.local.private_bound import BoundedLaw, private_bound
from tacit.mechanisms.noise.noise import laplace
from tacit.noises import DiscreteLaplace

FIRST, SECOND, DELTA = Fraction(2), Fraction(1), Fraction(1, 20)
ROOM = DiscreteLaplace(FIRST).threshold(DELTA) - 1
"""A noisy number is above the true one by more than this, or below it, with probability at most δ."""


def _rule(noisy: int) -> int:
    return 2 * max(0, noisy + ROOM) + 1


def _half(noisy: int) -> Fraction:
    return Fraction(_rule(noisy), 2)


def _bare(noisy: int) -> int:
    return 2 * max(0, noisy) + 1


def _law(x: Dataset, rule: Any = _rule, first: Fraction = FIRST) -> BoundedLaw:
    return private_bound(len(x) ** 2, laplace(len(x), first), rule, SECOND, DELTA)


def _uncharged(x: Dataset) -> BoundedLaw:
    """Measured at twice the rate for the same promise."""
    return _law(x, first=2 * FIRST)


def _with(rule: Any) -> Mechanism:
    return lambda x: _law(x, rule)


CASES = (
    AuditCase(
        name="noise for a private bound, persons squared",
        covers="mechanisms.private_bound",
        mechanism=_law,
        datasets=datasets((1,), 3),
        promised=Approx(FIRST + SECOND, DELTA),
        twins={
            "noise for half the bound": _with(_half),
            "a bound that forgets the noise": _with(_bare),
            "a measurement that is not charged": _uncharged,
        },
        sampled=[(1, 1)],
    ),
)
