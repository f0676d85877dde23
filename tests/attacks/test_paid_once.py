"""What is paid for one period is about its rows, and what is paid once is drawn once, however the account is named.

The attacks: the budget of one month is given to a session that reads all months; a series is continued under two
settings of who keeps answers, and its next period is drawn twice for one charge; a period is told before it has ended,
and the rows that come until then change what a person was counted for.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

import tacit
from tacit import EngineError, InvalidInput, Private, Pure, Session
from tacit.budgets import Calendar, open_budget

pd = pytest.importorskip("pandas")

DAYS = ["2026-10-01", "2026-10-02", "2026-09-01", "2026-08-01", None]
TABLES = {"t": Private(pd.DataFrame({"who": range(5), "day": pd.to_datetime(DAYS)}), person="who", date="day")}
MONTHLY = tacit.Periods("month", Pure(10**5), lifetime=Pure(10**6))


@pytest.mark.parametrize("below", [lambda b: b, lambda b: b.analyst("ada"), lambda b: b.share(Pure(10**4), "ada")])
def test_the_budget_of_a_period_pays_for_its_rows_alone(below: Any) -> None:
    calendar = Calendar.open(open_budget(Pure(10**6)), MONTHLY)
    with Session(TABLES, below(calendar.period("2026-10"))) as session:
        assert session.period == "2026-10"
        assert session["t"].count(epsilon=1000).value == 2
        assert session.protection().keys() == {"event", "period", "lifetime"}
    assert [line.spent for line in calendar.lines] in ([Pure(1000)], [Pure(10**4)])  # a share is spent when it is set


def test_the_budget_of_a_period_pays_for_no_other() -> None:
    calendar = Calendar.open(open_budget(Pure(10**6)), MONTHLY)
    october = calendar.period("2026-10").analyst("ada", Pure(2000))
    with pytest.raises(InvalidInput, match="for 2026-10, not for '2026-09'"):
        Session(TABLES, october, period="2026-09")
    with Session(TABLES, october, period="2026-10") as session:
        assert session.budget.total == Pure(2000)  # of the account that was given, not of the whole month


def test_a_series_that_two_ask_for_under_other_owners_is_drawn_once() -> None:
    first = date(2025, 1, 1)
    rows = pd.DataFrame({"who": range(60), "day": pd.to_datetime([first + timedelta(i) for i in range(60)])})
    session = Session({"t": Private(rows, person="who")}, Pure(10))
    ada = session.analyst("ada")
    ada["t"].series("day", every="day", start=first, until="2025-01-31", epsilon=1)
    seen = set()
    for own in (True, False, True):
        view = session._with(replace(ada._releaser, own_answers=own))
        with suppress(EngineError):  # it went on elsewhere
            seen.add(view["t"].series("day", every="day", until="2025-02-05").told.chapters)
    assert len(seen) == 1


def test_a_period_that_has_not_ended_is_not_told() -> None:
    rows = pd.DataFrame({"who": [1], "day": pd.to_datetime(["2025-01-01"]), "x": [1.0]})
    session = Session({"t": Private(rows, person="who")}, Pure(10))
    start = date.today() - timedelta(days=40)
    series = session["t"].series("day", every="day", of="sum", column="x", start=start, until="2999-12-31", epsilon=1)
    assert 39 <= series.bins <= 41
