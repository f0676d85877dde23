"""Joins, graphs, maxima and distinct counts against published results (ε = 1, mean of the middle 60 % of the runs).

TPC-H at scale 1 comes from `tpchgen-cli parquet -s 1 --output-dir=DIR`; the graph is the SNAP file
p2p-Gnutella31.txt, each line an undirected edge, with its published profile beside it. What is not given is skipped,
and said so.

    python benchmarks/joins.py --tpch DIR --graph p2p-Gnutella31.txt --profile gnutella_edge_profile.txt
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import pyarrow as pa

import tacit
from tacit import Private, Public, Pure, Session
from tacit.engines.requests import Incidence, RowCount
from tacit.flows.sums import capped_sum
from tacit.tables.privacy_clause import Priced
from tacit.tables.sql import plan
from tacit.tables.statistics.joint import rows_of

RESULTS = Path(__file__).parent / "results" / "joins.json"

# The best published error of each row: shifted inverse (2022), race-to-the-top, recursive mechanism, automatic bounds.
PUBLISHED = {"Q12": 17, "Q18": 6174, "Q5": 174, "edges": 1592, "Q9 max": 40, "distinct": 530}


def tpch(directory: Path) -> dict[str, tuple[Session, str]]:
    """The published queries over TPC-H, each with the session that knows its persons."""

    def file(name: str) -> Path:
        return directory / f"{name}.parquet"

    kinds: dict[str, Private | Public] = {
        "customer": Private(file("customer"), person="customer:c_custkey"),
        "orders": Private(file("orders"), person="customer:o_custkey"),
        "supplier": Private(file("supplier"), person="supplier:s_suppkey"),
        "lineitem": Private(file("lineitem"), person="supplier:l_suppkey", through={"l_orderkey": "orders.o_orderkey"}),
    }
    sales: dict[str, Private | Public] = {
        "orders": Private(file("orders"), person="o_custkey"),
        "lineitem": Private(file("lineitem"), through={"l_orderkey": "orders.o_orderkey"}),
    }
    parts: dict[str, Private | Public] = {
        "lineitem": Private(file("lineitem"), person="l_suppkey"),
        "partsupp": Public(file("partsupp")),
    }
    stock: dict[str, Private | Public] = {
        "supplier": Private(file("supplier"), person="s_suppkey"),
        "partsupp": Private(file("partsupp"), person="ps_suppkey"),
    }
    lines: dict[str, Private | Public] = {"lineitem": Private(file("lineitem"), person="l_orderkey")}
    budget = Pure(10**6)
    return {
        "Q12": (Session(lines, budget), "SELECT COUNT(*) FROM lineitem"),
        "Q18": (
            Session(sales, budget),
            "SELECT SUM(l_quantity) FROM orders JOIN lineitem ON o_orderkey = l_orderkey",
        ),
        "Q5": (
            Session(kinds, budget),
            "SELECT COUNT(*) FROM customer, orders, lineitem, supplier WHERE c_custkey = o_custkey AND "
            "o_orderkey = l_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey",
        ),
        "Q9 max": (
            Session(parts, budget),
            "SELECT MAX((l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity) / 1000) FROM partsupp, "
            "lineitem WHERE ps_suppkey = l_suppkey AND ps_partkey = l_partkey",
        ),
        "distinct": (
            Session(stock, budget),
            "SELECT COUNT(DISTINCT ps_availqty) FROM supplier, partsupp WHERE s_suppkey = ps_suppkey AND "
            "s_nationkey >= 24",
        ),
    }


def graph(path: Path) -> tuple[Session, str]:
    """The graph under node privacy."""
    edges = np.loadtxt(path, dtype=np.int64, comments="#")
    table = pa.table({"src": pa.array(edges[:, 0]), "dst": pa.array(edges[:, 1])})
    return Session({"edge": Private(table, person=["src", "dst"])}, Pure(10**6)), "SELECT COUNT(*) FROM edge"


def profile(session: Session, query: str, removals: int) -> tuple[list[int], float]:
    """The down profile of a count or sum, and the seconds it took with its join."""
    relation = plan(session, Priced(query, Pure(1))).relation
    (statistic,) = plan(session, Priced(query, Pure(1))).statistics
    start = time.perf_counter()
    with session._engine.snapshot() as snapshot:
        touches = snapshot.touches(relation, Incidence(getattr(statistic, "total", RowCount())))
    values = capped_sum(rows_of(touches)).profile(removals)
    return list(values), time.perf_counter() - start


def errors(session: Session, query: str, truth: float, runs: int, error: Callable[[Any], float]) -> dict[str, Any]:
    """The error over fresh runs: mean of the middle 60 %, median, 95th percentile, and seconds a run."""
    found, seconds = [], []
    for _ in range(runs):
        start = time.perf_counter()
        answer = session.sql(query, epsilon=1, fresh=True)
        seconds.append(time.perf_counter() - start)
        found.append(error(answer))
    found.sort()
    fifth = runs // 5
    return {
        "truth": truth,
        "error": mean(found[fifth : runs - fifth]),
        "median": median(found),
        "p95": found[min(runs - 1, int(0.95 * runs))],
        "seconds": median(seconds),
    }


def truth_of(session: Session, query: str) -> Any:
    """The exact answer, by the plain engine."""
    import duckdb

    connection = duckdb.connect()
    for name in session.tables:
        data = session.declared(name).source.data
        if isinstance(data, Path):
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{data}')")
        else:
            connection.register(name, data)
    (found,) = connection.execute(query).fetchone() or (None,)
    return connection, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tpch", type=Path)
    parser.add_argument("--graph", type=Path)
    parser.add_argument("--profile", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    cases = tpch(options.tpch) if options.tpch else {}
    if options.graph:
        cases["edges"] = graph(options.graph)
    for name in PUBLISHED.keys() - cases.keys():
        print(f"{name}: skipped, its data was not given")
    results: dict[str, Any] = {"tacit": tacit.__version__, "machine": platform.platform(), "runs": options.runs}
    for name, (session, query) in cases.items():
        connection, truth = truth_of(session, query)

        def error(answer: Any, truth: Any = truth, name: str = name, connection: Any = connection) -> float:
            if name != "Q9 max":
                return abs(float(answer.value) - float(truth))
            source, where = cases["Q9 max"][1].removeprefix("SELECT MAX(").split(") FROM ", 1)
            sql = f"SELECT COUNT(*) FROM {where} AND {source} > {answer.value}"
            (above,) = connection.execute(sql).fetchone()
            return float(above)

        found = errors(session, query, float(truth), options.runs, error)
        found["published"] = PUBLISHED[name]
        if name in ("Q12", "Q18", "Q5", "edges"):
            values, seconds = profile(session, query, 64)
            found |= {"profile": values[:4], "profile_seconds": seconds}
            if name == "edges" and options.profile:
                published = [int(float(line)) for line in options.profile.read_text().split()]
                found["profile_equals_published"] = values[: len(published)] == published
        results[name] = found
        print(name, json.dumps(found))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
