"""A foreign key that two persons share: rows of one count as the other's, so uniqueness is enforced or looked at.

The planner takes the persons of a row from the rows its key leads to. With a key of two persons every such row is there
twice, once for each: whoever takes another's order number adds all their own items to that person's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from tacit import InvalidInput, Private, Pure, Session
from tacit.engines import Source, open_engine
from tacit.engines.requests import duplicate_keys
from tacit.serve.server import serve
from tests.postgres import POSTGRES, run, schema
from tests.serve.support import TOKENS


def orders(*further: tuple[int, int]) -> pa.Table:
    rows = [(n, n) for n in range(1000)] + list(further)
    return pa.table({"id": [i for i, _ in rows], "buyer": [b for _, b in rows]})


ITEMS = pa.table({"order_id": [*range(1000), *[7] * 50]})


def shop(further: tuple[int, int] | None = None) -> Session:
    tables = {
        "orders": Private(orders(*([further] if further else [])), person="buyer"),
        "items": Private(ITEMS, through={"order_id": "orders.id"}),
    }
    return Session(tables, Pure(10**6))


def test_a_shared_key_moves_anothers_rows_and_verification_finds_it() -> None:
    shop().verify()
    with shop((7, 5000)) as shared:
        found: Any = shared["items"].count(epsilon=10**5).value
        assert abs(found - 1101) < 2  # of 1,050 items
        with pytest.raises(InvalidInput, match="table 'orders' has rows that share a value of its key id") as caught:
            shared.verify()
    assert "5000" not in str(caught.value)


def test_declared_keys_are_looked_at_too() -> None:
    data = pa.table({"who": [1, 2, 3], "a": [1, 1, None], "b": [1, 2, None], "c": [1, 1, None]})
    Session({"t": Private(data, person="who", key=[["who"], ["a", "b"]])}, Pure(1)).verify()
    with pytest.raises(InvalidInput, match="key a with c"):
        Session({"t": Private(data, person="who", key=["a", "c"])}, Pure(1)).verify()


def test_serve_does_not_start_on_a_key_that_repeats(tmp_path: Path) -> None:
    parquet.write_table(orders((7, 5000)), tmp_path / "orders.parquet")
    parquet.write_table(ITEMS, tmp_path / "items.parquet")
    (tmp_path / "tacit.toml").write_text(
        f"""
[datasets.shop]
budget.epsilon = 1
tables.orders = {{ source = "orders.parquet", person = "buyer" }}
tables.items = {{ source = "items.parquet", through = {{ order_id = "orders.id" }} }}
[[analysts]]
name = "ada"
token = "{TOKENS["ada"][1]}"
"""
    )
    with pytest.raises(InvalidInput, match="dataset 'shop', table 'orders': id is called unique"):
        serve(tmp_path / "tacit.toml", lambda address: pytest.fail("it listens"))


def test_constraints_of_duckdb_count_as_declared(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, no VARCHAR, line INTEGER, x DOUBLE UNIQUE)")
        connection.execute("CREATE TABLE lines (no VARCHAR, line INTEGER, UNIQUE (no, line))")
        connection.execute("CREATE VIEW seen AS SELECT * FROM orders")
        connection.execute("CREATE SCHEMA other")
        connection.execute("CREATE TABLE other.lines (no VARCHAR PRIMARY KEY)")
    names = ("orders", "lines", "seen", "other.lines")
    engine = open_engine({name: Source(str(path), table=name) for name in names})
    assert set(engine.keys("orders")) == {("id",), ("x",)}
    assert engine.keys("seen") == ()
    assert engine.keys("lines") == engine.keys("other.lines") == ()  # the name alone does not say whose
    engine.close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("DROP TABLE other.lines")
    engine = open_engine({"lines": Source(str(path))})
    assert engine.keys("lines") == (("no", "line"),)
    engine.close()
    with duckdb.connect(str(path), read_only=True) as connection:
        engine = open_engine({"orders": Source(connection)})
        assert set(engine.keys("orders")) == {("id",), ("x",)}


@pytest.mark.skipif(not POSTGRES, reason="needs PostgreSQL")
def test_constraints_of_postgresql_count_as_declared(request: pytest.FixtureRequest) -> None:
    where = schema(request.getfixturevalue("server"))
    run(
        where,
        "CREATE TABLE orders (id int PRIMARY KEY, no text, line int, x numeric UNIQUE, y int, UNIQUE (line, no))",
        "CREATE UNIQUE INDEX ON orders (y) WHERE y > 3",
        "CREATE UNIQUE INDEX ON orders (abs(y))",
        "CREATE UNIQUE INDEX ON orders (no) INCLUDE (y)",
        "CREATE TABLE parents (id int PRIMARY KEY)",
        "CREATE TABLE children () INHERITS (parents)",
        "CREATE VIEW seen AS SELECT * FROM orders",
        "INSERT INTO orders (id, no, y) VALUES (1, 'a', 1), (2, 'b', 2), (3, NULL, -3)",
        "INSERT INTO parents VALUES (1)",
        "INSERT INTO children VALUES (1)",
    )
    engine = open_engine({name: Source(where) for name in ("orders", "parents", "seen")})
    assert set(engine.keys("orders")) == {("id",), ("line", "no"), ("no",), ("x",)}
    assert engine.keys("parents") == engine.keys("seen") == ()
    assert duplicate_keys(engine, "parents", ["id"]) == 1
    assert duplicate_keys(engine, "orders", ["no"]) == 0
    engine.close()
