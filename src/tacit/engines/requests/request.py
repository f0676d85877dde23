"""A request: what an engine is asked, how that is written into a statement, and how its answer is read.

A `Request` shares one statement with the others of its round. It adds the columns and parts that it needs, and its
answer is one or more `Arm`s of a UNION ALL. All arms have the same shape, (request, a, b, c, x, k0, k1, …): three
128-bit integers, a double and texts. A `Standalone` request has a statement of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tacit.engines.script import Fragment, Script

if TYPE_CHECKING:
    from tacit.engines.rows import Rows
    from tacit.engines.snapshots import Statement

ResultT = TypeVar("ResultT", covariant=True)

LARGEST_ANSWER = 10_000
"""The most numbers a round may bring back."""

AnswerRow = tuple[Any, ...]
"""The number of the request, then a, b, c, x, k0, k1, …"""


@dataclass(frozen=True)
class Arm:
    """One SELECT of an answer: what stands after FROM, and the SQL of the columns that are used."""

    source: Fragment
    a: str = "NULL"
    b: str = "NULL"
    c: str = "NULL"
    x: str = "NULL"
    keys: Sequence[str] = ()


class Withheld:
    """A result that is data and therefore shows nothing of itself."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, withheld>"


class Request(ABC, Generic[ResultT]):
    """A question about the persons of a relation, answered by a result of its own kind."""

    @abstractmethod
    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """The arms of the answer; what they read is added to the statement."""

    @abstractmethod
    def read(self, rows: Sequence[AnswerRow]) -> ResultT:
        """The result, from the rows of the request's own arms, which come in no particular order."""


class Standalone(ABC, Generic[ResultT]):
    """A question with a statement of its own."""

    @abstractmethod
    def script(self, rows: Rows) -> Script:
        """The statement over the rows of a relation."""
