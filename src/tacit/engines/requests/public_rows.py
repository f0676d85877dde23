"""The rows of public tables, as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines.requests.blocks import fields
from tacit.engines.requests.derived import NOBODY
from tacit.engines.requests.request import Standalone
from tacit.engines.script import ALL_ROWS, Script, fragment
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.engines.rows import Rows


@dataclass(frozen=True)
class PublicRows(Standalone["pa.Table"]):
    """The rows of a relation of public tables, at most so many; decimals as their counts of steps."""

    columns: tuple[tuple[str, Expression], ...]
    most: int

    def script(self, rows: Rows) -> Script:
        """All rows, for nobody is in them."""
        if rows.relation.person != NOBODY:
            raise InvalidInput("rows that concern persons are never shown.")
        values = [rows.plain(expression) for _, expression in self.columns]
        shown = ", ".join(f"{value} AS v{i}" for i, value in enumerate(values))
        return Script(tuple(rows.parts()), fragment(f"SELECT {shown} FROM ", ALL_ROWS, f" LIMIT {self.most}"))

    def schema(self) -> pa.Schema:
        """The columns by their names."""
        import pyarrow as pa

        return pa.schema(fields(self.columns))
