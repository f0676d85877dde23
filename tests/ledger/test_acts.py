"""Acts of custodians in both stores: chained, serial with each other and with charges, apart from datasets."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tacit.errors import LedgerError
from tacit.guarantees import Pure
from tacit.ledger import Superseded, open_ledger, verify
from tacit.ledger.acts import acts_after


def test_acts_are_chained_and_apart_from_datasets(where: str) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.register("shop", Pure(1))
        assert ledger.acts() == []
        first = ledger.record("analyst paused", {"analyst": "ada"}, after=0)
        budget.charge(Pure("0.5"))
        second = ledger.record("analyst resumed", {"analyst": "ada"}, after=first.number)
        with pytest.raises(Superseded):
            ledger.record("analyst revoked", {"analyst": "ada"}, after=first.number)
        assert [act.number for act in ledger.acts()] == [1, 2]
        assert ledger.acts(after=1) == [second]
        assert ledger.verify_acts() == ()
        assert ledger.names() == ["shop"]
        assert verify(ledger, "shop").sound
    with open_ledger(where, read_only=True) as ledger:
        assert len(ledger.acts()) == 2
        with pytest.raises(LedgerError, match="read-only"):
            ledger.record("analyst paused", {"analyst": "ada"})


def test_of_many_who_act_at_once_each_has_a_number_and_a_guard_sees_all_before_its_charge(where: str) -> None:
    """A guard that refuses once somebody is sent away: no charge is made after the act that it saw was recorded."""
    with open_ledger(where) as ledger:
        ledger.register("shop", Pure(100))
    refused: list[int] = []

    class SentAway(Exception):
        pass

    def guard(work: Any) -> None:
        if any(act.what == "sent away" for act in acts_after(work, 0)):
            raise SentAway

    def spend() -> None:
        with open_ledger(where) as own:
            budget = own.budget("shop").under(guard)
            try:
                for _ in range(50_000):
                    budget.charge(Pure("0.001"))
            except SentAway:
                refused.append(1)

    def act(what: str) -> None:
        with open_ledger(where) as own:
            for _ in range(3):
                own.record(what, {})

    threads = [threading.Thread(target=spend) for _ in range(2)]
    threads += [threading.Thread(target=act, args=("something",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    with open_ledger(where) as ledger:
        ledger.record("sent away", {})
        spent = ledger.budget("shop").spent
        for thread in threads:
            thread.join()
        assert ledger.budget("shop").spent == spent
        assert len(refused) == 2
        assert [entry.number for entry in ledger.acts()] == list(range(1, 8))
        assert ledger.verify_acts() == ()
        assert verify(ledger, "shop").sound
