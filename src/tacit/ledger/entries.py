"""The history of a dataset: append-only entries, each chained to the one before it by a hash.

hash_n = SHA-256(dataset, n, time, what, body, hash_{n−1}), written as one JSON list. The dataset's row keeps n and
hash_n of the last entry, so changing, removing, inserting or cutting off entries shows. Who may write to the store
could rebuild the whole chain; against that, note the last hash of a report elsewhere and give it to `verify` later.

What entries say, by ``what``:
- "registered": the name, the kinds of person, the terms and the policy; by whom;
- "opened", "amended": a share, an analyst, a group or a part, with its terms and its policy;
- "charged": by whom, the cost, the sums it led to, and of the question its text, statistics, columns and key, and the
  request it came in, if that must not be charged twice, and whether a later attempt may continue it;
- "answered": the charge's number and the answer as it was released, with what was drawn for it; "failed": the number of
  a charge that led to none;
- "resumed": the number of a charge that brought no answer and is taken up again, without another charge;
- "renewed": an account whose allowance of failures was reset, and by whom.
Where failures are limited these say too which charges of the account have no answer (``tally``).

Literals. The text of a question is kept as it was written, with the constants in it ("WHERE name = 'Ada'"), because a
record nobody understands is no record. A dataset registered with literals="omit" keeps it with every constant replaced
by "?", or not at all where constants cannot be told apart safely (comments, backslashes, dollar or unfinished quotes).
The plan is never kept, only its SHA-256 together with the cost: enough to find the same question again, though whoever
guesses the whole question can confirm the guess. Answers are kept as released, the keys of a grouped answer included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from tacit.ledger.texts import canonical

GENESIS = ""
"""What the first entry is chained to."""


@dataclass(frozen=True)
class Entry:
    """One line of a dataset's history."""

    number: int
    at: datetime
    what: str
    body: Mapping[str, Any]
    hash: str


def chained(dataset: str, number: int, at: str, what: str, body: str, previous: str) -> str:
    """The hash of an entry."""
    return sha256(canonical([dataset, number, at, what, body, previous]).encode()).hexdigest()


_TOKEN = re.compile(
    r"""(?P<name>"(?:[^"]|"")*"|\b[A-Za-z_]\w*)|(?P<literal>'(?:[^']|'')*'|(?:\d[\w.]*|\.\d\w*)(?:(?<=[eE])[+-]\d+)?)"""
    r"""|(?P<other>[^"'])"""
)


def without_literals(text: str) -> str:
    """A question's text with its constants replaced by "?", or "" where that cannot be done surely."""
    if any(mark in text for mark in ("--", "/*", "\\", "$", "`")):
        return ""
    parts: list[str] = []
    end = 0
    for token in _TOKEN.finditer(text):
        if token.start() != end:
            return ""
        parts.append("?" if token["literal"] else token[0])
        end = token.end()
    return "".join(parts) if end == len(text) else ""
