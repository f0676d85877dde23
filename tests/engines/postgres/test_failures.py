"""What can go wrong with a server: a clear error, no word of rows or password, and a charge only where it must be."""

from __future__ import annotations

import threading
import time
import traceback
from typing import Any
from urllib.parse import quote

import pytest

import tacit
from tacit.engines import FAILED, Source, open_engine
from tacit.errors import EngineError, InvalidInput, TacitError
from tests.postgres import POSTGRES, REQUIRED, run
from tests.support import until

pytestmark = pytest.mark.skipif(not (POSTGRES or REQUIRED), reason="not run: psycopg or the embedded server is absent")


def ask(table: Any) -> Any:
    return table.count(epsilon=1)


def test_what_fails_before_rows_are_read_costs_nothing(where: str) -> None:
    space = where.rpartition("%3D")[2]
    run(where, f"CREATE ROLE reader_{space} LOGIN", f"GRANT USAGE ON SCHEMA {space} TO reader_{space}")
    reader = where.replace("postgres:@", f"reader_{space}:@")
    with pytest.raises(InvalidInput, match="SELECT privilege"):
        tacit.read(reader, "person", tacit.Pure(9), table="orders")
    run(where, f"GRANT SELECT (person) ON orders TO reader_{space}")
    run(where, f"REVOKE USAGE ON SCHEMA {space} FROM reader_{space}")
    with pytest.raises(EngineError, match="USAGE of their schema"):
        tacit.read(reader, "person", tacit.Pure(9), table=f"{space}.orders")
    run(where, f"GRANT USAGE ON SCHEMA {space} TO reader_{space}")
    table = tacit.read(reader, "person", tacit.Pure(9), table="orders")
    assert ask(table).guarantee == tacit.Pure(1)
    for change, undo in (
        (f"REVOKE SELECT (person) ON orders FROM reader_{space}", f"GRANT SELECT ON orders TO reader_{space}"),
        ("ALTER TABLE orders ALTER person TYPE bigint", "ALTER TABLE orders ALTER person TYPE int"),
        ("ALTER TABLE orders RENAME TO gone", "ALTER TABLE gone RENAME TO orders"),
        (f"ALTER ROLE reader_{space} NOLOGIN", f"ALTER ROLE reader_{space} LOGIN"),
    ):
        run(where, change, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'reader%'")
        before = table.budget.spent
        with pytest.raises(EngineError, match="Nothing was charged"):
            table.count(epsilon=1, fresh=True)
        assert table.budget.spent == before
        run(where, undo)
    assert table.count(epsilon=1, fresh=True).guarantee == tacit.Pure(1)  # and all is well again
    run(where, f"DROP OWNED BY reader_{space}", f"DROP ROLE reader_{space}")


def strike(where: str, table: tacit.Table, kill: str) -> None:
    """Kill as soon as it is charged and there is something to kill."""
    import psycopg

    until(lambda: table.budget.remaining != tacit.Pure(9))
    with psycopg.connect(where, autocommit=True) as line:
        until(lambda: line.execute(kill).fetchall())


def test_a_server_that_ends_the_session_in_the_middle_is_paid_for(where: str) -> None:
    table = tacit.read(where, "who", tacit.Pure(9), table="slow")
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'WITH whole%'"
    killer = threading.Thread(target=strike, args=(where, table, kill))
    killer.start()
    with pytest.raises(EngineError) as caught:
        ask(table)
    killer.join(200)
    assert str(caught.value) == FAILED
    assert caught.value.__cause__ is None
    assert table.budget.spent == tacit.Pure(1)


def test_what_goes_wrong_in_a_row_is_one_sentence(where: str) -> None:
    """A view may fail for what a row holds; the message would show it."""
    run(where, "CREATE VIEW fails AS SELECT person, CAST('secret' || person AS int) AS x FROM orders")
    table = tacit.read(where, "person", tacit.Pure(9), table="fails")
    with pytest.raises(EngineError) as caught:
        table.sum("x", epsilon=1)
    assert str(caught.value) == FAILED
    assert "secret" not in "".join(traceback.format_exception(caught.value))
    assert table.budget.spent == tacit.Pure(1)


def test_no_server_and_no_password_to_be_seen(server: str, where: str) -> None:
    import psycopg

    space = where.rpartition("%3D")[2]
    with psycopg.connect(where, autocommit=True) as admin:
        (rules,) = admin.execute("SHOW hba_file").fetchone() or ("",)
        with open(rules, encoding="utf-8") as file:
            old = file.read()
        with open(rules, "w", encoding="utf-8") as file:
            file.write(f"local all guest_{space} scram-sha-256\n{old}")
        admin.execute(f"CREATE ROLE guest_{space} LOGIN PASSWORD 'right'".encode())
        admin.execute("SELECT pg_reload_conf()")
    right, wrong = (where.replace("postgres:@", f"guest_{space}:{word}@") for word in ("right", "hunter2"))
    deadline = time.monotonic() + 200
    while True:  # until the server has read its rules again
        try:
            open_engine({"orders": Source(wrong)})
        except TacitError as error:
            if "refuses the login" in str(error) or time.monotonic() > deadline:
                break
        time.sleep(0.05)
    place = quote("/nowhere at all", safe="")
    for address in (wrong, f"postgresql://u:hunter2@/db?host={place}", "postgresql://u:hunter2@[::1/x?port=y"):
        with pytest.raises(EngineError, match="refuses the login") as caught:
            tacit.read(address, "person", tacit.Pure(1), table="orders")
        shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
        assert "hunter2" not in shown
    run(where, f"GRANT USAGE ON SCHEMA {space} TO guest_{space}", f"GRANT SELECT ON orders TO guest_{space}")
    table = tacit.read(right, "person", tacit.Pure(1), table="orders")
    source = Source(right)
    session = tacit.Session({"orders": tacit.Private(right, person="person")}, tacit.Pure(1))
    tables = session._tables
    shown = repr(table) + repr(source) + repr(session) + repr(tables.declared["orders"]) + repr(tables.engine)
    assert "right@" not in shown
