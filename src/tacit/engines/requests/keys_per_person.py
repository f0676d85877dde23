"""How many persons have how many different keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines.requests.operands import bucket, check_boundaries, check_by, numbers_by_place
from tacit.engines.requests.request import AnswerRow, Arm, Request
from tacit.engines.script import fragment
from tacit.language.expressions import Expression

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement


@dataclass(frozen=True)
class KeysPerPerson(Request[tuple[int, ...]]):
    """Persons by their number of different keys (NULL is a key), in the buckets of `Buckets`."""

    by: tuple[Expression, ...]
    boundaries: tuple[int, ...]

    def __post_init__(self) -> None:
        check_by(self.by)
        check_boundaries(self.boundaries, numbers=1)

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """The number of each person's keys, then its bucket."""
        source = fragment(
            f"(SELECT {bucket('size', self.boundaries)} AS place FROM (SELECT COUNT(*) AS size FROM ",
            statement.pairs(self.by),
            " GROUP BY person) AS sizes) AS places GROUP BY place",
        )
        return (Arm(source, a="place", b="COUNT(*)"),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[int, ...]:
        """The persons in each bucket."""
        return numbers_by_place(rows, len(self.boundaries) + 1)
