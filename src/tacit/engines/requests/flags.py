"""How many persons have a row where a condition is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines.requests.request import AnswerRow, Arm, Request
from tacit.engines.script import PERSONS, fragment
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression
from tacit.language.types import BOOLEAN

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement


@dataclass(frozen=True)
class FlagCounts:
    """Persons with at least one true row, and persons present without one."""

    true: int
    false: int


@dataclass(frozen=True)
class Flags(Request[FlagCounts]):
    """How many persons have at least one row where the condition is true."""

    condition: Expression

    def __post_init__(self) -> None:
        if self.condition.type != BOOLEAN:
            raise InvalidInput(f"a ratio needs a true-or-false column, not {self.condition.type}; write a comparison.")

    def of_person(self, statement: Statement) -> str:
        """A flag of 0 or 1, from the table of persons."""
        return statement.aggregate(f"MAX(CASE WHEN {statement.rows.plain(self.condition)} THEN 1 ELSE 0 END)")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """The persons and the sum of their flags."""
        true = self.of_person(statement)
        return (Arm(fragment(PERSONS), a="COUNT(*)", b=f"COALESCE(SUM({true}), 0)"),)

    def read(self, rows: Sequence[AnswerRow]) -> FlagCounts:
        """The persons with a flag, and the others."""
        _, persons, true, *_ = rows[0]
        return FlagCounts(true=int(true), false=int(persons) - int(true))
