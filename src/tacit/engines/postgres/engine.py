"""PostgreSQL: the engine for tables and views of a server, by psycopg 3.

Every snapshot is one transaction, REPEATABLE READ and READ ONLY, in UTC, with an empty search path and a limit of time
for each statement; nothing is created, not even a prepared statement. Opening it checks that the tables can be read
and still have their columns, by queries that stop before the first row.

With a connection string the engine keeps connections of its own. A connection that was handed over is used when no
transaction is open on it, all settings are undone with the transaction, and it is left as it was found; questions from
several threads wait for each other. Error messages of the server may show rows, and those of the login the password:
none is passed on. Ctrl-C cancels the statement on the server (psycopg does it).
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

from tacit.engines import UNREACHABLE, Source
from tacit.engines.postgres.dialect import DIALECT
from tacit.engines.postgres.tables import PostgresTable, list_names, open_table
from tacit.engines.script import Script, fragment
from tacit.engines.snapshots import SQLSnapshot
from tacit.engines.tables import OpenTables
from tacit.errors import EngineError, InvalidInput, TacitError

if TYPE_CHECKING:
    import numpy as np
    import psycopg
    import pyarrow as pa
    from numpy.typing import NDArray

    Shape = tuple[tuple[int, int], ...]

_OLDEST = 140_000
_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "extra_float_digits": "1",
    "idle_in_transaction_session_timeout": "0",
    "jit": "off",  # compiling a statement of many boundaries takes longer than running it
}
_NO_LOGIN = (
    "the PostgreSQL server cannot be reached or refuses the login; check that it runs, and host, port, database, user "
    "and password of the connection string (the server's own message is withheld)."
)

_NO_READING = (
    "the tables cannot be read; this user needs the SELECT privilege on them and USAGE of their schema, and a view's "
    "owner the same on what the view uses."
)


def list_tables(address: str) -> tuple[str, ...]:
    """The names of all tables and views of a database that can be read."""
    _need_psycopg()
    connections = _OwnConnections(address)
    try:
        with connections.transaction() as connection, _exact_cursor(connection) as cursor:
            return list_names(cursor)
    finally:
        connections.close()


class Postgres(OpenTables[PostgresTable]):
    """Some named tables of one database; see `tacit.engines.Engine`."""

    def __init__(self, tables: Mapping[str, Source], timeout: float | None = None) -> None:
        _need_psycopg()
        import psycopg

        sources = [source.data for source in tables.values()]
        if any(data != sources[0] for data in sources):
            raise InvalidInput("the tables of one session must be in one database; use one connection for all.")
        given = sources[0]
        self._connections: _GivenConnection | _OwnConnections
        if isinstance(given, psycopg.Connection):
            self._connections = _GivenConnection(given)
        elif isinstance(given, str):
            self._connections = _OwnConnections(given)
        else:
            raise InvalidInput("a PostgreSQL source is a connection string or an open psycopg.Connection.")
        weakref.finalize(self, self._connections.close)  # a session that nobody closes leaves no connection open
        limit = {} if timeout is None else {"statement_timeout": f"{max(1, round(timeout * 1000))}ms"}  # 0 is no limit
        self._settings = _SETTINGS | limit
        try:
            with self._transaction() as (cursor, path):
                _check_server(cursor)
                self.tables = {name: open_table(cursor, name, source, path) for name, source in tables.items()}
                self._shapes = _shapes(cursor, self.tables)
        except psycopg.Error:
            self.close()
            raise EngineError(_NO_READING) from None
        except TacitError:
            self.close()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[PostgresSnapshot]:
        """A read-only transaction in which the tables are known to be as they were when they were opened."""
        import psycopg

        with self._transaction() as (cursor, _):
            try:
                shapes = _shapes(cursor, self.tables)
            except psycopg.Error:
                shapes = {}
            if shapes != self._shapes:
                raise EngineError(UNREACHABLE)
            yield PostgresSnapshot(self.tables, cursor)

    @contextmanager
    def _transaction(self) -> Iterator[tuple[psycopg.Cursor[Any], list[str]]]:
        """A cursor inside a transaction with our settings, and the schemas that were searched before."""
        settings = ", ".join(["pg_catalog.set_config(%s, %s, true)"] * len(self._settings))
        values = [text for pair in self._settings.items() for text in pair]
        with self._connections.transaction() as connection, _exact_cursor(connection) as cursor:
            try:
                path = cursor.execute("SELECT pg_catalog.current_schemas(true)", prepare=False).fetchone()
                cursor.execute(f"SELECT {settings}".encode(), values, prepare=False)
            except Exception:
                raise EngineError(_NO_LOGIN) from None
            yield cursor, list(path[0]) if path else []

    def close(self) -> None:
        """Close our own connections; one that was handed over stays open."""
        self._connections.close()


def _need_psycopg() -> None:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise EngineError("PostgreSQL needs the package psycopg; install tacit-dp[postgres].") from None


class _GivenConnection:
    """A connection that was handed over: one transaction at a time, shared by snapshots inside one another."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection, self._lock, self._depth = connection, RLock(), 0

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """The connection, inside a transaction of ours."""
        with self._lock:
            if not self._depth and not (_idle(self._connection) and _begin(self._connection)):
                raise EngineError(
                    "the connection is closed or inside a transaction of its own; commit or roll back, then ask again."
                )
            self._depth += 1
            try:
                yield self._connection
            finally:
                self._depth -= 1
                if not self._depth:
                    _end(self._connection)

    def close(self) -> None:
        """It is not ours."""


class _OwnConnections:
    """Connections of our own, as many as there are snapshots at once; idle ones are used again by their process."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._idle: dict[int, list[psycopg.Connection[Any]]] = {}
        self._lock = Lock()

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection inside a transaction of ours."""
        connection = self._begun()
        try:
            yield connection
        finally:
            _end(connection)
            if _idle(connection):
                with self._lock:
                    self._idle.setdefault(os.getpid(), []).append(connection)
            else:
                connection.close()

    def _begun(self) -> psycopg.Connection[Any]:
        """An idle connection that still answers, or a new one."""
        import psycopg

        while True:
            with self._lock:
                idle = self._idle.get(os.getpid())
                connection = idle.pop() if idle else None
            if connection is None:
                break
            if _begin(connection):
                return connection
            connection.close()
        try:
            made = psycopg.conninfo.make_conninfo(self._text, fallback_application_name="tacit")
            connection = psycopg.connect(made, autocommit=True)
        except (psycopg.Error, ValueError):
            raise EngineError(_NO_LOGIN) from None
        if not _begin(connection):
            raise EngineError(_NO_LOGIN)
        return connection

    def close(self) -> None:
        """Close those that are idle."""
        with self._lock:
            idle = self._idle.pop(os.getpid(), [])
        for connection in idle:
            connection.close()


def _idle(connection: psycopg.Connection[Any]) -> bool:
    return not connection.closed and connection.info.transaction_status.name == "IDLE"


def _begin(connection: psycopg.Connection[Any]) -> bool:
    """Start a transaction, also where the connection would start one by itself; false if it is lost."""
    import psycopg

    start = "BEGIN TRANSACTION" if connection.autocommit else "SET TRANSACTION"
    try:
        with psycopg.Cursor(connection) as cursor:
            cursor.execute(f"{start} ISOLATION LEVEL REPEATABLE READ, READ ONLY".encode(), prepare=False)
    except psycopg.Error:
        return False
    return True


def _end(connection: psycopg.Connection[Any]) -> None:
    import psycopg

    with suppress(psycopg.Error):
        connection.rollback()


def _exact_cursor(connection: psycopg.Connection[Any]) -> psycopg.Cursor[Any]:
    """A cursor that reads numbers exactly, whatever the connection has been told to make of them."""
    import psycopg
    from psycopg.rows import tuple_row
    from psycopg.types.numeric import FloatLoader, IntLoader, NumericLoader
    from psycopg.types.string import TextLoader

    cursor = psycopg.Cursor(connection, row_factory=tuple_row)
    loaders: dict[str, Any] = {"int4": IntLoader, "int8": IntLoader, "numeric": NumericLoader, "float8": FloatLoader}
    for name, loader in {**loaders, "text": TextLoader}.items():
        cursor.adapters.register_loader(name, loader)
    return cursor


def _check_server(cursor: psycopg.Cursor[Any]) -> None:
    if cursor.connection.info.server_version < _OLDEST:
        raise InvalidInput(f"the server is older than PostgreSQL {_OLDEST // 10_000}; use a newer one.")
    if cursor.execute("SHOW server_encoding", prepare=False).fetchone() != ("UTF8",):
        raise InvalidInput("the database is not encoded in UTF8, so texts would compare differently; use one that is.")


def _shapes(cursor: psycopg.Cursor[Any], tables: Mapping[str, PostgresTable]) -> dict[str, Shape]:
    """The types of all tables' columns, from queries that read no row."""
    shapes = {}
    for name, table in tables.items():
        result = cursor.execute(table.probe.encode(), prepare=False).pgresult
        assert result is not None
        shapes[name] = tuple((result.ftype(i), result.fmod(i)) for i in range(result.nfields))
    return shapes


class PostgresSnapshot(SQLSnapshot):
    """Up to two rounds inside one transaction."""

    def __init__(self, tables: Mapping[str, PostgresTable], cursor: psycopg.Cursor[Any]) -> None:
        super().__init__(DIALECT, tables)
        self._cursor = cursor

    def fetch_rows(self, script: Script) -> list[tuple[Any, ...]]:
        """By an ordinary statement."""
        return self._cursor.execute(DIALECT.statement(script).encode(), prepare=False).fetchall()

    def fetch_columns(self, script: Script) -> list[NDArray[np.int64]]:
        """By COPY."""
        import pyarrow as pa

        return [column.cast(pa.int64()).to_numpy() for column in self._copied(script, {}).columns]

    def fetch_table(self, script: Script, schema: pa.Schema) -> pa.Table:
        """By COPY, with names of its own for the columns: a header may have none twice."""
        import pyarrow as pa

        columns = [f"c{i}" for i in range(len(schema))]
        script = Script(script.parts, fragment("SELECT * FROM (", script.body, f") AS answer({', '.join(columns)})"))
        copied = self._copied(script, {name: field.type for name, field in zip(columns, schema, strict=True)})
        return pa.Table.from_arrays(copied.columns, schema=schema)

    def _copied(self, script: Script, types: dict[str, pa.DataType]) -> pa.Table:
        """By COPY as CSV, read in the types given: many times faster than one Python object for each value."""
        import pyarrow as pa
        from pyarrow import csv

        statement = f"COPY ({DIALECT.statement(script)}) TO STDOUT (FORMAT CSV, HEADER, FORCE_QUOTE *)"
        received = pa.BufferOutputStream()
        with self._cursor.copy(statement.encode()) as copy:
            for piece in copy:
                received.write(piece)
        return csv.read_csv(
            pa.BufferReader(received.getvalue()),  # type: ignore[arg-type]
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=types,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                true_values=["t"],
                false_values=["f"],
            ),
        )
