"""Durable budgets: registered once, continued for good, the same accounts as in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tacit.budgets import Policy, Question
from tacit.errors import BudgetExceeded, InvalidInput, LedgerError, UnsupportedQuery
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, Zcdp
from tacit.ledger import open_ledger, verify
from tests.ledger import raw

QUESTION = Question("sum(t.x)", "SELECT SUM(x) FROM t WHERE name = 'Ada'", ("sum",), ("t.x", "t.name"), "ada")


def test_a_budget_survives_its_process(where: str) -> None:
    with open_ledger(where) as ledger:
        budget = ledger.budget("shop", Pure(2), kinds=("customer",))
        receipt = budget.charge(Pure("0.5"), QUESTION)
        budget.settle(receipt, {"value": 3, "guarantee": "Pure 1/2"})
    with open_ledger(where) as ledger:
        again = ledger.budget("shop", Pure(2), kinds=("customer",))
        assert (again.spent, again.remaining) == (Pure("0.5"), Pure("1.5"))
        stored = again.recall(QUESTION, Pure("0.5"))
        assert stored is not None
        assert (stored.answer["value"], stored.cost) == (3, Pure("0.5"))
        assert datetime.now(UTC) - stored.at < timedelta(minutes=5)
        assert again.recall(QUESTION, Pure("0.25")) is None
        with pytest.raises(BudgetExceeded, match=r"Pure\(1.5\) left of Pure\(2\); nothing was spent"):
            again.charge(Pure(2))
        assert ledger.names() == ["shop"]
        assert ledger.dataset("shop").kinds == ("customer",)
        assert verify(ledger, "shop").sound


@pytest.mark.parametrize(
    ("total", "composition", "cost"),
    [
        (Pure(3), "basic", Pure("1/3")),
        (Approx(2, "1e-6"), "basic", Zcdp("0.001")),
        (Approx(2, "1e-6"), "advanced", Pure("0.1")),
        (Approx(2, "1e-6"), "advanced", Zcdp("0.001")),
        (Zcdp("0.5"), "basic", Pure("0.1")),
        (Renyi(8, 1), "basic", Zcdp("0.01")),
    ],
)
def test_every_kind_of_budget_continues_exactly(
    tmp_path: Path, total: Guarantee, composition: str, cost: Guarantee
) -> None:
    path = tmp_path / "ledger.db"
    before = open_ledger(path).budget("d", total, composition=composition)
    before.charge(cost)
    after = open_ledger(path).budget("d", total, composition=composition)
    after.charge(cost)
    assert (before.spent, before.remaining, repr(before)) == (after.spent, after.remaining, repr(after))
    assert verify(open_ledger(path), "d").sound


def test_shares_analysts_and_parts_are_durable_too(where: str) -> None:
    budget = open_ledger(where).budget("d", Pure(3))
    budget.share(Pure(1), "weekly").charge(Pure("0.5"))
    budget.analyst("ada", Pure("0.5")).charge(Pure("0.25"), QUESTION)
    budget.parallel("region").part("north").charge(Pure("0.5"))
    ledger = open_ledger(where)
    again = ledger.budget("d")
    assert again.spent == Pure("1.75")
    again.parallel("region").part("south").charge(Pure("0.4"))
    assert again.spent == Pure("1.75")
    assert again.share(Pure(1), "weekly").spent == Pure("0.5")
    with pytest.raises(BudgetExceeded, match="analyst 'ada'"):
        again.analyst("ada").charge(Pure("0.5"))
    with pytest.raises(InvalidInput, match="same terms"):
        again.share(Pure(2), "weekly")
    again.analyst("ada").amend(limit=Pure(1), policy=Policy(largest=Pure("0.1")))
    with pytest.raises(BudgetExceeded, match="policy"):
        again.analyst("ada").charge(Pure("0.5"))
    assert set(ledger.accounts("d")) == {
        "share:weekly",
        "analyst:ada",
        "group:region",
        "group:region/part:north",
        "group:region/part:south",
    }
    assert verify(ledger, "d").sound


def test_policies_are_kept_and_amended(where: str) -> None:
    policy = Policy(Pure("0.5"), frozenset({"t.x", "t.name"}), frozenset({"sum", "count"}))
    open_ledger(where).register("d", Pure(3), policy=policy)
    budget = open_ledger(where).budget("d")
    budget.charge(Pure("0.5"), QUESTION)
    with pytest.raises(UnsupportedQuery, match=r"t\.salary"):
        budget.charge(Pure("0.5"), Question("p", "", ("sum",), ("t.salary",)))
    budget.amend(policy=Policy())
    open_ledger(where).budget("d").charge(Pure(1))
    with pytest.raises(InvalidInput, match="only an analyst"):
        budget.amend(limit=Pure(5))


def test_two_sessions_cannot_believe_in_two_budgets(where: str) -> None:
    ledger = open_ledger(where)
    ledger.budget("d", Approx(2, "1e-6"), composition="advanced")
    for total, composition in ((Pure(2), "basic"), (Approx(2, "1e-6"), "basic"), (Approx(3, "1e-6"), "advanced")):
        with pytest.raises(
            LedgerError, match=r"has the budget Approx\(2, 1e-06\), advanced composition .*nothing was spent"
        ):
            ledger.budget("d", total, composition=composition)
    with pytest.raises(LedgerError, match="has the budget"):
        ledger.budget("d", Approx(2, "1e-6"), composition="advanced", set_aside="1e-7")
    with pytest.raises(LedgerError, match="kind person in this ledger, not customer, supplier"):
        ledger.budget("d", kinds=("customer", "supplier"))
    with pytest.raises(LedgerError, match="already"):
        ledger.register("d", Pure(2))
    with pytest.raises(LedgerError, match="no dataset 'e'"):
        ledger.budget("e")
    assert ledger.names() == ["d"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda ledger: ledger.register("", Pure(1)),
        lambda ledger: ledger.budget("a\x00b", Pure(1)),
        lambda ledger: ledger.budget("d", Pure(1), kinds=()),
        lambda ledger: ledger.budget("d", Pure(1), literals="some"),
        lambda ledger: ledger.register("d", Pure(1), kinds=()),
        lambda ledger: ledger.register("d", Pure(1), literals="some"),
        lambda ledger: ledger.register("d", Pure(1), composition="advanced"),
        lambda ledger: ledger.register("d", 1),
        lambda ledger: ledger.budget("c", Pure(1)).settle(ledger.budget("c").charge(Pure("0.1")), {"value": object()}),
        lambda ledger: open_ledger(" "),
    ],
)
def test_wrong_arguments_are_refused(tmp_path: Path, wrong: object) -> None:
    with pytest.raises(InvalidInput):
        wrong(open_ledger(tmp_path / "ledger.db"))  # type: ignore[operator]


def test_what_is_kept_of_constants(where: str) -> None:
    ledger = open_ledger(where)
    for name, literals in (("kept", "keep"), ("left out", "omit")):
        ledger.register(name, Pure(1), literals=literals).charge(Pure("0.1"), QUESTION)
    kept, omitted = (list(ledger.history(name))[-1].body for name in ("kept", "left out"))
    assert kept["text"] == QUESTION.text
    assert omitted["text"] == "SELECT SUM(x) FROM t WHERE name = ?"
    assert (kept["who"], kept["statistics"], kept["columns"]) == ("ada", ["sum"], ["t.name", "t.x"])
    assert "plan" not in kept


def test_any_text_can_be_asked(where: str) -> None:
    ledger = open_ledger(where)
    budget = ledger.budget("größe", Pure(1))
    odd = Question("p\x00\ud800", "SELECT '\x00\ud800é", ("sum",), (), "añá")
    budget.settle(budget.charge(Pure("0.1"), odd), {"value": "é\x00"})
    assert list(ledger.history("größe"))[1].body["text"] == odd.text
    stored = budget.recall(odd, Pure("0.1"))
    assert stored is not None
    assert stored.answer == {"value": "é\x00"}
    assert verify(ledger, "größe").sound


def test_an_auditors_view_changes_nothing(where: str) -> None:
    open_ledger(where).budget("d", Pure(1)).charge(Pure("0.5"))
    view = open_ledger(where, read_only=True)
    budget = view.budget("d")
    assert (view.read_only, budget.spent, len(list(view.history("d")))) == (True, Pure("0.5"), 2)
    assert verify(view, "d").sound
    for change in (
        lambda: budget.charge(Pure("0.1")),
        lambda: budget.analyst("ada"),
        lambda: budget.amend(policy=Policy()),
        lambda: view.register("e", Pure(1)),
        lambda: view.budget("e", Pure(1)),
    ):
        with pytest.raises(LedgerError, match="read-only"):
            change()


def test_history_is_read_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.ledger.ledger._PAGE", 3)
    ledger = open_ledger(tmp_path / "ledger.db")
    budget = ledger.budget("d", Pure(1))
    for _ in range(6):
        budget.charge(Pure("0.1"))
    assert [entry.number for entry in ledger.history("d")] == list(range(1, 8))
    assert [entry.number for entry in ledger.history("d", after=5)] == [6, 7]


def test_history_without_answers_reads_none_of_them(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page of a gateway looks at the history; long answers must cost it neither time nor memory."""
    tricky = {"a": {"charge": 7, "cost": "x"}, "b": ',"charge":99', "z": 'é\x00,\\"charge\\":8'}
    answers: list[dict[str, Any] | None] = [{}, tricky, {"long": "y" * 50_000} | tricky, None]
    with open_ledger(where) as ledger:
        plain, strict = ledger.budget("plain", Pure(9)), ledger.budget("strict", Pure(9), policy=Policy(failures=2000))
        for budget in (plain, strict):
            receipts = [budget.charge(Pure("0.01")) for _ in answers]
            for receipt, answer in zip(receipts, answers, strict=True):
                budget.settle(receipt, answer)
        whole = {name: list(ledger.history(name)) for name in ("plain", "strict")}
        read: list[int] = []

        def parsed(text: str) -> Any:
            read.append(len(text))
            return json.loads(text)

        monkeypatch.setattr("tacit.ledger.texts.parsed", parsed)
        for end, most in ((1000, 2000), (20, 60_000)):  # an end that is too short holds no number, and more is read
            monkeypatch.setattr("tacit.ledger.ledger._END", end)
            read.clear()
            for name, entries in whole.items():
                found = list(ledger.history(name, answers=False))
                short = [replace(e, body={k: v for k, v in e.body.items() if k != "answer"}) for e in entries]
                assert found == short
            assert max(read) < most


def test_the_store_itself_keeps_history_append_only(where: str) -> None:
    open_ledger(where).budget("d", Pure(1))
    for statement in ("UPDATE tacit_entries SET body = ''", "DELETE FROM tacit_entries"):
        with pytest.raises(Exception, match="append-only"):
            raw.rows(where, statement)


def test_threads_and_forked_processes_share_a_ledger(where: str) -> None:
    ledger = open_ledger(where)
    budget = ledger.budget("d", Pure(10))

    def ask() -> None:
        for _ in range(5):
            budget.charge(Pure("0.1"))

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(200)
    assert budget.spent == Pure(2)
    child = os.fork()
    if not child:
        try:
            ask()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    ask()
    assert budget.spent == Pure(3)
    assert verify(ledger, "d").sound


def test_processes_that_register_at_once_agree(where: str) -> None:
    code = (
        "import sys; from tacit.ledger import open_ledger; from tacit.guarantees import Pure\n"
        "open_ledger(sys.argv[1]).budget('d', Pure(1)).charge(Pure('0.1'))"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, where]) for _ in range(4)]
    assert [process.wait(200) for process in started] == [0] * 4
    assert open_ledger(where).budget("d", Pure(1)).spent == Pure("0.4")
