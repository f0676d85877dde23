"""The largest of persons' largest values, or the smallest of their smallest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.engines.requests.operands import Ordered, Value
from tacit.engines.requests.request import LARGEST_ANSWER, AnswerRow, Arm, Request
from tacit.engines.script import PERSONS, fragment
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement


@dataclass(frozen=True)
class Extremes(Request[tuple[Fraction, ...]]):
    """The ``k`` largest per-person maxima, descending, or smallest minima, ascending; fewer if fewer have a value.

    Results of `Ordered` are in the column's own scale, those of a `Value` in units.
    """

    value: Ordered | Value
    k: int
    largest: bool

    def __post_init__(self) -> None:
        if not 1 <= self.k <= LARGEST_ANSWER:
            raise InvalidInput(f"k must lie between 1 and {LARGEST_ANSWER}.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """The first k persons by their extreme."""
        extreme, order = statement.extreme(self.value, self.largest)
        source = fragment(
            f"(SELECT {extreme} AS v FROM ",
            PERSONS,
            f" WHERE {extreme} IS NOT NULL ORDER BY v {order} LIMIT {self.k}) AS top",
        )
        return (Arm(source, **self.value.shown("v")),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[Fraction, ...]:
        """The extremes in their order."""
        return tuple(sorted((self.value.exact(row) for row in rows), reverse=self.largest))
