"""The recursive interior-point search on small grids, with parameters small enough to show on five persons."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

from tacit.audit.exact import Mechanism
from tacit.audit.registry import AuditCase
from tacit.audit.small import COUNT, MAXIMUM, MEDIAN, SUM, Small
from tacit.curves import StepLoss
from tacit.guarantees import Approx
from tacit.mechanisms.search.interior_point import InteriorDesign, InteriorPointLaw
from tacit.mechanisms.search.scan_rates import BETA

EPSILON, DELTA = Fraction(1), Fraction(1, 20)

ONE = InteriorDesign(Fraction(1, 8), Fraction(3, 4), Fraction(1, 8), DELTA, width=2, depth=2, window=0)
"""Blocks of two cells and a shallow depth, so that every step depends on few persons."""

TWO = replace(ONE, block=EPSILON / 2, delta=DELTA / 2, inner=replace(ONE, block=EPSILON / 8, delta=DELTA / 2))
"""The scale chosen by the search itself: (1/8 + 1/8 + 1/8) + 1/2 + 1/8 = 1."""

_NONE = Fraction(100)
"""An ε at which there is no noise to speak of."""


def _mechanism(small: Small, design: InteriorDesign) -> Mechanism:
    @cache
    def law(loss: StepLoss) -> InteriorPointLaw:
        return InteriorPointLaw(loss, design, Approx(EPSILON, DELTA), BETA)

    return lambda x: law(small.loss(x))


_CELLS = replace(ONE, width=1)
"""Blocks of one cell: most blocks to choose from."""

_TWINS = {
    "the scale chosen without noise": replace(ONE, scale=_NONE),
    "the block released without noise": replace(ONE, block=_NONE),
    "the value chosen without noise": replace(ONE, value=_NONE),
}
_LEAD = {"the block released without a lead": replace(_CELLS, delta=Fraction(99, 100))}

CASES = tuple(
    AuditCase(
        name=f"interior point, {what}, {small.name}",
        covers="mechanisms.interior_point",
        mechanism=_mechanism(small, design),
        datasets=small.datasets,
        promised=Approx(EPSILON, DELTA),
        twins={name: _mechanism(small, wrong) for name, wrong in twins.items()},
    )
    for what, small, design, twins in (
        ("one level", MEDIAN, ONE, _TWINS),
        ("one level", MAXIMUM, ONE, {}),
        ("one level", COUNT, ONE, {}),
        ("blocks of one cell", SUM, _CELLS, _LEAD),
        ("two levels", COUNT, TWO, {}),
    )
)
