"""Subset extension of functions that break their claim: up to five persons, one added, removed or replaced.

The functions are steady on some groups and jump on others, so that persons stand in the way. Where the floor is 0 all
datasets are compared; with a floor of one person those that the proof speaks of, four and five persons. The tests go on
to thousands of functions. Twins: no test, a test that lets one person more pass, noise for the claim alone, and an
extension in which a missing person costs one claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

from tacit.audit.cases.black_boxes import replaced
from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.mechanisms.law import Law
from tacit.mechanisms.local.subset_extension import SLOPE, ExtensionDesign, ExtensionLaw

Function = Callable[[Dataset], int]


def steady(f: Function, z: Dataset, floor: int, claim: int) -> bool:
    """Whether no person changes f by more than the claim on any subset of at least ``floor`` persons."""
    for size in range(floor + 1, len(z) + 1):
        for s in combinations(z, size):
            if any(abs(f(s) - f(s[:i] + s[i + 1 :])) > claim for i in range(size)):
                return False
    return True


def extended(f: Function, x: Dataset, floor: int, design: ExtensionDesign, slope: int = SLOPE) -> tuple[int, int]:
    """m and F by their definition."""
    found = {
        missing: [f(z) for z in combinations(x, len(x) - missing) if steady(f, z, floor, design.claim)]
        for missing in range(len(x) - floor + 1)
    }
    near = [
        min(values) + slope * design.claim * missing
        for missing, values in found.items()
        if values and missing <= design.near
    ]
    return next(missing for missing, values in found.items() if values), min(near, default=0)


DESIGN = ExtensionDesign(1, Fraction(4), Fraction(1, 50), Fraction(1, 2))
PUBLIC = replace(DESIGN, public=True)


class Lax(ExtensionDesign):
    """Lets one person more in the way pass, and counts on one less."""

    @property
    def most(self) -> int:
        """One more."""
        return super().most + 1

    @property
    def last(self) -> int:
        """As if that were not so."""
        return super().last - 1


class Claimed(ExtensionDesign):
    """Noise for the claim alone."""

    @property
    def moved(self) -> int:
        """What f moves where it keeps its claim."""
        return self.claim


def jumping(x: Dataset) -> int:
    """A count in which every 1 beyond the first weighs twenty, far from zero."""
    return 50 + len(x) + 20 * max(0, sum(x) - 1)


ODD = {
    (0, 0): 0, (0, 1): 1, (0, 2): 2, (0, 3): -9, (0, 4): 2, (0, 5): -1, (1, 0): -1, (1, 1): 1, (1, 2): 0, (1, 3): 0,
    (1, 4): 9, (2, 0): -1, (2, 1): 2, (2, 2): -9, (2, 3): 0, (3, 0): -1, (3, 1): 0, (3, 2): 1, (4, 0): 9, (4, 1): 9,
    (5, 0): -1,
}  # fmt: skip
"""By how many persons of either kind there are: steady on few groups, far off on others."""


def odd(x: Dataset) -> int:
    """A function that was found by a search for large moves of a wrong extension."""
    return ODD[x.count(0), x.count(1)]


def _law(
    f: Function, floor: int, design: ExtensionDesign = DESIGN, slope: int = SLOPE
) -> Callable[[Dataset], Law[Any]]:
    @cache
    def law(x: Dataset) -> Law[Any]:
        return ExtensionLaw(design, *extended(f, x, floor, design, slope))

    return law


def _as(kind: type[ExtensionDesign]) -> ExtensionDesign:
    return kind(DESIGN.claim, DESIGN.epsilon, DESIGN.delta, DESIGN.beta)


@dataclass(frozen=True)
class _Believed:
    """No test at all."""

    f: Function

    def __call__(self, x: Dataset) -> Law[Any]:
        return ExtensionLaw(DESIGN, 0, self.f(x))


def _case(name: str, f: Function, floor: int, collection: list[Dataset], **more: Any) -> AuditCase:
    return AuditCase(
        name=f"subset extension, {name}",
        covers="mechanisms.subset_extension",
        mechanism=_law(f, floor),
        datasets=collection,
        promised=DESIGN.guarantee,
        **more,
    )


SMALL = datasets((0, 1), 5)
LARGE = [x for x in SMALL if len(x) >= 4]

CASES = (
    _case(
        "a function that jumps",
        jumping,
        0,
        SMALL,
        sampled=[(0, 1, 1)],
        twins={
            "no test": _Believed(jumping),
            "a test that lets one more pass": _law(jumping, 0, _as(Lax)),
            "noise for the claim alone": _law(jumping, 0, _as(Claimed)),
        },
    ),
    _case(
        "a function that is odd",
        odd,
        0,
        SMALL,
        twins={"a missing person costs one claim": _law(odd, 0, _as(Claimed), 1)},
    ),
    _case("with a floor", jumping, 1, LARGE),
    AuditCase(
        name="subset extension, a person replaced",
        covers="mechanisms.subset_extension",
        mechanism=_law(jumping, 1, PUBLIC),
        datasets=[x for x in datasets((0, 1), 5) if len(x) == 5],
        promised=PUBLIC.guarantee,
        pairs=replaced,
    ),
)
