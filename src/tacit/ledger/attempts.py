"""Charges that brought no answer, and are taken up again without another charge.

A process may die between a charge and its answer. An ordinary question is then lost, and asking again is charged again.
Two kinds of question find the charge of the attempt before, by the same account, and answer it:

- one that came in a message (`Question.message`), such as a request that is sent again: once, and only after the first
  attempt must be dead (`Message.lost`);
- one that is continued (`Question.continued`), such as those of a publication: as often as it takes.

PROMISE. However often and wherever processes die, or are slow, or come at the same time: such a question is charged
once, at most one answer to that charge is ever released, and what its attempts tell by failing is within the allowance
of failures. So everything that was released is within the budget, as if nobody had died.

PROOF. There is one rule: an answer leaves the process that drew it only after it was written to the ledger as that
charge's answer, and only one is written. To look for a charge and to charge, or to take it up, is one work of the
store; to look whether an attempt may still write and to write is one work too; and works of a dataset are serial, so
that each sees all those before it. Of attempts at the same time, therefore, one charges and the others take it up, and:

- of a message, its key leads to the latest attempt, then to its outcome: an attempt whose own entry is not there may
  not write (`superseded`). That the first is dead is for the callers' good, not for this proof: one that was only slow
  has drawn something that nobody ever sees.
- of a continued question, its key leads to the charge until an answer is written, and then to that: whoever comes
  second may not write, and releases what was written, or nothing.

What was drawn and not written nobody has seen, and the next attempt draws anew by the law that was charged: if another
law would be run, as by another Tacit, the charge is not taken up (`same_law`). What has been forbidden since is refused
as for a charge. Each attempt is counted and admitted like a charge of its own (`tacit.budgets.books`).

A series has a third way of its own, for what costs nothing more: see `tacit.tables.releasing.series`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.budgets.accounts import Name
from tacit.budgets.questions import Question, Receipt
from tacit.guarantees import Guarantee
from tacit.ledger import texts
from tacit.ledger.store import Work

BROUGHT_NOTHING = "charged"
"""What a key leads to while there is no outcome, or no answer."""


def continues(question: Question | None) -> bool:
    """Whether a question is continued; one that came in a message has its own way."""
    return question is not None and question.continued and question.message is None


def begun_key(account: Name | str, key: str, cost: str) -> str:
    """Under which key the last charge of a continued question, or its answer, is found."""
    return f"begun {account if isinstance(account, str) else '/'.join(account)} {key} {cost}"


def same_law(body: Mapping[str, Any], question: Question) -> bool:
    """Whether a charge was made for the mechanisms that would be run now."""
    return body.get("runs") == (None if question.runs is None else repr(question.runs))


Found = tuple[str, Any, str, int, str]
"""The time, the body, the kind, the number and the hash of an entry."""


def find(work: Work, dataset: str, key: str) -> Found | None:
    """The entry that a key leads to."""
    rows = work.read(
        "SELECT e.at, e.body, e.what, e.number, e.hash FROM tacit_answers a JOIN tacit_entries e"
        " ON e.dataset = a.dataset AND e.number = a.number WHERE a.dataset = ? AND a.key = ?",
        dataset,
        key,
    )
    if not rows:
        return None
    at, body, what, number, digest = rows[0]
    return at, texts.parsed(body), what, int(number), digest


def find_begun(work: Work, dataset: str, account: Name, question: Question | None, cost: Guarantee) -> Found | None:
    """The charge of a continued question that has no answer, made for the same law; None where there is none."""
    if question is None or not continues(question):
        return None
    found = find(work, dataset, begun_key(account, question.key(cost), cost.text()))
    return found if found and found[2] == BROUGHT_NOTHING and same_law(found[1], question) else None


def superseded(work: Work, dataset: str, receipt: Receipt) -> bool:
    """Whether an attempt may not write an outcome any more: there is one, or another attempt took the charge up."""
    if receipt.continued:
        found = find(work, dataset, begun_key(receipt.account, receipt.key, receipt.cost.text()))
        return found is None or found[2:4] != (BROUGHT_NOTHING, receipt.number)
    if receipt.once:
        found = find(work, dataset, receipt.once)
        return found is None or found[3] != (receipt.resumed or receipt.number)
    return False
