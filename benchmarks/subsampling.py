"""What a sample of the persons costs in accuracy: noise against p for several ε, and sampling error on top.

    python benchmarks/subsampling.py [--draws 40000]

The noise ratio is the standard deviation of a count's noise on a sample, divided by p, over that of the same count
without sampling at the same promise ε': once by `subsampling_plan`, once from exact draws. The error ratio adds what
sampling does to the count of n persons, √(n(1−p)/p). The free share is the smallest p whose noise ratio is at most 1.1.
Results go to benchmarks/results/subsampling.json, the picture to benchmarks/results/subsampling.svg.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from math import sqrt
from pathlib import Path
from statistics import pstdev
from typing import Any

from lines import Lines, plot
from record import folder, write

from tacit.guarantees import subsampling_plan
from tacit.mechanisms import laplace

EPSILONS = tuple(map(Fraction, ("0.001", "0.01", "0.1", "1", "4")))
SHARES = tuple(Fraction(round(10 ** (-3 + i / 8) * 10**6), 10**6) for i in range(25))
MEASURED = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
PERSONS = (10**4, 10**6)
FREE = 1.1


def measured(epsilon: Fraction, share: Fraction, draws: int) -> float:
    """The noise ratio of a count, in steps of a thousandth so that the noise is nearly continuous."""
    inside = subsampling_plan(epsilon, share).inside.epsilon
    alone, sampled = (pstdev(laplace(0, e, sensitivity=1000).sample(draws)) for e in (epsilon, inside))
    return sampled / float(share) / alone


def study(draws: int) -> list[dict[str, Any]]:
    rows = []
    for epsilon in EPSILONS:
        ratios = [(float(p), subsampling_plan(epsilon, p).noise_ratio) for p in SHARES]
        noise = sqrt(2) / float(epsilon)
        row: dict[str, Any] = {
            "epsilon": float(epsilon),
            "noise_ratio": ratios,
            "measured": [(float(p), measured(epsilon, p, draws)) for p in MEASURED],
            "free_share": min(p for p, ratio in ratios if ratio <= FREE),
            "error_ratio": {
                n: [(p, sqrt((ratio * noise) ** 2 + n * (1 - p) / p) / noise) for p, ratio in ratios] for n in PERSONS
            },
        }
        shown = ", ".join(
            f"p {p:g}: {ratio:.3f} ({subsampling_plan(epsilon, Fraction(str(p))).noise_ratio:.3f})"
            for p, ratio in row["measured"]
        )
        print(f"ε {float(epsilon):<6g} measured (theory) {shown}; free from p = {row['free_share']:.3g}", flush=True)
        rows.append(row)
    return rows


def picture(rows: list[dict[str, Any]], path: Path) -> None:
    panels: dict[str, Lines] = {"noise": {f"ε = {row['epsilon']:g}": row["noise_ratio"] for row in rows}}
    for n in PERSONS:
        panels[f"noise and sampling, {n:,} persons"] = {
            f"ε = {row['epsilon']:g}": row["error_ratio"][n] for row in rows
        }
    plot(path, panels, "p", "ratio to no sampling")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=40000)
    draws = parser.parse_args().draws
    rows = study(draws)
    write("subsampling", {"draws": draws, "rows": rows})
    picture(rows, folder() / "subsampling.svg")


if __name__ == "__main__":
    main()
