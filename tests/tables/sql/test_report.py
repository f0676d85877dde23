"""Reports and weights: what is released, what it costs, and that all of it is answered or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from tacit import Answers, Approx, BudgetExceeded, InvalidInput, Private, Public, Pure, Session, UnsupportedQuery
from tacit.answers.results import Result
from tacit.randomness import seeded_not_private

pa = pytest.importorskip("pyarrow")

ROWS = range(3000)
ORDERS = pa.table(
    {"who": [i % 600 for i in ROWS], "month": [i // 7 % 12 for i in ROWS], "amount": [i * i % 100 for i in ROWS]}
)
QUESTIONS = {
    "months": "SELECT month, COUNT(amount) AS n, SUM(amount) AS s FROM orders GROUP BY month",
    "means": "SELECT month, AVG(amount) AS m FROM orders GROUP BY month",
    "all": "SELECT COUNT(*) AS n FROM orders",
    "again": "SELECT COUNT(*) AS rows, COUNT(DISTINCT who) AS persons FROM orders",
}
KEYS = {"months": range(12), "means": range(12)}


def rows_of(found: Answers) -> Any:
    assert isinstance(found, Result)
    return found.rows


@pytest.fixture
def session() -> Iterator[Session]:
    tables: dict[str, Private | Public] = {
        "orders": Private(ORDERS, person="who"),
        "names": Public(pa.table({"number": [1, 2], "name": ["one", "two"]})),
    }
    with Session(tables, budget=Approx(10, "1e-5"), randomness=seeded_not_private(7)) as opened:
        yield opened


def test_equal_aggregates_are_released_once(session: Session) -> None:
    seen = session.report(QUESTIONS, keys=KEYS, epsilon=4, preview=True)
    assert [release.statistics[0] for release in seen.releases] == [
        "count by month", "sum of amount by month", "number of rows", "number of persons",
    ]  # fmt: skip
    assert [release.cost for release in seen.releases] == [Pure(1)] * 4
    assert (seen.cost, seen.fits, seen.free) == (Pure(4), True, False)
    assert "count by month, for months, means: Pure(1)" in str(seen)
    assert "number of rows, for all, again" in str(seen)
    assert seen.releases[3].expected_error().noise_std == pytest.approx(1.36, abs=0.1)
    assert session.budget.spent.keywords()["epsilon"] == 0
    report = session.report(QUESTIONS, keys=KEYS, epsilon=4)
    assert session.budget.spent.keywords()["epsilon"] == 4
    assert list(report) == list(QUESTIONS)
    assert report.guarantee == Pure(4)
    assert all(isinstance(result, Result) for result in report.values())
    assert rows_of(report["all"])[0].cells[0].value == rows_of(report["again"])[0].cells[0].value
    for counted, mean in zip(rows_of(report["months"]), rows_of(report["means"]), strict=True):
        n, s = (cell.value for cell in counted.cells[1:])
        assert mean.cells[1].value == pytest.approx(s / n, rel=0.01)
    assert report["means"].guarantee == Pure(2)
    again = session.report(QUESTIONS, keys=KEYS, epsilon=4)
    assert again.stored
    assert str(again).endswith("The whole report: Pure(4).")
    assert session.report(QUESTIONS, keys=KEYS, epsilon=4, preview=True).free
    assert session.budget.spent.keywords()["epsilon"] == 4


def test_a_report_that_does_not_fit_spends_nothing(session: Session) -> None:
    assert not session.report(QUESTIONS, keys=KEYS, epsilon=11, preview=True).fits
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        session.report(QUESTIONS, keys=KEYS, epsilon=11)
    broken = QUESTIONS | {"broken": "SELECT month, COUNT(*) FROM orders GROUP BY month"}
    with pytest.raises(InvalidInput, match="delta"):
        session.report(broken, keys=KEYS, epsilon=1)
    assert session.budget.spent.keywords() == {"epsilon": 0, "delta": 0}


def test_weights_split_the_cost(session: Session) -> None:
    seen = session.report(QUESTIONS, keys=KEYS, weights={"again": 3}, epsilon=8, preview=True)
    assert [release.cost for release in seen.releases] == [Pure(1), Pure(1), Pure(3), Pure(3)]
    listed = session.report(QUESTIONS, keys=KEYS, weights=[1, 1, 1, 3], epsilon=8, preview=True)
    assert [release.cost for release in listed.releases] == [release.cost for release in seen.releases]
    query = "SELECT COUNT(*) AS n, SUM(amount) AS s, 2 * SUM(amount) AS twice FROM orders"
    assert "(Pure(1) for number of rows, Pure(3) for sum of amount)" in str(
        session.preview(query, weights={"twice": 3}, epsilon=4)
    )
    answers = session.sql(query, weights=[1, 3, 1], epsilon=4)
    assert [cell.guarantee for cell in answers.rows[0].cells] == [Pure(1), Pure(3), Pure(3)]  # type: ignore[union-attr]
    assert session["orders"].sql(query, weights=[1, 3, 1], epsilon=4).stored
    for wrong in ({"who": 1}, {"n": 0}, {"n": -1}, [1, 2], "nst", 3):
        with pytest.raises(InvalidInput, match="weights"):
            session.preview(query, weights=wrong, epsilon=4)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="weights"):
        session.sql("SELECT name FROM names", weights=[1], epsilon=1)


def test_groups_are_found_once_over_all_questions(session: Session) -> None:
    found = {
        "counts": "SELECT month, COUNT(amount) AS n, COUNT(DISTINCT who) AS p FROM orders GROUP BY month",
        "means": "SELECT month, AVG(amount) AS m FROM orders GROUP BY month ORDER BY month",
    }
    seen = session.report(found, epsilon=6, delta="1e-6", preview=True)
    assert [release.cost for release in seen.releases] == [Approx(6, "1e-6")]
    report = session.report(found, epsilon=6, delta="1e-6")
    shown = [{row.key for row in rows_of(result)} for result in report.values()]
    assert shown[0] == shown[1]
    assert len(shown[0]) > 6
    assert rows_of(report["means"])[0].cells[1].guarantee == Approx(6, "1e-6")  # one release, counted once
    assert session.report(found, epsilon=6, delta="1e-6").stored
    alone = session.preview(found["counts"], epsilon=2, delta="1e-6")
    assert "groups are found once for 2 aggregates" in str(alone)


def test_a_report_may_hold_public_rows_and_refuses_what_is_answered_first(session: Session) -> None:
    report = session.report(["SELECT name FROM names ORDER BY name", QUESTIONS["all"]], epsilon=1)
    assert [row.cells[0] for row in rows_of(report["1"])] == ["one", "two"]
    across = "SELECT COUNT(*) FROM orders WHERE amount > (SELECT AVG(amount) FROM orders)"
    with pytest.raises(UnsupportedQuery, match="a subquery across persons"):
        session.report({"rich": across}, epsilon=1)
    for wrong in ("SELECT COUNT(*) FROM orders", {}, {1: QUESTIONS["all"]}, 7):
        with pytest.raises(InvalidInput, match="a report takes"):
            session.report(wrong, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="keys"):
        session.report(QUESTIONS, keys={"none": [1]}, epsilon=1)
    assert session.budget.spent.keywords()["epsilon"] == Fraction(1)


def test_quantiles_of_a_report_are_columns(session: Session) -> None:
    report = session.report({"q": "SELECT QUANTILE_CONT(amount, [0.25, 0.75]) AS q FROM orders"}, epsilon=4)
    assert [len(row.cells) for row in report["q"].rows] == [2]
