"""Expressions over aggregates mean what they mean in SQL, and the spellings people paste ask what they mean.

With ε = 10^5 for each aggregate noise is zero except with probability below 1e-20, so results are compared exactly with
what DuckDB says without privacy.
"""

from math import inf
from typing import Any

import duckdb
import pytest

from tacit import Answer, Answers, Session
from tacit.answers.results import Result
from tests.tables.sql.test_queries import SURE, opened, plain, session

__all__ = ["plain", "session"]

COMPUTED = [
    "SELECT SUM(v) / COUNT(*), 100.0 * SUM(CASE WHEN b THEN 1 ELSE 0 END) / COUNT(*) FROM t",
    "SELECT ROUND(SUM(p) / COUNT(*), 2) AS r, SUM(p) * 2, SUM(p) - 1.125, -SUM(v), COUNT(*) // 7, COUNT(*) % 7 FROM t",
    "SELECT CASE WHEN COUNT(*) > 100 THEN 'many' ELSE 'few' END, COALESCE(SUM(v), 0), NULLIF(COUNT(*), 600) FROM t",
    "SELECT COUNT(*) > 10 AND SUM(v) BETWEEN 1 AND 10, COUNT(*) IN (600, 7), NOT (COUNT(*) = 600) FROM t",
    "SELECT MAX(day) - MIN(day), COUNT(*)::INT, CAST(SUM(p) AS DOUBLE), GREATEST(SUM(v), COUNT(*), 3) FROM t",
    "SELECT SUM(v) / NULLIF(SUM(v) - 2700, 0), IF(COUNT(*) > 1, 'a', 'b'), ABS(1 - COUNT(*)) FROM t",
    "SELECT 1 AS one, COUNT(*) AS n, n * 2 AS d, 'x' || 'y', SQRT(COUNT(*) - 24), FLOOR(SUM(p)), CEIL(SUM(p)) FROM t",
    "SELECT COUNT(*) FILTER (WHERE v > 3), SUM(v) FILTER (WHERE b), COUNT(v) FILTER (WHERE NOT b AND v < 9) FROM t",
    "SELECT COUNT_IF(v > 3), COUNTIF(b) / COUNT(*), COUNT(DISTINCT who) FILTER (WHERE v = 1) FROM t",
    "SELECT COUNT(DISTINCT CASE WHEN v > 7 THEN who END), COUNT(DISTINCT g), APPROX_COUNT_DISTINCT(b) FROM t",
    "SELECT AVG(CASE WHEN b THEN 1 ELSE 0 END) FROM t",
    'SELECT COUNT(*) AS "the number", SUM(v) total -- a comment\n FROM t /* another */ WHERE "v" > 2;',
    "SELECT ROUND(COUNT(*), -2), ROUND(SUM(v) / 7.0, 1), SIGN(-COUNT(*)), UPPER('é'), LENGTH('né'), EXP(0) FROM t",
    "SELECT COUNT(*) FROM t ORDER BY COUNT(*) LIMIT 3",
    "SELECT EXTRACT(year FROM MAX(day)), MAX(day) > DATE '2020-01-01', MAX(day) = '2020-01-03', YEAR(MIN(day)) FROM t",
    "SELECT COUNT(*) IS NULL, NULLIF(COUNT(*), 600) IS NULL, COUNT(*) IS DISTINCT FROM NULL, COUNT(*) <> 1 FROM t",
]


@pytest.mark.parametrize("query", COMPUTED)
def test_what_is_computed_of_answers_means_what_it_means_in_sql(
    query: str, session: Session, plain: duckdb.DuckDBPyConnection
) -> None:
    answer = session.sql(query, epsilon=SURE)
    cells = [answer] if isinstance(answer, Answer) else _row(answer)
    truth = plain.execute(query).fetchone()
    assert [cell.value if isinstance(cell, Answer) else cell for cell in cells] == list(truth or ())


def _row(answer: Answers) -> list[Any]:
    assert isinstance(answer, Result)
    (row,) = answer.rows
    return list(row.cells)


GROUPED = [
    "SELECT COUNT(*) AS n, g FROM t WHERE g IN ('a', 'b') GROUP BY g ORDER BY g",
    "SELECT UPPER(g) AS name, 'x' AS c, COUNT(*), SUM(v) / COUNT(*) AS r FROM t WHERE g IN ('a', 'b') GROUP BY g "
    "ORDER BY g",
    "SELECT g, b, SUM(v) FROM t WHERE g IN ('a', 'b', 'c') GROUP BY ALL ORDER BY ALL",
    "SELECT g, COUNT(*) FROM t WHERE g IN ('a', 'c', 'b') GROUP BY 1 HAVING SUM(v) > 899 ORDER BY 1 DESC",
    "SELECT v, COUNT(*) AS n FROM t WHERE v IN (1, 2, 3, 4) GROUP BY v HAVING v > 1 AND n = 60 ORDER BY v OFFSET 1",
    "SELECT v, COUNT(*) FROM t WHERE v IN (1, 2, 3, 4) GROUP BY v ORDER BY v % 2, -v LIMIT 3 OFFSET 1",
    "SELECT v, SUM(v) FROM t WHERE v IN (1, 2, 3) GROUP BY v ORDER BY NULLIF(v, 2) DESC NULLS FIRST",
    "SELECT v, SUM(v) FROM t WHERE v IN (1, 2, 3) GROUP BY v ORDER BY NULLIF(v, 2) DESC NULLS LAST",
    "SELECT v, SUM(v) AS s FROM t WHERE v IN (1, 2, 3) GROUP BY v ORDER BY v FETCH FIRST 2 ROWS ONLY",
    "SELECT day, EXTRACT(day FROM day) AS d, day + 1, COUNT(*) FROM t WHERE day IN ('2020-01-01', '2020-01-02') "
    "GROUP BY day ORDER BY d DESC",
    "SELECT v * 2 AS d, d + 1, COUNT(*) FROM t WHERE v * 2 IN (2, 4) GROUP BY d ORDER BY d",
    "SELECT CASE WHEN v > 5 THEN 'high' ELSE 'low' END AS s, 1.0 * SUM(v) / COUNT(*) FROM t GROUP BY s ORDER BY 2",
    "SELECT g, COUNT(*) FILTER (WHERE v > 5) AS high, COUNTIF(b) FROM t WHERE g IN ('a', 'b') GROUP BY g ORDER BY 2, 1",
]


@pytest.mark.parametrize("query", GROUPED)
def test_rows_and_columns_come_back_as_in_sql(query: str, session: Session, plain: duckdb.DuckDBPyConnection) -> None:
    result = session.sql(query, epsilon=SURE)
    assert isinstance(result, Result)
    truth = plain.execute(query)
    rows = [tuple(cell.value if isinstance(cell, Answer) else cell for cell in row.cells) for row in result.rows]
    assert rows == truth.fetchall()
    named = [column[0] for column in truth.description or ()]
    aliases = [name for name in result.columns if name.isidentifier()]
    assert aliases == [name for name in named if name in aliases]


SAME = {
    "SELECT QUANTILE_DISC(v, 0.25) FROM t": "SELECT QUANTILE_CONT(v, 0.25) FROM t",
    "SELECT PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY v) FROM t": "SELECT QUANTILE_CONT(v, 0.25) FROM t",
    "SELECT APPROX_QUANTILE(v, 0.25) FROM t": "SELECT QUANTILE_CONT(v, 0.25) FROM t",
    "SELECT APPROX_QUANTILES(v, 4)[OFFSET(1)] FROM t": "SELECT QUANTILE_CONT(v, 0.25) FROM t",
    "SELECT APPROX_QUANTILES(v, 4)[ORDINAL(2)] FROM t": "SELECT QUANTILE_CONT(v, 0.25) FROM t",
    "SELECT APPROX_QUANTILES(v, 2) FROM t": "SELECT MIN(v), MEDIAN(v), MAX(v) FROM t",
    "SELECT APPROX_QUANTILES(v, 4) FROM t": "SELECT MIN(v), QUANTILE_CONT(v, [0.25, 0.5, 0.75]), MAX(v) FROM t",
    "SELECT APPROX_QUANTILES(v, 4)[OFFSET(4)] FROM t": "SELECT MAX(v) FROM t",
    "SELECT ANON_COUNT(*) FROM t": "SELECT COUNT(*) FROM t",
    "SELECT ANON_SUM(v CLAMPED BETWEEN 0 AND 9.5) FROM t": "SELECT SUM(v) FROM t",
    "SELECT ANON_AVG(v) AS m FROM t": "SELECT AVG(v) FROM t",
    "SELECT STDDEV_POP(v) FROM t": "SELECT STDDEV(v) FROM t",
    "SELECT VAR_SAMP(v) FROM t": "SELECT VARIANCE(v) FROM t",
    "SELECT COUNTIF(v > 3) FROM t": "SELECT COUNT(*) FILTER (WHERE v > 3) FROM t",
    "SELECT COUNT(*) FILTER (WHERE v > 3) + 1 FROM t": "SELECT COUNTIF(v > 3) FROM t",
    "SELECT ROUND(100.0 * SUM(v) / SUM(v), 1) FROM t": "SELECT SUM(v) FROM t",
    "SELECT g, COUNT(*) FROM t WHERE g IN ('a') GROUP BY g HAVING COUNT(*) > 1 ORDER BY COUNT(*)": (
        "SELECT COUNT(*) AS n, g FROM t WHERE g IN ('a') GROUP BY ALL"
    ),
}


@pytest.mark.parametrize("query", SAME)
def test_another_spelling_asks_the_same(query: str) -> None:
    with opened() as session:
        session.sql(SAME[query], epsilon=1)
        spent = session.budget.spent
        assert session.sql(query, epsilon=1).stored
        assert session.budget.spent == spent


def test_an_aggregate_is_asked_once_wherever_it_stands() -> None:
    with opened() as session:
        query = "SELECT SUM(v) / COUNT(*) AS r, SUM(v) FROM t HAVING COUNT(*) > 0 ORDER BY SUM(v) + COUNT(*)"
        seen = session.preview(query, epsilon=1)
        assert seen.statistics == ("sum of v", "number of rows")
        result = session.sql(query, epsilon=1)
        assert {answer.guarantee.epsilon for answer in result.values()} == {1, 0.5}  # type: ignore[union-attr]


SHARED = {
    "SELECT AVG(v), SUM(v), COUNT(v) FROM t": ("sum of v", "number of rows with v"),
    "SELECT SUM(v) / 2, 1 + AVG(v) FROM t HAVING COUNT(v) > 1": ("sum of v", "number of rows with v"),
    "SELECT AVG(v), SUM(v) FROM t": ("mean of v", "sum of v"),
    "SELECT AVG(v), SUM(v), COUNT(*) FROM t": ("mean of v", "sum of v", "number of rows"),
    "SELECT AVG(v), SUM(v) FILTER (WHERE b), COUNT(v) FROM t": (
        "mean of v",
        "sum of v where b",
        "number of rows with v",
    ),
    "SELECT b, AVG(v), SUM(v) FROM t GROUP BY b": ("sum of v by b", "count by b"),
    "SELECT b, COUNT(v), AVG(v) FROM t GROUP BY b": ("count by b", "sum of v by b"),
    "SELECT b, COUNT(*), AVG(v) FROM t GROUP BY b": ("count by b", "mean of v by b"),
}


@pytest.mark.parametrize("query", SHARED)
def test_a_mean_shares_the_release_of_a_sum_and_a_count(query: str, plain: duckdb.DuckDBPyConnection) -> None:
    with opened() as session:
        assert session.preview(query, epsilon=1).statistics == SHARED[query]
        result = session.sql(query, epsilon=SURE)
        assert isinstance(result, Result)
        values = [[getattr(cell, "value", cell) for cell in row.cells] for row in result.rows]
        truth = sorted(plain.execute(query).fetchall(), reverse=True)
        assert [pytest.approx(row, abs=1e-3) for row in truth] == values


# ---- the shape ----------------------------------------------------------------------------------------------------


def test_frames_have_a_column_for_each_output_with_its_interval_beside_it(session: Session) -> None:
    query = "SELECT g AS letter, COUNT(*) AS n, SUM(v) / COUNT(*) AS r FROM t WHERE g IN ('a', 'b') GROUP BY g"
    result = session.sql(query, epsilon=1)
    assert isinstance(result, Result)
    names = ["letter", "n", "n_low", "n_high", "r", "r_low", "r_high"]
    for frame in (result.to_pandas(), result.to_polars(), result.to_arrow().to_pandas()):
        assert list(frame.columns) == names
        assert len(frame) == 2
    assert result.to_arrow(intervals=False).column_names == ["letter", "n", "r"]
    assert list(result.to_pandas(intervals=False)["letter"]) == ["a", "b"]
    record = result.to_dict()["rows"][0]
    assert record["n_low"] <= record["n"] <= record["n_high"]
    assert result["a", "n"].value == result.to_pandas()["n"][0]
    assert "letter" in str(result).splitlines()[0]


def test_an_alias_is_kept_where_there_is_one_answer(session: Session) -> None:
    answer = session.sql("SELECT SUM(v) AS total FROM t", epsilon=1)
    assert isinstance(answer, Answer)
    assert answer.name == "total"
    assert repr(answer).startswith("Answer(total (sum of v): ")
    assert str(answer).startswith("total (sum of v), over all rows: ")
    assert answer.to_dict()["name"] == "total"
    assert "name" not in session.sql("SELECT SUM(v) FROM t", epsilon=1).to_dict()


def test_names_of_intervals_make_way_for_outputs(session: Session) -> None:
    result = session.sql("SELECT COUNT(*) AS n, MAX(v) AS n_low FROM t", epsilon=1)
    assert list(result.to_pandas().columns) == ["n", "n_low_2", "n_high", "n_low", "n_low_low", "n_low_high"]  # type: ignore[union-attr]


def test_a_result_without_rows_says_so(session: Session) -> None:
    for query in ("SELECT COUNT(*) FROM t HAVING COUNT(*) < 0", "SELECT COUNT(*) AS n FROM t LIMIT 0"):
        result = session.sql(query, epsilon=SURE)
        assert isinstance(result, Result)
        assert not result.rows
        assert "No row is shown" in str(result)
        assert len(result.to_pandas()) == 0


# ---- intervals ----------------------------------------------------------------------------------------------------


def test_rows_chosen_by_their_values_have_intervals_that_hold_together(session: Session) -> None:
    query = "SELECT g, COUNT(*) AS n FROM t WHERE g IN ('a', 'b', 'c') GROUP BY g"
    free = session.sql(query, epsilon=1)
    for clause in ("HAVING n > -1000", "ORDER BY n DESC LIMIT 2", "ORDER BY n + 1 LIMIT 2", "ORDER BY n OFFSET 1"):
        chosen = session.sql(f"{query} {clause}", epsilon=1)
        for key, answer in chosen.items():  # type: ignore[union-attr]
            assert answer.interval().low < free[key].interval().low  # type: ignore[index]
            assert "Chosen among 3" in str(answer)
    for clause in ("HAVING g <> 'a'", "ORDER BY g LIMIT 2", "ORDER BY n"):
        chosen = session.sql(f"{query} {clause}", epsilon=1)
        for key, answer in chosen.items():  # type: ignore[union-attr]
            assert answer.interval() == free[key].interval()  # type: ignore[index]


def test_a_ratio_covers_the_truth_only_if_its_parts_do(session: Session) -> None:
    truth = session.sql("SELECT COUNT(DISTINCT who) / 2 FROM t", epsilon=1)
    assert truth.interval().covers == "truth"  # type: ignore[union-attr]
    capped = session.sql("SELECT SUM(v) / COUNT(DISTINCT who) FROM t", epsilon=1)
    assert capped.interval().covers == "capped value"  # type: ignore[union-attr]
    assert "Computed at no further cost from the sum of v" in str(capped)
    unbounded = session.sql("SELECT COUNT(*) / (COUNT(DISTINCT who) - 600) FROM t", epsilon=1)
    assert unbounded.interval("0.9999999").low == -inf  # type: ignore[union-attr]
