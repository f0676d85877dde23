"""How many rows the most frequent value has, and how many the person with most rows: a graph's maximum degree.

Frequencies, and degrees where rows concern several persons, are flows (`tacit.flows.frequency`) released as in `joint`.
Where every row concerns one person the largest number of rows of one falls, when j persons leave, to the (j+1)-th
largest: the engine counts persons between public boundaries, and the upward scan of `extremes` finds one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import islice

from tacit.answers import Answer
from tacit.answers.order import Inner
from tacit.curves import DownProfile
from tacit.engines.requests import Bucket, Incidence, RowCount, TotalBuckets
from tacit.errors import UnsupportedQuery
from tacit.grids import integers
from tacit.language.expressions import Expression
from tacit.mechanisms.inverse.shifted_inverse import shifted_inverse
from tacit.mechanisms.law import Law
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Per, Statistic, known_method
from tacit.tables.statistics.extremes import MISS, depth, windows


@dataclass(frozen=True)
class ModalCount(Statistic):
    """The number of rows, or of persons, that have the most frequent value."""

    expression: Expression
    name: str
    per: Per = "row"
    method: str | None = None
    several = True
    key = "modal_count"

    def __post_init__(self) -> None:
        known_method(self.method)
        Incidence(values=self.expression)  # refuses what the engine could not answer

    @property
    def words(self) -> str:
        """What is asked."""
        return f"number of {self.per}s with the most frequent {self.name}"

    def release(self, room: Room) -> Answer:
        """A cap on what one person adds to a value, and a noisy count."""
        from tacit.flows.frequency import capped_frequency
        from tacit.tables.statistics.joint import joint_answer, rows_of

        touches = room.touches(Incidence(values=self.expression))
        assert touches.values is not None
        rows = rows_of(touches)
        capped = capped_frequency(rows.counted() if self.per == "person" else rows, touches.values)
        return joint_answer(room, self.words, capped, self.method, self.per)


@dataclass(frozen=True)
class MaximumDegree(Statistic):
    """The largest number of rows that concern one person."""

    method: str | None = None
    several = True
    key = "max_degree"

    def __post_init__(self) -> None:
        known_method(self.method)

    def suits(self, several: bool) -> None:
        """Where rows concern one person, persons are counted and nothing is capped."""
        if self.method not in (None, "shifted_inverse") and not several:
            raise UnsupportedQuery("this method is for rows that concern several persons; leave it out here.")

    @property
    def words(self) -> str:
        """What is asked."""
        return "largest number of rows of one person"

    def release(self, room: Room) -> Answer:
        """A flow where rows concern several persons, else a scan over public boundaries."""
        if room.several:
            from tacit.flows.frequency import capped_degree
            from tacit.tables.statistics.joint import joint_answer, rows_of

            return joint_answer(room, self.words, capped_degree(rows_of(room.touches(Incidence()))), self.method)
        epsilon, steps = room.allowance.epsilon, boundaries()
        (buckets,) = room.ask(TotalBuckets(RowCount(), steps))
        law = degree_law(buckets.positive, epsilon)
        place = int(room.draw(law))
        # Numbers are rounded up to a boundary, so the largest itself lies above the boundary before the answer.
        least = 0 if place == 0 else 1 if place == 1 else steps[place - 2] + 1
        return room.answer(
            self.words,
            steps[place - 1] if place else 0,
            mechanism="shifted inverse sensitivity by scan",
            spread=Inner(True, windows(law), least),
        )


@cache
def boundaries() -> tuple[int, ...]:
    """1, 2, …, 200, and from there steps of 5 %, far beyond any table."""
    found = list(range(1, 201))
    while found[-1] < 2**60:
        found.append(found[-1] + found[-1] // 20)
    return tuple(found)


def degree_law(buckets: Sequence[Bucket], epsilon: Fraction) -> Law[int | Fraction]:
    """The law of the place of a boundary, 0 for none, that few persons' numbers of rows exceed."""
    steps = boundaries()
    largest = (
        min(place + 1, len(steps))
        for place in range(len(buckets) - 1, -1, -1)
        for _ in range(min(buckets[place].count, depth(epsilon)))
    )
    profile = DownProfile(list(islice(largest, depth(epsilon))))
    return shifted_inverse(profile, integers(0, len(steps)), epsilon, beta=MISS)
