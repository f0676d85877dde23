"""Charges that are continued: paid once, answered once, whoever dies or comes second."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tacit import BudgetExceeded, Pure
from tacit.budgets import Question, Unanswered
from tacit.ledger import charges, open_ledger, verify

ASKED = Question("rows", "how many", continued=True, version="2026")


def test_a_charge_without_an_answer_pays_for_the_next_attempt(where: Any) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(1))
        assert not budget.begun(ASKED, Pure(1))
        first = budget.charge(Pure(1), ASKED)  # and the process dies
        assert budget.begun(ASKED, Pure(1))
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop")
        again = budget.charge(Pure(1), ASKED)
        assert again == first
        for other in (replace(ASKED, identity="sum"), replace(ASKED, version="2027"), replace(ASKED, continued=False)):
            with pytest.raises(BudgetExceeded):
                budget.charge(Pure(1), other)
        budget.settle(again, None)  # it failed, and is tried once more
        third = budget.charge(Pure(1), ASKED)
        assert third == first
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
        assert budget.charge(Pure(1), anew) == second
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
        assert budget.charge(Pure(1), lasting) == opened
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
