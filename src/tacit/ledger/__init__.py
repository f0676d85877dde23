"""The durable budget: a ledger in one SQLite file or in PostgreSQL.

`open_ledger` is for sessions and privacy officers; the other functions read, and are what the command line prints.
"""

from tacit.ledger.entries import Entry
from tacit.ledger.events import Events, dp_events
from tacit.ledger.ledger import Ledger, open_ledger
from tacit.ledger.reports import Charge, charges, history, report, show, to_csv, to_json
from tacit.ledger.verify import Verification, verify

__all__ = [
    "Charge",
    "Entry",
    "Events",
    "Ledger",
    "Verification",
    "charges",
    "dp_events",
    "history",
    "open_ledger",
    "report",
    "show",
    "to_csv",
    "to_json",
    "verify",
]
