"""Sums by group of persons' entries, each person's vector scaled to a cap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines.dialect import Dialect
from tacit.engines.requests.operands import numbers_by_place
from tacit.engines.requests.request import AnswerRow, Arm
from tacit.engines.requests.vectors import PersonVectors
from tacit.engines.script import Fragment, Reading, fragment
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement

_FINE = 30
"""ℓ2 norms below 2^32 are rounded up to a multiple of 2^-30."""


@dataclass(frozen=True)
class GroupTotals(PersonVectors):
    """For each key the sum over persons of their entry, each person's vector v scaled to norm at most ``cap``.

    Entries saturate at ±`saturation(len(keys))` and come in steps of 1/``resolution``, rounded toward zero:
    v·resolution where ‖v‖ ≤ cap, else v·cap·resolution // ‖v‖. For l1 and max that is exact. For l2 ‖v‖ is rounded
    up, to a multiple of 2^-30 where Σv² < 2^64 and of 1 above. So no person's scaled vector exceeds cap·resolution.
    """

    cap: int
    resolution: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cap < 1 or self.resolution < 1 or self.cap * self.resolution >= 2**64:
            raise InvalidInput("cap and resolution must be at least 1, and their product below 2^64.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """Each person's entries beside their norm; integers are divided after they are multiplied."""
        quotient, wide = statement.dialect.quotient, statement.dialect.wide
        vectors, norms = self.vectors(statement), self.norms(statement)
        scale = wide(str(self.cap * self.resolution))
        cap, shrunk = self.cap, quotient(f"(ABS(v) * {scale})", "size")
        if self.norm == "l2":
            norms, cap = statement.table("roots", _roots(norms, statement.dialect)), min(self.cap**2, 2**126)
            shrunk = quotient(f"(ABS(v) * {scale} * CASE WHEN fine THEN {2**_FINE} ELSE 1 END)", "root")
        whole = f"v * {wide(str(self.resolution))}"
        entry = f"CASE WHEN size <= {cap} THEN {whole} WHEN v < 0 THEN -{shrunk} ELSE {shrunk} END"
        source = fragment(vectors, " INNER JOIN ", norms, f" ON {vectors.name}.person = {norms.name}.person GROUP BY g")
        return (Arm(source, a="g", b=f"SUM({entry})"),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[int, ...]:
        """The sum of each group."""
        return numbers_by_place(rows, len(self.keys))


def _roots(norms: Reading, dialect: Dialect) -> Fragment:
    """⌈√n⌉ exactly, n being the size, or size·2^60 where that is below 2^124 (``fine``).

    The double's root y0 is right to 2^-50, so one Newton step in integers gives y with √n − 1 < y ≤ √n + 2^-30.
    """
    quotient = dialect.quotient
    sizes = fragment(f"SELECT person, size, size < {2**64} AS fine FROM ", norms)
    scaled = f"SELECT *, CASE WHEN fine THEN size * {2 ** (2 * _FINE)} ELSE size END AS n FROM ("
    guess = dialect.wide(dialect.rounded(f"SQRT(CAST(n AS {dialect.float64}))"))
    guessed = f"SELECT *, GREATEST({guess}, 1) AS y0 FROM ("
    refined = f"SELECT *, {quotient('(y0 + ' + quotient('n', 'y0') + ')', '2')} AS y FROM ("
    return fragment(
        "SELECT person, size, fine, CASE WHEN y * y >= n THEN y ELSE y + 1 END AS root FROM (",
        f"{refined}{guessed}{scaled}",
        sizes,
        ") AS sizes) AS scaled) AS guessed) AS refined",
    )
