"""Graph patterns and joins at the scale of the papers: time, memory and error of whole questions, ε = 0.8.

For every question: seconds of the wall clock and of the processor as medians of some runs, the plain count's in the
same run, the process's largest memory, and the mean error of the middle 60 % of draws beside that of the best cap that
knows the data, which is given the noise of Laplace at that cap. A hub is a graph of 23,000 edges of which one node has
4,840; the hostile packings are 20,000 rows of three persons with as many ties as can be. Where the machine is shared
the processor's time is the one to read.

    python benchmarks/patterns.py --graph p2p-Gnutella31.txt --graphs hu.csv ro.csv --tpch DIR

Files that are not given are left out, and said so.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import exp
from pathlib import Path
from statistics import mean, median
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from flows import Table, counted
from record import read, write

from tacit import Private, Public, Pure, Session
from tacit.answers.flows import DOUBLED, WEIGHED, FlowDesign
from tacit.flows import CappedStatistic, capped_degree, capped_distinct, capped_frequency, capped_sum
from tacit.mechanisms.totals.capped_flow import capped_flow, octaves
from tacit.tables.statistics.ways import shared_rows

EPSILON = Fraction(4, 5)
PATTERNS = {
    "edges": "SELECT COUNT(*) FROM arc WHERE src < dst",
    "triangles": "SELECT COUNT(*) FROM arc a JOIN arc b ON a.dst = b.src JOIN arc c ON b.dst = c.src AND c.dst = a.src "
    "WHERE a.src < a.dst AND a.dst < b.dst",
    "two-paths": "SELECT COUNT(*) FROM arc a JOIN arc b ON a.dst = b.src WHERE a.src < b.dst",
    "rectangles": "SELECT COUNT(*) FROM arc a JOIN arc b ON a.dst = b.src JOIN arc c ON b.dst = c.src JOIN arc d "
    "ON c.dst = d.src AND d.dst = a.src WHERE a.src < b.src AND a.src < b.dst AND a.src < c.dst AND b.src < c.dst",
}
SALES = "s_suppkey = l_suppkey AND o_orderkey = l_orderkey"
Question = tuple[Callable[[], Session], str]


def arcs(edges: Table) -> pa.Table:
    """Each edge in both directions."""
    both = np.concatenate([edges, edges[:, ::-1]])
    return pa.table({"src": pa.array(both[:, 0]), "dst": pa.array(both[:, 1])})


def loaded(*paths: Path) -> Table:
    """The edges of some files, node numbers apart, each edge once."""
    found: list[Table] = []
    for path in paths:
        comma = path.suffix == ".csv"
        edges = np.loadtxt(path, dtype=np.int64, delimiter="," if comma else None, skiprows=int(comma))
        found.append(np.sort(edges, axis=1) + (found[-1].max() + 1 if found else 0))
    return np.unique(np.concatenate(found), axis=0)


def of_graph(edges: Table, names: list[str]) -> dict[str, Question]:
    """Patterns of a graph under node privacy."""
    table = arcs(edges)

    def session() -> Session:
        return Session({"arc": Private(table, person=["src", "dst"])}, Pure(10**9))

    return {name: (session, PATTERNS[name]) for name in names}


def of_tpch(folder: Path) -> dict[str, Question]:
    """Joins of race to the top: customers, or orders, with suppliers private."""

    def file(name: str) -> Path:
        return folder / f"{name}.parquet"

    def customers() -> Session:
        tables: dict[str, Private | Public] = {
            "customer": Private(file("customer"), person="customer:c_custkey", key="c_custkey"),
            "orders": Private(file("orders"), person="customer:o_custkey"),
            "supplier": Private(file("supplier"), person="supplier:s_suppkey", key="s_suppkey"),
            "lineitem": Private(
                file("lineitem"), person="supplier:l_suppkey", through={"l_orderkey": "orders.o_orderkey"}
            ),
            "part": Public(file("part"), key="p_partkey"),
        }
        return Session(tables, Pure(10**9))

    def orders() -> Session:
        tables: dict[str, Private | Public] = {
            "supplier": Private(file("supplier"), person="supplier:s_suppkey", key="s_suppkey"),
            "orders": Private(file("orders"), person="order:o_orderkey", key="o_orderkey"),
            "lineitem": Private(file("lineitem"), person=["supplier:l_suppkey", "order:l_orderkey"]),
        }
        return Session(tables, Pure(10**9))

    return {
        "Q8": (
            customers,
            f"SELECT COUNT(*) FROM part, supplier, lineitem, orders, customer WHERE p_partkey = l_partkey AND {SALES} "
            "AND o_custkey = c_custkey AND o_orderdate >= '1995-01-01' AND o_orderdate <= '1996-12-31'",
        ),
        "Q21": (
            orders,
            f"SELECT COUNT(*) FROM supplier, lineitem, orders WHERE {SALES} AND o_orderstatus = 'F' "
            "AND l_receiptdate > l_commitdate",
        ),
        "Q7": (
            customers,
            "SELECT SUM(l_extendedprice * (1 - l_discount)) FROM supplier, lineitem, orders, customer "
            f"WHERE {SALES} AND c_custkey = o_custkey AND l_shipdate >= '1995-01-01' AND l_shipdate <= '1996-12-31'",
        ),
    }


def best(curve: CappedStatistic, epsilon: float) -> float:
    """The mean error of Laplace noise at the best cap of a list."""

    def error(cap: int) -> float:
        bias, scale = curve.total - float(curve.bounds(cap)[1]), cap / epsilon
        return bias + scale * exp(-bias / scale)

    found, rising = float("inf"), 0
    for cap in reversed(octaves(2 * max(1, curve.total))):
        if rising > 3:  # smaller caps lose ever more
            break
        here = error(cap)
        rising = 0 if here < found else rising + 1
        found = min(found, here)
    return found


def middle(errors: list[float]) -> float:
    """The mean of the middle 60 %."""
    fifth = len(errors) // 5
    return mean(sorted(errors)[fifth : len(errors) - fifth])


def asked(question: Question, runs: int, draws: int) -> dict[str, Any]:
    """A whole question, some times, beside the plain one."""
    make, query = question
    kept: list[CappedStatistic] = []
    designs: list[FlowDesign] = []
    release = shared_rows.flow_release

    def remembering(room: Any, capped: CappedStatistic, *rest: Any) -> Any:
        kept.append(capped)
        designs[:] = [one for one in rest if isinstance(one, FlowDesign)] or [WEIGHED]
        return release(room, capped, *rest)

    shared_rows.flow_release = remembering  # type: ignore[assignment]
    session, times = make(), list[tuple[float, float]]()
    for _ in range(runs):
        kept.clear()
        begin = time.perf_counter(), time.process_time()
        session.sql(query, epsilon=EPSILON, fresh=True)
        times.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
    shared_rows.flow_release = release
    found: dict[str, Any] = {"seconds": median(t[0] for t in times), "processor": median(t[1] for t in times)}
    found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    found |= plain(session, query, runs)
    if len(kept) == 1:  # a sum has two, one for each sign
        found |= erring(kept[0], draws, designs[0])
    return found


def plain(session: Session, query: str, runs: int) -> dict[str, float]:
    """The same query without privacy."""
    connection = duckdb.connect()
    for name, declared in session._tables.declared.items():
        data = declared.source.data
        if isinstance(data, Path):
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM '{data}'")
        else:
            connection.register(name, data)
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        connection.execute(query).fetchall()
        times.append(time.perf_counter() - begin)
    return {"plain_seconds": median(times)}


def erring(curve: CappedStatistic, draws: int, design: FlowDesign) -> dict[str, float]:
    """The error of draws beside that of the best cap."""
    law = capped_flow(curve, EPSILON, levels=shared_rows.COUNTS, design=design)
    error = middle([abs(draw.value - curve.total) for draw in law.sample(draws)])
    known = best(curve, float(EPSILON))
    return {"truth": curve.total, "error": error, "best": known, "ratio": error / known}


def hub(seed: int = 1, nodes: int = 10_000) -> Table:
    """A random graph in which one node has far more edges than all others."""
    rng = np.random.default_rng(seed)
    spokes = np.stack([np.zeros(4840, dtype=np.int64), rng.permutation(nodes - 1)[:4840] + 1], 1)
    rest = rng.integers(1, nodes, (18_600, 2))
    rest = np.unique(np.sort(rest[rest[:, 0] != rest[:, 1]], axis=1), axis=0)
    return np.concatenate([spokes, rng.permutation(rest)[: 23_000 - 4840]])


def hostile(persons: int, values: int, frequent: bool = False, seed: int = 3) -> CappedStatistic:
    """20,000 rows of three persons each, drawn alike."""
    rng = np.random.default_rng(seed)
    rows = counted(*(rng.integers(0, persons, 20_000) for _ in range(3)))
    listed = rng.integers(0, values, 20_000)
    return capped_frequency(rows, listed) if frequent else capped_distinct(rows, listed)


def made_up(draws: int) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """What needs no file."""
    yield "a hub: edges", lambda: drawn(lambda: capped_sum(counted(*hub().T)), draws, DOUBLED)
    yield "a hub: maximum degree", lambda: drawn(lambda: capped_degree(counted(*hub().T)), draws)
    for persons, values in ((300, 10_000), (2000, 5000), (100, 15_000), (5000, 20_000)):
        name = f"hostile packing: distinct among {values:,} values of {persons:,} persons"
        yield name, lambda p=persons, v=values: drawn(lambda: hostile(p, v), 0)  # type: ignore[misc]
    yield (
        "hostile packing: most frequent of 200 values of 300 persons",
        lambda: drawn(lambda: hostile(300, 200, True), 0),
    )


def drawn(make: Callable[[], CappedStatistic], draws: int, design: FlowDesign = WEIGHED) -> dict[str, Any]:
    """The time of one draw from rows that are there, and the error of many."""
    curve = make()
    begin = time.perf_counter(), time.process_time()
    capped_flow(curve, EPSILON, levels=shared_rows.COUNTS, design=design).sample()
    found = {"seconds": time.perf_counter() - begin[0], "processor": time.process_time() - begin[1]}
    return found | (erring(curve, draws, design) if draws else {})


def apart(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What some work finds in a process of its own."""
    receive, send = multiprocessing.get_context("fork").Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=lambda: send.send(work()))
    process.start()
    found: dict[str, Any] = receive.recv()
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", type=Path)
    parser.add_argument("--graphs", type=Path, nargs="*", default=[])
    parser.add_argument("--tpch", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--only", default="", help="rows whose name holds this; the others stay as stored")
    given = parser.parse_args()
    works: dict[str, Callable[[], dict[str, Any]]] = dict(made_up(given.draws))
    questions: dict[str, Question] = {}
    if given.graph:
        named = of_graph(loaded(given.graph), list(PATTERNS))
        questions |= {f"Gnutella: {name}": question for name, question in named.items()}
    if given.graphs:
        named = of_graph(loaded(*given.graphs), ["edges", "triangles", "two-paths"])
        questions |= {f"two Deezer graphs: {name}": question for name, question in named.items()}
    if given.tpch:
        questions |= of_tpch(given.tpch)
    works |= {name: lambda q=q: asked(q, given.runs, given.draws) for name, q in questions.items()}  # type: ignore[misc]
    for file in ("graph", "graphs", "tpch"):
        if not getattr(given, file):
            print(f"skipped: what needs --{file}")
    found = {key: what for key, what in read("patterns").items() if key != "facts"}
    for name, work in works.items():
        if given.only in name:
            found[name] = apart(work)
            print(name, found[name], flush=True)
            write("patterns", {"epsilon": float(EPSILON), "runs": given.runs, **found})


if __name__ == "__main__":
    main()
