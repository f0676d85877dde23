"""The share of persons with at least one true value.

Each person belongs to exactly one of two counts, those with a true row and those without, so the pair has
ℓ1-sensitivity 1 and each count gets noise at the full ε (or ρ). The share a/(a+z) is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.answers import Answer
from tacit.answers.quotients import Share
from tacit.engines.requests import FlagCounts, Flags
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.language.expressions import Expression
from tacit.mechanisms.law import Law
from tacit.mechanisms.totals.ratio import ratio
from tacit.mechanisms.totals.ratio_counts import Ratio as Released
from tacit.numbers.units import REAL
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Per, Statistic, noisy_vector


@dataclass(frozen=True)
class Ratio(Statistic):
    """Persons with at least one true row, over all persons."""

    condition: Expression
    name: str
    per: Per = "person"
    method: str | None = None
    """Another method of `tacit.mechanisms.totals.ratio`; None is the default of two noisy counts."""
    key = "ratio"

    def __post_init__(self) -> None:
        Flags(self.condition)  # refuses what is not true or false

    @property
    def words(self) -> str:
        """What is asked."""
        return f"share of persons with {self.name}"

    def release(self, room: Room) -> Answer:
        """Two noisy counts and their share."""
        (flags,) = room.ask(Flags(self.condition))
        assert isinstance(flags, FlagCounts)
        if self.method not in (None, "two_counts"):
            return self._other(room, flags)
        law, noise = noisy_vector((flags.false, flags.true), room.allowance, 1)
        without, with_ = room.draw(law)
        spread = Share(without, with_, noise, noise)
        return room.answer(
            self.words,
            spread.value,
            mechanism="two noisy counts of disjoint persons, and their share",
            spread=spread,
            per=self.per,
            unit=REAL,
        )

    def check(self, cost: Guarantee) -> None:
        """Refuse a method that does not fit the cost."""
        super().check(cost)
        if self.method not in (None, "two_counts"):
            self._law(cost, FlagCounts(0, 0))

    def _law(self, cost: Guarantee, flags: FlagCounts) -> Law[Released]:
        match cost:
            case Pure(epsilon):
                return ratio(flags.true, flags.true + flags.false, epsilon, method=self.method)
            case Approx(epsilon, delta):
                return ratio(flags.true, flags.true + flags.false, epsilon, delta, method=self.method)
        raise InvalidInput("this method of a ratio costs epsilon, or epsilon with delta; use two_counts with rho.")

    def _other(self, room: Room, flags: FlagCounts) -> Answer:
        """A share by a method that states no interval of its own."""
        drawn = room.draw(self._law(room.cost, flags))
        return room.answer(
            self.words, float(drawn.value), mechanism=f"ratio by {drawn.method}", per=self.per, unit=REAL
        )
