"""How many persons there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines.requests.request import AnswerRow, Arm, Request
from tacit.engines.script import PERSONS, fragment

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement


@dataclass(frozen=True)
class Persons(Request[int]):
    """The number of persons present."""

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """Rows of the table of persons, which may have no other column."""
        statement.need_persons = True
        return (Arm(fragment(PERSONS), a="COUNT(*)"),)

    def read(self, rows: Sequence[AnswerRow]) -> int:
        """The one number."""
        return int(rows[0][1])
