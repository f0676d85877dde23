"""The cap of grouped flows over every change that one person with rows in two groups may make of a curve."""

from __future__ import annotations

from fractions import Fraction

from tacit.audit.cases.capped_flow import Values, changed, changes
from tacit.audit.exact import Mechanism
from tacit.audit.registry import AuditCase
from tacit.guarantees import Pure
from tacit.mechanisms.totals.flow_cap import flow_cap

EPSILON = Fraction(2)
MOST = 2
LAST = 128
"""From this level on nothing is changed: where the scan ends, there is no stop to compare."""
CURVE = {8: 80, 16: 96, 32: 300, 64: 812, 128: 1000, 256: 4072}
"""Values at caps: two persons gain from more than 8, so that passing it takes luck, and many from more than 32. No rows
have such a curve, but the promise does not ask for one."""


def _cap(most: int, epsilon: Fraction = EPSILON) -> Mechanism:
    caps = tuple(CURVE)
    return lambda x: flow_cap(Values(dict(zip(caps, x, strict=True))), epsilon, levels=caps[::2], most=most)


CASES = (
    AuditCase(
        name="cap of grouped flows, every change of a curve by a person in two groups",
        covers="mechanisms.flow_cap",
        mechanism=_cap(MOST),
        datasets=changed(CURVE, lambda cap: (0, MOST * cap) if cap < LAST else (0,)),
        promised=Pure(EPSILON),
        twins={
            "a person taken for one in one group": _cap(1),
            "twice the rate": _cap(MOST, 2 * EPSILON),
        },
        sampled=[tuple(CURVE.values())],
        pairs=changes,
    ),
)
