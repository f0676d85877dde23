"""What the Spark engine costs beside Spark's own per-person sum: time, and memory of the driver.

Run it as ``python benchmarks/spark.py [rows …]`` (1,000,000 and 10,000,000 unless said otherwise). Spark makes the rows
as it reads them: a whole amount, a double and a decimal for one of rows/50 persons, of whom one has a tenth of all.
The plain query is ``SELECT SUM(s) FROM (SELECT person, SUM(column) s FROM t GROUP BY 1)``; the profile is the number of
persons and the bucketed totals, both from one table of persons. Both run in turn in one local Spark, so that a busy
machine disturbs both alike; a ratio is the median of the ratios of neighbouring runs. Memory is the resident size of
the Python process and the heap that Java uses after a collection, both after the questions of that size.
"""

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import record
from pyspark.sql import DataFrame, SparkSession

from tacit.engines import Source, open_engine
from tacit.engines.expressions import Scope
from tacit.engines.requests import Persons, Relation, TotalBuckets, value

GRID = tuple(sorted({int(1.5**i) for i in range(107)}))
"""Caps half as large again each, up to 10^18.8."""
COLUMNS = ("amount", "price", "charge")
RUNS = 3


def table(spark: SparkSession, rows: int) -> DataFrame:
    """Rows that cost little to make and are the same whenever they are made."""
    persons = max(1, rows // 50)
    return spark.range(rows).selectExpr(
        f"IF(id % 10 = 0, 0, PMOD(XXHASH64(id), {persons})) AS person",
        "PMOD(HASH(id, 1), 10007) AS amount",
        "EXP(PMOD(HASH(id, 2), 1000003) / 100000.0D) AS price",
        "CAST(PMOD(HASH(id, 3), 1000003) / 100 AS DECIMAL(15,2)) AS charge",
    )


def clocked(work: Callable[[], object]) -> float:
    """Seconds waited."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compared(spark: SparkSession, frame: DataFrame) -> dict[str, dict[str, float]]:
    """The profile against the plain query, in turn, for each column."""
    engine = open_engine({"t": Source(frame)})
    scope = Scope.of(engine.schema("t"), "t")
    relation = Relation("t", "t", scope.find("person"))  # type: ignore[arg-type]
    found = {}
    for column in COLUMNS:
        inner = f"(SELECT person, SUM({column}) AS s FROM {{t}} GROUP BY person)"

        def plain(inner: str = inner) -> object:
            return spark.sql(f"SELECT SUM(s) FROM {inner}", t=frame).collect()

        def profile(column: str = column) -> object:
            with engine.snapshot() as snapshot:
                return snapshot.ask(relation, (Persons(), TotalBuckets(value(scope.find(column)), GRID)))

        plain(), profile()
        pairs = [(clocked(plain), clocked(profile)) for _ in range(RUNS)]
        found[column] = {
            "plain seconds": median(first for first, _ in pairs),
            "tacit seconds": median(second for _, second in pairs),
            "ratio": median(second / first for first, second in pairs),
        }
        print(f"{column:8}", {name: round(number, 2) for name, number in found[column].items()}, flush=True)
    return found


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


def main(sizes: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master("local[2]").config("spark.local.dir", folder)
        settings = {"ui.enabled": "false", "ui.showConsoleProgress": "false", "log.level": "ERROR"}
        for name, setting in {**settings, "sql.shuffle.partitions": "4", "driver.memory": "2g"}.items():
            builder = builder.config(f"spark.{name}", setting)
        spark = builder.getOrCreate()
        report: dict[str, Any] = {key: found for key, found in record.read("spark").items() if key != "facts"}
        for rows in sizes:
            print(f"{rows:,} rows", flush=True)
            report[f"{rows:,} rows"] = {
                "runs": RUNS,
                "spark": spark.version,
                "sum": compared(spark, table(spark, rows)),
                **memory(spark),
            }
            print({name: round(size) for name, size in memory(spark).items()}, flush=True)
            record.write("spark", report)
        spark.stop()


if __name__ == "__main__":
    main([int(rows) for rows in sys.argv[1:]] or [1_000_000, 10_000_000])
