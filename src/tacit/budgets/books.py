"""Where accounts are kept: `Book`, what a budget asks of it, and `MemoryBook`, for one process.

PROMISE. Every method is atomic: a charge that is admitted is in the sums of all accounts it concerns before the next is
looked at, and one that is refused changes nothing. A ledger keeps its accounts in a book of its own (tacit.ledger).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import RLock
from typing import Any

from tacit.budgets import accounts
from tacit.budgets.accounts import Account, Link, Name
from tacit.budgets.failures import Tally, admit
from tacit.budgets.filters import Filter
from tacit.budgets.policies import UNLIMITED, Policy
from tacit.budgets.questions import Question, Receipt, Stored, Unanswered
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee


class Book(ABC):
    """Where accounts are kept; every method is atomic."""

    @abstractmethod
    def path(self, name: Name) -> list[Account]:
        """The account and those above it, up to the root, at one moment."""

    @abstractmethod
    def open(self, parent: Name, word: str, link: Link, rule: Filter | None, policy: Policy | None) -> Name:
        """Open a child account, or find it again; what is given must then be as it was."""

    @abstractmethod
    def amend(self, name: Name, rule: Filter | None, policy: Policy | None) -> None:
        """Give an analyst another limit, or any account another policy, from now on."""

    @abstractmethod
    def charge(self, name: Name, cost: Guarantee, question: Question | None) -> Receipt:
        """Charge an account, or raise and change nothing; `Unanswered` if its message was charged before."""

    @abstractmethod
    def settle(self, receipt: Receipt, answer: Mapping[str, Any] | None) -> None:
        """Record what became of a charge: the released answer, or None when the engine failed."""

    @abstractmethod
    def recall(self, key: str, by: str | None = None) -> Stored | None:
        """The last answer released under this key, if the account ``by`` paid for it where that is given."""

    @abstractmethod
    def unanswered(self, name: Name) -> tuple[Tally, datetime | None]:
        """The charges of an account without an answer, and when the latest of those without an outcome was made.

        Those of a part are those of the account that was split, here and in `renew`.
        """

    @abstractmethod
    def renew(self, name: Name) -> None:
        """Reset an account's allowance of failures."""

    @abstractmethod
    def repeated(self, question: Question, cost: Guarantee) -> Stored | None:
        """What became of this question in the same message before; None if it was not charged yet.

        Raises `Unanswered` if it was charged and there is no answer, and InvalidInput if the message said otherwise.
        """


def same_terms(known: Account, link: Link, rule: Filter | None, policy: Policy | None) -> None:
    """Refuse to reopen an account under other terms."""
    differs = known.link is not link or (rule is not None and rule.terms != known.filter.terms)
    if differs or (policy is not None and policy != known.policy):
        raise InvalidInput(
            f"{known.label} is already open with {known.filter.describe()}, or with another policy; open it with the "
            "same terms, choose another name, or amend it."
        )


class MemoryBook(Book):
    """Accounts in memory: for one process, gone when it ends."""

    def __init__(self, rule: Filter, policy: Policy) -> None:
        self._accounts: dict[Name, Account] = {(): Account((), Link.ROOT, rule, rule.nothing, policy)}
        self._answers: dict[str, tuple[Stored, Name]] = {}
        self._messages: dict[str, str] = {}
        self._once: dict[str, tuple[datetime, Stored | None, bool]] = {}
        self._charges = 0
        self._tallies: dict[Name, Tally] = {}
        self._times: dict[int, datetime] = {}
        self._lock = RLock()

    def path(self, name: Name) -> list[Account]:
        """The account and those above it."""
        with self._lock:
            return [self._accounts[name[:n]] for n in range(len(name), -1, -1)]

    def open(self, parent: Name, word: str, link: Link, rule: Filter | None, policy: Policy | None) -> Name:
        """Open a child account, or find it again."""
        with self._lock:
            known = self._accounts.get((*parent, word))
            if known is not None:
                same_terms(known, link, rule, policy)
            else:
                self._write(accounts.opened(self.path(parent), word, link, rule, policy or UNLIMITED))
            return (*parent, word)

    def amend(self, name: Name, rule: Filter | None, policy: Policy | None) -> None:
        """Change an analyst's limit or an account's policy."""
        with self._lock:
            self._write([accounts.amended(self._accounts[name], rule, policy)])

    def charge(self, name: Name, cost: Guarantee, question: Question | None) -> Receipt:
        """Charge under the lock."""
        with self._lock:
            once = question.once(cost) if question else ""
            if question and once and self.repeated(question, cost) is not None:
                raise Unanswered(self._once[once][0], failed=False)
            path, allowance = self.path(name), accounts.allowance(self.path(name))
            accounts.check(path, cost, question)
            (tally, latest), payer = self.unanswered(name), accounts.asking(name)
            admit(tally, allowance, lambda: latest or datetime.now(UTC))
            self._write(accounts.charge(path, cost))
            self._charges += 1
            key = question.key(cost) if question else ""
            receipt = Receipt(self._charges, cost, datetime.now(UTC), key, once, name)
            if allowance is not None:
                self._tallies[payer] = tally.charged(receipt.number)
                self._times[receipt.number] = receipt.at
            if question and question.message:
                self._messages[question.message.key] = question.message.asked
                self._once[once] = (receipt.at, None, False)
            return receipt

    def settle(self, receipt: Receipt, answer: Mapping[str, Any] | None) -> None:
        """Keep the answer for the same question."""
        with self._lock:
            stored = None if answer is None else Stored(dict(answer), datetime.now(UTC), receipt.cost)
            if stored is not None and receipt.key:
                self._answers[receipt.key] = stored, receipt.account
            if receipt.once:
                self._once[receipt.once] = (receipt.at, stored, stored is None)
            if (payer := accounts.asking(receipt.account)) in self._tallies:
                self._tallies[payer] = self._tallies[payer].settled(receipt.number, answered=stored is not None)
                self._times.pop(receipt.number, None)

    def recall(self, key: str, by: str | None = None) -> Stored | None:
        """The last answer under this key."""
        with self._lock:
            stored, account = self._answers.get(key, (None, ()))
        return stored if by is None or by == "/".join(accounts.asking(account)) else None

    def unanswered(self, name: Name) -> tuple[Tally, datetime | None]:
        """The charges of an account without an answer."""
        with self._lock:
            tally = self._tallies.get(accounts.asking(name), Tally())
            return tally, max((self._times[number] for number in tally.open), default=None)

    def renew(self, name: Name) -> None:
        """Reset an account's allowance of failures."""
        with self._lock:
            self._tallies[accounts.asking(name)] = Tally()

    def repeated(self, question: Question, cost: Guarantee) -> Stored | None:
        """What became of this question in the same message before."""
        if question.message is None:
            return None
        with self._lock:
            question.message.check(self._messages.get(question.message.key, question.message.asked))
            at, stored, failed = self._once.get(question.once(cost), (None, None, False))
        if at is not None and stored is None:
            raise Unanswered(at, failed)
        return stored

    def _write(self, changed: list[Account]) -> None:
        self._accounts.update({account.name: account for account in changed})
