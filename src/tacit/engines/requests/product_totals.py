"""Sums of products of several columns, every person's vector of them scaled to a public norm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from tacit.engines.requests.operands import Steps, mean_steps, numbers_by_place
from tacit.engines.requests.request import AnswerRow, Arm, Request
from tacit.engines.script import PERSONS, fragment
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement

MOST_COLUMNS = 12
"""The most columns of one request."""

MOST_CAP = 2**30
"""The largest cap: an entry of 94 bits times the cap fits into 127 bits."""


@dataclass(frozen=True)
class ProductTotals(Request[tuple[int, ...]]):
    """The sum over persons of their vectors of products, each vector scaled to an ℓ1 norm of at most ``cap``.

    A person's vector has the number of their rows with a value times ``weights[0]``, for each column the sum of the
    distances from its centre times ``weights[1]``, and for each pair of columns j ≤ k the sum of the products of both
    distances. Per person (``mean``) the number is one and a column's distance is the person's mean, rounded toward
    zero. All columns have a value in the same rows. A vector v of norm above the cap becomes v·cap // ‖v‖, its parts
    rounded toward zero: so one person moves the answer by at most ``cap`` in ℓ1.
    """

    columns: tuple[Steps, ...]
    weights: tuple[int, int]
    cap: int
    mean: bool = False

    def __post_init__(self) -> None:
        if not 1 <= len(self.columns) <= MOST_COLUMNS:
            raise InvalidInput(f"products are of 1 to {MOST_COLUMNS} columns.")
        if not all(1 <= number <= MOST_CAP for number in (*self.weights, self.cap)):
            raise InvalidInput(f"weights and cap must lie between 1 and {MOST_CAP}.")

    @property
    def number(self) -> int:
        """How many entries a vector has."""
        columns = len(self.columns)
        return 1 + columns + columns * (columns + 1) // 2

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """Each person's entries, then their norm, then the sums: one arm for each entry, over a table made once."""
        dialect, names = statement.dialect, [f"e{i}" for i in range(self.number)]
        entries, present = self._entries(statement)
        listed = ", ".join(f"{entry} AS {name}" for entry, name in zip(entries, names, strict=True))
        norm = " + ".join(f"ABS({name})" for name in names)
        vectors = statement.table(
            "products",
            f"SELECT {', '.join(names)}, {norm} AS size FROM (SELECT {listed} FROM ",
            PERSONS,
            f" WHERE {present} > 0) AS products",
        )
        arms = []
        for place, name in enumerate(names):
            shrunk = dialect.quotient(f"(ABS({name}) * {self.cap})", "size")
            scaled = f"CASE WHEN size <= {self.cap} THEN {name} WHEN {name} < 0 THEN -{shrunk} ELSE {shrunk} END"
            arms.append(Arm(fragment(vectors), a=str(place), b=f"COALESCE(SUM({scaled}), 0)"))
        return tuple(arms)

    def _entries(self, statement: Statement) -> tuple[list[str], str]:
        """The entries of a person's vector, and how many rows of theirs have values."""
        rows, dialect = statement.rows, statement.dialect
        columns = [column.column(rows) for column in self.columns]
        present = statement.aggregate(f"COUNT({columns[0]})")
        pairs = list(combinations_with_replacement(range(len(columns)), 2))
        if self.mean:
            number, sums = "1", [statement.aggregate(mean_steps(dialect, column)) for column in columns]
            products = [f"({sums[j]} * {sums[k]})" for j, k in pairs]
        else:
            number, sums = present, [statement.aggregate(dialect.total(column)) for column in columns]
            products = [statement.aggregate(dialect.total(f"({columns[j]} * {columns[k]})")) for j, k in pairs]
        first = f"{dialect.wide(number)} * {self.weights[0]}"
        return [first, *(f"{dialect.wide(one)} * {self.weights[1]}" for one in sums), *products], present

    def read(self, rows: Sequence[AnswerRow]) -> tuple[int, ...]:
        """The sums: of the number, of the distances, of the products."""
        return numbers_by_place(rows, self.number)
