"""What requests compute with: numbers, counts and ordered values of rows, and what they make of a person's rows.

An operand says what it means, and which SQL has that meaning over the columns of `tacit.engines.rows.Rows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.engines.requests.request import AnswerRow
from tacit.errors import InvalidInput
from tacit.language.expressions import Column, Expression
from tacit.language.types import BOOLEAN, FLOAT, INTEGER, ColumnType

if TYPE_CHECKING:
    from tacit.engines.rows import Rows

SATURATION = 9_200_000_000_000_000_000
"""The largest count of units that a FLOAT row can have."""

FLOAT_UNIT = Fraction(1, 10**6)
"""What a FLOAT counts in unless a public unit is given."""

MOST_PARTS = 1000
"""The most steps into which a unit may be divided for a person's mean."""


@dataclass(frozen=True)
class Value:
    """A row's number as a count of units; build it with `value`."""

    expression: Expression
    unit: Fraction

    def column(self, rows: Rows) -> str:
        """The column of counts."""
        return rows.value(self)

    def total(self, rows: Rows) -> str:
        """The sum over a person's rows; where short numbers are quicker to add, those of doubles and columns are added
        apart.

        Sums of 32-bit numbers in 64 bits are exact for fewer than 2^32 rows of one person.
        """
        kind, column = self.expression.type, isinstance(self.expression, Column)
        if not rows.dialect.int32 or not (kind == FLOAT or (column and kind == INTEGER)):
            return self.weight(rows)
        short, enough, long = rows.split(self)
        few = f"SUM(CASE WHEN {enough} THEN {short} END)"  # a FILTER need not guard the argument
        many = f"SUM({long}) FILTER (WHERE NOT ({enough}))"
        return f"CASE WHEN {many} IS NULL THEN {few} ELSE COALESCE({few}, 0) + {many} END"

    def weight(self, rows: Rows) -> str:
        """The sum in one piece, for groups of few rows each."""
        return rows.dialect.total(self.column(rows))

    def number(self, rows: Rows) -> str:
        """How many of a person's rows have a value."""
        return f"COUNT({self.column(rows)})"

    def entry(self, rows: Rows) -> str:
        """The sum over a person's rows in one group, 0 without a value."""
        return f"COALESCE({self.total(rows)}, 0)"

    def shown(self, sql: str) -> dict[str, str]:
        """The columns of an answer that show a value."""
        return {"a": sql}

    def exact(self, row: AnswerRow) -> Fraction:
        """The value that an answer shows, in units."""
        return Fraction(int(row[1]))


def value(expression: Expression, unit: Fraction | None = None) -> Value:
    """A value in its type's own unit, or for FLOAT in a public one: a whole number or one over a whole number."""
    kind: ColumnType = expression.type
    if kind == FLOAT:
        unit = FLOAT_UNIT if unit is None else unit
        if 1 not in (unit.numerator, unit.denominator) or not 0 < unit <= 10**15 or unit.denominator > 10**15:
            raise InvalidInput("unit must be a whole number or one over a whole number, such as 100, 1 or '0.01'.")
        return Value(expression, unit)
    if unit is not None:
        raise InvalidInput("unit is for floats; integers and decimals count in their own steps.")
    if kind.exact_number or kind == BOOLEAN:
        return Value(expression, Fraction(1, 10**kind.scale))
    raise InvalidInput(f"a sum or mean needs numbers, not {kind}; use a numeric column.")


@dataclass(frozen=True)
class RowCount:
    """The number of rows, or of rows where an expression is not NULL."""

    expression: Expression | None = None

    def total(self, rows: Rows) -> str:
        """The count over a person's rows."""
        return "COUNT(*)" if self.expression is None else f"COUNT({rows.plain(self.expression)})"

    weight = entry = total


@dataclass(frozen=True)
class Deviation:
    """The sum over a person's values of how far each lies from a public centre, which is a 64-bit count of units."""

    value: Value
    centre: int

    def __post_init__(self) -> None:
        if not -(2**63) <= self.centre < 2**63:
            raise InvalidInput("centre must fit in 64 bits.")

    def total(self, rows: Rows) -> str:
        """The sum of the values less the centre times their number."""
        return f"({self.value.total(rows)} - {rows.dialect.wide(self.number(rows))} * ({self.centre}))"

    def number(self, rows: Rows) -> str:
        """How many of a person's rows have a value."""
        return self.value.number(rows)


@dataclass(frozen=True)
class PersonMean:
    """The mean of a person's values, or deviations, rounded toward zero to a whole number of ``parts`` of the unit."""

    value: Value | Deviation
    parts: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.parts <= MOST_PARTS:
            raise InvalidInput(f"parts must lie between 1 and {MOST_PARTS}.")

    def total(self, rows: Rows) -> str:
        """The quotient of the sum's size and the number of values, with the sum's sign."""
        whole, factor = self.value.total(rows), "" if self.parts == 1 else f" * {self.parts}"
        size = rows.dialect.quotient(f"ABS({whole}){factor}", self.value.number(rows))
        return f"CASE WHEN {whole} < 0 THEN -{size} ELSE {size} END"


@dataclass(frozen=True)
class Presence:
    """One for a person with at least one row, however many there are."""

    def entry(self, rows: Rows) -> str:
        """One: only those who have a row in a group are listed there."""
        return "1"


@dataclass(frozen=True)
class Ordered:
    """A row's value for minimum, maximum and quantiles."""

    expression: Expression

    def __post_init__(self) -> None:
        if not self.expression.type.ordered:
            raise InvalidInput(
                f"min, max and quantile need numbers or dates, not {self.expression.type}; use another column."
            )

    @property
    def double(self) -> bool:
        """Whether it is a double; otherwise it is a 64-bit count of the type's steps."""
        return self.expression.type == FLOAT

    def column(self, rows: Rows) -> str:
        """The column that orders as the value does."""
        return rows.ordered(self)

    def shown(self, sql: str) -> dict[str, str]:
        """The columns of an answer that show a value: a double in x, steps in a."""
        return {"x": sql} if self.double else {"a": sql}

    def exact(self, row: AnswerRow) -> Fraction:
        """The value that an answer shows, in the column's own scale."""
        return Fraction(float(row[4])) if self.double else Fraction(int(row[1]), 10**self.expression.type.scale)


Total = Value | RowCount | Deviation | PersonMean
"""What makes one number of a person's rows; its ``total`` is the SQL of the aggregate."""
Entry = Value | RowCount | Presence
"""What makes one number of a person's rows in one group; its ``entry`` is the SQL of the aggregate."""
