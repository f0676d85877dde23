"""The largest rows of the persons who have the largest: the request, and its part of a statement."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.engines.answers import answer
from tacit.engines.requests import LARGEST_ANSWER, Ordered, Request
from tacit.engines.statement import Arm, Decoder, Statement, exact_value
from tacit.errors import InvalidInput
from tacit.language.types import FLOAT


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
                f"persons and rows are too many for one answer of {LARGEST_ANSWER} numbers; ask for less."
            )


@answer.register
def _(request: TopRows, statement: Statement, index: int) -> Decoder:
    statement.keep_person = True
    column, order = statement.rows.ordered(request.value), "DESC" if request.largest else "ASC"
    extreme = statement.aggregate(f"{'MAX' if request.largest else 'MIN'}({column})")
    first = f"SELECT person, {extreme} AS v FROM persons WHERE {extreme} IS NOT NULL ORDER BY v {order}"
    top = statement.table(
        "top",
        f"SELECT person, ROW_NUMBER() OVER (ORDER BY v {order}) AS number FROM "
        f"({first} LIMIT {request.persons}) AS firsts",
    )
    placed = (
        f"SELECT number, {column} AS v, ROW_NUMBER() OVER (PARTITION BY number ORDER BY {column} {order}) AS place "
        f"FROM rows INNER JOIN {top} ON rows.person = {top}.person WHERE {column} IS NOT NULL"
    )
    source = f"({placed}) AS placed WHERE place <= {request.rows}"
    value = {"x": "v"} if request.value.expression.type == FLOAT else {"a": "v"}
    statement.arms.append((index, Arm(source, b="number", **value)))
    return lambda rows: tuple((int(row[2]), exact_value(request.value, row)) for row in rows)
