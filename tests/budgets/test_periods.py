"""Periods: a budget for each and a bound for a lifetime, in memory and in ledgers."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tacit
from tacit import Approx, BudgetExceeded, InvalidInput, LedgerError, Periods, Private, Pure, Zcdp
from tacit.budgets import Budget, Calendar, Period, open_budget
from tacit.cli.app import run
from tacit.ledger import Ledger, open_ledger

MONTHLY = Periods("month", Pure(1), lifetime=Pure(3))


def opened(periods: Periods = MONTHLY) -> Calendar:
    return Calendar.open(open_budget(periods.above), periods)


@pytest.mark.parametrize(
    ("every", "name", "start", "end"),
    [
        ("day", "2026-12-31", date(2026, 12, 31), date(2027, 1, 1)),
        ("week", "2026-W53", date(2026, 12, 28), date(2027, 1, 4)),
        ("month", "2026-12", date(2026, 12, 1), date(2027, 1, 1)),
        ("quarter", "2026-Q4", date(2026, 10, 1), date(2027, 1, 1)),
        ("year", "2026", date(2026, 1, 1), date(2027, 1, 1)),
    ],
)
def test_a_period_has_a_name_and_days(every: str, name: str, start: date, end: date) -> None:
    found = Period.of(name, every)
    assert (found.start, found.end) == (start, end)
    for wrong in ("2026-13", "2026-02-30", "2026-Q5", "2026-W54", "0000", "9999", "26", f"{name} ", None, 2026, "٢٠٢٦"):
        with pytest.raises(InvalidInput, match="period= must be"):
            Period.of(wrong, every)


def test_both_limits_are_kept() -> None:
    calendar = opened()
    months = [calendar.period(f"2026-0{i}") for i in range(1, 6)]
    with pytest.raises(BudgetExceeded, match=r"the period '2026-01' has Pure\(1\) left"):
        months[0].charge(Pure("1.1"))
    for month in months[:3]:
        month.charge(Pure("0.9"))
    assert months[3].remaining == Pure("0.3")  # of the lifetime
    with pytest.raises(BudgetExceeded, match=r"the bound for a lifetime has Pure\(0.3\) left of Pure\(3\)"):
        months[3].charge(Pure("0.4"))
    months[4].charge(Pure("0.3"))
    assert [line.spent for line in calendar.lines] == [Pure("0.9")] * 3 + [Pure.amount(0), Pure("0.3")]  # type: ignore[arg-type]
    assert calendar.spent == Pure(3)
    assert not months[0].fits(Pure("0.05"))
    ada = months[0].analyst("ada", Pure("0.5"))
    assert ada.remaining == Pure.amount(0)  # type: ignore[arg-type]


def test_nothing_is_charged_outside_of_a_period_and_a_calendar_comes_first() -> None:
    budget = open_budget(Pure(3))
    ada = budget.analyst("ada")
    Calendar.open(budget, MONTHLY)
    for outside in (budget, ada):
        with pytest.raises(InvalidInput, match="nothing is charged outside"):
            outside.charge(Pure("0.1"))
    assert Calendar.open(budget, MONTHLY).terms == MONTHLY
    with pytest.raises(InvalidInput, match="there is a calendar already"):
        Calendar.open(budget, Periods("year", Pure(1), lifetime=Pure(3)))
    used = open_budget(Pure(3))
    used.charge(Pure(1))
    with pytest.raises(InvalidInput, match="nothing was spent"):
        Calendar.open(used, MONTHLY)
    with pytest.raises(InvalidInput, match="names another"):
        Calendar.open(open_budget(Pure(2)), MONTHLY)
    with pytest.raises(InvalidInput, match="more than a lifetime"):
        Calendar.open(open_budget(Pure(1)), Periods("month", Pure(2), lifetime=Pure(1)))
    with pytest.raises(InvalidInput, match="same kind"):
        Calendar.open(open_budget(Pure(1)), Periods("month", Zcdp(1), lifetime=Pure(1)))


def test_refreshing_must_be_asked_for_by_name_and_adds_up_nothing() -> None:
    for wrong in ({}, {"lifetime": Pure(1), "without_lifetime_bound": True}):
        with pytest.raises(InvalidInput, match="without_lifetime_bound=True"):
            Periods("month", Pure(1), **wrong)  # type: ignore[arg-type]
    calendar = opened(Periods("month", Pure(1), without_lifetime_bound=True))
    for i in range(1, 10):
        calendar.period(f"2026-0{i}").charge(Pure(1))
    with pytest.raises(BudgetExceeded, match="the period '2026-01'"):
        calendar.period("2026-01").charge(Pure("0.1"))
    assert calendar.lifetime is None
    assert calendar.spent == Pure(9)
    assert "after twelve of them by Pure(12)" in calendar.holds["lifetime"]
    part = calendar.period("2026-11").parallel("g").part("a")
    part.charge(Pure(1))
    with pytest.raises(BudgetExceeded):
        part.charge(Pure("0.1"))


def test_nothing_is_carried_over_unless_somebody_does() -> None:
    calendar = opened()
    calendar.period("2026-01").charge(Pure("0.25"))
    february = calendar.period("2026-02")
    assert february.remaining == Pure(1)
    calendar.carry("2026-01", "2026-02")
    assert february.remaining == Pure("1.75")
    assert calendar.period("2026-02").total == Pure("1.75")
    with pytest.raises(BudgetExceeded):
        calendar.period("2026-01").charge(Pure("0.01"))
    february.charge(Pure("1.75"))
    calendar.carry("2026-01", "2026-02")  # nothing is left to carry
    assert not february.fits(Pure("0.01"))
    assert "Pure(1.75)" in calendar.holds["period"]
    with pytest.raises(InvalidInput, match="not after"):
        calendar.carry("2026-02", "2026-01")
    untouched = opened()
    untouched.carry("2026-01", "2026-02")
    assert [repr(line.limit) for line in untouched.lines] == ["Pure(0)", "Pure(2)"]
    tight = Periods("month", Approx(1, "1e-6"), lifetime=Approx(2, "1e-5"))
    advanced = Calendar.open(open_budget(Approx(2, "1e-5"), "advanced"), tight)
    advanced.period("2026-01").charge(Pure("0.1"))
    with pytest.raises(InvalidInput, match="plain sums"):
        advanced.carry("2026-01", "2026-02")


ROWS = pa.table(
    {
        "who": ["a", "b", "c", "a", "d", "a"],
        "day": [date(2026, 1, 31), date(2026, 2, 1), date(2026, 2, 28), date(2026, 2, 3), date(2026, 3, 1), None],
        "order": [1, 2, 3, 4, 5, 6],
    }
)
ITEMS = pa.table({"of": [1, 2, 2, 3, 4, 5, 6], "kind": ["x"] * 7})
BIG = Periods("month", Pure(10000), lifetime=Pure(30000))
"""Counts are wrong with probability below e^-40."""


def session(period: str | None = "2026-02", **more: Any) -> tacit.Session:
    tables = {
        "visits": Private(ROWS, person="who", date="day", key="order"),
        "items": Private(ITEMS, through={"of": "visits.order"}),
    }
    return tacit.Session(tables, more.pop("budget", BIG), period=period, **more)


def test_a_period_sees_its_own_rows_only() -> None:
    """However a table comes into a question: alone, joined on either side, in a subquery, through a foreign key."""
    two = session()
    assert two["visits"].count(epsilon=40).value == 3
    for sql, expected in {
        "SELECT COUNT(*) FROM visits": 3,
        "SELECT COUNT(DISTINCT who) FROM visits WHERE day IS NOT NULL": 3,
        "SELECT COUNT(*) FROM items": 4,
        'SELECT COUNT(*) FROM items JOIN visits ON of = "order"': 4,
        'SELECT COUNT(v.day) FROM visits AS u LEFT JOIN visits AS v ON u."order" = v."order" AND u.who = v.who': 3,
        "SELECT COUNT(*) FROM visits AS u WHERE EXISTS "
        "(SELECT 1 FROM visits AS v WHERE v.who = u.who AND v.day < '2026-02-01')": 0,
        "SELECT COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) AS p WHERE n >= 2": 0,
        "WITH w AS (SELECT * FROM visits) SELECT COUNT(*) FROM w": 3,
    }.items():
        answer = two.sql(sql, epsilon=40)
        assert getattr(answer, "value", None) == expected, sql
    assert two.period == "2026-02"
    assert "period 2026-02" in repr(two)
    assert two.budget.total == Pure(10000)
    assert session("2026-04")["visits"].count(epsilon=40).value == 0


def test_answers_belong_to_their_period(tmp_path: Path) -> None:
    place = {"name": "v", "ledger": tmp_path / "ledger.db"}
    for month, expected in (("2026-01", 1), ("2026-02", 3)):
        with session(month, **place) as asked:
            assert asked["visits"].count(epsilon=40).value == expected
            assert asked["visits"].count(epsilon=40).stored
            assert asked.calendar is not None
    with session("2026-01", budget=None, **place) as asked:
        assert asked["visits"].count(epsilon=40).value == 1
        assert asked.calendar is not None
        assert asked.calendar.spent == Pure(80)
        assert list(asked.protection()) == ["event", "period", "lifetime", "undated"]
        assert asked.protection()["undated"].startswith("items without a date")
    with pytest.raises(InvalidInput, match="say which is asked about with period="):
        session(None, budget=None, **place)


def test_what_cannot_be_a_period_is_refused() -> None:
    for wrong in ("2026", "2026-2", "x"):
        with pytest.raises(InvalidInput, match="period= must be a month"):
            session(wrong)
    with pytest.raises(InvalidInput, match="period= is for budgets by period"):
        session(budget=Pure(1))
    for column in ("who", "nothing", "order"):
        with pytest.raises(InvalidInput, match="the date of table"):
            tacit.read(ROWS, "who", BIG, date=column, period="2026-02")
    yearly = Periods("year", Pure(1000), lifetime=Pure(3000))
    years = pa.table({"who": [1, 2, 3], "year": [2025, 2026, 2026]})
    assert tacit.read(years, "who", yearly, date="year", period="2026").count(epsilon=40).value == 2
    times = pa.table({"who": [1, 2], "at": pa.array([1767225599999999, 1767225600000000], pa.timestamp("us"))})
    assert tacit.read(times, "who", yearly, date="at", period="2026").count(epsilon=40).value == 1


def test_the_command_line_shows_the_calendar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TACIT_LEDGER", "ledger.db")
    Path("visits.csv").write_text("who,day\na,2026-01-31\nb,2026-02-01\n")

    def said(*words: str, code: int = 0) -> str:
        capfd.readouterr()
        assert run(list(words)) == code
        found = capfd.readouterr()
        return found.out + found.err

    assert "--every" in said("ledger", "create", "visits", "--epsilon", "3", "--each-epsilon", "1", code=2)
    create = ["ledger", "create", "visits", "--person", "who", "--every", "month", "--each-epsilon", "40"]
    assert "cost" in said(*create, code=2)
    assert "Pure(40) for each month, Pure(120) for a lifetime" in said(*create, "--epsilon", "120")
    ask = ["ask", "visits.csv", "--person", "who", "--epsilon", "40", "--date", "day", "SELECT COUNT(*) FROM visits"]
    assert "--period" in said(*ask, code=2)
    assert json.loads(said(*ask, "--period", "2026-02", "--json"))["value"] == 1
    assert "does not fit" in said(*ask, "--period", "2026-02", "--fresh", code=3)
    shown = said("ledger", "calendar", "visits")
    assert "2026-02: Pure(40), spent Pure(40), left Pure(0)" in shown
    assert "Any one row lies in one month" in shown
    said(*ask, "--period", "2026-01")
    assert "2026-03: Pure(40)" in said("ledger", "carry", "visits", "2026-01", "2026-03")
    facts = json.loads(said("ledger", "calendar", "visits", "--json"))
    assert (facts["spent"], facts["lifetime"]) == ("Pure(80)", "Pure(120)")
    unbounded = ["ledger", "create", "other", "--every", "year", "--each-epsilon", "1", "--without-lifetime-bound"]
    assert "no bound for a lifetime" in said(*unbounded)
    assert said(*unbounded, "--epsilon", "1", code=2)
    said("ledger", "create", "plain", "--epsilon", "1")
    assert "one budget for all times" in said("ledger", "calendar", "plain", code=2)


def test_a_read_only_view_knows_the_calendar_too(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with open_ledger(path) as ledger:
        Calendar.open(ledger.budget("shop", Pure(3)), MONTHLY).period("2026-01")
    with open_ledger(path, read_only=True) as view:
        found = Calendar.find(view.budget("shop"))
        assert isinstance(view, Ledger)
        assert found is not None
        assert isinstance(found.period("2026-01"), Budget)
        with pytest.raises(LedgerError, match="read-only"):
            found.period("2026-02")
