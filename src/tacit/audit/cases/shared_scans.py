"""Maxima of two groups by shared weight; whole weights in every group and losses of whole persons are broken.

A person has a value in one group or in both, and weighs 1/m in each of m groups.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.guarantees import Pure
from tacit.mechanisms.law import Law
from tacit.mechanisms.search.shared_scans import shared_scans

EPSILON, UNIT, GRID = Fraction(1), 2, integers(0, 2)

PERSONS = ((2, None), (None, 1), (1, 2), (2, 2))
"""What a person has in each group."""


def _scans(weigh: Callable[[int], int], rounded: bool = False) -> Callable[[Dataset], Law[tuple[int | Fraction, ...]]]:
    def mechanism(x: Dataset) -> Law[tuple[int | Fraction, ...]]:
        losses = []
        for group in (0, 1):
            above = [sum(weigh(2 - person.count(None)) for person in x if (person[group] or 0) > y) for y in range(3)]
            counted = [-(-loss // UNIT) * UNIT for loss in above] if rounded else above
            losses.append(StepLoss.from_losses(GRID, counted, one_directional=True))
        return shared_scans(losses, EPSILON, UNIT)

    return mechanism


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
)
