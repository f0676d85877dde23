"""Asking until one number is above: paid once, for good, about the session's own tables only."""

from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from tacit import Private, Pure, Session, checker
from tacit.answers.storing import decode_answer
from tacit.budgets import Policy, open_budget
from tacit.errors import BudgetExceeded, InvalidInput, UnsupportedQuery
from tacit.ledger import open_ledger
from tacit.randomness import seeded_not_private

TABLE = pa.table({"who": list(range(500)), "x": [i % 10 for i in range(500)]})


def session(ledger: Path | None = None, sample: float | None = None) -> Session:
    tables: dict[str, Private] = {"t": Private(TABLE, person="who")}
    if ledger is not None:
        return Session(tables, Pure(3), name="shop", ledger=ledger)
    return Session(tables, Pure(3), sample=sample, randomness=seeded_not_private(5))


def test_questions_cost_once_until_one_is_above() -> None:
    with session() as shop, shop.above(250, epsilon=1) as watch:
        answers = [watch.ask(shop["t"].filter(f"x < {n}")) for n in (1, 2, 3, 9)]  # of 50, 100, 150, 450 persons
        assert answers == [False, False, False, True]
        assert (watch.asked, watch.open, shop.budget.spent) == (4, False, Pure(1))
        with pytest.raises(InvalidInput, match="over"):
            watch.ask(shop["t"])


def test_what_it_cost_and_found_is_in_the_ledger(tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    with session(place) as shop:
        watch = shop.above(250, epsilon=1)
        assert open_ledger(place).budget("shop").spent == Pure(1)  # before anything was asked
        watch.ask(shop["t"].filter("x < 1"))
        watch.close()
    (entry,) = [entry for entry in open_ledger(place).history("shop") if entry.what == "answered"]
    answer = decode_answer(entry.body["answer"])
    assert answer.value is None  # type: ignore[union-attr]
    found = checker.check(answer.certificate())
    assert (found.wrong, found.uncovered) == ([], [])


def test_a_watch_that_is_lost_has_paid(tmp_path: Path) -> None:
    """As when the process dies: the charge is there, the noise is gone, and nothing can be asked for it again."""
    place = tmp_path / "ledger.db"
    shop = session(place)
    shop.above(250, epsilon=1).ask(shop["t"].filter("x < 1"))  # neither closed nor ended
    with session(place) as again:
        assert again.budget.spent == Pure(1)
        again.above(250, epsilon=2)
        with pytest.raises(BudgetExceeded):
            again.above(250, epsilon=1)
    shop.close()


def test_other_tables_are_refused_and_stay_open() -> None:
    with session() as shop, session() as other, session(sample=0.5) as sampled:
        watch = shop.above(250, epsilon=1)
        for table in (other["t"], shop["t"].partition("x", [1, 2])[1], sampled["t"]):
            with pytest.raises(UnsupportedQuery, match="its own session"):
                watch.ask(table)
        assert (watch.asked, other.budget.spent) == (0, Pure.amount(Fraction(0)))
        with pytest.raises(UnsupportedQuery, match="nor a sample"):
            sampled.above(250, epsilon=1)


def test_rows_of_several_persons_are_refused() -> None:
    edges = pa.table({"a": [1, 2], "b": [2, 3]})
    with Session({"e": Private(edges, person=["a", "b"])}, Pure(1)) as graph:
        watch = graph.above(1, epsilon=1)
        with pytest.raises(UnsupportedQuery, match="several persons"):
            watch.ask(graph["e"])


def test_where_failures_are_limited_an_open_watch_counts_as_one() -> None:
    budget = open_budget(Pure(5), policy=Policy(failures=3))
    with Session({"t": Private(TABLE, person="who")}, budget) as shop:
        watch = shop.above(250, epsilon=1)
        assert budget.unanswered == 1
        watch.close()
        assert budget.unanswered == 0


@pytest.mark.parametrize("policy", [Policy(statistics=frozenset({"sum"})), Policy(columns=frozenset({"t.*"}))])
def test_policies_forbid_it(policy: Policy) -> None:
    budget = open_budget(Pure(5), policy=policy)
    with Session({"t": Private(TABLE, person="who")}, budget) as shop, pytest.raises(UnsupportedQuery):
        shop.above(250, epsilon=1)
    assert budget.spent == Pure.amount(Fraction(0))
