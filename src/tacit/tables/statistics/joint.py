"""Capped statistics where a row may concern several persons: a cap chosen, then the capped value with noise.

L(λ) is the statistic when no person may carry more than λ (`tacit.flows`). Adding a person raises it by something in
[0, λ]. The average slope q(λ) = (L(2λ) − L(λ))/λ counts the persons who still gain from a larger cap. It falls with
λ, for L is concave, and adding a person moves it by something in [−1, 2], so it is an integer loss of that change
once rounded down, and the exponential mechanism may weigh it with ε/3 for each. L(λ) with noise for sensitivity λ
costs the rest; the two are charged apart. Levels are solved from the top down and only until q reaches the limit
beyond which losses are the same, so that the many caps that cannot be chosen cost nothing.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from tacit.curves import StepLoss
from tacit.engines.requests import Touches
from tacit.flows.rows import Rows
from tacit.grids import integers
from tacit.mechanisms.exponential import exponential
from tacit.mechanisms.law import Law
from tacit.tables.costs import Allowance
from tacit.tables.room import Room
from tacit.tables.statistics.base import noisy
from tacit.tables.statistics.capped import Released
from tacit.tables.statistics.caps import PRIOR, levels

if TYPE_CHECKING:
    from tacit.flows.curve import CappedStatistic

SCAN_SHARE = Fraction(1, 2)
"""What the choice of the cap takes of the cost."""

CAPS = levels(2**61)
"""Caps on what one person carries."""

NAME = "cap chosen on the cap curve of a flow by the exponential mechanism, then noise for that cap"


def rows_of(touches: Touches, sign: int = 1) -> Rows:
    """The engine's rows as a flow problem; person 0 is nobody."""
    columns = [np.ma.masked_equal(column, 0) for column in touches.persons]
    return Rows.from_columns(sign * touches.weights, columns, touches.kinds)


def slope_law(capped: CappedStatistic, epsilon: Fraction) -> Law[int]:
    """The law of the index of a cap beyond which few persons gain."""
    at, limit = cache(capped.at), ceil(60 / epsilon) + 20
    losses, most = [limit] * len(CAPS), 0
    for i in range(len(CAPS) - 1, -1, -1):
        # The largest so far: rounding can make q rise a little with λ, and a maximum of losses keeps their change.
        most = max(most, (at(2 * CAPS[i]) - at(CAPS[i])) // CAPS[i])
        if most >= limit:
            break
        losses[i] = most
    loss = StepLoss.from_losses(integers(0, len(CAPS) - 1), losses)
    return exponential(loss, epsilon, PRIOR, change=(1, 2))  # type: ignore[return-value]


def joint_release(room: Room, capped: CappedStatistic, allowance: Allowance) -> Released:
    """A capped statistic with noise."""
    cap = CAPS[int(room.draw(slope_law(capped, allowance.share(SCAN_SHARE).epsilon)))]
    law, noise = noisy(capped.at(cap), allowance.share(1 - SCAN_SHARE), cap)
    return Released(room.draw(law), cap, noise, ())
