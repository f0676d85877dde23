"""The mean by two sums, adding and removing or replacing persons; noise for half the range is broken."""

from __future__ import annotations

from fractions import Fraction

from tacit.audit.cases.inverse_losses import replaced
from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Pure
from tacit.mechanisms.totals.bounded_mean import BoundedMeanLaw, bounded_mean

GUARANTEE = Pure(12)
HIGH = 2


def _half(x: Dataset) -> BoundedMeanLaw:
    return BoundedMeanLaw(sum(x), HIGH * len(x) - sum(x), Fraction(0), Fraction(HIGH), 1, GUARANTEE)


CASES = (
    AuditCase(
        name="mean by two sums",
        covers="mechanisms.bounded_mean",
        mechanism=lambda x: bounded_mean(x, 0, HIGH, GUARANTEE.epsilon, unit=1),
        datasets=datasets((0, 1, 2), 2),
        promised=GUARANTEE,
        twins={"noise for half the range": _half},
    ),
    AuditCase(
        name="mean by two sums, number of persons public",
        covers="mechanisms.bounded_mean",
        mechanism=lambda x: bounded_mean(x, 0, HIGH, GUARANTEE.epsilon, unit=1, persons_public=True),
        datasets=datasets((0, 1, 2), 2),
        promised=GUARANTEE,
        pairs=replaced,
        twins={"noise as for adding and removing": lambda x: bounded_mean(x, 0, HIGH, GUARANTEE.epsilon, unit=1)},
    ),
)
