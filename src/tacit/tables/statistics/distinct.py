"""How many different values a column has, without bounds.

Persons send at most λ units to the values they have and each value takes at most one: the largest such flow L(λ)
counts the values, no person accounting for more than λ of them. It is released as in `joint`, whether rows concern
one person or several.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.answers import Answer
from tacit.engines.expressions import Expression
from tacit.engines.requests import Incidence, RowCount
from tacit.tables.room import Room
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.capped import CappedSum


@dataclass(frozen=True)
class DistinctValues(Statistic):
    """The number of different values."""

    expression: Expression
    name: str
    several = True

    @property
    def words(self) -> str:
        """What is asked."""
        return f"number of different {self.name}"

    def release(self, room: Room) -> Answer:
        """A cap on the values of one person, then a noisy count."""
        from tacit.flows.sums import capped_distinct
        from tacit.tables.statistics.joint import NAME, joint_release, rows_of

        touches = room.touches(Incidence(RowCount(), values=self.expression))
        assert touches.values is not None
        found = joint_release(room, capped_distinct(rows_of(touches), touches.values), room.allowance)
        return room.answer(
            self.words, found.value, mechanism=NAME, spread=CappedSum(found.noise), per=self.per, cap=found.cap
        )
