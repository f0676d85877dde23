"""An analyst's request to approve one question.

A request holds what the analyst wrote: the question, its cost, a reason. Nothing in it, and nothing that is said about
it, depends on the data: whether a question can be requested follows from its preview, which public facts decide.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tacit.errors import InvalidInput
from tacit.ledger.entries import without_literals
from tacit.serve.custody.standing import OPEN, Request
from tacit.serve.questions import SentQuestion
from tacit.serve.running import Busy
from tacit.serve.tokens import Caller

if TYPE_CHECKING:
    from tacit.serve.gateway import Gateway

MOST_OPEN = 10
"""Requests of one analyst that may wait for the custodian."""
REASON = 500
"""Characters of a reason."""


def read_reason(text: object) -> str:
    """Why an analyst asks for an approval, in one line."""
    if not isinstance(text, str) or len(text) > REASON or not (text := " ".join(text.split())).isprintable():
        raise InvalidInput(f"reason must be a text of at most {REASON} characters.")
    return text


def request_approval(
    gateway: Gateway, caller: Caller, dataset: str, question: SentQuestion, cost: str, reason: str
) -> Request:
    """Write down a request whose cost a preview found; one that waits or is approved already is found again."""
    own = [request for request in gateway.standing.requests.values() if request.analyst == caller.name]
    for request in own:
        if (request.dataset, request.identity, request.state) == (dataset, question.identity, OPEN):
            return request
    if (approved := gateway.standing.approval(caller.name, dataset, question.identity)) is not None:
        return approved
    if sum(request.state == OPEN for request in own) >= MOST_OPEN:
        raise Busy(f"{MOST_OPEN} of your requests wait for the custodian already, and nothing was done; wait for them.")
    kept = gateway.ledger.dataset(dataset).literals != "omit"
    sql = question.sql if kept else without_literals(question.sql)
    body = {"analyst": caller.name, "dataset": dataset, "identity": question.identity, "sql": sql, "cost": cost}
    if question.keys is not None and kept:  # the custodian approves what they read
        body["keys"] = json.dumps(question.keys, ensure_ascii=False)
    entry = gateway.ledger.record("approval requested", body | {"reason": reason})
    return gateway.standing.followed(gateway.ledger.acts(gateway.standing.number)).requests[entry.number]
