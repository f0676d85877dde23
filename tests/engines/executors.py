"""Spark executors that are killed, run as a program by `tests.engines.test_spark_failures`: a word for all that holds.

A cluster of one worker, whose one executor is a process of its own. Each row takes a moment to read, so that an
executor can be killed in the middle of a question. A task may fail once: Spark then starts another executor.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession

import tacit
from tacit.engines import FAILED, Source, open_engine
from tacit.engines.requests import Persons, Relation, TotalBuckets, value
from tacit.language.expressions import Scope
from tests.spark import QUICK, SETTINGS, machines

CLUSTER = {
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": SETTINGS["spark.driver.extraJavaOptions"],
    "spark.task.maxFailures": "2",
    "spark.log.level": "ERROR",
}


def session(folder: str) -> SparkSession:
    """A cluster that keeps its files in a folder, those of Spark itself by links to them."""
    for part in ("bin", "jars"):
        Path(folder, part).symlink_to(Path(pyspark.__file__).parent / part)
    os.environ["SPARK_HOME"] = folder
    builder = SparkSession.builder.master("local-cluster[1,1,512]")
    places = {"spark.local.dir": folder, "spark.sql.warehouse.dir": folder}
    for name, setting in {**SETTINGS, **QUICK, **CLUSTER, **places}.items():
        builder = builder.config(name, setting)
    return builder.getOrCreate()


def slow(spark: SparkSession, rows: int, parts: int) -> DataFrame:
    """Rows that take a tenth of a second each, about seven persons."""
    pause = "REFLECT('java.lang.Thread', 'sleep', 100L) = ''"
    person = f"IF({pause}, '', CONCAT('secret-', id % 7)) AS person"
    return spark.range(0, rows, 1, parts).selectExpr(person, "id AS amount")


def executors() -> list[int]:
    """The processes that the cluster's worker, which is in the driver's JVM, has started."""
    return [executor for driver in machines(os.getpid()) for executor in machines(driver)]


def until(holds: Callable[[], object]) -> None:
    """Wait for something that is to come."""
    limit = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)


def busy(spark: SparkSession, finished: int) -> bool:
    """Whether a stage runs of which some tasks are finished."""
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return any(stage and stage.numActiveTasks and stage.numCompletedTasks >= finished for stage in stages)


def kill(spark: SparkSession | None = None) -> None:
    """Kill the executor, given a session as soon as it has finished a task and runs another; wait for the next."""
    if spark:
        until(lambda: busy(spark, 1))
    (old,) = executors()
    os.kill(old, signal.SIGKILL)
    until(lambda: executors() and old not in executors())


def replaced(spark: SparkSession) -> None:
    """An executor lost in the middle of a round, and one with the cache between two rounds: the answer is the same."""
    engine = open_engine({"t": Source(slow(spark, 16, 4))})
    scope = Scope.of(engine.schema("t"), "t")
    relation = Relation("t", "t", scope.find("person"))  # type: ignore[arg-type]
    asked = (Persons(), TotalBuckets(value(scope.find("amount")), (10, 20)))
    first = executors()
    blow = threading.Thread(target=kill, args=(spark,))
    blow.start()
    with engine.snapshot() as snapshot:
        persons, totals = snapshot.ask(relation, asked)
        blow.join(240)
        assert executors() != first
        assert spark.sparkContext._jsc.getPersistentRDDs().size() == 1
        kill()
        assert snapshot.ask(relation, asked) == (persons, totals)
    assert persons == 7  # their totals are 0 + 7 + 14, 1 + 8 + 15, 2 + 9, …, 6 + 13
    assert [(bucket.count, bucket.sum) for bucket in totals.positive] == [(0, 0), (5, 75), (2, 45)]


def lost(spark: SparkSession) -> tacit.Table:
    """An executor lost as often as there is one, always with the same task: one sentence, and the charge stays."""
    table = tacit.read(slow(spark, 10**4, 1), person="person", budget=tacit.Pure(9))
    over = threading.Event()

    def blows() -> None:
        while not over.wait(0.3):
            for executor in executors() if busy(spark, 0) else ():
                with suppress(ProcessLookupError):
                    os.kill(executor, signal.SIGKILL)

    killer = threading.Thread(target=blows)
    killer.start()
    with pytest.raises(tacit.EngineError) as caught:
        table.persons(epsilon=1)
    over.set()
    killer.join(200)
    assert str(caught.value) == FAILED
    assert caught.value.__cause__ is None
    assert table.budget.spent == tacit.Pure(1)
    return table


if __name__ == "__main__":
    spark = session(sys.argv[1])
    replaced(spark)
    print("replaced", flush=True)
    table = lost(spark)
    print("lost", flush=True)
    spark.stop()
    with pytest.raises(tacit.EngineError, match="Nothing was charged"):
        table.persons(epsilon=1)
    assert table.budget.spent == tacit.Pure(1)
    print("refunded")
