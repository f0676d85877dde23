"""Cap curves and down profiles of rows that touch several persons: time, memory, and the published profile.

For every case: seconds to make data and rows, to compute the profile D̃_0 … D̃_64 and L at caps a factor of two
apart, and the largest memory of a process that does only this. Made-up data are drawn with fixed seeds; the graph is
the SNAP file p2p-Gnutella31.txt, each line an undirected edge, with its published profile beside it. Without them
their cases are skipped, and said so.

    python benchmarks/flows.py --graph p2p-Gnutella31.txt --profile gnutella_edge_profile.txt
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from record import write

from tacit.flows import CappedStatistic, Incidences, capped_degree, capped_distinct, capped_frequency, capped_sum

REMOVALS = 64
Table = npt.NDArray[np.int64]
Case = tuple[Incidences, Callable[[Incidences], CappedStatistic]]


def counted(*columns: Table, kinds: list[str] | None = None) -> Incidences:
    """Rows of weight 1."""
    return Incidences.from_columns(np.ones(columns[0].size, dtype=np.int64), columns, kinds)


def neighbour_lists(edges: Table) -> list[Table]:
    """For each node its neighbours, ascending."""
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    starts = np.searchsorted(both[:, 0], np.arange(int(edges.max()) + 2))
    return [both[a:b, 1] for a, b in pairwise(starts)]


def triangles(edges: Table) -> Table:
    """Every triangle of a graph once."""
    near = neighbour_lists(edges)
    found = [
        (int(u), int(v), int(w))
        for u, v in np.sort(edges, axis=1)
        for w in np.intersect1d(near[u][near[u] > v], near[v], assume_unique=True)
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def two_paths(edges: Table) -> Table:
    """Every path of two edges once: its middle, and its ends."""
    parts = []
    for middle, near in enumerate(neighbour_lists(edges)):
        first, second = np.triu_indices(near.size, 1)
        parts.append(np.column_stack([np.full(first.size, middle), near[first], near[second]]))
    return np.concatenate(parts)


def power_law(edges: int, nodes: int, seed: int = 1) -> Table:
    """A random graph whose degrees follow a power law."""
    rng = np.random.default_rng(seed)
    weight = np.arange(1, nodes + 1) ** -0.7
    ends = rng.choice(nodes, (edges + edges // 10, 2), p=weight / weight.sum())
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return rng.permutation(ends)[:edges]


def sales(rows: int = 240_000, seed: int = 2) -> tuple[Table, Table, Table]:
    """Customers, suppliers and amounts in cents: as many rows as a published join has."""
    rng = np.random.default_rng(seed)
    amount = np.rint(100 * rng.lognormal(7, 1, rows)).astype(np.int64)
    return rng.integers(0, 100_000, rows), rng.integers(0, 10_000, rows), amount


def choices(rows: int = 1_000_000, persons: int = 100_000, seed: int = 3) -> tuple[Table, Table]:
    """Persons and what they chose among a thousand values, some far more often than others."""
    rng = np.random.default_rng(seed)
    weight = np.arange(1, 1001) ** -0.8
    return rng.integers(0, persons, rows), rng.choice(1000, rows, p=weight / weight.sum())


def made_up() -> dict[str, Callable[[], Case]]:
    """Cases that need no file."""

    def join_sum() -> Case:
        customer, supplier, amount = sales()
        return Incidences.from_columns(amount, [customer, supplier], ["customer", "supplier"]), capped_sum

    def distinct() -> Case:
        person, value = choices()
        return counted(person), lambda rows: capped_distinct(rows, value)

    def frequency() -> Case:
        person, value = choices()
        return counted(person), lambda rows: capped_frequency(rows, value)

    return {
        "1.2 million edges with power-law degrees": lambda: (counted(*power_law(1_200_000, 400_000).T), capped_sum),
        "count of 240,000 rows of customers and suppliers": lambda: (
            counted(*sales()[:2], kinds=["customer", "supplier"]),
            capped_sum,
        ),
        "sum in cents of the same": join_sum,
        "distinct among a thousand values, a million rows": distinct,
        "most frequent of a thousand values, a million rows": frequency,
    }


def of_graph(path: Path) -> dict[str, Callable[[], Case]]:
    """Cases over the given graph."""
    edges = np.loadtxt(path, dtype=np.int64)
    return {
        "edges of the graph": lambda: (counted(*edges.T), capped_sum),
        "triangles of the graph": lambda: (counted(*triangles(edges).T), capped_sum),
        "two-paths of the graph": lambda: (counted(*two_paths(edges).T), capped_sum),
        "largest degree of the graph": lambda: (counted(*edges.T), capped_degree),
    }


def timed(case: Callable[[], Case], send: Any) -> None:
    """Run one case in this process and send what it took."""
    begin = time.perf_counter()
    rows, make = case()
    made = time.perf_counter()
    profile = make(rows).profile(REMOVALS)
    profiled = time.perf_counter()
    statistic = make(rows)
    caps = [2**k for k in range(60) if 2**k <= 2 * statistic.total]
    values: list[int] = []
    for cap in reversed(caps):  # the smallest caps of triples are large programs that no mechanism asks for
        values.append(statistic.at(cap))
        if values[-1] < profile[-1]:
            break
    send.send(
        {
            "rows_seconds": made - begin,
            "profile_seconds": profiled - made,
            "caps_seconds": time.perf_counter() - profiled,
            "caps": len(values),
            "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "profile": list(profile),
        }
    )


def run(case: Callable[[], Case]) -> dict[str, Any]:
    """One case in a process of its own."""
    receive, send = multiprocessing.get_context("fork").Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=timed, args=(case, send))
    process.start()
    result: dict[str, Any] = receive.recv()
    process.join()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Time cap curves and profiles of rows that touch several persons.")
    parser.add_argument("--graph", type=Path, help="p2p-Gnutella31.txt")
    parser.add_argument("--profile", type=Path, help="its published profile")
    given = parser.parse_args()
    results: dict[str, Any] = {"removals": REMOVALS}
    cases = made_up()
    if given.graph is None:
        print("skipped: the graph and its triangles, two-paths and degrees (give --graph)")
    else:
        cases |= of_graph(given.graph)
    for name, case in cases.items():
        results[name] = run(case)
        took = {key: round(value, 3) for key, value in results[name].items() if key != "profile"}
        print(f"{name}: {took}, profile from {results[name]['profile'][:4]}")
    if given.graph is None or given.profile is None:
        print("skipped: the comparison with the published profile (give --graph and --profile)")
    else:
        published = [int(float(line)) for line in given.profile.read_text().split()]
        same = published == results["edges of the graph"]["profile"][: len(published)]
        results["edges of the graph"]["equals_published"] = same
        print(f"the {len(published)} published values are {'equal' if same else 'NOT equal'}")
    write("flows", results)


if __name__ == "__main__":
    main()
