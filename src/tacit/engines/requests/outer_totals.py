"""The sums of persons' totals, and the largest and smallest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines.requests.operands import Total
from tacit.engines.requests.request import LARGEST_ANSWER, AnswerRow, Arm, Request, Withheld
from tacit.engines.script import PERSONS, fragment
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement

MOST_ENDS = LARGEST_ANSWER // 2 - 4
"""The most totals of either end in one answer."""


@dataclass(frozen=True, repr=False)
class Outer(Withheld):
    """How many persons have a total, what those above and those below zero add up to, and the outermost of them."""

    persons: int
    above: int
    below: int
    """The sum of those below zero, itself below zero or zero."""
    largest: tuple[int, ...]
    """Descending."""
    smallest: tuple[int, ...]
    """Ascending."""


@dataclass(frozen=True)
class OuterTotals(Request[Outer]):
    """Per-person totals: their number, the sums of both signs, and the ``k`` largest and the ``k`` smallest.

    Persons without a value have no total; they count nowhere.
    """

    total: Total
    k: int

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MOST_ENDS:
            raise InvalidInput(f"k must lie between 1 and {MOST_ENDS}.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """One arm for the sums, and one for each end, told apart by a key."""
        total = self.total.of_person(statement)
        totals = statement.table("totals", f"SELECT {total} AS t FROM ", PERSONS, f" WHERE {total} IS NOT NULL")
        sums = [f"COALESCE(SUM(CASE WHEN t {sign} 0 THEN t END), 0)" for sign in "><"]
        ends = [
            Arm(fragment("(SELECT t FROM ", totals, f" ORDER BY t {order} LIMIT {self.k}) AS ends"), a="t", keys=[key])
            for order, key in (("DESC", "'1'"), ("ASC", "'0'"))
        ]
        return (Arm(fragment(totals), a="COUNT(*)", b=sums[0], c=sums[1]), *ends)

    def read(self, rows: Sequence[AnswerRow]) -> Outer:
        """The row without a key has the sums."""
        found: dict[str | None, list[AnswerRow]] = {None: [], "1": [], "0": []}
        for row in rows:
            found[row[5]].append(row)
        (sums,) = found[None]
        largest, smallest = (tuple(sorted((int(row[1]) for row in found[key]), reverse=key == "1")) for key in "10")
        return Outer(int(sums[1]), int(sums[2]), int(sums[3]), largest, smallest)
