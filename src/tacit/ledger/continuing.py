"""Charges that brought no answer, continued: what a publication that was interrupted has paid, it does not pay again.

A process may die between a charge and its answer. An ordinary question is then lost, and asking again is charged again.
A question that says so (`Question.continued`) finds the charge of the attempt before, by the same account, the same
question and the same cost, and answers it.

PROMISE. However often and wherever processes die, a continued question is charged once, and at most one answer to that
charge is ever released; so everything that was released is within the budget, as if nobody had died.

PROOF. To look for a charge without an answer, and to make one if there is none, is one work of the store, and works of
a dataset are serial: of two attempts at the same time one charges and the other continues. An answer leaves the process
that drew it only after it was written to the ledger as that charge's answer, and only the first is written, again in
one work (`answered`); whoever comes second releases what was written. What was drawn and not written nobody has seen,
and the next attempt draws anew from the same law. (That a process was ended tells no more than that one failed, which
`tacit.budgets.books` counts; readers of a publication see neither.)
"""

from __future__ import annotations

from typing import Any

from tacit.budgets.accounts import Name
from tacit.ledger.store import Row, Work
from tacit.ledger.texts import parsed


def begun_key(account: Name | str, key: str) -> str:
    """Under which key the last charge of a continued question is found."""
    return f"begun {account if isinstance(account, str) else '/'.join(account)} {key}"


def find_begun(work: Work, dataset: str, account: Name, key: str) -> Row | None:
    """The number, the time and the hash of a charge that has no answer; None where there is none."""
    rows = work.read(
        "SELECT e.number, e.at, e.hash FROM tacit_answers a JOIN tacit_entries e ON e.dataset = a.dataset"
        " AND e.number = a.number WHERE a.dataset = ? AND a.key = ?",
        dataset,
        begun_key(account, key),
    )
    return None if not rows or answered(work, dataset, key, rows[0][0]) is not None else rows[0]


def answered(work: Work, dataset: str, key: str, charge: int | None = None) -> Any:
    """The entry with the answer to a question, to this charge of it where one is named; None where there is none."""
    rows = work.read(
        "SELECT e.body FROM tacit_answers a JOIN tacit_entries e ON e.dataset = a.dataset AND e.number = a.number"
        " WHERE a.dataset = ? AND a.key = ?",
        dataset,
        key,
    )
    body = parsed(rows[0][0]) if rows else None
    return body if body is not None and charge in (None, body["charge"]) else None
