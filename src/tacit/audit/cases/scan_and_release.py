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
    size=Fraction(4),
    choice=Fraction(3, 10),
    power=1,
    threshold=Fraction(1, 4),
    offset=Fraction(2),
    handful=Fraction(2),
    handful_threshold=Fraction(3, 10),
    handful_each=Fraction(1, 5),
    handful_offset=Fraction(0),
    handful_stride=2,
    beyond=1,
)
"""So that with one or two persons the test, the threshold and the comparisons are all in doubt."""

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

    change: Callable[[Charges, str], Charges] = lambda right, kind: right

    def charges(self, many: bool, handful: bool = False) -> Charges:
        """Those of the right design, changed."""
        return self.change(SMALL.charges(many, handful), "many" if many else "handful" if handful else "few")


@dataclass(frozen=True)
class _Unscaled(_Wrong):
    """A design that gives every cap the noise of the smallest."""

    def noises(self, many: bool, cap: int, epsilon: Fraction, handful: bool = False) -> tuple[Lopsided, Lopsided]:
        """The noises of the first cap."""
        return super().noises(many, CAPS[0], epsilon, handful)


def _changed(kind: str, change: Callable[[Charges], Charges]) -> Mechanism:
    """Other noises where persons are many, few or a handful."""
    return _mechanism(_Wrong(**vars(SMALL), change=lambda right, found: change(right) if found == kind else right))


_few, _many, _handful = (partial(_changed, kind) for kind in ("few", "many", "handful"))


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
    "many: twice the rate in the choice": _wrong(choice=2 * SMALL.choice),
    "many: persons between cap and limit free": _many(lambda right: replace(right, within_down=_ALL)),
    "few: the test not charged": _few(lambda right: replace(right, above_down=1 - SMALL.each)),
    "few: the test for a handful not charged": _few(
        lambda right: replace(right, within_up=right.within_up + SMALL.test, above_up=right.above_up + SMALL.test)
    ),
    "few: persons between cap and limit free": _few(lambda right: replace(right, within_down=1 - SMALL.test)),
    "a handful: the test not charged": _handful(lambda right: replace(right, above_down=1 - SMALL.handful_each)),
    "a handful: the threshold not charged": _handful(lambda right: replace(right, above_up=_ALL)),
    "a handful: charged as few": _handful(lambda _: SMALL.charges(many=False)),
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
    return signed_scan_and_release(
        positive, negative, EPSILON, caps=CAPS[:1], design=replace(SMALL, handful=Fraction(0))
    )


_case = partial(AuditCase, covers="mechanisms.scan_and_release", mechanism=_mechanism(SMALL), promised=Pure(EPSILON))

CASES = (
    _case(
        name="scan and release, two persons",
        datasets=datasets((2, 4, 7), 2),
        twins=_TWINS,
        sampled=[(2, 7)],
    ),
    _case(name="scan and release, four persons", datasets=datasets((2, 7), 4)),
    AuditCase(
        name="scan and release, totals of either sign",
        covers="mechanisms.signed_scan_and_release",
        mechanism=_signed,
        datasets=datasets((-2, 1), 2),
        promised=Pure(EPSILON),
        twins={"a person in both parts": lambda x: _signed(x, both=True)},
    ),
)
