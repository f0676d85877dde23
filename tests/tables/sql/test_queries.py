"""SQL asks the same questions as the fluent face: same plan, same answer, and the SQL's own meaning.

With ε = 10^5 for each aggregate noise is zero except with probability below 1e-20, so results are compared exactly
with what DuckDB says without privacy.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from tacit import Answer, Answers, Approx, InvalidInput, Private, Public, Pure, Session

N = 600
SURE = 10**6
ROWS = pa.table(
    {
        "who": list(range(N)),
        "v": [n % 10 for n in range(N)],
        "g": ["abc"[n % 3] for n in range(N)],
        "b": [n % 2 == 0 for n in range(N)],
        "p": pa.array([Decimal("1.50") if n % 2 else Decimal("2.25") for n in range(N)], pa.decimal128(8, 2)),
        "day": [date(2020, 1, 1 + n % 3) for n in range(N)],
    }
)
PLACES = pa.table(
    {
        "k": ["a", "b", "z"],
        "label": ["Alpha", "Beta", "Zeta"],
        "w": [1, 2, 3],
        "price": pa.array([Decimal("1.5"), Decimal("2.25"), Decimal("9")], pa.decimal128(8, 2)),
    }
)


def opened() -> Session:
    tables: dict[str, Private | Public] = {"t": Private(ROWS, person="who"), "places": Public(PLACES)}
    return Session(tables, budget=Approx(10**12, "0.9"))


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with opened() as session:
        yield session


@pytest.fixture(scope="module")
def plain() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("t", ROWS)
    connection.register("places", PLACES)
    return connection


# ---- the same question as the fluent face -----------------------------------------------------------------------

FOUND: Any = {"epsilon": 100, "delta": "1e-9"}
"""Each group has 200 persons; that noise hides all of them has a probability far below 1e-20."""
SAME = {
    "SELECT COUNT(*) FROM t": lambda t: t.count(epsilon=1),
    "SELECT COUNT(1) FROM t": lambda t: t.count(epsilon=1),
    "SELECT COUNT(v) FROM t": lambda t: t.count("v", epsilon=1),
    "SELECT COUNT(DISTINCT who) FROM t": lambda t: t.persons(epsilon=1),
    "SELECT SUM(v) FROM t WHERE v > 3 AND g = 'a'": lambda t: t.filter("v > 3 AND g = 'a'").sum("v", epsilon=1),
    "select avg(v) from t": lambda t: t.mean("v", epsilon=1),
    "SELECT MIN(p) FROM t": lambda t: t.min("p", epsilon=1),
    "SELECT MAX(day) FROM t": lambda t: t.max("day", epsilon=1),
    "SELECT MEDIAN(v) FROM t": lambda t: t.median("v", epsilon=1),
    "SELECT QUANTILE_CONT(v, 0.9) FROM t": lambda t: t.quantile("v", "0.9", epsilon=1),
    "SELECT QUANTILE_CONT(v, [0.1, 0.9]) FROM t": lambda t: t.quantile("v", ["0.1", "0.9"], epsilon=1),
    "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY v) FROM t": lambda t: t.quantile("v", "0.9", epsilon=1),
    "SELECT VARIANCE(v) FROM t": lambda t: t.variance("v", epsilon=1),
    "SELECT STDDEV(v) FROM t": lambda t: t.std("v", epsilon=1),
    "SELECT SUM(v * 2) FROM t": lambda t: t.sum("v * 2", epsilon=1),
    "SELECT g, SUM(v) FROM t WHERE g IN ('a', 'b') GROUP BY g": lambda t: (
        t.filter("g IN ('a', 'b')").group_by("g", ["a", "b"]).sum("v", epsilon=1)
    ),
    "SELECT b, COUNT(*) FROM t GROUP BY b": lambda t: t.group_by("b", [True, False]).count(epsilon=1),
    "SELECT g, AVG(v) FROM t GROUP BY g": lambda t: t.group_by("g").mean("v", **FOUND),
}


@pytest.mark.parametrize("query", SAME)
def test_the_same_question_in_sql_is_free(query: str) -> None:
    with opened() as session:
        first = SAME[query](session["t"])
        spent = session.budget.spent
        cost: Any = FOUND if "BY g" in query and "IN" not in query else {"epsilon": 1}
        again = session.sql(query, **cost)
        assert session.budget.spent == spent
        assert _values(again) == _values(first)
        assert _one(again).stored
        assert not _one(first).stored
        assert "ask anew with fresh=True" in str(again)


def _values(answer: Answer | Answers) -> Any:
    return answer.value if isinstance(answer, Answer) else {key: a.value for key, a in answer.items()}


def _one(answer: Answer | Answers) -> Answer:
    return answer if isinstance(answer, Answer) else next(iter(answer.values()))


def test_another_question_or_cost_is_paid_and_fresh_pays_again() -> None:
    with opened() as session:
        t = session["t"]
        first = t.sum("v", epsilon=1)
        assert t.sum("v", epsilon=1).asked == first.asked
        assert session.budget.spent.epsilon == 1  # type: ignore[attr-defined]
        assert not t.sum("v", epsilon=2).stored
        assert not t.filter("v > 3").sum("v", epsilon=1).stored
        assert not t.sum("v", per="person", epsilon=1).stored
        assert not t.sum("v + 0", epsilon=1).stored
        assert session.budget.spent.epsilon == 6  # type: ignore[attr-defined]
        fresh = t.sum("v", epsilon=1, fresh=True)
        assert not fresh.stored
        assert session.budget.spent.epsilon == 7  # type: ignore[attr-defined]
        assert t.sum("v", epsilon=1).value == fresh.value


def test_costs_written_differently_are_the_same_cost() -> None:
    with opened() as session:
        session["t"].persons(epsilon=0.5)
        assert session["t"].persons(epsilon="1/2").stored
        assert session["t"].persons(epsilon=Decimal("0.50")).stored


# ---- several aggregates -----------------------------------------------------------------------------------------


def test_the_cost_is_split_over_distinct_aggregates() -> None:
    with opened() as session:
        answers = session.sql("SELECT SUM(v) AS total, COUNT(*), SUM(v) AS again, MAX(v) FROM t", epsilon="0.9")
        assert isinstance(answers, Answers)
        assert list(answers) == ["total", "COUNT(*)", "again", "MAX(v)"]
        assert answers.guarantee == Pure("0.9")
        assert all(answer.guarantee == Pure("0.3") for answer in answers.values())
        assert answers["total"].value == answers["again"].value
        assert session.budget.spent.epsilon == Pure("0.9").epsilon  # type: ignore[attr-defined]
        assert session["t"].count(epsilon="0.3").stored


def test_costs_of_every_kind_are_split() -> None:
    with opened() as session:
        answers = session.sql("SELECT SUM(v), COUNT(*) FROM t", epsilon=1, delta="1e-6")
        assert [a.guarantee for a in answers.values()] == [Approx("0.5", "5e-7")] * 2  # type: ignore[union-attr]
        concentrated = session.sql("SELECT SUM(v), COUNT(*) FROM t", rho="0.1")
        assert repr(concentrated.guarantee) == "Zcdp(0.1)"


def test_what_was_answered_before_is_not_paid_again_among_several() -> None:
    with Session({"t": Private(ROWS, person="who")}, budget=Pure(1)) as session:
        session["t"].count(epsilon="0.5")
        answers = session.sql("SELECT COUNT(*), SUM(v) FROM t", epsilon=1)
        assert session.budget.spent == Pure(1)
        assert [a.stored for a in answers.values()] == [True, False]  # type: ignore[union-attr]


def test_several_quantiles_beside_an_aggregate(session: Session) -> None:
    answers = session.sql("SELECT QUANTILE_CONT(v, [0.25, 0.75]) AS q, MAX(v) FROM t", epsilon=SURE)
    assert _values(answers) == {"q at 0.25": 2, "q at 0.75": 7, "MAX(v)": 9}


# ---- meaning ----------------------------------------------------------------------------------------------------

MEANING = [
    "SELECT COUNT(*), SUM(v), COUNT(DISTINCT who) FROM t WHERE NOT b AND v BETWEEN 2 AND 8",
    "SELECT SUM(d) FROM (SELECT v * 2 AS d, g FROM t WHERE v > 2) AS x WHERE x.g = 'a'",
    "WITH x AS (SELECT v * 2 AS d, g FROM t WHERE v > 2), y AS (SELECT d + 1 AS e FROM x) SELECT SUM(e) FROM y",
    "SELECT SUM(w) FROM t JOIN places ON g = k",
    "SELECT SUM(w) FROM t, places WHERE g = k AND w > 1",
    "SELECT SUM(q.w) FROM t AS x JOIN places AS q ON x.g = q.k WHERE q.label LIKE 'A%'",
    "SELECT COUNT(*) FROM t LEFT JOIN places ON g = k WHERE w IS NULL",
    "SELECT SUM(COALESCE(w, 100)) FROM t LEFT JOIN places ON g = k",
    "SELECT SUM(x.w) FROM t JOIN (SELECT k, w FROM places WHERE w < 2) AS x ON g = x.k",
    "SELECT SUM(CASE WHEN g = 'a' THEN v ELSE 0 END) FROM t",
    "SELECT COUNT(*) FROM t WHERE day >= '2020-01-02' AND EXTRACT(day FROM day) < 3",
    "SELECT SUM(p) FROM t WHERE p IN (1.5, 9)",
    "FROM t SELECT COUNT(*)",
]


@pytest.mark.parametrize("query", MEANING)
def test_a_query_means_what_it_means_in_sql(query: str, session: Session, plain: duckdb.DuckDBPyConnection) -> None:
    answer = session.sql(query, epsilon=SURE)
    truth = plain.execute(query).fetchone()
    values = _values(answer)
    assert truth == (tuple(values.values()) if isinstance(values, dict) else (values,))


GROUPED = [
    "SELECT g, COUNT(*) FROM t WHERE g IN ('a', 'c') GROUP BY g ORDER BY g",
    "SELECT g, COUNT(*) FROM t WHERE g = 'a' GROUP BY g ORDER BY g",
    "SELECT b, SUM(v) FROM t GROUP BY b ORDER BY 1 DESC",
    "SELECT v > 5 AS high, COUNT(*) FROM t GROUP BY high ORDER BY high",
    "SELECT CASE WHEN v > 5 THEN 'high' ELSE 'low' END AS size, COUNT(*) FROM t GROUP BY size ORDER BY size",
    "SELECT CASE WHEN v > 5 THEN 'high' END, COUNT(*) FROM t GROUP BY 1 ORDER BY 2",
    "SELECT p, COUNT(*) FROM t WHERE p IN (1.5, 2.25) GROUP BY p ORDER BY p DESC",
    "SELECT day, SUM(v) FROM t WHERE day IN ('2020-01-01', '2020-01-03') GROUP BY day ORDER BY day",
    "SELECT label, COUNT(*) FROM t JOIN places ON g = k WHERE w < 3 GROUP BY label ORDER BY label LIMIT 2",
    "SELECT price, COUNT(*) FROM t JOIN places ON p = price GROUP BY price ORDER BY price LIMIT 2",
    "SELECT label, SUM(v) FROM t LEFT JOIN places ON g = k GROUP BY label ORDER BY label LIMIT 2",
    "SELECT g AS region, COUNT(DISTINCT who) FROM t WHERE g IN ('a', 'b') GROUP BY region ORDER BY region",
    "SELECT g, COUNT(*) AS n FROM t WHERE g IN ('c', 'a', 'b') AND v + 0 > 1 GROUP BY g ORDER BY n DESC, g LIMIT 2",
    "SELECT g, SUM(CASE WHEN g = 'b' THEN 2 ELSE 1 END) FROM t WHERE g IN ('c', 'a', 'b') GROUP BY g ORDER BY 2, 1",
]


@pytest.mark.parametrize("query", GROUPED)
def test_groups_mean_what_they_mean_in_sql(query: str, session: Session, plain: duckdb.DuckDBPyConnection) -> None:
    answer = session.sql(query, epsilon=SURE)
    assert isinstance(answer, Answers)
    assert list(_values(answer).items()) == plain.execute(query).fetchall()


def test_several_columns_of_several_keys(session: Session) -> None:
    query = "SELECT g, b, COUNT(*) AS n, SUM(v) FROM t WHERE g IN ('b', 'a') GROUP BY g, b ORDER BY b, g"
    answers = session.sql(query, epsilon=SURE)
    assert list(answers)[:3] == [("a", False, "n"), ("a", False, "SUM(v)"), ("b", False, "n")]  # type: ignore[arg-type]
    assert answers["b", True, "n"].value == 100  # type: ignore[index]
    assert list(answers.to_pandas().columns[:4]) == ["g", "b", "n", "n_low"]  # type: ignore[union-attr]


def test_a_left_join_has_a_group_of_rows_without_partner(session: Session) -> None:
    answers = session.sql("SELECT label, COUNT(*) FROM t LEFT JOIN places ON g = k GROUP BY label", epsilon=SURE)
    assert _values(answers) == {"Alpha": 200, "Beta": 200, "Zeta": 0, None: 200}


def test_groups_are_found_with_delta_and_keys_can_be_given(session: Session) -> None:
    found = session.sql("SELECT g, COUNT(*) FROM t GROUP BY g ORDER BY g", epsilon=SURE, delta="1e-9")
    assert _values(found) == {"a": 200, "b": 200, "c": 200}
    given = session.sql("SELECT g, COUNT(*) FROM t GROUP BY g", keys=["c", "nobody"], epsilon=SURE)
    assert _values(given) == {"c": 200, "nobody": 0}


def test_names_are_found_in_any_case_unless_quoted(session: Session) -> None:
    assert _values(session.sql('SELECT SUM(V) FROM T WHERE "v" > 3', epsilon=SURE)) == 2340
    with pytest.raises(InvalidInput, match="'V' does not exist"):
        session.sql('SELECT SUM("V") FROM t', epsilon=SURE)


# ---- preview ----------------------------------------------------------------------------------------------------


def test_preview_spends_nothing_and_says_whether_it_fits() -> None:
    with Session({"t": Private(ROWS, person="who")}, budget=Pure(1)) as session:
        text = str(session.cost("SELECT SUM(v), COUNT(*) FROM t", epsilon="0.8"))
        assert text == (
            "sum of v, number of rows: costs Pure(0.8) (Pure(0.4) for each of 2 aggregates) of the Pure(1) left. "
            "Nothing was spent."
        )
        assert "costs Pure(2), but only Pure(" in str(session.cost("SELECT SUM(v) FROM t", epsilon=2))
        assert session.budget.spent.epsilon == 0  # type: ignore[attr-defined]
        with pytest.raises(InvalidInput, match="cannot be charged"):
            session.cost("SELECT SUM(v) FROM t", rho=1)


def test_a_table_asks_sql_of_its_session(session: Session) -> None:
    spent = session.budget.spent
    session.sql("SELECT COUNT(*) FROM t", epsilon=3)
    assert session["t"].sql("SELECT COUNT(*) FROM t", epsilon=3).stored
    assert session.budget.spent != spent
