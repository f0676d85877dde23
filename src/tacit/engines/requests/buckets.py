"""Buckets between public boundaries, as several requests count in them: (…, b_0], (b_0, b_1], …, (b_last, ∞)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tacit.engines.requests.request import LARGEST_ANSWER, AnswerRow
from tacit.errors import InvalidInput


def check_boundaries(boundaries: tuple[int, ...], numbers: int) -> None:
    """Refuse boundaries that do not ascend, or are too many for an answer of some numbers a bucket."""
    ascending = all(low < high for low, high in pairwise(boundaries))
    if not boundaries or not ascending or boundaries[0] < 0 or boundaries[-1] >= 2**126:
        raise InvalidInput("boundaries must be ascending whole numbers from 0 to below 2^126, at least one.")
    if numbers * (len(boundaries) + 1) > LARGEST_ANSWER:
        raise InvalidInput(
            f"too many boundaries: one answer holds at most {LARGEST_ANSWER} numbers; use a coarser grid."
        )


def bucket(column: str, boundaries: Sequence[int]) -> str:
    """The SQL of a column's bucket, by binary search: the index of the first boundary at or above it."""

    def search(low: int, high: int) -> str:
        if low == high:
            return str(low)
        middle = (low + high) // 2
        return (
            f"CASE WHEN {column} <= {boundaries[middle]} THEN {search(low, middle)} ELSE {search(middle + 1, high)} END"
        )

    return search(0, len(boundaries))


def numbers_by_place(rows: Sequence[AnswerRow], places: int) -> tuple[int, ...]:
    """The numbers in b by the places in a, 0 where no row came."""
    numbers = {int(row[1]): int(row[2]) for row in rows}
    return tuple(numbers.get(place, 0) for place in range(places))
