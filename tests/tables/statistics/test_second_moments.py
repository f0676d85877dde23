"""Variance, covariance, correlation and regression mean what they mean in SQL, and state their refusals."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from tacit import InvalidInput, Pure, Table, UnsupportedQuery, read

SURE = 10**5
TWO = ("REGR_INTERCEPT", "REGR_R2", "REGR_COUNT", "REGR_AVGX", "REGR_SXX", "COVAR_POP")


def rows() -> pa.Table:
    """Persons of up to three rows, values of either sign, and rows in which one of both is missing."""
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(300), rng.integers(1, 4, 300))
    x, noise = rng.normal(40, 12, len(who)), rng.exponential(30, len(who))
    y = np.round(500 - 3 * x + noise, 2)
    lost = rng.random(len(who))
    return pa.table(
        {
            "who": pa.array(who),
            "x": pa.array(np.rint(x).astype(int), mask=lost < 0.05),
            "y": pa.array(y, mask=lost > 0.9),
            "g": pa.array(np.where(who % 3 == 0, "a", "b")),
        }
    )


@pytest.fixture(scope="module")
def table() -> Table:
    return read(rows(), person="who", budget=Pure(10**9), table="t")


@pytest.fixture(scope="module")
def plain() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("t", rows())
    return connection


def test_aggregates_of_two_columns_mean_what_they_mean_in_sql(table: Table, plain: duckdb.DuckDBPyConnection) -> None:
    called = [f"{name}(y, x)" for name in TWO] + ["CORR(y, x) FILTER (WHERE x > 30)"]
    query = f"SELECT {', '.join(called)} FROM t"
    truth = plain.execute(query).fetchone()
    assert truth is not None
    answers: Any = table.sql(query, epsilon=SURE)
    found = [answer.value for answer in answers.values()]
    assert found == pytest.approx(truth, rel=0.03)


def test_a_line_by_row_and_by_person(table: Table, plain: duckdb.DuckDBPyConnection) -> None:
    per_person = "SELECT AVG(y) AS y, AVG(x) AS x FROM t WHERE x IS NOT NULL AND y IS NOT NULL GROUP BY who"
    sources: dict[Any, str] = {"row": "SELECT y, x FROM t WHERE x IS NOT NULL AND y IS NOT NULL", "person": per_person}
    for per, source in sources.items():
        known: Any = plain.execute(source).fetchnumpy()
        design = np.column_stack([np.ones(len(known["x"])), known["x"]])
        line: Any = table.regression("y", ["x"], per=per, epsilon=SURE)
        assert list(line) == ["intercept", "x"]
        truth = np.linalg.lstsq(design, known["y"], rcond=None)[0]
        assert [answer.value for answer in line.values()] == pytest.approx(truth, rel=0.03)
        assert all(low <= answer.value <= high for answer in line.values() for low, high, *_ in [answer.interval()])
        found: Any = table.correlation("y", "x", per=per, epsilon=SURE)
        assert found.value == pytest.approx(np.corrcoef(known["x"], known["y"])[0, 1], rel=0.03)


def test_variance_by_group_has_a_centre_for_each_group(table: Table, plain: duckdb.DuckDBPyConnection) -> None:
    moved = table.mutate(z="CASE WHEN g = 'a' THEN 1000 * x + 10000000 ELSE x END")
    found = moved.group_by("g", keys=["a", "b"]).std("z", epsilon=SURE)
    truth = plain.execute("SELECT g, STDDEV_POP(x) FROM t GROUP BY g").fetchall()
    assert {g: answer.value for g, answer in found.items()} == pytest.approx(
        {g: (1000 if g == "a" else 1) * s for g, s in truth}, rel=0.03
    )


def test_values_that_cancel_out_are_told() -> None:
    """What every person's rows add up to is zero, so their sums do not tell how far values reach."""
    rows = {"who": [i // 2 for i in range(4000)], "v": [(-1) ** i * 10**6 for i in range(4000)]}
    given = read(pa.table(rows), person="who", budget=Pure(10**6), table="t")
    assert "seem to cancel out" in str(given.std("v", epsilon=SURE))
    assert "seem to cancel out" not in str(given.std("v", per="person", epsilon=SURE))
    public = given.std("v", range=(-(10**6), 10**6), epsilon=SURE)
    assert public.value == pytest.approx(10**6, rel=0.01)
    assert "seem to cancel out" not in str(public)


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda t: t.regression("y", [], epsilon=1), "1 to 11 columns"),
        (lambda t: t.regression("y", ["x", "x"], epsilon=1), "different columns"),
        (lambda t: t.regression("y", "x", epsilon=1), "must list values"),
        (lambda t: t.regression("y", ["g"], epsilon=1), "needs numbers"),
        (lambda t: t.covariance("y", "x", per="day", epsilon=1), "'row' or 'person'"),
    ],
)
def test_what_cannot_be_answered_is_refused_for_nothing(ask: Any, why: str, table: Table) -> None:
    spent = table.budget.spent
    with pytest.raises(InvalidInput, match=why):
        ask(table)
    assert table.budget.spent == spent


def test_two_columns_are_not_asked_by_group_yet(table: Table) -> None:
    with pytest.raises(UnsupportedQuery, match="by group"):
        table.group_by("g", keys=["a", "b"]).correlation("y", "x", epsilon=1)
    with pytest.raises(UnsupportedQuery, match="by group"):
        table.sql("SELECT g, REGR_SLOPE(y, x) FROM t WHERE g IN ('a', 'b') GROUP BY g", epsilon=1)
