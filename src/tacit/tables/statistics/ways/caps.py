"""Caps chosen by how many persons lie above them.

The number N(λ) of persons above a level λ falls with λ and never falls when a person joins, so it is a
one-directional loss of sensitivity 1 on the public list of levels. The exponential mechanism chooses a level in
proportion to λ^{−p}·e^{−εN(λ)}: it goes up as long as half as large a cap again leaves out p·ln(1.5)/ε fewer persons,
whatever the scale of the data, and the prior keeps it from running away where nobody is left above.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from tacit.curves import StepLoss
from tacit.engines.requests import Buckets, Ordered, RowCount, TotalBuckets
from tacit.grids import integers
from tacit.mechanisms.choose.exponential import exponential
from tacit.mechanisms.choose.priors import Decaying
from tacit.mechanisms.law import Law
from tacit.tables.releasing.room import Allowance, Room

PRIOR = Decaying(width=1, ratio=Fraction(2, 5))
"""Two fifths of the weight for half as large a cap again: λ^−2.3, so a few dozen persons/ε suffice at any scale."""


def levels(limit: int, part: int = 2) -> tuple[int, ...]:
    """1, 2, 3, 4, 6, 9, 14, …: ascending integers, each larger by about one ``part``-th, the last one at ``limit``."""
    found = [1]
    while found[-1] < limit:
        found.append(min(limit, found[-1] + (found[-1] + part - 1) // part))
    return tuple(found)


def persons_above(counts: Sequence[int]) -> tuple[int, ...]:
    """How many lie above each level, from the buckets (0, b_0], …, (b_last, ∞) between levels b_0, b_1, …, b_last."""
    return tuple(accumulate(reversed(counts[1:])))[::-1]


def cap_law(steps: Sequence[int], counts: Sequence[int], allowance: Allowance, prior: Decaying = PRIOR) -> Law[int]:
    """The law of the index of a level with few persons above it; ``counts`` are in the buckets between the levels."""
    loss = StepLoss.from_losses(integers(0, len(steps) - 1), persons_above(counts), one_directional=True)
    return exponential(loss, allowance.epsilon, prior)  # type: ignore[return-value]


def choose_cap(
    room: Room, steps: Sequence[int], counts: Sequence[int], allowance: Allowance, prior: Decaying = PRIOR
) -> int:
    """Draw a cap."""
    return steps[int(room.draw(cap_law(steps, counts, allowance, prior)))]


CAP_SHARE = Fraction(1, 5)
"""What the cap on rows per person takes of the cost of a quantile, per row."""

ROW_LEVELS = levels(2**30)
"""Caps on rows per person."""


def row_cap(room: Room, value: Ordered, allowance: Allowance, prior: Decaying = PRIOR) -> int:
    """A cap on the rows with a value that one person counts for; one round of the room."""
    (buckets,) = room.ask(TotalBuckets(RowCount(value.expression), ROW_LEVELS))
    assert isinstance(buckets, Buckets)
    return choose_cap(room, ROW_LEVELS, [bucket.count for bucket in buckets.positive], allowance, prior)
