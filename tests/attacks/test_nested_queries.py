"""Nested queries: a person's rows change nobody else's derived rows, and what they mean is what SQL means."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from tacit import Answer, Private, Public, Pure, Session, TacitError
from tacit.errors import UnsupportedQuery
from tests.attacks.nesting import WORLD, Listing, Nested, listed, moved, planned
from tests.tables.support import refused

PERSONS, QUERIES = 4, 40
TABLES = ("visits", "refunds")


class Worlds:
    """A random dataset, and the same without each of its persons."""

    def __init__(self, seed: int) -> None:
        draw = Random(seed)
        self.tables: dict[str, dict[str, list[Any]]] = {}
        for table in TABLES:
            rows = []
            for who in range(PERSONS):
                for _ in range(draw.randrange(4)):
                    g = draw.choice(("a", "b", None))
                    rows.append((who, g, draw.choice((0, 1, 2, 3, None))))
            columns: dict[str, list[Any]] = {"who": [], "g": [], "v": []}
            for world in range(PERSONS + 1):  # the last one has everybody
                for who, g, v in rows:
                    if who != world:
                        columns["who"].append(world * WORLD + who)
                        columns["g"].append(g)
                        columns["v"].append(v)
            self.tables[table] = columns
        self.pairs = [(PERSONS, who, who) for who in range(PERSONS)]

    def arrow(self, table: str) -> pa.Table:
        types: dict[str, Any] = {"who": pa.int64(), "g": pa.string(), "v": pa.int64()}
        columns = self.tables[table]
        nobody = {"who": [*columns["who"], None], "g": [*columns["g"], "a"], "v": [*columns["v"], 1]}
        return pa.table({name: pa.array(nobody[name], kind) for name, kind in types.items()})

    @contextlib.contextmanager
    def opened(self) -> Iterator[tuple[Session, duckdb.DuckDBPyConnection]]:
        """A session, and the same rows but those without a person in plain DuckDB."""
        plain = duckdb.connect(config={"threads": "1"})
        tables = {name: self.arrow(name) for name in TABLES}
        for name, table in tables.items():
            plain.register(f"{name}_all", table)
            plain.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_all WHERE who IS NOT NULL")
        with Session({name: Private(table, person="who") for name, table in tables.items()}, Pure(1)) as session:
            yield session, plain
        plain.close()


def truth(plain: duckdb.DuckDBPyConnection, query: str) -> Listing:
    found: Listing = defaultdict(Counter)
    for who, *values in plain.execute(query.replace("COUNT(*)", "who, g, v", 1)).fetchall():
        world, person = divmod(who, WORLD)
        found[world][(person, *values)] += 1
    return found


@pytest.mark.timeout(120)
def test_random_nested_queries_mean_what_sql_means_and_move_nobody_else() -> None:
    """Seeds are fixed: what passes once passes always."""
    done, refusals = 0, Counter[str]()
    for seed in range(5):
        worlds, draw = Worlds(seed), Random(seed)
        with worlds.opened() as (session, plain):
            for _ in range(QUERIES // 5):
                query = Nested(draw, TABLES).query(draw.choice((1, 1, 2, 2, 3)))
                try:
                    relation, columns = planned(session, query)
                except TacitError as error:
                    refusals[str(error)] += 1
                    continue
                rows = listed(session, relation, columns)
                assert moved(rows, worlds.pairs) == [], query
                assert {w: r for w, r in rows.items() if r} == truth(plain, query), query
                done += 1
    assert done > QUERIES * 0.9, refusals


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    rows = Worlds(3)
    tables: dict[str, Any] = {name: Private(rows.arrow(name), person="who") for name in TABLES}
    tables["kinds"] = Public(pa.table({"g": ["a", "b", None]}))
    tables["others"] = Private(pa.table({"who": [1, 2], "g": ["a", "b"], "v": [1, 2]}), person="other:who")
    with Session(tables, Pure(100)) as opened:
        yield opened


BEYOND = {
    "window": "SELECT COUNT(*) FROM (SELECT v, SUM(v) OVER (ORDER BY v) AS s FROM visits) AS t",
    "window by another column": "SELECT COUNT(*) FROM (SELECT RANK() OVER (PARTITION BY g ORDER BY v) AS s FROM visits)"
    " AS t",
    "exists": "SELECT COUNT(*) FROM visits AS a WHERE EXISTS (SELECT 1 FROM visits AS b WHERE b.v > a.v)",
    "exists by another column": "SELECT COUNT(*) FROM visits AS a WHERE EXISTS (SELECT 1 FROM refunds AS b WHERE b.g = "
    "a.g)",
    "not exists": "SELECT COUNT(*) FROM visits AS a WHERE NOT EXISTS (SELECT 1 FROM refunds)",
    "in": "SELECT COUNT(*) FROM visits WHERE g IN (SELECT g FROM refunds)",
    "not in": "SELECT COUNT(*) FROM visits WHERE v NOT IN (SELECT v FROM refunds WHERE g = 'a')",
    "in, inside or": "SELECT COUNT(*) FROM visits WHERE v = 1 OR g IN (SELECT g FROM refunds)",
    "group": "SELECT COUNT(*) FROM (SELECT g, COUNT(*) AS n FROM visits GROUP BY g) AS t",
    "distinct": "SELECT COUNT(*) FROM (SELECT DISTINCT g FROM visits) AS t",
    "union": "SELECT COUNT(*) FROM (SELECT g FROM visits UNION SELECT g FROM refunds) AS t",
    "union with others": "SELECT COUNT(*) FROM (SELECT v FROM visits UNION ALL SELECT v FROM others) AS t",
    "left join": "SELECT COUNT(*) FROM visits AS a LEFT JOIN refunds AS b ON a.g = b.g",
    "left join of others": "SELECT COUNT(*) FROM visits AS a LEFT JOIN others AS b ON a.who = b.who",
    "left join of a public table's rows": "SELECT COUNT(*) FROM kinds LEFT JOIN visits ON kinds.g = visits.g",
    "exists for a public table's rows": "SELECT COUNT(*) FROM kinds WHERE g IN (SELECT g FROM visits)",
    "equal as doubles": "SELECT COUNT(*) FROM visits AS a WHERE EXISTS (SELECT 1 FROM refunds AS b WHERE "
    "CAST(a.who AS DOUBLE) = CAST(b.who AS DOUBLE))",
    "the person plus one": "SELECT COUNT(*) FROM visits AS a WHERE a.who IN (SELECT who + 1 FROM refunds)",
    "twice the person": "SELECT COUNT(*) FROM (SELECT who * 2 AS w, COUNT(*) AS n FROM visits GROUP BY 1) AS t",
    "limit": "SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 3) AS t",
    "lateral": "SELECT COUNT(*) FROM visits AS a, LATERAL (SELECT 1 AS one) AS b",
    "distinct on": "SELECT COUNT(*) FROM (SELECT DISTINCT ON (who) who, v FROM visits) AS t",
    "two around": "SELECT COUNT(*) FROM visits AS a WHERE EXISTS (SELECT 1 FROM refunds AS b WHERE b.who = a.who AND "
    "EXISTS (SELECT 1 FROM refunds AS c WHERE c.who = b.who AND c.v = a.v))",
    "left join, two persons made one": "SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.g = b.g LEFT JOIN "
    "refunds AS c ON a.who = b.who AND c.g = a.g",
    "exists, two persons made one": "SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.g = b.g WHERE EXISTS "
    "(SELECT 1 FROM refunds AS c WHERE a.who = b.who AND c.g = a.g)",
    "not exists, two persons made one": "SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.g = b.g WHERE NOT "
    "EXISTS (SELECT 1 FROM refunds AS c WHERE a.who = b.who AND c.g = a.g)",
    "in, two persons made one": "SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.g = b.g WHERE a.v IN "
    "(SELECT c.v FROM refunds AS c WHERE a.who = b.who)",
}


@pytest.mark.parametrize("what", BEYOND)
def test_what_looks_at_other_persons_is_refused_unpaid(what: str, session: Session) -> None:
    refused(session.budget, UnsupportedQuery, ";", lambda: session.sql(BEYOND[what], epsilon=1))


def answer(session: Session, query: str) -> Any:
    found = session.sql(query, epsilon=200, fresh=True)
    assert isinstance(found, Answer)
    return found.value


@pytest.mark.parametrize("native", ["float64", "decimal128(20, 2)", "string"])
def test_persons_are_equal_by_key_and_nothing_else(native: str) -> None:
    """−0.0 is 0.0; decimals beyond 64 bits, and long texts that differ at their end, stay apart."""
    values: dict[str, list[Any]] = {
        "float64": [0.0, -0.0, float(2**53), float(2**53 + 2), float("nan"), None],
        "decimal128(20, 2)": ["0.00", "-0.00", "999999999999999999.99", "999999999999999999.98", None, None],
        "string": ["a" * 5000, "a" * 5000, "a" * 5000 + "b", "a" * 5000 + "c", None, None],
    }
    from decimal import Decimal

    given = values[native]
    if native.startswith("decimal"):
        given = [None if v is None else Decimal(v) for v in given]
    kinds: dict[str, Any] = {"float64": pa.float64(), "decimal128(20, 2)": pa.decimal128(20, 2), "string": pa.string()}
    kind = kinds[native]
    table = pa.table({"who": pa.array(given, kind), "v": [1, 2, 3, 4, 5, 6]})
    with Session({"a": Private(table, person="who"), "b": Private(table, person="who")}, Pure(10**9)) as opened:
        per = "SELECT COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM a GROUP BY who) AS t"
        assert answer(opened, per) == 3
        assert answer(opened, f"{per} WHERE n = 2") == 1
        assert answer(opened, "SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.who = a.who)") == 4
        assert answer(opened, "SELECT COUNT(*) FROM a WHERE who NOT IN (SELECT who FROM b WHERE v < 3)") == 2
        assert answer(opened, "SELECT COUNT(*) FROM (SELECT DISTINCT who FROM a UNION SELECT who FROM b) AS t") == 3
        left = "SELECT COUNT(*) FROM (SELECT a.who, MAX(b.v) AS m FROM a LEFT JOIN b ON a.who = b.who GROUP BY 1) AS t"
        assert answer(opened, f"{left} WHERE m IN (2, 3, 4)") == 3


def test_not_in_is_sqls_where_there_is_null() -> None:
    a = pa.table({"who": [1, 1, 2, 2, 3, None], "x": [1, None, 1, 2, 1, 1]})
    b = pa.table({"who": [1, 2, 2, None], "x": [2, None, 2, 1]})
    plain = duckdb.connect()
    plain.register("a0", a)
    plain.register("b0", b)
    plain.execute("CREATE TABLE a AS SELECT * FROM a0 WHERE who IS NOT NULL")
    plain.execute("CREATE TABLE b AS SELECT * FROM b0 WHERE who IS NOT NULL")
    inside = "(SELECT x FROM b WHERE b.who = a.who)"
    with Session({"a": Private(a, person="who"), "b": Private(b, person="who")}, Pure(10**9)) as opened:
        for condition in (
            f"x NOT IN {inside}",
            f"x IN {inside}",
            f"NOT (x IN {inside})",
            f"(x NOT IN {inside}) IS NULL",
            f"(x IN {inside}) IS NOT TRUE",
            f"COALESCE(x IN {inside}, x = 1)",
            "who NOT IN (SELECT who FROM b)",
            "(who, x) NOT IN (SELECT who, x FROM b)",
            "(who, x) IN (SELECT who, x FROM b)",
        ):
            query = f"SELECT COUNT(*) FROM a WHERE {condition}"
            (truth,) = plain.execute(query).fetchone() or (None,)
            assert answer(opened, query) == truth, condition


def test_no_failure_depends_on_a_row() -> None:
    """Sums beyond 64 bits, empty groups, NaN and long texts inside persons: an ordinary answer each time."""
    table = pa.table(
        {
            "who": [1, 1, 2, 3],
            "big": [2**63 - 1, 2**63 - 1, -(2**63), None],
            "x": [float("nan"), float("inf"), -0.0, None],
            "t": ["é" * 20_000, None, "", "😀"],
        }
    )
    inner = (
        "SELECT who, SUM(big) AS s, AVG(x) AS m, STRING_AGG(t, '') AS t, MEDIAN(x) AS q, STDDEV(big) AS d, "
        "MODE(t) AS o, MAX(big) - MIN(big) AS r FROM a GROUP BY who"
    )
    with Session({"a": Private(table, person="who")}, Pure(10**9)) as opened:
        for column in ("s", "m", "q", "d", "r"):
            answer(opened, f"SELECT SUM({column}) FROM ({inner}) AS t")
        assert answer(opened, f"SELECT COUNT(*) FROM ({inner}) AS t WHERE o IS NOT NULL") == 3


def test_a_part_asks_about_its_own_persons_alone() -> None:
    table = pa.table({"who": [1, 1, 2, 3], "v": [1, 2, 3, 4]})
    with Session({"a": Private(table, person="who")}, Pure(10**9)) as opened:
        parts = opened["a"].partition("v", [1, 3])
        assert parts[1].per_person(s="SUM(v)").sum("s", epsilon=200).value == 3
        with pytest.raises(UnsupportedQuery, match="one part of the persons"):
            parts[1].session["a"].per_person(s="SUM(v)").sum("s", epsilon=1)
        with pytest.raises(UnsupportedQuery, match="one part of the persons"):
            parts[1].sql("SELECT SUM(s) FROM (SELECT who, SUM(v) AS s FROM a GROUP BY who) AS t", epsilon=1)
