"""A quantile with noise scaled to how far it can move near the data: smooth sensitivity and propose-test-release.

With the weights and thresholds t_j = qW + jg of `quantiles`, let L_j be the smallest value y with W(≤y) ≥ t_j: the low
end of the public range where t_j ≤ 0, the high end where t_j > W. Adding or removing a person moves W(≤y) − qW by at
most g for every y, so L_{j-1}(x) ≤ L_j(x') ≤ L_{j+1}(x) for neighbours: a `Ladder`, whose middle rung is the quantile.
Values are saturated at the ends of the range row by row, which keeps their order.

Inverse sensitivity is far better for a quantile and is the default; these are for comparison, and for those who need
noise that is added to the quantile itself. Propose-test-release may refuse: that is a released and paid answer without
a value.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from tacit.answers import Answer
from tacit.engines.requests import WEIGHT, Ordered, Ranks, RankSteps
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee
from tacit.mechanisms.local.ladder import Ladder
from tacit.numbers.exact import Number
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Operand, Per, Statistic, per_of, range_of, unit_of
from tacit.tables.statistics.ways.caps import row_cap
from tacit.tables.statistics.ways.local import check_local, local_answer, local_law, split, whole_range

REACH = 1600
"""How many persons in each direction the ladder reaches; beyond that everything in the range is possible."""


def ladder(
    ranks: Ranks, q: Fraction, largest: int, ends: tuple[Fraction, Fraction], place: int = 0, reach: int = REACH
) -> list[Fraction]:
    """The rungs L_j, −reach < j < reach, of the quantile at this place of those asked for."""
    step, target = max(q, 1 - q) * largest, q * ranks.weight
    low, high = ends
    steps = ranks.steps[place]
    after = [item.after for item in steps]

    def rung(j: int) -> Fraction:
        threshold = target + j * step
        if threshold <= 0:
            return low
        if threshold > ranks.weight:
            return high
        return min(max(steps[bisect_left(after, threshold)].value, low), high)

    return [rung(j) for j in range(1 - reach, reach)]


@dataclass(frozen=True)
class LocalQuantile(Statistic, tag="LocalQuantile", sampled="itself"):
    """One quantile of numbers with additive noise of a local scale."""

    value: Ordered
    name: str
    quantile: Fraction
    method: str
    step: Fraction
    """The public lattice of the answers: the column's unit."""
    range: tuple[Fraction, Fraction] | None = None
    per: Per = "row"

    def __post_init__(self) -> None:
        if not self.value.expression.type.number:
            raise InvalidInput(f"method {self.method!r} needs numbers; leave method out for dates and times.")
        if not 0 < self.quantile < 1:
            raise InvalidInput(f"method {self.method!r} needs q between 0 and 1; use min or max for the ends.")
        RankSteps(self.value, (self.quantile,), REACH)  # refuses what the engine could not answer

    @classmethod
    def of(
        cls,
        column: Operand,
        wanted: tuple[Fraction, ...],
        *,
        per: str,
        method: str,
        range: tuple[Number, Number] | None = None,
    ) -> LocalQuantile:
        """One quantile, over a public range where there is one."""
        if len(wanted) != 1:
            raise InvalidInput(f"method {method!r} answers one quantile at a time; ask for each, or leave method out.")
        step = column.value.unit if column.expression.type.number else Fraction(1)
        ends = None if range is None else range_of(range)
        return cls(column.ordered, column.name, wanted[0], method, step, ends, per_of(per))

    @property
    def key(self) -> str:
        """The median has a name of its own."""
        return "median" if self.quantile == Fraction(1, 2) else "quantile"

    @property
    def words(self) -> str:
        """The quantile by its number."""
        return f"{ordinal(self.quantile)} of {self.name}"

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The public range: as given, or all that 64 bits of the column's unit hold."""
        return self.range or whole_range(self.step)

    def check(self, cost: Guarantee) -> None:
        """Refuse a cost the method cannot use."""
        check_local(self.method, cost, "leave method out, or use smooth")
        super().check(cost)

    def release(self, room: Room) -> Answer:
        """A cap on rows per person where rows count, then the quantile with its noise."""
        cost, cap = room.cost, None
        if self.per == "row":
            cap_cost, cost = split(cost)
            cap = row_cap(room, self.value, cap_cost)
        (ranks,) = room.ask(RankSteps(self.value, (self.quantile,), REACH, cap))
        rungs = ladder(ranks, self.quantile, WEIGHT * (cap or 1), self.ends)
        drawn = room.draw(local_law(Ladder(*self.ends, self.words), rungs, cost, self.method, self.step))
        unit = unit_of(self.value.expression.type, self.step)
        return local_answer(room, self.words, drawn, cost, self.method, self.step, unit, self.per, cap)


def ordinal(q: Fraction) -> str:
    """A quantile in words."""
    return "median" if q == Fraction(1, 2) else f"{float(q):g} quantile"
