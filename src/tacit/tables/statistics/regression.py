"""Linear regression by least squares, without bounds: from capped vectors of products, see `ways.products`.

WHICH WAY  Two were compared (benchmarks/moments.py): capped sums of products, and a private median of the fits on
blocks of persons. A median needs some hundred blocks/ε for each coefficient, and each block enough persons for a fit of
its own; with fewer of either it says nothing, and who asks would have to know. Half of its cost goes to the ends of an
interval, where capped sums state theirs for nothing. With that paid it was behind on real wages, and ahead by two or
three times on data that follow a line exactly, from 2,000 persons on. So capped sums are the only way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit.answers import Answer, Answers
from tacit.answers.moments import Fitted
from tacit.engines.requests import MOST_COLUMNS, Value
from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.numbers.exact import REAL
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import Call, Operand, Per, Statistic, per_of
from tacit.tables.statistics.ways.centres import joint
from tacit.tables.statistics.ways.groups import listed
from tacit.tables.statistics.ways.products import VECTORS, gram

INTERCEPT = "intercept"
"""The key of the constant among the coefficients."""


@dataclass(frozen=True)
class Regression(Statistic, tag="Regression", sampled="itself"):
    """The coefficients of a column's least-squares line on others, or one of them."""

    rereads = True
    columns: tuple[Value, ...]
    """What is explained, then what explains it."""
    names: tuple[str, ...]
    per: Per = "row"
    place: int | None = None
    """The only coefficient that is wanted: 0 is the intercept."""
    key = "regression"

    def __post_init__(self) -> None:
        if not 2 <= len(self.columns) <= MOST_COLUMNS:
            raise InvalidInput(f"regression takes 1 to {MOST_COLUMNS - 1} columns that explain another.")
        if len(set(self.names[1:])) < len(self.names) - 1 or INTERCEPT in self.names[1:]:
            raise InvalidInput(f"regression takes different columns, none of them called {INTERCEPT!r}.")

    @classmethod
    def of(cls, column: Operand, on: Sequence[Operand], *, per: str = "row", place: int | None = None) -> Regression:
        """Over the rows in which all columns have a value."""
        operands = (column, *on)
        made = zip(joint([one.expression for one in operands]), operands, strict=True)
        values = tuple(Operand(expression, one.name, one.step).value for expression, one in made)
        return cls(values, tuple(one.name for one in operands), per_of(per), place)

    @property
    def words(self) -> str:
        """What is asked, for people."""
        return f"regression of {self.names[0]} on {' and '.join(self.names[1:])}"

    @property
    def answer_keys(self) -> tuple[str, ...]:
        """One answer for each coefficient."""
        return (INTERCEPT, *self.names[1:]) if self.place is None else ()

    def release(self, room: Room) -> Answer | Answers:
        """All coefficients follow from the same noisy sums."""
        found = gram(room, self.columns, self.per)
        answers = {}
        for place, key in enumerate((INTERCEPT, *self.names[1:])):
            spread = Fitted(found, place)
            words = f"{key if place == 0 else f'coefficient of {key}'} in the {self.words}"
            answers[key] = room.answer(words, spread.value, mechanism=VECTORS, spread=spread, per=self.per, unit=REAL)
        if self.place is not None:
            return list(answers.values())[self.place]
        return Answers(answers, room.cost, "coefficient")


def _called(call: Call, place: int) -> Regression:
    """REGR_SLOPE(y, x) and REGR_INTERCEPT(y, x)."""
    return Regression.of(call.column, [call.other], place=place)


class AsksRegression(Asking[AnswerT]):
    """Linear regression."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Regression,
            "linear regression",
            sql={
                "RegrSlope": lambda call: _called(call, 1),
                "RegrIntercept": lambda call: _called(call, 0),
            },
            written="REGR_SLOPE({}, {other})",
            of="columns",
            made=Made(
                "REGR_SLOPE(other, value)",
                lambda column: Regression.of(column("other"), [column("value")], place=1),
                draws=20,
                planned=False,
            ),
            audited=(
                Audited("regression", Pure(4), lambda t, **c: t.regression("value", ["value * value"], **c), slow=True),
            ),
        ),
    )

    def regression(
        self, column: str, on: Sequence[str], *, per: Per = "row",
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> Answers:  # fmt: skip
        """The least-squares line of a column on others: an intercept, and a coefficient for each of them.

        Args:
            column: what is explained, a column or a SQL expression of columns.
            on: what explains it, columns or SQL expressions; rows in which one of all has no value are left out.
            per: "row", or "person" to count each person once, with their means.
            epsilon, delta, rho: what all coefficients may cost together: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> line = orders.regression("2 * amount", ["amount"], epsilon=4)
        >>> list(line)
        ['intercept', 'amount']
        """
        operands = [self._operand(one) for one in listed(on, "on")]
        asked = Regression.of(self._operand(column), operands, per=per)
        return self._many(asked, epsilon, delta, rho, fresh)
