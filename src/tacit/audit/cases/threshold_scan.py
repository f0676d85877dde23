"""Threshold scans over max, sum, count and median, both ways, and what goes wrong without one of the noises."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, lru_cache, partial

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.audit.small import COUNT, MAXIMUM, MEDIAN, SMALL, SUM, Small
from tacit.curves import DownProfile, StepLoss
from tacit.grids import integers, powers
from tacit.guarantees import Pure
from tacit.mechanisms.search.scan_rates import Rates
from tacit.mechanisms.search.threshold_scan import ScanLaw, threshold_scan

EPSILON = Fraction(2)
SPLIT = Fraction(2, 5)
OFFSET = 2
"""Low, so that on five persons both the threshold's and the comparisons' noise decide."""

_NONE = Fraction(100)
"""A rate at which the noise is 0 but with probability e^-100."""


def _mechanism(small: Small, direction: str) -> Mechanism:
    cached = lru_cache(maxsize=None)(lambda loss: threshold_scan(loss, EPSILON, direction, SPLIT, OFFSET))
    return lambda x: cached(small.loss(x))


def _twin(small: Small, direction: str, rates: Rates) -> Mechanism:
    @cache
    def law(loss: StepLoss) -> ScanLaw:
        return ScanLaw(loss, direction == "up", rates, OFFSET, Pure(EPSILON))

    return lambda x: law(small.loss(x))


def _twins(small: Small, direction: str) -> Mapping[str, Mechanism]:
    first, each = SPLIT * EPSILON, (1 - SPLIT) * EPSILON
    if small is MEDIAN:
        wrong = {"the cost of a one-directional loss for one that is not": Rates(first, each)}
    else:
        wrong = {
            "no noise on the comparisons": Rates(first, _NONE),
            "half the noise on the comparisons": Rates(first, 2 * each),
            "no noise on the threshold": Rates(_NONE, each),
        }
    return {name: _twin(small, direction, rates) for name, rates in wrong.items()}


def _wide_loss(x: Dataset) -> StepLoss:
    """Every person moves the loss at two points by something from −1 to 2, at a third not at all."""
    moved = [4 + sum(person[i] for person in x) for i in range(2)]
    return StepLoss.from_losses(integers(0, 2), [*moved, 1])


_WIDE = datasets(((-1, -1), (-1, 2), (2, -1), (2, 2)), 3)


def _wide(change: tuple[int, int]) -> Mechanism:
    return lambda x: threshold_scan(_wide_loss(x), EPSILON, "up", SPLIT, OFFSET, change=change)


def _open(x: Dataset) -> ScanLaw:
    """The count on powers of two without end; the rule's own parameters."""
    return threshold_scan(DownProfile(range(len(x), 0, -1), bottom=1).loss(powers(2)), EPSILON)


_case = partial(AuditCase, covers="mechanisms.threshold_scan", promised=Pure(EPSILON))


def _small_case(small: Small, direction: str) -> AuditCase:
    return _case(
        name=f"threshold scan {direction}, {small.name}",
        mechanism=_mechanism(small, direction),
        datasets=small.datasets,
        twins={} if small is SUM else _twins(small, direction),
        sampled=[(0, 1, 3)] if small is MAXIMUM and direction == "up" else [],
    )


CASES = (
    *(_small_case(small, direction) for small in SMALL for direction in ("up", "down")),
    _case(
        name="threshold scan up, a loss that one person moves by −1 to 2",
        mechanism=_wide((1, 2)),
        datasets=_WIDE,
        twins={"the cost of sensitivity 1": _wide((1, 1))},
    ),
    _case(
        name="threshold scan up, count on an open grid",
        mechanism=_open,
        datasets=COUNT.datasets,
    ),
)
