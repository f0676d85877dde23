"""What custodians did: a history of its own in the ledger, append-only and chained as those of datasets are.

It stands among the entries under the empty name, which no dataset can have. So it is on the disk with the charges, in
the same backup, behind the same head (an old copy that is put back is noticed), and in the same order: an act and a
charge never happen at the same time, in SQLite because all writing is serial, in PostgreSQL because an act locks the
rows of all datasets. A charge that looks at the acts in its own transaction (`LedgerBook.under`) therefore sees every
act that was recorded before it.

PROMISE. Acts are numbered without a gap; of two that were both meant to follow the same act one is refused.
PROOF. The number of the last is read and the next written in one work, and works that write acts are serial.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.errors import LedgerError
from tacit.ledger import store as clocks
from tacit.ledger import texts
from tacit.ledger.entries import GENESIS, Entry, chained
from tacit.ledger.store import Row, Store, Work, moment, stamp

NAME = ""
"""The name under which acts are kept; a dataset's is never empty."""
_END = "end"
"""The key under which the number of the last act is kept, so that acts cut off at the end are missed."""
_COLUMNS = "number, at, what, body, hash"


class Superseded(LedgerError):
    """Something else was done meanwhile."""


def last(work: Work) -> int:
    """The number of the last act; 0 if nothing was done."""
    rows = work.read("SELECT max(number) FROM tacit_entries WHERE dataset = ?", NAME)
    return int(rows[0][0] or 0)


def acts_after(work: Work, number: int) -> list[Entry]:
    """The acts after one, oldest first."""
    statement = f"SELECT {_COLUMNS} FROM tacit_entries WHERE dataset = ? AND number > ? ORDER BY number"
    return [_entry(row) for row in work.read(statement, NAME, number)]


def append(store: Store, what: str, body: Mapping[str, Any], after: int | None) -> Entry:
    """Write an act, on the disk when this returns."""
    text = texts.canonical(dict(body))
    with store.writing() as work:
        work.read(store.registering)
        if store.for_update:
            work.read(f"SELECT name FROM tacit_datasets ORDER BY name{store.for_update}")  # no charge meanwhile
        rows = work.read(f"SELECT {_COLUMNS} FROM tacit_entries WHERE dataset = ? ORDER BY number DESC LIMIT 1", NAME)
        previous = _entry(rows[0]) if rows else None
        number, head = (0, GENESIS) if previous is None else (previous.number, previous.hash)
        if after is not None and after != number:
            raise Superseded("something else was done meanwhile, and nothing of this; look again, and then confirm.")
        at = stamp(work.read(f"SELECT {store.clock}")[0][0] or clocks.now())
        at = at if previous is None else max(at, stamp(previous.at))
        digest = chained(NAME, number + 1, at, what, text, head)
        row = (NAME, number + 1, at, what, text, digest)
        work.write("INSERT INTO tacit_entries VALUES (?, ?, ?, ?, ?, ?)", *row)
        work.write(
            "INSERT INTO tacit_answers VALUES (?, ?, ?)"
            " ON CONFLICT (dataset, key) DO UPDATE SET number = excluded.number",
            NAME,
            _END,
            number + 1,
        )
    return _entry(row[1:])


def verify_acts(store: Store) -> tuple[str, ...]:
    """What is wrong with the history of acts; nothing where it is whole."""
    problems, head, count = list[str](), GENESIS, 0
    with store.reading() as work:
        for number, at, what, body, digest in work.read(
            f"SELECT {_COLUMNS} FROM tacit_entries WHERE dataset = ? ORDER BY number", NAME
        ):
            count += 1
            if number != count:
                problems.append(f"act {number} does not follow act {count - 1}")
            if digest != chained(NAME, number, at, what, body, head):
                problems.append(f"act {number} does not have the hash of its contents and of the act before it")
            head, count = digest, number
        end = work.read("SELECT number FROM tacit_answers WHERE dataset = ? AND key = ?", NAME, _END)
    if count != (end[0][0] if end else 0):
        problems.append("the acts do not end where the ledger says, so their end was cut off or added to")
    return tuple(problems)


def _entry(row: Row) -> Entry:
    number, at, what, body, digest = row
    return Entry(int(number), moment(at), what, texts.parsed(body), digest)
