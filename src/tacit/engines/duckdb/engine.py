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
import time
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tacit.engines import UNREACHABLE, Opening, Source
from tacit.engines.duckdb import databases, frames
from tacit.engines.duckdb.dialect import DIALECT, NARROW
from tacit.engines.duckdb.files import file_kind
from tacit.engines.duckdb.loading import sqlite_tables
from tacit.engines.duckdb.tables import DuckTable, open_table
from tacit.engines.requests.beside import NOTHING, Beside
from tacit.engines.script import Script
from tacit.engines.snapshots import SQLSnapshot, wait_for
from tacit.engines.tables import OpenTables
from tacit.errors import EngineError, InvalidInput
from tacit.language.forms import Forms

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

T = TypeVar("T")

TICK = 0.1
"""Seconds after which a further change of a file is sure to get another time; file systems' clocks are finer."""

LASTING_TABLES, LASTING_BYTES = 4, 2**26
"""How many tables are kept from one question to the next, and how large each may be."""
SAFE_IN_ARROW = {*NARROW, "UBIGINT", "HUGEINT", "BOOLEAN", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP", "VARCHAR", "BLOB"}
"""Types that Arrow keeps, whatever the value: a HUGEINT as its bits in a DECIMAL(38,0), which has fewer values."""

FileState = tuple[int, int, int, int, int]
"""Device, inode, size, and the times of the last change of content and of anything at all."""
_CLOSED = dict.fromkeys(
    ("autoinstall_known_extensions", "autoload_known_extensions", "python_enable_replacements"), "false"
)
"""What every connection of ours leaves alone."""
_limits: dict[str, str] = {}


def limit_memory(megabytes: int) -> None:
    """Connections that this process opens from now on hold no more than this; the rest goes to the disk."""
    _limits["memory_limit"] = f"{megabytes}MiB"


def limit_threads(number: int) -> None:
    """Connections that this process opens from now on compute in no more threads than these."""
    _limits["threads"] = str(number)


def list_tables(path: str) -> tuple[str, ...] | None:
    """The names of all tables of a DuckDB or SQLite file; None for any other file, which is a table itself."""
    import duckdb

    kind = file_kind(path)
    if kind == "sqlite" and os.path.isfile(path):
        return sqlite_tables(path)
    if kind != "duckdb" or not os.path.isfile(path):
        return None
    with duckdb.connect(config={**_CLOSED}) as connection:
        try:
            return databases.names(connection, path)
        except duckdb.Error:
            raise InvalidInput(
                f"{path!r} could not be opened; check that it is a DuckDB file and not in use elsewhere."
            ) from None


class DuckDB(OpenTables[DuckTable]):
    """Some named tables in DuckDB; see `tacit.engines.Engine`."""

    def __init__(self, tables: Mapping[str, Source], timeout: float | None = None) -> None:
        import duckdb

        given = {id(s.data): s.data for s in tables.values() if isinstance(s.data, duckdb.DuckDBPyConnection)}
        if given and (len(given) > 1 or not all(id(s.data) in given for s in tables.values())):
            raise InvalidInput("tables of an open connection cannot be mixed with other sources; use one connection.")
        self.timeout = timeout
        self.lasting: dict[object, pa.Table] = {}
        """What questions read again, each by what it holds and what the files looked like."""
        if given:
            (connection,) = given.values()
            assert isinstance(connection, duckdb.DuckDBPyConnection)
            self._connection = connection.cursor()
        else:
            self._connection = _private_connection(self)
        opened = [open_table(self._connection, *item, number) for number, item in enumerate(tables.items())]
        self.tables = dict(zip(tables, opened, strict=True))
        if not given:
            _lock_down(self._connection, sorted({file for table in opened for file in table.location.files}))

    def version(self, tables: Sequence[str]) -> str | None:
        """From how the files look and how they are read; of an Arrow table, its own token.

        A file changed just now might change again within the same tick of the clock and look the same: it is waited for
        until its last change is old enough that the next one will show.
        """
        asked = [self.tables[name] for name in tables]
        if not all(table.fixed for table in asked):
            return None
        files = [file for table in asked for file in table.location.files]
        try:
            states = _states(files)
            if not _settled(states):
                time.sleep(TICK)
                states = _states(files)
        except OSError:
            return None
        return _named(asked, states) if _settled(states) else None

    @contextmanager
    def snapshot(self) -> Iterator[DuckSnapshot]:
        """A read-only view of all tables, on a cursor of its own, so that several can be open at once."""
        with self._reading() as cursor:
            yield DuckSnapshot(self, cursor)

    @contextmanager
    def together(self, beside: Beside) -> Iterator[Opening]:
        """Snapshots one after another on one cursor, in one transaction, which keep what they have in common."""
        with self._reading() as cursor:
            kept: dict[object, str] = {}
            yield lambda: nullcontext(DuckSnapshot(self, cursor, kept, beside))

    @contextmanager
    def _reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor inside a transaction."""
        try:
            cursor = self._connection.cursor()
            for table in self.tables.values():
                if table.location.frame is not None:
                    cursor.register(table.location.view, table.location.frame.now())
                if table.feed is not None:
                    cursor.register(table.feed.name, table.feed)
            cursor.execute("BEGIN TRANSACTION READ ONLY")
        except Exception:
            raise EngineError(UNREACHABLE) from None
        try:
            yield cursor
        finally:
            cursor.close()  # ends the transaction

    def close(self) -> None:
        """Close the connection; one that was handed over stays open."""
        self._connection.close()


class DuckSnapshot(SQLSnapshot):
    """Up to two rounds inside one transaction, over files that must not change meanwhile.

    What both rounds read is computed once, into temporary tables that nobody else sees and that end with it.
    """

    def __init__(
        self,
        engine: DuckDB,
        cursor: duckdb.DuckDBPyConnection,
        kept: dict[object, str] | None = None,
        beside: Beside = NOTHING,
    ) -> None:
        super().__init__(DIALECT, engine.tables, beside)
        self._engine, self._cursor = engine, cursor
        self._kept = {} if kept is None else kept
        """The temporary tables of the cursor, each by what it holds and what the files looked like."""

    def fetch_rows(self, script: Script) -> list[tuple[Any, ...]]:
        """In a thread of its own."""
        return self._run(script, lambda cursor: cursor.fetchall())

    def fetch_columns(self, script: Script) -> list[Any]:
        """Without Python objects."""
        return list(self._run(script, lambda cursor: cursor.fetchnumpy()).values())

    def fetch_table(self, script: Script, schema: pa.Schema) -> pa.Table:
        """Straight to Arrow."""
        table: pa.Table = self._run(script, lambda cursor: cursor.to_arrow_table(), relational=True)
        return table.rename_columns(schema.names).cast(schema)

    def _state(self, names: tuple[str, ...]) -> object:
        """What the tables' files look like, so that a change between two rounds is noticed."""
        files = [file for name in names for file in self._engine.tables[name].location.files]
        return _states(files)

    def _run(self, script: Script, fetch: Callable[[Any], T], relational: bool = False) -> T:
        """Run a script in a thread; whatever it raises becomes one `EngineError` without a trace of the rows."""
        import duckdb

        run = self._cursor.sql if relational else self._cursor.execute

        def work() -> T:
            try:
                return fetch(run(self._statement(script, {})))
            except (duckdb.InvalidInputException, duckdb.ConversionException):
                return fetch(run(self._statement(script, self._reread(script))))

        return wait_for(work, self._cursor.interrupt, self._engine.timeout)

    def _statement(self, script: Script, sources: Mapping[str, str]) -> str:
        """The statement of a script, which reads parts that the next round reads again from temporary tables.

        A part is the same in both rounds if its text is, with the parts that it reads.
        """
        places = dict(sources)
        for part in script.parts:
            if part.again and part.name in script.shared:
                text = DIALECT.statement(script.only(part.body, places), places)
                meaning = text, tuple(self._states.items())
                if meaning not in self._kept:
                    self._kept[meaning] = self._keep(text, part.lasting and not sources)
                places[part.name] = self._kept[meaning]
        return DIALECT.statement(script.only(script.body, places), places)

    def _keep(self, text: str, lasting: bool) -> str:
        """The name of a table with the rows of a statement, for this snapshot; or, if they are few, for later ones too.

        Rows are the same in later questions as long as the tables are, by all that can be seen from outside. They are
        kept as Arrow and read with the types they had: two notions of equality would be a break.
        """
        name, known = f"tacit_kept{len(self._kept)}", self._engine.lasting
        tables = [self._engine.tables[table] for names in self._states for table in names]
        states = [state for found in self._states.values() for state in cast(tuple[FileState, ...], found)]
        lasting = lasting and all(table.fixed for table in tables) and _settled(states)
        meaning = text, tuple(states)
        found = known.pop(meaning, None) if lasting else None
        if found is None and lasting:
            rows = self._cursor.sql(text)
            found = rows.to_arrow_table() if SAFE_IN_ARROW.issuperset(map(str, rows.types)) else None
        if found is None:
            self._cursor.execute(f"CREATE TEMP TABLE temp.main.{name} AS {text}")
            return f"temp.main.{name}"
        if found.nbytes <= LASTING_BYTES:
            known[meaning] = found  # as the last one
            for old in list(known)[:-LASTING_TABLES]:  # in one step: other questions may keep tables meanwhile
                known.pop(old, None)
        self._cursor.register(name, found)
        own = {field.name: str(field.type).startswith("decimal") for field in found.schema}
        listed = (f"CAST({column} AS HUGEINT) AS {column}" if wide else column for column, wide in own.items())
        return f"(SELECT {', '.join(listed)} FROM {name})"

    def _reread(self, script: Script) -> dict[str, str]:
        """What to read in place of Parquet files: the same as Arrow has read it, for DuckDB raises where a value in
        them is no text or no time that it knows; a question must not fail for one value. Such files do not change in a
        transaction. Where no such file is read, the statement fails again.
        """
        self._cursor.execute("ROLLBACK")
        self._kept.clear()
        self._cursor.execute("BEGIN TRANSACTION READ ONLY")
        sources: dict[str, str] = {}
        for number, table in enumerate(self._engine.tables.values()):
            asked, used = table.location, table.columns_read(script.readings)
            if not asked.parquet or not used:
                continue
            hive, selects = "hive_partitioning = true" in asked.view, list[str]()
            for place, file in enumerate(frames.parquet(list(asked.files), used, hive)):
                view, known = f"reread{number}_{place}", set(file.column_names)
                self._cursor.register(view, file)
                read = {name: DIALECT.name(name) if name in known else "NULL" for name in used}
                listed = (f"TRY_CAST({sql} AS {asked.native[c]}) AS {DIALECT.name(c)}" for c, sql in read.items())
                selects.append(f"SELECT {', '.join(listed)} FROM {view}")
            sources[table.sql.source] = table.source(f"({' UNION ALL '.join(selects)})")
        return sources


def _states(files: Sequence[str]) -> tuple[FileState, ...]:
    """What some files look like from outside."""
    return tuple((s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in map(os.stat, files))


def _settled(states: Sequence[FileState]) -> bool:
    """Whether the last change of all of them is so old that the next one will show."""
    return all(changed < time.time_ns() - TICK * 10**9 for *_, changed in states)


def _named(tables: Sequence[DuckTable], states: Sequence[FileState]) -> str:
    """The same files read in another way hold other rows, so how they are read is part of the name."""
    import duckdb

    read = [(table.sql.source, table.schema, table.token, table.feed) for table in tables]
    text = forms_of_versions().write((duckdb.__version__, read, states))
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:24]


@functools.cache
def forms_of_versions() -> Forms:
    """How what is read is written before it is hashed: ledgers keep the names of versions."""
    from tacit.engines.duckdb.text_files.csv import Dialect
    from tacit.engines.duckdb.text_files.feed import Feed
    from tacit.engines.duckdb.text_files.lines import TextFile

    return Forms(
        {
            Feed: "Feed(name, files, dialect, width, skip, objects)",
            TextFile: "TextFile(path, encoding, mark)",
            Dialect: "Dialect(delimiter, quote, escape)",
        }
    )


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
    connection = duckdb.connect(config={**_CLOSED, "temp_directory": spill, **_limits})
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    connection.execute("SET GLOBAL preserve_insertion_order = false")
    return connection


def _lock_down(connection: duckdb.DuckDBPyConnection, files: list[str]) -> None:
    connection.execute("SET GLOBAL pandas_analyze_sample = 0")
    connection.execute(f"SET allowed_paths = {DIALECT.list_of(files)}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
