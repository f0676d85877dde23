"""The number of rows, or of rows that have a value, without a bound on the rows of one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.answers import Answer
from tacit.engines.requests import Incidence, RowCount
from tacit.errors import InvalidInput
from tacit.guarantees import Pure, Zcdp
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import SHARED_ROWS, Operand, Per, Statistic, per_of
from tacit.tables.statistics.persons import PersonCount
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.totals import Total
from tacit.tables.statistics.ways.vectors import GroupedTotals


@dataclass(frozen=True)
class Count(Total, tag="Total"):
    """How many rows there are, or how many have a value."""

    total: RowCount
    key = "count"

    @classmethod
    def of(cls, column: Operand | None = None, *, per: str = "row", method: str | None = None) -> Statistic:
        """Of rows, or of the persons who have some."""
        if per_of(per) == "person":
            if method is not None:
                raise InvalidInput("method is for counts of rows; leave it out for persons.")
            return PersonCount.of(column, title="count")
        return cls(RowCount(), method=method) if column is None else cls(*_valued(column), method=method)

    @property
    def words(self) -> str:
        """Of all rows, or of those with a value."""
        return "number of rows" if self.name is None else f"number of rows with {self.name}"

    @property
    def of_single_rows(self) -> Statistic:
        """Persons, or persons with a value."""
        return self if self.method else PersonCount(self.total.expression, self.name, title="count")

    def grouped(self, groups: Groups) -> Statistic:
        """The rows of each group, or those of them that have a value."""
        return super().grouped(groups) if self.method else GroupedTotals(self.total, "count", groups, key=self.key)

    def shared(self, room: Room) -> Answer:
        """The flow of all rows, each person carrying at most the cap."""
        from tacit.flows.sums import capped_sum
        from tacit.tables.statistics.ways.shared_rows import flow_answer, rows_of, weighing

        capped = capped_sum(rows_of(room.touches(Incidence(self.total))))
        return flow_answer(room, self.words, capped, self.method, weights=weighing(room))


def _valued(column: Operand) -> tuple[RowCount, str]:
    return RowCount(column.expression), column.name


class AsksCount(Asking[AnswerT]):
    """The number of rows."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Count,
            "number of rows",
            sql={"Count": lambda call: Count.of(call.operand)},
            written="COUNT({})",
            of="rows",
            methods=SHARED_ROWS,
            made=Made("COUNT(*)", lambda _: Count.of(), several_rows=True),
            audited=(
                Audited("count", Pure(4), lambda t, **c: t.count(**c)),
                Audited("count by group", Pure(4), lambda t, **c: t.group_by("group", keys=["x", "y"]).count(**c)),
                Audited("count, shifted inverse", Pure(4), lambda t, **c: t.count(method="shifted_inverse", **c)),
                Audited("network: count", Pure(4), lambda t, **c: t.count(**c), network=True),
                Audited("network: count by scan", Pure(4), lambda t, **c: t.count(method="scan", **c), network=True),
                Audited(
                    "network: count, shifted inverse",
                    Pure(4),
                    lambda t, **c: t.count(method="shifted_inverse", **c),
                    network=True,
                ),
                Audited("network: count, Gaussian noise", Zcdp(2), lambda t, **c: t.count(**c), network=True),
            ),
        ),
    )

    def count(
        self, column: str | None = None, *, per: Per = "row", method: str | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """How many rows there are, or rows where a column has a value; per person, how many persons have one.

        Args:
            column: a column, or a SQL expression of columns; without one all rows count.
            per: "row", or "person" to count persons.
            method: "shifted_inverse" counts without a cap and has an interval that covers the truth, from below. Where
                rows concern several persons the cap may be chosen by "exponential" weights (default of counts) or by
                "scan" (default of sums).
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.count(epsilon=0.5)
        Answer(number of rows: ..., Pure(0.5))
        >>> orders.count("amount > 50", per="person", epsilon=0.5)
        Answer(number of persons with amount > 50: ..., Pure(0.5))
        """
        asked = None if column is None else self._operand(column)
        return self._one(Count.of(asked, per=per, method=method), epsilon, delta, rho, fresh)
