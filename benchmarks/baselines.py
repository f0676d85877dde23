"""Published mechanisms for joins and graphs, made again from their formulas, where no package exists (ε = 1).

    python benchmarks/baselines.py [--quick] [--graph p2p-Gnutella31.txt]

All three work on the cap curve L(λ) and the down profile D_j of `tacit.flows`, on the same rows as `joins.py`:

- *race to the top*: for λ = 2, 4, …, GS release L(λ) + Lap(λ·log GS/ε) − λ·log GS·ln(log GS/α)/ε and take the largest,
  α = 0.1. It needs GS, the most a person can add: 2^14 is assumed, little more than the truth.
- *recursive*: Δ = e^{βi} for the first i with 2·s_i ≤ e^{βi}, s_i the largest total of a person without the i largest;
  Δ' = Δ·e^{μ + Lap(β/ε₁)}; release L(Δ') + Lap(Δ'/ε₂), with ε₁ = ε₂ = ε/2, β = ε/5, μ = 1/2.
- *shifted inverse (2022)*: the exponential mechanism on the shifted loss over 10^9 whole numbers, β = 0.1.

Noise is drawn in floating point; errors are the mean of the middle 60 % and the median. TPC-H comes from its generator.
Results go to benchmarks/results/baselines.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import environments
import numpy as np
import numpy.typing as npt
from record import write

from tacit.curves import DownProfile
from tacit.flows import CappedStatistic, Incidences, capped_sum
from tacit.grids import integers
from tacit.mechanisms import shifted_inverse

MOST = 2**14
EPSILON, ALPHA, MU, BETA = 1.0, 0.1, 0.5, 0.2
GRID = integers(0, 10**9 - 1)
PUBLISHED: dict[str, dict[str, int | None]] = {
    "Q12": {"shifted inverse (2022)": 323, "race to the top": 554, "recursive": 30},
    "Q18": {"shifted inverse (2022)": 172_295, "race to the top": 160_872, "recursive": 31_495},
    "Q5": {"shifted inverse (2022)": 1437, "race to the top": 3046, "recursive": 174},
    "edges": {"shifted inverse (2022)": 1592, "race to the top": 1655, "recursive": None},
}
QUERIES = {
    "Q12": "SELECT COUNT(*), l_orderkey FROM lineitem GROUP BY 2",
    "Q18": "SELECT SUM(l_quantity), o_custkey FROM orders JOIN lineitem ON o_orderkey = l_orderkey GROUP BY 2",
    "Q5": "SELECT 1, c_custkey, s_suppkey FROM customer, orders, lineitem, supplier WHERE c_custkey = o_custkey AND "
    "o_orderkey = l_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey",
}
"""Weights and persons."""
Draws = npt.NDArray[np.float64]
Mechanism = Callable[[CappedStatistic, npt.NDArray[np.int64], int, np.random.Generator], Draws]


def race_to_the_top(capped: CappedStatistic, _: Any, draws: int, rng: np.random.Generator) -> Draws:
    levels = int(np.log2(MOST))
    caps = [2**i for i in range(1, levels + 1)]
    values = np.array([capped.at(cap) for cap in caps], dtype=float)
    scale = np.array(caps, dtype=float) * levels / EPSILON
    noisy = values + rng.laplace(0, scale, (draws, levels)) - scale * np.log(levels / ALPHA)
    return np.asarray(np.maximum(noisy.max(axis=1), 0), dtype=float)


def recursive(capped: CappedStatistic, totals: npt.NDArray[np.int64], draws: int, rng: np.random.Generator) -> Draws:
    largest = np.sort(totals)[::-1].astype(float)
    steps = np.exp(np.minimum(BETA * np.arange(len(largest)), 700))
    delta = float(steps[int(np.argmax(2 * largest <= steps))])
    caps = np.maximum(1, np.rint(delta * np.exp(MU + rng.laplace(0, 2 * BETA / EPSILON, draws)))).astype(np.int64)
    found = {int(cap): capped.at(int(cap)) for cap in np.unique(caps)}
    return np.array([found[int(cap)] for cap in caps], dtype=float) + rng.laplace(0, 2 * caps / EPSILON)


def shifted(capped: CappedStatistic, _: Any, draws: int, __: np.random.Generator) -> Draws:
    profile = DownProfile([min(value, 10**9 - 1) for value in capped.profile(120)])
    law = shifted_inverse(profile, GRID, 1, method="exponential", beta="0.1")
    return np.array([float(y) for y in law.sample(draws)])


MECHANISMS: dict[str, Mechanism] = {
    "shifted inverse (2022)": shifted,
    "race to the top": race_to_the_top,
    "recursive": recursive,
}


def of_tpch(place: Path, query: str) -> tuple[npt.NDArray[np.int64], ...]:
    connection = duckdb.connect()
    for table in ("customer", "orders", "lineitem", "supplier"):
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{place / table}.parquet')")
    columns = connection.execute(query).fetchnumpy()
    return tuple(np.asarray(column, dtype=np.int64) for column in columns.values())


def measured(
    weights: npt.NDArray[np.int64], persons: Sequence[npt.NDArray[np.int64]], one_kind: bool, draws: int
) -> dict[str, dict[str, Any]]:
    """The error of each mechanism on rows that concern these persons."""
    kinds = None if one_kind else [str(i) for i in range(len(persons))]
    capped, truth = capped_sum(Incidences.from_columns(weights, persons, kinds)), int(weights.sum())
    size = 1 + max(int(column.max()) for column in persons)
    each = [np.bincount(column, weights=weights, minlength=size) for column in persons]
    totals = (np.sum(each, axis=0) if one_kind else np.concatenate(each)).astype(np.int64)
    report = {}
    for name, mechanism in MECHANISMS.items():
        error = np.sort(np.abs(mechanism(capped, totals, draws, np.random.default_rng(1)) - truth))
        fifth = draws // 5
        report[name] = {"error": float(error[fifth : draws - fifth].mean()), "median": float(np.median(error))}
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--graph", type=Path)
    given = parser.parse_args()
    draws = 200 if given.quick else 2000
    found: dict[str, Any] = {}
    if given.graph is None:
        print("edges: skipped, the graph was not given")
    else:
        edges = np.loadtxt(given.graph, dtype=np.int64, comments="#")
        found["edges"] = measured(np.ones(len(edges), dtype=np.int64), tuple(edges.T), True, draws)
    if not given.quick:
        for name, query in QUERIES.items():
            weights, *persons = of_tpch(environments.tpch(), query)
            found[name] = measured(weights, persons, False, draws)
    for name, report in found.items():
        for mechanism, errors in report.items():
            errors["published"] = PUBLISHED[name][mechanism]
            print(f"{name}, {mechanism}: {errors['error']:.0f}, published {errors['published']}")
    write("baselines", {"draws": draws, "rows": found})


if __name__ == "__main__":
    main()
