"""What the gateway writes down about itself: an audit log for the custodian, counts for a monitor.

Neither holds data, tokens, queries or answers, nor how long anything took: times depend on data. Questions and answers
are in the ledger. A line of the log is one JSON object, written at once, so that several processes share one file.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from datetime import UTC, datetime
from threading import Lock
from typing import Any


class AuditLog:
    """JSON lines in a file, or on standard error."""

    def __init__(self, where: str) -> None:
        self._file = (
            sys.stderr.fileno() if where == "-" else os.open(where, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        )

    def write(self, event: str, **facts: Any) -> None:
        """One line: when, which process, what happened, and public facts about it."""
        line = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "worker": os.getpid(), "event": event}
        os.write(self._file, (json.dumps(line | facts) + "\n").encode())


class Counts:
    """How often things happened in this process."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._lock = Lock()

    def add(self, name: str, label: str, value: str, amount: int = 1) -> None:
        """Count something under a name with one label."""
        with self._lock:
            self._counts[name, label, value] += amount

    def text(self, gauges: dict[str, int]) -> str:
        """All counts in the format of Prometheus."""
        with self._lock:
            counts = sorted(self._counts.items())
        lines = []
        for name in sorted({key[0] for key, _ in counts}):
            lines += [f"# HELP {name} {_HELP[name]}", f"# TYPE {name} counter"]
            for (other, label, value), count in counts:
                if other == name:
                    lines.append(f'{name}{{worker="{os.getpid()}",{label}="{value}"}} {count}')
        for name, gauge in gauges.items():
            lines += [f"# HELP {name} {_HELP[name]}", f"# TYPE {name} gauge"]
            lines.append(f'{name}{{worker="{os.getpid()}"}} {gauge}')
        return "\n".join(lines) + "\n"


_HELP = {
    "tacit_requests_total": "Requests by status.",
    "tacit_questions_total": "Questions by outcome.",
    "tacit_questions_in_flight": "Questions being answered now.",
    "tacit_questions_waiting": "Questions that wait for their turn.",
}
