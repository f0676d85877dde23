"""A dataset's rows in a ledger: how they are read, and an edit that changes them in one work.

Time never runs backwards in a history: an entry is never dated before the one it follows. A clock behind the last entry
by up to a minute is taken to be that entry's time; one further behind is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from tacit.budgets.accounts import Account, Link, Name
from tacit.errors import LedgerError
from tacit.ledger import store as clocks
from tacit.ledger import texts
from tacit.ledger.entries import chained
from tacit.ledger.store import Store, Work, moment, stamp

TOLERANCE = timedelta(minutes=1)
"""How far a clock may be behind the last entry."""


@dataclass(frozen=True)
class Dataset:
    """A dataset's row: its terms, its sums and the end of its history."""

    name: str
    kinds: tuple[str, ...]
    root: Account
    literals: str
    entries: int
    head: str
    at: str


_COLUMNS = "name, kinds, terms, sums, policy, literals, entries, head, at"


def dataset_from(row: tuple[Any, ...]) -> Dataset:
    """Read a dataset's row."""
    name, kinds, terms, written, policy, literals, entries, head, at = row
    sums, short = texts.sums(written)
    root = Account((), Link.ROOT, texts.filter_from(terms), sums, texts.policy_from(policy), short)
    return Dataset(name, tuple(texts.parsed(kinds)), root, literals, int(entries), head, at)


def read_dataset(work: Work, name: str) -> Dataset | None:
    """A dataset's row as it is now."""
    rows = work.read(f"SELECT {_COLUMNS} FROM tacit_datasets WHERE name = ?", name)
    return dataset_from(rows[0]) if rows else None


def account_from(row: tuple[Any, ...]) -> Account:
    """Read an account's row: name, link, terms, sums, policy."""
    name, link, terms, written, policy = row
    sums, short = texts.sums(written)
    rule = texts.filter_from(terms)
    return Account(tuple(name.split("/")), Link(link), rule, sums, texts.policy_from(policy), short)


class Edit:
    """A change to one dataset: its row locked, entries and accounts gathered, everything written at the end."""

    def __init__(self, store: Store, work: Work, name: str) -> None:
        self._work = work
        rows = work.read(f"SELECT {_COLUMNS}, {store.clock} FROM tacit_datasets WHERE name = ?{store.for_update}", name)
        if not rows:
            raise LedgerError(f"the ledger has no dataset {name!r}; nothing was spent: create it, or check the name.")
        self.dataset = dataset_from(rows[0][:-1])
        self.at = self._time(rows[0][-1])

    def _time(self, server: datetime | None) -> str:
        now, last = stamp(server or clocks.now()), self.dataset.at
        if now >= last:
            return now
        if moment(last) - moment(now) > TOLERANCE:
            raise LedgerError(
                f"the clock says {now} and the last entry of the ledger is from {last}; nothing was spent: set the "
                "clock and ask again."
            )
        return last

    @property
    def next(self) -> int:
        """The number of the entry that is appended next."""
        return self.dataset.entries + 1

    def path(self, name: Name) -> list[Account]:
        """The account and those above it."""
        return read_path(self._work, self.dataset, name)

    def find(self, name: Name) -> Account | None:
        """One account, or None."""
        return read_account(self._work, self.dataset, name)

    def append(self, what: str, body: Mapping[str, Any]) -> int:
        """Add an entry to the history."""
        old, text = self.dataset, texts.canonical(body)
        number = self.next
        head = chained(old.name, number, self.at, what, text, old.head)
        self._work.write(
            "INSERT INTO tacit_entries VALUES (?, ?, ?, ?, ?, ?)", old.name, number, self.at, what, text, head
        )
        self.dataset = replace(old, entries=number, head=head, at=self.at)
        return number

    def save(self, changed: list[Account]) -> None:
        """Write changed accounts; the root's go with the dataset's row."""
        for account in changed:
            if account.link is Link.ROOT:
                self.dataset = replace(self.dataset, root=account)
            else:
                self._work.write(
                    "INSERT INTO tacit_accounts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (dataset, name)"
                    " DO UPDATE SET terms = excluded.terms, sums = excluded.sums, policy = excluded.policy",
                    self.dataset.name,
                    "/".join(account.name),
                    account.link.value,
                    texts.filter_text(account.filter),
                    texts.sums_text(account.sums, account.short),
                    texts.policy_text(account.policy),
                )

    def remember(self, key: str, number: int) -> None:
        """Let a question's key lead to an answer."""
        self._work.write(
            "INSERT INTO tacit_answers VALUES (?, ?, ?)"
            " ON CONFLICT (dataset, key) DO UPDATE SET number = excluded.number",
            self.dataset.name,
            key,
            number,
        )

    def finish(self) -> None:
        """Write the dataset's row."""
        new = self.dataset
        self._work.write(
            "UPDATE tacit_datasets SET sums = ?, policy = ?, entries = ?, head = ?, at = ? WHERE name = ?",
            texts.sums_text(new.root.sums, new.root.short),
            texts.policy_text(new.root.policy),
            new.entries,
            new.head,
            new.at,
            new.name,
        )


def read_account(work: Work, dataset: Dataset, name: Name) -> Account | None:
    """One account of a dataset, or None."""
    if not name:
        return dataset.root
    rows = work.read(
        "SELECT name, link, terms, sums, policy FROM tacit_accounts WHERE dataset = ? AND name = ?",
        dataset.name,
        "/".join(name),
    )
    return account_from(rows[0]) if rows else None


def read_below(work: Work, dataset: str, name: Name) -> list[Account]:
    """The accounts that hang on one, by name."""
    rows = work.read(
        "SELECT name, link, terms, sums, policy FROM tacit_accounts WHERE dataset = ? ORDER BY name", dataset
    )
    return [account for account in map(account_from, rows) if account.name[:-1] == name]


def read_path(work: Work, dataset: Dataset, name: Name) -> list[Account]:
    """An account and those above it, up to the root."""
    path: list[Account] = []
    for length in range(len(name), -1, -1):
        account = read_account(work, dataset, name[:length])
        if account is None:
            raise LedgerError(f"the dataset {dataset.name!r} has no account {'/'.join(name)!r}; open it first.")
        path.append(account)
    return path
