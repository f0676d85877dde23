"""Spark: the engine for DataFrames and tables beyond one machine, classic or by Spark Connect.

Nothing of the user's session is changed: no setting, no view that stays after an answer, and statements mean the same
under every setting. The parts of a script that are used more than once, above all the table of persons, are kept in
Spark's cache while the snapshot lasts; what comes back to the driver are the few numbers of the answer. A statement
runs in a thread with a tag of its own, by which Ctrl-C and a time limit cancel its jobs and no others; neither waits
for a server that is gone, though the threads of Spark's client look for it some ten minutes more.

A cached frame keeps as many parts as the session shuffles into, 200 unless set, where Spark would make fewer of them in
a query by itself. On one machine each costs more than what is in it, so there they are put together.

Spark has no transactions: a frame must give the same rows whenever it is computed (one that draws at random does not),
and a table is looked up once for a snapshot.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from logging import LogRecord
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.engines import UNREACHABLE, Source
from tacit.engines.script import Fragment, Script
from tacit.engines.snapshots import NAME, SQLSnapshot, wait_for
from tacit.engines.spark.dialect import DIALECT
from tacit.engines.spark.tables import SparkTable, open_table
from tacit.engines.tables import OpenTables
from tacit.errors import EngineError, InvalidInput

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

T = TypeVar("T")

_EACH = 4
"""Parts for each core, so that one of them that is large keeps no other core waiting for long."""
_GRACE = 2.0
"""Seconds to wait until jobs are cancelled or a cache is freed; a server that is gone never says so."""


class Spark(OpenTables[SparkTable]):
    """Some named tables of one Spark session; see `tacit.engines.Engine`."""

    def __init__(self, tables: Mapping[str, Source], timeout: float | None = None) -> None:
        sessions = [_session(source.data) for source in tables.values()]
        if any(session is not sessions[0] for session in sessions):
            raise InvalidInput("the tables of one session must come from one SparkSession; read them all with it.")
        self.session: Any = sessions[0]
        _silence()
        self.timeout = timeout
        self.tables = {}
        self.parts: int | None = None
        for number, (name, source) in enumerate(tables.items()):
            try:
                wrong = self.looked_up(partial(self._open, name, source, f"t{number}"))
            except EngineError:
                wrong = InvalidInput(
                    f"table {name!r} could not be opened; check that the SparkSession runs and knows a table of that "
                    "name, which may be written catalog.schema.table."
                )
            if wrong is not None:
                raise wrong

    def _open(self, name: str, source: Source, place: str) -> InvalidInput | None:
        """Open a table, or say what is wrong with it in words that can be shown."""
        try:
            self.tables[name] = open_table(self.session, name, source, place)
        except InvalidInput as error:
            return error
        self.parts = _parts(self.session)
        return None

    def looked_up(self, work: Callable[[], T]) -> T:
        """What some work returns that asks for names and types only; an `EngineError` if it fails or time is up."""
        return wait_for(work, None, self.timeout, self.thread)

    def thread(self, **arguments: Any) -> Thread:
        """A thread that has the user's tags and properties."""
        from pyspark import InheritableThread

        return InheritableThread(session=self.session, **arguments)

    @contextmanager
    def snapshot(self) -> Iterator[SparkSnapshot]:
        """The tables as they are now, by one look at the catalog, and a place for what is kept meanwhile."""
        try:
            frames = self.looked_up(lambda: {table.place: _checked_frame(table) for table in self.tables.values()})
        except EngineError:
            raise EngineError(UNREACHABLE) from None
        snapshot = SparkSnapshot(self, frames)
        try:
            yield snapshot
        finally:
            snapshot.forget()

    def close(self) -> None:
        """The SparkSession is the user's and stays."""


def _checked_frame(table: SparkTable) -> DataFrame:
    """A table's frame; its columns are asked for, since Connect says only then that the server is there."""
    frame = shielded(table.frame())
    if len(frame.columns) != len(table.native):
        raise LookupError
    return frame


def _parts(session: Any) -> int | None:
    """How many parts of a frame keep all of one machine's cores busy; nothing for a cluster, whose owner knows best."""
    cores = None
    with suppress(Exception):  # a server may keep its settings to itself
        cores = re.fullmatch(r"local(?:\[(\d+|\*)(?:, *\d+)?\])?", session.conf.get("spark.master", ""))
    if cores is None:
        return None
    number = cores.group(1) or "1"
    return _EACH * (os.cpu_count() or 1 if number == "*" else int(number))


def _session(data: Any) -> Any:
    module, kind = type(data).__module__, type(data).__name__
    if module.startswith("pyspark.sql.") and kind in ("SparkSession", "DataFrame"):
        return data if kind == "SparkSession" else data.sparkSession
    raise InvalidInput(
        "a Spark source is a DataFrame or a SparkSession; a pandas-on-Spark frame gives one by to_spark()."
    )


def _silence() -> None:
    """Keep PySpark from logging the errors of our statements, which may show rows; others are logged as ever."""
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).addFilter(_of_others)


def _of_others(record: LogRecord) -> bool:
    return record.threadName != NAME


class SparkSnapshot(SQLSnapshot):
    """Up to two rounds over the same frames; parts that both name are computed once."""

    def __init__(self, engine: Spark, frames: Mapping[str, DataFrame]) -> None:
        super().__init__(DIALECT, engine.tables)
        self._engine, self._frames = engine, frames
        self._kept: dict[str, DataFrame] = {}
        self._views: dict[str, str] = {}

    def forget(self) -> None:
        """Free the cache and drop the views; a session that is gone has done so already."""

        def free() -> None:
            for frame in list(self._kept.values()):
                with suppress(Exception):
                    frame.unpersist()
            for name in list(self._views.values()):
                with suppress(Exception):
                    self._engine.session.catalog.dropTempView(name)

        if self._views:
            with suppress(Exception):
                thread = self._engine.thread(target=free, name=NAME, daemon=True)
                thread.start()
                thread.join(_GRACE)

    def fetch_rows(self, script: Script) -> Sequence[tuple[Any, ...]]:
        """The few rows of an answer, on the driver."""
        return self._run(lambda: self.frame(script).collect())

    def fetch_columns(self, script: Script) -> list[NDArray[np.int64]]:
        """By Arrow."""
        return [column.to_numpy() for column in self._run(lambda: self.frame(script).toArrow()).columns]

    def fetch_table(self, script: Script, schema: pa.Schema) -> pa.Table:
        """By Arrow."""
        return self._run(lambda: self.frame(script).toArrow()).rename_columns(schema.names).cast(schema)

    def _run(self, work: Callable[[], T]) -> T:
        """Run some work on frames under a tag of its own, beside the user's."""
        session, tag = self._engine.session, f"tacit-{uuid.uuid4().hex}"
        if type(session).__module__.startswith("pyspark.sql.connect."):
            add, cancel = session.addTag, session.interruptTag
        else:  # a classic session knows the tags of each thread by itself, its context those of all
            add, cancel = session.sparkContext.addJobTag, session.sparkContext.cancelJobsWithTag

        def tagged() -> T:
            add(tag)
            return work()

        return wait_for(tagged, lambda: cancel(tag), self._engine.timeout, self._engine.thread, _GRACE)

    def frame(self, script: Script) -> DataFrame:
        """The answer of a script, not computed yet; its shared parts are marked to stay in the cache.

        A part is the same in both rounds if it has the same meaning: its text, with the meaning of each part that it
        reads from the cache in that part's place. Spark does not recognize a cached frame in a query if either has a
        WITH, so the others are written inside it.
        """
        meanings = {place: place for place in self._frames}
        views = {place: self._view(place, frame) for place, frame in self._frames.items()}
        for part in script.parts:
            if part.name in script.shared:
                meaning = script.inline(part.body, meanings)
                if meaning not in self._kept:
                    self._kept[meaning] = self._fewer(self._sql(script, part.body, views)).persist()
                meanings[part.name] = f"({meaning})"
                views[part.name] = self._view(meaning, shielded(self._kept[meaning]))
        return self._sql(script, script.body, views)

    def _sql(self, script: Script, asked: Fragment, views: Mapping[str, str]) -> DataFrame:
        """The answer of a query of a script."""
        frame: DataFrame = self._engine.session.sql(script.inline(asked, views))
        return frame

    def _view(self, meaning: str, frame: DataFrame) -> str:
        """The name of a view that lasts as long as the snapshot.

        A view that is dropped makes Spark plan anew what depends on it and is not in the cache yet, in an order in
        which a part may be planned before the one that it reads, and then computes that once more.
        """
        if meaning not in self._views:
            name = f"tacit_{uuid.uuid4().hex}"
            frame.createTempView(name)
            self._views[meaning] = name
        return self._views[meaning]

    def _fewer(self, frame: DataFrame) -> DataFrame:
        """The frame in no more parts than a machine can use."""
        return frame if self._engine.parts is None else frame.coalesce(self._engine.parts)


def shielded(frame: DataFrame) -> DataFrame:
    """A frame that a view can show: with a view Spark frees the cache of the very frame that it shows."""
    return frame.where("TRUE")
