"""Scan and release on a few caps, for many and for few persons, and every charge that may be forgotten."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from tacit.answers.totals import Charges, TotalDesign
from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Pure
from tacit.mechanisms.totals.scan_and_release import (
    Buckets,
    CappedTotalLaw,
    SignedTotalLaw,
    scan_and_release,
    signed_scan_and_release,
)
from tacit.noises import Lopsided

EPSILON = Fraction(2)
CAPS = (1, 2, 5)
SMALL = TotalDesign(
    test=Fraction(1, 10),
    size=Fraction(2),
    choice=Fraction(3, 10),
    power=1,
    threshold=Fraction(1, 4),
    offset=Fraction(2),
)
"""So that with a handful of persons the test, the threshold and the comparisons are all in doubt."""

_NONE = Fraction(10)
"""A rate at which the noise is 0 but with probability e^-20."""


def buckets(totals: Dataset, caps: tuple[int, ...]) -> Buckets:
    """How many persons, and how much, between the caps."""
    counts, sums = [0] * (len(caps) + 1), [0] * (len(caps) + 1)
    for total in totals:
        place = bisect_left(caps, total)
        counts[place] += 1
        sums[place] += total
    return counts, sums


def _mechanism(design: TotalDesign) -> Mechanism:
    return lambda x: scan_and_release(*buckets(x, CAPS), EPSILON, caps=CAPS, design=design)


@dataclass(frozen=True)
class _Wrong(TotalDesign):
    """A design whose noises are not what its choice leaves."""

    change: Callable[[Charges, bool], Charges] = lambda right, many: right

    def charges(self, many: bool) -> Charges:
        """Those of the right design, changed."""
        return self.change(SMALL.charges(many), many)


@dataclass(frozen=True)
class _Unscaled(_Wrong):
    """A design that gives every cap the noise of the smallest."""

    def noises(self, many: bool, cap: int, epsilon: Fraction) -> tuple[Lopsided, Lopsided]:
        """The noises of the first cap."""
        return super().noises(many, CAPS[0], epsilon)


def _few(change: Callable[[Charges], Charges]) -> Mechanism:
    return _mechanism(_Wrong(**vars(SMALL), change=lambda right, many: right if many else change(right)))


def _many(change: Callable[[Charges], Charges]) -> Mechanism:
    return _mechanism(_Wrong(**vars(SMALL), change=lambda right, many: change(right) if many else right))


def _wrong(**parameters: Fraction) -> Mechanism:
    """The choice made with other rates than those charged."""
    return _mechanism(_Wrong(**{**vars(SMALL), **parameters}))


def _exchanged(right: Charges) -> Charges:
    return Charges(right.within_down, right.within_up, right.above_down, right.above_up)


class _Twice(CappedTotalLaw):
    """Persons above the cap counted with the cap in what lies within, and once more above it."""

    def __init__(self, x: Dataset) -> None:
        super().__init__(*buckets(x, CAPS), EPSILON, CAPS, SMALL)
        self._within = [within + cap * n for within, cap, n in zip(self._within, CAPS, self._above, strict=True)]


_ALL = Fraction(1)

_TWINS: dict[str, Mechanism] = {
    "many: the test not charged": _many(lambda right: replace(right, above_up=_ALL)),
    "many: the choice not charged above the cap": _many(lambda right: replace(right, above_down=_ALL)),
    "many: the choice not charged within the cap": _many(lambda right: replace(right, within_up=1 - SMALL.test)),
    "many: up and down exchanged": _many(_exchanged),
    "many: twice the rate in the choice": _wrong(choice=2 * SMALL.choice),
    "few: the test not charged": _few(lambda right: replace(right, above_down=1 - SMALL.each)),
    "few: the threshold not charged": _few(lambda right: replace(right, above_up=_ALL)),
    "few: the comparisons not charged above the cap": _few(lambda right: replace(right, above_down=1 - SMALL.test)),
    "few: the threshold alone charged within the cap": _few(lambda right: replace(right, within_up=right.above_up)),
    "few: up and down exchanged": _few(_exchanged),
    "few: no noise on the threshold": _wrong(threshold=_NONE),
    "few: no noise on the comparisons": _wrong(each=_NONE),
    "the noise within not scaled with the cap": _mechanism(_Unscaled(**vars(SMALL))),
    "persons above the cap counted twice": _Twice,
}


def _signed(x: Dataset, both: bool = False) -> SignedTotalLaw:
    """Persons by the sign of their total; ``both`` puts everyone on both sides, as rows of either sign would."""
    sides = [[abs(total) for total in x if both or total * sign > 0] for sign in (1, -1)]
    positive, negative = (buckets(tuple(side), CAPS[:1]) for side in sides)
    return signed_scan_and_release(positive, negative, EPSILON, caps=CAPS[:1], design=SMALL)


_case = partial(AuditCase, covers="mechanisms.scan_and_release", mechanism=_mechanism(SMALL), promised=Pure(EPSILON))

CASES = (
    _case(
        name="scan and release, two persons",
        datasets=datasets((2, 4), 2),
        twins=_TWINS,
        sampled=[(2, 4)],
    ),
    _case(name="scan and release, five persons", datasets=datasets((2, 4), 5)),
    AuditCase(
        name="scan and release, totals of either sign",
        covers="mechanisms.signed_scan_and_release",
        mechanism=_signed,
        datasets=datasets((-2, 1), 2),
        promised=Pure(EPSILON),
        twins={"a person in both parts": lambda x: _signed(x, both=True)},
    ),
)
