"""Caps of vectors, by weights for counts in few groups and else by a scan, around a target that some datasets reach."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.guarantees import Pure
from tacit.mechanisms.choose.exponential import ExponentialLaw, exponential
from tacit.mechanisms.choose.priors import Listed
from tacit.mechanisms.totals.vector_cap import FEW, POWER, vector_cap

EPSILON = Fraction(2)
LEVELS = (1, 2, 4)
NORMS = (1, 2, 3, 9)
TARGET = 2


def _above(x: Dataset) -> list[int]:
    return [sum(norm > level for norm in x) for level in LEVELS]


def _cap(counts: bool, cost: Fraction = EPSILON, target: Callable[[Dataset], int] = lambda x: TARGET) -> Mechanism:
    return lambda x: vector_cap(_above(x), LEVELS, FEW, cost, target(x), counts=counts)


def _two_sided(x: Dataset) -> ExponentialLaw:
    """|N − T| instead of (N − T)⁺, which may fall when a person joins, at the price of a loss that may not."""
    losses = [abs(count - TARGET) for count in _above(x)]
    loss = StepLoss.from_losses(integers(0, len(LEVELS) - 1), losses, one_directional=True)
    return exponential(loss, EPSILON, Listed.powers(LEVELS, POWER))


_case = partial(AuditCase, covers="mechanisms.vector_cap", datasets=datasets(NORMS, 4), promised=Pure(EPSILON))

CASES = (
    _case(
        name="cap of a vector of a few counts",
        mechanism=_cap(True),
        twins={
            "a loss that falls when a person joins": _two_sided,
            "a target that follows the persons": _cap(True, target=lambda x: max(0, 4 - 2 * len(x))),
            "twice the rate": _cap(True, 2 * EPSILON),
        },
        sampled=[(1, 2, 3, 9), (9, 9, 9)],
    ),
    _case(
        name="cap of a vector",
        mechanism=_cap(False),
        twins={
            "a target that follows the persons": _cap(False, target=lambda x: max(0, 4 - 2 * len(x))),
            "twice the rate": _cap(False, 2 * EPSILON),
        },
        sampled=[(1, 2, 3, 9)],
    ),
)
