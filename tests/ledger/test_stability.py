"""What ledgers hold is a contract: the same charges give the same bytes, whatever version wrote them."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from tacit.budgets import Message, Policy, Question
from tacit.guarantees import Approx, Pure, Renyi, Zcdp
from tacit.ledger import open_ledger, verify

HEADS = {
    "advanced": "1c2220acd2bfdbe9423a83d3b8cc944c2d3110e2438984e072f909d2532b6d66",
    "orders": "6d41aae05863c32d530f26c6cac454039476f84042a5f4456531473a269fc4c4",
}
"""The last hashes of these histories, as the first version of Tacit wrote them."""


def test_histories_are_the_same_byte_for_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.ledger.store.now", lambda: datetime(2026, 1, 1, tzinfo=UTC))
    for module in ("book", "ledger"):
        monkeypatch.setattr(f"tacit.ledger.{module}.login", lambda: "officer")
    with open_ledger(tmp_path / "ledger.db") as ledger:
        policy = Policy(least=Fraction("0.0001"), failures=5)
        budget = ledger.budget("advanced", Approx(3, "1e-6"), composition="advanced", policy=policy)
        message = Message("k", "asked")
        question = Question("sum(t.x)", "SELECT SUM(x)", ("sum",), ("t.x",), "ada", message, "ada")
        budget.settle(budget.charge(Pure("1/3"), question), {"value": 1})
        budget.settle(budget.charge(Approx("0.2", "1e-8"), Question("r")), None)
        budget.share(Pure("0.1"), "s")
        budget.analyst("ada", Approx(1, "1e-7"))
        budget.charge(Zcdp("0.01"), Question("z"))
        budget.parallel("g").part("a").charge(Pure("0.01"), Question("w"))
        budget.renew()
        orders = ledger.budget("orders", Renyi(8, 1))
        orders.charge(Renyi(8, "0.1"))
        orders.charge(Pure("0.1"))
        assert {name: verify(ledger, name).head for name in ledger.names()} == HEADS
