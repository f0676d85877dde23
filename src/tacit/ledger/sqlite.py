"""A ledger in one SQLite file: the default.

Durable: a write-ahead log with ``synchronous=FULL`` (and a full flush where the system has one): a commit returns after
the log is on the disk. Serial: every writing work begins with BEGIN IMMEDIATE, which takes the file's one write lock; a
process that dies leaves either its whole transaction or nothing. Processes that wait for the lock look again every few
milliseconds, because SQLite's own waiting backs off to a tenth of a second and starves some when many ask. Put the file
on a local disk: the write-ahead log does not work over a network file system; teams use PostgreSQL.

The file is created for its owner only; a group may share it with chmod and chgrp. Links to it are followed once, when
it is opened, so that one file has one head whatever it is called. A file beside it holds the head of the history, so
that an old copy put back is noticed when it is opened (see `heads`); a file that is gone while a process runs is not
created again.

Connections are never carried across a fork: each process opens its own.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

from tacit.errors import LedgerError
from tacit.ledger.connections import Connections
from tacit.ledger.entries import GENESIS, chained
from tacit.ledger.heads import Head, HeadFile
from tacit.ledger.store import IDENTITY, TABLES, VERSION, Gathering, Row, Store, Work, new_identity

_APPLICATION = 0x7AC17001
"""Marks a SQLite file as a Tacit ledger, so that no other file is ever written to."""

_PATIENCE = 60.0
"""Seconds to wait for other processes' transactions."""

_GLANCE = 3
"""Milliseconds for which SQLite itself waits before we look at the lock again."""

_HEADED = "head"
"""Among a ledger's facts: that it has a head beside it."""

_APPEND_ONLY = tuple(
    f"CREATE TRIGGER tacit_entries_no_{verb.lower()} BEFORE {verb} ON tacit_entries"
    " BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END"
    for verb in ("UPDATE", "DELETE")
)


def _resolved(path: str | Path) -> Path:
    """The file itself, whatever links lead to it and wherever this process goes later."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError):  # links that lead in a circle
        raise LedgerError(
            f"{path} could not be used: its links lead nowhere; nothing was spent: check the path."
        ) from None


class _Work(Gathering):
    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__()
        self._connection = connection

    def read(self, statement: str, *values: Any) -> list[Row]:
        return self._connection.execute(statement, values).fetchall()


class SqliteStore(Store):
    """The tables in one file."""

    def __init__(self, path: str | Path, *, read_only: bool = False, create: bool = True, accept: bool = False) -> None:
        super().__init__(read_only)
        self._path = _resolved(path)
        self.where = str(path)
        self._pool = Connections(self._connect)
        self._head, self._accepting = HeadFile(self._path), accept
        if self._fresh() and (read_only or not create):
            raise LedgerError(
                f"there is no ledger at {self.where}; create it with `tacit ledger create`, or check the path."
            )
        if self._fresh() and self._head.path.exists() and self._fresh():  # a head is written after its ledger
            raise LedgerError(
                f"there was a ledger at {self.where} and it is gone; nothing was spent: put it back, or start over "
                f"knowingly by removing {self._head.path.name}."
            )
        try:
            if self._fresh():  # for its owner only, whatever the umask; SQLite gives its log the same rights
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
            self._pool.give(self._connect())
        except OSError:
            raise LedgerError(
                f"{self.where} could not be used: the file cannot be opened; nothing was spent: check the path and its "
                "permissions."
            ) from None
        except sqlite3.Error as error:
            self._fail(error, "nothing was spent")
        self._accepting = False
        if not read_only and stat.S_IMODE(self._path.stat().st_mode) & 0o007:  # a group may share it on purpose
            warnings.warn(f"{self.where} is open to everybody on this machine; run chmod 600 on it.", stacklevel=3)

    def _fresh(self) -> bool:
        return not self._path.exists() or self._path.stat().st_size == 0

    def _connect(self) -> sqlite3.Connection:
        mode = "ro" if self.read_only else "rw"  # a file that is gone is not created again
        connection = sqlite3.connect(
            f"{self._path.as_uri()}?mode={mode}",
            uri=True,
            timeout=_PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Recognise the file before anything is written to it, create the tables in a new one, set durability."""
        if self._mark(connection) != _APPLICATION and not self.read_only:
            self._create(connection)
        if self._mark(connection) != _APPLICATION:
            raise LedgerError(
                f"{self.where} is not a Tacit ledger; nothing was changed: give the path of another file."
            )
        head = self._read_head()  # before the ledger is read, which may only grow meanwhile
        self._know(connection)
        if not self.read_only:
            self._check_head(connection, head)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")
        connection.execute(f"PRAGMA busy_timeout = {_GLANCE}")

    def _check_head(self, connection: sqlite3.Connection, head: Head | None) -> None:
        """Refuse a ledger that does not hold the entry its head names; give one to a ledger that has none."""
        if not self._headed(connection) or self._accepting:
            self._give_head(connection)
            return
        self._know(connection)  # again: whoever gave it a head meanwhile gave it its identity too
        if self._behind(connection, head) and (problem := self._behind(connection, head := self._read_head())):
            # looked at twice: the first look may have come before another process made the head
            raise LedgerError(
                f"{self.where} has changed unexpectedly: {problem}; nothing was spent: put the right file back, or "
                "accept this one knowingly with `tacit ledger accept`."
            )
        if head is not None and self._follows(connection, head.number):
            self._note(self._last(connection, self.identity))  # whoever wrote it may have died before its head

    def _read_head(self) -> Head | None:
        """What the head says; whoever writes the ledger must be able to write the head too."""
        try:
            return self._head.read(writable=not self.read_only)
        except OSError:
            raise LedgerError(
                f"the file {self._head.path.name} beside {self.where} may not be read and written by you; nothing was "
                "spent: let its owner give it the rights and the group of the ledger."
            ) from None

    def _note(self, last: Head) -> None:
        """Write the head after a commit; the charge is recorded whether that works or not."""
        try:
            self._head.write(last)
        except OSError:
            warnings.warn(
                f"{self._head.path.name} could not be written, so an old copy of {self.where} that is put back might "
                "not be noticed; check the permissions of that file and of its folder.",
                stacklevel=2,
            )

    @staticmethod
    def _follows(connection: sqlite3.Connection, number: int) -> bool:
        """Whether all entries after a head are chained to those before them."""
        rows = connection.execute(
            "SELECT e.dataset, e.number, e.at, e.what, e.body, coalesce(p.hash, ?), e.hash FROM tacit_entries e"
            " LEFT JOIN tacit_entries p ON p.dataset = e.dataset AND p.number = e.number - 1 WHERE e.rowid > ?",
            (GENESIS, number),
        )
        return all(chained(*row[:-1]) == row[-1] for row in rows)

    @staticmethod
    def _headed(connection: sqlite3.Connection) -> bool:
        return connection.execute("SELECT 1 FROM tacit_meta WHERE name = ?", (_HEADED,)).fetchone() is not None

    def _give_head(self, connection: sqlite3.Connection) -> None:
        """Write the head, and then, in the same transaction, that there is one; others wait for it."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not self._headed(connection) or self._accepting:
                identity = self.identity or new_identity()
                self._head.write(self._last(connection, identity), anyway=True)
                for name, value in ((IDENTITY, identity), (_HEADED, "yes")):
                    connection.execute("INSERT INTO tacit_meta VALUES (?, ?) ON CONFLICT DO NOTHING", (name, value))
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        self._know(connection)

    def _know(self, connection: sqlite3.Connection) -> None:
        """Read the ledger's version and identity."""
        self.check_version(connection.execute("SELECT name, value FROM tacit_meta").fetchall())

    def _behind(self, connection: sqlite3.Connection, head: Head | None) -> str | None:
        """What is wrong with a ledger beside its head, or None."""
        if head is None:
            return f"the file {self._head.path.name} beside it is gone or cannot be read"
        if head.identity != self.identity:
            return f"the file {self._head.path.name} beside it belongs to another ledger"
        if head.number == 0:
            return None
        row = connection.execute("SELECT hash FROM tacit_entries WHERE rowid = ?", (head.number,)).fetchone()
        if row is None:
            return f"it is an old copy, without the entry {head.number} that it had before"
        return None if row[0] == head.hash else "its history is another than before"

    @staticmethod
    def _last(connection: sqlite3.Connection, identity: str) -> Head:
        """The last entry: rows are numbered in the order of their commits, and none is ever removed."""
        row = connection.execute("SELECT rowid, hash FROM tacit_entries ORDER BY rowid DESC LIMIT 1").fetchone()
        return Head(identity, *row) if row else Head(identity, 0, "none")

    @staticmethod
    def _mark(connection: sqlite3.Connection) -> int:
        return int(connection.execute("PRAGMA application_id").fetchone()[0])

    @staticmethod
    def _create(connection: sqlite3.Connection) -> None:
        """Make the tables in an empty file, in one transaction, so that two processes may try at once."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                for statement in (*TABLES, *_APPEND_ONLY):
                    connection.execute(statement)
                connection.execute("INSERT INTO tacit_meta VALUES ('version', ?)", (VERSION,))
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    @contextmanager
    def reading(self) -> Iterator[Work]:
        """A work that reads one snapshot."""
        yield from self._run("BEGIN", "SELECT 1 FROM tacit_meta")

    @contextmanager
    def _writing(self) -> Iterator[Work]:
        yield from self._run("BEGIN IMMEDIATE")

    @staticmethod
    def _begin(connection: sqlite3.Connection, statements: tuple[str, ...]) -> None:
        """Begin a transaction, waiting for others as long as patience lasts."""
        deadline = monotonic() + _PATIENCE
        while True:
            try:
                for statement in statements:
                    connection.execute(statement)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                    raise
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            else:
                return

    def _run(self, *begin: str) -> Iterator[Work]:
        spent = "nothing was spent"
        try:
            connection = self._pool.take()
            try:
                self._begin(connection, begin)
                work = _Work(connection)
                yield work
                last: Head | None = None
                for statement, values in work.writes:
                    done = connection.execute(statement, values)
                    if statement.startswith("INSERT INTO tacit_entries"):
                        last = Head(self.identity, done.lastrowid or 0, values[-1])
                if work.writes:
                    spent = "no answer was released, but the charge may have been recorded"
                connection.execute("COMMIT")
                if last is not None:
                    self._note(last)
            except sqlite3.Error:
                connection.close()
                raise
            except BaseException:
                if connection.in_transaction:  # an interrupt while waiting comes before it has begun
                    connection.execute("ROLLBACK")
                self._pool.give(connection)
                raise
            self._pool.give(connection)
        except sqlite3.Error as error:
            self._fail(error, spent)

    def _fail(self, error: sqlite3.Error, spent: str) -> NoReturn:
        """Say what happened in our own words; SQLite's may quote what was written."""
        name = getattr(error, "sqlite_errorname", "")
        causes = {
            "SQLITE_FULL": ("the disk is full", "make room and ask again"),
            "SQLITE_BUSY": ("other processes held it for a minute", "ask again later"),
            "SQLITE_CORRUPT": ("the file is damaged", "run `tacit ledger verify` and restore a copy"),
            "SQLITE_NOTADB": ("the file is not a ledger, or it is damaged", "check the path or restore a copy"),
            "SQLITE_READONLY": ("the file may not be written", "check its permissions, or open it with read_only"),
            "SQLITE_CANTOPEN": ("the file cannot be opened", "check the path and its permissions"),
            "SQLITE_IOERR": ("the disk reports an error", "check the disk and ask again"),
        }
        for prefix, (cause, remedy) in causes.items():
            if name.startswith(prefix):
                raise LedgerError(f"{self.where} could not be used: {cause}; {spent}: {remedy}.") from None
        raise LedgerError(
            f"{self.where} could not be used ({name or type(error).__name__}); {spent}: run `tacit ledger verify`."
        ) from None

    def damage(self) -> list[str]:
        """SQLite's own check of the file."""
        connection = self._pool.take()
        try:
            rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
            behind = self._behind(connection, self._head.read()) if self._headed(connection) else None
        except sqlite3.DatabaseError:
            return ["the file is damaged: SQLite cannot read it"]
        finally:
            self._pool.give(connection)
        faults = [] if rows == [("ok",)] else [f"the file is damaged: SQLite finds {len(rows)} faults"]
        return faults + ([] if behind is None else [f"the file has changed unexpectedly: {behind}"])

    def copy_to(self, file: Path) -> None:
        """A copy of one moment, by SQLite's own backup, with a head of its own beside it."""
        try:
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError:
            raise LedgerError(
                f"{file} is there already, or cannot be written; nothing was copied: name another file."
            ) from None
        connection = self._pool.take()
        try:
            copied = sqlite3.connect(file, isolation_level=None)
            try:
                connection.backup(copied)  # in one step: what others write meanwhile is not in it
                copied.execute("PRAGMA journal_mode = DELETE")  # one file, which can be carried away
                last = self._last(copied, self.identity)
            finally:
                copied.close()
            with open(file, "rb") as whole:
                os.fsync(whole.fileno())
            HeadFile(file).write(last, anyway=True)
        except sqlite3.Error as error:
            self._fail(error, "nothing was spent, and the copy is not to be used")
        finally:
            self._pool.give(connection)

    def close(self) -> None:
        """Close this process's connections."""
        self._pool.close()
