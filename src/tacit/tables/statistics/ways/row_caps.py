"""A cap on the rows that one person counts for, chosen privately."""

from __future__ import annotations

from fractions import Fraction

from tacit.engines.requests import Buckets, Ordered, RowCount, TotalBuckets
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.ways.caps import choose_cap, levels

CAP_SHARE = Fraction(1, 5)
"""What the cap on rows per person takes of the cost of a quantile, per row."""

ROW_LEVELS = levels(2**30)
"""Caps on rows per person."""


def row_cap(room: Room, value: Ordered, allowance: Allowance) -> int:
    """A cap on the rows with a value that one person counts for; one round of the room."""
    (buckets,) = room.ask(TotalBuckets(RowCount(value.expression), ROW_LEVELS))
    assert isinstance(buckets, Buckets)
    return choose_cap(room, ROW_LEVELS, [bucket.count for bucket in buckets.positive], allowance)
