"""Charges that are taken up again: paid once, answered once, whoever dies, is slow, or comes second."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tacit import BudgetExceeded, LedgerError, Pure
from tacit.answers import Answer
from tacit.budgets import Budget, Message, Policy, Question, Receipt, Unanswered, Unsettled
from tacit.errors import EngineError, UnsupportedQuery
from tacit.guarantees import RenyiCurve
from tacit.ledger import charges, open_ledger, verify
from tacit.tables.releasing.releaser import charge_and_release
from tests.ledger import raw

ASKED = Question("rows", "how many", ("count",), continued=True, version="2026")
LOST = Message("k", "m", lost_before=datetime.now(UTC) + timedelta(days=1))
SENT = Question("rows", "how many", ("count",), message=Message("k", "m"))
AGAIN = replace(SENT, message=LOST)


def same_charge(one: Receipt, other: Receipt) -> bool:
    return (one.number, one.at, one.account, one.position) == (other.number, other.at, other.account, other.position)


def test_a_charge_without_an_answer_pays_for_the_next_attempt(where: Any) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(1))
        assert not budget.begun(ASKED, Pure(1))
        first = budget.charge(Pure(1), ASKED)  # and the process dies
        assert budget.begun(ASKED, Pure(1))
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop")
        again = budget.charge(Pure(1), ASKED)
        assert same_charge(again, first)
        for other in (replace(ASKED, identity="sum"), replace(ASKED, version="2027"), replace(ASKED, continued=False)):
            with pytest.raises(BudgetExceeded):
                budget.charge(Pure(1), other)
        budget.settle(again, None)  # it failed, and is tried once more
        third = budget.charge(Pure(1), ASKED)
        assert same_charge(third, first)
        budget.settle(third, {"value": 3})
        budget.settle(first, {"value": 4})  # who comes second is not recorded
        found = budget.recall(ASKED, Pure(1))
        assert found is not None
        assert found.answer == {"value": 3}
        with pytest.raises(Unanswered):
            budget.charge(Pure(1), ASKED)
        assert [charge.status for charge in charges(ledger, "shop")] == ["answered"]
        assert verify(ledger, "shop").sound


def test_asking_anew_is_a_charge_of_its_own_and_continued_too(where: Any) -> None:
    anew = replace(ASKED, anew=True)
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(3))
        budget.settle(budget.charge(Pure(1), ASKED), {"value": 1})
        second = budget.charge(Pure(1), anew)
        assert same_charge(budget.charge(Pure(1), anew), second)
        budget.settle(second, {"value": 2})
        third = budget.charge(Pure(1), anew)
        assert third.number > second.number
        assert budget.spent == Pure(3)
        assert verify(ledger, "shop").sound


def test_an_answer_by_another_way_does_not_open_a_charge_again(where: Any) -> None:
    """What was answered stays answered, whoever asked the same afterwards, or at another cost."""
    anew = replace(ASKED, anew=True)
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(10))
        first = budget.charge(Pure(1), ASKED)
        budget.settle(first, {"value": 1})
        plain = budget.charge(Pure(1), replace(ASKED, continued=False))
        budget.settle(plain, {"value": 2})
        third = budget.charge(Pure(1), anew)
        assert third.number > plain.number  # charged, not continued
        assert not budget.settle(first, {"value": 5})
        budget.settle(third, {"value": 3})
        lasting = replace(ASKED, lasting=True, version="")
        opened = budget.charge(Pure(1), lasting)
        assert not budget.begun(lasting, Pure(2))
        assert budget.charge(Pure(2), lasting).number > opened.number  # another cost is another charge
        assert same_charge(budget.charge(Pure(1), lasting), opened)
        budget.settle(opened, {"value": 1})
        assert budget.charge(Pure(1), lasting).number > opened.number
        assert verify(ledger, "shop").sound


def test_one_account_does_not_go_on_with_anothers_charge(where: Any) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(2))
        budget.analyst("ada").charge(Pure(1), ASKED)
        assert not budget.begun(ASKED, Pure(1))
        budget.charge(Pure(1), ASKED)
        assert budget.spent == Pure(2)


def told(value: int) -> Answer:
    return Answer("how many", value, Pure(1), "as it is", "nobody")


@pytest.mark.parametrize(("first", "second"), [(ASKED, ASKED), (SENT, AGAIN)])
def test_two_living_attempts_show_one_answer(where: Any, first: Question, second: Question) -> None:
    """The first is not dead, only slow: while it draws, the second draws too, and is written."""
    shown: list[Any] = []
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(1))

        def slow() -> Answer:
            shown.append(charge_and_release(budget, Pure(1), second, lambda: told(2)))
            return told(1)

        with pytest.raises(LedgerError, match="nothing was released") if first.message else nullcontext():
            shown.append(charge_and_release(budget, Pure(1), first, slow))
        assert {answer.value for answer in shown} == {2}
        assert [entry.what for entry in ledger.history("shop")].count("answered") == 1
        assert budget.spent == Pure(1)
        assert verify(ledger, "shop").sound


@pytest.mark.parametrize(("first", "second"), [(ASKED, ASKED), (SENT, AGAIN)])
def test_what_was_written_and_not_shown_is_what_is_shown(where: Any, first: Question, second: Question) -> None:
    """The process dies between the two, or the connection breaks as it writes."""

    class Dying(Budget):
        def settle(self, receipt: Receipt, answer: Any, **more: Any) -> bool:
            super().settle(receipt, answer, **more)
            raise KeyboardInterrupt

    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(1))
        with pytest.raises(KeyboardInterrupt):
            charge_and_release(Dying(budget._book), Pure(1), first, lambda: told(1))
        found = budget.repeated(second, Pure(1)) or budget.recall(second, Pure(1))
        assert found is not None
        assert found.answer["value"] == 1
        with pytest.raises(Unanswered):
            budget.charge(Pure(1), second)


def test_a_charge_pays_for_the_law_it_was_made_for_only(where: Any) -> None:
    law, other = RenyiCurve.pure("0.5"), RenyiCurve.pure(1)
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(3))

        def slow() -> Answer:
            found.append(budget.charge(Pure(1), replace(ASKED, runs=other)))
            return told(1)

        found: list[Receipt] = []
        with pytest.raises(EngineError):  # it may not write any more, and what was not written is not shown
            charge_and_release(budget, Pure(1), replace(ASKED, runs=law), slow)
        assert budget.spent == Pure(2)
        assert not budget.begun(replace(ASKED, runs=law), Pure(1))
        assert budget.begun(replace(ASKED, runs=other), Pure(1))
        budget.charge(Pure(1), replace(SENT, runs=law))
        with pytest.raises(Unanswered):
            budget.charge(Pure(1), replace(AGAIN, runs=other))
        assert same_charge(budget.charge(Pure(1), replace(ASKED, runs=other)), found[0])
        assert verify(ledger, "shop").sound


@pytest.mark.parametrize(("first", "second"), [(ASKED, ASKED), (SENT, AGAIN)])
def test_what_was_forbidden_since_is_not_taken_up(where: Any, first: Question, second: Question) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(1))
        budget.charge(Pure(1), first)
        budget.amend(policy=Policy(statistics=frozenset({"sum"})))
        with pytest.raises(UnsupportedQuery):
            budget.charge(Pure(1), second)


def test_what_is_paid_for_already_needs_nothing_more(where: Any) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(1))
        budget.charge(Pure(1), SENT)
        assert not budget.begun(SENT, Pure(1))  # it may be alive
        assert budget.begun(AGAIN, Pure(1))
        assert not budget.begun(replace(AGAIN, identity="sum"), Pure(1))
        budget.charge(Pure(1), AGAIN)
        assert not budget.begun(AGAIN, Pure(1))


def test_each_attempt_takes_room_for_a_failure(where: Any) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(9), policy=Policy(failures=3))
        budget.settle(budget.charge(Pure(1), ASKED), None)
        assert budget.unanswered == 1
        budget.charge(Pure(1), ASKED)  # and the process dies
        assert budget.unanswered == 2
        third = budget.charge(Pure(1), ASKED)
        assert budget.unanswered == 3
        with pytest.raises(Unsettled):
            budget.charge(Pure(1), ASKED)
        budget.settle(third, {"value": 3})
        assert budget.unanswered == 2  # two attempts brought nothing
        assert verify(ledger, "shop").sound


@pytest.mark.parametrize(("first", "second"), [(ASKED, ASKED), (SENT, AGAIN)])
@pytest.mark.parametrize(("before", "since"), [(None, 3), (3, None)])
def test_failures_that_are_limited_since(
    where: Any, first: Question, second: Question, before: int | None, since: int | None
) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(9), policy=Policy(failures=before))
        budget.charge(Pure(1), first)
        budget.amend(policy=Policy(failures=since))
        budget.settle(budget.charge(Pure(1), second), {"value": 3})
        budget.charge(Pure(1))
        assert verify(ledger, "shop").problems == ()


def test_a_forged_second_answer_is_found(tmp_path: Path) -> None:
    path = str(tmp_path / "ledger.db")
    with open_ledger(path) as ledger:
        budget = ledger.budget("shop", Pure(2))
        budget.settle(budget.charge(Pure(1), ASKED), {"value": 1})
        budget.settle(budget.charge(Pure(1), replace(ASKED, anew=True)), {"value": 2})
    raw.change(path, "UPDATE tacit_entries SET body = replace(body, '\"charge\":4', '\"charge\":2') WHERE number = 5")
    with open_ledger(path) as ledger:
        assert any("has an answer already" in problem for problem in verify(ledger, "shop").problems)
