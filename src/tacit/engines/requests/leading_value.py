"""Which value of a column most persons have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.engines.requests.operands import decoded, encoded
from tacit.engines.requests.request import AnswerRow, Arm, Request, Withheld
from tacit.engines.script import fragment
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression, Scalar
from tacit.language.types import Kind

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement


@dataclass(frozen=True, repr=False)
class Lead(Withheld):
    """The value that most persons have, and by how many persons it is ahead of the next; None and 0 in a tie."""

    value: Scalar
    persons: int


@dataclass(frozen=True)
class LeadingValue(Request[Lead]):
    """Which value of a column most persons have, each person counted once for every value they have."""

    value: Expression

    def __post_init__(self) -> None:
        if self.value.type.kind is Kind.OTHER:
            raise InvalidInput("mode needs a column of a type that Tacit reads; name another column.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """The two values with the most persons."""
        source = fragment(
            "(SELECT k0, COUNT(*) AS persons FROM ",
            statement.pairs((self.value,)),
            " WHERE k0 IS NOT NULL GROUP BY k0 ORDER BY persons DESC LIMIT 2) AS most",
        )
        return (Arm(source, a="persons", keys=[encoded("k0", self.value.type, statement.dialect)]),)

    def read(self, rows: Sequence[AnswerRow]) -> Lead:
        """The first, if it is ahead of the second."""
        most = sorted(((int(row[1]), row[5]) for row in rows), key=lambda item: -item[0])
        ahead = most[0][0] - (most[1][0] if len(most) > 1 else 0) if most else 0
        return Lead(decoded(most[0][1], self.value.type), ahead) if ahead else Lead(None, 0)
