"""The mean of the persons' means without the smallest and the largest of them.

Which are left out is a public number of persons on either side, ``trim``. How far one person moves such a mean is
bounded from those that are left out alone (`tacit.mechanisms.local.order_statistics`): so an engine returns the number
of persons, the sum of their means, and the ``trim`` smallest and largest. Noise is scaled to that bound, by smooth
sensitivity or propose-test-release (`ways.local`). Without a public range ``trim`` should be some 300/ε: that many
persons must join or leave until a value at the end of the range counts.

Rows are saturated at the ends of a public range one by one; a person's mean is rounded toward zero to a thousandth of
the column's unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tacit.answers import Answer
from tacit.engines.requests import MOST_ENDS, Outer, OuterTotals, PersonMean, Value
from tacit.engines.requests.beside import OfPerson
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.language import build
from tacit.language.expressions import Expression, Literal
from tacit.language.types import FLOAT, INTEGER
from tacit.mechanisms.law import Law
from tacit.mechanisms.local.order_statistics import Tails, TrimmedTails
from tacit.numbers.exact import Number, Unit, whole
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import Call, Operand, Per, Statistic, check_method, range_of
from tacit.tables.statistics.ways.local import METHODS, check_local, local_answer, local_law

PARTS = 1000
"""Into how many parts of the unit a person's mean is divided."""

WHOLE_RANGE = (-(2**63), 2**63 - 1)
"""All that 64 bits of a unit hold."""


@dataclass(frozen=True)
class Trimmed(
    Statistic, tag="Trimmed", phrase="mean of {name} without the {trim} smallest and largest", sampled="itself"
):
    """The mean of the persons' means, some of them left out on either side."""

    value: Value
    name: str
    trim: int
    method: str = "smooth"
    range: tuple[int, int] = WHOLE_RANGE
    """In units; the expression is saturated at its ends."""
    per: Per = "person"
    key = "trimmed_mean"
    by_totals = True

    def __post_init__(self) -> None:
        check_method(self.method, METHODS)
        if not 1 <= whole(self.trim, "trim") <= MOST_ENDS:
            raise InvalidInput(f"trim must lie between 1 and {MOST_ENDS} persons; for none use mean.")

    @classmethod
    def of(
        cls, column: Operand, trim: int, *, method: str = "smooth", range: tuple[Number, Number] | None = None
    ) -> Trimmed:
        """Over a public range where there is one."""
        value, ends = column.value, WHOLE_RANGE
        if range is not None:
            low, high = range_of(range)
            ends = (int(low // value.unit), -int(-high // value.unit))
            if not WHOLE_RANGE[0] <= ends[0] < ends[1] <= WHOLE_RANGE[1]:
                raise InvalidInput("range must lie within 64 bits of the column's unit; give a smaller one, or none.")
            value = Value(_saturated(column.expression, value.unit, ends), value.unit)
        return cls(value, column.name, trim, method, ends)

    @property
    def totals(self) -> tuple[OfPerson, ...]:
        """The persons' means."""
        return (PersonMean(self.value, PARTS),)

    def check(self, cost: Guarantee) -> None:
        """Refuse a cost the method cannot use."""
        check_local(self.method, cost, "use smooth")
        super().check(cost)

    def release(self, room: Room) -> Answer:
        """The outermost means and the sum of all, and the mean of the others with its noise."""
        (outer,) = room.ask(OuterTotals(PersonMean(self.value, PARTS), self.trim))
        assert isinstance(outer, Outer)
        step = self.value.unit / PARTS
        law = room.once((self, room.cost), lambda: self._law(outer, room.cost, step))
        unit = Unit(step, "float")
        drawn = room.draw(law)
        return local_answer(room, self.words, drawn, room.cost, self.method, step, unit, self.per, what="trimmed mean")

    def _law(self, outer: Outer, cost: Guarantee, step: Fraction) -> Law[Any]:
        """The mean of those who are not left out, with its noise."""
        smallest, largest = ([Fraction(t) * step for t in ends] for ends in (outer.smallest, outer.largest))
        tails = Tails(outer.persons, (outer.above + outer.below) * step, smallest, largest)
        low, high = (end * self.value.unit for end in self.range)
        return local_law(TrimmedTails(low, high, self.trim), tails, cost, self.method, step)


def _saturated(expression: Expression, unit: Fraction, ends: tuple[int, int]) -> Expression:
    """A row's value moved to the nearest end where it lies outside; absent where it is absent."""
    if not expression.type.number:
        raise InvalidInput("range is for numbers; leave it out.")
    low, high = (end * unit for end in ends)
    kind = expression.type
    turn = float if kind == FLOAT else int if kind == INTEGER else Fraction
    first, last = Literal(kind, turn(low)), Literal(kind, turn(high))
    below, above = build.comparison("<", expression, first), build.comparison(">", expression, last)
    return build.case([(below, first), (above, last)], expression)


def _called(call: Call) -> Statistic:
    """What TRIMMED_MEAN(x, 50) asks."""
    if len(call.numbers) != 1:
        raise UnsupportedQuery(
            "TRIMMED_MEAN needs a number of persons to leave out on either side: TRIMMED_MEAN(x, 50)."
        )
    (trim,) = call.numbers
    return Trimmed.of(call.column, trim.numerator if trim.denominator == 1 else 0)


class AsksTrimmed(Asking[AnswerT]):
    """The trimmed mean."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Trimmed,
            "mean without the outermost persons",
            sql={"TRIMMED_MEAN": _called},
            written="TRIMMED_MEAN({}, 50)",
            methods=METHODS,
            made=Made(
                "COALESCE(LIST_AVG(LIST_SLICE(LIST_SORT(LIST(value)), 51, COUNT(*) - 50)), MEDIAN(value))",
                lambda column: Trimmed.of(column("value"), 50),
                draws=20,
                planned=False,
            ),
            audited=(
                Audited("trimmed mean", Pure(4), lambda t, **c: t.trimmed_mean("value", 1, range=(-8, 8), **c)),
                Audited(
                    "trimmed mean by propose-test-release",
                    Approx(4, "0.2"),
                    lambda t, **c: t.trimmed_mean("value", 1, method="propose_test_release", range=(-8, 8), **c),
                ),
            ),
        ),
    )

    def trimmed_mean(
        self, column: str, trim: int, *, method: str = "smooth", range: tuple[Number, Number] | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The mean of the persons' means, without the smallest and the largest of them.

        Args:
            column: a column of numbers, or a SQL expression of columns.
            trim: how many persons are left out on either side, a public number; some 300/ε without a range.
            method: "smooth" (default), or with δ "propose_test_release", which states an interval and may refuse.
            range: a public range of the values; rows beyond count as its end.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.trimmed_mean("amount", 20, range=(0, 200), epsilon=4)
        Answer(mean of amount without the 20 smallest and largest: ..., Pure(4))
        """
        asked = Trimmed.of(self._operand(column), trim, method=method, range=range)
        return self._one(asked, epsilon, delta, rho, fresh)
