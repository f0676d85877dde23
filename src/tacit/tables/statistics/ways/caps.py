"""Caps chosen by how many persons lie above them.

The number N(λ) of persons above a level λ falls with λ and never falls when a person joins, so it is a
one-directional loss of sensitivity 1 on the public list of levels. The exponential mechanism chooses a level in
proportion to λ^{−p}·e^{−εN(λ)}: it goes up as long as half as large a cap again leaves out p·ln(1.5)/ε fewer persons,
whatever the scale of the data, and the prior keeps it from running away where nobody is left above.

ACCURACY  The prior's tail is heavy: where nobody is above, a cap of more than three times everybody's rows has a chance
of 6 % at any ε, and the quantile drawn with it may lie beyond the last row. A steep prior (ratio 1/20, a tenth of the
cost) ends that (10^-4), and is better where persons are alike. But it needs 24 units of ε·share·persons to climb from 2
rows to 50, not 7, so it is blind to a few heavy persons whose values differ (2 % of persons with 50 rows of four times
the value), and a single quantile keeps this one. Rank errors, computed from the laws, in percent of rows, at ε = 1:
median, 95 % and 99 %. An error of 10.0 of the 0.9 quantile is mostly an answer beyond the last row.

                               median of the rows               0.9 quantile of the rows
                 persons   this prior       steep            this prior       steep
    one row each    200    0.5  4.0 50.0    0.5  1.5  2.5   10.0 10.0 10.0    2.0 10.0 10.0
                  2,000    0.0  0.4  0.8    0.0  0.1  0.2    0.1  0.7  2.6    0.1  0.3  0.4
                 20,000    0.0  0.0  0.1    0.0  0.0  0.0    0.0  0.0  0.1    0.0  0.0  0.0
    lognormal       200    1.1  7.7 50.0    0.5  2.8  4.1   10.0 10.0 10.0   10.0 10.0 10.0
                  2,000    0.0  0.6  1.4    0.0  0.3  0.6    0.2  1.7 10.0    0.1  0.7  1.2
                 20,000    0.0  0.0  0.1    0.0  0.0  0.0    0.0  0.2  0.4    0.0  0.1  0.1
    rows alike      200    0.0 50.0 50.0    0.0  0.0  0.0   10.0 10.0 10.0   10.0 10.0 10.0
                  2,000    0.0  0.0  0.0    0.0  0.0  0.0    0.9 10.0 10.0    0.3  1.6  2.7
                 20,000    0.0  0.0  0.0    0.0  0.0  0.0    0.1  0.5  1.1    0.0  0.2  0.3
    few heavy       200   13.5 15.2 16.7   13.9 14.7 15.5   10.0 16.9 19.2   11.1 17.5 19.2
                  2,000    2.5 13.6 50.0   13.3 13.6 13.8   10.0 13.5 13.8   13.0 13.7 13.9
                 20,000    0.1  0.6  1.2    0.0  0.4  0.6    0.2  1.2 10.0    0.1  0.7  1.0
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
    return exponential(loss, prior=prior, **allowance.keywords)  # type: ignore[return-value]


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
