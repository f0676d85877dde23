"""One round as one statement: rows, one table of persons computed once, further tables, and the arms of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tacit.engines.dialect import Dialect
from tacit.engines.requests.operands import Ordered, Value
from tacit.engines.requests.request import Arm
from tacit.engines.rows import Rows
from tacit.engines.script import Fragment, Part, Piece, Reading, Script, fragment, join
from tacit.language.expressions import Expression


@dataclass
class Statement:
    """A statement being put together: each request adds the columns and tables that its arms read."""

    dialect: Dialect
    rows: Rows
    keep_person: bool = False
    """Whether the table of persons names them."""
    need_persons: bool = False
    """Whether there must be such a table even if nothing is known of a person."""
    _aggregates: dict[str, str] = field(default_factory=dict)
    _tables: dict[Fragment, Part] = field(default_factory=dict)

    @property
    def all_rows(self) -> Reading:
        """The rows of the relation."""
        return self.rows.all_rows

    @property
    def persons(self) -> Reading:
        """The table of persons, with the columns of `aggregate`."""
        return Reading("persons")

    def aggregate(self, sql: str) -> str:
        """The name of a column of ``persons`` that aggregates each person's rows."""
        return self._aggregates.setdefault(sql, f"a{len(self._aggregates)}")

    def extreme(self, value: Ordered | Value, largest: bool) -> tuple[str, str]:
        """The column of ``persons`` with a person's largest or smallest value, and the order that puts it first."""
        word, order = ("MAX", "DESC") if largest else ("MIN", "ASC")
        return self.aggregate(f"{word}({value.column(self.rows)})"), order

    def table(self, prefix: str, *pieces: Piece, again: bool = False) -> Reading:
        """A further table, computed once however many requests use it; the next round may read it ``again``."""
        asked = fragment(*pieces)
        part = self._tables.setdefault(asked, Part(f"{prefix}{len(self._tables)}", asked, kept=True, again=again))
        return Reading(part.name)

    def pairs(self, by: Sequence[Expression]) -> Reading:
        """A table of every person's different keys k0, k1, …"""
        columns = [f"{self.rows.group(expression)} AS k{i}" for i, expression in enumerate(by)]
        return self.table("pairs", f"SELECT DISTINCT person, {', '.join(columns)} FROM ", self.all_rows, again=True)

    def script(self, arms: Sequence[tuple[int, Arm]]) -> Script:
        """The whole statement, whose rows are those of the arms, each with the number of its request."""
        person = ["person"] if self.keep_person else []
        columns = person + [f"{sql} AS {name}" for sql, name in self._aggregates.items()]
        columns = columns or (["1 AS present"] if self.need_persons else [])
        persons = Part("persons", fragment(f"SELECT {', '.join(columns)} FROM ", self.rows.grouped()), kept=True)
        parts = [*self.rows.parts(), *([persons] if columns else []), *self._tables.values()]
        width = max((len(arm.keys) for _, arm in arms), default=0)
        return Script(tuple(parts), join(" UNION ALL ", (self._arm(number, arm, width) for number, arm in arms)))

    def _arm(self, number: int, arm: Arm, width: int) -> Fragment:
        keys = [*arm.keys, *["NULL"] * (width - len(arm.keys))]
        columns = [
            f"{number} AS request",
            *(
                f"CAST({sql} AS {self.dialect.int128}) AS {name}"
                for sql, name in zip((arm.a, arm.b, arm.c), "abc", strict=True)
            ),
            f"CAST({arm.x} AS {self.dialect.float64}) AS x",
            *(f"CAST({key} AS {self.dialect.text_type}) AS k{i}" for i, key in enumerate(keys)),
        ]
        return fragment(f"SELECT {', '.join(columns)} FROM ", arm.source)
