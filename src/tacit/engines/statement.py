"""One round as one statement: rows, one table of persons computed once, and a short answer for each request.

Every answer row has the same shape, (request, a, b, c, x, k0, k1, …): three 128-bit integers, a double and texts, so
that all requests of a round come back by UNION ALL. Groups by key have tables of their own beside the persons'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tacit.engines.dialect import Dialect
from tacit.engines.requests import Deviation, Ordered, PersonMean, RowCount, Total, Value
from tacit.engines.rows import Rows
from tacit.engines.script import Part, Script
from tacit.language.expressions import Column
from tacit.language.types import FLOAT, INTEGER

AnswerRow = tuple[Any, ...]
Decoder = Callable[[list[AnswerRow]], Any]


@dataclass
class Arm:
    """One SELECT of the final UNION ALL."""

    source: str
    a: str = "NULL"
    b: str = "NULL"
    c: str = "NULL"
    x: str = "NULL"
    keys: Sequence[str] = ()


@dataclass
class Statement:
    """A statement being put together; `tacit.engines.answers` adds the requests."""

    dialect: Dialect
    rows: Rows
    aggregates: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    arms: list[tuple[int, Arm]] = field(default_factory=list)
    keep_person: bool = False
    """Whether the table of persons names them."""
    need_persons: bool = False
    """Whether there must be such a table even if nothing is known of a person."""

    def aggregate(self, sql: str) -> str:
        """The name of a column of ``persons`` that aggregates each person's rows."""
        return self.aggregates.setdefault(sql, f"a{len(self.aggregates)}")

    def table(self, prefix: str, sql: str) -> str:
        """The name of a further table, computed once however many requests use it."""
        return self.tables.setdefault(sql, f"{prefix}{len(self.tables)}")

    def total(self, total: Total) -> str:
        """The column of ``persons`` with a person's total."""
        if isinstance(total, RowCount):
            return self.aggregate(self.count(total))
        if isinstance(total, PersonMean):
            whole, factor = self._whole(total.value), "" if total.parts == 1 else f" * {total.parts}"
            size = self.dialect.quotient(f"ABS({whole}){factor}", self._number(total.value))
            return self.aggregate(f"CASE WHEN {whole} < 0 THEN -{size} ELSE {size} END")
        return self.aggregate(self._whole(total))

    def _whole(self, total: Value | Deviation) -> str:
        """The SQL of the sum of a person's values or deviations."""
        if isinstance(total, Value):
            return self.sum(total)
        return f"({self.sum(total.value)} - {self.dialect.wide(self._number(total))} * ({total.centre}))"

    def _number(self, total: Value | Deviation) -> str:
        """The SQL of how many values a person has."""
        return f"COUNT({self.rows.value(total if isinstance(total, Value) else total.value)})"

    def sum(self, value: Value) -> str:
        """The SQL of a sum; where short numbers are quicker to add, those of doubles and columns are added apart.

        Sums of 32-bit numbers in 64 bits are exact for fewer than 2^32 rows of one person.
        """
        kind, column = value.expression.type, isinstance(value.expression, Column)
        if not self.dialect.int32 or not (kind == FLOAT or (column and kind == INTEGER)):
            return self.dialect.total(self.rows.value(value))
        short, enough, long = self.rows.split(value)
        few = f"SUM(CASE WHEN {enough} THEN {short} END)"  # of FILTER it is not promised that it guards the argument
        many = f"SUM({long}) FILTER (WHERE NOT ({enough}))"
        return f"CASE WHEN {many} IS NULL THEN {few} ELSE COALESCE({few}, 0) + {many} END"

    def count(self, count: RowCount) -> str:
        """The SQL of a number of rows."""
        return "COUNT(*)" if count.expression is None else f"COUNT({self.rows.plain(count.expression)})"

    def ordering(self, value: Ordered | Value) -> str:
        """The column of ``rows`` with a value to be ordered."""
        return self.rows.value(value) if isinstance(value, Value) else self.rows.ordered(value)

    def script(self) -> Script:
        """The whole statement."""
        person = ["person"] if self.keep_person else []
        columns = person + [f"{sql} AS {name}" for sql, name in self.aggregates.items()]
        columns = columns or (["1 AS present"] if self.need_persons else [])
        persons = Part("persons", f"SELECT {', '.join(columns)} FROM {self.rows.grouped()}", kept=True)
        parts = [*self.rows.parts(), *([persons] if columns else [])]
        parts += [Part(name, sql, kept=True) for sql, name in self.tables.items()]
        width = max((len(arm.keys) for _, arm in self.arms), default=0)
        return Script(tuple(parts), " UNION ALL ".join(self._arm(i, arm, width) for i, arm in self.arms))

    def _arm(self, index: int, arm: Arm, width: int) -> str:
        keys = [*arm.keys, *["NULL"] * (width - len(arm.keys))]
        columns = [
            f"{index} AS request",
            *(
                f"CAST({sql} AS {self.dialect.int128}) AS {name}"
                for sql, name in zip((arm.a, arm.b, arm.c), "abc", strict=True)
            ),
            f"CAST({arm.x} AS {self.dialect.float64}) AS x",
            *(f"CAST({key} AS {self.dialect.text_type}) AS k{i}" for i, key in enumerate(keys)),
        ]
        return f"SELECT {', '.join(columns)} FROM {arm.source}"


def bucket(column: str, boundaries: Sequence[int]) -> str:
    """The index of the first boundary at or above a column, by binary search; their number if there is none."""

    def search(low: int, high: int) -> str:
        if low == high:
            return str(low)
        middle = (low + high) // 2
        return (
            f"CASE WHEN {column} <= {boundaries[middle]} THEN {search(low, middle)} ELSE {search(middle + 1, high)} END"
        )

    return search(0, len(boundaries))


def exact_value(value: Ordered | Value, row: AnswerRow) -> Fraction:
    """An ordered value from an answer row: a double in x, or a number of steps in a."""
    kind = value.expression.type
    if isinstance(value, Value):
        return Fraction(int(row[1]))
    return Fraction(float(row[4])) if kind == FLOAT else Fraction(int(row[1]), 10**kind.scale)
