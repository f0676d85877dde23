"""How often values of a key are found in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines.requests.request import AnswerRow, Standalone, Withheld
from tacit.engines.script import Part, Reading, Script, fragment
from tacit.language.expressions import Column

if TYPE_CHECKING:
    from tacit.engines import Engine
    from tacit.engines.rows import Rows


@dataclass(frozen=True, repr=False)
class Repeats(Withheld):
    """How often the most frequent value of a key is found in a table, and how many values are found repeatedly."""

    largest: int
    repeated: int


@dataclass(frozen=True)
class KeyRepeats(Standalone[Repeats]):
    """How often values of some columns are found in a relation's first table; NULL is no value."""

    columns: tuple[Column, ...]

    def script(self, rows: Rows) -> Script:
        """The rows of each value, then the largest number of them and how many are above 1."""
        keys = [f"{rows.key(column)} AS k{i}" for i, column in enumerate(self.columns)]
        names = [f"k{i}" for i in range(len(self.columns))]
        present = " AND ".join(f"{name} IS NOT NULL" for name in names)
        int64 = rows.dialect.int64
        counted = fragment(
            f"SELECT CAST(COALESCE(MAX(n), 0) AS {int64}) AS w, "
            f"CAST(COALESCE(SUM(CASE WHEN n > 1 THEN 1 ELSE 0 END), 0) AS {int64}) AS v "
            f"FROM (SELECT COUNT(*) AS n FROM (SELECT {', '.join(keys)} FROM ",
            rows.reading(rows.relation.alias),
            f") AS keyed WHERE {present} GROUP BY {', '.join(names)}) AS grouped",
        )
        return Script((Part("sizes", counted),), fragment("SELECT * FROM ", Reading("sizes")))

    def read(self, rows: Sequence[AnswerRow]) -> Repeats:
        """The two numbers."""
        ((largest, repeated),) = rows
        return Repeats(int(largest), int(repeated))


def duplicate_keys(engine: Engine, table: str, columns: Sequence[str]) -> int:
    """How many values of a key more than one row of a table has: data, for whoever holds the table and nobody else."""
    return key_repeats(engine, table, columns).repeated


def key_repeats(engine: Engine, table: str, columns: Sequence[str]) -> Repeats:
    """How often values of a key are found; a public fact of a public table, otherwise data."""
    schema = engine.schema(table)
    with engine.snapshot() as snapshot:
        return snapshot.repeats(table, tuple(Column(schema[name], table, name) for name in columns))
