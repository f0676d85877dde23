"""What the engine costs beside the plain query: time, memory, and every request on a large table.

Run it as ``python benchmarks/engine.py [rows …]`` (10,000,000 rows unless said otherwise; the table of evidence A,
about one person for fifty rows). It prints a table and stores it with what other sizes gave. The plain query is
``SELECT SUM(s) FROM (SELECT person, SUM(column) s FROM t GROUP BY 1)`` on the same column of the same Parquet file, in
DuckDB without Tacit. Both are run in turn, so that a busy machine disturbs both alike; a ratio is the median of the
ratios of neighbouring runs, of the time one waits and of processor time. Memory is the largest resident size of a
process that does nothing else.
"""

import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import duckdb
from record import read as stored
from record import write as keep

from tacit.engines import Source, open_engine
from tacit.engines.requests import (
    Extremes,
    Flags,
    GroupNorms,
    GroupTotals,
    KeyCounts,
    KeysPerPerson,
    Moments,
    Ordered,
    Persons,
    RankSteps,
    Relation,
    RowCount,
    TotalBuckets,
    value,
)
from tacit.language import build
from tacit.language.expressions import Scope
from tacit.language.parsing import parse

GRID = tuple(sorted({int(1.5**i) for i in range(107)}))
"""Caps half as large again each, up to 10^18.8."""
COLUMNS = ("amount", "price", "charge")
CHUNK = 10_000_000


def write(path: Path, rows: int) -> None:
    """The table of evidence A: whole amounts, the same as doubles before rounding, and as decimals."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(7)
    persons = max(1, rows // 50)
    rate = draw.lognormal(0, 1, persons)
    weight = (1 - draw.random(persons)) ** -0.5
    writer = None
    for start in range(0, rows, CHUNK):
        n = min(CHUNK, rows - start)
        person = draw.choice(persons, n, p=rate / rate.sum())
        price = np.exp(draw.normal(3, 1, n)) * weight[person]
        cents = pa.array(np.rint(price * 100).astype(np.int64)).cast(pa.decimal128(21, 0))
        charge = pa.Array.from_buffers(pa.decimal128(15, 2), n, cents.buffers())
        columns = {
            "person": pa.array(person),
            "amount": pa.array(np.rint(price).astype(np.int64)),
            "price": pa.array(price),
        }
        table = pa.table(columns | {"charge": charge})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=1_000_000)
    assert writer is not None
    writer.close()


class Question:
    """The engine over the table, and the same question to DuckDB itself."""

    def __init__(self, path: Path) -> None:
        self.engine = open_engine({"t": Source(path)})
        self.scope = Scope.of(self.engine.schema("t"), "t")
        self.relation = Relation("t", "t", self.scope.find("person"))  # type: ignore[arg-type]
        self.duckdb = duckdb.connect()
        self.path = path

    def ask(self, *requests: Any) -> tuple[Any, ...]:
        with self.engine.snapshot() as snapshot:
            return snapshot.ask(self.relation, requests)

    def total(self, column: str) -> tuple[Any, ...]:
        return self.ask(Persons(), TotalBuckets(value(self.scope.find(column)), GRID))

    def plain(self, column: str) -> Any:
        inner = f"SELECT person, SUM({column}) s FROM read_parquet('{self.path}') GROUP BY 1"
        return self.duckdb.execute(f"SELECT SUM(s) FROM ({inner})").fetchall()


def clocked(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds waited and seconds of processor time."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def compared(question: Question, column: str, runs: int) -> dict[str, float]:
    """The question against the plain query, in turn."""
    question.total(column), question.plain(column)
    pairs = [(clocked(lambda: question.plain(column)), clocked(lambda: question.total(column))) for _ in range(runs)]
    ratios = [[asked[i] / plain[i] for plain, asked in pairs] for i in range(2)]
    return {
        "plain seconds": median(plain[0] for plain, _ in pairs),
        "tacit seconds": median(asked[0] for _, asked in pairs),
        "ratio": median(ratios[0]),
        "ratio p95": quantiles(ratios[0], n=20)[-1],
        "ratio of processor time": median(ratios[1]),
    }


def memory(path: Path, column: str, how: str) -> float:
    """The largest resident size in megabytes of a process that asks once."""
    found = subprocess.run(
        [sys.executable, __file__, "--once", how, column, str(path)], capture_output=True, text=True, check=True
    )
    return float(found.stdout) / 1024


def once(how: str, column: str, path: str) -> None:
    """In a process of its own: ask, then print the largest resident size in kilobytes, as Linux keeps it."""
    question = Question(Path(path))
    question.total(column) if how == "tacit" else question.plain(column)
    print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line))


def requests(question: Question) -> dict[str, tuple[Any, ...]]:
    """Every request once."""
    scope = question.scope
    amount, price = scope.find("amount"), scope.find("price")
    band = parse("CASE WHEN amount < 10 THEN 0 WHEN amount < 20 THEN 1 WHEN amount < 50 THEN 2 ELSE 3 END", scope)
    keys = tuple((build.literal(key),) for key in range(4))
    half = (Fraction(1, 2),)
    return {
        "persons": (Persons(),),
        "rows per person": (TotalBuckets(RowCount(), GRID),),
        "sum of an expression": (TotalBuckets(value(parse("price * amount / 2", scope)), GRID),),
        "500 largest doubles": (Extremes(Ordered(price), 500, True),),
        "flags": (Flags(parse("amount > 1000", scope)),),
        "second moments per row": (Moments(value(price), 0, 10**9, 2, 100),),
        "second moments per person": (Moments(value(price), 0, 10**9, 2),),
        "median of integers": (RankSteps(Ordered(amount), half, 100),),
        "median of doubles": (RankSteps(Ordered(price), half, 100),),
        "median of doubles per row": (RankSteps(Ordered(price), half, 100, 20),),
        "group norms": (GroupNorms(value(amount), (band,), keys, "l1", GRID[:100]),),
        "group totals, l2": (GroupTotals(value(amount), (band,), keys, "l2", 5000, 16),),
        "keys per person": (KeysPerPerson((band,), (1, 2, 3)),),
        "unknown keys": (KeyCounts((band,), 2, 10, bytes(16)),),
    }


def main(rows: int) -> None:
    runs, repeats = (15, 3) if rows <= CHUNK else (5, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        write(path, rows)
        question = Question(path)
        found: dict[str, Any] = {
            "rows": rows,
            "persons": question.ask(Persons())[0],
            "python": platform.python_version(),
            "duckdb": duckdb.__version__,
            "runs": runs,
            "sum": {},
            "requests": {},
        }
        for column in COLUMNS:
            found["sum"][column] = compared(question, column, runs)
            sizes = {how: memory(path, column, how) for how in ("plain", "tacit")}
            found["sum"][column] |= {f"{how} megabytes": size for how, size in sizes.items()}
            found["sum"][column]["memory ratio"] = sizes["tacit"] / sizes["plain"]
            print(column, {name: round(number, 3) for name, number in found["sum"][column].items()})
        plain = found["sum"]["amount"]["plain seconds"]
        for name, asked in requests(question).items():
            seconds = median(clocked(lambda asked=asked: question.ask(*asked))[0] for _ in range(repeats))  # type: ignore[misc]
            found["requests"][name] = {"seconds": seconds, "times the plain sum": seconds / plain}
            print(f"{name:30} {seconds:8.2f} s {seconds / plain:8.1f} times the plain sum")
    keep("engine", {**stored("engine"), f"{rows:,} rows": found})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--once"]:
        once(*sys.argv[2:5])
    else:
        for size in sys.argv[1:] or ("10000000",):
            main(int(size))
