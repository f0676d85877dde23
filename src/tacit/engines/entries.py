"""What each person has in each of some given groups: a table of it in a statement, and the norms of each person's part.

Requests about the same groups share both, and so may later statements: all columns are aggregated in one pass over the
rows, and all norms in one pass over that table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tacit.engines.dialect import Dialect
from tacit.engines.rows import Rows
from tacit.engines.script import Part, Reading, fragment

Norm = Literal["l1", "l2", "max"]


@dataclass
class Entries:
    """A table with a row for each person and group g, its columns 64-bit integers that aggregate the rows there."""

    dialect: Dialect
    places: str
    """What keeps the rows of the given groups."""
    number: int
    _columns: dict[str, str] = field(default_factory=dict)
    _norms: dict[Norm, None] = field(default_factory=dict)

    @property
    def table(self) -> Reading:
        """The table itself."""
        return Reading(f"entries{self.number}")

    @property
    def size(self) -> int:
        """How many columns it has."""
        return len(self._columns)

    def column(self, sql: str) -> str:
        """The name of the column with an aggregate."""
        return self._columns.setdefault(sql, f"v{len(self._columns)}")

    def norm(self, column: str, norm: Norm) -> tuple[Reading, str]:
        """The table of persons with the norms of all columns, for l2 its square, and that of one column."""
        self._norms[norm] = None
        return Reading(f"{norm}_norms{self.number}"), f"{column}_size"

    def parts(self, rows: Rows) -> list[Part]:
        """The tables."""
        listed = ", ".join(f"{sql} AS {name}" for sql, name in self._columns.items())
        body = fragment(f"SELECT person, g, {listed} FROM ", rows.every, f"{self.places} GROUP BY person, g")
        return [Part(self.table.place, body, kept=True, again=True), *map(self._sizes, self._norms)]

    def _sizes(self, norm: Norm) -> Part:
        """The table of norms."""
        listed = ", ".join(f"{self._size(norm, name)} AS {name}_size" for name in self._columns.values())
        body = fragment(f"SELECT person, {listed} FROM ", self.table, " GROUP BY person")
        return Part(f"{norm}_norms{self.number}", body, kept=True, again=True)

    def _size(self, norm: Norm, name: str) -> str:
        """The norm of a column."""
        wide = self.dialect.wide
        match norm:
            case "l1":
                return self.dialect.total(f"ABS({name})")
            case "l2":
                return f"SUM({wide(name)} * {wide(name)})"
        return f"MAX({wide(f'ABS({name})')})"
