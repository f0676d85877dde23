"""DuckDB, embedded: the engine for files, frames and DuckDB databases.

A connection of its own, in memory, in UTC, that can reach the declared files and nothing else: no other path, no
extension, no Python variable, and no setting can change once tables are open. Databases are attached read-only. A
connection that was handed over is used through a cursor and left as it is. Statements run in a thread of their own, so
that Ctrl-C and a time limit stop them at once.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.engines import FAILED, Source
from tacit.engines.incidence import incidence_sql
from tacit.engines.requests import Incidence, Relation, Request, Touches
from tacit.engines.rounds import render
from tacit.engines.rows import Rows, TableSQL
from tacit.engines.sources import DIALECT, OpenTable, open_table
from tacit.engines.types import Schema
from tacit.errors import EngineError, InvalidInput

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")

_ROUNDS = 2
_PATIENCE = 0.1
"""Seconds of one wait for a statement: some libraries' signal handlers let Ctrl-C end only a wait with a limit."""


class DuckDB:
    """Some named tables in DuckDB; see `tacit.engines.Engine`."""

    def __init__(self, tables: Mapping[str, Source], timeout: float | None = None) -> None:
        import duckdb

        given = {id(s.data): s.data for s in tables.values() if isinstance(s.data, duckdb.DuckDBPyConnection)}
        if given and (len(given) > 1 or not all(id(s.data) in given for s in tables.values())):
            raise InvalidInput("tables of an open connection cannot be mixed with other sources; use one connection.")
        self.timeout = timeout
        if given:
            (connection,) = given.values()
            assert isinstance(connection, duckdb.DuckDBPyConnection)
            self._connection = connection.cursor()
        else:
            self._connection = _private_connection(self)
        opened = [open_table(self._connection, *item, number) for number, item in enumerate(tables.items())]
        self.tables: dict[str, OpenTable] = dict(zip(tables, opened, strict=True))
        if not given:
            _lock_down(self._connection, sorted({file for table in opened for file in table.files}))

    def schema(self, table: str) -> Schema:
        """The public names and types of a table."""
        return self.tables[table].schema

    @contextmanager
    def snapshot(self) -> Iterator[_Snapshot]:
        """A read-only view of all tables, on a cursor of its own, so that several can be open at once."""
        try:
            cursor = self._connection.cursor()
            for table in self.tables.values():
                if table.frame is not None:
                    cursor.register(table.view, table.frame)
            cursor.execute("BEGIN TRANSACTION READ ONLY")
        except Exception:
            raise EngineError(FAILED) from None
        try:
            yield _Snapshot(self, cursor)
        finally:
            cursor.close()  # ends the transaction

    def close(self) -> None:
        """Close the connection; one that was handed over stays open."""
        self._connection.close()


class _Snapshot:
    """Up to two rounds inside one transaction."""

    def __init__(self, engine: DuckDB, cursor: duckdb.DuckDBPyConnection) -> None:
        self._engine, self._cursor = engine, cursor
        self._rounds = 0
        self._states: dict[tuple[str, ...], tuple[object, ...]] = {}

    def ask(self, relation: Relation, requests: tuple[Request[Any], ...], /) -> tuple[Any, ...]:
        """One statement, one result for each request."""
        if relation.others:
            raise InvalidInput("rows that concern several persons are asked for by their incidence.")
        with self._round(relation) as tables:
            ready = render(DIALECT, tables, relation, requests)
            return ready.results(self._run(ready.sql, lambda cursor: cursor.fetchall()))

    def touches(self, relation: Relation, request: Incidence, /) -> Touches:
        """One statement: whom the rows concern."""
        with self._round(relation) as tables:
            sql = incidence_sql(DIALECT, Rows(DIALECT, relation, tables), request)
            found: list[Any] = list(self._run(sql, lambda cursor: cursor.fetchnumpy()).values())
        weights, persons = found[0], found[1 : 1 + len(relation.persons)]
        if len(weights) > request.limit:
            raise EngineError(FAILED)
        kinds = tuple(kind for kind, _ in relation.persons)
        return Touches(weights, tuple(persons), kinds, None if request.values is None else found[-1])

    @contextmanager
    def _round(self, relation: Relation) -> Iterator[dict[str, TableSQL]]:
        """The tables of one round, which must not change meanwhile."""
        self._rounds += 1
        if self._rounds > _ROUNDS:
            raise InvalidInput(f"a snapshot answers {_ROUNDS} rounds; put more requests into one round.")
        names = (relation.table, *(join.table for join in relation.joins))
        before = self._states.setdefault(names, self._state(names))
        yield {name: self._engine.tables[name].sql for name in names}
        if self._state(names) != before:
            raise EngineError(FAILED)

    def _state(self, names: tuple[str, ...]) -> tuple[object, ...]:
        """What the tables' files look like from outside, so that a change between two rounds is noticed."""
        files = [file for name in names for file in self._engine.tables[name].files]
        try:
            return tuple((s.st_size, s.st_mtime_ns, s.st_ino) for s in map(os.stat, files))
        except OSError:
            raise EngineError(FAILED) from None

    def _run(self, statement: str, fetch: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Run a statement in a thread; whatever it raises becomes one `EngineError` without a trace of the rows."""
        results: list[T] = []
        done = threading.Event()

        def work() -> None:
            try:
                results.append(fetch(self._cursor.execute(statement)))
            except Exception:
                results.clear()
            finally:
                done.set()

        limit = time.monotonic() + (self._engine.timeout or float("inf"))
        threading.Thread(target=work, name="tacit-duckdb", daemon=True).start()
        try:
            while not done.wait(_PATIENCE) and time.monotonic() < limit:
                pass
        finally:
            while not done.is_set():  # again and again: an interrupt before the statement began is lost
                self._cursor.interrupt()
                done.wait(0.05)
        if not results:
            raise EngineError(FAILED)
        return results[0]


@functools.cache
def _spill_folder(process: int) -> str:
    """One folder for each process, readable by this user alone and gone at its end."""
    folder = tempfile.mkdtemp(prefix="tacit-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _private_connection(owner: DuckDB) -> duckdb.DuckDBPyConnection:
    import duckdb

    spill = os.path.join(_spill_folder(os.getpid()), uuid.uuid4().hex)  # made by DuckDB if it ever needs it
    weakref.finalize(owner, shutil.rmtree, spill, ignore_errors=True)
    connection = duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
            "temp_directory": spill,
        }
    )
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    connection.execute("SET GLOBAL preserve_insertion_order = false")
    return connection


def _lock_down(connection: duckdb.DuckDBPyConnection, files: list[str]) -> None:
    connection.execute("SET GLOBAL pandas_analyze_sample = 0")
    connection.execute(f"SET allowed_paths = [{', '.join(map(DIALECT.text, files))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
