"""Spark: the same meaning as everywhere, under any settings; nothing left behind; failures in one sentence.

The conformance tests ask Spark everything while it compiles nothing, for quickness; here it is asked a portion again,
as it usually runs. Spark Connect is asked in a process of its own (`tests.engines.connect`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.engines import FAILED, UNREACHABLE, Engine, Source, open_engine
from tacit.engines.requests import (
    Incidence,
    KeyCounts,
    Ordered,
    Persons,
    RankSteps,
    Relation,
    RowCount,
    TotalBuckets,
    value,
)
from tacit.engines.script import Script
from tacit.engines.snapshots import render
from tacit.engines.spark.dialect import DIALECT
from tacit.engines.spark.engine import Spark
from tacit.errors import EngineError, InvalidInput
from tacit.language.expressions import Column, Scope
from tacit.language.parsing import parse
from tacit.language.types import INTEGER, OTHER, TEXT, TIMESTAMP, Schema, decimal
from tests.engines import cases, questions
from tests.engines import test_conformance as conformance
from tests.engines.engines import OPEN, facts
from tests.spark import COMPILED, frame, needed, with_settings

pytestmark = needed
full = pytest.mark.skipif(os.environ.get("TACIT_CONFORMANCE") != "full", reason="asked while nothing is compiled")
"""TACIT_CONFORMANCE=full asks these here too."""

relation = questions.relation
BOUNDARIES = questions.BOUNDARIES
ROWS = (Persons(), TotalBuckets(RowCount(), BOUNDARIES))


@pytest.fixture(scope="module")
def compiled(spark: Any) -> Any:
    return with_settings(spark, COMPILED)


@pytest.fixture(scope="module")
def engine(compiled: Any) -> Engine:
    """Its frames keep their rows with the executors, else the optimizer would evaluate expressions by itself."""
    tables = {"t": cases.arrow(conformance.table()), "prices": conformance.PRICES}
    frames = {name: frame(compiled, table).localCheckpoint() for name, table in tables.items()}
    return open_engine({name: Source(frames[name], facts(table)) for name, table in tables.items()})


@pytest.fixture(scope="module")
def reference(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with OPEN["duckdb"](request, {"t": cases.arrow(conformance.table()), "prices": conformance.PRICES}) as opened:
        yield opened


def about(engine: Engine, table: str = "t") -> Relation:
    return Relation(table, table, Scope.of(engine.schema(table), table).find("person"))  # type: ignore[arg-type]


# ---- one meaning -------------------------------------------------------------------------------------------------


def test_every_expression_in_every_row(engine: Engine) -> None:
    assert engine.schema("t") == questions.FACTS
    for part in range(4):
        conformance.test_every_expression_in_every_row(engine, part)


def test_requests_about_persons(engine: Engine) -> None:
    """One or two of each kind."""
    conformance._agree(engine, relation(), questions.of_persons()[5::23])


@full
def test_quantiles(engine: Engine) -> None:
    conformance._agree(engine, relation(), questions.quantiles("f")[1:])


def test_persons_of_another_type(engine: Engine) -> None:
    conformance._agree(engine, relation(cases.NAME, questions.FILTERS[0]), ROWS)


def test_groups(engine: Engine) -> None:
    conformance._agree(engine, relation(), questions.of_groups()[2:5])


@full
def test_choices_by_a_keyed_hash(engine: Engine, reference: Engine) -> None:
    asked = KeyCounts((questions.SCOPE.find("b"), questions.SCOPE.find("s")), 2, 1, conformance.SALT)
    conformance._same(engine, reference, relation(), (asked,))
    conformance.test_samples_of_persons(engine, reference)
    conformance.test_rows_in_blocks(engine, reference)


@full
def test_joins_and_several_persons(engine: Engine, reference: Engine) -> None:
    conformance.test_joins_with_a_public_table(engine, reference, "c", "code", "left")
    conformance.test_rows_that_concern_several_persons(engine, reference, Incidence(value(questions.SCOPE.find("i"))))


# ---- the user's session ------------------------------------------------------------------------------------------

SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "Asia/Kathmandu",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}


def test_settings_matter_to_nothing_and_nothing_stays(compiled: Any, engine: Engine) -> None:
    mine = compiled.range(3).toDF("person").cache()
    kept = compiled.sparkContext._jsc.getPersistentRDDs().size()
    before = {name: compiled.conf.get(name) for name in SETTINGS}
    for name, setting in SETTINGS.items():
        compiled.conf.set(name, setting)
    try:
        conformance.test_every_expression_in_every_row(engine, 3)
        asked = (TotalBuckets(value(questions.SCOPE.find("i")), BOUNDARIES), *questions.of_groups()[3:4])
        conformance._agree(engine, relation(), asked)
        with open_engine({"t": Source(mine)}).snapshot() as snapshot:
            assert snapshot.ask(Relation("t", "t", _column("person")), (Persons(),)) == (3,)
        assert {name: compiled.conf.get(name) for name in SETTINGS} == SETTINGS
    finally:
        for name, setting in before.items():
            compiled.conf.set(name, setting)
    assert compiled.catalog.listTables() == []
    assert mine.storageLevel.useMemory  # what the user keeps in the cache stays there
    mine.unpersist()
    assert compiled.sparkContext._jsc.getPersistentRDDs().size() <= kept


def _column(name: str) -> Any:
    return Column(INTEGER, "t", name)


def test_moments_are_in_utc(spark: Any) -> None:
    moments = spark.sql("SELECT 1 AS person, TIMESTAMP '2021-07-01 00:30:00+02:00' AS t")
    opened = open_engine({"t": Source(moments)})
    hour = parse("EXTRACT(hour FROM t)", Scope.of(opened.schema("t"), "t"))
    with opened.snapshot() as snapshot:
        (found,) = snapshot.ask(about(opened), (TotalBuckets(value(hour), (21, 22)),))
    assert [bucket.count for bucket in found.positive] == [0, 1, 0]


def test_persons_are_computed_once(spark: Any) -> None:
    """Both readers of the table of persons read the cache, which holds partial sums shuffled by person."""
    rows = spark.range(100).selectExpr("id % 7 AS person", "id AS amount")
    opened = open_engine({"t": Source(rows)})
    assert isinstance(opened, Spark)
    amount = value(Scope.of(opened.schema("t"), "t").find("amount"))
    with opened.snapshot() as snapshot:
        script = _script(opened, (Persons(), TotalBuckets(amount, (10,))))
        plan = snapshot.frame(script)._jdf.queryExecution().toString()
        physical = plan.partition("== Physical Plan ==")[2]
    assert physical.count("InMemoryTableScan") == 2
    assert "partial_sum" in physical
    assert "Exchange hashpartitioning(person" in physical


def test_parts_that_read_each_other_do_so_from_the_cache(spark: Any) -> None:
    """Of a quantile, every kept part that reads another one does so from the cache; its ends are found in the rows."""
    opened = open_engine({"t": Source(spark.range(100).selectExpr("id % 7 AS person", "id AS amount"))})
    assert isinstance(opened, Spark)
    amount = Ordered(Scope.of(opened.schema("t"), "t").find("amount"))
    with opened.snapshot() as snapshot:
        snapshot.frame(_script(opened, (RankSteps(amount, (Fraction(1, 2),), 3),)))
        reading = [kept for text, kept in snapshot._kept.items() if "AS shares0" in str(text)]
        plans = [kept._jdf.queryExecution().executedPlan().toString() for kept in reading]
    assert len(plans) > 3
    assert all(plan.count("InMemoryTableScan") > 1 for plan in plans)


def _script(opened: Spark, requests: tuple[Any, ...]) -> Script:
    return render(DIALECT, {"t": opened.tables["t"].sql}, about(opened), requests)


# ---- sources -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("native", "kind"),
    [
        ("smallint", INTEGER),
        ("decimal(38,18)", decimal(18)),
        ("decimal(38,19)", OTHER),
        ("string collate UTF8_LCASE", TEXT),
        ("varchar(3)", TEXT),
        ("timestamp_ntz", TIMESTAMP),
        ("binary", OTHER),
        ("array<string>", OTHER),
    ],
)
def test_types(native: str, kind: Any) -> None:
    assert DIALECT.inferred(native) == kind


def test_persons_of_awkward_types_and_names_that_differ_in_case(spark: Any) -> None:
    rows = spark.sql(
        "SELECT col1 AS a, col2 AS A, array(col1, NULL) AS `l.i``st`, CAST(col2 AS STRING COLLATE UTF8_LCASE) AS text "
        "FROM VALUES (1, 'x'), (1, 'X'), (NULL, 'x'), (2, NULL)"
    )
    opened = open_engine({"T t": Source(rows)})
    scope = Scope.of(opened.schema("T t"), "T t")
    found: list[int] = []
    for person in ("a", "A", "l.i`st", "text"):
        with opened.snapshot() as snapshot:
            found += snapshot.ask(Relation("T t", "T t", scope.find(person, quoted=True)), (Persons(),))  # type: ignore[arg-type]
    assert found == [2, 2, 3, 2]


def test_refusals(spark: Any) -> None:
    rows = spark.range(3).toDF("person")
    for sources, words in (
        ({"t": Source(rows, table="u")}, "leave table= out"),
        ({"t": Source(rows, options={"header": True})}, "not an option of Spark"),
        ({"t": Source(rows, Schema.of({"person": "text"}))}, "declares 'person' as text"),
        ({"t": Source(rows, Schema.of({"nobody": "text"}))}, "names the column 'nobody'"),
        ({"t": Source(spark, table="nowhere.nothing")}, "could not be opened"),
        ({"t": Source(spark.readStream.format("rate").load())}, "is a stream"),
        ({"t": Source(rows), "u": Source(spark.newSession().range(1))}, "one SparkSession"),
        ({"t": Source(spark.sparkContext)}, "a DataFrame or a SparkSession"),
    ):
        with pytest.raises(InvalidInput, match=words):
            open_engine(sources)


# ---- failures ----------------------------------------------------------------------------------------------------


def test_a_table_that_is_gone_costs_nothing_before_and_the_charge_after(spark: Any, tmp_path: Any) -> None:
    for name in ("early", "late"):
        spark.range(100).selectExpr("id % 9 AS person", "id").write.option("path", str(tmp_path / name)).saveAsTable(
            name
        )
    early = tacit.read(spark, table="default.early", person="person", budget=tacit.Pure(9))
    assert early.count(epsilon=8).guarantee == tacit.Pure(8)
    spark.sql("DROP TABLE early")
    with pytest.raises(EngineError, match="Nothing was charged"):
        early.persons(epsilon=1)
    late = open_engine({"t": Source(spark, table="late")})
    with late.snapshot() as snapshot:
        for part in (tmp_path / "late").glob("*.parquet"):
            part.unlink()
        with pytest.raises(EngineError) as caught:
            snapshot.ask(about(late), (Persons(),))
    assert str(caught.value) == FAILED
    spark.sql("DROP TABLE late")
    spark.range(1).selectExpr("'a' AS person").createOrReplaceTempView("late")
    with pytest.raises(EngineError) as caught, late.snapshot():
        pass
    assert str(caught.value) == UNREACHABLE
    spark.catalog.dropTempView("late")


def test_a_failure_shows_no_row(spark: Any, capfd: pytest.CaptureFixture[str]) -> None:
    rows = spark.range(5).selectExpr("IF(id = 3, RAISE_ERROR('a secret'), id) AS person")
    opened = open_engine({"t": Source(rows)})
    with pytest.raises(EngineError) as caught, opened.snapshot() as snapshot:
        snapshot.ask(Relation("t", "t", _column("person")), (Persons(),))
    assert str(caught.value) == FAILED
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "secret" not in repr(opened) + "".join(capfd.readouterr())


def test_ctrl_c_and_a_time_limit_stop_the_jobs(spark: Any) -> None:
    endless = spark.range(10**13).selectExpr("id % 3 AS person")
    opened, limited = open_engine({"t": Source(endless)}), open_engine({"t": Source(endless)}, timeout=1)
    threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()
    for asked, error in ((opened, KeyboardInterrupt), (limited, EngineError)):
        with pytest.raises(error), asked.snapshot() as snapshot:
            snapshot.ask(about(asked), (Persons(),))
        limit = time.monotonic() + 200
        while spark.sparkContext.statusTracker().getActiveJobsIds() and time.monotonic() < limit:
            time.sleep(0.1)
        assert spark.sparkContext.statusTracker().getActiveJobsIds() == []


# ---- Connect -----------------------------------------------------------------------------------------------------


def test_connect(tmp_path: Path) -> None:
    """The same over Spark Connect, to a server of its own that is killed at the end."""
    program = [sys.executable, "-m", "tests.engines.connect", str(tmp_path)]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=600)
    assert ran.stdout.split() == ["agreed", "clean", "interrupted", "lost"], ran.stderr[-2000:]
