"""Rows for a function that only the trusted side may run: chosen columns, each row with the number of its block.

PROMISE. A person's rows are all in one block, which depends on that person and a secret salt alone: nobody else's
coming or going moves them. Inside a block rows come in the order of their own values, so that a block looks the same
whatever the other blocks hold. Nothing but the block's number and the declared columns leaves the engine. A block has
at most a public number of rows, so that no number of rows makes a question fail.

PROOF of the last. Of a block with more rows, those come whose values have the smallest keyed hashes; rows of one hash
are alike. So what comes of a block is a function of its own rows and the salt, and a function of that is another
function of the block. Blocks that are small, which is known from the counts of persons' rows, are not sorted for it.

The block's number comes from the dialect's `digest` and `number`; any engine that runs scripts can answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.engines.requests.request import Standalone
from tacit.engines.script import ALL_ROWS, Fragment, Part, Reading, Script, fragment
from tacit.errors import InvalidInput
from tacit.language import build
from tacit.language.expressions import Expression
from tacit.language.types import FLOAT, Kind

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.engines.rows import Rows

MOST_BLOCKS = 1_000_000
"""The largest number of blocks."""


@dataclass(frozen=True, repr=False)
class Blocks(Standalone["pa.Table"]):
    """The rows with their blocks; ``blocks`` None gives every person a block, numbered in the order of persons.

    Columns have their own values, decimals as doubles. The exception from the limit of 10,000 numbers: there are as
    many rows as the relation has, at most ``rows`` in each block.
    """

    columns: tuple[tuple[str, Expression], ...]
    """Names in the frame, each with its expression."""
    blocks: int | None
    salt: bytes
    """Secret, fresh for each question."""
    rows: int = 50_000_000
    """The most rows of a block."""

    def __post_init__(self) -> None:
        if not self.columns or any(expression.type.kind is Kind.OTHER for _, expression in self.columns):
            raise InvalidInput("columns must be at least one of a type that Tacit reads; name other columns.")
        if len({name for name, _ in self.columns}) < len(self.columns):
            raise InvalidInput("columns must have different names; name each once.")
        if self.blocks is not None and not 1 <= self.blocks <= MOST_BLOCKS:
            raise InvalidInput(f"blocks must lie between 1 and {MOST_BLOCKS:,}.")
        if len(self.salt) < 16 or self.rows < 1:
            raise InvalidInput("salt must be at least 16 secret bytes, and rows at least 1.")

    def __repr__(self) -> str:
        return f"Blocks(columns={self.columns!r}, blocks={self.blocks}, salt=…)"

    def script(self, rows: Rows) -> Script:
        """The statement whose columns are the block and v0, v1, …; one block for each person by the engine's equality.

        Blocks with too many rows are cut to those of the smallest hashes.
        """
        dialect, homes, large = rows.dialect, Reading("homes"), Reading("large")
        values = [rows.plain(expression) for _, expression in self._read()]
        if self.blocks is None:
            block = "DENSE_RANK() OVER (ORDER BY person) - 1"
        else:
            digest = dialect.digest([f"MIN(CAST(person AS {dialect.text_type}))"], self.salt)
            block = f"{dialect.number(digest)} % {self.blocks}"
        shown = ", ".join(f"rows.{value} AS v{i}" for i, value in enumerate(values))
        names = ", ".join(f"v{i}" for i in range(len(values)))
        texts = [f"CAST(v{i} AS {dialect.text_type})" for i in range(len(values))]
        order = f"{dialect.digest(texts, self.salt)}, {names}"

        def of_blocks(condition: str) -> Fragment:
            """The rows of the large blocks, or of the others."""
            source = fragment(ALL_ROWS, " INNER JOIN ", homes, " ON rows.person = homes.person")
            chosen = fragment(f" WHERE block {condition} (SELECT block FROM ", large, ")")
            return fragment(f"SELECT block, {shown} FROM ", source, chosen)

        body = fragment(
            "SELECT * FROM (",
            of_blocks("NOT IN"),
            f" UNION ALL SELECT block, {names} FROM (SELECT block, {names}, "
            f"ROW_NUMBER() OVER (PARTITION BY block ORDER BY {order}) AS place FROM (",
            of_blocks("IN"),
            f") AS theirs) AS placed WHERE place <= {self.rows}) AS found ORDER BY block, {names}",
        )
        people = fragment(
            f"SELECT person, CAST({block} AS {dialect.int64}) AS block, COUNT(*) AS size FROM ",
            ALL_ROWS,
            " GROUP BY person",
        )
        too_large = fragment("SELECT block FROM ", homes, f" GROUP BY block HAVING SUM(size) > {self.rows}")
        kept = (Part("homes", people, kept=True), Part("large", too_large, kept=True))
        return Script((*rows.parts(), *kept), body)

    def schema(self) -> pa.Schema:
        """The answer's columns: the block's number, named "", then the chosen ones."""
        import pyarrow as pa

        return pa.schema([pa.field("", pa.int64()), *fields(self._read())])

    def _read(self) -> list[tuple[str, Expression]]:
        """The columns as they are read, decimals as doubles."""
        return [
            (name, build.widen(expression, FLOAT) if expression.type.kind is Kind.DECIMAL else expression)
            for name, expression in self.columns
        ]


def fields(columns: Iterable[tuple[str, Expression]]) -> list[pa.Field[Any]]:
    """Columns in an answer, decimals as their counts of steps."""
    import pyarrow as pa

    kinds = {
        Kind.INTEGER: pa.int64(),
        Kind.DECIMAL: pa.int64(),
        Kind.FLOAT: pa.float64(),
        Kind.BOOLEAN: pa.bool_(),
        Kind.DATE: pa.date32(),
        Kind.TIMESTAMP: pa.timestamp("us"),
        Kind.TEXT: pa.string(),
    }
    return [pa.field(name, kinds[expression.type.kind]) for name, expression in columns]
