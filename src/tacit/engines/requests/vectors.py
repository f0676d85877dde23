"""Vectors of a person's entries over given groups, which `GroupNorms` and `GroupTotals` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tacit.engines.requests import check_by
from tacit.engines.requests.operands import Entry
from tacit.engines.requests.request import LARGEST_ANSWER, Request
from tacit.engines.script import Reading, fragment
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression
from tacit.language.expressions import Literal as Constant

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement

Norm = Literal["l1", "l2", "max"]
_NORMS: dict[Norm, str] = {"l1": "SUM(ABS(v))", "l2": "SUM(v * v)", "max": "MAX(ABS(v))"}


def saturation(groups: int) -> int:
    """The largest entry of a person in one group, so that the squares of all of them fit into 127 bits."""
    return 1 << min(61, (126 - groups.bit_length()) // 2)


@dataclass(frozen=True)
class PersonVectors(Request[tuple[int, ...]]):
    """A request about each person's vector of entries, one for each key; they saturate at ±`saturation(len(keys))`."""

    entry: Entry
    by: tuple[Expression, ...]
    keys: tuple[tuple[Constant, ...], ...]
    norm: Norm

    def __post_init__(self) -> None:
        check_by(self.by)
        if not 1 <= len(self.keys) <= LARGEST_ANSWER or len(set(self.keys)) < len(self.keys):
            raise InvalidInput(f"keys must list 1 to {LARGEST_ANSWER} different groups.")
        kinds = tuple(expression.type for expression in self.by)
        if any(tuple(part.type for part in key) != kinds for key in self.keys):
            raise InvalidInput("keys must have the types of the columns grouped by, one value for each column.")

    def vectors(self, statement: Statement) -> Reading:
        """A table of (person, group g, entry v), the entry saturated."""
        dialect, limit = statement.dialect, saturation(len(self.keys))
        entry = dialect.wide(self.entry.entry(statement.rows))
        columns = [statement.rows.group(expression) for expression in self.by]
        names = [f"k{i}" for i in range(len(columns))]
        kinds = [expression.type for expression in self.by]
        asked = ", ".join(f"({g}, {', '.join(map(dialect.group_key, key))})" for g, key in enumerate(self.keys))
        entries = fragment(
            f"SELECT person, g, {entry} AS v FROM ",
            statement.all_rows,
            f" INNER JOIN (VALUES {asked}) AS asked(g, {', '.join(names)}) "
            f"ON {' AND '.join(map(dialect.same, columns, names, kinds))} GROUP BY person, g",
        )
        saturated = f"CASE WHEN v > {limit} THEN {limit} WHEN v < -{limit} THEN -{limit} ELSE v END"
        return statement.table(
            "vectors", f"SELECT person, g, {saturated} AS v FROM (", entries, ") AS entries", again=True
        )

    def norms(self, statement: Statement) -> Reading:
        """A table of (person, size), the size being the norm, or for ℓ2 its square."""
        return statement.table(
            "norms",
            f"SELECT person, {_NORMS[self.norm]} AS size FROM ",
            self.vectors(statement),
            " GROUP BY person",
            again=True,
        )
