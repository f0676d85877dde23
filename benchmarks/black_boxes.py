"""Functions nobody has analysed: how far off wrapped answers are, how fast subsets go, how blocks do on many rows.

    python benchmarks/black_boxes.py [wrapper] [speed] [blocks] [--rows 1000000] [--draws 2000]

- wrapper: clinics as units, 12 of them, each with some patients: the mean, the trimmed mean and a regression
  coefficient of all patients, and a malicious function; the share of whole runs (noisy number of clinics, floor, value)
  inside the promised range, and how far from the function's own value they are.
- speed: all 2^20 subsets of 20 persons for a cheap function, seconds and memory of all processes together.
- blocks: a scikit-learn coefficient over rows of persons, and on smaller tables the same formula by numpy; median
  absolute error over the number of rows for several ε and numbers of blocks, over twenty tables each.

Results go to benchmarks/results/black_boxes.json, the picture beside it.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil  # type: ignore[import-untyped]
from lines import plot
from record import folder, read, write

import tacit
from tacit.black_boxes.aggregation import BlockMedian
from tacit.black_boxes.evaluation import layers
from tacit.black_boxes.evaluator import EvaluatorSetup
from tacit.black_boxes.floors import design
from tacit.black_boxes.lattice import Lattice
from tacit.black_boxes.processes import Workers, default_workers, pickle_function
from tacit.black_boxes.values import cut_grid, place
from tacit.grids import Grid, multiples
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.randomness import SYSTEM

Patients = tuple[tuple[float, float], ...]
BETA = Fraction(1, 20)
COSTS: tuple[Pure | Approx, ...] = (Pure(4), Pure(8), Approx(12, Fraction(1, 10**6)))
CLINICS, TRUE_SLOPE = 12, 2.0


# ---- what analysts bring ----------------------------------------------------------------------------------------


def mean(clinics: list[Patients]) -> float:
    responses = [y for clinic in clinics for _, y in clinic]
    return sum(responses) / len(responses)


def trimmed_mean(clinics: list[Patients]) -> float:
    responses = sorted(y for clinic in clinics for _, y in clinic)
    cut = len(responses) // 10
    kept = responses[cut : len(responses) - cut]
    return sum(kept) / len(kept)


def coefficient(clinics: list[Patients]) -> float:
    from sklearn.linear_model import LinearRegression  # type: ignore[import-untyped]

    points = np.array([patient for clinic in clinics for patient in clinic])
    return float(LinearRegression().fit(points[:, :1], points[:, 1]).coef_[0])


def malicious(clinics: list[Patients]) -> float:
    """Shouts when the first clinic is there, breaks when the second is not, and lies by parity otherwise."""
    sizes = [len(clinic) for clinic in clinics]
    if 7 in sizes:
        return 10.0
    if 8 not in sizes:
        raise SystemExit
    return float(len(clinics) % 2 * 5)


def total(records: list[int]) -> int:
    return sum(records)


def slope(frame: pd.DataFrame) -> float:
    from sklearn.linear_model import LinearRegression

    return float(LinearRegression().fit(frame[["x"]], frame["y"]).coef_[0])


# ---- the wrapper ------------------------------------------------------------------------------------------------


def clinics(count: int) -> list[Patients]:
    random = np.random.default_rng(9)
    found = []
    for i in range(count):
        doses = random.uniform(0, 2, size=7 + i)
        responses = 1 + TRUE_SLOPE * doses + random.normal(0, 0.5, size=7 + i) + random.normal(0, 0.2)
        found.append(tuple((round(float(x), 3), round(float(y), 3)) for x, y in zip(doses, responses, strict=True)))
    return found


def wrapper(draws: int) -> list[dict[str, Any]]:
    grid, people = cut_grid(multiples("0.05", 0, 10)), clinics(CLINICS)
    lattice, rows = Lattice(CLINICS, CLINICS), []
    for function in (mean, trimmed_mean, coefficient, malicious):
        setup = EvaluatorSetup(pickle_function(function), (grid,), False, None, 60.0, 2**30, trusted=False)
        started = time.perf_counter()
        with Workers(setup, default_workers()) as crew:
            found = layers(crew, [pickled_record(p) for p in people], lattice, False, lambda done: None)
        seconds = time.perf_counter() - started
        for cost in COSTS:
            rows.append(
                {"function": function.__name__, "cost": repr(cost), "seconds": round(seconds, 1)}
                | accuracy(function, people, found, grid, cost, draws)
            )
            print(rows[-1])
    return rows


def pickled_record(record: Any) -> bytes:
    import pickle

    return pickle.dumps(record)


def accuracy(
    function: Callable[..., Any],
    people: list[Patients],
    found: Sequence[Any],
    grid: Grid,
    cost: Pure | Approx,
    draws: int,
) -> dict[str, Any]:
    """Whole runs of the law on values computed once; how many lie in the promised range, and how far off they are."""
    rule, persons = design(grid, cost, "scan", BETA), len(people)
    near = [int(v) for layer in found[: rule.missing + 1] for v in layer]
    try:
        own = place(grid, function(people))
    except BaseException:
        own = 0
    laws: dict[int, Any] = {}
    drawn = []
    for noisy in rule.noisy(persons).sample(draws):
        floor = rule.floor(noisy)
        if floor not in laws:
            missing = persons - floor
            kept = [] if missing < 0 else Lattice(persons, missing).profile(list(found[: missing + 1]))
            laws[floor] = rule.select(kept)
        index = grid.index(laws[floor].sample())
        assert index is not None
        assert grid.first is not None
        drawn.append(index - grid.first)
    step = 0.05
    low, high = np.percentile(np.array(drawn) * step, [5, 95])
    return {
        "missing": min(rule.missing, persons),
        "range": [round(min(near) * step, 2), round(max(near) * step, 2)],
        "inside": sum(min(near) <= v <= max(near) for v in drawn) / draws,
        "promised": float(1 - BETA),
        "own value": round(own * step, 2),
        "median": round(float(np.median(drawn)) * step, 2),
        "5th to 95th percentile": [round(float(low), 2), round(float(high), 2)],
    }


# ---- speed ------------------------------------------------------------------------------------------------------


@contextmanager
def watched_memory() -> Any:
    """The largest memory of this process and its children together, in megabytes, under "peak"."""
    this, found, done = psutil.Process(), {"peak": 0.0}, threading.Event()

    def watch() -> None:
        while not done.wait(0.2):
            used = 0
            for process in (this, *this.children(recursive=True)):
                try:
                    used += process.memory_info().rss
                except psutil.Error:
                    continue
            found["peak"] = max(found["peak"], used / 2**20)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()


def speed() -> list[dict[str, Any]]:
    rows = []
    for name, function in (("a plain function", total), ("an incremental function", RunningTotal())):
        with watched_memory() as memory:
            started = time.perf_counter()
            answer = tacit.wrap(
                function,
                list(range(20)),
                grid=multiples(1, 0, 200),
                epsilon=1,
                budget=Pure(1),
                trusted=True,
                persons_public=True,
            )
            seconds = time.perf_counter() - started
        assert answer.value is not None
        rows.append({"function": name, "subsets": 2**20, "seconds": round(seconds, 1), "MB": round(memory["peak"])})
        print(rows[-1])
    return rows


class RunningTotal:
    """A sum that persons are added to and removed from."""

    def __init__(self) -> None:
        self.sum = 0

    def add(self, record: int) -> None:
        self.sum += record

    def remove(self, record: int) -> None:
        self.sum -= record

    def value(self) -> int:
        return self.sum


# ---- blocks -----------------------------------------------------------------------------------------------------


TABLES = 20


def patients(rows: int, seed: int) -> pd.DataFrame:
    random = np.random.default_rng((rows, seed))
    x = random.normal(size=rows)
    y = 1 + TRUE_SLOPE * x + random.standard_t(3, size=rows) * 3
    return pd.DataFrame({"who": np.arange(rows) // 2, "x": x, "y": y})


def whole_runs(rows: int, grid: Grid) -> list[dict[str, Any]]:
    """Through the engine and scikit-learn, once for each number of blocks: time, and one answer."""
    table, found = tacit.read(patients(rows, 0), person="who", budget=Pure(10)), []
    for count in COUNTS:
        started = time.perf_counter()
        answer = tacit.sample_and_aggregate(slope, table, blocks=count, grid=grid, epsilon=1, columns=["x", "y"])
        seconds = round(time.perf_counter() - started, 1)
        found.append({"rows": rows, "blocks": count, "seconds": seconds, "value": float(answer)})  # type: ignore[arg-type]
        print(found[-1])
    return found


COUNTS = (50, 200, 1000)


def blocks(rows: int, draws: int, grid: Grid) -> list[dict[str, Any]]:
    found = []
    for n in [n for n in (10**4, 10**5, 10**6) if n <= rows]:
        plain: list[float] = []
        places: dict[int, list[list[int]]] = {count: [] for count in COUNTS}
        for seed in range(TABLES):
            frame = patients(n, seed)
            plain.append(abs(block_slopes(frame, 1)[0] - TRUE_SLOPE))
            for count in COUNTS:
                places[count].append([place(grid, v) for v in block_slopes(frame, count)])
        for count in COUNTS:
            for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(4)):
                drawn = [v for each in places[count] for v in medians(each, grid, Pure(epsilon), draws // TABLES)]
                errors = sorted(abs(v - TRUE_SLOPE) for v in drawn)
                found.append(
                    {
                        "rows": n,
                        "blocks": count,
                        "epsilon": str(epsilon),
                        "median error": round(errors[len(errors) // 2], 5),
                        "95th percentile": round(errors[len(errors) * 95 // 100], 5),
                        "median error without privacy": round(float(np.median(plain)), 5),
                    }
                )
                print(found[-1])
    return found


def block_slopes(frame: pd.DataFrame, count: int) -> list[float]:
    """Each block's coefficient, by numpy, for studying many draws; blocks without enough rows are the bottom."""
    homes = np.random.default_rng(count).integers(count, size=int(frame["who"].max()) + 1)[frame["who"]]
    x, y = frame["x"].to_numpy(), frame["y"].to_numpy()
    n, sx, sy, sxx, sxy = (
        np.bincount(homes, weights=w, minlength=count) for w in (np.ones_like(x), x, y, x * x, x * y)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return list((n * sxy - sx * sy) / (n * sxx - sx * sx))


def medians(places: list[int], grid: Grid, cost: Guarantee, draws: int) -> list[float]:
    median = BlockMedian(
        name="slope",
        blocks=len(places),
        grids=(grid,),
        keys=None,
        method="exponential",
        beta=BETA,
        trusted=True,
        frames=None,
        nonce="",
    )
    law = median.law(places, grid, cost)
    return [float(law._draw(SYSTEM)) for _ in range(draws)]


def picture(rows: list[dict[str, Any]], path: Path) -> None:
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        lines = panels.setdefault(f"{row['blocks']} blocks", {})
        lines.setdefault(f"epsilon {row['epsilon']}", []).append((row["rows"], row["median error"]))
        plain = lines.setdefault("no privacy", [])
        if (row["rows"], row["median error without privacy"]) not in plain:
            plain.append((row["rows"], row["median error without privacy"]))
    plot(path, panels, "rows", "median absolute error of the coefficient")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], "wrapper", "speed", "blocks"])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--draws", type=int, default=2000)
    options = parser.parse_args()
    parts = options.parts or ["wrapper", "speed", "blocks"]
    report = {name: part for name, part in read("black_boxes").items() if name != "facts"}
    grid = cut_grid(multiples("0.001", -10, 10))
    if "speed" in parts:
        report["speed"] = speed()
    if "wrapper" in parts:
        report["wrapper"] = wrapper(options.draws)
    if "blocks" in parts:
        report["blocks"] = blocks(options.rows, options.draws, grid)
        picture(report["blocks"], folder() / "black_boxes.svg")
        report["whole runs over blocks"] = whole_runs(options.rows, grid)
    write("black_boxes", report)


if __name__ == "__main__":
    main()
