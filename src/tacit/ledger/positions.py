"""Where a certificate's charge stands in a ledger: is it there, with this cost and question, and with this answer?

A release names the ledger, the dataset, the number of the entry that charged for it and that entry's hash, to which all
entries before it are chained. The entry that recorded the answer holds the release as well. So whoever changed a
certificate must have changed the ledger, whose history `verify` replays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tacit.ledger.ledger import Ledger
from tacit.ledger.texts import canonical
from tacit.ledger.verify import verify


def misplaced(ledger: Ledger, release: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the place that a release says it has; nothing where it has it."""
    position = release.get("ledger")
    if not isinstance(position, Mapping):
        yield "it says that its charge was recorded in no ledger"
        return
    if position.get("ledger") != ledger.identity:
        yield "its charge was recorded in another ledger than this one"
        return
    name, number = position.get("dataset"), position.get("entry")
    if name not in ledger.names() or not isinstance(number, int):
        yield "the ledger has no dataset of that name"
        return
    yield from (f"the ledger itself is not sound: {problem}" for problem in verify(ledger, str(name)).problems)
    entry = ledger.entry(str(name), number)
    if entry is None or entry.what != "charged" or entry.hash != position.get("hash"):
        yield "the ledger has no such charge at that place"
        return
    if entry.body.get("cost") != release.get("charge"):
        yield "the ledger charged another cost"
    if entry.body.get("key") != release.get("question"):
        yield "the ledger charged for another question"
    if canonical(release) not in _recorded(ledger, str(name), number):
        yield "the answer that the ledger recorded for this charge has another certificate"


def _recorded(ledger: Ledger, name: str, charge: int) -> list[str]:
    """The releases in the answer to a charge, as texts."""
    for entry in ledger.history(name, after=charge):
        if entry.what == "answered" and entry.body["charge"] == charge:
            return [canonical(release) for release in entry.body["answer"].get("releases", ())]
    return []
