"""Scans of several losses at once, by shared weight: extremes of every group for the cost of one.

PROMISE  Pure(ε) for the answers of all losses together. Each loss is counted in units, ``unit`` of which make a whole
person; adding a person raises it by 0 up to what they weigh there, at every point, and nobody weighs more than
``unit`` over all losses.

PROOF  Each is an upward threshold scan (`threshold_scan`) with rates ε1/unit and ε2/unit, ε1 + ε2 = ε. A person of
weight w moves the loss by something in [0, w], so the proof there gives a ratio of at most e^{(ε1 + ε2)·w/unit} both
ways: a draw that loses in proportion to the weight. The rest is `tacit.mechanisms.together`.

ACCURACY  That of the scan, in units: as a scan of whole persons, for a person in one group weighs a whole one.

COST  That of the scans, half a millisecond each; fine units cost no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.mechanisms.grid_law import Answer
from tacit.mechanisms.search.scan_rates import BETA
from tacit.mechanisms.search.threshold_scan import threshold_scan
from tacit.mechanisms.together import Together
from tacit.numbers.exact import Number, positive, whole


def shared_scans(
    losses: Sequence[StepLoss], epsilon: Number, unit: int = 1, *, beta: Number = BETA
) -> Together[Answer]:
    """For each loss the first grid value that passes a noisy threshold, Pure(ε) for all together."""
    if not all(loss.one_directional for loss in losses):
        raise InvalidInput("losses must be one-directional: adding a person must never lower one.")
    total = positive(epsilon, "epsilon")
    each = total / whole(unit, "unit", 1)
    return Together([threshold_scan(loss, each, beta=beta) for loss in losses], Pure(total), unit)
