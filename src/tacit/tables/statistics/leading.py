"""The most frequent value without a list of candidates: released if it is clearly ahead, otherwise refused.

A value's votes are the persons who have it, so a person adds one vote to each of their values, and the lead of the
first over the second moves by at most one (`tacit.mechanisms.choose.stable_mode`). A refusal is a released and paid
answer without a value.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.answers import Answer
from tacit.engines.requests import Lead, LeadingValue
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Approx, Guarantee
from tacit.language.expressions import Expression
from tacit.mechanisms.choose.stable_mode import StableModeLaw
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Per, Statistic, check_delta
from tacit.tables.statistics.ways.groups import Groups, written


@dataclass(frozen=True)
class StableMode(Statistic, tag="StableMode", phrase="most frequent {name}", sampled="itself"):
    """The value that most persons have."""

    value: Expression
    name: str
    per: Per = "person"
    key = "mode"

    def __post_init__(self) -> None:
        LeadingValue(self.value)  # refuses what the engine could not answer
        if self.per != "person":
            raise InvalidInput("a mode without candidates counts persons; add per='person', or give candidates.")

    def check(self, cost: Guarantee) -> None:
        """Naming a value found in the data needs δ."""
        check_delta(cost, "a mode without candidates needs", "give candidates instead")

    def grouped(self, groups: Groups) -> Statistic:
        """Not without candidates: a test in every group would cost δ in every group."""
        raise UnsupportedQuery(f"by group, the {self.words} is chosen among candidates; give candidates=.")

    def release(self, room: Room) -> Answer:
        """The lead, a test of it, and the value or a refusal."""
        assert isinstance(room.cost, Approx)
        (lead,) = room.ask(LeadingValue(self.value))
        assert isinstance(lead, Lead)
        law = StableModeLaw(lead.value, lead.persons, room.cost.epsilon, room.cost.delta)
        found = room.draw(law)
        surely = law.accuracy("0.05").window
        notes = (
            f"A value ahead of all others by {surely:,} persons is named with 95 % probability.",
            *(("The test refused: no value is clearly ahead. The refusal is the answer.",) if found is None else ()),
        )
        return room.answer(
            self.words,
            None if found is None else written(found),
            mechanism="propose-test-release on the lead of the most frequent value",
            per=self.per,
            notes=notes,
        )
