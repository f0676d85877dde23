"""Calendars in a ledger: both limits are kept for good, whoever charges at the same time."""

from __future__ import annotations

import multiprocessing
import sqlite3
from typing import Any

import pytest

from tacit import BudgetExceeded, InvalidInput, Periods, Pure
from tacit.budgets import Calendar, Policy
from tacit.ledger import open_ledger, report, show, verify

MONTHLY = Periods("month", Pure(1), lifetime=Pure(3))


def test_a_ledger_keeps_the_calendar(where: Any) -> None:
    with open_ledger(where) as ledger:
        ledger.register("old", Pure(1)).charge(Pure(1))
        budget = ledger.budget("shop", Pure(3), policy=Policy(largest=Pure(1)))
        Calendar.open(budget, MONTHLY).period("2026-01").charge(Pure("0.5"))
    with open_ledger(where) as ledger:
        found = Calendar.find(ledger.budget("shop"))
        assert found is not None
        assert found.terms == MONTHLY
        with pytest.raises(InvalidInput, match="outside"):
            ledger.budget("shop").charge(Pure("0.1"))
        found.carry("2026-01", "2026-02")
        assert [(line.name, line.limit) for line in found.lines] == [("2026-01", Pure("0.5")), ("2026-02", Pure("1.5"))]
        with pytest.raises(BudgetExceeded):
            found.period("2026-01").charge(Pure("0.1"))
        found.period("2026-02").analyst("ada", Pure(1)).charge(Pure(1))
        with pytest.raises(BudgetExceeded, match="by the policy"):
            found.period("2026-02").charge(Pure("1.2"))
        for name in ("old", "shop"):
            assert verify(ledger, name).sound
        assert "shop: Pure(1) for each month, Pure(3) for a lifetime, of which Pure(1.5) is spent" in show(ledger)
        page = report(ledger, "shop")
        assert "| 2026-02 | Pure(1.5) | Pure(1) | Pure(0.5) |" in page
        assert "with all their rows in however many months" in page
        assert Calendar.find(ledger.budget("old")) is None
    if str(where).endswith(".db"):  # a limit that was changed by hand is found
        with sqlite3.connect(where) as rows:
            rows.execute("UPDATE tacit_accounts SET terms = replace(terms, '\"3/2\"', '\"5/2\"')")
        rows.close()
        with open_ledger(where, read_only=True) as ledger:
            assert not verify(ledger, "shop").sound


def _spend(where: str, months: list[str]) -> None:
    with open_ledger(where) as ledger:
        calendar = Calendar.find(ledger.budget("shop"))
        assert calendar is not None
        for month in months:
            try:
                calendar.period(month).charge(Pure("0.1"))
            except BudgetExceeded:
                continue


def test_processes_at_the_same_time_keep_both_limits(where: Any) -> None:
    """Four processes ask for four times what the months have, and for more than a lifetime has."""
    with open_ledger(where) as ledger:
        Calendar.open(ledger.budget("shop", Pure("2.5")), Periods("month", Pure(1), lifetime=Pure("2.5")))
    months = [f"2026-0{1 + i % 3}" for i in range(30)]
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_spend, args=(where, months[i:] + months[:i])) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    with open_ledger(where) as ledger:
        calendar = Calendar.find(ledger.budget("shop"))
        assert calendar is not None
        assert calendar.spent == Pure("2.5")
        assert all(line.spent <= Pure(1) for line in calendar.lines)
        assert verify(ledger, "shop").sound
