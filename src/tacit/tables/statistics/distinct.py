"""How many different values a column has, without bounds.

Persons send at most λ units to the values they have and each value takes at most one: the largest such flow L(λ)
counts the values, no person accounting for more than λ of them. It is released as in `ways.shared_rows`, whether rows
concern one person or several.

BY GROUP  A person with n pairs of a group and a value brings min(1, λ/n) of each pair, and what persons bring of one
counts as one at most. So a person moves the numbers of all groups together by at most λ, upward only; λ is chosen as
for capped vectors (`ways.vectors`), and each number gets noise for λ. A value that only persons above the cap have
counts for less than one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, cast

from tacit.answers import Answers
from tacit.answers.groups import Capped
from tacit.engines.requests import FINE, Different, GroupDistinct, GroupNorms
from tacit.guarantees import Pure
from tacit.language.expressions import Expression
from tacit.noises import Coarser
from tacit.numbers.exact import WHOLE
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import SHARED_ROWS, Operand, Statistic, noisy_vector
from tacit.tables.statistics.ways.caps import ROW_LEVELS
from tacit.tables.statistics.ways.each import Each
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.values import OfValues
from tacit.tables.statistics.ways.vectors import choose_norm

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
    counts_values = True

    @classmethod
    def of(cls, column: Operand, *, method: str | None = None) -> DistinctValues:
        """Of a column of any type that can be read."""
        return cls(column.expression, column.name, method)

    def grouped(self, groups: Groups) -> Statistic:
        """The different values in each group, with shares of them capped."""
        return super().grouped(groups) if self.method else GroupedDistinct(self, groups)

    def capped(self, rows: Incidences, values: NDArray[np.int64], common: int) -> CappedStatistic:
        """The largest flow into the values, each taking one unit."""
        from tacit.flows.sums import capped_distinct

        return capped_distinct(rows, values, common)


@dataclass(frozen=True)
class GroupedDistinct(Each, tag="GroupedDistinct"):
    """The number of different values in each group."""

    def release(self, room: Room) -> Answers:
        """A cap on what one person brings, then noise on every group."""
        asked, groups = cast(DistinctValues, self.statistic), self.groups
        value, allowance = Different(asked.expression), room.allowance
        (norms,) = room.ask(GroupNorms(value, groups.by, groups.keys, "l1", ROW_LEVELS))
        cap, rest = choose_norm(room, ROW_LEVELS, norms, len(groups.keys), allowance, counted=True)
        (numbers,) = room.ask(GroupDistinct(value, groups.by, groups.keys, cap))
        law, noise = noisy_vector(numbers, rest, cap * FINE)
        drawn = room.draw(law)
        spread = Capped(Coarser(noise, FINE), WHOLE)
        answers = {
            label: room.answer(
                f"{asked.words} where {groups.name} is {label}",
                WHOLE.value(Fraction(number, FINE)),
                mechanism="shares of values capped at a privately chosen number, then noise on every group",
                spread=spread,
                cap=cap,
            )
            for label, number in zip(groups.labels, drawn, strict=True)
        }
        return Answers(answers, room.cost, groups.name)


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
                Audited(
                    "distinct values by group",
                    Pure(4),
                    lambda t, **c: t.group_by("group", keys=["x", "y"]).nunique("value", **c),
                ),
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
