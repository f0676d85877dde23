"""Connections of one process, each used by one thread at a time.

They are never carried across a fork: a child opens its own, and keeps its parent's without closing them, because that
would end the parent's session or disturb its locks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar


class Closable(Protocol):
    """A connection of whatever kind."""

    def close(self) -> None:
        """Close it."""


C = TypeVar("C", bound=Closable)

_inherited: list[Any] = []
"""Connections opened before a fork."""


class Connections(Generic[C]):
    """Open connections that nobody uses at the moment."""

    def __init__(self, connect: Callable[[], C]) -> None:
        self._connect, self._free = connect, list[C]()
        self._owner, self._lock = os.getpid(), Lock()

    def take(self) -> C:
        """A connection, opened where none is free."""
        if self._owner != os.getpid():  # after a fork the old lock may be held by a thread that is not here
            _inherited.extend(self._free)
            self._free, self._lock, self._owner = [], Lock(), os.getpid()
        with self._lock:
            if self._free:
                return self._free.pop()
        return self._connect()

    def give(self, connection: C) -> None:
        """Put a connection back."""
        with self._lock:
            self._free.append(connection)

    def close(self) -> None:
        """Close this process's connections."""
        with self._lock:
            if self._owner == os.getpid():
                for connection in self._free:
                    connection.close()
            self._free = []
