"""Charges that brought no answer, continued: what a publication that was interrupted has paid, it does not pay again.

A process may die between a charge and its answer. An ordinary question is then lost, and asking again is charged again.
A question that says so (`Question.continued`) finds the charge of the attempt before, by the same account, the same
question and the same cost, and answers it.

PROMISE. However often and wherever processes die, a continued question is charged once, and at most one answer to that
charge is ever released; so everything that was released is within the budget, as if nobody had died.

PROOF. A key of account, question and cost leads to the last charge, and to its answer once there is one. To look there,
and to charge if there is no charge or it is answered, is one work of the store, and works of a dataset are serial: of
two attempts at the same time one charges and the other continues. An answer leaves the process that drew it only after
it was written to the ledger as that charge's answer, and only the first is written, again in one work; whoever comes
second releases what was written, or nothing. What was drawn and not written nobody has seen, and the next attempt draws
anew from the same law. (That a process was ended tells no more than that one failed, which `tacit.budgets.books`
counts; readers of a publication see neither.)
"""

from __future__ import annotations

from tacit.budgets.accounts import Name
from tacit.budgets.questions import Question
from tacit.ledger.store import Row, Work


def continues(question: Question | None) -> bool:
    """Whether a question is continued; one that came in a message has its own way."""
    return question is not None and question.continued and question.message is None


def begun_key(account: Name | str, key: str, cost: str) -> str:
    """Under which key the last charge of a continued question, or its answer, is found."""
    return f"begun {account if isinstance(account, str) else '/'.join(account)} {key} {cost}"


def find_begun(work: Work, dataset: str, key: str) -> Row | None:
    """The number, the time and the hash of a charge that has no answer; None where there is none."""
    rows = work.read(
        "SELECT e.number, e.at, e.hash, e.what FROM tacit_answers a JOIN tacit_entries e ON e.dataset = a.dataset"
        " AND e.number = a.number WHERE a.dataset = ? AND a.key = ?",
        dataset,
        key,
    )
    return rows[0][:3] if rows and rows[0][3] == "charged" else None
