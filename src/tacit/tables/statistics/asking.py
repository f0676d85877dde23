"""The face of a statistic: one method, the same for a table and for its groups.

Each statistic's file has a class with that method and with its `Entry`; `tacit.tables.statistics.catalogue` lists them.
A table answers with an `Answer`, groups answer with `Answers`: that is what the type variable stands for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from tacit.answers import Answer, Answers
from tacit.numbers.exact import Number
from tacit.tables.statistics.base import Operand, Statistic
from tacit.tables.statistics.entry import Entry

A = TypeVar("A", Answer, Answers)
"""What is answered: one answer, or one for each group."""

Amount = Number | None
"""An ε, δ or ρ; None where the cost is named otherwise."""


class Asking(ABC, Generic[A]):
    """Whatever statistics can be asked of."""

    _entries: ClassVar[tuple[Entry, ...]] = ()
    """What the catalogue says about the statistics whose methods stand here."""

    @abstractmethod
    def _operand(self, column: str) -> Operand:
        """A column by its exact name, otherwise a SQL expression."""

    @abstractmethod
    def _one(self, statistic: Statistic, epsilon: Amount, delta: Amount, rho: Amount, fresh: bool) -> A:
        """The answer to a statistic that has one."""

    @abstractmethod
    def _many(self, statistic: Statistic, epsilon: Amount, delta: Amount, rho: Amount, fresh: bool) -> Answers:
        """The answers to a statistic that has several."""
