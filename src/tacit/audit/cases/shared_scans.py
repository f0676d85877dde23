"""Maxima of two groups by shared weight, by scans for ε and by Gaussian looks for ρ.

Whole weights in every group and losses of whole persons are broken.

A person has a value in one group or in both, and weighs 1/m in each of m groups.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.law import Law
from tacit.mechanisms.search.shared_scans import shared_scans, shared_searches

EPSILON, UNIT, GRID = Fraction(1), 2, integers(0, 2)

PERSONS = ((2, None), (None, 1), (1, 2), (2, 2))
"""What a person has in each group."""


Mechanism = Callable[[Dataset], Law[tuple[int | Fraction, ...]]]


_SCANS: Callable[..., Any] = partial(shared_scans, epsilon=EPSILON)


def _scans(weigh: Callable[[int], int], rounded: bool = False, search: Callable[..., Any] = _SCANS) -> Mechanism:
    def mechanism(x: Dataset) -> Law[tuple[int | Fraction, ...]]:
        losses = []
        for group in (0, 1):
            above = [sum(weigh(2 - person.count(None)) for person in x if (person[group] or 0) > y) for y in range(3)]
            counted = [-(-loss // UNIT) * UNIT for loss in above] if rounded else above
            losses.append(StepLoss.from_losses(GRID, counted, one_directional=True))
        law: Law[tuple[int | Fraction, ...]] = search(losses, unit=UNIT)
        return law

    return mechanism


RHO = Fraction(2)
_LOOKS = partial(shared_searches, rho=RHO, beta=Fraction(9, 10))
"""With a target so low that a handful of persons is near it."""


def _shared(groups: int) -> int:
    return UNIT // groups


CASES = (
    AuditCase(
        "maxima of two groups",
        "mechanisms.shared_scans",
        _scans(lambda groups: UNIT // groups),
        datasets(PERSONS, 3),
        Pure(EPSILON),
        twins={
            "a whole person in every group": _scans(lambda groups: UNIT),
            "losses rounded up to whole persons": _scans(lambda groups: UNIT // groups, rounded=True),
        },
        sampled=[(PERSONS[0], PERSONS[2])],
    ),
    AuditCase(
        "maxima of two groups, by Gaussian looks",
        "mechanisms.shared_searches",
        _scans(_shared, search=_LOOKS),
        datasets(PERSONS, 3),
        Zcdp(RHO),
        twins={
            "two persons' weight in every group": _scans(lambda groups: 2 * UNIT, search=_LOOKS),
            "noise for a sixteenth of the cost": _scans(_shared, search=partial(_LOOKS, rho=16 * RHO)),
        },
        sampled=[(PERSONS[0], PERSONS[2])],
    ),
)
