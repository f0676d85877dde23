"""Whom the rows of a join concern: the request and its one statement, which numbers persons and values in the engine.

PROMISE. Nothing but weights, bare numbers for persons and values, and the heights asked for leaves the engine. No
number follows from a person's name, and rows come in no particular order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.engines.dialect import Dialect
from tacit.engines.requests import Ordered, Request, RowCount, Value
from tacit.engines.rows import Rows
from tacit.engines.script import Part, Script
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression
from tacit.language.types import FLOAT, Kind

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_LIMIT = 2**62
"""Where weights saturate."""
MAX_ROWS = 20_000_000
"""The most rows that may leave an engine for one question, unless said otherwise."""

_EVERY = RowCount()


@dataclass(frozen=True, repr=False, eq=False)
class Touches:
    """Rows that concern several persons: a weight and, for each person column, a number for the person (0: none)."""

    weights: NDArray[np.int64]
    persons: tuple[NDArray[np.int64], ...]
    kinds: tuple[str, ...]
    values: NDArray[np.int64] | None = None
    """A number for each row's value, where values were asked for."""
    heights: NDArray[Any] | None = None
    """Each row's value in its own order, a double or a whole number of steps, where heights were asked for."""

    def __repr__(self) -> str:
        return "<rows that concern persons>"


@dataclass(frozen=True)
class Incidence(Request[Touches]):
    """Whom the rows concern, rows of the same persons (and value) made one, their weights added.

    With ``heights`` rows are ordered by a value: the highest (or, not ``largest``, the lowest) of rows of the same
    persons, of weight 1, or ``every`` one of them. The exception from the limit of 10,000 numbers: the list is as long
    as there are different combinations of persons (and values), at most ``limit``; a longer one is a failure of the
    engine. Weights saturate at ±2^62.
    """

    entry: Value | RowCount = _EVERY
    values: Expression | None = None
    heights: Ordered | None = None
    largest: bool = True
    every: bool = False
    limit: int = MAX_ROWS

    def __post_init__(self) -> None:
        if self.heights is not None and (self.values is not None or self.entry != _EVERY):
            raise InvalidInput("heights are asked for alone; leave values and entry out.")
        if self.values is not None and self.values.type.kind is Kind.OTHER:
            raise InvalidInput("distinct values need a column of a type that Tacit reads; use another column.")


def incidence(dialect: Dialect, rows: Rows, request: Incidence) -> Script:
    """The statement whose columns are w, then p0, p1, … and, where asked for, the value's number or the height."""
    persons = rows.persons()
    value = [] if request.values is None else ["value"]
    tuples = Part("tuples", _tuples(rows, request), kept=True)  # first, for it names the columns it needs
    parts = [*rows.parts(), tuples]
    numbers: dict[str, str] = {}
    for kind in dict.fromkeys(kind for kind, _ in rows.relation.persons):
        mine = [name for name, (own, _) in zip(persons, rows.relation.persons, strict=True) if own == kind]
        numbers |= dict.fromkeys(mine, f"ids{len(parts)}")
        parts.append(_numbered(f"ids{len(parts)}", mine, dialect))
    if value:
        numbers["value"] = f"ids{len(parts)}"
        parts.append(_numbered(f"ids{len(parts)}", ["value"], dialect))
    joins = " ".join(f"LEFT JOIN {ids} AS of_{name} ON {name} = of_{name}.p" for name, ids in numbers.items())
    shown = [f"CAST(COALESCE(of_{name}.number, 0) AS {dialect.int64}) AS n_{name}" for name in (*persons, *value)]
    if request.heights is not None:
        kind = dialect.float64 if request.heights.expression.type == FLOAT else dialect.int64
        shown.append(f"CAST(height AS {kind}) AS height")
    clamped = f"CASE WHEN w > {_LIMIT} THEN {_LIMIT} WHEN w < -{_LIMIT} THEN -{_LIMIT} ELSE w END"
    body = (
        f"SELECT CAST({clamped} AS {dialect.int64}) AS w, {', '.join(shown)} "
        f"FROM tuples {joins} WHERE w IS NOT NULL LIMIT {request.limit + 1}"
    )
    return Script(tuple(parts), body)


def height_schema(persons: int, heights: Ordered) -> pa.Schema:
    """The columns of a statement that has heights."""
    import pyarrow as pa

    height = pa.float64() if heights.expression.type == FLOAT else pa.int64()
    names = ["w", *(f"p{i}" for i in range(persons))]
    return pa.schema([*((name, pa.int64()) for name in names), ("height", height)])


def _tuples(rows: Rows, request: Incidence) -> str:
    """The rows of the same persons, and the same value where one is asked for, made one."""
    persons = ", ".join(rows.persons())
    if request.heights is not None:
        height = rows.ordered(request.heights)
        if request.every:
            return (
                f"SELECT {persons}, {height} AS height, COUNT(*) AS w FROM rows WHERE {height} IS NOT NULL "
                f"GROUP BY {persons}, {height}"
            )
        extreme = f"{'MAX' if request.largest else 'MIN'}({height})"
        return f"SELECT {persons}, {extreme} AS height, 1 AS w FROM rows WHERE {height} IS NOT NULL GROUP BY {persons}"
    if isinstance(request.entry, RowCount):
        counted = "*" if request.entry.expression is None else rows.plain(request.entry.expression)
        weight = f"COUNT({counted})"
    else:
        weight = rows.dialect.total(rows.value(request.entry))
    if request.values is None:
        return f"SELECT {persons}, {weight} AS w FROM rows GROUP BY {persons}"
    value = rows.distinct(request.values)
    return (
        f"SELECT {persons}, {value} AS value, {weight} AS w FROM rows WHERE {value} IS NOT NULL "
        f"GROUP BY {persons}, {value}"
    )


def _numbered(name: str, columns: list[str], dialect: Dialect) -> Part:
    """A table that numbers the different values of some columns from 1."""
    every = " UNION ALL ".join(f"SELECT {column} AS p FROM tuples" for column in columns)
    different = f"SELECT DISTINCT p FROM ({every}) AS every WHERE p IS NOT NULL"
    return Part(name, f"SELECT p, {dialect.row_number} AS number FROM ({different}) AS different", kept=True)
