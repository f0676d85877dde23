"""What a planner knows about rows decides no question: none fails because of the least and largest values there are.

The attack: DuckDB 2.0 compares a text that it finds to be NULL in every row, and fails while it plans. It finds so from
the values that a stored column has, so one row decides whether a question is answered, after it was paid. A text may be
computed by the query, deep inside it, by a view, or by a generated column; a filter is moved down to where it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from tacit import Answer, Private, Pure, Session

SOMETIMES = "CASE WHEN i > 10 THEN 'x' END"
"""NULL in every row there is."""
ROWS = "(1, 0, 'a'), (2, 5, 'b')"
TABLES = {
    "t": f"CREATE TABLE t AS SELECT * FROM (VALUES {ROWS}) AS r(who, i, s)",
    "viewed": f"CREATE VIEW viewed AS SELECT who, i, {SOMETIMES} AS s FROM t",
    "united": f"CREATE VIEW united AS SELECT * FROM t UNION ALL SELECT who, i, {SOMETIMES} AS s FROM t",
    "generated": f"CREATE TABLE generated(who INTEGER, i INTEGER, s VARCHAR GENERATED ALWAYS AS ({SOMETIMES}) VIRTUAL)",
}
INSIDE = {
    "a table": "t",
    "a view": "viewed",
    "a view of both": "united",
    "a generated column": "generated",
    "a subquery": f"(SELECT who, i, {SOMETIMES} AS s FROM t) AS q",
    "a union": f"(SELECT who, i, s FROM t UNION ALL SELECT who, i, {SOMETIMES} FROM t) AS q",
    "a join on the side": "(SELECT who, i, s FROM t UNION ALL SELECT a.who, a.i, b.s FROM (SELECT DISTINCT who, i FROM "
    "t) AS a LEFT JOIN (SELECT who, s FROM t WHERE i > 10) AS b ON a.who = b.who) AS q",
    "a table of two unions": "(SELECT who, i, s FROM t UNION ALL SELECT a.who, a.i, b.s FROM (SELECT DISTINCT who, i "
    "FROM t) AS a LEFT JOIN (SELECT who, i, s FROM viewed UNION ALL SELECT who, i, s FROM t) AS b ON a.who = b.who AND "
    "a.i = b.i) AS q",
    "groups": f"(SELECT who, MAX(i) AS i, MAX({SOMETIMES}) AS s FROM t GROUP BY who) AS q",
}
CONDITIONS = ("s < 'b' OR i = 7", "s BETWEEN 'a' AND 'b' AND s <> 'q' AND s = s")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    path = str(tmp_path_factory.mktemp("planned") / "shop.duckdb")
    with duckdb.connect(path) as connection:
        for statement in TABLES.values():
            connection.execute(statement)
        connection.execute("INSERT INTO generated VALUES (1, 0), (2, 5)")
    with Session({name: Private(path, "who", table=name) for name in TABLES}, Pure(10**9)) as opened:
        yield opened


@pytest.mark.parametrize("where", INSIDE)
def test_a_text_that_is_null_in_every_row_is_compared(where: str, session: Session) -> None:
    plain = duckdb.connect(config={"threads": "1"})
    plain.execute("PRAGMA disable_optimizer")
    for statement in TABLES.values():
        plain.execute(statement)
    plain.execute("INSERT INTO generated VALUES (1, 0), (2, 5)")
    for condition in CONDITIONS:
        query = f"SELECT COUNT(*) FROM {INSIDE[where]} WHERE {condition}"
        answer = session.sql(query, epsilon=10**4)
        assert isinstance(answer, Answer)
        assert (answer.value,) == plain.execute(query).fetchone(), query
    plain.close()
