"""Questions put together from fields: values as their columns have them, names quoted, mistakes said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tacit
from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.serve import asking
from tacit.serve.composing import COMPARISONS, FIELDS, compose

duckdb = pytest.importorskip("duckdb")
ROWS = """CREATE TABLE "Odd" AS SELECT range AS who, range * 0.5 AS amount, range % 2 = 0 AS flag,
DATE '2020-01-01' AS day, TIMESTAMP '2020-01-01 10:00:00' AS seen, 'x' AS "a ""b", 1 AS "select" FROM range(20)"""
COUNT = {"table": "Odd", "statistic": "count"}


@pytest.fixture(scope="module")
def session() -> Iterator[tacit.Session]:
    connection = duckdb.connect()
    connection.execute(ROWS)
    tables = {"Odd": tacit.Private(connection, "who", table="Odd")}
    with tacit.Session(tables, budget=Pure(100)) as opened:
        yield opened


def written(session: tacit.Session, **fields: Any) -> str:
    return compose(COUNT | fields, session, 500)


@pytest.mark.parametrize(
    ("fields", "sql"),
    [
        ({}, 'SELECT COUNT(*)\nFROM "Odd"'),
        ({"statistic": "persons"}, 'SELECT COUNT(DISTINCT who)\nFROM "Odd"'),
        ({"column": 'a "b', "statistic": "nunique"}, 'SELECT COUNT(DISTINCT "a ""b")\nFROM "Odd"'),
        ({"filter_column": "amount", "filter_is": "<", "filter_value": " 3.5 "}, 'FROM "Odd"\nWHERE amount < 3.5'),
        ({"filter_column": "flag", "filter_value": "true"}, "WHERE flag = TRUE"),
        (
            {"filter_column": 'a "b', "filter_is": "in", "filter_value": "x, it's, 'y'"},
            """"a ""b" IN ('x', 'it''s', 'y')""",
        ),
        ({"filter_column": "day", "filter_is": ">=", "filter_value": "2020-01-01"}, "WHERE day >= DATE '2020-01-01'"),
        ({"filter_column": "select", "filter_is": "not null"}, 'WHERE "select" IS NOT NULL'),
        ({"group_by": "flag"}, 'SELECT flag, COUNT(*)\nFROM "Odd"\nGROUP BY flag'),
        ({"group_by": "select", "groups": "1, 2"}, 'WHERE "select" IN (1, 2)\nGROUP BY "select"'),
        (
            {"group_by": "day", "group_step": "month", "groups": "2020-01-01 to 2020-03-31"},
            "SELECT DATE_TRUNC('month', day) AS month, COUNT(*)\nFROM \"Odd\"\n"
            "WHERE day BETWEEN DATE '2020-01-01' AND DATE '2020-03-31'\nGROUP BY 1",
        ),
        ({"group_by": "day", "group_step": "day", "groups": "2020-01-01 to 2020-01-03"}, "GROUP BY day"),
        (
            {"group_by": "seen", "group_step": "day", "groups": "2020-01-01 to 2020-01-03"},
            "BETWEEN TIMESTAMP '2020-01-01 00:00:00' AND TIMESTAMP '2020-01-03 00:00:00'\nGROUP BY 1",
        ),
        (
            {"where": "amount > 1 OR flag", "filter_column": "flag", "filter_value": "FALSE"},
            "WHERE (amount > 1 OR flag)\n  AND flag = FALSE",
        ),
    ],
)
def test_fields_become_sql_that_can_be_asked(session: tacit.Session, fields: dict[str, str], sql: str) -> None:
    found = written(session, **fields)
    assert found.endswith(sql)
    session.preview(found, epsilon="0.5")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"surprise": "x"}, "composed of"),
        ({"table": "nothing"}, "table must be"),
        ({"statistic": "sum"}, "needs a column"),
        ({"statistic": "quantile", "column": "amount", "quantile": "2"}, "between 0 and 1"),
        ({"filter_column": "amount", "filter_value": "1 OR TRUE"}, "is a number"),
        ({"filter_column": "amount"}, "compared with"),
        ({"filter_column": "flag", "filter_value": "perhaps"}, "true or false"),
        ({"filter_column": "day", "filter_value": "yesterday'; --"}, "is a date"),
        ({"filter_column": "nothing", "filter_value": "1"}, "filter_column must be"),
        ({"filter_column": "amount", "filter_is": "; DROP", "filter_value": "1"}, "filter_is must be"),
        ({"group_by": "amount", "groups": "low to high"}, "is a number"),
        ({"group_by": "amount", "groups": " , "}, "at least one value"),
        ({"group_by": "day", "group_step": "century"}, "group_step must be"),
        ({"where": "x" * 600}, "at most 500"),
        ({"where": ["x"]}, "must be a text"),
    ],
)
def test_what_is_no_such_value_is_refused(session: tacit.Session, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        written(session, **fields)


def test_samples_and_lists_are_made_of_the_schema(session: tacit.Session) -> None:
    columns = [{"name": n, "type": str(kind)} for n, kind in session.schema("Odd").columns]
    facts = {"persons": None, "tables": [{"name": "Odd", "private": True, "declared": "<private>", "columns": columns}]}
    found = asking.samples(session, facts)
    assert [words for words, _ in found][:3] == [
        "How many rows are there?",
        "How many persons?",
        "What is the mean amount?",
    ]
    for _, sql in found:
        session.preview(sql, epsilon="0.5")
    assert asking.samples(session, {"tables": []}) == []
    shown = asking.form("x", facts, {"table": "Odd"}, ["epsilon"], {"mark": "m"}, "")
    assert all(f'name="{name}"' in shown for name in FIELDS if name != "where")
    assert all(f">{words}</option>" in shown for words in COMPARISONS.values())
    assert 'data-kind="date">day</option>' in shown
    assert "&lt;private&gt;" in asking.schema(facts)
    assert 'data-insert="&quot;a &quot;&quot;b&quot;"' in asking.schema(facts)
