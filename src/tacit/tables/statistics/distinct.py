"""How many different values a column has, without bounds.

Persons send at most λ units to the values they have and each value takes at most one: the largest such flow L(λ)
counts the values, no person accounting for more than λ of them. It is released as in `ways.shared_rows`, whether rows
concern one person or several.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tacit.guarantees import Pure
from tacit.language.expressions import Expression
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import SHARED_ROWS, Operand
from tacit.tables.statistics.ways.values import OfValues

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.flows.curve import CappedStatistic
    from tacit.flows.incidences import Incidences


@dataclass(frozen=True)
class DistinctValues(OfValues, tag="DistinctValues", phrase="number of different values of {name}"):
    """The number of different values."""

    expression: Expression
    name: str
    method: str | None = None
    key = "nunique"

    @classmethod
    def of(cls, column: Operand, *, method: str | None = None) -> DistinctValues:
        """Of a column of any type that can be read."""
        return cls(column.expression, column.name, method)

    def capped(self, rows: Incidences, values: NDArray[np.int64]) -> CappedStatistic:
        """The largest flow into the values, each taking one unit."""
        from tacit.flows.sums import capped_distinct

        return capped_distinct(rows, values)


class AsksDistinct(Asking[AnswerT]):
    """The number of different values."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            DistinctValues,
            "number of different values",
            sql={"CountDistinct": lambda call: DistinctValues.of(call.column)},
            written="COUNT(DISTINCT {})",
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
    ) -> AnswerT:  # fmt: skip
        """How many different values a column has.

        Args:
            column: a column, or a SQL expression of columns.
            method: "exponential" (default), "scan" or "shifted_inverse"; see `count`.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.nunique("region", epsilon=4)
        Answer(number of different values of region: ..., Pure(4))
        """
        return self._one(DistinctValues.of(self._operand(column), method=method), epsilon, delta, rho, fresh)
