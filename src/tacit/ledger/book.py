"""One dataset of a ledger as a `Book`: the durable side of a budget.

PROMISE. When `charge` returns, the charge is on the disk, its entry is in the history, and the sums of every account it
concerns include it; a session touches data only after that. So whatever dies whenever, the costs of all released
answers are within the budget, and none is forgotten. A charge reads and writes a fixed number of rows: O(1), however
long the history is.

PROOF. Reading the sums, deciding, and writing sums and entry are one work of the store: all or nothing, synced, one
after the other (see `store`). The decision is `accounts.charge` on the sums as they are. Nothing is ever refunded.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from tacit.budgets import accounts
from tacit.budgets.accounts import UNLIMITED, Account, Link, Name, Policy
from tacit.budgets.books import Book, Tally, admit, same_terms
from tacit.budgets.filters import Filter
from tacit.budgets.questions import Message, Position, Question, Receipt, Stored, Unanswered, once
from tacit.errors import InvalidInput, LedgerError
from tacit.guarantees import Guarantee
from tacit.ledger import store as clocks
from tacit.ledger import texts
from tacit.ledger.attempts import BROUGHT_NOTHING, Found, begun_key, continues, find, find_begun, same_law, superseded
from tacit.ledger.entries import without_literals
from tacit.ledger.rows import Edit, read_account, read_below, read_dataset, read_path
from tacit.ledger.store import Store, Work, moment

SETTLED = "this charge has an outcome already, or another attempt took it up; nothing was released: see the history."
"""The refusal of a second outcome."""


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

    def __init__(self, store: Store, name: str, guard: Callable[[Work], object] | None = None) -> None:
        self._store, self._name, self._guard = store, name, guard

    def under(self, guard: Callable[[Work], object]) -> LedgerBook:
        """The same accounts; each charge is made only if the guard, in the charge's own transaction, does not raise."""
        return LedgerBook(self._store, self._name, guard)

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
        with self._store.reading() as work:  # who finds it again keeps nobody from writing
            dataset = read_dataset(work, self._name)
            known = None if dataset is None else read_account(work, dataset, name)
        if known is not None:
            same_terms(known, link, rule, policy)
            return name
        with self._store.writing() as work:
            edit = Edit(self._store, work, self._name)
            known = edit.find(name)
            if known is not None:
                same_terms(known, link, rule, policy)
            else:
                self._record(edit, "opened", accounts.opened(edit.path(parent), word, link, rule, policy or UNLIMITED))
        return name

    def below(self, name: Name) -> list[Account]:
        """The accounts that hang on one, in one snapshot."""
        with self._store.reading() as work:
            return read_below(work, self._name, name)

    def carry(self, older: Name, newer: Name) -> None:
        """Give what one period leaves to another: both change, or none."""
        with self._store.writing() as work:
            edit = Edit(self._store, work, self._name)
            for account in accounts.carried(edit.path(older)[0], edit.path(newer)[0]):
                self._record(edit, "amended", [account])

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
            if self._guard is not None:
                self._guard(work)  # after the dataset is locked, so that nothing it looks at changes before the charge
            if question is not None and (lost := self._lost(work, name, question, cost)) is not None:
                return self._resume(work, edit, lost, name, cost, question)
            if question is not None and self._repeated(work, question, cost) is not None:
                raise Unanswered(moment(edit.at), failed=False)  # answered a moment ago: it is there when looked for
            once_only = question is not None and continues(question) and not (question.anew or question.lasting)
            if once_only and self._remembered(work, key) is not None:
                raise Unanswered(moment(edit.at), failed=False)  # as above
            path = edit.path(name)
            accounts.check(path, cost, question)
            allowance = accounts.allowance(path)
            tally = self._admitted(work, name, allowance)
            changed = accounts.charge(path, (cost, question))
            body: dict[str, Any] = {"account": "/".join(name), "after": after(changed), "cost": written, "key": key}
            body |= {"measured": texts.vector_text(accounts.measured(path, [(cost, question)]))}
            if question is not None and question.runs is not None:
                body["runs"] = repr(question.runs)
            if allowance is not None:
                body["tally"] = tally.charged(edit.next).to_dict()
            if continues(question):
                body["continued"] = True
                edit.remember(begun_key(name, key, written), edit.next)
            number = edit.append("charged", body | _asked(question, cost, edit.dataset.literals))
            position = Position(self._store.identity, self._name, number, edit.dataset.head)
            if allowance is not None:
                edit.remember(tally_key(name), number)
            if question is not None and question.message:
                edit.remember(once(question.message.key), number)
                edit.remember(question.once(cost), number)
            edit.save(changed)
            edit.finish()
        once_key = question.once(cost) if question else ""
        continued = continues(question)
        return Receipt(number, cost, moment(edit.at), key, once_key, name, position, continued=continued)

    def _lost(self, work: Work, name: Name, question: Question, cost: Guarantee) -> Found | None:
        """The charge that this question takes up again, of the same message or continued; see `attempts`."""
        if question.message is None:
            return find_begun(work, self._name, name, question, cost)
        found = find(work, self._name, question.once(cost))
        if found is None or found[2] != BROUGHT_NOTHING or not question.message.lost(moment(found[0])):
            return None
        if found[1]["account"] != "/".join(name) or not same_law(found[1], question):
            raise Unanswered(moment(found[0]), failed=False)  # it was paid for other rows, or for another law
        return found

    def _resume(self, work: Work, edit: Edit, lost: Found, name: Name, cost: Guarantee, question: Question) -> Receipt:
        """Take up a charge again that brought no answer, without another."""
        at, _, _, number, digest = lost
        path, key, once_key = edit.path(name), question.key(cost), question.once(cost)
        accounts.check(path, cost, question)
        allowance = accounts.allowance(path)
        said: dict[str, Any] = {"charge": number, "cost": cost.text()}
        tally = self._admitted(work, name, allowance)
        if allowance is not None:
            said["tally"] = tally.resumed(number).to_dict()
        entry = edit.append("resumed", said)
        if allowance is not None:
            edit.remember(tally_key(name), entry)
        if once_key:
            edit.remember(once_key, entry)  # of a continued question the key stays: the first answer counts
        edit.finish()
        position = Position(self._store.identity, self._name, number, digest)
        continued = continues(question)
        return Receipt(number, cost, moment(at), key, once_key, name, position, resumed=entry, continued=continued)

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
        """Write down that an account's allowance of failures was reset."""
        with self._store.writing() as work:
            edit = Edit(self._store, work, self._name)
            edit.path(name)
            body = {"account": "/".join(accounts.asking(name)), "tally": Tally().to_dict(), "who": login()}
            edit.remember(tally_key(name), edit.append("renewed", body))
            edit.finish()

    def settle(self, receipt: Receipt, answer: Mapping[str, Any] | None, unless: Message | None = None) -> bool:
        """Append the answer, or that there is none."""
        try:
            texts.canonical(dict(answer) if answer is not None else {})
        except (TypeError, ValueError):
            raise InvalidInput("the answer must consist of plain JSON values; give answer.to_dict().") from None
        with self._store.writing() as work:
            edit = Edit(self._store, work, self._name)
            if superseded(work, self._name, receipt):
                if receipt.continued:
                    return False  # another attempt was first, and its answer is the one that is released
                raise LedgerError(SETTLED)
            late = unless is not None and self._remembered(work, once(unless.key)) is not None
            answer = None if late else answer
            body: dict[str, Any] = {"charge": receipt.number, "cost": receipt.cost.text()}
            if answer is not None:
                body["answer"] = dict(answer)
            tally = self._tally(work, receipt.account)
            if tally is not None:
                body["tally"] = tally.settled(receipt.number, answered=answer is not None).to_dict()
            number = edit.append("failed" if answer is None else "answered", body)
            if tally is not None:
                edit.remember(tally_key(receipt.account), number)
            if answer is not None and receipt.key:
                edit.remember(receipt.key, number)
            if answer is not None and receipt.continued:
                edit.remember(begun_key(receipt.account, receipt.key, receipt.cost.text()), number)
            if receipt.once:
                edit.remember(receipt.once, number)
            edit.finish()
        return not late

    def begun(self, name: Name, question: Question, cost: Guarantee) -> bool:
        """Whether a question would take up a charge of this account that has no answer."""
        if not continues(question) and (question.message is None or question.message.lost_before is None):
            return False
        with self._store.reading() as work:
            return self._lost(work, name, question, cost) is not None

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
        """What became of this question in the same message before."""
        if question.message is None:
            return None
        with self._store.reading() as work:
            return self._repeated(work, question, cost)

    def _repeated(self, work: Work, question: Question, cost: Guarantee) -> Stored | None:
        if question.message is None:
            return None
        if (first := self._remembered(work, once(question.message.key))) is not None:
            question.message.check(first[1]["request"]["asked"])
        found = self._remembered(work, question.once(cost))
        if found is None:
            return None
        at, body, what, _ = found
        if what == "charged" and question.message.lost(at):
            return None
        if what != "answered":
            raise Unanswered(at, failed=what == "failed")
        return _stored(at, body)

    def _remembered(self, work: Work, key: str) -> tuple[datetime, Any, str, int] | None:
        """The time, the body, the kind and the number of the entry that a key leads to."""
        found = find(work, self._name, key)
        return None if found is None else (moment(found[0]), *found[1:4])


def _stored(at: datetime, body: Any) -> Stored:
    return Stored(body["answer"], at, texts.guarantee(body["cost"]))


def _asked(question: Question | None, cost: Guarantee, literals: str) -> dict[str, Any]:
    """What an entry keeps of a question."""
    if question is None:
        return {"who": login()}
    message = {"key": question.message.key, "asked": question.message.asked} if question.message else {}
    if message and question.bare(cost) != question.key(cost):  # the message finds it by this, whoever owns the answer
        message["question"] = question.bare(cost)
    label = {"version": question.version} if question.version else {}
    return (
        ({"request": message} if message else {})
        | label
        | {
            "columns": sorted(question.columns),
            "statistics": sorted(question.statistics),
            "text": without_literals(question.text) if literals == "omit" else question.text,
            "who": question.analyst or login(),
        }
    )
