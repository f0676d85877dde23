"""What people and other tools read of a ledger."""

from __future__ import annotations

import csv
import io
import json
import time
from datetime import timedelta
from fractions import Fraction
from getpass import getuser
from pathlib import Path

import pytest

from tacit.budgets import Policy, Question
from tacit.errors import LedgerError
from tacit.guarantees import Approx, Pure, Renyi, Zcdp
from tacit.ledger import Ledger, charges, dp_events, history, open_ledger, report, show, to_csv, to_json
from tacit.ledger.entries import GENESIS, chained, without_literals
from tacit.ledger.texts import canonical, filter_from, filter_text, guarantee, policy_from, policy_text

SQL = 'SELECT SUM("amount, net") | x FROM t'


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    with open_ledger(tmp_path / "ledger.db") as writer:
        budget = writer.register("shop", Approx(4, "1e-6"), kinds=("customer", "supplier"))
        budget.settle(budget.charge(Pure("0.5"), Question("p", SQL, ("sum",), ("t.amount",), "ada")), {"value": 7})
        budget.settle(budget.charge(Approx("0.25", "1e-8"), Question("q", "=1+1", ("count",), (), "bob")), None)
        budget.analyst("ada", Approx(1, "1e-7")).charge(Pure("0.25"), Question("r", "x", ("sum",), (), "ada"))
        budget.amend(policy=Policy(largest=Pure(1)))
    return open_ledger(tmp_path / "ledger.db", read_only=True)


def test_charges_have_a_status(ledger: Ledger) -> None:
    found = charges(ledger, "shop")
    assert [(c.number, c.who, c.cost, c.status) for c in found] == [
        (2, "ada", "Pure 1/2", "answered"),
        (4, "bob", "Approx 1/4 1/100000000", "failed"),
        (7, "ada", "Pure 1/4", "charged"),
    ]
    assert [c.account for c in found] == ["", "", "analyst:ada"]
    with pytest.raises(LedgerError, match="no dataset"):
        charges(ledger, "other")


def test_show_and_history(ledger: Ledger, tmp_path: Path) -> None:
    assert show(ledger).startswith("shop: Approx(4, 1e-06), spent Approx(1, 1e-08), left Approx(3, 9.9e-07); 8 entries")
    assert "no datasets" in show(open_ledger(tmp_path / "empty.db"))
    lines = list(history(ledger, "shop"))
    assert [line.split("  ")[1:] for line in lines] == [
        [f"registered by {getuser()}: protects customer, supplier, total Approx(4, 1e-06)"],
        ["Pure(0.5)", "answered", f"ada: {SQL}"],
        ["Approx(0.25, 1e-08)", "failed", "bob: =1+1"],
        [f"opened by {getuser()}: account analyst:ada, total Approx(1, 1e-07)"],
        ["Pure(0.25)", "no outcome", "ada (analyst:ada): x"],
        [f'amended by {getuser()}: policy {{"largest":"Pure 1"}}, total Approx(4, 1e-06)'],
    ]


def test_a_question_is_one_line_however_many_parts_it_was_charged_for(tmp_path: Path) -> None:
    """Asked anew it is another one; what a terminal would obey is not shown."""
    with open_ledger(tmp_path / "ledger.db") as writer:
        budget = writer.register("shop", Pure(9))
        for key in ("sum", "count", "sum"):
            question = Question(key, "SELECT SUM(x),\n  COUNT(*) FROM t -- \x1b[2J", (key,), (), "ada")
            budget.settle(budget.charge(Pure("0.5"), question), {"value": 7})
        lines = [line.split("  ", 1)[1] for line in history(writer, "shop")][1:]
    told = "answered  ada: SELECT SUM(x), COUNT(*) FROM t -- \N{REPLACEMENT CHARACTER}[2J"
    assert lines == [f"Pure(1)  {told}", f"Pure(0.5)  {told}"]


def test_a_history_is_told_in_local_time(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    at = next(ledger.history("shop")).at
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert next(history(ledger, "shop")).startswith(f"{at + timedelta(hours=5, minutes=30):%Y-%m-%d %H:%M}  ")
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_report_fits_a_page_and_says_what_matters(ledger: Ledger) -> None:
    page = report(ledger, "shop")
    assert len(page.splitlines()) < 60
    for words in (
        "each customer and each supplier",
        "Budget: Approx(4, 1e-06)",
        "Spent: Approx(1, 1e-08). Left: Approx(3, 9.9e-07)",
        "3 charged, of which 1 answered, 1 failed and 1 without a recorded outcome",
        "largest cost of one question: Pure 1",
        "History: sound",
        f"`{ledger.dataset('shop').head}`",
        "| ada | 2 | Pure 0.75 |",
        "| analyst:ada | Approx(1, 1e-07) |",
        "\\| x FROM t",
    ):
        assert words in page


def test_csv_and_json(ledger: Ledger) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(ledger, "shop"))))
    assert [row["text"] for row in rows] == [SQL, "'=1+1", "x"]  # a spreadsheet must not compute a question
    told = json.loads(to_json(ledger, "shop"))
    assert (told["name"], told["kinds"], told["sums"]) == ("shop", ["customer", "supplier"], "1 1/100000000")
    head = GENESIS
    for entry in told["entries"]:  # the export is enough to check the chain
        head = chained("shop", entry["number"], entry["at"], entry["what"], canonical(entry["body"]), head)
        assert head == entry["hash"]
    assert head == told["head"]


def test_events_agree_with_dp_accounting(tmp_path: Path) -> None:
    """Twenty pure questions of 0.1: the accountant's ε lies below their sum, at or above optimal composition."""
    import dp_accounting
    from dp_accounting import pld, rdp

    ledger = open_ledger(tmp_path / "ledger.db")
    budget = ledger.budget("d", Approx(5, "1e-6"))
    for _ in range(20):
        budget.charge(Pure("0.1"))
    spent = dp_events(ledger, "d")
    relation = dp_accounting.NeighboringRelation.REPLACE_ONE
    accountant = pld.PLDAccountant(neighboring_relation=relation)
    accountant.compose(spent.event)
    assert spent.delta == 0
    assert accountant.get_epsilon(0) == pytest.approx(2, rel=2e-3)  # it rounds each loss up to a step of 1e-4
    assert 1.0 < accountant.get_epsilon(1e-3) < 1.7
    budget.charge(Approx("0.1", "1e-7"))
    budget.charge(Zcdp("0.001"))
    spent = dp_events(ledger, "d")
    assert spent.delta == Fraction(1, 10**7)
    accountant = rdp.RdpAccountant(neighboring_relation=relation)
    accountant.compose(spent.event)
    assert accountant.get_epsilon(1e-3) > 1
    budget.charge(Renyi(64, "0.001"))
    assert not accountant.supports(dp_events(ledger, "d").event)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("SELECT SUM(x) FROM t WHERE a = 'it''s' AND b > 1.5e-3", "SELECT SUM(x) FROM t WHERE a = ? AND b > ?"),
        ('SELECT "col 1", x2 FROM t1 WHERE y IN (1, 2)', 'SELECT "col 1", x2 FROM t1 WHERE y IN (?, ?)'),
        ("day >= DATE '2020-01-01' AND r = -3", "day >= DATE ? AND r = -?"),
        (".5 < x", "? < x"),
        ("name = 'Ada", ""),
        ("x -- Ada", ""),
        ("x /* Ada */", ""),
        ("name = $$Ada$$", ""),
        (r"name = E'A\'da'", ""),
        ("", ""),
    ],
)
def test_constants_are_left_out_surely(text: str, kept: str) -> None:
    assert without_literals(text) == kept


def test_texts_are_read_as_they_were_written() -> None:
    from tacit.budgets import filter_for

    for given in (Pure("1/3"), Approx(0, "1e-30"), Zcdp("0.1"), Renyi("3/2", 2)):
        assert guarantee(given.text()) == given
    for rule in (
        filter_for(Pure(1)),
        filter_for(Approx(1, "1e-6"), "advanced", set_aside="1e-7"),
        filter_for(Approx(1, "1e-6"), "rooted"),
        filter_for(Renyi(8, 1)),
    ):
        assert filter_from(filter_text(rule)) == rule
    for policy in (Policy(), Policy(Pure(1), frozenset({"a.b", "a.c"}), frozenset())):
        assert policy_from(policy_text(policy)) == policy
    for broken in ("Pure", "Pure x", "Pure 1 2", "Nothing 1", "Pure 1/0", "Pure -1"):
        with pytest.raises(LedgerError, match="damaged"):
            guarantee(broken)
    for read in (filter_from, policy_from):
        with pytest.raises(LedgerError, match="damaged"):
            read("[1]")
