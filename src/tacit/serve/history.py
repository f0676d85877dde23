"""What analysts asked before, read from the ledger, page by page and never twice.

Each process follows the history on its own: it keeps a line for each charge, and answers, which may be long, are not
even read. Nothing here is a second truth; a restart begins again at the first entry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from tacit.ledger import Entry, Ledger
from tacit.ledger.store import stamp

KEY = 24
"""Letters of a key that tell a caller's own questions apart."""


@dataclass(frozen=True)
class Line:
    """One charged question."""

    number: int
    at: str
    """When the request it came in was first charged."""
    account: str
    cost: str
    """As the ledger writes it, such as "Pure 1/2"."""
    text: str
    status: str
    """"charged" (no outcome recorded), "answered" or "failed"."""
    outcome: int | None
    """The number of the entry that holds the answer."""
    sums: str
    """What its account had added up to afterwards."""
    request: str = ""
    """The request it came in, which other aggregates of the same question share."""
    key: str = ""
    """The beginning of the key under which the ledger knows what was asked at this cost."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "number": self.number,
            "at": self.at,
            "cost": self.cost,
            "question": self.text,
            "status": self.status,
        }


def line_of(entry: Entry) -> Line:
    """The line of a charge, as long as its outcome is not known."""
    body = entry.body
    return Line(
        number=entry.number,
        at=stamp(entry.at),
        account=body["account"],
        cost=body["cost"],
        text=body.get("text", "").encode(errors="replace").decode(),  # older ledgers may hold unpaired surrogates
        status="charged",
        outcome=None,
        sums=body["after"].get(body["account"], ""),
        request=body.get("request", {}).get("key", ""),
        key=body.get("key", "")[:KEY],
    )


class History:
    """The charges of one dataset, by account."""

    def __init__(self, ledger: Ledger, name: str) -> None:
        self._ledger, self._name = ledger, name
        self._lock = Lock()
        self._last = 0
        self._lines: dict[int, Line] = {}
        self._by_account: dict[str, list[int]] = {}
        self._begun: dict[str, str] = {}

    def of(self, *accounts: str) -> list[Line]:
        """The charges of some accounts, oldest first."""
        with self._lock:
            for entry in self._ledger.history(self._name, after=self._last, answers=False):
                self._take(entry)
                self._last = entry.number
            numbers = [number for account in accounts for number in self._by_account.get(account, [])]
            return [self._lines[number] for number in (sorted(numbers) if len(accounts) > 1 else numbers)]

    def _take(self, entry: Entry) -> None:
        body = entry.body
        if entry.what == "charged":
            line = line_of(entry)
            if line.request:  # when the next aggregate was charged says how long the one before took
                line = replace(line, at=self._begun.setdefault(line.request, line.at))
            self._lines[entry.number] = line
            self._by_account.setdefault(line.account, []).append(entry.number)
        elif entry.what in ("answered", "failed") and body["charge"] in self._lines:
            line = self._lines[body["charge"]]
            self._lines[line.number] = replace(line, status=entry.what, outcome=entry.number)
