"""The durable budget: a ledger in one SQLite file or in PostgreSQL.

`open_ledger` is for sessions and privacy officers; the other functions read, and are what the command line prints.

WHAT STAYS STABLE. A ledger outlives the Tacit that wrote it, so what it holds is a contract:

- *The tables* (`store.TABLES`) have a version; a ledger of another version is refused, never guessed at. Within one
  version columns keep their meaning, and nothing is dropped.
- *Entries* are never changed: the hash of each covers the dataset's name, its number, its time, ``what``, its body as
  text and the hash before (`entries`). The words of ``what`` and the keys of a body keep their meaning; a later Tacit
  may add words and keys, and reads entries that lack them as their writer meant them.
- *Acts* of custodians are entries under the empty name (`acts`), which an earlier Tacit passes over.
- *Guarantees* are written as `Guarantee.text` does, kind and exact numbers: "Approx 1 1/1000000". *Terms* and
  *policies* are JSON with sorted keys (`texts`); statistics in a policy go by their public keys, and the names that
  earlier versions wrote are still understood. *Sums* are exact numbers, one for each axis of the filter.
- *The key of a question* is SHA-256 over `Question.identity`, the cost as `repr` writes it and, where an answer has
  one, its owner, with a zero byte between them; the key of a message that may arrive twice begins with "request ", and
  an entry keeps it under "request". A question whose identity is written otherwise by a later Tacit is charged again,
  never answered wrongly.
- *Answers* are kept as they were released, and a later Tacit reads all of them.

WHAT AN OLD LEDGER PROMISES. The sums of an account cover every answer that was ever released from it; opening it with a
later Tacit neither forgives nor adds anything. Whatever cannot be read is damage, which `verify` reports and no charge
passes over.
"""

from tacit.ledger.acts import Superseded
from tacit.ledger.entries import Entry
from tacit.ledger.events import Events, dp_events
from tacit.ledger.ledger import Ledger, open_ledger
from tacit.ledger.reports import Charge, charges, history, report, show, to_csv, to_json
from tacit.ledger.verify import HistoryCheck, verify

__all__ = [
    "Charge",
    "Entry",
    "Events",
    "HistoryCheck",
    "Ledger",
    "Superseded",
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
