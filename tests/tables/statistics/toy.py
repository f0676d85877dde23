"""A toy statistic, in one file as every statistic is: how many rows have a positive value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.answers import Answer
from tacit.answers.capped import CappedSum
from tacit.engines.requests import Incidence, RowCount, TotalBuckets
from tacit.guarantees import Pure, Zcdp
from tacit.language import build
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import Operand, Statistic
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.totals import Capper
from tacit.tables.statistics.ways.vectors import GroupedTotals


@dataclass(frozen=True)
class Positives(Statistic, phrase="number of rows with positive {name}", sampled="total"):
    """How many rows have a value above zero."""

    rows: RowCount
    name: str
    key = "positives"
    several = True

    @classmethod
    def of(cls, column: Operand) -> Positives:
        one = build.literal(1)
        above = build.comparison(">", column.expression, build.literal(0))
        return cls(RowCount(build.case([(above, one)], None)), column.name)

    def grouped(self, groups: Groups) -> Statistic:
        return GroupedTotals(self.rows, self.words, groups, key=self.key)

    def release(self, room: Room) -> Answer:
        if room.several:
            from tacit.flows.sums import capped_sum
            from tacit.tables.statistics.ways.shared_rows import flow_answer, rows_of

            return flow_answer(room, self.words, capped_sum(rows_of(room.touches(Incidence(self.rows)))), None)
        capper = Capper.of(room.allowance)
        (buckets,) = room.ask(TotalBuckets(self.rows, capper.boundaries))
        released = capper.release(room, buckets, signed=False)
        spread = CappedSum(released.noise)
        return room.answer(self.words, released.value, mechanism=capper.name, spread=spread, cap=released.cap)


class AsksPositives(Asking[AnswerT]):
    """Rows with a value above zero."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Positives,
            "number of positive values",
            sql={"POSITIVES": lambda call: Positives.of(call.column)},
            made=Made("COUNT(*) FILTER (value > 0)", lambda column: Positives.of(column("value"))),
            audited=(
                Audited("positives", Pure(4), lambda t, **c: t.positives("value", **c)),
                Audited(
                    "network: positives, Gaussian", Zcdp(2), lambda t, **c: t.positives("value", **c), network=True
                ),
            ),
        ),
    )

    def positives(
        self, column: str, *,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """How many rows have a value above zero."""
        return self._one(Positives.of(self._operand(column)), epsilon, delta, rho, fresh)
