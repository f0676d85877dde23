"""A message that arrives twice is charged once: in memory, in every store, in a race and after a crash."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tacit
from tacit import Private, Pure
from tacit.budgets import Budget, Message, Policy, Question, Unanswered, Unsettled, open_budget
from tacit.errors import InvalidInput, LedgerError
from tacit.ledger import charges, open_ledger, verify
from tests.ledger import raw

MESSAGE = Message("ada's key", "SELECT SUM(x)")
QUESTION = Question("sum(t.x)", "SELECT SUM(x) FROM t", ("sum",), ("t.x",), "ada", MESSAGE)
COST = Pure("0.5")


def once_for_all(budget: Budget) -> None:
    assert budget.repeated(QUESTION, COST) is None
    receipt = budget.charge(COST, QUESTION)
    with pytest.raises(Unanswered, match="nothing more was charged") as waiting:
        budget.repeated(QUESTION, COST)
    assert not waiting.value.failed
    with pytest.raises(Unanswered):
        budget.charge(COST, QUESTION)
    budget.settle(receipt, {"value": 3})
    found = budget.repeated(QUESTION, COST)
    assert found is not None
    assert found.answer == {"value": 3}
    with pytest.raises(Unanswered):
        budget.charge(COST, QUESTION)
    with pytest.raises(InvalidInput, match="another question"):
        budget.repeated(replace(QUESTION, message=replace(MESSAGE, asked="SELECT MAX(x)")), COST)
    assert budget.spent == COST
    other = replace(QUESTION, identity="max(t.x)")  # a second aggregate of the same message
    budget.settle(budget.charge(COST, other), None)
    with pytest.raises(Unanswered, match="it failed"):
        budget.repeated(other, COST)
    assert budget.spent == Pure(1)
    budget.charge(COST, replace(QUESTION, message=None))  # paid again, but for this the answer stays the first one
    assert budget.repeated(QUESTION, COST) == found


def test_a_request_is_charged_once_in_memory() -> None:
    once_for_all(open_budget(Pure(2)))


def test_a_request_is_charged_once_in_a_ledger(where: str) -> None:
    with open_ledger(where) as ledger:
        once_for_all(ledger.budget("d", Pure(2)))
        assert verify(ledger, "d").sound


def test_a_forged_outcome_of_a_request_is_found(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    with open_ledger(path) as ledger:
        ledger.budget("d", Pure(2)).charge(COST, QUESTION)
    raw.change(path, "UPDATE tacit_answers SET number = 1")
    with open_ledger(path) as ledger:
        assert verify(ledger, "d").problems == ("the stored answers are not those of the history",)


def test_racing_requests_are_charged_once(where: str) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("d", Pure(10))

        def ask(_: int) -> bool:
            try:
                budget.charge(COST, QUESTION)
            except Unanswered:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(ask, range(16))) == 1
        assert budget.spent == COST


def test_a_lost_charge_is_taken_up_once_and_counts_as_a_failure(where: str) -> None:
    with open_ledger(where) as ledger:
        whole = ledger.budget("d", Pure(10), policy=Policy(failures=3))
        budget = whole.analyst("ada")
        first = budget.charge(COST, QUESTION)
        later = replace(MESSAGE, lost_before=datetime.now(UTC) + timedelta(hours=1))
        again = replace(QUESTION, message=later)
        assert budget.repeated(again, COST) is None
        second = budget.charge(COST, again)
        assert (second.number, second.account, second.position) == (first.number, first.account, first.position)
        assert second.resumed > first.number
        assert budget.spent == COST
        assert budget.unanswered == 2  # it was lost, and may fail now
        with pytest.raises(Unanswered):
            budget.charge(COST, again)  # once, whoever comes next
        with pytest.raises(LedgerError, match="another attempt took it up; nothing was released"):
            budget.settle(first, {"value": 1})  # it was not dead, only slow
        budget.settle(second, {"value": 2})
        for late in (first, second):
            with pytest.raises(LedgerError, match="has an outcome already"):
                budget.settle(late, {"value": 3})
        found = budget.repeated(QUESTION, COST)
        assert found is not None
        assert found.answer == {"value": 2}
        assert budget.unanswered == 1
        assert budget.spent == whole.spent == COST
        assert verify(ledger, "d").sound
        assert charges(ledger, "d")[0].status == "answered"


def test_a_lost_charge_needs_room_for_one_more_failure(where: str) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("d", Pure(10), policy=Policy(failures=1)).analyst("ada")
        budget.charge(COST, QUESTION)
        again = replace(QUESTION, message=replace(MESSAGE, lost_before=datetime.now(UTC) + timedelta(hours=1)))
        with pytest.raises(Unsettled) as refused:
            budget.charge(COST, again)
        assert "1 were lost" in str(refused.value.lost)
        budget.renew()
        budget.charge(COST, again)
        assert budget.unanswered == 1  # the loss took its room before the renewal, and the attempt takes it after
        assert verify(ledger, "d").sound


def test_racing_attempts_take_up_a_lost_charge_once(where: str) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("d", Pure(10))
        budget.charge(COST, QUESTION)
        again = replace(QUESTION, message=replace(MESSAGE, lost_before=datetime.now(UTC) + timedelta(hours=1)))

        def ask(_: int) -> bool:
            try:
                budget.charge(COST, again)
            except Unanswered:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(ask, range(16))) == 1
        assert budget.spent == COST


def test_a_forged_second_attempt_is_found(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    again = replace(QUESTION, message=replace(MESSAGE, lost_before=datetime.now(UTC) + timedelta(hours=1)))
    with open_ledger(path) as ledger:
        budget = ledger.budget("d", Pure(2))
        budget.settle(budget.charge(COST, QUESTION), {"value": 1})
        with pytest.raises(Unanswered):
            budget.charge(COST, again)  # what was answered is not lost
        budget.charge(COST, replace(again, identity="max(t.x)"))
    raw.change(
        path, 'UPDATE tacit_entries SET what = \'resumed\', body = \'{"charge":2,"cost":"Pure 1/2"}\' WHERE number = 4'
    )
    with open_ledger(path) as ledger:
        problems = verify(ledger, "d").problems
        assert any("takes up a charge that has an outcome" in problem for problem in problems)


def test_a_session_asks_the_same_message_once(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    data.write_text("who,x\n" + "".join(f"{i},{i % 7}\n" for i in range(50)))
    session = tacit.Session({"t": Private(data, person="who")}, Pure(1), name="d", ledger=tmp_path / "ledger.db")
    view = session._with(session._releaser.within(MESSAGE))
    query = "SELECT SUM(x), COUNT(*) FROM t"
    first = view.sql(query, epsilon=1, fresh=True)
    again = view.sql(query, epsilon=1, fresh=True)  # though fresh, and though the budget is spent
    assert first.to_dict()["answers"][0]["value"] == again.to_dict()["answers"][0]["value"]
    assert session.budget.spent == Pure(1)
