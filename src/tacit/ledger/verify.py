"""`verify`: is a dataset's history intact, and do its sums follow from it?

What it finds: an entry changed, removed, inserted or out of order (the chain of hashes); a history cut off at its end
(the dataset's row knows how many entries there are and the last hash); sums, terms, policies or accounts changed in
their rows (the history is replayed and compared); a charge whose sums do not follow from the ones before; stored
answers that are not in the history; damage to the file. A whole history rewritten with new hashes is found only against
a hash noted elsewhere before (``noted``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tacit.budgets import accounts
from tacit.budgets.accounts import Account, Link, Name
from tacit.budgets.books import Tally
from tacit.budgets.questions import once
from tacit.errors import LedgerError
from tacit.ledger import texts
from tacit.ledger.attempts import begun_key
from tacit.ledger.book import after, tally_key
from tacit.ledger.entries import GENESIS, chained
from tacit.ledger.ledger import Ledger
from tacit.ledger.rows import account_from, read_dataset
from tacit.ledger.store import Row, Work


@dataclass(frozen=True)
class HistoryCheck:
    """What was found in one dataset's history."""

    dataset: str
    entries: int
    head: str
    """The last hash: note it elsewhere, and a later verification can be held against it."""
    problems: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        if self.sound:
            count = "1 entry" if self.entries == 1 else f"{self.entries} entries"
            return f"{self.dataset}: {count} verified; the last hash is {self.head}"
        return f"{self.dataset}: {len(self.problems)} problems: {'; '.join(self.problems)}"


def verify(ledger: Ledger, name: str, *, noted: str | None = None) -> HistoryCheck:
    """Check the history of a dataset, and that it contains the entry with the hash ``noted``."""
    store = ledger._store
    problems = store.damage()
    try:
        with store.reading() as work:
            replay = _Replay(work, name)
            problems += list(replay.problems())
    except (LedgerError, ValueError, KeyError, TypeError, AttributeError):
        return HistoryCheck(name, 0, "", (*problems, "the dataset's rows cannot be read"))
    if noted is not None and noted not in replay.hashes:
        problems.append("the hash noted before is not in the history, so the history was rewritten")
    return HistoryCheck(name, len(replay.hashes), replay.head, tuple(problems))


class _Replay:
    """A history walked from its first entry, with the accounts it leads to."""

    def __init__(self, work: Work, name: str) -> None:
        self._work, self._name = work, name
        self.head = GENESIS
        self.hashes: set[str] = set()
        self._accounts: dict[Name, Account] = {}
        self._answers: dict[str, int] = {}
        self._keys: dict[int, str] = {}
        self._once: dict[int, str] = {}
        self._begun: dict[int, str] = {}
        self._charged: dict[int, Name] = {}
        self._open: dict[Name, Tally] = {}

    def problems(self) -> Iterator[str]:
        dataset = read_dataset(self._work, self._name)
        if dataset is None:
            yield "there is no such dataset"
            return
        last = ""
        for number, at, what, body, digest in self._rows():
            place = f"entry {number}"
            if number != len(self.hashes) + 1:
                yield f"{place} does not follow entry {len(self.hashes)}"
            if digest != chained(self._name, number, at, what, body, self.head):
                yield f"{place} does not have the hash of its contents and of the entry before it"
            if at < last:
                yield f"{place} is dated before the one it follows"
            yield from (f"{place} {problem}" for problem in self._step(number, what, json.loads(body)))
            self.head, last = digest, at
            self.hashes.add(digest)
        if (dataset.entries, dataset.head) != (len(self.hashes), self.head):
            yield "the history does not end where the dataset's row says, so its end was cut off or added to"
        yield from self._final(dataset.root)

    def _rows(self) -> Iterator[Row]:
        number = 0
        while rows := self._work.read(
            "SELECT number, at, what, body, hash FROM tacit_entries WHERE dataset = ? AND number > ?"
            " ORDER BY number LIMIT 1000",
            self._name,
            number,
        ):
            yield from rows
            number = rows[-1][0]

    def _step(self, number: int, what: str, body: dict[str, Any]) -> Iterator[str]:
        """Apply one entry to the accounts."""
        if what == "registered":
            rule = texts.filter_from(body["terms"])
            self._accounts[()] = Account((), Link.ROOT, rule, rule.nothing, texts.policy_from(body["policy"]))
        elif what in ("opened", "amended"):
            yield from self._changed(what, body)
        elif what == "charged":
            self._keys[number] = body["key"]
            if body.get("continued"):
                self._begun[number] = begun_key(body["account"], body["key"], body["cost"])
                self._answers[self._begun[number]] = number
            if came := body.get("request"):
                self._once[number] = once(came["key"], came.get("question", body["key"]))
                self._answers |= {once(came["key"]): number, self._once[number]: number}
            path = self._path(_name(body["account"]))
            changed = accounts.absorb(path, texts.vector(body["measured"]))
            yield from self._keep(changed, body["after"])
            payer = self._charged[number] = accounts.asking(path[0].name)
            if accounts.allowance(path) is not None:
                self._open[payer] = self._open.get(payer, Tally()).charged(number)
            yield from self._counted(payer, number, body)
        elif what == "renewed":
            payer = _name(body["account"])
            self._open[payer] = Tally()
            yield from self._counted(payer, number, body)
        elif what == "resumed":
            yield from self._resumed(number, body)
        elif what in ("answered", "failed"):
            account = self._charged.get(body["charge"])
            if account is not None and account in self._open:
                tally = self._open[account].settled(body["charge"], answered=what == "answered")
                self._open[account] = tally
                yield from self._counted(account, number, body)
            if (key := self._keys.get(body["charge"])) and what == "answered":
                self._answers[key] = number
            if (key := self._begun.get(body["charge"])) and what == "answered":
                if self._answers[key] != body["charge"]:
                    yield "answers a charge that has an answer already"
                self._answers[key] = number
            if key := self._once.get(body["charge"]):
                self._answers[key] = number
        else:
            yield "is of an unknown kind"

    def _resumed(self, number: int, body: dict[str, Any]) -> Iterator[str]:
        """A charge is taken up again that brought no answer: of a message once, of a continued question any number."""
        charge = body["charge"]
        request, begun = self._once.get(charge, ""), self._begun.get(charge, "")
        if self._answers.get(request or begun) != charge:
            yield "takes up a charge that has an outcome, or was taken up before"
        if request:
            self._answers[request] = number
        payer = self._charged.get(charge, ())
        if accounts.allowance(self._path(payer)) is not None:  # as it is now, not as it was for the charge
            self._open[payer] = self._open.get(payer, Tally()).resumed(charge)
            yield from self._counted(payer, number, body)

    def _counted(self, account: Name, number: int, body: dict[str, Any]) -> Iterator[str]:
        """Hold what an entry says of failures against the history."""
        if body.get("tally") is None:
            return
        self._answers[tally_key(account)] = number
        if account not in self._open or Tally.of(body["tally"]) != self._open[account]:
            yield "counts other failures than happened"

    def _changed(self, what: str, body: dict[str, Any]) -> Iterator[str]:
        name, link = _name(body["account"]), Link(body["link"])
        rule, policy = texts.filter_from(body["terms"]), texts.policy_from(body["policy"])
        if what == "opened":
            yield from self._keep(accounts.opened(self._path(name[:-1]), name[-1], link, rule, policy), body["after"])
        else:
            yield from self._keep([replace(self._accounts[name], filter=rule, policy=policy)], body["after"])

    def _keep(self, changed: list[Account], said: dict[str, str]) -> Iterator[str]:
        if after(changed) != said:
            yield "leads to other sums than it says"
        self._accounts.update({account.name: account for account in changed})

    def _path(self, name: Name) -> list[Account]:
        return [self._accounts[name[:n]] for n in range(len(name), -1, -1)]

    def _final(self, root: Account) -> Iterator[str]:
        rows = self._work.read(
            "SELECT name, link, terms, sums, policy FROM tacit_accounts WHERE dataset = ?", self._name
        )
        stored = {account.name: account for account in map(account_from, rows)} | {(): root}
        for name in sorted(stored.keys() | self._accounts.keys()):
            if stored.get(name) != self._accounts.get(name):
                yield f"{'/'.join(name) or 'the budget'} is not what its history leads to"
        answers = self._work.read("SELECT key, number FROM tacit_answers WHERE dataset = ?", self._name)
        if {str(key): int(number) for key, number in answers} != self._answers:
            yield "the stored answers are not those of the history"


def _name(text: str) -> Name:
    return tuple(text.split("/")) if text else ()
