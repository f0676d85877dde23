"""How an engine's tables and columns are read, in SQL of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from tacit.language.types import KeyType


@dataclass(frozen=True)
class ColumnSQL(ABC):
    """How one column is read: as a value of its declared type, as a key, as a double with NaN and ±inf, as a group.

    What values and keys promise is in `tacit.language.types`.
    """

    name: str

    @property
    @abstractmethod
    def key_type(self) -> KeyType:
        """How its values are told apart."""

    @property
    def steps(self) -> int:
        """The scale of the steps that an exact key counts; 0 where the key is the number itself."""
        return 0

    @abstractmethod
    def value(self, sql: str) -> str:
        """What is counted, added, ordered and shown."""

    @abstractmethod
    def key(self, sql: str) -> str:
        """What tells two values apart."""

    @abstractmethod
    def double(self, sql: str) -> str:
        """A number as a double; NaN and ±inf stay what they are."""

    @abstractmethod
    def group(self, sql: str) -> str:
        """An exact number as a group shows it, in up to 38 digits."""


@dataclass(frozen=True)
class TableSQL:
    """What stands after FROM, and how each column is read."""

    source: str
    columns: Mapping[str, ColumnSQL]
