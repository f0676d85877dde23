"""How many different values a column has, without bounds.

Persons send at most λ units to the values they have and each value takes at most one: the largest such flow L(λ)
counts the values, no person accounting for more than λ of them. It is released as in `joint`, whether rows concern
one person or several.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.answers import Answer
from tacit.engines.requests import Incidence
from tacit.language.expressions import Expression
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Statistic, known_method


@dataclass(frozen=True)
class DistinctValues(Statistic):
    """The number of different values."""

    expression: Expression
    name: str
    method: str | None = None
    several = True
    key = "nunique"

    def __post_init__(self) -> None:
        known_method(self.method)
        Incidence(values=self.expression)  # refuses what the engine could not answer

    @property
    def words(self) -> str:
        """What is asked."""
        return f"number of different {self.name}"

    def release(self, room: Room) -> Answer:
        """A cap on the values of one person, and a noisy count."""
        from tacit.flows.sums import capped_distinct
        from tacit.tables.statistics.joint import joint_answer, rows_of

        touches = room.touches(Incidence(values=self.expression))
        assert touches.values is not None
        return joint_answer(room, self.words, capped_distinct(rows_of(touches), touches.values), self.method)
