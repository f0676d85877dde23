"""Laws released by a session: charged first, recorded, certified; and what a policy or a hand-made law meets."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tacit import Answer, Answers, Approx, Private, Pure, Session, Zcdp, checker
from tacit.budgets import Policy, open_budget
from tacit.errors import BudgetExceeded, EngineError, InvalidInput, UnsupportedQuery
from tacit.grids import integers
from tacit.ledger import open_ledger
from tacit.mechanisms import Law, gaussian_vector, laplace, shifted_inverse, stable_keys, truncated_laplace
from tacit.numbers.enclosures import Enclosure

TABLE = pa.table({"who": [1, 2, 3], "x": [1, 2, 3]})


def session(budget: Any = None) -> Session:
    return Session({"t": Private(TABLE, person="who")}, budget or Approx(10, "1e-3"))


def test_a_draw_is_charged_and_certified() -> None:
    with session() as shop:
        answer = shop.release(laplace(300, epsilon=1), "customers")
        assert isinstance(answer, Answer)
        assert (answer.statistic, answer.guarantee, answer.interval().covers) == ("customers", Pure(1), "truth")
        assert shop.budget.spent == Approx.amount(Fraction(1), Fraction(0))
        found = checker.check(answer.certificate())
        assert not found.wrong
        assert not found.uncovered


@pytest.mark.parametrize(
    "law",
    [
        gaussian_vector([1, 2, 3], "0.1", 1),
        truncated_laplace(10, epsilon=1, delta="1e-6"),
        shifted_inverse([10, 9, 8, 3], integers(0, 20), 1),
        stable_keys({"a": 100, "b": 2}, epsilon=1, delta="1e-6"),
    ],
    ids=lambda law: law.name,
)
def test_whatever_the_library_draws_becomes_an_answer(law: Law[Any]) -> None:
    with session() as shop:
        answer = shop.release(law)
        assert isinstance(answer, Answer | Answers)
        assert answer.guarantee == law.guarantee
        assert not checker.check(answer.certificate()).wrong


def test_it_is_in_the_ledger_before_the_draw_and_paid_again(tmp_path: Path) -> None:
    law = laplace(300, epsilon=1)
    with Session({"t": Private(TABLE, person="who")}, Pure(3), name="shop", ledger=tmp_path / "l.db") as shop:
        shop.release(law, "customers")
        shop.release(law, "customers")
    again = open_ledger(tmp_path / "l.db").budget("shop")
    assert again.spent == Pure(2)


class Failing(Law[int]):
    """A law of somebody else, which would look at rows, or fail."""

    guarantee = Pure("0.001")

    def _draw(self, source: Any) -> int:
        raise ValueError("row 17")

    def pmf(self, y: int, bits: int = 64) -> Enclosure:
        return Enclosure.of(0, bits)


def test_a_law_made_by_hand_is_refused_and_costs_nothing() -> None:
    with session() as shop:
        with pytest.raises(InvalidInput, match="another class"):
            shop.release(Failing())
        with pytest.raises(InvalidInput, match=r"tacit\.mechanisms"):
            shop.release(3)  # type: ignore[arg-type]
        assert shop.budget.spent == Approx.amount(Fraction(0), Fraction(0))


def test_what_fails_after_the_charge_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    law = laplace(300, epsilon=1)
    monkeypatch.setattr(type(law), "_draw", Failing._draw)
    with session() as shop:
        with pytest.raises(EngineError) as raised:
            shop.release(law)
        assert "17" not in str(raised.value)
        assert raised.value.__cause__ is None
        assert raised.value.__context__ is None
        assert shop.budget.spent == Approx.amount(Fraction(1), Fraction(0))


@pytest.mark.parametrize("policy", [Policy(statistics=frozenset({"sum"})), Policy(columns=frozenset({"t.*"}))])
def test_policies_forbid_it(policy: Policy) -> None:
    with (
        session(open_budget(Pure(5), policy=policy)) as shop,
        pytest.raises(UnsupportedQuery, match="nothing was spent"),
    ):
        shop.release(laplace(300, epsilon=1))


def test_a_policy_may_name_it() -> None:
    allowed = open_budget(Pure(5), policy=Policy(statistics=frozenset({"release"})))
    with session(allowed) as shop:
        shop.release(laplace(300, epsilon=1))
        with pytest.raises(BudgetExceeded):
            shop.release(laplace(300, epsilon=6))


def test_a_part_does_not_pay_for_a_law() -> None:
    with session(Zcdp(5)) as shop:
        part = shop["t"].partition("x", [1, 2])[1]
        with pytest.raises(UnsupportedQuery, match="whole session"):
            part.session.release(laplace(300, epsilon=1))


def test_it_says_which_version_of_the_data_the_session_has() -> None:
    with Session({"t": Private(TABLE, person="who")}, Pure(3), version="2026-11") as shop:
        answer = shop.release(laplace(300, epsilon=1))
        assert isinstance(answer, Answer)
        assert answer.version == "2026-11"
