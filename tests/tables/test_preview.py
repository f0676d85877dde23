"""A preview says what a question would cost and answer; it spends nothing and shows nothing about the rows."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tacit import Approx, Preview, Private, Pure, Session
from tacit.tables.face.preview import ExpectedError, ForeseenPart
from tacit.tables.statistics.catalogue import entries, made_up

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


def test_every_aggregate_of_sql_has_an_error_to_expect(session: Session) -> None:
    pytest.importorskip("scipy")
    assert {entry.policy for entry in entries() if entry.call} <= set(made_up())
    seen = session.preview("SELECT COUNT(*), MAX(v), COUNT(DISTINCT who) FROM t", epsilon="0.9")
    found = [part.expected_error(persons=50) for part in seen.parts]
    assert all(each.share is not None or each.noise_std is not None for each in found)
    assert [each for each in found if each.noise_std is None] != []
    without = [part.expected_error() for part in seen.parts]
    assert all("persons=" in each.words or each.noise_std is not None for each in without)
    assert seen.expected_error(persons=50).share == max(each.share or 0 for each in found)


def test_the_error_of_groups_is_that_of_one_of_them(session: Session) -> None:
    pytest.importorskip("scipy")
    query = "SELECT v, COUNT(*), SUM(v) FROM t WHERE v IN (1, 2, 3, 4) GROUP BY v"
    parts = session.preview(query, epsilon="0.5").parts
    assert [(part.statistic, part.groups, part.cost) for part in parts] == [
        ("count", 4, Pure("0.25")),
        ("sum", 4, Pure("0.25")),
    ]
    many, few = (parts[0].expected_error(persons=count) for count in (4000, 400))
    assert "in each of 4 groups of about 1,000 persons" in many.words
    assert many.share is not None
    assert few.share is not None
    assert many.share < few.share
    assert "no useful answer" in parts[0].expected_error(persons=4).words


def test_groups_that_are_found_are_forecast_for_a_guess() -> None:
    pytest.importorskip("scipy")
    with Session({"t": Private(ROWS, person="who")}, budget=Approx(1, "1e-5")) as session:
        seen = session.preview("SELECT v, COUNT(*), SUM(v) FROM t GROUP BY v", epsilon="0.5", delta="1e-6")
        assert [part.groups for part in seen.parts] == [None, None]
        assert "if so many are found" in str(seen.expected_error(persons=100_000))


def test_what_is_not_forecast_is_said() -> None:
    found = ForeseenPart("mood", Pure(1), "mood").expected_error(persons=10)
    assert found == ExpectedError("mood: no forecast is made of it; the answer will say how far off it may be.")
    with Session({"t": Private(ROWS, person=["who", "v"])}, budget=Pure(1)) as session:
        assert "several persons" in str(session.preview("SELECT COUNT(*) FROM t", epsilon=1).expected_error(100))


def test_a_sample_moves_a_count_by_more_than_its_noise() -> None:
    with Session({"t": Private(ROWS, person="who")}, budget=Pure(1), sample="0.5") as session:
        seen = session.preview(PERSONS, epsilon="0.5")
        assert isinstance(seen, Preview)
        assert seen.noise_std is None
