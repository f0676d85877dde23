"""Where a ledger's rows live: the tables, and what a transaction must do.

PROMISE. A `Work` that leaves its block without an error is committed and synced to disk; one that raises changed
nothing, unless the error says that it may have. Writing works run one after the other, in the whole ledger (SQLite) or
for each dataset (PostgreSQL, which locks the dataset's row): what a work reads is still so when its writes arrive.

The same statements serve both stores; ``?`` marks a parameter. Times are text in UTC with microseconds, so they sort.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from tacit.errors import LedgerError

VERSION = "1"
"""The version of the tables below; a ledger of another version is refused."""

TABLES = (
    "CREATE TABLE tacit_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE tacit_datasets (name TEXT PRIMARY KEY, kinds TEXT NOT NULL, terms TEXT NOT NULL, sums TEXT NOT NULL,"
    " policy TEXT NOT NULL, literals TEXT NOT NULL, entries BIGINT NOT NULL, head TEXT NOT NULL, at TEXT NOT NULL)",
    "CREATE TABLE tacit_accounts (dataset TEXT NOT NULL, name TEXT NOT NULL, link TEXT NOT NULL, terms TEXT NOT NULL,"
    " sums TEXT NOT NULL, policy TEXT NOT NULL, PRIMARY KEY (dataset, name))",
    "CREATE TABLE tacit_entries (dataset TEXT NOT NULL, number BIGINT NOT NULL, at TEXT NOT NULL, what TEXT NOT NULL,"
    " body TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (dataset, number))",
    "CREATE TABLE tacit_answers (dataset TEXT NOT NULL, key TEXT NOT NULL, number BIGINT NOT NULL,"
    " PRIMARY KEY (dataset, key))",
)

IDENTITY = "identity"
"""The name of a ledger's identity among its facts (tacit_meta); ledgers of before have none until they are opened."""

Row = tuple[Any, ...]


class Work(Protocol):
    """One transaction: reads happen at once, writes are sent together when the block ends."""

    def read(self, statement: str, *values: Any) -> list[Row]:
        """The rows of a query."""
        ...

    def write(self, statement: str, *values: Any) -> None:
        """Put a statement among the writes."""
        ...


class Gathering:
    """The writes of a work, gathered until its block ends."""

    def __init__(self) -> None:
        self.writes: list[tuple[str, tuple[Any, ...]]] = []

    def write(self, statement: str, *values: Any) -> None:
        """Put a statement among the writes."""
        self.writes.append((statement, values))


class Store(ABC):
    """A place that keeps a ledger's tables."""

    for_update = ""
    """What a query adds to lock the row it reads."""
    clock = "NULL"
    """The store's own clock in a query, or NULL where this machine's is used."""
    registering = "SELECT 1"
    """A query that keeps other registrations away until the work ends."""
    where = "ledger"
    """The place in words, without secrets."""

    identity = ""
    """What tells this ledger from every other: 32 hexadecimal digits, drawn when it was made."""

    def __init__(self, read_only: bool) -> None:
        self.read_only = read_only

    @abstractmethod
    def reading(self) -> AbstractContextManager[Work]:
        """A work that reads one snapshot."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Work]:
        """A work that writes."""

    def writing(self) -> AbstractContextManager[Work]:
        """A work that writes; refused in a read-only view."""
        if self.read_only:
            raise LedgerError(
                "this view of the ledger is read-only, so nothing was changed; open it without read_only."
            )
        return self._writing()

    @abstractmethod
    def damage(self) -> list[str]:
        """What the store itself finds wrong with its files."""

    def copy_to(self, file: Path) -> None:
        """Write a whole copy of one moment into a new file, while others go on."""
        raise LedgerError(f"{self.where} is copied by its own tools, such as pg_dump; nothing was copied.")

    @abstractmethod
    def close(self) -> None:
        """Close files and connections."""

    def check_version(self, rows: Sequence[Row]) -> None:
        """Refuse a ledger of another version."""
        facts = {str(name): str(value) for name, value in rows}
        found = facts.get("version")
        if found != VERSION:
            raise LedgerError(
                f"{self.where} is a ledger of version {found or 'unknown'} and this Tacit reads version {VERSION}; "
                "nothing was changed: use the Tacit that wrote it, or another ledger."
            )
        if self.identity not in ("", facts.get(IDENTITY, "")):
            raise LedgerError(
                f"{self.where} is another ledger than a moment ago; nothing was spent: find out who replaced it."
            )
        self.identity = facts.get(IDENTITY, "")


def new_identity() -> str:
    """An identity that no other ledger has."""
    return secrets.token_hex(16)


def now() -> datetime:
    """This machine's clock."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """A time as the ledger writes it."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def moment(text: str) -> datetime:
    """Read `stamp`."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise LedgerError("the ledger holds a time that cannot be read; run `tacit ledger verify`.") from None
