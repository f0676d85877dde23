"""The engine itself: locked in, silent about rows, interruptible, and never more than two rounds."""

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tacit.engines import FAILED, Source, open_engine
from tacit.engines.duckdb.engine import DuckDB, DuckSnapshot, forms_of_versions, limit_memory, limit_threads
from tacit.engines.requests import (
    Different,
    Entry,
    GroupNorms,
    GroupTotals,
    Join,
    Persons,
    Relation,
    Request,
    RowCount,
    TotalBuckets,
    value,
)
from tacit.engines.requests.beside import Beside
from tacit.errors import EngineError, InvalidInput
from tacit.language import build
from tacit.language.expressions import Column, Literal, Scope
from tacit.language.types import INTEGER, TEXT
from tests.engines.support import engine_over, relation, run

SLOW = "SELECT SUM(s) FROM (SELECT i % 1000003 AS k, SUM(i) AS s FROM range(100000000000) AS t(i) GROUP BY k)"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "orders.csv").write_text("person,product,amount\n1,a,5\n1,b,7\n2,a,1\n3,c,2\n,a,100\n")
    (tmp_path / "product.csv").write_text("id,weight\na,10\nb,20\na,30\n")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    return tmp_path


def test_only_declared_files_can_be_reached(files: Path) -> None:
    engine = DuckDB({"orders": Source(files / "orders.csv")})
    with engine.snapshot() as snapshot:
        for statement in (
            f"SELECT * FROM read_csv('{files / 'secret.csv'}')",
            f"ATTACH '{files / 'new.db'}'",
            f"COPY (SELECT 1) TO '{files / 'out.csv'}'",
            "SET enable_external_access = true",
            "SET memory_limit = '1GB'",
            "INSTALL httpfs",
            "CREATE TABLE x AS SELECT 1",
            "SELECT * FROM files",
        ):
            with pytest.raises(EngineError):
                run(snapshot, statement)
    assert sorted(path.name for path in files.iterdir()) == ["orders.csv", "product.csv", "secret.csv"]


def test_a_process_that_is_limited_opens_limited_connections(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.engines.duckdb.engine._limits", {})
    limit_memory(100)
    limit_threads(1)
    with DuckDB({"orders": Source(files / "orders.csv")}).snapshot() as snapshot:
        asked = "SELECT current_setting('threads'), current_setting('memory_limit')"
        assert run(snapshot, asked) == [(1, "100.0 MiB")]


def test_a_relative_path_survives_a_change_of_folder(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    engine = open_engine({"orders": Source("orders.csv")})
    monkeypatch.chdir("/")
    with engine.snapshot() as snapshot:
        assert snapshot.ask(orders(engine), (Persons(),)) == (3,)


def orders(engine: Any, *joins: Join) -> Relation:
    scope = Scope.of(engine.schema("orders"), "orders")
    return Relation("orders", "orders", scope.find("person"), joins)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "rows", "weight"), [("inner", 5, 100), ("left", 6, 100)])
def test_public_tables_can_be_joined(files: Path, kind: Any, rows: int, weight: int) -> None:
    """An unmatched row stays in a left join; a key that occurs twice repeats the row, for the same person."""
    engine = open_engine({"orders": Source(files / "orders.csv"), "product": Source(files / "product.csv")})
    scope = Scope.of(engine.schema("orders"), "orders").beside(Scope.of(engine.schema("product"), "p"))
    join = Join("product", "p", ((scope.find("product"), scope.find("id")),), kind)  # type: ignore[arg-type]
    asked = (TotalBuckets(RowCount(), (99,)), TotalBuckets(value(scope.find("weight")), (1000,)))
    with engine.snapshot() as snapshot:
        counted, weighed = snapshot.ask(orders(engine, join), asked)
    assert sum(b.sum for b in counted.positive) == rows
    assert sum(b.sum for b in weighed.positive) == weight


def test_a_snapshot_has_two_rounds() -> None:
    with engine_over([]) as engine, engine.snapshot() as snapshot:
        for _ in range(2):
            assert snapshot.ask(relation(), (Persons(),)) == (0,)
        with pytest.raises(InvalidInput, match="2 rounds"):
            snapshot.ask(relation(), (Persons(),))


def test_a_file_that_changes_between_rounds_is_noticed(files: Path) -> None:
    engine = open_engine({"orders": Source(files / "orders.csv")})
    with engine.snapshot() as snapshot:
        snapshot.ask(orders(engine), (Persons(),))
        (files / "orders.csv").write_text("person,product,amount\n1,a,5\n")
        with pytest.raises(EngineError, match="could not finish"):
            snapshot.ask(orders(engine), (Persons(),))


@pytest.mark.parametrize("damage", ["gone", "garbage", "truncated"])
def test_failures_are_one_sentence_without_data(tmp_path: Path, damage: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "orders.parquet"
    pq.write_table(pa.table({"person": ["a secret"] * 9}), path)
    engine = open_engine({"orders": Source(path)})
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(b"a secret" * 100 if damage == "garbage" else path.read_bytes()[:-20])
    with pytest.raises(EngineError) as caught, engine.snapshot() as snapshot:
        snapshot.ask(orders(engine), (Persons(),))
    assert str(caught.value) == FAILED
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert (
        "secret"
        not in "".join(traceback.format_exception(caught.value)).replace("a secret", "", 0).split("Error: ")[-1]
    )


def test_time_limit(files: Path) -> None:
    engine = DuckDB({"orders": Source(files / "orders.csv")}, timeout=0.2)
    start = time.monotonic()
    with engine.snapshot() as snapshot, pytest.raises(EngineError, match="could not finish"):
        run(snapshot, SLOW)
    assert time.monotonic() - start < 200
    with engine.snapshot() as snapshot:
        assert run(snapshot, "SELECT 1") == [(1,)]


def test_ctrl_c_stops_the_statement(files: Path) -> None:
    """Polars is there because its signal handler keeps Python from waking up of a wait without a limit."""
    import polars as pl

    DuckDB({"t": Source(pl.DataFrame({"a": [1]}))}).close()
    engine = DuckDB({"orders": Source(files / "orders.csv")})
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), engine.snapshot() as snapshot:
        run(snapshot, SLOW)
    assert time.monotonic() - start < 200
    with engine.snapshot() as snapshot:
        assert snapshot.ask(orders(engine), (Persons(),)) == (3,)


def test_several_snapshots_and_threads_at_once(files: Path) -> None:
    engine = DuckDB({"orders": Source(files / "orders.csv")})
    found: list[Any] = []

    def ask() -> None:
        with engine.snapshot() as snapshot:
            found.append(snapshot.ask(orders(engine), (Persons(),)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    with engine.snapshot() as first, engine.snapshot() as second:
        for thread in threads:
            thread.start()
        found += [first.ask(orders(engine), (Persons(),)), second.ask(orders(engine), (Persons(),))]
        for thread in threads:
            thread.join(200)
    assert found == [(3,)] * 6


def test_nothing_of_the_data_shows(files: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"person": ["a secret"]})
    source = Source(frame)
    engine = DuckDB({"t": source})
    assert "secret" not in repr(source) + repr(engine) + repr(engine.tables)


def test_what_spills_is_private_and_gone_at_the_end(tmp_path: Path) -> None:
    """A process with little memory spills into a folder that only its user can read, and leaves nothing behind."""
    code = """
import os, sys, tempfile
from tacit.engines import Source
from tacit.engines.duckdb import engine as duckdb
from tacit.engines.script import Script, fragment
import duckdb as native

connect = native.connect
native.connect = lambda config: connect(config={**config, "memory_limit": "60MB", "threads": "1"})
engine = duckdb.DuckDB({"t": Source(sys.argv[1])})
big = "SELECT COUNT(DISTINCT s) FROM (SELECT hash(i) AS k, SUM(i) AS s FROM range(3000000) AS t(i) GROUP BY k)"
seen = []
with engine.snapshot() as snapshot:
    def fetch(cursor):
        (folder,) = os.listdir(tempfile.gettempdir())
        path = os.path.join(tempfile.gettempdir(), folder)
        seen.append((oct(os.stat(path).st_mode & 0o777), len(os.listdir(path))))
        return cursor.fetchall()
    snapshot._run(Script((), fragment(big)), fetch)
print(seen)
"""
    (tmp_path / "t.csv").write_text("a\n1\n")
    spill = tmp_path / "spill"
    spill.mkdir()
    found = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "t.csv")],
        env={**os.environ, "TMPDIR": str(spill)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert found.stdout == "[('0o700', 1)]\n"
    assert list(spill.iterdir()) == []


def test_a_version_names_what_files_hold_and_how_they_are_read(files: Path) -> None:
    path = files / "orders.csv"
    text = path.read_text()
    engine, again = DuckDB({"t": Source(path)}), DuckDB({"t": Source(path)})
    first = engine.version(("t",))
    assert first is not None
    assert first == engine.version(("t",)) == again.version(("t",))
    assert DuckDB({"t": Source(path, options={"null": "a"})}).version(("t",)) != first
    times = path.stat()
    path.write_text(text[::-1])  # the same size, and then the same times, as far as those can be set
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = engine.version(("t",))
    assert second not in (None, first)
    path.write_text(text)
    assert engine.version(("t",)) not in (first, second)  # the old content again is one more version
    path.unlink()
    assert engine.version(("t",)) is None


def test_a_file_that_was_changed_just_now_is_waited_for(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, slept = DuckDB({"t": Source(files / "orders.csv")}), list[float]()
    (files / "orders.csv").write_text("person,product,amount\n")
    monkeypatch.setattr("tacit.engines.duckdb.engine.time.sleep", slept.append)
    monkeypatch.setattr("tacit.engines.duckdb.engine.TICK", 1000.0)
    assert engine.version(("t",)) is None  # it is still young: a further change might not show
    assert slept == [1000.0]


def test_only_what_cannot_change_unseen_has_a_version(files: Path) -> None:
    import duckdb

    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    arrow = pa.table({"a": [1]})
    first, second = DuckDB({"t": Source(arrow)}), DuckDB({"t": Source(arrow)})
    assert first.version(("t",)) == first.version(("t",))
    assert first.version(("t",)) != second.version(("t",))
    assert DuckDB({"t": Source(pd.DataFrame({"a": [1]}))}).version(("t",)) is None
    with duckdb.connect(str(files / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        assert DuckDB({"t": Source(connection)}).version(("t",)) is None
    assert DuckDB({"t": Source(files / "t.duckdb")}).version(("t",)) is None
    mixed = DuckDB({"t": Source(arrow), "u": Source(pd.DataFrame({"a": [1]}))})
    assert mixed.version(("t",)) is not None
    assert mixed.version(("t", "u")) is None


def test_what_a_version_is_made_of_keeps_its_text(files: Path) -> None:
    """Ledgers keep versions: another text for the same files would be another version."""
    table = DuckDB({"orders": Source(files / "product.csv")}).tables["orders"]
    read = (table.schema, table.token, table.feed)
    assert forms_of_versions().write(read) == (
        "(Schema(columns=(('id', ColumnType(kind=<Kind.TEXT: 'text'>, scale=0)), "
        "('weight', ColumnType(kind=<Kind.INTEGER: 'integer'>, scale=0)))), '', "
        f"Feed(name='text0', files=(TextFile(path='{files / 'product.csv'}', encoding='utf-8', mark=0),), "
        "dialect=Dialect(delimiter=',', quote='\"', escape='\"'), width=2, skip=1, objects=False))"
    )


def test_what_snapshots_ask_together_is_kept_while_the_files_look_the_same(files: Path) -> None:
    """Answers are those of snapshots apart, and no kept table outlives its files' state, or the context."""
    engine = DuckDB({"orders": Source(files / "orders.csv")})
    scope = Scope.of(engine.schema("orders"), "orders")
    amount, product = cast(Column, scope.find("amount")), cast(Column, scope.find("product"))
    cheap = build.comparison("<", amount, Literal(INTEGER, 50))
    asked = replace(orders(engine), filter=cheap)
    keys = tuple((Literal(TEXT, key),) for key in "abc")
    requests: tuple[Request[Any], ...] = (
        Persons(),
        TotalBuckets(value(amount), (5, 10)),
        TotalBuckets(RowCount(product), (1, 2)),
        GroupTotals(value(amount), (product,), keys, "l1", 20),
        GroupTotals(Different(product), (product,), keys, "max", 20),
    )

    def apart() -> list[Any]:
        found = []
        for request in requests:
            with engine.snapshot() as snapshot:
                found.append(snapshot.ask(asked, (request,)))
        return found

    before = apart()
    totals = (value(amount), RowCount(product))
    with engine.together(Beside(frozenset({amount, product}), totals)) as opening:
        kept = []
        for request in requests:
            with opening() as snapshot:
                assert isinstance(snapshot, DuckSnapshot)
                kept.append(snapshot.ask(asked, (request,)))
        assert kept == before
        tables = "SELECT COUNT(*) FROM duckdb_tables() WHERE temporary"
        assert isinstance(snapshot, DuckSnapshot)
        ((number,),) = run(snapshot, tables)
        assert 0 < number < 2 * len(requests), "rows are kept once"
        (files / "orders.csv").write_text("person,product,amount\n1,a,5\n1,b,7\n2,c,4\n")
        with opening() as snapshot:
            changed = [snapshot.ask(asked, (requests[i],)) for i in (1, 3)]
    after = apart()
    assert changed == [after[1], after[3]]
    assert after[1] != before[1]
    assert after[3] != before[3]
    with engine.snapshot() as snapshot:
        assert run(snapshot, tables) == [(0,)]


def test_vectors_of_the_same_groups_are_made_once_with_all_norms(files: Path) -> None:
    """Two tables for three aggregates and both their rounds: the entries, and the norms; answers are those of each."""
    engine = DuckDB({"orders": Source(files / "orders.csv")})
    scope = Scope.of(engine.schema("orders"), "orders")
    amount, product = cast(Column, scope.find("amount")), cast(Column, scope.find("product"))
    keys = tuple((Literal(TEXT, key),) for key in "abc")
    entries: tuple[Entry, ...] = (value(amount), RowCount(), RowCount(amount))
    norms = [GroupNorms(entry, (product,), keys, "l1", (1, 2, 5, 10)) for entry in entries]
    totals = [GroupTotals(entry, (product,), keys, "l1", 3, 8) for entry in entries]
    rounds = list(zip(norms, totals, strict=True))

    def asked(opening: Any) -> list[Any]:
        found = []
        for both in rounds:
            with opening() as snapshot:
                found.append([snapshot.ask(orders(engine), (request,)) for request in both])
        return found

    with engine.together(Beside(frozenset(), tuple(norms))) as opening:
        assert asked(opening) == asked(engine.snapshot)
        with opening() as snapshot:
            assert isinstance(snapshot, DuckSnapshot)
            assert run(snapshot, "SELECT COUNT(*) FROM duckdb_tables() WHERE temporary") == [(2,)]
