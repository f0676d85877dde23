"""The race and the kill test at reduced size; `benchmarks/ledger.py` runs them in full."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.guarantees import Pure
from tacit.ledger import open_ledger, verify
from tests.ledger.race import race


def test_processes_race_and_die_and_nothing_is_lost(where: str, tmp_path: Path) -> None:
    outcome = race(where, tmp_path, affordable=1000, processes=5, kills=10, seed=7)
    assert outcome.holds, outcome
    assert outcome.kills == 10
    assert len(outcome.released) <= outcome.affordable  # what was released never exceeds the budget
    assert len(outcome.released) >= outcome.affordable - outcome.kills  # at most one charge per kill was not released
    first = outcome.released[0]  # and the check has teeth
    assert not replace(outcome, released=[*outcome.released, first]).holds
    assert not replace(outcome, recorded=outcome.recorded - {first}).holds
    assert not replace(outcome, spent=Pure(9)).holds


@pytest.mark.parametrize(
    ("moment", "spent"),
    [
        ("tacit.ledger.book.Edit.append", 0),  # before anything is written
        ("tacit.ledger.book.Edit.finish", 0),  # while the writes are gathered
        ("tacit.ledger.book.Receipt", 1),  # after the commit, before the caller knows
    ],
)
def test_a_charge_killed_at_a_given_moment_is_whole_or_absent(where: str, moment: str, spent: int) -> None:
    open_ledger(where).register("d", Pure(2))
    code = (
        "import os, signal, sys\n"
        "from unittest.mock import patch\n"
        "from tacit.guarantees import Pure\n"
        "from tacit.ledger import open_ledger\n"
        "budget = open_ledger(sys.argv[1]).budget('d')\n"
        "with patch(sys.argv[2], lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)):\n"
        "    budget.charge(Pure(1))\n"
    )
    assert subprocess.run([sys.executable, "-c", code, where, moment], timeout=200).returncode == -signal.SIGKILL
    with open_ledger(where) as ledger:
        budget = ledger.budget("d")
        assert budget.spent.epsilon == spent  # type: ignore[attr-defined]
        budget.charge(Pure(2 - spent))  # nothing is left locked, and what is left can be spent
        assert verify(ledger, "d").sound


def test_a_charge_costs_the_same_however_long_the_history(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "ledger.db")
    budget = ledger.budget("d", Pure(10**6))
    statements: list[str] = []
    ledger._store._pool._free[0].set_trace_callback(statements.append)  # type: ignore[attr-defined]

    def count() -> int:
        statements.clear()
        budget.charge(Pure(1))
        return len(statements)

    early = count()
    for _ in range(300):
        budget.charge(Pure(1))
    assert count() == early == 5  # begin, read, insert, update, commit
    with ledger._store.reading() as work:
        for query in (
            "SELECT * FROM tacit_datasets WHERE name = ?",
            "UPDATE tacit_datasets SET at = '' WHERE name = ?",
        ):
            plan = work.read(f"EXPLAIN QUERY PLAN {query}", "d")
            assert "SEARCH" in plan[0][3]
            assert "INDEX" in plan[0][3]
