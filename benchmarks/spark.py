"""What the Spark engine costs beside Spark's own per-person sum: time, and memory of the driver.

    python benchmarks/spark.py [--quick] [rows …]

Without sizes they are 1,000,000, 10,000,000 and 100,000,000 rows, about a quarter of an hour on two idle cores. Spark
makes the rows as it reads them: a whole amount, a double and a decimal for one of rows/50 persons, of whom one has a
tenth of all. The plain query is ``SELECT SUM(s) FROM (SELECT person, SUM(column) s FROM t GROUP BY 1)``; the profile is
the number of persons and the bucketed totals, both from one table of persons. Both run in turn in one local Spark, so
that a busy machine disturbs both alike, after some runs on few rows in which Java compiles what they need. A ratio is
the median of the ratios of neighbouring runs; processor time is that of Java and Python together. Memory is the
resident size of the Python process and the heap that Java uses after a collection, both after the questions of that
size.
"""

import argparse
import gc
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import record
from pyspark.sql import DataFrame, SparkSession

from tacit.engines import Source, open_engine
from tacit.engines.requests import Persons, Relation, TotalBuckets, value
from tacit.language.expressions import Scope

GRID = tuple(sorted({int(1.5**i) for i in range(107)}))
"""Caps half as large again each, up to 10^18.8."""
COLUMNS = ("amount", "price", "charge")
SIZES = {1_000_000: 7, 10_000_000: 5, 100_000_000: 3}
"""Rows, and how often each is measured."""
WARM = 200_000


def table(spark: SparkSession, rows: int) -> DataFrame:
    """Rows that cost little to make and are the same whenever they are made."""
    persons = max(1, rows // 50)
    return spark.range(rows).selectExpr(
        f"IF(id % 10 = 0, 0, PMOD(XXHASH64(id), {persons})) AS person",
        "PMOD(HASH(id, 1), 10007) AS amount",
        "EXP(PMOD(HASH(id, 2), 1000003) / 100000.0D) AS price",
        "CAST(PMOD(HASH(id, 3), 1000003) / 100 AS DECIMAL(15,2)) AS charge",
    )


class Clock:
    """Seconds waited, and seconds of processor time of Python and of Spark's Java."""

    def __init__(self, spark: SparkSession) -> None:
        process = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]
        self.java = Path(f"/proc/{process}/stat")

    def read(self) -> tuple[float, float]:
        ticks = self.java.read_text().rpartition(")")[2].split()[11:13]
        return time.perf_counter(), time.process_time() + sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def of(self, work: Callable[[], object]) -> tuple[float, float]:
        before = self.read()
        work()
        after = self.read()
        return after[0] - before[0], after[1] - before[1]


def asking(spark: SparkSession, frame: DataFrame, column: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """The plain query and the profile."""
    engine = open_engine({"t": Source(frame)})
    scope = Scope.of(engine.schema("t"), "t")
    relation = Relation("t", "t", scope.find("person"))  # type: ignore[arg-type]
    inner = f"(SELECT person, SUM({column}) AS s FROM {{t}} GROUP BY person)"

    def plain() -> object:
        return spark.sql(f"SELECT SUM(s) FROM {inner}", t=frame).collect()

    def profile() -> object:
        with engine.snapshot() as snapshot:
            return snapshot.ask(relation, (Persons(), TotalBuckets(value(scope.find(column)), GRID)))

    return plain, profile


def compared(spark: SparkSession, rows: int, column: str, runs: int) -> dict[str, float]:
    """The profile against the plain query, in turn."""
    for _ in range(runs):
        for work in asking(spark, table(spark, min(rows, WARM)), column):
            work()
    plain, profile = asking(spark, table(spark, rows), column)
    clock = Clock(spark)
    pairs = [(clock.of(plain), clock.of(profile)) for _ in range(runs)]
    ratios = [[asked[i] / alone[i] for alone, asked in pairs] for i in range(2)]
    return {
        "plain seconds": median(alone[0] for alone, _ in pairs),
        "tacit seconds": median(asked[0] for _, asked in pairs),
        "ratio": median(ratios[0]),
        "largest ratio": max(ratios[0]),
        "ratio of processor time": median(ratios[1]),
    }


def memory(spark: SparkSession) -> dict[str, float]:
    """Megabytes of the driver: Python's resident size, and Java's heap after a collection."""
    gc.collect()
    runtime: Any = spark.sparkContext._jvm.java.lang.Runtime.getRuntime()  # type: ignore[union-attr]
    for _ in range(3):
        runtime.gc()
        time.sleep(0.5)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "python megabytes": pages * os.sysconf("SC_PAGESIZE") / 2**20,
        "java megabytes": (runtime.totalMemory() - runtime.freeMemory()) / 2**20,
    }


def main(sizes: Mapping[int, int], columns: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master("local[2]").config("spark.local.dir", folder)
        settings = {"ui.enabled": "false", "ui.showConsoleProgress": "false", "log.level": "ERROR"}
        for name, setting in {**settings, "sql.shuffle.partitions": "4", "driver.memory": "2g"}.items():
            builder = builder.config(f"spark.{name}", setting)
        spark = builder.getOrCreate()
        report: dict[str, Any] = {key: found for key, found in record.read("spark").items() if key != "facts"}
        for rows, runs in sizes.items():
            print(f"{rows:,} rows", flush=True)
            found: dict[str, Any] = {"runs": runs, "spark": spark.version, "sum": {}}
            for column in columns:
                found["sum"][column] = figures = compared(spark, rows, column, runs)
                print(f"{column:8}", {name: round(number, 2) for name, number in figures.items()}, flush=True)
            used = memory(spark)
            print({name: round(size) for name, size in used.items()}, flush=True)
            report[f"{rows:,} rows"] = found | used
            record.write("spark", report)
        spark.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one column of few rows, once")
    parser.add_argument("rows", type=int, nargs="*")
    given = parser.parse_args()
    if given.quick:
        main({WARM: 1}, COLUMNS[:1])
    else:
        main({rows: SIZES.get(rows, 3) for rows in given.rows or SIZES}, COLUMNS)
