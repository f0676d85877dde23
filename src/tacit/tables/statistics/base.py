"""What all statistics share: a frozen value that can be compared, checked, and released in a trusted room."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from tacit.answers import Answer, Answers
from tacit.engines.requests import Ordered, Value, value
from tacit.engines.requests.beside import OfPerson
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Guarantee, Pure, RenyiCurve
from tacit.language.expressions import Expression
from tacit.language.types import FLOAT, ColumnType, Kind
from tacit.mechanisms.noise.noise import NoiseVector, gaussian, gaussian_vector, laplace, laplace_vector
from tacit.noises import Noise
from tacit.numbers.exact import Unit, check_listed, exact
from tacit.tables.releasing.room import Allowance, Room

if TYPE_CHECKING:
    from tacit.mechanisms.law import Law
    from tacit.tables.statistics.ways.groups import Groups

Methods = Mapping[str, str]
"""Names, each with what it means."""

SHARED_ROWS: Methods = {
    "exponential": "a cap chosen by weights, the default of counts",
    "scan": "a cap chosen by a scan, the default of sums",
    "shifted_inverse": "a value that the statistic falls to without a few persons, and no cap",
}
"""How a total is released where a row may concern several persons (`tacit.tables.statistics.ways.shared_rows`); the
last also where it concerns one (`tacit.tables.statistics.ways.fallen`)."""


def check_method(method: str | None, methods: Methods, hint: str = "") -> None:
    """Refuse a method that a statistic does not have; None stands for its default."""
    if method is not None:
        check_listed(method, "method", methods, hint or "leave it out for the default")


Per = Literal["row", "person"]

Sampled = Literal["total", "persons", "itself"]
"""What an answer about a sample says of everybody: divided by the share that was asked, as a total or as a number of
persons, or about those who were asked."""


class Statistic(ABC):
    """A statistic with its parameters: a frozen value, equal to another when it asks the same.

    A statistic of one's own is a frozen dataclass with three members: `key`, its name in ledgers and policies;
    `phrase`, or `words`, what is asked in words; and `release`, which asks the engine in a trusted room, draws from
    laws with `room.draw`, and states the answer with `room.answer`. `Table.ask` asks it. Its privacy is that of the
    laws it draws from, one after the other, provided that each is made as its mechanism asks and that they cost no more
    than `room.cost` together, and that nothing else about the rows enters the answer. All other members have defaults.

    ``key``, ``tag`` and the names of its fields never change once released: ledgers find stored answers by them.
    """

    per: Per = "row"
    phrase: ClassVar[str] = ""
    """What is asked, for people, from its fields: "sum of {name}"."""
    tag: ClassVar[str] = ""
    """How its parameters are headed where questions are compared, if not by its key; no class inherits it."""
    told_by: ClassVar[tuple[str, ...]] = ()
    """The fields that tell it from others of its tag; all that are shown, if none are named."""
    rereads: ClassVar[bool] = False
    """Whether it asks for the same rows several times; an engine may keep them, or `totals`, meanwhile."""
    by_totals: ClassVar[bool] = False
    """Whether it asks for nothing but its `totals`, so that rows need not be kept."""
    several: bool = False
    """Whether it can be answered where a row concerns several persons."""
    as_grouped: ClassVar[str] = "by its default method; leave method= out"
    """How it is answered by group, where not as it was asked."""
    only_quotient: ClassVar[bool] = False
    """Whether it is never released by itself, but made of the two that it is the quotient of."""
    sampled: ClassVar[Sampled | None] = None
    """What a sample of the persons says about it; None where that is nothing."""

    def __init_subclass__(cls, *, tag: str = "", phrase: str = "", sampled: Sampled | None = None) -> None:
        super().__init_subclass__()
        cls.tag = tag
        cls.phrase = phrase or cls.phrase
        cls.sampled = sampled or cls.sampled

    @property
    @abstractmethod
    def key(self) -> str:
        """Its name in ledgers and policies, the same for each group."""

    @property
    def policy_keys(self) -> tuple[str, ...]:
        """The names of all that it answers, for policies."""
        return (self.key,)

    @property
    def words(self) -> str:
        """What is asked, for people."""
        return self.phrase.format_map(vars(self))

    @property
    def totals(self) -> tuple[OfPerson, ...]:
        """What its requests make of a person's rows, in all or in each group, where several rounds ask for the same."""
        return ()

    @property
    def core(self) -> Statistic:
        """What is asked, once its groups are known."""
        return self

    @property
    def of_single_rows(self) -> Statistic:
        """The same where no person has two rows: rows are persons then, and nobody needs a cap on rows."""
        return self

    @property
    def by(self) -> tuple[Expression, ...]:
        """What it is answered for each value of; nothing where it is answered once."""
        return ()

    @property
    def answer_keys(self) -> tuple[Any, ...]:
        """The keys of its answers, where it has several about the same rows."""
        return ()

    @property
    def quotient_of(self) -> tuple[Statistic, Statistic] | None:
        """The two statistics of which it is the quotient; None where it is something of its own."""
        return None

    @abstractmethod
    def release(self, room: Room) -> Answer | Answers:
        """Ask the engine, draw, and state the answer."""

    def grouped(self, groups: Groups) -> Statistic:
        """The same for each group; refused unless a statistic says how."""
        from tacit.tables.statistics.catalogue import groupable

        if type(self).grouped is not Statistic.grouped:
            raise UnsupportedQuery(
                f"by group, the {self.words} is answered {self.as_grouped}, or ask for one group at a time with a "
                "filter."
            )
        raise UnsupportedQuery(
            f"Tacit does not answer the {self.words} by group (GROUP BY), only {', '.join(groupable())}; ask for one "
            "group at a time with a filter (WHERE)."
        )

    def suits(self, several: bool) -> None:
        """Refuse, before anything is spent, where this cannot be answered because rows concern several persons."""
        if several and self.several and self.per == "person":
            raise UnsupportedQuery(
                f"Tacit does not answer the {self.words} per person where a row concerns several persons; leave per= "
                "out."
            )
        if several and not self.several:
            from tacit.tables.statistics.catalogue import shared

            raise UnsupportedQuery(
                f"Tacit does not answer the {self.words} where a row concerns several persons; ask for one of "
                f"{', '.join(shared())}."
            )

    def check(self, cost: Guarantee) -> None:
        """Refuse a cost this statistic cannot use, before anything is spent."""
        Allowance.of(cost)

    @property
    def ranges(self) -> tuple[Fraction, ...]:
        """The shares of ε that its draws take, where each is a choice of bounded range; none where one is not."""
        return ()

    @property
    def scans(self) -> tuple[Fraction, ...]:
        """The shares of ε that its other draws take, of which nothing is known but that; for those with `ranges`."""
        return ()

    def runs(self, cost: Guarantee) -> RenyiCurve | None:
        """The mechanisms that a release at this cost runs, whatever the data are; None where that is not said.

        A budget may charge less than the cost by what it knows of them, so the list must hold for every dataset, rows
        of several persons included, and a test holds it against what the room draws.
        """
        if not self.ranges or not isinstance(cost, Pure):
            return None
        known = [RenyiCurve.exponential(share * cost.epsilon) for share in self.ranges]
        return reduce(add, [*known, *(RenyiCurve.pure(share * cost.epsilon) for share in self.scans)])

    def noise_std(self, cost: Guarantee) -> float | None:
        """The standard deviation of the noise, where it is known before anybody is asked."""
        return None


@dataclass(frozen=True)
class Operand:
    """What a statistic is asked of: a column or an expression of columns, and how the analyst calls it."""

    expression: Expression
    name: str
    step: Fraction | None = None
    """The public unit of floats, where the table has one."""

    @property
    def value(self) -> Value:
        """It as a number that is added up."""
        return value(self.expression, self.step if self.expression.type == FLOAT else None)

    @property
    def ordered(self) -> Ordered:
        """It as a value that is compared."""
        return Ordered(self.expression)


def check_delta(cost: Guarantee, what: str, instead: str) -> None:
    """Refuse a cost without δ where what is asked cannot do without."""
    if cost.keywords().get("delta") is None:
        raise InvalidInput(f"{what} delta= beside epsilon=[[ and an Approx budget]]; {instead}.")


def per_of(per: str) -> Per:
    """Rows or persons; anything else is refused."""
    if per not in ("row", "person"):
        raise InvalidInput("per must be 'row' or 'person'.")
    return cast(Per, per)


def range_of(ends: Any) -> tuple[Fraction, Fraction]:
    """A public range that an analyst gives."""
    numbers = [exact(end, "range") for end in ends] if isinstance(ends, tuple | list) else []
    if len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise InvalidInput("range must be a pair (low, high) with low below high.")
    return numbers[0], numbers[1]


def noisy(value: int, allowance: Allowance, sensitivity: int = 1) -> tuple[Law[int], Noise]:
    """The law of an integer with noise for this allowance, and that noise."""
    law = (gaussian if allowance.concentrated else laplace)(value, allowance.amount, sensitivity)
    return law, law.noise


def noisy_vector(values: Sequence[int], allowance: Allowance, sensitivity: int) -> tuple[NoiseVector, Noise]:
    """The law of a vector with noise on each part; the sensitivity bounds its ℓ1 norm, and so its ℓ2 norm."""
    law = (gaussian_vector if allowance.concentrated else laplace_vector)(values, allowance.amount, sensitivity)
    return law, law.noise


def unit_of(kind: ColumnType, step: Fraction) -> Unit:
    """The unit in which a column of this type is counted."""
    if kind.kind is Kind.FLOAT:
        return Unit(step, "float")
    if kind.kind is Kind.DECIMAL:
        return Unit(step, "decimal")
    return Unit(step, "integer")


@dataclass(frozen=True)
class Call:
    """An aggregate of a SELECT: what it is called on, and its constants."""

    operand: Operand | None
    """None in COUNT(*)."""
    numbers: tuple[Fraction, ...] = ()
    second: Operand | None = None
    """What else it is called on, where it takes two columns."""

    @property
    def other(self) -> Operand:
        """The second of two columns."""
        if self.second is None:
            raise UnsupportedQuery("this aggregate needs two columns; name both.")
        return self.second

    @property
    def column(self) -> Operand:
        """What it is called on, where it must name something."""
        if self.operand is None:
            raise UnsupportedQuery("this aggregate needs a column; name one.")
        return self.operand
