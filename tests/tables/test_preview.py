"""A preview says what a question would cost and answer; it spends nothing and shows nothing about the rows."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tacit import Preview, Private, Pure, Session
from tacit.tables.face.preview import ExpectedError

pa = pytest.importorskip("pyarrow")

ROWS = pa.table({"who": [i % 40 for i in range(100)], "v": list(range(100))})
PERSONS = "SELECT COUNT(DISTINCT who) FROM t"
SUM = "SELECT SUM(v) FROM t"


@pytest.fixture
def session() -> Iterator[Session]:
    with Session({"t": Private(ROWS, person="who")}, budget=Pure(1)) as opened:
        yield opened


def test_it_says_cost_rest_and_whether_it_fits(session: Session) -> None:
    seen = session.preview(SUM, epsilon="0.4")
    assert (seen.cost, seen.remaining, seen.fits, seen.free) == (Pure("0.4"), Pure(1), True, False)
    assert seen.statistics == ("sum of v",)
    assert str(seen) == seen.words == "sum of v: costs Pure(0.4) of the Pure(1) left. Nothing was spent."
    assert repr(seen) == f"<Preview of {seen}>"
    assert session.cost(SUM, epsilon="0.4") == seen
    assert not session.preview(SUM, epsilon=2).fits
    assert session.budget.remaining == Pure(1)


def test_what_was_answered_is_free_unless_it_must_be_fresh(session: Session) -> None:
    session.sql(SUM, epsilon="0.4")
    assert session.preview(SUM, epsilon="0.4").free
    assert str(session.preview(SUM, epsilon="0.4")) == "sum of v: answered before, so it is free. Nothing was spent."
    assert not session.preview(SUM, epsilon="0.4", fresh=True).free
    assert "nothing: answered before" in session.preview(SUM, epsilon="0.4")._repr_html_()


def test_its_cost_is_what_would_be_charged(session: Session) -> None:
    session.sql(PERSONS, epsilon="0.2")
    both = "SELECT COUNT(DISTINCT who), SUM(v) FROM t"
    seen = session.preview(both, epsilon="0.4")
    assert (seen.cost, seen.asked) == (Pure("0.2"), Pure("0.4"))
    before = session.budget.spent
    session.sql(both, epsilon="0.4")
    assert session.budget.spent == before + seen.cost
    free = session.preview(both, epsilon="0.4")
    assert free.free
    assert set(free.cost.keywords().values()) == {0}
    assert free.asked == Pure("0.4")


@pytest.mark.parametrize("aggregate", ["QUANTILE_CONT(v, 0.99)", "QUANTILE_CONT(v, [0.1, 0.9])"])
def test_no_other_statistic_is_forecast_in_its_place(session: Session, aggregate: str) -> None:
    assert session.preview(f"SELECT {aggregate} FROM t", epsilon="0.4").forecast is None
    assert session.preview("SELECT MEDIAN(v) FROM t", epsilon="0.4").forecast == "median"


def test_rows_of_several_persons_have_no_forecast_of_rows_of_one() -> None:
    with Session({"t": Private(ROWS, person=["who", "v"])}, budget=Pure(1)) as session:
        assert session.preview("SELECT COUNT(*) FROM t", epsilon="0.4").forecast is None


def test_it_is_ready_for_json_and_notebooks(session: Session) -> None:
    facts = json.loads(json.dumps(session.preview(SUM, epsilon=2).to_dict()))
    assert facts["cost"] == "Pure(2)"
    assert facts["fits"] is False
    assert facts["statistics"] == ["sum of v"]
    page = session.preview("SELECT SUM(CASE WHEN v < 3 THEN 1 ELSE 0 END) FROM t", epsilon=2)._repr_html_()
    assert "v &lt; 3" in page
    assert "not enough" in page


def test_noise_that_no_data_change_is_known_beforehand(session: Session) -> None:
    seen = session.preview(PERSONS, epsilon="0.5")
    answer = session["t"].persons(epsilon="0.5")
    assert seen.expected_error().noise_std == seen.noise_std == answer.noise_std
    assert "whatever the data are" in str(seen.expected_error())


def test_other_errors_are_forecast_for_a_number_of_persons(session: Session) -> None:
    pytest.importorskip("scipy")
    from tacit import plan

    seen = session.preview(SUM, epsilon="0.5")
    assert seen.expected_error().share is seen.expected_error().noise_std is None
    assert "persons=" in str(seen.expected_error())
    found = seen.expected_error(persons=1000, shape="uniform")
    assert found.share == plan("sum", persons=1000, epsilon="0.5", shape="uniform").error
    assert "made-up data" in str(found).lower()


@pytest.mark.parametrize(
    ("query", "why"),
    [("SELECT SUM(v), COUNT(*) FROM t", "one aggregate at a time"), ("SELECT MAX(v) FROM t", "no forecast")],
)
def test_it_says_why_it_knows_no_error(session: Session, query: str, why: str) -> None:
    found = session.preview(query, epsilon="0.5").expected_error(persons=1000)
    assert found == ExpectedError(found.words)
    assert why in found.words


def test_a_sample_moves_a_count_by_more_than_its_noise() -> None:
    with Session({"t": Private(ROWS, person="who")}, budget=Pure(1), sample="0.5") as session:
        seen = session.preview(PERSONS, epsilon="0.5")
        assert isinstance(seen, Preview)
        assert seen.noise_std is None
