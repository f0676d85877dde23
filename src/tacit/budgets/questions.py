"""What a budget is told about a question, and what it gives back.

None of it may depend on private data: a question is what the analyst wrote, an answer is what was released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any

from tacit.guarantees import Guarantee


@dataclass(frozen=True)
class Question:
    """What is asked, for the record, for policies and for finding the same question again."""

    plan: str
    """The canonical text of the plan: equal plans, equal questions."""
    text: str = ""
    """What the analyst wrote, or the plan in words."""
    statistics: tuple[str, ...] = ()
    """The statistics it computes: "sum", "count", …"""
    columns: tuple[str, ...] = ()
    """Every column it reads, as "table.column"."""
    analyst: str = ""
    """Who asks."""

    def key(self, cost: Guarantee) -> str:
        """What the same question at the same cost has in common."""
        return sha256(f"{self.plan}\x00{_written(cost)}".encode(errors="surrogatepass")).hexdigest()


@lru_cache(maxsize=1024)
def _written(cost: Guarantee) -> str:
    return repr(cost)


@dataclass(frozen=True)
class Receipt:
    """Proof that a question was charged."""

    number: int
    """The charge's place in the history."""
    cost: Guarantee
    at: datetime
    key: str
    """The question's key, empty when it cannot be asked again for free."""


@dataclass(frozen=True)
class Stored:
    """An answer released before, with its date."""

    answer: Mapping[str, Any]
    at: datetime
    cost: Guarantee
