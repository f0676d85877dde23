"""A result in the width of a terminal."""

import pytest

import tacit
from tacit import Pure, Session
from tacit.cli.narrow import fitting
from tacit.randomness import seeded_not_private

ROWS = [{"who": n % 50, "region": ("EU", "US")[n % 2], "amount": n % 97} for n in range(300)]
TWO = "SELECT region, SUM(amount), COUNT(*) FROM orders GROUP BY region"


@pytest.fixture
def session() -> Session:
    pa = pytest.importorskip("pyarrow")
    orders = tacit.Private(pa.Table.from_pylist(ROWS), "who")
    return Session({"orders": orders}, Pure(1000), randomness=seeded_not_private(7))


def test_a_table_that_fits_is_left_as_it_is(session: Session) -> None:
    found = session.sql(TWO, keys=["EU", "US"], epsilon=1)
    assert fitting(found, 80) == fitting(found, None) == str(found)


def test_a_wide_table_becomes_a_list_of_its_columns(session: Session) -> None:
    found = session.sql(TWO, keys=["EU", "US"], epsilon=1)
    shown = fitting(found, 40).splitlines()
    assert [shown[0], shown[3]] == ["region EU", "region US"]
    assert shown[1].split()[0] == "SUM(amount)"
    assert shown[2].split()[0] == "COUNT(*)"
    assert shown[1].index(" to ") > 0
    assert shown[6:] == str(found).splitlines()[3:]


def test_without_groups_the_list_has_no_margin(session: Session) -> None:
    found = session.sql("SELECT MAX(amount), MIN(amount), COUNT(*) FROM orders", epsilon=1)
    names = [line.split()[0] for line in fitting(found, 40).splitlines()[:3]]
    assert names == ["MAX(amount)", "MIN(amount)", "COUNT(*)"]


def test_each_table_of_a_report_is_fitted(session: Session) -> None:
    wide = "SELECT MAX(amount), MIN(amount), COUNT(*) FROM orders"
    found = session.report([wide, "SELECT COUNT(*) FROM orders"], epsilon=1)
    shown = fitting(found, 40).splitlines()
    assert shown[0] == "1"
    assert shown[1].startswith("MAX(amount) ")
    assert "value" in shown[shown.index("2") + 1]
    assert shown[-1] == "The whole report: Pure(1)."
    assert fitting(found, None) == str(found)


def test_an_answer_of_its_own_is_its_sentence(session: Session) -> None:
    found = session.sql("SELECT COUNT(*) FROM orders", epsilon=1)
    assert fitting(found, 24) == str(found)
