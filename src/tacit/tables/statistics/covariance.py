"""Covariance and correlation of two columns, over the rows in which both have a value: see `ways.products`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from tacit.answers import Answer
from tacit.answers.moments import Correlation
from tacit.engines.requests import RowCount, Value
from tacit.engines.requests.beside import OfPerson
from tacit.guarantees import Pure
from tacit.numbers.exact import REAL
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import Call, Operand, Per, Statistic, per_of
from tacit.tables.statistics.count import Count
from tacit.tables.statistics.mean import Mean
from tacit.tables.statistics.ways.centres import joint, products_of, totals_of
from tacit.tables.statistics.ways.products import VECTORS, gram, second_moment

Wanted = Literal["covariance", "sum of products", "correlation", "squared correlation"]


@dataclass(frozen=True)
class Covariance(Statistic, tag="Covariance", phrase="{wanted} of {name}", sampled="itself"):
    """What two columns have in common."""

    rereads = True
    left: Value
    right: Value
    name: str
    wanted: Wanted
    per: Per = "row"

    @classmethod
    def of(cls, left: Operand, right: Operand, wanted: Wanted, *, per: str = "row") -> Covariance:
        """Over rows in which both have a value."""
        first, second = both(left, right)
        return cls(first.value, second.value, f"{left.name} and {right.name}", wanted, per_of(per))

    @property
    def key(self) -> str:
        """The statistic it is."""
        return "correlation" if "correlation" in self.wanted else "covariance"

    @property
    def totals(self) -> tuple[OfPerson, ...]:
        """What finding the centres needs, and the products around them; a correlation has vectors of its own."""
        if "correlation" in self.wanted:
            return totals_of((self.left, self.right), self.per)
        return products_of(self.left, self.right, self.per)

    def release(self, room: Room) -> Answer:
        """One total of products, or a vector of all of them."""
        if self.wanted == "covariance" or self.wanted == "sum of products":
            values = (self.left,) if self.left == self.right else (self.left, self.right)
            wanted: Literal["mean product", "total"] = "mean product" if self.wanted == "covariance" else "total"
            return second_moment(room, self.words, values, self.per, wanted)
        spread = Correlation(gram(room, (self.left, self.right), self.per), self.wanted == "squared correlation")
        return room.answer(self.words, spread.value, mechanism=VECTORS, spread=spread, per=self.per, unit=REAL)


def both(left: Operand, right: Operand) -> tuple[Operand, Operand]:
    """The two, each without a value where the other has none."""
    first, second = joint([left.expression, right.expression])
    return Operand(first, left.name, left.step), Operand(second, right.name, right.step)


def _pair(call: Call) -> tuple[Operand, Operand]:
    """Both columns of REGR_…(y, x)."""
    return both(call.column, call.other)


def _summed(call: Call, place: int) -> Covariance:
    """REGR_SXX and REGR_SYY: the sum of the squares around the mean of one of both."""
    column = _pair(call)[place]
    return Covariance(column.value, column.value, column.name, "sum of products")


class AsksCovariance(Asking[AnswerT]):
    """Covariance and correlation of two columns."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Covariance,
            "covariance",
            "covariance",
            sql={
                **dict.fromkeys(
                    ("CovarPop", "CovarSamp"), lambda call: Covariance.of(call.column, call.other, "covariance")
                ),
                "RegrSxy": lambda call: Covariance.of(call.column, call.other, "sum of products"),
                "RegrSxx": lambda call: _summed(call, 1),
                "RegrSyy": lambda call: _summed(call, 0),
                "RegrCount": lambda call: Count(RowCount(_pair(call)[0].expression), call.column.name),
                "RegrAvgx": lambda call: Mean.of(_pair(call)[1]),
                "RegrAvgy": lambda call: Mean.of(_pair(call)[0]),
            },
            made=Made(
                "COVAR_POP(value, other)",
                lambda column: Covariance.of(column("value"), column("other"), "covariance"),
                draws=20,
                planned=False,
            ),
            written="COVAR_POP({}, {other})",
            of="columns",
            audited=(
                Audited("covariance", Pure(4), lambda t, **c: t.covariance("value", "2 * value", **c), slow=True),
            ),
        ),
        Entry(
            Covariance,
            "correlation",
            "correlation",
            sql={
                "Corr": lambda call: Covariance.of(call.column, call.other, "correlation"),
                "RegrR2": lambda call: Covariance.of(call.column, call.other, "squared correlation"),
            },
            written="CORR({}, {other})",
            of="columns",
            made=Made(
                "CORR(value, other)",
                lambda column: Covariance.of(column("value"), column("other"), "correlation"),
                draws=20,
                planned=False,
            ),
            audited=(
                Audited(
                    "correlation per person",
                    Pure(4),
                    lambda t, **c: t.correlation("value", "value * value", per="person", **c),
                    slow=True,
                ),
            ),
        ),
    )

    def covariance(
        self, left: str, right: str, *, per: Per = "row",
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The covariance of two columns over rows, or over persons of their means: the population's.

        Args:
            left, right: columns, or SQL expressions of columns; rows in which one has no value are left out.
            per: "row", or "person" to count each person once, with their means.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.covariance("amount", "2 * amount", epsilon=4)
        Answer(covariance of amount and 2 * amount: ..., Pure(4))
        """
        asked = Covariance.of(self._operand(left), self._operand(right), "covariance", per=per)
        return self._one(asked, epsilon, delta, rho, fresh)

    def correlation(
        self, left: str, right: str, *, per: Per = "row",
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The correlation of two columns over rows, or over persons of their means.

        Args:
            left, right, per, epsilon, delta, rho, fresh: as for `covariance`.

        >>> orders.correlation("amount", "2 * amount", epsilon=4)
        Answer(correlation of amount and 2 * amount: ..., Pure(4))
        """
        asked = Covariance.of(self._operand(left), self._operand(right), "correlation", per=per)
        return self._one(asked, epsilon, delta, rho, fresh)
