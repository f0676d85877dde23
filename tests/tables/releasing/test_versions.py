"""Versions of the data: an answer is found again within its version, and says so where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tacit
from tacit import InvalidInput, Private, Pure
from tacit.budgets import Message, Question
from tacit.cli.app import run
from tacit.ledger import charges, open_ledger, verify

ROWS, PERSONS = "SELECT COUNT(*) FROM orders", "SELECT COUNT(DISTINCT customer) FROM orders"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_LEDGER", raising=False)
    replaced(tmp_path, 100)
    return tmp_path


def replaced(folder: Path, rows: int) -> None:
    """Put another file in place of the orders."""
    new = folder / "new.parquet"
    duckdb.sql(f"COPY (SELECT range AS customer, 1 AS amount FROM range({rows})) TO '{new}'")
    new.rename(folder / "orders.parquet")


def session(folder: Path, version: str | None = None) -> tacit.Session:
    tables = {"orders": Private(folder / "orders.parquet", person="customer")}
    return tacit.Session(tables, Pure(1000), name="shop", ledger=folder / "ledger.db", version=version)


def test_an_answer_is_reused_within_its_version_only(here: Path) -> None:
    found = {}
    for version, rows in ((None, 100), ("2026-10", 200), ("2026-11", 300)):
        replaced(here, rows)
        with session(here, version) as shop:
            first, again = shop["orders"].count(epsilon=50), shop["orders"].count(epsilon=50)
            assert (first.value, first.stored, again.value, again.stored) == (rows, False, rows, True)
            assert (first.version, again.version) == (version or "", version or "")
            assert ("Answered on" in str(again)) == (version is None)
            assert ("answered on" in repr(again)) == (version is None)
            found[version] = first
    with session(here, "2026-10") as shop:
        assert shop["orders"].count(epsilon=50).value == 200
        assert shop.budget.spent == Pure(150)
        assert shop.version == "2026-10"
        assert "version 2026-10" in repr(shop)
    with open_ledger(here / "ledger.db") as ledger:
        assert [charge.version for charge in charges(ledger, "shop")] == ["", "2026-10", "2026-11"]
        assert verify(ledger, "shop").sound


def test_no_stale_number_without_the_warning(here: Path) -> None:
    """Replace the file and ask again: one answer, several, a computed one, and a subquery that was answered before."""
    grouped = "SELECT amount, COUNT(*) AS n, SUM(amount) AS total FROM orders WHERE amount IN (1, 2) GROUP BY amount"
    mixed = "SELECT SUM(amount) / COUNT(*) AS mean FROM orders"
    with session(here) as shop:
        shop.sql(ROWS, epsilon=5)
        shop.sql(grouped, epsilon=5)
        shop.sql("SELECT COUNT(*) FROM orders WHERE amount >= (SELECT AVG(amount) FROM orders)", epsilon=5)
    replaced(here, 900)
    with session(here) as shop:
        assert str(shop.sql(ROWS, epsilon=5)).startswith("Answered on ")
        found = shop.sql(grouped, epsilon=5)
        assert str(found).startswith("Answered on ")
        assert repr(found).startswith("Result(answered on ")
        assert found._repr_html_().startswith("<p><strong>Answered on ")
        assert found.to_dict()["warning"].startswith("Answered on ")
        part = shop.sql(mixed, epsilon=10)  # the count was answered at this cost, the sum was not
        assert not part.stored
        assert "Made of the number of rows, answered on " in str(part)
        both = shop.sql("SELECT COUNT(*) AS n, MAX(amount) AS most FROM orders", epsilon=10)
        assert str(both).startswith("n (number of rows): answered on ")
        inner = shop.sql("SELECT SUM(amount) FROM orders WHERE amount >= (SELECT AVG(amount) FROM orders)", epsilon=5)
        assert "gave 1. Answered on " in str(inner) or "Answered on " in str(inner)
        fresh = shop.sql(ROWS, epsilon=5, fresh=True)
        assert not fresh.stored
        assert "nswered on" not in str(fresh) + repr(fresh)


def test_one_question_among_several_is_asked_anew(here: Path) -> None:
    with session(here) as shop:
        questions = {"rows": ROWS, "persons": PERSONS, "mean": "SELECT AVG(amount) FROM orders"}
        first = shop.report(questions, epsilon=30)
        assert shop.report(questions, epsilon=30).stored
        assert shop.report(questions, epsilon=30, fresh=["persons"], preview=True).cost == Pure(10)
        again = shop.report(questions, epsilon=30, fresh=["persons"])
        assert [result.stored for result in again.values()] == [True, False, True]
        assert shop.budget.spent == first.guarantee + Pure(10)
        for wrong in ("persons", ["nobody"], 3):
            with pytest.raises(InvalidInput, match="fresh"):
                shop.report(questions, epsilon=30, fresh=wrong)  # type: ignore[arg-type]


def test_a_message_is_charged_once_whatever_the_version_is(tmp_path: Path) -> None:
    with open_ledger(tmp_path / "ledger.db") as ledger:
        budget = ledger.budget("shop", Pure(10))
        message = Message("ada", "how many")
        old = Question("rows", message=message, version="2026-10")
        budget.settle(budget.charge(Pure(1), old), {"value": 1})
        new = Question("rows", message=message, version="2026-11")
        again = budget.repeated(new, Pure(1))
        assert again is not None
        assert again.answer == {"value": 1}
        assert budget.recall(new, Pure(1)) is None
        assert budget.recall(Question("rows"), Pure(1)) is None
        assert budget.recall(old, Pure(1)) is not None
        assert verify(ledger, "shop").sound


def test_labels_are_short_and_plain(here: Path) -> None:
    for wrong in ("", "a b", "\0", "x" * 65, "-x", 3):
        with pytest.raises(InvalidInput, match="version= must be a label"):
            session(here, wrong)  # type: ignore[arg-type]
    assert tacit.read("orders.parquet", "customer", Pure(1), version="a").session.version == "a"


def test_the_command_line_warns_and_asks_anew(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    base = ["ask", "orders.parquet", "--person", "customer", "--ledger", "ledger.db", "--epsilon", "50"]
    assert (
        run(["ledger", "create", "orders", "--ledger", "ledger.db", "--epsilon", "1000", "--person", "customer"]) == 0
    )

    def said(*more: str) -> tuple[str, str]:
        capfd.readouterr()
        assert run([*base, *more]) == 0
        found = capfd.readouterr()
        return found.out, found.err

    warning = "if the data have changed since, ask anew with --fresh."
    assert warning not in said(ROWS)[0]
    replaced(here, 300)
    out, _ = said(ROWS)
    assert out.startswith("Answered on ")
    assert warning in out
    assert "100" in out
    told: Any = json.loads(said("--json", ROWS)[0])
    assert next(iter(told)) == "warning"
    assert told["warning"].endswith(warning)
    assert warning in said("--csv", "--quiet", ROWS)[1]
    labelled = json.loads(said("--version", "2026-11", "--json", ROWS)[0])
    assert (labelled["value"], labelled["version"]) == (300, "2026-11")
    assert json.loads(said("--fresh", "--json", ROWS)[0])["value"] == 300
    two = f"{ROWS}; {PERSONS};"
    assert said(two)[0].endswith("The whole report: Pure(50).\n")
    replaced(here, 500)
    results = json.loads(said("--fresh-only", "2", "--json", two)[0])["results"]
    stored = [result["answers"][0]["stored"] for result in results.values()]
    assert stored == [True, False]
    assert [result["rows"][0]["value"] for result in results.values()] == [300, 500]
    for wrong in (["--csv", two], ["--keys", "a", two], ["--fresh-only", "1", ROWS], ["--fresh-only", "3", two]):
        assert run([*base, *wrong]) == 2
