"""The budget a session charges: atomic, exact, and clear when it refuses."""

from dataclasses import replace
from fractions import Fraction
from threading import Barrier, Thread

import pytest

from tacit.budgets import Budget, Policy, Question, Receipt, open_budget
from tacit.budgets.filters import plus
from tacit.errors import BudgetExceeded, InvalidInput, UnsupportedQuery
from tacit.guarantees import Approx, Pure, Renyi, Zcdp

QUESTION = Question("sum(orders.amount)", "SELECT SUM(amount) FROM orders", ("sum",), ("orders.amount",), "ada")


def test_spending() -> None:
    budget = open_budget(Pure(2))
    assert (budget.total, budget.composition) == (Pure(2), "basic")
    assert budget.spent.epsilon == 0  # type: ignore[attr-defined]
    assert repr(budget) == "<Budget Pure(2): spent Pure(0), left Pure(2)>"
    receipt = budget.charge(Pure("0.5"))
    assert (receipt.number, receipt.cost) == (1, Pure("0.5"))
    assert (budget.spent, budget.remaining) == (Pure("0.5"), Pure("1.5"))
    assert budget.fits(Pure("1.5"))
    assert not budget.fits(Pure("1.500001"))
    with pytest.raises(
        BudgetExceeded, match=r"Pure\(2\) does not fit: the budget has Pure\(1.5\) left of .*; nothing was spent"
    ) as refusal:
        budget.charge(Pure(2))
    assert str(refusal.value).count(".") >= 1
    with pytest.raises(BudgetExceeded):
        budget.check(Pure(2))
    budget.check(Pure("1.5"))
    assert budget.spent == Pure("0.5")
    budget.charge(Pure("1.5"))
    assert not budget.fits(Pure("1e-30"))


def test_somebody_is_told_of_each_charge_and_of_no_refusal() -> None:
    budget = open_budget(Pure(1))
    heard: list[Receipt] = []
    receipt = budget.telling(heard.append).charge(Pure("0.5"), QUESTION)
    with pytest.raises(BudgetExceeded):
        budget.telling(heard.append).charge(Pure(1))
    budget.charge(Pure("0.1"))
    assert heard == [receipt]
    assert budget.spent == Pure("0.6")


def test_thirds_add_up_exactly() -> None:
    budget = open_budget(Pure(1))
    for _ in range(3):
        budget.charge(Pure(Fraction(1, 3)))
    assert budget.spent == Pure(1)


def test_a_converted_cost_is_named_when_it_does_not_fit() -> None:
    with pytest.raises(BudgetExceeded, match=r"Zcdp\(1\), here Approx\("):
        open_budget(Approx(1, "1e-6")).charge(Zcdp(1))
    with pytest.raises(BudgetExceeded, match=r"Zcdp\(1\), here Approx\("):
        open_budget(Approx(1, "1e-6"), "advanced").charge(Zcdp(1))


def test_sums_stay_short_and_are_never_understated() -> None:
    exact, kept = Fraction(0), (Fraction(0),)
    for n in range(1, 400):
        exact += Fraction(1, 10**6 + n)
        kept = plus(kept, (Fraction(1, 10**6 + n),))  # type: ignore[assignment]
    assert kept[0].denominator.bit_length() < 600
    assert 0 <= kept[0] - exact < Fraction(1, 10**90)


def test_amounts_may_be_zero_and_behave_like_guarantees() -> None:
    assert repr(Pure.amount(Fraction(0))) == "Pure(0)"
    assert repr(Approx.amount(Fraction(1), Fraction(0))) == "Approx(1, 0)"
    assert Zcdp.amount(Fraction(0)) <= Zcdp(1)
    assert Renyi.amount(Fraction(8), Fraction(0)) <= Renyi(8, 1)


def test_threads_cannot_overspend() -> None:
    budget, admitted = open_budget(Zcdp(1)), []
    start = Barrier(8)

    def ask() -> None:
        start.wait(200)
        for _ in range(40):
            try:
                admitted.append(budget.charge(Zcdp("0.01")))
            except BudgetExceeded:
                return

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(200)
    assert len(admitted) == 100 == len({receipt.number for receipt in admitted})
    assert budget.remaining.rho == 0  # type: ignore[attr-defined]


def test_the_same_question_is_remembered() -> None:
    budget = open_budget(Pure(2))
    assert budget.recall(QUESTION, Pure(1)) is None
    receipt = budget.charge(Pure(1), QUESTION)
    assert budget.recall(QUESTION, Pure(1)) is None  # charged, but no answer yet
    budget.settle(receipt, {"value": 3})
    stored = budget.recall(QUESTION, Pure(1))
    assert stored is not None
    assert (stored.answer, stored.cost) == ({"value": 3}, Pure(1))
    assert stored.at >= receipt.at
    assert budget.recall(QUESTION, Pure("0.5")) is None
    assert budget.recall(Question("other"), Pure(1)) is None
    budget.settle(budget.charge(Pure("0.5"), QUESTION), None)  # the engine failed
    assert budget.recall(QUESTION, Pure("0.5")) is None


@pytest.fixture
def limited() -> Budget:
    policy = Policy(Pure("0.5"), frozenset({"orders.amount", "items.*"}), frozenset({"sum"}))
    return open_budget(Approx(5, "1e-6"), policy=policy)


def test_a_policy_limits_single_questions(limited: Budget) -> None:
    limited.charge(Pure("0.5"), QUESTION)
    limited.charge(Pure("0.5"), Question("p", "", ("sum",), ("items.price", "items.day")))
    with pytest.raises(BudgetExceeded, match=r"at most Pure\(0.5\)"):
        limited.charge(Pure("0.6"), QUESTION)
    with pytest.raises(BudgetExceeded, match="at most"):
        limited.charge(Approx("0.1", "1e-9"), QUESTION)
    with pytest.raises(UnsupportedQuery, match=r"column 'orders\.name'"):
        limited.charge(Pure("0.1"), Question("p", "", ("sum",), ("orders.amount", "orders.name")))
    with pytest.raises(UnsupportedQuery, match="statistic 'max'"):
        limited.check(Pure("0.1"), Question("p", "", ("max",), ("orders.amount",)))
    with pytest.raises(UnsupportedQuery, match="does not say which"):
        limited.charge(Pure("0.1"))
    assert limited.spent.epsilon == 1  # type: ignore[attr-defined]


def test_a_policy_holds_for_remembered_answers_too(limited: Budget) -> None:
    limited.settle(limited.charge(Pure("0.5"), QUESTION), {"value": 1})
    assert limited.recall(QUESTION, Pure("0.5")) is not None
    limited.amend(policy=Policy(statistics=frozenset({"count"})))
    with pytest.raises(UnsupportedQuery):
        limited.recall(QUESTION, Pure("0.5"))


def test_an_analysts_policy_adds_to_the_datasets(limited: Budget) -> None:
    ada = limited.analyst("ada", policy=Policy(largest=Pure("0.1")))
    ada.charge(Pure("0.1"), QUESTION)
    with pytest.raises(BudgetExceeded, match="analyst 'ada'"):
        ada.charge(Pure("0.2"), QUESTION)
    assert limited.analyst("ada").spent == ada.spent
    with pytest.raises(InvalidInput, match="same terms"):
        limited.analyst("ada", policy=Policy(largest=Pure("0.2")))


def test_prices_that_changed_are_not_held_against_what_was_paid_for() -> None:
    budget = open_budget(Pure(1))
    budget.settle(budget.charge(Pure("0.001"), QUESTION), {"value": 3})
    budget.amend(policy=Policy(largest=Pure("0.0001"), least=Fraction(1, 10), failures=1))
    stored = budget.recall(QUESTION, Pure("0.001"))
    assert stored is not None
    assert stored.answer == {"value": 3}
    with pytest.raises(BudgetExceeded):
        budget.charge(Pure("0.001"), QUESTION)


def test_an_answer_without_an_owner_belongs_to_who_paid_for_it() -> None:
    budget = open_budget(Pure(1))
    ada, grace = budget.analyst("ada"), budget.analyst("grace")
    ada.settle(ada.charge(Pure("0.1"), QUESTION), {"value": 3})
    assert ada.recall(replace(QUESTION, owner=ada.account), Pure("0.1")) is not None
    assert grace.recall(replace(QUESTION, owner=grace.account), Pure("0.1")) is None
