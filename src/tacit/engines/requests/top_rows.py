"""The largest rows of the persons who have the largest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.engines.requests.operands import Ordered
from tacit.engines.requests.request import LARGEST_ANSWER, AnswerRow, Arm, Request
from tacit.engines.script import ALL_ROWS, PERSONS, fragment
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement


@dataclass(frozen=True)
class TopRows(Request[tuple[tuple[int, Fraction], ...]]):
    """The ``rows`` largest (or smallest) values of each of the ``persons`` persons with the largest (smallest) value.

    Pairs of a number for the person and a value in the column's own scale, in no particular order.
    """

    value: Ordered
    persons: int
    rows: int
    largest: bool

    def __post_init__(self) -> None:
        if self.persons < 1 or self.rows < 1 or 2 * self.persons * self.rows > LARGEST_ANSWER:
            raise InvalidInput(
                f"too many persons and rows: one answer holds at most {LARGEST_ANSWER} numbers; ask for fewer."
            )

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """The first persons by their extreme, numbered; then the first rows of each."""
        statement.keep_person = True
        column = self.value.column(statement.rows)
        extreme, order = statement.extreme(self.value, self.largest)
        top = statement.table(
            "top",
            f"SELECT person, ROW_NUMBER() OVER (ORDER BY v {order}) AS number FROM ",
            f"(SELECT person, {extreme} AS v FROM ",
            PERSONS,
            f" WHERE {extreme} IS NOT NULL ORDER BY v {order} LIMIT {self.persons}) AS firsts",
        )
        source = fragment(
            f"(SELECT number, {column} AS v, ",
            f"ROW_NUMBER() OVER (PARTITION BY number ORDER BY {column} {order}) AS place FROM ",
            ALL_ROWS,
            " INNER JOIN ",
            top,
            f" ON rows.person = {top.name}.person WHERE {column} IS NOT NULL) AS placed WHERE place <= {self.rows}",
        )
        return (Arm(source, b="number", **self.value.shown("v")),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[tuple[int, Fraction], ...]:
        """Each row's person, by number, and value."""
        return tuple((int(row[2]), self.value.exact(row)) for row in rows)
