"""What the tools of an assistant are done with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Desk(ABC):
    """What the tools are done with: a gateway, in somebody's name; raises errors of Tacit."""

    @abstractmethod
    async def datasets(self) -> dict[str, Any]:
        """The names of the datasets, with what is left of each budget."""

    @abstractmethod
    async def schema(self, name: str) -> dict[str, Any]:
        """The public facts of a dataset."""

    @abstractmethod
    async def preview(self, name: str, question: dict[str, Any], persons: int | None) -> dict[str, Any]:
        """What a question would cost, and the error to expect with so many persons."""

    @abstractmethod
    async def ask(self, name: str, question: dict[str, Any], key: str) -> dict[str, Any]:
        """The answer to a question, charged once for each key."""
