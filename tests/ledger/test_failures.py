"""What can go wrong with a ledger: each time a clear sentence, and nothing lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tacit.errors import LedgerError
from tacit.guarantees import Pure
from tacit.ledger import open_ledger, verify
from tacit.ledger import store as clocks
from tacit.ledger.sqlite import SqliteStore
from tests.ledger import raw
from tests.postgres import POSTGRES, REQUIRED, schema


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def test_a_ledger_of_another_version(where: str) -> None:
    open_ledger(where).budget("d", Pure(1)).charge(Pure("0.5"))
    raw.change(where, "UPDATE tacit_meta SET value = '2' WHERE name = 'version'")
    with pytest.raises(LedgerError, match=r"version 2 and this Tacit reads version 1; nothing was changed"):
        open_ledger(where)
    raw.change(where, "UPDATE tacit_meta SET value = '1' WHERE name = 'version'")
    assert open_ledger(where).budget("d").spent == Pure("0.5")


def test_other_files_are_never_written_to(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="is not a Tacit ledger; nothing was changed"):
        open_ledger(path)
    path.with_name("text.db").write_text("name,amount\nada,3\n" * 100)
    with pytest.raises(LedgerError, match="not a ledger, or it is damaged"):
        open_ledger(path.with_name("text.db"))
    assert path.read_bytes() == before


def test_no_ledger_there(path: Path) -> None:
    for options in ({"read_only": True}, {"create": False}):
        with pytest.raises(LedgerError, match="there is no ledger at"):
            open_ledger(path, **options)
    assert not path.exists()
    with pytest.raises(LedgerError, match="cannot be opened"):
        open_ledger(path / "no" / "such" / "directory.db")


def test_a_damaged_file(path: Path) -> None:
    with open_ledger(path) as ledger:
        budget = ledger.budget("d", Pure(100))
        for _ in range(200):
            budget.charge(Pure("0.1"))
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(LedgerError, match=r"damaged; nothing was spent: .*restore a copy|`tacit ledger verify`"):
        open_ledger(path).budget("d").charge(Pure("0.1"))
    path.write_bytes(bytes(content[:50]))
    with pytest.raises(LedgerError, match="damaged"):
        open_ledger(path)


def test_verify_reports_damage_to_the_file(path: Path) -> None:
    with open_ledger(path) as ledger:
        budget = ledger.budget("d", Pure(100))
        for _ in range(300):
            budget.charge(Pure("0.1"))
    content = bytearray(path.read_bytes())
    page = len(content) // 4096 // 2 * 4096
    content[page : page + 4096] = b"\x00" * 4096
    path.write_bytes(content)
    found = verify(open_ledger(path), "d")
    assert not found.sound
    assert "damaged" in str(found)


def test_a_full_disk(path: Path) -> None:
    ledger = open_ledger(path)
    budget = ledger.budget("d", Pure(1000))
    store = ledger._store
    assert isinstance(store, SqliteStore)
    pages = store._pool._free[0].execute("PRAGMA page_count").fetchone()[0]
    store._pool._free[0].execute(f"PRAGMA max_page_count = {pages + 2}")
    charged = 0
    with pytest.raises(LedgerError, match="the disk is full; nothing was spent: make room"):  # noqa: PT012
        while True:
            budget.charge(Pure(1))
            charged += 1
    with open_ledger(path) as again:  # a new connection has room
        assert again.budget("d").spent == Pure(charged)
        again.budget("d").charge(Pure(1))
        assert verify(again, "d").sound


def test_a_file_that_may_not_grow(path: Path) -> None:
    """The operating system refuses to write: the process is told, and every charge that returned is there."""
    code = (
        "import resource, sys\n"
        "from tacit.errors import LedgerError\n"
        "from tacit.guarantees import Pure\n"
        "from tacit.ledger import open_ledger\n"
        "budget = open_ledger(sys.argv[1]).budget('d', Pure(1000))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "done = 0\n"
        "try:\n"
        "    while True:\n"
        "        budget.charge(Pure(1))\n"
        "        done += 1\n"
        "except LedgerError as error:\n"
        "    print(done, error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=200, check=True
    )
    done, _, message = ran.stdout.partition(" ")
    assert int(done) > 0
    assert "could not be used: the disk reports an error" in message
    with open_ledger(path) as ledger:
        assert ledger.budget("d").spent == Pure(int(done))
        assert verify(ledger, "d").sound


def test_a_clock_that_goes_backwards(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(path)
    budget = ledger.budget("d", Pure(1))
    budget.charge(Pure("0.1"))
    now = datetime.now(UTC)
    monkeypatch.setattr(clocks, "now", lambda: now - timedelta(seconds=30))
    budget.charge(Pure("0.1"))  # small corrections are dated like the entry before
    times = [entry.at for entry in ledger.history("d")]
    assert times[-1] == times[-2]
    monkeypatch.setattr(clocks, "now", lambda: now - timedelta(days=1))
    with pytest.raises(LedgerError, match=r"the clock says .* and the last entry .* nothing was spent: set the clock"):
        budget.charge(Pure("0.1"))
    monkeypatch.setattr(clocks, "now", lambda: now + timedelta(days=1))
    budget.charge(Pure("0.1"))
    assert budget.spent == Pure("0.3")
    assert verify(ledger, "d").sound


def test_a_ledger_that_others_hold(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.ledger.sqlite._PATIENCE", 0.05)
    budget = open_ledger(path).budget("d", Pure(1))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match=r"other processes held it .* nothing was spent"):
        budget.charge(Pure("0.1"))
    other.execute("ROLLBACK")
    other.close()
    budget.charge(Pure("0.1"))


def test_an_interrupted_charge_spends_nothing(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(where)
    budget = ledger.budget("d", Pure(1))

    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("tacit.ledger.book.Edit.finish", interrupt)
        with pytest.raises(KeyboardInterrupt):
            budget.charge(Pure("0.1"))
    assert budget.spent.epsilon == 0  # type: ignore[attr-defined]
    budget.charge(Pure("0.1"))
    assert verify(ledger, "d").sound


def test_postgresql_without_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerError, match=r"install 'tacit-dp\[postgres\]") as refusal:
        open_ledger("postgresql://ada:secret@nowhere/db")
    assert "secret" not in str(refusal.value)


if POSTGRES or REQUIRED:

    def test_a_postgresql_server_that_is_not_there() -> None:
        with pytest.raises(LedgerError, match="cannot be reached") as refusal:
            open_ledger("postgresql://ada:secret@127.0.0.1:1/db?connect_timeout=2")
        assert "secret" not in str(refusal.value)

    def test_a_postgresql_database_without_a_ledger(server: str) -> None:
        with pytest.raises(LedgerError, match="there is no ledger in this database"):
            open_ledger(schema(server), create=False)

    def test_a_postgresql_connection_that_breaks(server: str) -> None:
        import psycopg

        where = schema(server)
        ledger = open_ledger(where)
        budget = ledger.budget("d", Pure(1))
        budget.charge(Pure("0.1"))
        with psycopg.connect(server, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        with pytest.raises(LedgerError, match="the connection broke; nothing was spent"):
            budget.charge(Pure("0.1"))
        budget.charge(Pure("0.1"))  # a new connection is made
        assert budget.spent == Pure("0.2")

    def test_a_postgresql_server_that_may_forget(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
        import psycopg

        where = schema(server)
        with psycopg.connect(server, autocommit=True) as other:
            other.execute("ALTER SYSTEM SET fsync = off")
            other.execute("SELECT pg_reload_conf()")
            try:
                with pytest.raises(LedgerError, match="fsync off"):  # noqa: PT012
                    for _ in range(50):  # the reload takes a moment
                        open_ledger(where).close()
            finally:
                other.execute("ALTER SYSTEM RESET fsync")
                other.execute("SELECT pg_reload_conf()")

    def test_synchronous_commit_is_asked_for(server: str) -> None:
        from tacit.ledger.postgres import PostgresStore

        store = PostgresStore(schema(server).replace("options=", "options=-csynchronous_commit%3Doff%20"))
        assert store._pool._free[0].execute("SHOW synchronous_commit").fetchone() == ("on",)
        store.close()
