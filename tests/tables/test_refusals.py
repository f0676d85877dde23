"""Bad input is refused from public facts, in one sentence with a remedy, and nothing is spent."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import inf, nan
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tacit
from tacit import Approx, BudgetExceeded, InvalidInput, Private, Public, Pure, Session, Table, UnsupportedQuery, Zcdp
from tests.tables.support import EXTREME, arrow, refused

PUBLIC = pa.table({"k": ["x", "y"], "n": [1, 2]})


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session({"t": Private(arrow(EXTREME), person="who"), "pub": Public(PUBLIC)}, budget=Pure(10)) as opened:
        yield opened


@pytest.fixture(scope="module")
def t(session: Session) -> Table:
    return session["t"]


# ---- opening ----------------------------------------------------------------------------------------------------

OPENINGS: Mapping[str, tuple[dict[str, Any], str]] = {
    "no such person": ({"person": "nobody"}, "'nobody'"),
    "a number as person": ({"person": 3}, "person must name the column"),
    "no budget": ({"budget": None}, "give a budget"),
    "a number as budget": ({"budget": 1}, "not a guarantee"),
    "an option of files": ({"delimiter": ";"}, "delimiter is not an option"),
    "a unit of nothing": ({"unit": 0}, "unit must be above 0"),
    "a type that is not known": ({"schema": {"who": "integer", "i": "blob"}}, "'blob' that is not known"),
    "a column that is not there": ({"schema": {"who": "integer", "x": "integer"}}, "names the column 'x'"),
    "no such composition": ({"composition": "loose"}, "composition"),
    "a ledger without a name": ({"ledger": "book.db"}, "give name="),
}


@pytest.mark.parametrize("name", OPENINGS)
def test_table_is_not_opened(name: str) -> None:
    options, words = OPENINGS[name]
    with pytest.raises(InvalidInput, match=words):
        tacit.read(arrow(EXTREME), **{"person": "who", "budget": Pure(1), **options})


def test_missing_file_unknown_kind_and_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no file at .*orders\.parquet"):
        tacit.read(tmp_path / "orders.parquet", person="who", budget=Pure(1))
    strange = tmp_path / "orders.xyz"
    strange.write_text("secret,row\n")
    with pytest.raises(InvalidInput, match="the kind of file is not clear") as caught:
        tacit.read(strange, person="who", budget=Pure(1))
    assert "secret" not in str(caught.value)
    damaged = tmp_path / "orders.parquet"
    damaged.write_text("secret,row\n")
    with pytest.raises(InvalidInput, match="could not be opened") as caught:
        tacit.read(damaged, person="who", budget=Pure(1))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    with pytest.raises(InvalidInput, match="must come from a path"):
        tacit.read(3, person="who", budget=Pure(1))


@pytest.mark.parametrize("tables", [{}, {"p": Public(PUBLIC)}, {"t": PUBLIC}, [PUBLIC], {"": Private(PUBLIC, "n")}])
def test_session_needs_named_private_tables(tables: Any) -> None:
    with pytest.raises(InvalidInput, match="tables must"):
        Session(tables, budget=Pure(1))


def test_only_private_tables_can_be_picked(session: Session) -> None:
    for name in ("pub", "nope"):
        with pytest.raises(InvalidInput, match=f"no private table '{name}'"):
            _ = session[name]
    with pytest.raises(InvalidInput, match="no table 'nope'"):
        session.schema("nope")


# ---- costs ------------------------------------------------------------------------------------------------------

COSTS: Mapping[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "name what the answer may cost"),
    "negative": ({"epsilon": -1}, "epsilon must be above 0"),
    "zero": ({"epsilon": 0}, "epsilon must be above 0"),
    "not a number": ({"epsilon": nan}, "epsilon must be finite"),
    "infinite": ({"epsilon": inf}, "epsilon must be finite"),
    "far too little": ({"epsilon": "1e-21"}, "between 1e-20 and 1e"),
    "far too much": ({"epsilon": 10**7}, "between 1e-20 and 1e"),
    "a word": ({"epsilon": "much"}, "epsilon must be an exact number"),
    "a truth value": ({"epsilon": True}, "not a truth value"),
    "delta alone": ({"delta": "1e-6"}, "name what the answer may cost"),
    "delta one": ({"epsilon": 1, "delta": 1}, "delta must lie strictly between 0 and 1"),
    "delta zero": ({"epsilon": 1, "delta": 0}, "delta must be above 0"),
    "delta negative": ({"epsilon": 1, "delta": "-0.1"}, "delta must lie strictly between 0 and 1"),
    "rho beside epsilon": ({"epsilon": 1, "rho": 1}, "not both"),
    "rho against a pure budget": ({"rho": 1}, "cannot be charged to Pure"),
    "delta against a pure budget": ({"epsilon": 1, "delta": "1e-6"}, "cannot be charged to Pure"),
}


@pytest.mark.parametrize("name", COSTS)
def test_cost_is_refused(name: str, t: Table) -> None:
    cost, words = COSTS[name]
    asks: list[Any] = [t.persons, lambda **c: t.sum("i", **c), lambda **c: t.sql("SELECT COUNT(*) FROM t", **c)]
    for ask in asks:
        refused(t.budget, InvalidInput, words, partial(ask, **cost))


def test_delta_does_not_fit_a_concentrated_budget() -> None:
    t = tacit.read(arrow(EXTREME), person="who", budget=Zcdp(1))
    refused(t.budget, InvalidInput, "no room for δ", lambda: t.persons(epsilon=1, delta="1e-6"))


def test_a_question_dearer_than_what_is_left_says_what_is_left() -> None:
    t = tacit.read(arrow(EXTREME), person="who", budget=Pure(1), table="t")
    refused(
        t.budget,
        BudgetExceeded,
        r"has Pure\(1\) left of Pure\(1\); nothing was spent",
        lambda: t.persons(epsilon="1.01"),
    )
    t.persons(epsilon="0.4")
    words = r"has Pure\(0\.6\) left of Pure\(1\); nothing was spent"
    refused(t.budget, BudgetExceeded, words, lambda: t.sum("i", epsilon="0.7"))
    refused(t.budget, BudgetExceeded, words, lambda: t.sql("SELECT SUM(i), MAX(i) FROM t", epsilon="0.7"))
    two = lambda: t.sql("SELECT SUM(i), MAX(i) FROM t", epsilon="0.7", fresh=True)  # noqa: E731
    refused(t.budget, BudgetExceeded, words, two)


# ---- the fluent face --------------------------------------------------------------------------------------------

COST: Any = {"epsilon": 1}
ASKED: Mapping[str, tuple[Callable[[Table], Any], str]] = {
    "a missing column": (lambda t: t.sum("nope", **COST), "column 'nope' does not exist; the columns are who, i"),
    "no column": (lambda t: t.sum(None, **COST), "name a column"),  # type: ignore[arg-type]
    "an empty column": (lambda t: t.sum("", **COST), "an expression must be a non-empty string"),
    "a sum of texts": (lambda t: t.sum("g", **COST), "needs numbers, not text"),
    "a mean of dates": (lambda t: t.mean("day", **COST), "needs numbers, not date"),
    "a maximum of texts": (lambda t: t.max("g", **COST), "need numbers or dates, not text"),
    "a median of texts": (lambda t: t.median("g", **COST), "need numbers or dates, not text"),
    "a ratio of numbers": (lambda t: t.ratio("i", **COST), "true-or-false"),
    "a histogram of texts": (lambda t: t.histogram("g", [0, 1], **COST), "mixes integer and text"),
    "injection by a column": (lambda t: t.sum("i) FROM t; DROP TABLE t; --", **COST), "not valid SQL"),
    "injection by quotes": (lambda t: t.sum('i" FROM t; --', **COST), "not valid SQL|does not exist"),
    "injection by a subquery": (lambda t: t.sum("(SELECT MAX(i) FROM t)", **COST), "a subquery is not supported"),
    "injection by select": (lambda t: t.select("i; DROP TABLE t"), "does not exist"),
    "per nobody": (lambda t: t.count(per="x", **COST), "per must be 'row' or 'person'"),  # type: ignore[arg-type]
    "a mean per nobody": (lambda t: t.mean("i", per="x", **COST), "per must be"),  # type: ignore[arg-type]
    "a mode per nobody": (lambda t: t.mode("g", ["x"], per="x", **COST), "per must be"),  # type: ignore[arg-type]
    "groups per nobody": (
        lambda t: t.group_by("g", ["x"]).count(per="x", **COST),  # type: ignore[arg-type]
        "per must be",
    ),
    "q above one": (lambda t: t.quantile("i", "1.5", **COST), "q must lie between 0 and 1"),
    "q below zero": (lambda t: t.quantile("i", ["0.5", "-0.1"], **COST), "q must lie between 0 and 1"),
    "q not a number": (lambda t: t.quantile("i", nan, **COST), "q must be finite"),
    "no q": (lambda t: t.quantile("i", [], **COST), "from one to a thousand different numbers"),
    "q twice": (lambda t: t.quantile("i", ["0.5", "1/2"], **COST), "from one to a thousand different numbers"),
    "q too fine": (lambda t: t.quantile("i", "0.12345678901", **COST), "at most nine decimals"),
    "keys twice": (lambda t: t.group_by("g", ["x", "x"]).count(**COST), "must not name a group twice"),
    "no keys": (lambda t: t.group_by("g", []).count(**COST), "keys must list 1 to 10000 different groups"),
    "keys as one text": (lambda t: t.group_by("g", "xy").count(**COST), "keys must list values"),
    "keys of another type": (lambda t: t.group_by("g", [1]).count(**COST), "keys: a value of type integer cannot"),
    "keys too short": (lambda t: t.group_by(["g", "b"], ["x"]).count(**COST), "a tuple with one value for each"),
    "too many keys": (lambda t: t.group_by("i", range(10_001)).count(**COST), "1 to 10000 different"),
    "unknown keys without delta": (lambda t: t.group_by("g").count(**COST), "need delta="),
    "groups by nothing": (lambda t: t.group_by(None), "by must list values"),  # type: ignore[arg-type]
    "groups by a missing column": (lambda t: t.group_by("nope", ["x"]), "column 'nope' does not exist"),
    "edges that fall": (lambda t: t.histogram("i", [2, 1], **COST), "ascending"),
    "edges that stay": (lambda t: t.histogram("i", [1, 1], **COST), "ascending"),
    "one edge": (lambda t: t.histogram("i", [1], **COST), "at least two"),
    "edges not a number": (lambda t: t.histogram("i", [1, nan], **COST), "edges must be finite"),
    "too many edges": (lambda t: t.histogram("i", range(20_000), **COST), "at most 10000"),
    "one candidate as text": (lambda t: t.mode("g", "xy", **COST), "candidates must list values"),
    "no candidates": (lambda t: t.mode("g", [], **COST), "list 1 to 10000"),
    "k of too few": (lambda t: t.top("g", ["x"], 2, **COST), "k must lie between 1"),
    "k of none": (lambda t: t.top("g", ["x"], 0, **COST), "k must lie between 1"),
    "k left out": (lambda t: t.top("g", ["x", "y"], None, **COST), "k must be a whole"),  # type: ignore[arg-type]
    "k not whole": (lambda t: t.top("g", ["x", "y"], 1.5, **COST), "k must be a whole"),  # type: ignore[arg-type]
    "a range that falls": (lambda t: t.mean("i", range=(2, 1), **COST), "low below high"),
    "a range of one": (lambda t: t.mean("i", range=3, **COST), "low below high"),  # type: ignore[arg-type]
    "a range too wide": (lambda t: t.mean("f", range=(0, 10**30), **COST), "within 64 bits"),
}


@pytest.mark.parametrize("name", ASKED)
def test_question_is_refused(name: str, t: Table) -> None:
    ask, words = ASKED[name]
    refused(t.budget, (InvalidInput, UnsupportedQuery), words, lambda: ask(t))  # type: ignore[arg-type]


FILTERS = {
    "i IN (SELECT i FROM t)": "IN with a subquery",
    "EXISTS (SELECT 1)": "a subquery",
    "i > (SELECT MAX(i) FROM t)": "a subquery",
    "read_csv('/etc/passwd') = 1": "READ_CSV",
    "read_text('/etc/passwd') = 'x'": "read_text|READ_TEXT",
    "GETENV('HOME') = 'x'": "getenv|GETENV",
    "i > 1; DROP TABLE t": "several statements",
    "COLUMNS(*) > 1": "COLUMNS",
    "SUM(i) > 1": "SUM",
    "SUM(i) OVER () > 1": "WINDOW",
    "ROW_NUMBER() OVER () = 1": "WINDOW",
    "random() < 0.5": "RAND",
    "i > $1": "PLACEHOLDER|PARAMETER",
    "i + 1": "must be true or false",
    "i >": "not valid SQL",
    "": "must be a non-empty string",
    "CAST(g AS BLOB) = 1": "CAST is supported to",
    "g = 1": "mixes integer and text",
    "nope = 1": "'nope' does not exist",
    "other.i = 1": "does not exist",
}


@pytest.mark.parametrize("condition", FILTERS)
def test_filter_and_mutate_are_held_to_the_closed_list(condition: str, t: Table) -> None:
    words = FILTERS[condition]
    refused(t.budget, (InvalidInput, UnsupportedQuery), words, lambda: t.filter(condition))  # type: ignore[arg-type]
    if "true or false" not in words:
        refused(t.budget, (InvalidInput, UnsupportedQuery), words, lambda: t.mutate(z=condition))  # type: ignore[arg-type]


# ---- SQL --------------------------------------------------------------------------------------------------------

QUERIES = {
    "": "must be a non-empty string",
    "SELEC 1": "not valid SQL",
    "SELECT COUNT(*)": "FROM clause is needed",
    "SELECT COUNT(*) FROM t; SELECT COUNT(*) FROM t": "several statements",
    "SELECT COUNT(*) FROM t; DROP TABLE t": "several statements",
    "DROP TABLE t": "only SELECT",
    "INSERT INTO t VALUES (1)": "only SELECT",
    "COPY t TO 'out.csv'": "only SELECT",
    "SELECT i FROM t": "not an aggregate, and rows are never shown",
    "SELECT * FROM t": "not an aggregate, and rows are never shown",
    "SELECT COUNT(*), GETENV('HOME') FROM t": "cannot be answered privately; select one of",
    "SELECT KURTOSIS(i) + 1 FROM t": "cannot be answered privately; select one of",
    "SELECT ARG_MAX(g, i) FROM t": "a value of one row, and a row is somebody's; use MIN",
    "SELECT g, ANY_VALUE(i) FROM t GROUP BY g": "a value of one row, and a row is somebody's; use MIN",
    "SELECT BOOL_OR(b) FROM t": "decided by a single row, and a row is somebody's; use COUNTIF",
    "SELECT LIST(i) FROM t": "shows rows, and rows are never shown; use COUNT",
    "SELECT i + COUNT(*) FROM t": "i is not an aggregate, and rows are never shown",
    "SELECT COUNT(*) + (SELECT 1) FROM t": "a FROM clause is needed",
    "SELECT QUANTILE_CONT(i, [0.1, 0.9]) + 1 FROM t": "several values; select it by itself",
    f"SELECT COUNT(*){' + 1' * 120} FROM t": "nests them more than 100 deep",
    "SELECT COUNT(*) FILTER (WHERE i) FROM t": "true or false, not integer",
    "SELECT APPROX_QUANTILES(i, 0) FROM t": "a whole number from 1 to",
    "SELECT APPROX_QUANTILES(i, 4)[OFFSET(5)] FROM t": r"n \+ 1 values",
    "SELECT g, COUNT(*) FROM t WHERE g IN ('x') GROUP BY g HAVING COUNT(*)": "HAVING must be true or false",
    "SELECT g, COUNT(*) FROM t WHERE g IN ('x') GROUP BY g HAVING i > 1": "i must stand in GROUP BY",
    "SELECT COUNT(*) FROM t LIMIT 10 PERCENT": "PERCENT and WITH TIES",
    "SELECT COUNT(*) FROM t ORDER BY 2": "ORDER BY takes output columns",
    "SELECT MAX(i, 3) FROM t": "more than one argument",
    "SELECT COUNT(i, g) FROM t": "more than one argument",
    "SELECT SUM(i) OVER () FROM t": "window function",
    "SELECT COUNT(*) FROM t UNION SELECT COUNT(*) FROM t": "UNION",
    "SELECT DISTINCT COUNT(*) FROM t": "SELECT DISTINCT is not supported; use",
    "SELECT SUM(DISTINCT i) FROM t": "DISTINCT inside",
    "SELECT COUNT(*) FROM t RIGHT JOIN pub ON g = k": "public tables, which concern nobody",
    "SELECT COUNT(*) FROM t FULL JOIN pub ON g = k": "FULL JOIN is not supported",
    "SELECT COUNT(*) FROM t SEMI JOIN pub ON g = k": "SEMI JOIN is not supported",
    "SELECT COUNT(*) FROM t NATURAL JOIN pub": "NATURAL JOIN is not supported",
    "SELECT COUNT(*) FROM t CROSS JOIN pub": "joined without an equality",
    "SELECT COUNT(*) FROM t, pub": "joined without an equality",
    "SELECT COUNT(*) FROM t JOIN pub ON g > k": "joined without an equality",
    "SELECT COUNT(*) FROM t JOIN pub ON i = k": "mixes integer and text",
    "SELECT COUNT(*) FROM t LEFT JOIN pub ON g > k": "without an equality",
    "SELECT COUNT(*) FROM nope": "there is no table 'nope'; the tables are t, pub",
    "SELECT COUNT(*) FROM 'orders.csv'": "no table 'orders.csv'",
    "SELECT COUNT(*) FROM read_csv('/etc/passwd')": "not functions or files",
    "SELECT COUNT(*) FROM pub AS u(a, a)": "must name each",
    "SELECT COUNT(*) FROM t TABLESAMPLE 10%": "SAMPLE is not supported",
    "SELECT COUNT(*) FROM t USING SAMPLE 1": "USING SAMPLE is not supported",
    "SELECT SUM(i) FROM t WHERE i": "WHERE must be true or false",
    "SELECT SUM(i) FROM t WHERE i > (SELECT i FROM t)": "is not an aggregate",
    "SELECT SUM(i) FROM t WHERE i > ANY (SELECT i FROM t)": "ANY",
    "SELECT SUM(nope) FROM t": "'nope' does not exist",
    "SELECT AVG(g) FROM t": "needs numbers, not text",
    "SELECT QUANTILE_CONT(i, 2) FROM t": "between 0 and 1",
    "SELECT QUANTILE_CONT(i, i) FROM t": "a constant between 0 and 1",
    "SELECT COUNT(*) FROM t ORDER BY i": "i is not an aggregate, and rows are never shown",
    "SELECT COUNT(*) FROM t LIMIT 1 + 1": "LIMIT takes a whole number",
    "SELECT g, COUNT(*) FROM t GROUP BY g": "need delta=",
    "SELECT i, COUNT(*) FROM t WHERE g IN ('x') GROUP BY g": "must stand in GROUP BY",
    "SELECT g, COUNT(*) FROM t GROUP BY ROLLUP (g)": "ROLLUP",
    "SELECT g, COUNT(*) FROM t GROUP BY 7": "not there",
    "WITH RECURSIVE x AS (SELECT i FROM t) SELECT SUM(i) FROM x": "WITH RECURSIVE",
    "WITH x AS (SELECT SUM(i) AS i FROM t) SELECT SUM(i) FROM x": "only numbers that were answered first",
    "WITH x AS (SELECT DISTINCT i FROM t) SELECT SUM(i) FROM x": "would put rows of several persons together",
    "SELECT SUM(i) FROM (SELECT i FROM t LIMIT 1) AS x": "LIMIT is not supported in a subquery",
    "SELECT SUM(i) FROM (SELECT g, i FROM t GROUP BY g, i) AS x": "would put rows of several persons together",
    "SELECT SUM(i) FROM (SELECT i FROM t UNION SELECT i FROM t) AS x": "would put rows of several persons",
    "SELECT SUM(i) FROM (SELECT i FROM t EXCEPT SELECT i FROM t) AS x": "EXCEPT",
    "SELECT SUM(i) FROM (SELECT i FROM t UNION ALL SELECT i, g FROM t) AS x": "the same number of columns",
    "SELECT SUM(i) FROM (SELECT * EXCLUDE (f) FROM t) AS x": "EXCLUDE",
}


@pytest.mark.parametrize("query", QUERIES)
def test_query_is_refused(query: str, session: Session) -> None:
    words = QUERIES[query]
    both = (InvalidInput, UnsupportedQuery)
    refused(session.budget, both, words, lambda: session.sql(query, epsilon=1))  # type: ignore[arg-type]
    refused(session.budget, both, words, lambda: session.cost(query, epsilon=1))  # type: ignore[arg-type]


def test_keys_need_groups(session: Session) -> None:
    ask = lambda: session.sql("SELECT COUNT(*) FROM t", keys=["x"], epsilon=1)  # noqa: E731
    refused(session.budget, InvalidInput, "keys= needs a GROUP BY", ask)


def test_too_many_public_keys_are_refused() -> None:
    many = pa.table({"k": list(range(11_000))})
    with Session({"t": Private(arrow(EXTREME), person="who"), "many": Public(many)}, budget=Pure(1)) as session:
        query = "SELECT k, COUNT(*) FROM t JOIN many ON i = k GROUP BY k"
        refused(session.budget, UnsupportedQuery, "more than 10000 values", lambda: session.sql(query, epsilon=1))


def test_unknown_groups_need_delta_and_a_budget_for_it() -> None:
    t = tacit.read(arrow(EXTREME), person="who", budget=Approx(1, "1e-5"))
    words = "need delta= beside epsilon= and an Approx budget"
    refused(t.budget, InvalidInput, words, lambda: t.group_by("g").count(epsilon=1))
    refused(t.budget, InvalidInput, words, lambda: t.group_by("g").count(rho="0.1"))
