"""The interquartile range: how far the middle half of the values reaches.

Both quartiles have a ladder (`local_quantiles`), from one request; their difference moves by at most what both move
(`tacit.mechanisms.local.ladder`). Noise is scaled to that, by smooth sensitivity or propose-test-release
(`ways.local`). Without a public range these need some hundred persons around either quartile, for far away everything
is possible. Two quantiles, for half of the cost each, are an alternative that needs fewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tacit.answers import Answer
from tacit.engines.requests import WEIGHT, Ordered, Ranks, RankSteps
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.mechanisms.law import Law
from tacit.mechanisms.local.ladder import LadderDifference
from tacit.numbers.exact import Number
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import Operand, Per, Statistic, check_method, per_of, range_of, unit_of
from tacit.tables.statistics.local_quantiles import ladder
from tacit.tables.statistics.ways.caps import row_cap
from tacit.tables.statistics.ways.local import METHODS, check_local, local_answer, local_law, split, whole_range

QUARTILES = (Fraction(1, 4), Fraction(3, 4))

REACH = 800
"""How many persons in each direction either ladder reaches."""


@dataclass(frozen=True)
class Interquartile(Statistic, tag="Interquartile", phrase="interquartile range of {name}", sampled="itself"):
    """The upper quartile less the lower one."""

    value: Ordered
    name: str
    step: Fraction
    """The public lattice of the answers: the column's unit."""
    method: str = "smooth"
    range: tuple[Fraction, Fraction] | None = None
    per: Per = "row"
    key = "iqr"

    def __post_init__(self) -> None:
        check_method(self.method, METHODS)
        if not self.value.expression.type.number:
            raise InvalidInput("an interquartile range needs numbers; ask for two quantiles of dates and times.")
        RankSteps(self.value, QUARTILES, REACH)  # refuses what the engine could not answer

    @classmethod
    def of(
        cls, column: Operand, *, per: str = "row", method: str = "smooth", range: tuple[Number, Number] | None = None
    ) -> Interquartile:
        """Of rows or of persons, over a public range where there is one."""
        step = column.value.unit if column.expression.type.number else Fraction(1)
        ends = None if range is None else range_of(range)
        return cls(column.ordered, column.name, step, method, ends, per_of(per))

    def check(self, cost: Guarantee) -> None:
        """Refuse a cost the method cannot use."""
        check_local(self.method, cost, "use smooth")
        super().check(cost)

    def release(self, room: Room) -> Answer:
        """A cap on rows per person where rows count, then both quartiles, and their difference with its noise."""
        cost, cap = room.cost, None
        if self.per == "row":
            cap_cost, cost = split(cost)
            cap = row_cap(room, self.value, cap_cost)
        (ranks,) = room.ask(RankSteps(self.value, QUARTILES, REACH, cap))
        drawn = room.draw(room.once((self, cost, cap), lambda: self._law(ranks, cap, cost)))
        unit = unit_of(self.value.expression.type, self.step)
        return local_answer(
            room, self.words, drawn, cost, self.method, self.step, unit, self.per, cap, "interquartile range"
        )

    def _law(self, ranks: Ranks, cap: int | None, cost: Guarantee) -> Law[Any]:
        """Both ladders, and their difference with its noise."""
        ends = self.range or whole_range(self.step)
        rungs = [ladder(ranks, q, WEIGHT * (cap or 1), ends, i, REACH) for i, q in enumerate(QUARTILES)]
        return local_law(LadderDifference(*ends, self.words), rungs, cost, self.method, self.step)


class AsksInterquartile(Asking[AnswerT]):
    """The interquartile range."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Interquartile,
            "interquartile range",
            sql={"IQR": lambda call: Interquartile.of(call.column)},
            methods=METHODS,
            made=Made(
                "QUANTILE_DISC(value, 0.75) - QUANTILE_DISC(value, 0.25)",
                lambda column: Interquartile.of(column("value")),
                draws=20,
                planned=False,
            ),
            audited=(
                Audited("interquartile range", Pure(4), lambda t, **c: t.iqr("value", **c)),
                Audited(
                    "interquartile range by propose-test-release",
                    Approx(4, "0.2"),
                    lambda t, **c: t.iqr("value", per="person", method="propose_test_release", range=(-8, 8), **c),
                ),
            ),
        ),
    )

    def iqr(
        self, column: str, *, per: Per = "row", method: str = "smooth", range: tuple[Number, Number] | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The interquartile range: the upper quartile less the lower one.

        Args:
            column: a column of numbers, or a SQL expression of columns.
            per: "row", or "person" to count each person once.
            method: "smooth" (default), or with δ "propose_test_release", which states an interval and may refuse.
            range: a public range of the values; with one, fewer persons suffice.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.iqr("amount", range=(0, 200), epsilon=4)
        Answer(interquartile range of amount: ..., Pure(4))
        """
        asked = Interquartile.of(self._operand(column), per=per, method=method, range=range)
        return self._one(asked, epsilon, delta, rho, fresh)
