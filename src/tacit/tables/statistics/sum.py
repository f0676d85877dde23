"""Sums without bounds: see `ways.totals`; where a row concerns several persons, see `ways.shared_rows`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.answers import Answer
from tacit.answers.capped import CappedBelow
from tacit.engines.requests import Incidence, Value
from tacit.guarantees import Pure, Zcdp
from tacit.numbers.exact import Unit
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import SHARED_ROWS, Operand, Per, Statistic, per_of, unit_of
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.totals import Total
from tacit.tables.statistics.ways.vectors import GroupedTotals


@dataclass(frozen=True)
class Sum(Total, tag="Total", phrase="sum of {name}"):
    """The sum of a column."""

    total: Value
    key = "sum"
    signed = True

    @classmethod
    def of(cls, column: Operand, *, per: str = "row", method: str | None = None) -> Sum:
        """Of all values, or of the persons' means."""
        return cls(column.value, column.name, per_of(per), method)

    @property
    def unit(self) -> Unit:
        """The unit in which the column is counted."""
        return unit_of(self.total.expression.type, self.total.unit)

    def grouped(self, groups: Groups) -> Statistic:
        """The sum in each group."""
        if self.per == "person" or self.method:
            return super().grouped(groups)
        return GroupedTotals(self.total, self.words, groups, key=self.key)

    def shared(self, room: Room) -> Answer:
        """The two signs of a sum may concern the same persons, so they share the cost."""
        from tacit.flows.sums import capped_sum
        from tacit.mechanisms.totals.capped_flow import LEVELS
        from tacit.tables.statistics.ways import shared_rows
        from tacit.tables.statistics.ways.fallen import inverse_release

        touches = room.touches(Incidence(self.total))
        half = room.allowance.share(Fraction(1, 2))
        signs = [capped_sum(shared_rows.rows_of(touches, sign)) for sign in (1, -1)]
        if self.method == "shifted_inverse":
            positive, negative = (inverse_release(room, capped.profile, half)[0] for capped in signs)
            value = self.unit.value(positive - negative)
            note = "Both signs are underestimates; how far off their difference is cannot be said."
            return room.answer(self.words, value, mechanism=shared_rows.INVERSE, unit=self.unit, notes=(note,))
        released = [shared_rows.flow_release(room, capped, half, self.method or "scan", LEVELS) for capped in signs]
        return self.capped(room, released[0].minus(released[1]), shared_rows.name(room), CappedBelow)


class AsksSum(Asking[AnswerT]):
    """The sum of a column."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Sum,
            "sum",
            sql={"Sum": lambda call: Sum.of(call.column)},
            methods=SHARED_ROWS,
            made=Made("SUM(value)", lambda column: Sum.of(column("value"))),
            audited=(
                Audited("sum", Pure(4), lambda t, **c: t.sum("value", **c)),
                Audited("sum, Gaussian noise", Zcdp(2), lambda t, **c: t.sum("value", **c)),
                Audited("sum, shifted inverse", Pure(4), lambda t, **c: t.sum("value", method="shifted_inverse", **c)),
                Audited("network: sum", Pure(8), lambda t, **c: t.sum("value", **c), network=True),
                Audited(
                    "network: sum by group",
                    Pure(8),
                    lambda t, **c: t.group_by("group", keys=["x", "y"]).sum("value", **c),
                    network=True,
                ),
            ),
        ),
    )

    def sum(
        self, column: str, *, per: Per = "row", method: str | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The sum of a column; per person, the sum of the persons' means.

        Args:
            column: a column, or a SQL expression of columns.
            per: "row", or "person" to add up the persons' means.
            method: "shifted_inverse", without a cap; where rows concern several persons also "scan" (default) or
                "exponential"; see `count`.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.sum("amount", epsilon=0.5)
        Answer(sum of amount: ..., Pure(0.5))
        """
        return self._one(Sum.of(self._operand(column), per=per, method=method), epsilon, delta, rho, fresh)
