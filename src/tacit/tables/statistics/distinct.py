"""How many different values a column has, without bounds.

Persons send at most λ units to the values they have and each value takes at most one: the largest such flow L(λ)
counts the values, no person accounting for more than λ of them. It is released as in `ways.shared_rows`, whether rows
concern one person or several.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.answers.answer import Answer
from tacit.engines.requests import Incidence
from tacit.guarantees import Pure
from tacit.language.expressions import Expression
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import A, Amount, Asking
from tacit.tables.statistics.base import Operand, Statistic
from tacit.tables.statistics.entry import Audited, Entry, Made
from tacit.tables.statistics.methods import SHARED_ROWS, check_method


@dataclass(frozen=True)
class DistinctValues(Statistic):
    """The number of different values."""

    expression: Expression
    name: str
    method: str | None = None
    several = True
    key = "nunique"
    tag = "DistinctValues"
    phrase = "number of different {name}"

    @classmethod
    def of(cls, column: Operand, *, method: str | None = None) -> DistinctValues:
        """Of a column of any type that can be read."""
        return cls(column.expression, column.name, method)

    def __post_init__(self) -> None:
        check_method(self.method, SHARED_ROWS)
        Incidence(values=self.expression)  # refuses what the engine could not answer

    def release(self, room: Room) -> Answer:
        """A cap on the values of one person, and a noisy count."""
        from tacit.flows.sums import capped_distinct
        from tacit.tables.statistics.ways.shared_rows import flow_answer, rows_of

        touches = room.touches(Incidence(values=self.expression))
        assert touches.values is not None
        return flow_answer(room, self.words, capped_distinct(rows_of(touches), touches.values), self.method)


class AsksDistinct(Asking[A]):
    """The number of different values."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            "nunique",
            DistinctValues,
            "number of different values",
            sql={"CountDistinct": lambda call: DistinctValues.of(call.column)},
            call="COUNT(DISTINCT {})",
            methods=SHARED_ROWS,
            made=Made("COUNT(DISTINCT code)", lambda column: DistinctValues.of(column("code"))),
            audited=(
                Audited("distinct values", Pure(4), lambda t, **c: t.nunique("group", **c)),
                Audited("network: distinct values", Pure(4), lambda t, **c: t.nunique("group", **c), network=True),
            ),
        ),
    )

    def nunique(
        self, column: str, *, method: str | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> A:  # fmt: skip
        """How many different values a column has.

        Args:
            column: a column, or a SQL expression of columns.
            method: "exponential" (default), "scan" or "shifted_inverse"; see `count`.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.nunique("region", epsilon=4)
        Answer(number of different region: ..., Pure(4))
        """
        return self._one(DistinctValues.of(self._operand(column), method=method), epsilon, delta, rho, fresh)
