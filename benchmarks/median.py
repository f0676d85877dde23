"""Who wins at a median: inverse sensitivity, smooth sensitivity, propose-test-release and clipping, over n and ε.

    python benchmarks/median.py [--draws 60]

Data: incomes, lognormal(3.5, 0.6), and heights, normal(170, 8), both in a public range of [0, 1000] with two decimals;
a new sample of n persons for every five draws. Errors are exact draws of the laws. A refusal of propose-test-release
counts as the middle of the range, 500. Results go to benchmarks/results/median.json, the picture to
benchmarks/results/median.svg.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any

from lines import Lines, plot
from record import folder, write

from tacit.grids import multiples
from tacit.mechanisms import (
    Quantile,
    inverse_sensitivity,
    laplace,
    median_loss,
    propose_test_release,
    smooth_sensitivity,
)

LOW, HIGH, STEP = 0, 1000, Fraction(1, 100)
DELTA = Fraction(1, 10**6)
SIZES = (10, 30, 100, 300, 1000, 3000, 10000)
EPSILONS = (Fraction(1, 10), Fraction(1))
AGAIN = 5
GRID, STATISTIC = multiples(STEP, LOW, HIGH), Quantile(LOW, HIGH)
Draw = Callable[[list[Fraction], Fraction, int], list[Fraction]]


def incomes(random: Random) -> float:
    return random.lognormvariate(3.5, 0.6)


def heights(random: Random) -> float:
    return random.gauss(170, 8)


def inverse(method: str) -> Draw:
    def draw(values: list[Fraction], epsilon: Fraction, draws: int) -> list[Fraction]:
        law = inverse_sensitivity(median_loss(values, GRID), epsilon=epsilon, method=method)
        return [Fraction(y) for y in law.sample(draws)]

    return draw


def smooth(values: list[Fraction], epsilon: Fraction, draws: int) -> list[Fraction]:
    return smooth_sensitivity(STATISTIC, values, epsilon, lattice=STEP).sample(draws)


def smooth_laplace(values: list[Fraction], epsilon: Fraction, draws: int) -> list[Fraction]:
    return smooth_sensitivity(STATISTIC, values, epsilon, delta=DELTA, noise="laplace", lattice=STEP).sample(draws)


def proposed(values: list[Fraction], epsilon: Fraction, draws: int) -> list[Fraction]:
    law = propose_test_release(STATISTIC, values, epsilon, DELTA, lattice=STEP)
    return [Fraction(LOW + HIGH, 2) if y is None else y.value for y in law.sample(draws)]


def clipped(values: list[Fraction], epsilon: Fraction, draws: int) -> list[Fraction]:
    law = laplace(int(STATISTIC.value(values) / STEP), epsilon, int((HIGH - LOW) / STEP))
    return [y * STEP for y in law.sample(draws)]


METHODS: dict[str, Draw] = {
    "inverse": inverse("exponential"),
    "permute-and-flip": inverse("permute_and_flip"),
    "smooth, Student": smooth,
    "smooth, Laplace": smooth_laplace,
    "propose-test": proposed,
    "clipped": clipped,
}


def errors(source: Callable[[Random], float], n: int, epsilon: Fraction, draws: int) -> dict[str, dict[str, float]]:
    """Mean and median absolute error of every method, on the same samples."""
    random = Random(f"{source.__name__} {n}")
    found: dict[str, list[float]] = {name: [] for name in METHODS}
    for _ in range(draws // AGAIN):
        values = [Fraction(round(source(random) * 100), 100) for _ in range(n)]
        truth = STATISTIC.value(values)
        for name, draw in METHODS.items():
            inside = (min(max(y, Fraction(LOW)), Fraction(HIGH)) for y in draw(values, epsilon, AGAIN))
            found[name] += [float(abs(y - truth)) for y in inside]
    return {name: {"mean": round(mean(e), 4), "median": round(median(e), 4)} for name, e in found.items()}


def study(draws: int) -> list[dict[str, Any]]:
    rows = []
    for source in (incomes, heights):
        for epsilon in EPSILONS:
            for n in SIZES:
                found = errors(source, n, epsilon, draws)
                rows.append({"data": source.__name__, "epsilon": float(epsilon), "n": n, "errors": found})
                best = min(found, key=lambda name: found[name]["mean"])
                means = (f"{name} {e['mean']:.3g}" for name, e in found.items())
                print(
                    f"{source.__name__:8} ε {float(epsilon):<4} n {n:>6}:",
                    ", ".join(means),
                    "| best:",
                    best,
                    flush=True,
                )
    return rows


def picture(rows: list[dict[str, Any]], path: Path) -> None:
    panels: dict[str, Lines] = {}
    for row in rows:
        panel = panels.setdefault(f"{row['data']}, ε = {row['epsilon']:g}", {name: [] for name in METHODS})
        for name, error in row["errors"].items():
            panel[name].append((row["n"], error["mean"]))  # type: ignore[attr-defined]
    plot(path, panels, "n", "mean absolute error")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=60)
    draws = parser.parse_args().draws
    rows = study(draws)
    record = {"delta": str(DELTA), "range": [LOW, HIGH], "step": str(STEP), "draws": draws, "rows": rows}
    write("median", record)
    picture(rows, folder() / "median.svg")


if __name__ == "__main__":
    main()
