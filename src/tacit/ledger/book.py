"""One dataset of a ledger as a `Book`: the durable side of a budget.

PROMISE. When `charge` returns, the charge is on the disk, its entry is in the history, and the sums of every account it
concerns include it; a session touches data only after that. So whatever dies whenever, the costs of all released
answers are within the budget, and none is forgotten. A charge reads and writes a fixed number of rows: O(1), however
long the history is.

PROOF. Reading the sums, deciding, and writing sums and entry are one work of the store: all or nothing, synced, one
after the other (see `store`). The decision is `accounts.charge` on the sums as they are. Nothing is ever refunded.

Time never runs backwards in a history: an entry is never dated before the one it follows. A clock behind the last entry
by up to a minute is taken to be that entry's time; one further behind is refused.
"""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from tacit.budgets import accounts
from tacit.budgets.accounts import Account, Link, Name
from tacit.budgets.budget import Book, same_terms
from tacit.budgets.failures import Tally, admit
from tacit.budgets.filters import Filter
from tacit.budgets.policies import UNLIMITED, Policy
from tacit.budgets.questions import Question, Receipt, Stored, Unanswered, once
from tacit.errors import InvalidInput, LedgerError
from tacit.guarantees import Guarantee
from tacit.ledger import store as clocks
from tacit.ledger import texts
from tacit.ledger.entries import chained, without_literals
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


def read_path(work: Work, dataset: Dataset, name: Name) -> list[Account]:
    """An account and those above it, up to the root."""
    path: list[Account] = []
    for length in range(len(name), -1, -1):
        account = read_account(work, dataset, name[:length])
        if account is None:
            raise LedgerError(f"the dataset {dataset.name!r} has no account {'/'.join(name)!r}; open it first.")
        path.append(account)
    return path


def tally_key(account: Name) -> str:
    """Under which key the last entry is found that says how many charges of an account have no answer."""
    return f"tally {'/'.join(accounts.asking(account))}"


def after(changed: list[Account]) -> dict[str, str]:
    """What an entry says of the accounts it changed."""
    return {"/".join(account.name): texts.sums_text(account.sums, account.short) for account in changed}


@lru_cache(maxsize=1)
def login() -> str:
    """Who runs this process, where a session does not say who asks."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


class LedgerBook(Book):
    """The accounts of one dataset in a ledger."""

    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name

    def path(self, name: Name) -> list[Account]:
        """The account and those above it, in one snapshot."""
        with self._store.reading() as work:
            dataset = read_dataset(work, self._name)
            if dataset is None:
                raise LedgerError(f"the ledger has no dataset {self._name!r}; create it, or check the name.")
            return read_path(work, dataset, name)

    def open(self, parent: Name, word: str, link: Link, rule: Filter | None, policy: Policy | None) -> Name:
        """Open a child account, or find it again."""
        name = (*parent, word)
        with self._store.writing() as work:
            edit = Edit(self._store, work, self._name)
            known = edit.find(name)
            if known is not None:
                same_terms(known, link, rule, policy)
            else:
                self._record(edit, "opened", accounts.opened(edit.path(parent), word, link, rule, policy or UNLIMITED))
        return name

    def amend(self, name: Name, rule: Filter | None, policy: Policy | None) -> None:
        """Change an analyst's limit or an account's policy."""
        with self._store.writing() as work:
            edit = Edit(self._store, work, self._name)
            self._record(edit, "amended", [accounts.amended(edit.path(name)[0], rule, policy)])

    @staticmethod
    def _record(edit: Edit, what: str, changed: list[Account]) -> None:
        account = changed[0]
        edit.append(
            what,
            {
                "account": "/".join(account.name),
                "after": after(changed),
                "link": account.link.value,
                "policy": texts.policy_text(account.policy),
                "terms": texts.filter_text(account.filter),
                "who": login(),
            },
        )
        edit.save(changed)
        edit.finish()

    def charge(self, name: Name, cost: Guarantee, question: Question | None) -> Receipt:
        """Charge in one transaction, on the disk when this returns."""
        key = question.key(cost) if question else ""
        written = cost.text()
        with self._store.writing() as work:
            edit = Edit(self._store, work, self._name)
            if question is not None and self._repeated(work, question, cost) is not None:
                raise Unanswered(moment(edit.at), failed=False)  # answered a moment ago: it is there when looked for
            path = edit.path(name)
            accounts.check(path, cost, question)
            allowance = accounts.allowance(path)
            tally = self._admitted(work, name, allowance)
            changed = accounts.charge(path, cost)
            body: dict[str, Any] = {"account": "/".join(name), "after": after(changed), "cost": written, "key": key}
            body |= {"measured": texts.vector_text(path[0].filter.measure(cost))}
            if allowance is not None:
                body["tally"] = tally.charged(edit.next).to_dict()
            number = edit.append("charged", body | _asked(question, cost, edit.dataset.literals))
            if allowance is not None:
                edit.remember(tally_key(name), number)
            if question is not None and question.request:
                edit.remember(once(question.request.key), number)
                edit.remember(question.once(cost), number)
            edit.save(changed)
            edit.finish()
        return Receipt(number, cost, moment(edit.at), key, question.once(cost) if question else "", name)

    def _admitted(self, work: Work, name: Name, allowance: int | None) -> Tally:
        """The tally of an account, if it leaves room for one more failure."""
        tally = Tally() if allowance is None else self._tally(work, name) or Tally()
        admit(tally, allowance, lambda: self._latest(work, tally) or clocks.now())
        return tally

    def _tally(self, work: Work, name: Name) -> Tally | None:
        """The charges of an account without an answer; None if they were never counted."""
        found = self._remembered(work, tally_key(name))
        return None if found is None else Tally.of(found[1]["tally"])

    def _latest(self, work: Work, tally: Tally) -> datetime | None:
        """When the last charge without an outcome was made."""
        if not tally.open:
            return None
        statement = "SELECT at FROM tacit_entries WHERE dataset = ? AND number = ?"
        rows = work.read(statement, self._name, max(tally.open))
        return moment(rows[0][0]) if rows else None

    def unanswered(self, name: Name) -> tuple[Tally, datetime | None]:
        """The charges of an account without an answer, in one snapshot."""
        with self._store.reading() as work:
            tally = self._tally(work, name) or Tally()
            return tally, self._latest(work, tally)

    def renew(self, name: Name) -> None:
        """Write down that an account's allowance of failures begins anew."""
        with self._store.writing() as work:
            edit = Edit(self._store, work, self._name)
            edit.path(name)
            body = {"account": "/".join(accounts.asking(name)), "tally": Tally().to_dict(), "who": login()}
            edit.remember(tally_key(name), edit.append("renewed", body))
            edit.finish()

    def settle(self, receipt: Receipt, answer: Mapping[str, Any] | None) -> None:
        """Append the answer, or that there is none."""
        try:
            body: dict[str, Any] = {"charge": receipt.number, "cost": receipt.cost.text()}
            if answer is not None:
                body["answer"] = dict(answer)
            texts.canonical(body)
        except (TypeError, ValueError):
            raise InvalidInput("the answer must consist of plain JSON values; give answer.to_dict().") from None
        with self._store.writing() as work:
            edit = Edit(self._store, work, self._name)
            tally = self._tally(work, receipt.account)
            if tally is not None:
                body["tally"] = tally.settled(receipt.number, answered=answer is not None).to_dict()
            number = edit.append("failed" if answer is None else "answered", body)
            if tally is not None:
                edit.remember(tally_key(receipt.account), number)
            if answer is not None and receipt.key:
                edit.remember(receipt.key, number)
            if receipt.once:
                edit.remember(receipt.once, number)
            edit.finish()

    def recall(self, key: str, by: str | None = None) -> Stored | None:
        """The last answer released under this key."""
        with self._store.reading() as work:
            found = self._remembered(work, key)
            if found is None or (by is not None and by != self._payer(work, found[1]["charge"])):
                return None
        return _stored(*found[:2])

    def _payer(self, work: Work, charge: int) -> str | None:
        """The account of who asked, of a charge."""
        rows = work.read("SELECT body FROM tacit_entries WHERE dataset = ? AND number = ?", self._name, charge)
        return "/".join(accounts.asking(tuple(texts.parsed(rows[0][0])["account"].split("/")))) if rows else None

    def repeated(self, question: Question, cost: Guarantee) -> Stored | None:
        """What became of this question in the same request before."""
        if question.request is None:
            return None
        with self._store.reading() as work:
            return self._repeated(work, question, cost)

    def _repeated(self, work: Work, question: Question, cost: Guarantee) -> Stored | None:
        if question.request is None:
            return None
        if (first := self._remembered(work, once(question.request.key))) is not None:
            question.request.check(first[1]["request"]["asked"])
        found = self._remembered(work, question.once(cost))
        if found is None:
            return None
        at, body, what = found
        if what != "answered":
            raise Unanswered(at, failed=what == "failed")
        return _stored(at, body)

    def _remembered(self, work: Work, key: str) -> tuple[datetime, Any, str] | None:
        """The time, the body and the kind of the entry that a key leads to."""
        rows = work.read(
            "SELECT e.at, e.body, e.what FROM tacit_answers a JOIN tacit_entries e ON e.dataset = a.dataset"
            " AND e.number = a.number WHERE a.dataset = ? AND a.key = ?",
            self._name,
            key,
        )
        return (moment(rows[0][0]), texts.parsed(rows[0][1]), rows[0][2]) if rows else None


def _stored(at: datetime, body: Any) -> Stored:
    return Stored(body["answer"], at, texts.guarantee(body["cost"]))


def _asked(question: Question | None, cost: Guarantee, literals: str) -> dict[str, Any]:
    """What an entry keeps of a question."""
    if question is None:
        return {"who": login()}
    request = {"key": question.request.key, "asked": question.request.asked} if question.request else {}
    if request and question.owner:  # the request finds the question by this key, whoever owns the answer
        request["question"] = question.anyones(cost)
    return ({"request": request} if request else {}) | {
        "columns": sorted(question.columns),
        "statistics": sorted(question.statistics),
        "text": without_literals(question.text) if literals == "omit" else question.text,
        "who": question.analyst or login(),
    }
