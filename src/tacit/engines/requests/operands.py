"""What requests compute with: numbers, counts and ordered values of rows, and what they make of a person's rows.

An operand says what it means, and which SQL has that meaning over the columns of `tacit.engines.rows.Rows`.
Groups have keys: here stands what a request may group by, and how a key is written into an answer and read back.
Several requests count in buckets between public boundaries: (…, b_0], (b_0, b_1], …, (b_last, ∞).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from tacit.engines.dialect import Dialect
from tacit.engines.requests.request import LARGEST_ANSWER, AnswerRow
from tacit.errors import InvalidInput
from tacit.language.expressions import Column, Expression, Scalar
from tacit.language.types import BOOLEAN, FLOAT, INTEGER, ColumnType, Kind

if TYPE_CHECKING:
    from tacit.engines.rows import Rows
    from tacit.engines.snapshots import Statement

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

    def of_person(self, statement: Statement) -> str:
        """The sum, from the table of persons."""
        return statement.aggregate(self.total(statement.rows))

    def number_of_person(self, statement: Statement) -> str:
        """How many of a person's rows have a value, from the table of persons."""
        return statement.aggregate(f"COUNT({self.column(statement.rows)})")

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

    def of_person(self, statement: Statement) -> str:
        """The count, from the table of persons."""
        return statement.aggregate(self.total(statement.rows))


@dataclass(frozen=True)
class Filled:
    """The number of rows that have a value, told by the very numbers that are added up."""

    value: Value

    def of_person(self, statement: Statement) -> str:
        """The count, from the table of persons."""
        return self.value.number_of_person(statement)


@dataclass(frozen=True)
class Deviation:
    """The sum over a person's values of how far each lies from a public centre, which is a 64-bit count of units."""

    value: Value
    centre: int

    def __post_init__(self) -> None:
        if not -(2**63) <= self.centre < 2**63:
            raise InvalidInput("centre must fit in 64 bits.")

    def of_person(self, statement: Statement) -> str:
        """The sum of the values less the centre times their number; both are the same for every centre."""
        number = statement.dialect.wide(self.number_of_person(statement))
        return f"({self.value.of_person(statement)} - {number} * ({self.centre}))"

    def number_of_person(self, statement: Statement) -> str:
        """How many of a person's rows have a value."""
        return self.value.number_of_person(statement)


@dataclass(frozen=True)
class PersonMean:
    """The mean of a person's values, or deviations, rounded toward zero to a whole number of ``parts`` of the unit."""

    value: Value | Deviation
    parts: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.parts <= MOST_PARTS:
            raise InvalidInput(f"parts must lie between 1 and {MOST_PARTS}.")

    def of_person(self, statement: Statement) -> str:
        """The quotient of the sum's size and the number of values, with the sum's sign."""
        whole, factor = self.value.of_person(statement), "" if self.parts == 1 else f" * {self.parts}"
        size = statement.dialect.quotient(f"ABS({whole}){factor}", self.value.number_of_person(statement))
        return f"CASE WHEN {whole} < 0 THEN -{size} ELSE {size} END"


HALF = 2**22
"""How many steps a `Steps` counts on either side of its middle; products of two, over 2^50 rows, have 94 bits."""

FAR = 2**62
"""How far from zero the middle of `Steps`, and their ends from their middle, may be, in units."""


@dataclass(frozen=True)
class Steps:
    """How far a row's number lies from a public centre, in whole steps of radius/`HALF` units, rounded down.

    What lies more than ``radius`` units beside ``middle`` counts as if it lay there. The centre is ``shift`` steps
    above the middle, so it may lie between two units.
    """

    value: Value
    middle: int
    radius: int
    shift: int = 0

    def __post_init__(self) -> None:
        if abs(self.middle) > FAR or not 1 <= self.radius <= FAR or abs(self.shift) > HALF:
            raise InvalidInput("middle and radius must lie within 2^62, shift within the steps of a radius.")

    @property
    def step(self) -> Fraction:
        """One step, in units."""
        return Fraction(self.radius, HALF)

    @property
    def centre(self) -> Fraction:
        """What distances are from, in units."""
        return self.middle + self.shift * self.step

    def column(self, rows: Rows) -> str:
        """The row's number of steps."""
        place = rows.scaled(self.value, self.middle - self.radius, self.middle + self.radius, 2 * HALF)
        return f"({place} - {HALF + self.shift})"


@dataclass(frozen=True)
class GroupSteps:
    """The sum over a person's rows in a group of their distances from the group's public centre, or of the squares.

    Distances are those of `Steps`, with a middle and a radius for each group. Per person (``mean``) it is the person's
    mean in the group, rounded toward zero, or its square.
    """

    value: Value
    places: tuple[tuple[int, int], ...]
    """For each group the middle and the radius."""
    squared: bool = False
    mean: bool = False

    def __post_init__(self) -> None:
        for middle, radius in self.places:
            Steps(self.value, middle, radius)

    def beside(self, dialect: Dialect) -> tuple[tuple[str, ...], list[str]]:
        """What stands beside the number of each group, for `entry`: names, and for each group the values."""
        ends = ((middle - radius, middle + radius) for middle, radius in self.places)
        return ("low", "high"), [f"{dialect.wide(str(low))}, {dialect.wide(str(high))}" for low, high in ends]

    def entry(self, rows: Rows) -> str:
        """0 without a value."""
        dialect, v = rows.dialect, self.value.column(rows)
        inner = dialect.quotient(f"(({dialect.wide(v)} - low) * {2 * HALF})", "(high - low)")
        place = f"CASE WHEN {v} <= low THEN 0 WHEN {v} >= high THEN {2 * HALF} WHEN {v} > low THEN {inner} END"
        steps = f"(CAST({place} AS {dialect.int64}) - {HALF})"
        if self.mean:
            mean = mean_steps(dialect, steps)
            return f"COALESCE({f'({mean} * {mean})' if self.squared else mean}, 0)"
        return f"COALESCE({dialect.total(f'({steps} * {steps})' if self.squared else steps)}, 0)"


def mean_steps(dialect: Dialect, column: str, parts: int = 1) -> str:
    """The mean of a person's steps, rounded toward zero to a whole number of so many of them; an aggregate."""
    divisor = f"COUNT({column})" if parts == 1 else f"({dialect.wide(f'COUNT({column})')} * {parts})"
    size = dialect.quotient(dialect.wide(f"ABS(SUM({column}))"), divisor)
    return f"(CASE WHEN SUM({column}) < 0 THEN -{size} ELSE {size} END)"


@dataclass(frozen=True)
class Presence:
    """One for a person with at least one row, however many there are."""

    def entry(self, rows: Rows) -> str:
        """One: only those who have a row in a group are listed there."""
        return "1"


@dataclass(frozen=True)
class HasValue:
    """One for a person with at least one row where an expression is not NULL."""

    expression: Expression

    def entry(self, rows: Rows) -> str:
        """One or zero for those who have a row in a group."""
        return f"MAX(CASE WHEN {rows.plain(self.expression)} IS NULL THEN 0 ELSE 1 END)"


@dataclass(frozen=True)
class Different:
    """The number of different values of an expression."""

    expression: Expression

    def __post_init__(self) -> None:
        if self.expression.type.kind is Kind.OTHER:
            raise InvalidInput("distinct values need a column of a type that Tacit reads; use another column.")

    def column(self, rows: Rows) -> str:
        """The column that tells the values apart."""
        return rows.distinct(self.expression)

    def entry(self, rows: Rows) -> str:
        """How many a person has in one group."""
        return f"COUNT(DISTINCT {self.column(rows)})"


@dataclass(frozen=True)
class Ordered:
    """A row's value for minimum, maximum and quantiles."""

    expression: Expression

    def __post_init__(self) -> None:
        if not self.expression.type.ordered:
            raise InvalidInput(
                f"min, max and quantile need numbers or dates, not {self.expression.type}; use another column, "
                "or count its values by group."
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

    def order(self, row: AnswerRow) -> int | float:
        """What orders answers as their values do, and is compared sooner."""
        return float(row[4]) if self.double else int(row[1])

    def exact(self, row: AnswerRow) -> Fraction:
        """The value that an answer shows, in the column's own scale."""
        return Fraction(float(row[4])) if self.double else Fraction(int(row[1]), 10**self.expression.type.scale)


Total = Value | RowCount | Filled | Deviation | PersonMean
"""What makes one number of a person's rows; ``of_person`` is its SQL over the table of persons."""
Entry = Value | RowCount | Presence | HasValue | Different | GroupSteps
"""What makes one number of a person's rows in one group; its ``entry`` is the SQL of the aggregate."""


Key = tuple[Scalar, ...]
"""One group: a value, or NULL, for each key expression; decimals as Fractions."""


def check_by(by: tuple[Expression, ...]) -> None:
    """Refuse to group by nothing, or by what cannot be read."""
    if not by or any(expression.type.kind is Kind.OTHER for expression in by):
        raise InvalidInput("group_by needs columns of a type that Tacit reads; name other columns.")


def encoded(name: str, kind: ColumnType, dialect: Dialect) -> str:
    """A column of keys so that all engines write it as the same text; dates and times are numbers."""
    if kind.kind is Kind.DATE:
        return dialect.days(name)
    if kind.kind is Kind.TIMESTAMP:
        return dialect.microseconds(name)
    return f"CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 END" if kind.kind is Kind.BOOLEAN else name


def decoded(text: str | None, kind: ColumnType) -> Scalar:
    """The key behind a text of `encoded`."""
    if text is None or kind.kind is Kind.TEXT:
        return text
    match kind.kind:
        case Kind.INTEGER:
            return int(text)
        case Kind.DECIMAL:
            return Fraction(int(text), 10**kind.scale)
        case Kind.FLOAT:
            return float(text)
        case Kind.BOOLEAN:
            return text == "1"
        case Kind.DATE:
            return date(1970, 1, 1) + timedelta(days=int(text))
        case Kind.TIMESTAMP:
            return datetime(1970, 1, 1) + timedelta(microseconds=int(text))
    return text


def check_boundaries(boundaries: tuple[int, ...], numbers: int) -> None:
    """Refuse boundaries that do not ascend, or are too many for an answer of some numbers a bucket."""
    if not boundaries or not _ascending(boundaries) or boundaries[0] < 0 or boundaries[-1] >= 2**126:
        raise InvalidInput("boundaries must be ascending whole numbers from 0 to below 2^126, at least one.")
    if numbers * (len(boundaries) + 1) > LARGEST_ANSWER:
        raise InvalidInput(
            f"too many boundaries: one answer holds at most {LARGEST_ANSWER} numbers; use a coarser grid."
        )


@lru_cache(maxsize=64)
def _ascending(boundaries: tuple[int, ...]) -> bool:
    return all(low < high for low, high in pairwise(boundaries))


def numbers_by_place(rows: Sequence[AnswerRow], places: int) -> tuple[int, ...]:
    """The numbers in b by the places in a, 0 where no row came."""
    numbers = {int(row[1]): int(row[2]) for row in rows}
    return tuple(numbers.get(place, 0) for place in range(places))
