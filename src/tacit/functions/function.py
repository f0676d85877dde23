"""What all functions of users share: persons from a list or a table, a charge, an answer, an exact law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tacit.answers import Answer, Answers
from tacit.black_boxes.records import People, fresh_name
from tacit.black_boxes.values import endless, number_of
from tacit.budgets import Budget, Question
from tacit.engines.requests import Blocks
from tacit.errors import InvalidInput
from tacit.grids import Grid, multiples
from tacit.guarantees import Guarantee
from tacit.language.expressions import Expression
from tacit.mechanisms.law import Law
from tacit.numbers.exact import Number
from tacit.randomness import SYSTEM, Randomness
from tacit.tables import Session, Table
from tacit.tables.releasing.laws import charge_at_desk
from tacit.tables.releasing.room import Desk, Room, cost_of
from tacit.tables.statistics.base import Statistic

if TYPE_CHECKING:
    import pyarrow as pa

KEY = "function"
"""The name of all functions of users in ledgers and policies."""

ROWS_EACH = 10_000
"""The most rows of one person; of more those come whose values have the smallest keyed hashes."""

COARSE = 12
"""So many steps of a grid can be looked at one by one."""

Function = Callable[[list[Any]], Any]
"""From a list with one record for each person to a number."""


class OwnFunction(ABC):
    """A user's function with what is known about it.

    To make a kind of one's own four members are needed: `name`, `check`, `release` and `law`.
    """

    name: str
    """What it is called in answers and in ledgers."""
    rests_on: str = ""
    """The claim, in words, on which the privacy of its answers rests; empty where it rests on none."""

    @abstractmethod
    def check(self, cost: Guarantee) -> None:
        """Refuse a cost that cannot be used, from public facts, before anything is spent."""

    @abstractmethod
    def release(self, records: list[Any], desk: Desk, cost: Guarantee) -> Answer | Answers:
        """Draw at the desk, for a cost that is the desk's or a share of it, and state the answer. It must not fail."""

    @abstractmethod
    def _law(self, records: list[Any], cost: Guarantee) -> Law[Any]:
        """The law of all that a release draws."""

    def coarse(self) -> OwnFunction:
        """The same with so few possible answers that every one can be looked at, for verification."""
        return self

    def law(
        self,
        records: Sequence[Any],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Law[Any]:
        """The exact law of the answer on these records. It knows them: for the trusted side, and for study.

        Args:
            records: one for each person.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.

        >>> from tacit.grids import integers
        >>> largest = tacit.functions.monotone(max, grid=integers(0, 9), least=lambda r, k: sorted([0, 0, *r])[-k - 1])
        >>> largest.law([3, 5, 9], epsilon=1)
        <shifted inverse by scan law, Pure(1) for one draw>
        """
        cost = cost_of(epsilon, delta, rho)
        self.check(cost)
        return self._law(list(records), cost)

    def ask(
        self,
        records: Any,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        budget: Guarantee | Budget | None = None,
        session: Session | None = None,
        columns: Sequence[str] | None = None,
        randomness: Randomness = SYSTEM,
    ) -> Any:
        """The private answer about these persons: an `Answer`, or `Answers` where there are several.

        Args:
            records: a private table, whose own session pays, or one entry for each person in a list or a mapping. Of a
                table a person's record is a tuple of their rows, or their one row where nobody has more (see
                `Table.per_person`); a row is a value, or a named tuple where there are several columns.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            budget: what pays for a list or a mapping: a guarantee or an open budget.
            session: a session whose budget pays instead.
            columns: the columns of a private table that records have; all but the persons without them.
            randomness: where noise comes from, for a list or a mapping.

        >>> from tacit.grids import integers
        >>> def least(amounts, k):
        ...     return sum(sorted(amounts)[: max(0, len(amounts) - k)][-3:])
        >>> top_three = tacit.functions.monotone(lambda x: least(x, 0), grid=integers(0, 10_000), least=least)
        >>> top_three.ask(orders.per_person(spent="SUM(amount)"), columns=["spent"], epsilon=1)
        Answer(<lambda>: ..., Pure(1))
        """
        cost = cost_of(epsilon, None if delta == 0 else delta, rho)
        self.check(cost)
        people = People.of(records, budget, session, columns, randomness)
        if people.table is not None:
            return people.table._release(_asked(self, people.table, columns), cost)
        assert people.payer is not None
        question = Question(f"{KEY} {fresh_name()}", self.name, (KEY,))
        return charge_at_desk(
            people.payer,
            cost,
            question,
            people.randomness,
            "any one person with all that is recorded about them",
            lambda desk: self.release(people.entries, desk, cost),
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} function {self.name}>"


@dataclass(frozen=True)
class OwnStatistic(Statistic):
    """A user's function of the persons of a table."""

    function: OwnFunction = field(repr=False, compare=False)
    columns: tuple[tuple[str, Expression], ...]
    single: bool
    """Whether nobody has more than one row."""
    nonce: str
    per = "person"
    key = KEY
    told_by = ("nonce",)  # nothing tells whether two functions are the same

    @property
    def words(self) -> str:
        """What the function is called."""
        return self.function.name

    def check(self, cost: Guarantee) -> None:
        """The function's own."""
        self.function.check(cost)

    def release(self, room: Room) -> Answer | Answers:
        """Records from rows, and the function's own release."""
        rows = room.blocks(Blocks(self.columns, None, room.secret(), ROWS_EACH))
        return self.function.release(list(split(rows, self.single)), room, room.cost)


def _asked(function: OwnFunction, table: Table, columns: Sequence[str] | None) -> OwnStatistic:
    return OwnStatistic(function, table._columns(columns), table._relation.one_row_each, fresh_name())


def split(rows: pa.Table, single: bool) -> Iterator[Any]:
    """A record for each person: their rows, or their one row; a row is a value or a named tuple."""
    import numpy as np

    numbers, found = rows.column("").to_numpy(), rows.drop_columns([""])
    lists = [column.to_pylist() for column in found.columns]
    row = namedtuple("Row", found.column_names, rename=True) if len(lists) > 1 else None
    values = lists[0] if row is None else [row(*cells) for cells in zip(*lists, strict=True)]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1, append=-1))  # rows come person by person
    for start, stop in pairwise(starts.tolist()):
        yield values[start] if single else tuple(values[start:stop])


# ---- what a function returns ---------------------------------------------------------------------------------------


def called(f: Callable[..., Any], *arguments: Any) -> Fraction | None:
    """A function's value as an exact number, an infinite one as one beyond all; None where it fails or returns none.

    Nothing it raises is passed on.
    """
    try:
        value = f(*arguments)
        if isinstance(value, bool):
            return Fraction(int(value))
        number = number_of(value)
        return endless(value) if number is None else number
    except KeyboardInterrupt:
        raise
    except BaseException:  # what it says may show records, and that it ended the process too
        return None


def coarsened(grid: Grid) -> Grid:
    """A grid of few equal steps over the same range, where there are many."""
    low, high = grid.lowest, grid.highest
    if low is None or high is None or grid.size <= COARSE:
        return grid
    step = (high - low) / COARSE
    known = getattr(grid, "step", None)
    if isinstance(known, Fraction):
        step = -(-step // known) * known
    return multiples(step, low // step * step, high)


def released(value: int | Fraction) -> int | float:
    """A drawn number as an answer holds it."""
    return int(value) if Fraction(value).denominator == 1 else float(value)


def named(function: Any, name: str | None) -> str:
    """What a function is called."""
    if name is not None:
        return name
    return str(getattr(function, "__name__", type(function).__name__))


def callable_or_refused(function: Any, what: str) -> Any:
    """A function, or a refusal."""
    if not callable(function):
        raise InvalidInput(f"{what} must be a function.")
    return function
