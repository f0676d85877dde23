"""Persons' totals, counted and added up in buckets of their size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines.requests.operands import Total, check_boundaries
from tacit.engines.requests.products import Product
from tacit.engines.requests.request import AnswerRow, Arm, Request
from tacit.engines.script import PERSONS, fragment

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement


@dataclass(frozen=True)
class Bucket:
    """How many persons fall into a bucket, and the sum of their absolute totals."""

    count: int
    sum: int


@dataclass(frozen=True)
class Buckets:
    """Buckets (0, b_0], (b_0, b_1], …, (b_last, ∞) of the positive and of the negative totals' absolute values."""

    positive: tuple[Bucket, ...]
    negative: tuple[Bucket, ...]


@dataclass(frozen=True)
class TotalBuckets(Request[Buckets]):
    """Per-person totals in buckets between public boundaries; totals of zero are in none."""

    total: Total | Product
    boundaries: tuple[int, ...]

    def __post_init__(self) -> None:
        check_boundaries(self.boundaries, numbers=4)

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """Each total's size and sign, then its bucket; the buckets of negative totals are -1, -2, …"""
        one, fence = self.total, statement.dialect.fence
        persons, total = one.of_persons(statement) if isinstance(one, Product) else (PERSONS, one.of_person(statement))
        asked = f"(SELECT ABS({total}) AS size, {total} < 0 AS negative FROM "
        sizes = fragment(asked, persons, f" WHERE {total} <> 0{fence}) AS sizes")
        places = statement.dialect.placed(sizes, "size", self.boundaries, "size", "negative")
        source = fragment("(", places, ") AS places GROUP BY place, negative")
        place = "CASE WHEN negative THEN -1 - place ELSE place END"
        return (Arm(source, a=place, b="COUNT(*)", c="SUM(size)"),)

    def read(self, rows: Sequence[AnswerRow]) -> Buckets:
        """The buckets of both signs; those without a row are empty."""
        buckets = {int(row[1]): Bucket(int(row[2]), int(row[3])) for row in rows}
        places, empty = range(len(self.boundaries) + 1), Bucket(0, 0)
        return Buckets(tuple(buckets.get(i, empty) for i in places), tuple(buckets.get(-1 - i, empty) for i in places))
