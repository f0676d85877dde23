"""Where accounts are kept: `Book`, what a budget asks of it, and `MemoryBook`, for one process.

PROMISE. Every method is atomic: a charge that is admitted is in the sums of all accounts it concerns before the next is
looked at, and one that is refused changes nothing. A ledger keeps its accounts in a book of its own (tacit.ledger).

Failures: a question that was charged and brings no answer tells something too, so that is counted.

Whether a question fails (too large, too slow, a machine that dies under it) may depend on the data, and differential
privacy says nothing of it. PROMISE. With an allowance of f failures, at most f charges of an account end without an
answer between two renewals, so over n questions what failures tell is one of Σ_{i≤f} C(n, i) patterns: at most
log2 Σ_{i≤f} C(n, i) bits beyond ε (with n = 10,000 and f = 3 less than 38, however the questions were chosen). Charges
to the parts of a split table count with the account that was split: parts have no allowance of their own.

PROOF. A `Tally` counts the charges that failed and those that have no outcome yet: in flight, or lost in a crash. A
charge is admitted, in the transaction that records it, only while both together are fewer than f. So however many
questions run at the same time, in however many processes, f of them at most can fail. A charge leaves the tally when
it is answered, and in no other way but a renewal. One that fails after a renewal counts in the new period, so r
renewals allow (r + 1)·f failures altogether.

Taken up again: a charge that brought no answer may be taken up without another (`tacit.ledger.attempts`). Each attempt
is admitted like a charge and adds one to the count: where the attempt before has no outcome it counts as a failure, for
it was lost, and else it was counted when it failed. Only an answer takes one away. So there are never more attempts
that failed or may fail than the count says, and a charge of several attempts takes as much room as several charges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import RLock
from typing import Any

from tacit.budgets import accounts
from tacit.budgets.accounts import UNLIMITED, Account, Link, Name, Policy
from tacit.budgets.filters import Filter
from tacit.budgets.questions import Message, Question, Receipt, Stored, Unanswered
from tacit.errors import BudgetExceeded, InvalidInput, TacitError
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
    def below(self, name: Name) -> list[Account]:
        """The accounts that hang on one, by name, at one moment."""

    @abstractmethod
    def carry(self, older: Name, newer: Name) -> None:
        """Give what one period leaves to another."""

    @abstractmethod
    def amend(self, name: Name, rule: Filter | None, policy: Policy | None) -> None:
        """Give an analyst another limit, or any account another policy, from now on."""

    @abstractmethod
    def charge(self, name: Name, cost: Guarantee, question: Question | None) -> Receipt:
        """Charge an account, or raise and change nothing; `Unanswered` if its message was charged before."""

    def under(self, guard: Callable[[Any], object]) -> Book:
        """The same accounts, where each charge is made only if a guard in its transaction does not raise."""
        raise InvalidInput("only a budget in a ledger can be guarded; open it with a ledger.")

    @abstractmethod
    def settle(self, receipt: Receipt, answer: Mapping[str, Any] | None, unless: Message | None = None) -> bool:
        """Record what became of a charge: the released answer, or None when the engine failed.

        Where the message ``unless`` was charged, the answer is too late: it is recorded as failed, and False returned.
        """

    def begun(self, name: Name, question: Question, cost: Guarantee) -> bool:
        """Whether a question would take up a charge of this account that has no answer; none is kept in memory."""
        return False

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
                changed = accounts.opened(self.path(parent), word, link, rule, policy or UNLIMITED)
                self._accounts |= {account.name: account for account in changed}
            return (*parent, word)

    def below(self, name: Name) -> list[Account]:
        """The accounts that hang on one."""
        with self._lock:
            return [account for key, account in sorted(self._accounts.items()) if key and key[:-1] == name]

    def carry(self, older: Name, newer: Name) -> None:
        """Give what one period leaves to another."""
        with self._lock:
            changed = accounts.carried(self._accounts[older], self._accounts[newer])
            self._accounts |= {account.name: account for account in changed}

    def amend(self, name: Name, rule: Filter | None, policy: Policy | None) -> None:
        """Change an analyst's limit or an account's policy."""
        with self._lock:
            self._accounts[name] = accounts.amended(self._accounts[name], rule, policy)

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
            self._accounts |= {account.name: account for account in accounts.charge(path, (cost, question))}
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

    def settle(self, receipt: Receipt, answer: Mapping[str, Any] | None, unless: Message | None = None) -> bool:
        """Keep the answer for the same question."""
        with self._lock:
            late = unless is not None and unless.key in self._messages
            answer = None if late else answer
            stored = None if answer is None else Stored(dict(answer), datetime.now(UTC), receipt.cost)
            if stored is not None and receipt.key:
                self._answers[receipt.key] = stored, receipt.account
            if receipt.once:
                self._once[receipt.once] = (receipt.at, stored, stored is None)
            if (payer := accounts.asking(receipt.account)) in self._tallies:
                self._tallies[payer] = self._tallies[payer].settled(receipt.number, answered=stored is not None)
                self._times.pop(receipt.number, None)
            return not late

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


class FailuresUsedUp(BudgetExceeded):
    """Too many questions of this account failed; nothing was spent."""


class Unsettled(TacitError):
    """Questions of this account are still being answered, and if all failed it would be too many; nothing was spent."""

    def __init__(self, at: datetime, lost: FailuresUsedUp) -> None:
        super().__init__(
            "earlier questions of yours are still being answered, and nothing was spent on this one; ask again in a "
            "few seconds, and if that does not help, ask the custodian."
        )
        self.at, self.lost = at, lost
        """When the latest of them was charged, and what to say if that is so long ago that they must be lost."""


@dataclass(frozen=True)
class Tally:
    """The charges of one account without an answer, since the last renewal."""

    failed: int = 0
    open: tuple[int, ...] = ()
    """The numbers of charges that have no outcome yet."""

    def charged(self, number: int) -> Tally:
        """After a charge."""
        return replace(self, open=(*self.open, number))

    def resumed(self, number: int) -> Tally:
        """After a charge is taken up again: one more may fail, and one did, if it has no outcome."""
        lost = number in self.open
        return replace(self if lost else self.charged(number), failed=self.failed + lost)

    def settled(self, number: int, answered: bool) -> Tally:
        """After a charge was answered, or failed."""
        return Tally(self.failed + (not answered), tuple(n for n in self.open if n != number))

    @property
    def count(self) -> int:
        """How many have failed, or may yet."""
        return self.failed + len(self.open)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"failed": self.failed, "open": list(self.open)}

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Tally:
        """Read `to_dict`."""
        return cls(int(facts["failed"]), tuple(map(int, facts["open"])))


def admit(tally: Tally, allowance: int | None, latest: Callable[[], datetime]) -> None:
    """Refuse a charge if it and those without an answer could be more failures than allowed.

    ``latest`` tells when the last of those without an outcome was charged.
    """
    if allowance is None or tally.count < allowance:
        return
    lost = len(tally.open)
    used_up = FailuresUsedUp(
        f"{tally.failed} of your questions here failed{f' and {lost} were lost' if lost else ''}, which is as many as "
        f"the allowance of {allowance}; nothing was spent: ask the custodian to renew it."
    )
    raise used_up if tally.failed >= allowance else Unsettled(latest(), used_up)
