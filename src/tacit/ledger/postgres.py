"""A ledger in PostgreSQL: for teams.

Durable: the server must run with ``fsync`` on, and each connection asks for synchronous commit, so a commit returns
after the server's log is on the disk. Serial for each dataset: a writing work locks the dataset's row first. A work is
sent as a pipeline of two round trips: begin and read, then all writes and the commit. Times come from the server, so
that the clocks of the clients do not matter.

The tables live in the connection's default schema. Auditors need SELECT on the tables tacit_*; analysts also INSERT on
tacit_entries, tacit_accounts and tacit_answers, and UPDATE on tacit_datasets, tacit_accounts and tacit_answers. A
trigger keeps the rows of tacit_entries as they were written. A database that is restored from an old copy is not
noticed by itself: note the last hash of a report elsewhere and give it to `verify`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from tacit.errors import LedgerError
from tacit.ledger.connections import Connections
from tacit.ledger.store import IDENTITY, TABLES, VERSION, Gathering, Row, Store, Work, new_identity

if TYPE_CHECKING:
    import psycopg

_CREATION = 0x7AC17001
"""The advisory lock under which tables are made."""

_APPEND_ONLY = (
    "CREATE FUNCTION tacit_append_only() RETURNS trigger LANGUAGE plpgsql AS"
    " 'BEGIN RAISE EXCEPTION ''the history is append-only''; END'",
    "CREATE TRIGGER tacit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON tacit_entries"
    " FOR EACH STATEMENT EXECUTE FUNCTION tacit_append_only()",
)


class _Work(Gathering):
    def __init__(self, cursor: psycopg.Cursor[Row]) -> None:
        super().__init__()
        self._cursor = cursor

    def read(self, statement: str, *values: Any) -> list[Row]:
        return self._cursor.execute(_marked(statement), values).fetchall()


def _marked(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()


class PostgresStore(Store):
    """The tables in a PostgreSQL database."""

    for_update = " FOR UPDATE"
    clock = "clock_timestamp()"
    registering = f"SELECT pg_advisory_xact_lock({_CREATION})"
    where = "the PostgreSQL ledger"

    def __init__(self, connection_string: str, *, read_only: bool = False, create: bool = True) -> None:
        super().__init__(read_only)
        try:
            import psycopg
        except ImportError:
            raise LedgerError(
                "a PostgreSQL ledger needs the package psycopg; nothing was changed; install it with: pip "
                "install 'tacit-dp[postgres]'."
            ) from None
        self._driver, self._dsn = psycopg, connection_string
        self._pool = Connections(self._connect)
        connection = self._connect()
        try:
            self._prepare(connection, create and not read_only)
        except psycopg.Error as error:
            self._fail(error, "nothing was spent")
        self._pool.give(connection)

    def _connect(self) -> psycopg.Connection[Row]:
        try:
            connection = self._driver.connect(self._dsn, autocommit=True)
            if self.read_only:
                connection.execute("SET default_transaction_read_only = on")
            elif connection.execute("SHOW synchronous_commit").fetchone() in (("off",), ("local",)):
                connection.execute("SET synchronous_commit = on")
        except self._driver.Error as error:
            self._fail(error, "nothing was spent")
        return connection

    def _prepare(self, connection: psycopg.Connection[Row], create: bool) -> None:
        if connection.execute("SHOW fsync").fetchone() != ("on",):
            raise LedgerError(
                "the PostgreSQL server runs with fsync off, so a charge could be forgotten; nothing was changed: turn "
                "fsync on."
            )
        if create:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_CREATION,))
                if not self._exists(connection):
                    for statement in (*TABLES, *_APPEND_ONLY):
                        connection.execute(statement.encode())
                    connection.execute("INSERT INTO tacit_meta VALUES ('version', %s)", (VERSION,))
                    connection.execute("INSERT INTO tacit_meta VALUES (%s, %s)", (IDENTITY, new_identity()))
        if not self._exists(connection):
            raise LedgerError("there is no ledger in this database; create it with `tacit ledger create`.")
        facts: dict[str, str] = dict(connection.execute("SELECT name, value FROM tacit_meta").fetchall())
        if create and IDENTITY not in facts:  # a ledger of before
            statement = "INSERT INTO tacit_meta VALUES (%s, %s) ON CONFLICT DO NOTHING"
            with suppress(self._driver.errors.InsufficientPrivilege):
                connection.execute(statement, (IDENTITY, new_identity()))
        self.check_version(connection.execute("SELECT name, value FROM tacit_meta").fetchall())

    @staticmethod
    def _exists(connection: psycopg.Connection[Row]) -> bool:
        return connection.execute("SELECT to_regclass('tacit_meta') IS NOT NULL").fetchone() == (True,)

    @contextmanager
    def reading(self) -> Iterator[Work]:
        """A work that reads one snapshot."""
        yield from self._run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    @contextmanager
    def _writing(self) -> Iterator[Work]:
        yield from self._run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")

    def _run(self, begin: str) -> Iterator[Work]:
        spent = "nothing was spent"
        connection = self._pool.take()
        try:
            with connection.pipeline(), connection.cursor() as cursor:
                cursor.execute(begin.encode())
                work = _Work(cursor)
                yield work
                for statement, values in work.writes:
                    cursor.execute(_marked(statement), values)
                if work.writes:
                    spent = "no answer was released, but the charge may have been recorded"
                cursor.execute("COMMIT")
        except self._driver.Error as error:
            with suppress(self._driver.Error):
                connection.close()
            self._fail(error, spent)
        except BaseException:
            self._roll_back(connection)
            raise
        self._pool.give(connection)

    def _roll_back(self, connection: psycopg.Connection[Row]) -> None:
        try:
            connection.execute("ROLLBACK")
        except self._driver.Error:
            with suppress(self._driver.Error):
                connection.close()
        else:
            self._pool.give(connection)

    def _fail(self, error: psycopg.Error, spent: str) -> NoReturn:
        """Say what happened in our own words; the server's may quote rows or the connection string."""
        state = error.sqlstate or ""
        if state.startswith("53"):
            cause, remedy = "the server is out of room or of connections", "make room and ask again"
        elif state in ("42501", "25006"):
            cause, remedy = "this role may not do that", "ask the owner of the database for the rights"
        elif isinstance(error, self._driver.OperationalError):
            cause, remedy = "the server cannot be reached, or the connection broke", "check the server and ask again"
        else:
            cause, remedy = f"the server reports {state or 'an error'}", "run `tacit ledger verify`"
        raise LedgerError(f"{self.where} could not be used: {cause}; {spent}: {remedy}.") from None

    def damage(self) -> list[str]:
        """PostgreSQL checks its own files."""
        return []

    def close(self) -> None:
        """Close this process's connections."""
        self._pool.close()
