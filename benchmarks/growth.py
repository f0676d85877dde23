"""How cost grows: processor seconds against rows, persons, removals, the grid's size, groups and edges.

    python benchmarks/growth.py [--quick]

One size is varied, the others stay. Each point is the least of three runs; the slope is fitted to the logarithms by
least squares: 1 is proportional growth, 0 none. It is fitted to the upper half of the points, where fixed costs matter
least. Results go to benchmarks/results/growth.json, the picture to benchmarks/results/growth.svg.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
from flows import counted, power_law
from lines import plot
from record import folder, write

import tacit
from tacit import Pure
from tacit.curves import DownProfile
from tacit.flows import capped_sum
from tacit.grids import integers
from tacit.mechanisms import shifted_inverse

REPEATS = 3
WIDE = integers(0, 2**64 - 1)
Work = Callable[[], object]
Points = list[tuple[float, float]]


def table(rows: int, persons: int, groups: int = 1) -> tacit.Table:
    """Amounts of persons, in memory."""
    draw = np.random.default_rng(1)
    columns: Any = {
        "person": draw.integers(0, persons, rows),
        "amount": np.rint(np.exp(draw.normal(3, 1, rows))).astype(np.int64),
        "grp": draw.integers(0, groups, rows),
    }
    return tacit.read(pa.table(columns), person="person", budget=Pure(10**6))


def sums(rows: int, persons: int) -> Work:
    data = table(rows, persons)
    return lambda: data.sum("amount", epsilon=1, fresh=True)


def medians(rows: int) -> Work:
    data = table(rows, rows // 20)
    return lambda: data.median("amount", epsilon=1, fresh=True)


def grouped(groups: int, rows: int) -> Work:
    data = table(rows, rows // 20, groups).group_by("grp", keys=range(groups))
    return lambda: data.sum("amount", epsilon=1, fresh=True)


def searched(method: str, removals: int, bits: int = 64) -> Work:
    top = 2 ** (bits - 1)
    profile = DownProfile([top - j * top // (removals + 1) for j in range(removals)])
    grid = WIDE if bits == 64 else integers(0, 2**bits - 1)
    return lambda: shifted_inverse(profile, grid, 1, method=method).sample()


def profiled(edges: int) -> Work:
    rows = counted(*power_law(edges, max(10, edges // 3)).T)
    return lambda: capped_sum(rows).profile(64)


def seconds(work: Work) -> float:
    """Processor time, the least of some runs after a first."""
    work()
    times = []
    for _ in range(REPEATS):
        begun = process_time()
        work()
        times.append(process_time() - begun)
    return min(times)


def slope(points: Points) -> float:
    """Of the logarithms of the upper half of the points."""
    x, y = np.log(np.array(points[-max(2, (len(points) + 1) // 2) :])).T
    return float(np.polyfit(x, y, 1)[0])


def studies(quick: bool) -> dict[str, tuple[Iterable[int], Callable[[int], Work]]]:
    """What is varied, over which sizes."""
    largest = 2**20 if quick else 2**23

    def up_to(most: int, least: int, factor: int = 4) -> list[int]:
        return [size for k in range(40) if least <= (size := most // factor**k)][::-1]

    return {
        "sum, over rows (20,000 persons)": (up_to(largest, 2**15), lambda n: sums(n, 20_000)),
        "sum, over persons (2^20 rows)": (up_to(2**19, 2**9), lambda n: sums(2**20, n)),
        "median, over rows (20 for each person)": (up_to(largest, 2**15), medians),
        "sum by group, over groups (2^18 rows)": (up_to(1024 // (4 if quick else 1), 2), lambda n: grouped(n, 2**18)),
        "scan, over removals K (2^64 values)": (up_to(4096, 16), lambda n: searched("scan", n)),
        "exponential, over removals K (2^64 values)": (up_to(4096, 16), lambda n: searched("exponential", n)),
        "scan, over the logarithm of the grid's size": ((8, 16, 32, 64), lambda n: searched("scan", 100, n)),
        "exponential, over the logarithm of the grid's size": (
            (8, 16, 32, 64),
            lambda n: searched("exponential", 100, n),
        ),
        "profile of a graph, over edges (64 removals)": (up_to(largest // 8, 2**12), profiled),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    found: dict[str, Any] = {}
    for name, (sizes, make) in studies(parser.parse_args().quick).items():
        points = [(float(size), seconds(make(size))) for size in sizes]
        found[name] = {"slope": slope(points), "points": points}
        print(f"{name}: slope {found[name]['slope']:.2f}, {points[0][1]:.4f} to {points[-1][1]:.4f} s", flush=True)
    write("growth", {"unit": "seconds of processor time", "studies": found})
    plot(folder() / "growth.svg", {name: {"time": one["points"]} for name, one in found.items()}, "size", "seconds")


if __name__ == "__main__":
    main()
