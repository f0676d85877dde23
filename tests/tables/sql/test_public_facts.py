"""Keys that follow from public facts: all that rows can have, from the query alone, whatever the rows are."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

from tacit import Answers, Private, Pure, Session
from tacit.engines.requests import KeyCounts, Relation
from tacit.errors import InvalidInput
from tacit.tables.sql.privacy_clause import price
from tacit.tables.sql.queries import understand
from tacit.tables.sql.query import Query
from tacit.tables.statistics.ways.groups import Groups, written

ROWS = 3000
DATA = pa.table(
    {
        "p": range(ROWS),
        "i": pa.array([(7919 * k) % 4001 - 2000 for k in range(ROWS)], pa.int64()),
        "f": [((104729 * k) % 40001 - 20000) / 7 for k in range(ROWS)],
        "m": pa.array([Decimal((31 * k) % 90001 - 45000) / 100 for k in range(ROWS)], pa.decimal128(9, 2)),
        "d": [date(1999, 12, 1) + timedelta(days=k % 2500) for k in range(ROWS)],
        "t": [datetime(2001, 12, 30, 23, 59, 59, 999999) + timedelta(minutes=97 * k) for k in range(ROWS)],
    }
)
FULL = {"EXTRACT(dow FROM d)": 7, "MONTHNAME(d)": 12, "EXTRACT(week FROM d)": 53, "EXTRACT(hour FROM t)": 24}

CASES = {
    "i BETWEEN -3 AND 4": {"i": 8, "FLOOR(i / 2) * 2": 5, "MOD(i, 3)": 5, "i // 3": 3, "CASE WHEN i > 0 THEN i END": 4},
    "f >= -50 AND f < 1000": {"FLOOR(f / 50) * 50": 21, "ROUND(f / 100)": 12, "10 - CEIL(f / 500)": 3},
    "400 > m AND m > 0": {"FLOOR(m / 50) * 50": 8},
    "d >= DATE '2000-02-27' AND d < DATE '2000-03-02'": {"d": 4, "EXTRACT(day FROM d)": 4, "DAYNAME(d)": 4},
    "d BETWEEN DATE '2000-01-01' AND DATE '2001-12-31'": {
        "DATE_TRUNC('month', d)": 24, "EXTRACT(year FROM d)": 2, "STRFTIME(d, '%Y-%m')": 24,
    },
    "d = DATE '2000-05-05' OR d BETWEEN DATE '2001-01-01' AND DATE '2001-02-01'": {"EXTRACT(year FROM d)": 2},
    "t >= TIMESTAMP '2002-01-01 05:30:00' AND t < TIMESTAMP '2002-01-02 00:00:00'": {
        "DATE_TRUNC('hour', t)": 19, "CAST(t AS DATE)": 1, "EXTRACT(hour FROM t)": 19,
    },
    "i >= 0": {"MOD(i, 7)": 7, "WIDTH_BUCKET(f, 0, 100, 4)": 6, "MONTH(t)": 12, "DAYNAME(t)": 7, **FULL},
}  # fmt: skip


@pytest.fixture(scope="module")
def session() -> Session:
    return Session({"t": Private(DATA, person="p")}, Pure(10))


def asked(session: Session, expression: str, condition: str) -> tuple[Relation, Groups]:
    query = understand(
        session._releaser, price(f"SELECT {expression}, COUNT(*) FROM t WHERE {condition} GROUP BY 1", 1)
    )
    assert isinstance(query, Query)
    (statistic,) = query.statistics
    return query.relation, statistic.core.groups  # type: ignore[attr-defined]


@pytest.mark.parametrize("condition", CASES)
def test_keys_are_all_that_rows_can_have(condition: str, session: Session) -> None:
    for expression, count in CASES[condition].items():
        relation, groups = asked(session, expression, condition)
        with session._tables.engine.snapshot() as snapshot:
            (counts,) = snapshot.ask(relation, (KeyCounts(groups.by, 1, 1, bytes(16)),))
        assert {written(key[0]) for key, _ in counts} - {None} <= set(groups.labels), expression
        assert len(groups.labels) == count, expression


@pytest.mark.parametrize(
    ("expression", "condition"),
    [
        ("f", "f BETWEEN 0 AND 1"),
        ("i", "i > 0"),
        ("i", "i BETWEEN 0 AND 1000000000000"),
        ("i", "i BETWEEN 0 AND 10 OR f > 0"),
        ("i + EXTRACT(day FROM d)", "i BETWEEN 0 AND 3"),
        ("d", "i < 3"),
        ("EXTRACT(year FROM d)", "d > DATE '2000-01-01'"),
        ("DATE_TRUNC('month', d)", "i >= 0"),  # a month of a year does not come again
        ("EXTRACT(year FROM t)", "i >= 0"),
        ("DATE_TRUNC('second', t)", "t BETWEEN TIMESTAMP '2002-01-01' AND TIMESTAMP '2002-01-02'"),
        ("t", "t BETWEEN TIMESTAMP '2002-01-01' AND TIMESTAMP '2002-01-02'"),
    ],
)
def test_what_is_not_known_is_not_claimed(expression: str, condition: str, session: Session) -> None:
    query = f"SELECT {expression}, COUNT(*) FROM t WHERE {condition} GROUP BY 1"
    assert asked(session, expression, condition)[1].keys == ()
    with pytest.raises(InvalidInput, match="delta="):
        session.preview(query, epsilon=1)


def test_months_of_two_years_cost_no_delta(session: Session) -> None:
    query = (
        "SELECT DATE_TRUNC('month', d) AS month, COUNT(*) FROM t "
        "WHERE d >= DATE '2001-01-01' AND d < DATE '2003-01-01' GROUP BY month"
    )
    answers = session.sql(query, epsilon=1)
    assert isinstance(answers, Answers)
    assert len(answers) == 24
