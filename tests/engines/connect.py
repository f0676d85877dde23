"""Spark Connect, run as a program by `tests.engines.test_spark`: prints a word for each thing that holds."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

import tacit
from tacit.engines import FAILED, Source, open_engine
from tacit.engines.requests import Extremes, Ordered, Persons, TotalBuckets, value
from tests.engines import cases, questions
from tests.engines import test_conformance as conformance
from tests.engines.engines import facts
from tests.spark import QUICK, SETTINGS, frame, machines
from tests.support import until


def session(folder: str) -> SparkSession:
    """A server in this process's own JVM, which keeps its files in a folder, and a client of it."""
    builder = SparkSession.builder.remote("local[2]")
    for name, setting in {**SETTINGS, **QUICK, "spark.local.dir": folder, "spark.sql.warehouse.dir": folder}.items():
        builder = builder.config(name, setting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return builder.getOrCreate()


def agree(spark: SparkSession) -> None:
    """Expressions, persons, groups; a session of two tables, one of them named in the catalog."""
    table = cases.arrow(conformance.table())
    engine = open_engine({"t": Source(frame(spark, table), facts(table))})
    conformance.test_every_expression_in_every_row(engine, 1)
    i, f = (questions.SCOPE.find(name) for name in "if")
    asked = (Persons(), TotalBuckets(value(f), questions.BOUNDARIES), Extremes(Ordered(f), 9, False))
    conformance._agree(engine, questions.relation(), (*asked, TotalBuckets(value(i), questions.BOUNDARIES)))
    conformance._agree(engine, questions.relation(cases.NAME), questions.of_groups()[3:4])

    spark.range(1000).selectExpr("id % 50 AS person", "id % 2 AS kind").createOrReplaceTempView("orders")
    kinds = spark.sql("SELECT * FROM VALUES (0, 'even'), (1, 'odd') AS kinds(kind, name)")
    shop = tacit.Session(
        {"orders": tacit.Private(spark, person="person"), "kinds": tacit.Public(kinds)}, tacit.Pure(10**6)
    )
    query = "SELECT COUNT(*) FROM orders JOIN kinds ON orders.kind = kinds.kind WHERE name = 'odd'"
    answer = shop.sql(query, epsilon=10**5)
    assert isinstance(answer, tacit.Answer)
    assert answer.value == 500
    spark.catalog.dropTempView("orders")


def interrupted(
    spark: SparkSession, blow: Callable[[], object], error: type[BaseException], timeout: float | None = None
) -> BaseException:
    """What a question that would never end raises soon after a blow or its time limit."""
    table = endless(spark, timeout)
    threading.Thread(target=strike, args=(table, blow)).start()
    start = time.monotonic()
    with pytest.raises(error) as caught:
        table.persons(epsilon=1)
    assert time.monotonic() - start < 300
    assert table.budget.spent == tacit.Pure(1)  # what fails while rows are read is paid for
    return caught.value


def strike(table: tacit.Table, blow: Callable[[], None]) -> None:
    """Strike a while after the charge."""
    until(lambda: table.budget.remaining != tacit.Pure(9))
    time.sleep(2)
    blow()


def endless(spark: SparkSession, timeout: float | None) -> tacit.Table:
    rows = spark.range(10**13).selectExpr("id % 3 AS person")
    return tacit.read(rows, person="person", budget=tacit.Pure(9), timeout=timeout)


def nobody_there(spark: SparkSession, limited: tacit.Table, unlimited: tacit.Table) -> None:
    """Without a server nothing is charged, and nobody waits longer than the time limit or Ctrl-C."""
    start = time.monotonic()
    with pytest.raises(tacit.EngineError, match=r"cannot be reached .* Nothing was charged"):
        limited.persons(epsilon=1)
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        unlimited.persons(epsilon=1)
    assert limited.budget.remaining == unlimited.budget.remaining == tacit.Pure(9)
    with pytest.raises(tacit.InvalidInput, match="could not be opened"):
        endless(spark, 1)
    assert time.monotonic() - start < 300


def kill_server() -> None:
    """End the JVM, which is this process's child."""
    for machine in machines(os.getpid()):
        os.kill(machine, signal.SIGKILL)


if __name__ == "__main__":
    spark = session(sys.argv[1])
    before = dict(spark.conf.getAll)
    agree(spark)
    print("agreed")
    assert dict(spark.conf.getAll) == before
    assert spark.catalog.listTables() == []
    print("clean")
    interrupted(spark, lambda: os.kill(os.getpid(), signal.SIGINT), KeyboardInterrupt)
    assert spark.range(3).count() == 3
    print("interrupted")
    waiting = endless(spark, 1), endless(spark, None)
    lost = interrupted(spark, kill_server, tacit.EngineError, timeout=5)
    assert str(lost) == FAILED
    nobody_there(spark, *waiting)
    print("lost", flush=True)
    os._exit(0)  # without asking a server that is gone to stop
