"""`Budget`: what a session charges, in memory or in a ledger.

PROMISE. All answers whose charges were admitted satisfy `budget.total` together; a refused charge spends nothing. The
proof is in `filters` (how costs add up) and `accounts` (shares, analysts, parallel parts).

A budget is a handle on one account of a `Book`. The book keeps the sums: `MemoryBook` under a lock, for one process;
a ledger (tacit.ledger) in one transaction, for many processes and for good. Charge first, then look at the data:

    receipt = budget.charge(Pure("0.5"), question)       # raises BudgetExceeded and spends nothing, or records
    …                                                    # run the engine, draw the noise
    budget.settle(receipt, answer.to_dict())             # the answer, for the same question asked again
    budget.recall(question, Pure("0.5"))                 # Stored(answer, at, cost), or None
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from html import escape
from typing import Any

from tacit.budgets import accounts
from tacit.budgets.accounts import UNLIMITED, Account, Link, Name, Policy
from tacit.budgets.books import Book, MemoryBook, admit
from tacit.budgets.filters import Filter, filter_for
from tacit.budgets.questions import Message, Question, Receipt, Stored
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Guarantee, Renyi
from tacit.numbers.exact import Number

ONE_PART = (
    "this budget pays for one part of the persons only; ask the part's own table, and take shares and analysts before "
    "the table is split."
)
"""The refusal of what is not about the persons of a part."""


class Budget:
    """A privacy budget: charge it before data is touched.

    >>> orders.sum("amount", epsilon=1)
    Answer(sum of amount: ..., Pure(1))
    >>> orders.budget
    <Budget Pure(100): spent Pure(1), left Pure(99)>
    """

    def __init__(self, book: Book, name: Name = (), heard: Callable[[Receipt], object] | None = None) -> None:
        self._book, self._name, self._heard = book, name, heard

    def telling(self, heard: Callable[[Receipt], object]) -> Budget:
        """The same budget, which tells somebody of each charge once it is recorded.

        Args:
            heard: called with the receipt of each charge.

        >>> receipts = []
        >>> receipt = orders.budget.telling(receipts.append).charge(Pure(1))
        >>> receipts == [receipt]
        True
        """
        return Budget(self._book, self._name, heard)

    def under(self, guard: Callable[[Any], object]) -> Budget:
        """The same budget of a ledger; a guard looks at the ledger in each charge's own transaction, and may raise.

        Args:
            guard: called with what reads the ledger there.

        >>> from tacit.ledger import open_ledger
        >>> shop = open_ledger("ledger.db").budget("shop", Pure(1))
        >>> shop.under(lambda work: None).charge(Pure("0.5")).cost
        Pure(0.5)
        """
        return Budget(self._book.under(guard), self._name, self._heard)

    @property
    def account(self) -> str:
        """Where it hangs below the whole budget, as a ledger writes it; empty for the whole."""
        return "/".join(self._name)

    @property
    def total(self) -> Guarantee:
        """What all charges together may promise."""
        return self._account.filter.total

    @property
    def composition(self) -> str:
        """How costs add up: "basic", "advanced", "tight" or "odometer"."""
        return self._account.filter.composition

    @property
    def spent(self) -> Guarantee:
        """What the charges so far add up to, shares with their whole totals included; may be zero.

        The promise, however costs were chosen, is `total`; a bound for stopping early is an odometer's (`Odometer`).
        """
        account = self._account
        return account.filter.spent(account.sums)

    @property
    def remaining(self) -> Guarantee:
        """What is left, in view of the budgets above too; may be zero.

        For an advanced budget: the largest further pure ε, and the δ left for costs that have one.
        """
        return accounts.remaining(self._book.path(self._name))

    def fits(self, cost: Guarantee) -> bool:
        """Whether a charge of this cost would be admitted now; InvalidInput if it never can be, with the reason.

        Args:
            cost: what would be charged.

        >>> orders.budget.fits(Pure(1)), orders.budget.fits(Pure(1000))
        (True, False)
        """
        return accounts.admits(self._book.path(self._name), (cost, None))

    def fits_each(self, *charges: tuple[Guarantee, Question]) -> bool:
        """Whether charges of different costs, one after the other, would all be admitted now.

        Args:
            charges: what would be charged, and what would be asked for it.

        >>> from tacit.budgets import Question
        >>> orders.budget.fits_each((Pure(1), Question("how many")), (Pure(2), Question("how much")))
        True
        """
        return accounts.admits(self._book.path(self._name), *charges)

    def allows(self, cost: Guarantee, question: Question | None = None) -> None:
        """Raise what a policy has against this question, and spend nothing.

        Args:
            cost: what would be charged.
            question: what would be asked.

        >>> orders.budget.allows(Pure(1))
        """
        path = self._book.path(self._name)
        accounts.check(path, cost, question)
        tally, latest = self._book.unanswered(self._name)
        admit(tally, accounts.allowance(path), lambda: latest or datetime.now(UTC))

    def check(self, cost: Guarantee, *questions: Question) -> None:
        """Raise what a `charge` of this cost for each of the questions would raise now, and spend nothing.

        Args:
            cost: what would be charged for each.
            questions: what would be asked; without any, one charge is checked.

        >>> orders.budget.check(Pure(1))
        """
        for question in questions or (None,):
            self.allows(cost, question)
        accounts.charge(self._book.path(self._name), *((cost, question) for question in questions or (None,)))

    def check_each(self, *charges: tuple[Guarantee, Question]) -> None:
        """Raise what charges of different costs, one after the other, would raise now, and spend nothing.

        Args:
            charges: what would be charged, and what would be asked for it.

        >>> from tacit.budgets import Question
        >>> orders.budget.check_each((Pure(1), Question("how many")), (Pure(2), Question("how much")))
        """
        for cost, question in charges:
            self.allows(cost, question)
        if charges:
            accounts.charge(self._book.path(self._name), *charges)

    def charge(self, cost: Guarantee, question: Question | None = None) -> Receipt:
        """Spend a cost, recorded when this returns; BudgetExceeded, and nothing spent, if it does not fit.

        Args:
            cost: what is spent.
            question: what it is spent on, for ledgers and policies.

        >>> orders.budget.charge(Pure(1)).cost
        Pure(1)
        """
        receipt = self._book.charge(self._name, cost, question)
        if self._heard is not None:
            self._heard(receipt)
        return receipt

    def settle(self, receipt: Receipt, answer: Mapping[str, Any] | None, *, unless: Message | None = None) -> bool:
        """Record what became of a charge; False if the answer came too late and must not be shown.

        Args:
            receipt: what `charge` returned.
            answer: the released answer as plain JSON values, or None when the engine failed.
            unless: a message; once that was charged, this answer is too late, and recorded as failed.

        >>> receipt = orders.budget.charge(Pure(1))
        >>> orders.budget.settle(receipt, {"value": 3})
        True
        """
        return self._book.settle(receipt, answer, unless)

    def begun(self, question: Question, cost: Guarantee) -> bool:
        """Whether a question would take up an earlier charge that has no answer, so that it is paid for already.

        Args:
            question: what is asked.
            cost: what it costs.

        >>> from tacit.budgets import Question
        >>> orders.budget.begun(Question("how many rows", continued=True), Pure(1))
        False
        """
        return self._book.begun(self._name, question, cost)

    def recall(self, question: Question, cost: Guarantee) -> Stored | None:
        """The answer already released to the same question at the same cost, or None.

        What may be read is held against it; prices and failures are not, because it was paid for. An answer of before
        answers had owners belongs to the account that paid for it.

        Args:
            question: what is asked.
            cost: what it costs.

        >>> from tacit.budgets import Question
        >>> question = Question("how many rows")
        >>> receipt = orders.budget.charge(Pure(1), question)
        >>> orders.budget.settle(receipt, {"value": 3})
        True
        >>> orders.budget.recall(question, Pure(1)).answer
        {'value': 3}
        """
        accounts.check_recall(self._book.path(self._name), question)
        found = self._book.recall(question.key(cost))
        if found is None and question.owner:
            found = self._book.recall(question.anyones(cost), question.owner)
        return found

    @property
    def policy(self) -> Policy:
        """What single questions of this account may do; the accounts above may limit them further."""
        return self._account.policy

    @property
    def least(self) -> Guarantee | None:
        """The least cost of one charge, in view of the budgets above too; None without a limit."""
        limited = [a for a in self._book.path(self._name) if a.policy.least]
        return limited[-1].filter.smallest(limited[-1].policy.least or Fraction(0)) if limited else None

    @property
    def unanswered(self) -> int:
        """How many charges failed, or have no outcome, since the allowance of failures was renewed."""
        return self._book.unanswered(self._name)[0].count

    @property
    def failures_left(self) -> int | None:
        """How many more charges may fail; None without a limit."""
        allowance = accounts.allowance(self._book.path(self._name))
        return None if allowance is None else max(0, allowance - self.unanswered)

    def renew(self) -> None:
        """Reset the allowance of failures; what fails from now on counts, whenever it was charged.

        >>> orders.budget.renew()
        >>> orders.budget.unanswered
        0
        """
        self._book.renew(self._name)

    def repeated(self, question: Question, cost: Guarantee) -> Stored | None:
        """The answer to this question in the same message, or None if that was not charged yet; see `Book.repeated`.

        Args:
            question: what is asked, with the message that it came in.
            cost: what it costs.

        >>> from tacit.budgets import Question
        >>> orders.budget.repeated(Question("how many rows"), Pure(1)) is None
        True
        """
        return self._book.repeated(question, cost)

    def share(self, total: Guarantee, name: str, *, policy: Policy | None = None) -> Budget:
        """A budget of its own, taken from this one now, whether it is used or not.

        Args:
            total: the size of the share.
            name: what the share is called; the same name finds it again.
            policy: what single questions of the share may do.

        >>> share = orders.budget.share(Pure(10), "interns")
        >>> orders.budget.remaining
        Pure(90)
        """
        return self._child(name, Link.SHARE, filter_for(total), policy)

    def analyst(self, name: str, limit: Guarantee | None = None, *, policy: Policy | None = None) -> Budget:
        """One analyst's view of this budget: every charge counts here too, and may not exceed a limit altogether.

        Args:
            name: who the analyst is.
            limit: the most that all of the analyst's charges may cost.
            policy: what single questions of the analyst may do.

        >>> orders.budget.analyst("ada", Pure(5)).remaining
        Pure(5)
        """
        return self._child(name, Link.ANALYST, self._limit(limit), policy)

    def parallel(self, name: str) -> Parallel:
        """A group of parts that hold disjoint persons: this budget pays for the dearest part only.

        Args:
            name: what the group is called; the same name finds it again.

        >>> days = orders.budget.parallel("days")
        >>> receipts = [days.part(day).charge(Pure(1)) for day in ("monday", "tuesday")]
        >>> orders.budget.spent
        Pure(1)
        """
        return Parallel(self._child(name, Link.GROUP, None, None))

    @property
    def whole(self) -> Budget:
        """The budget that this one is a share, a view, a part or a period of, up to the root."""
        return Budget(self._book)

    @property
    def shown(self) -> Budget:
        """The same budget, which can be looked at and not be charged."""
        return Shown(self._book, self._name)

    def amend(self, *, limit: Guarantee | None = None, policy: Policy | None = None) -> None:
        """Give an analyst another limit, or this account another policy, from now on.

        Args:
            limit: what all of the analyst's charges may cost.
            policy: what single questions may do.

        >>> ada = orders.budget.analyst("ada", Pure(5))
        >>> ada.amend(limit=Pure(8))
        >>> ada.remaining
        Pure(8)
        """
        above = Budget(self._book, self._name[:-1])
        self._book.amend(self._name, above._limit(limit), policy)

    def _limit(self, limit: Guarantee | None) -> Filter | None:
        if limit is None:
            return None
        rule, total = self._account.filter.alike(limit), self.total
        orders = [g.order for g in (limit, total) if isinstance(g, Renyi)]
        if type(limit) is not type(total) or len(set(orders)) > 1:
            raise InvalidInput(f"limit must be of the same kind (and order) as {total!r}; give such a guarantee.")
        return rule

    def _child(self, word: str, link: Link, rule: Filter | None, policy: Policy | None) -> Budget:
        if not word or "/" in word or not word.isprintable():
            raise InvalidInput(f"the name of the {link.value} must be a printable text without '/', and not empty.")
        return Budget(self._book, self._book.open(self._name, f"{link.value}:{word}", link, rule, policy))

    @property
    def _account(self) -> Account:
        return self._book.path(self._name)[0]

    def __repr__(self) -> str:
        path = self._book.path(self._name)
        rule, spent = path[0].filter, path[0].filter.spent(path[0].sums)
        return f"<Budget {rule.describe()}: spent {spent!r}, left {accounts.remaining(path)!r}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>"


class Shown(Budget):
    """A budget to look at, charged by none but those who made it."""

    def charge(self, cost: Guarantee, question: Question | None = None) -> Receipt:
        """Refused: whoever charges a part vouches whom the answer is about."""
        raise UnsupportedQuery(ONE_PART)

    def amend(self, *, limit: Guarantee | None = None, policy: Policy | None = None) -> None:
        """Refused."""
        raise UnsupportedQuery(ONE_PART)

    def _child(self, word: str, link: Link, rule: Filter | None, policy: Policy | None) -> Budget:
        raise UnsupportedQuery(ONE_PART)


class Parallel:
    """Parts that hold disjoint persons; the budget above pays for the largest of their sums."""

    def __init__(self, group: Budget) -> None:
        self._group = group

    def part(self, key: str) -> Budget:
        """The budget of one part; whoever charges it vouches that every person is, for good, in one part only.

        Where persons may move from one part to another when the data change, each version needs a group of its own.
        """
        return self._group._child(key, Link.PART, None, None)

    @property
    def spent(self) -> Guarantee:
        """What the dearest part has cost, which is what the budget above has paid."""
        return self._group.spent


def open_budget(
    total: Guarantee,
    composition: str = "basic",
    *,
    set_aside: Number | None = None,
    policy: Policy | None = None,
) -> Budget:
    """A budget in memory.

    See `tacit.budgets.filters` for what may be charged to what.

    Args:
        total: what all charges together may promise.
        composition: how costs add up: "basic" (sums) or, for an Approx total, "advanced", for many small costs,
            "tight", by the law of each mechanism, or "odometer", whose spent holds whenever one stops.
        set_aside: the δ' that advanced composition sets aside, half of δ unless given; of tight, nine tenths.
        policy: what single questions may do.

    >>> from tacit.budgets import open_budget
    >>> open_budget(Pure(1))
    <Budget Pure(1): spent Pure(0), left Pure(1)>
    """
    return Budget(MemoryBook(filter_for(total, composition, set_aside=set_aside), policy or UNLIMITED))
