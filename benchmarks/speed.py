"""Time and memory of one whole query, a sum for each person's protection, beside the plain engine and other libraries.

    python benchmarks/speed.py [--quick] [--rows 1000000 10000000 100000000]

The table is that of evidence A, one person for fifty rows. Every query runs in a process of its own, from the Parquet
file to the answer, after imports; all of them in turn, several rounds, so that a busy machine disturbs all alike. A
ratio is the median over rounds of the seconds divided by those of the plain query in the same round:
``SELECT SUM(s) FROM (SELECT person, SUM(amount) s FROM t GROUP BY 1)`` in DuckDB without privacy. OpenDP aggregates
in Polars itself; diffprivlib, python-dp and PipelineDP are given each person's total by DuckDB; PipelineDP then walks
Python objects and is run up to ten million rows. Bounds are sensible guesses where they are needed (50,000), python-dp
finds its own. Results go to benchmarks/results/speed.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import environments
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from record import read, write

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from talk import timed

SIZES = {1_000_000: 5, 10_000_000: 3, 100_000_000: 1}
"""Rows, and rounds."""
QUICK = {1_000_000: 1}
CHUNK = 10_000_000
BOUND = 50_000
SLOW = {"pipeline_dp": 10_000_000}
"""The most rows a library is asked for."""


def table(path: Path, rows: int) -> int:
    """Write the table of evidence A, and say its sum."""
    draw, total, writer = np.random.default_rng(7), 0, None
    persons = max(1, rows // 50)
    ends = np.cumsum(draw.lognormal(0, 1, persons))
    weight = (1 - draw.random(persons)) ** -0.5
    for start in range(0, rows, CHUNK):
        n = min(CHUNK, rows - start)
        person = np.searchsorted(ends, draw.random(n) * ends[-1], side="right")
        amount = np.rint(np.exp(draw.normal(3, 1, n)) * weight[person]).astype(np.int64)
        total += int(amount.sum())
        columns: Any = {"person": person, "amount": amount}
        part = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part, row_group_size=1_000_000)
    assert writer is not None
    writer.close()
    return total


def plain(path: str) -> Any:
    import duckdb

    inner = f"SELECT person, SUM(amount) s FROM read_parquet('{path}') GROUP BY 1"
    return duckdb.connect().execute(f"SELECT SUM(s) FROM ({inner})").fetchall()[0][0]


def tacit(path: str) -> Any:
    import tacit

    return tacit.read(path, person="person", budget=tacit.Pure(1)).sum("amount", epsilon=1).value


OWN = {"plain": plain, "tacit": tacit}


def once(method: str, path: str) -> None:
    """In a process of its own: imports, then the query under the clock."""
    import duckdb  # noqa: F401
    import sqlglot  # noqa: F401

    import tacit.tables.statistics.ways.totals  # noqa: F401

    print(json.dumps(timed(lambda: OWN[method](path)), default=float))


def run(method: str, path: Path) -> dict[str, Any]:
    if method not in OWN:
        return dict(environments.speak(method, {"parquet": str(path), "bound": BOUND}))
    command = [sys.executable, __file__, "--once", method, str(path)]
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def measured(rows: int, rounds: int, peers: list[str]) -> dict[str, Any]:
    """Every method on a table of so many rows."""
    found: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "t.parquet"
        truth = table(path, rows)
        for _ in range(rounds):
            for method in (*OWN, *(peer for peer in peers if rows <= SLOW.get(peer, rows))):
                found.setdefault(method, []).append(run(method, path))
    report = {}
    for method, runs in found.items():
        seconds = [one["seconds"] for one in runs]
        ratios = [one["seconds"] / base["seconds"] for one, base in zip(runs, found["plain"], strict=True)]
        report[method] = {
            "seconds": median(seconds),
            "times the plain query": median(ratios),
            "largest ratio": max(ratios),
            "megabytes": median(one["megabytes"] for one in runs),
            "relative error": median(abs(float(one["answer"]) - truth) / truth for one in runs),
        }
        shown = ", ".join(f"{name} {value:.3g}" for name, value in report[method].items())
        print(f"{rows:,} rows, {method}: {shown}", flush=True)
    return {"rounds": rounds, "methods": report}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, nargs="*")
    parser.add_argument("--once", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        once(*given.once)
        return
    peers = environments.known()
    sizes = QUICK if given.quick else {rows: SIZES.get(rows, 3) for rows in given.rows or SIZES}
    there = [name for name, what in peers.items() if isinstance(what, dict)]
    found = read("speed").get("sizes", {})
    for rows, rounds in sizes.items():
        found[f"{rows:,} rows"] = measured(rows, rounds, there)
        write("speed", {"peers": peers, "bound": BOUND, "sizes": found})


if __name__ == "__main__":
    main()
