"""What statements over the same rows have in common, said before the first of them is written.

An engine may then keep it from one statement to the next: the rows with the columns that all of them ask for, and a
table of persons with all that any of them makes of a person's rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tacit.language.expressions import Column

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement


class OfPerson(Protocol):
    """Something that is made of each person's rows."""

    def of_person(self, statement: Statement) -> str:
        """Its SQL over the table of persons, or of persons and groups, to which it adds the columns that it needs."""


@dataclass(frozen=True)
class Beside:
    """What statements have in common; nothing, unless said otherwise."""

    columns: frozenset[Column] = frozenset()
    """The columns that they ask for."""
    totals: tuple[OfPerson, ...] = ()
    """What they make of each person's rows."""
    written: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """What was written of it before, by the relation: text that is the same in every statement."""


NOTHING = Beside()
