"""How many persons have vectors of which size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines.requests.operands import bucket, check_boundaries, numbers_by_place
from tacit.engines.requests.request import AnswerRow, Arm
from tacit.engines.requests.vectors import PersonVectors
from tacit.engines.script import fragment
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement


@dataclass(frozen=True)
class GroupNorms(PersonVectors):
    """Persons by the norm of their vector of group entries, counted in buckets as in `Buckets`; norm 0 is in none.

    Entries saturate at ±`saturation(len(keys))`.
    """

    boundaries: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_boundaries(self.boundaries, numbers=1)
        if self.boundaries[-1] >= 2**63:
            raise InvalidInput("boundaries of a norm must lie below 2^63.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """The bucket of each person's norm; squares are compared with squares."""
        boundaries = [b * b if self.norm == "l2" else b for b in self.boundaries]
        source = fragment(
            f"(SELECT {bucket('size', boundaries)} AS place FROM ",
            self.norms(statement),
            " WHERE size > 0) AS places GROUP BY place",
        )
        return (Arm(source, a="place", b="COUNT(*)"),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[int, ...]:
        """The persons in each bucket."""
        return numbers_by_place(rows, len(self.boundaries) + 1)
