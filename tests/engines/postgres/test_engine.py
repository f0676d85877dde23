"""PostgreSQL itself: names and types from the catalog, one snapshot, nothing left behind, nothing given away."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.engines import Source, open_engine
from tacit.engines.requests import Extremes, KeyCounts, Ordered, Persons, Relation, RowCount, TotalBuckets, value
from tacit.errors import EngineError, InvalidInput
from tacit.language.expressions import Column, Scope
from tacit.language.types import Schema
from tests.postgres import POSTGRES, REQUIRED, run

pytestmark = pytest.mark.skipif(not (POSTGRES or REQUIRED), reason="not run: psycopg or the embedded server is absent")


@pytest.fixture
def connection(where: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(where) as opened:
        yield opened


def about(engine: Any, table: str = "orders", person: str = "person") -> tuple[Relation, Scope]:
    scope = Scope.of(engine.schema(table), table)
    column = scope.find(person)
    assert isinstance(column, Column)
    return Relation(table, table, column), scope


def persons(engine: Any, table: str = "orders", person: str = "person") -> int:
    with engine.snapshot() as snapshot:
        (found,) = snapshot.ask(about(engine, table, person)[0], (Persons(),))
    return int(found)


def values(engine: Any, column: str, table: str = "odd") -> list[Any]:
    """All values of a column: numbers and dates in their order, text as keys."""
    relation, scope = about(engine, table, "id")
    found = scope.find(column)
    with engine.snapshot() as snapshot:
        if found.type.ordered:
            return sorted(map(float, snapshot.ask(relation, (Extremes(Ordered(found), 100, True),))[0]))
        (keys,) = snapshot.ask(relation, (KeyCounts((found,), 100, 1, bytes(16)),))
    return sorted((key[0] for key, _ in keys if key[0] is not None), key=str)


# ---- names and types ---------------------------------------------------------------------------------------------

TYPES = {
    "smallint": "integer",
    "bigint": "integer",
    "numeric(12,3)": "decimal(3)",
    "numeric(5,-2)": "decimal(0)",
    "numeric(30,20)": "other",
    "numeric": "float",
    "real": "float",
    "double precision": "float",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz(3)": "timestamp",
    "text": "text",
    "varchar(5)": "text",
    "char(5)": "text",
    "name": "text",
    "uuid": "text",
    "jsonb": "text",
    "json": "text",
    "cents": "decimal(2)",
    "small_cents": "decimal(2)",
    "mood": "text",
    "money": "other",
    "interval": "other",
    "bytea": "other",
    "int[]": "other",
    "time": "other",
    "point": "other",
    "xid": "other",
}


def test_types_of_the_catalog(where: str) -> None:
    columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(TYPES))
    run(
        where,
        "CREATE DOMAIN cents AS numeric(9,2) CHECK (VALUE > 0)",
        "CREATE DOMAIN small_cents AS cents CHECK (VALUE < 100)",
        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
        f"CREATE TABLE odd ({columns})",
        "INSERT INTO odd DEFAULT VALUES",
    )
    engine = open_engine({"odd": Source(where)})
    assert [str(kind) for kind in engine.schema("odd").values()] == list(TYPES.values())
    for i in range(len(TYPES)):  # a column of any type may name persons; here all are NULL
        assert persons(engine, "odd", f"c{i}") == 0


def test_awkward_values(where: str) -> None:
    run(
        where,
        "CREATE TABLE odd (id int, d date, t timestamptz, n numeric, m numeric(6,2), p char(4), e float4, c money)",
        "INSERT INTO odd VALUES (1, 'infinity', '-infinity', 'NaN', 'NaN', 'a', 'NaN', 1.25),"
        " (2, '0044-03-15 BC', '0044-03-15 BC', 'Infinity', 1.25, 'a   ', 'Infinity', 2.5),"
        " (3, '2020-02-29', '2020-02-29 12:00:00.5+02', 1e400, -1, 'b', 0.1, NULL),"
        " (4, '12000-01-01', '12000-01-01', 1e-400, 9999.99, '', '-Infinity', -1)",
    )
    facts = {"id": "integer", "d": "date", "t": "timestamp", "n": "float", "m": "decimal(2)"}
    engine = open_engine({"odd": Source(where, Schema.of({**facts, "p": "text", "e": "float", "c": "decimal(2)"}))})
    day, second = (date.min - date(1970, 1, 1)).days, 10**6
    start = (datetime(2020, 2, 29, 10) - datetime(1970, 1, 1)).total_seconds()
    assert values(engine, "d") == [day, 18321, 2932896, 2932896]
    assert values(engine, "t") == [day * 86400.0 * second] * 2 + [start * second + 500000, float(253402300799999999)]
    assert values(engine, "n") == [0.0] + [1.7976931348623157e308] * 2
    assert values(engine, "m") == [-1, 1.25, 9999.99]
    assert values(engine, "p") == ["", "a", "b"]
    assert values(engine, "e") == [-1.7976931348623157e308, 0.10000000149011612, 1.7976931348623157e308]
    assert values(engine, "c") == [-1, 1.25, 2.5]


def test_numbers_without_digits_can_be_declared_exact(where: str) -> None:
    run(where, "CREATE TABLE odd (id int, n numeric)", "INSERT INTO odd VALUES (1, 0.125), (2, 1e30), (3, -0.005)")
    engine = open_engine({"odd": Source(where, Schema.of({"id": "integer", "n": "decimal(2)"}))})
    assert values(engine, "n") == [-0.01, 0.13, float(2**63 - 1) / 100]


def test_persons_are_compared_as_their_type_says(where: str) -> None:
    run(
        where,
        "CREATE TABLE odd (n numeric, e float8, p char(4), v interval, s text)",
        "INSERT INTO odd VALUES (1.0, 0.0, 'a', '1 day', 'a'), (1.00, '-0', 'a ', '24:00', 'A'),"
        " ('NaN', 'NaN', NULL, NULL, NULL), (2, 1, 'b', '2 days', 'a ')",
    )
    engine = open_engine({"odd": Source(where)})
    assert [persons(engine, "odd", name) for name in "nepvs"] == [2, 2, 2, 2, 3]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"person": "integer", "note": "integer"}, "'note' as integer"),
        ({"person": "boolean"}, "'person' as boolean"),
        ({"nobody": "integer"}, "'nobody'; the columns are person, amount, note"),
    ],
)
def test_conversions_that_could_fail_are_refused(where: str, declared: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        open_engine({"orders": Source(where, Schema.of(declared))})


def test_names_are_found_as_the_server_finds_them(where: str) -> None:
    space = where.rpartition("%3D")[2]
    run(
        where,
        'CREATE TABLE "Odd ""Name.x" (person int)',
        "CREATE VIEW seen AS SELECT person FROM orders",
        "CREATE MATERIALIZED VIEW kept AS SELECT person FROM orders",
        "CREATE TABLE parts (person int) PARTITION BY RANGE (person)",
        "CREATE TABLE part1 PARTITION OF parts DEFAULT",
        "INSERT INTO parts VALUES (7)",
    )
    counts = {
        "seen": 3,
        "ORDERS": 3,
        "kept": 3,
        "parts": 1,
        f"{space}.orders": 3,
        '"Odd ""Name.x"': 0,
        f"{space}.Seen": 3,
    }
    for name, count in counts.items():
        assert persons(open_engine({"t": Source(where, table=name)}), "t") == count
    with pytest.raises(InvalidInput, match=rf"no table 'nothing'.*{space}\.orders"):
        open_engine({"t": Source(where, table="nothing")})
    with pytest.raises(InvalidInput, match="no table"):
        open_engine({"t": Source(where, table="elsewhere.orders")})
    with pytest.raises(InvalidInput, match="not an option"):
        open_engine({"orders": Source(where, options={"header": True})})


def test_tables_of_different_places_are_refused(where: str) -> None:
    import pandas as pd

    with pytest.raises(InvalidInput, match="one place, not in PostgreSQL and files"):
        open_engine({"orders": Source(where), "t": Source(pd.DataFrame({"a": [1]}))})
    with pytest.raises(InvalidInput, match="one database"):
        open_engine({"orders": Source(where), "t": Source(where + "&connect_timeout=9")})


# ---- the snapshot ------------------------------------------------------------------------------------------------


def test_two_rounds_see_the_same_rows_and_nothing_can_be_written(where: str) -> None:
    engine = open_engine({"orders": Source(where)})
    relation, _ = about(engine)
    with engine.snapshot() as snapshot:
        first = snapshot.ask(relation, (Persons(),))
        run(where, "INSERT INTO orders VALUES (9, 1, 'z')")
        assert snapshot.ask(relation, (Persons(),)) == first == (3,)
        for statement in ("CREATE TABLE x (a int)", "INSERT INTO orders VALUES (1)", "CREATE TEMP SEQUENCE x"):
            with pytest.raises(Exception, match=r"read-only|aborted|search_path"):
                snapshot._cursor.execute(statement.encode())  # type: ignore[attr-defined]
    assert persons(engine) == 4


def test_a_connection_is_left_as_it_was_found(where: str, connection: Any) -> None:
    import psycopg
    from psycopg.rows import dict_row
    from psycopg.types.numeric import FloatLoader

    connection.row_factory = dict_row
    connection.adapters.register_loader("numeric", FloatLoader)  # would round large sums if it were used
    connection.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
    connection.execute("SET TimeZone = 'Asia/Tokyo'")
    connection.commit()
    names = ("TimeZone", "search_path", "statement_timeout", "transaction_isolation", "client_encoding", "DateStyle")

    def settings() -> list[Any]:
        found = [connection.execute(f"SHOW {name}").fetchone() for name in names]
        found.append(connection.execute("SELECT COUNT(*) FROM pg_prepared_statements").fetchone())
        connection.commit()
        return found

    before = settings()
    engine = open_engine({"orders": Source(connection)}, timeout=200)
    relation, scope = about(engine)
    with engine.snapshot() as outer, engine.snapshot() as inner:  # a question may need two
        large = TotalBuckets(value(scope.find("amount")), (1, 10**15))
        assert outer.ask(relation, (Persons(),)) == inner.ask(relation, (Persons(),)) == (3,)
        assert sum(bucket.sum for bucket in inner.ask(relation, (large,))[0].positive) == 1525
    engine.close()
    assert settings() == before
    assert connection.isolation_level == psycopg.IsolationLevel.SERIALIZABLE
    connection.execute("SELECT 1")
    with pytest.raises(EngineError, match="inside a transaction"), engine.snapshot():
        pass
    connection.rollback()
    connection.autocommit = True
    assert persons(engine) == 3
    connection.close()
    with pytest.raises(EngineError, match="closed"), engine.snapshot():
        pass


def test_several_snapshots_and_threads_at_once(where: str, connection: Any) -> None:
    for source in (where, connection):
        engine = open_engine({"orders": Source(source)})
        found: list[int] = []
        threads = [threading.Thread(target=lambda e=engine, f=found: f.append(persons(e))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(200)
        assert found == [3] * 3
        engine.close()


def test_time_limit(where: str) -> None:
    engine = open_engine({"slow": Source(where)}, timeout=0.3)
    start = time.monotonic()
    with pytest.raises(EngineError, match="could not finish"):
        persons(engine, "slow", "who")
    assert 0.2 < time.monotonic() - start < 200
    with pytest.raises(InvalidInput, match="timeout"):
        open_engine({"slow": Source(where)}, timeout=-1)


def test_ctrl_c_stops_the_statement_on_the_server(where: str) -> None:
    import psycopg

    engine = open_engine({"slow": Source(where), "orders": Source(where)})
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        persons(engine, "slow", "who")
    assert time.monotonic() - start < 200
    with psycopg.connect(where) as watching:
        busy = "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'WITH whole%'"
        assert watching.execute(busy).fetchone() == (0,)
    assert persons(engine) == 3


# ---- through the public face ---------------------------------------------------------------------------------------


def test_a_session_with_a_public_table(where: str) -> None:
    run(where, "CREATE TABLE notes (note text, weight int)", "INSERT INTO notes VALUES ('a', 10), ('b', 20)")
    with tacit.Session(
        {"orders": tacit.Private(where, person="person"), "notes": tacit.Public(where)}, tacit.Pure(10**6)
    ) as session:
        found = session.sql("SELECT SUM(weight) FROM orders JOIN notes ON orders.note = notes.note", epsilon=10**5)
        assert isinstance(found, tacit.Answer)
        assert found.value == 40  # the noise is 0 but for a chance below 10^-6
        joined = "FROM orders JOIN notes ON orders.note = notes.note GROUP BY notes.note"
        by = session.sql(f"SELECT notes.note, COUNT(*) {joined}", epsilon=10**5)
        assert isinstance(by, tacit.Answers)
        assert {key: answer.value for key, answer in by.items()} == {"a": 2, "b": 1}


def test_sums_are_exact(where: str) -> None:
    run(where, "CREATE TABLE big (person int, x bigint, y numeric(38,4))")
    run(where, "INSERT INTO big SELECT 1, 9223372036854775807, 0.0001 FROM generate_series(1, 5)")
    engine = open_engine({"big": Source(where)})
    relation, scope = about(engine, "big")
    asked = tuple(TotalBuckets(value(scope.find(name)), (2**70,)) for name in "xy")
    with engine.snapshot() as snapshot:
        found = snapshot.ask(relation, (*asked, TotalBuckets(RowCount(), (10,))))
    assert [buckets.positive[0].sum for buckets in found] == [5 * (2**63 - 1), 5, 5]
    assert Fraction(Decimal("0.0001")) == asked[1].total.unit  # type: ignore[union-attr]


def test_the_guide_runs(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(
        server,
        "CREATE SCHEMA sales",
        "CREATE TABLE sales.orders AS SELECT i % 40 AS customer, i % 3 AS item, i::numeric(9,2) AS amount"
        " FROM generate_series(1, 400) AS i",
        "CREATE TABLE sales.product AS SELECT i AS id, 10 * i AS weight FROM generate_series(0, 2) AS i",
    )
    guide = Path(__file__).parents[3] / "docs" / "how-to" / "postgresql.md"
    code = re.findall(r"^~~~python\n(.*?)^~~~", guide.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    exec("\n".join(code).replace("postgresql://analyst@db.example.org/shop", server), {})
    assert capsys.readouterr().out.count("Protects any one customer") == 3
