"""How good the sum without bounds is, how its parameters were chosen, and what else was tried.

    python benchmarks/bound_free_sum.py [--full] [--results] [--lost]

Errors are compared with an *oracle*: Laplace noise with all of ε at the best cap, chosen with knowledge of the data.
Shapes: lognormal(3, 1.5), Pareto(1.5), Pareto(2.5), exponential, uniform, constant, Weibull(0.5) and one giant person,
2,000 to 200,000 persons, each in a unit of its own; and the data of evidence A.

1. *Parameters*: every design of a grid on six collections (ε = 1). The one chosen has the smallest product of the worst
   ratio to the oracle (the mean over collections of the largest among their 24 data sets), the typical ratio (median)
   and that on evidence A, among those whose 99.9th percentile is everywhere at most 20 times the median error. For few
   persons, on 50 to 400 persons with totals of 10^10 units: the smallest product of typical ratios at the median and
   the 99th percentile. The library's design came from a random search over all its parameters, of which the grid has
   some; the study says how far it lies from the best of the grid.
2. *Tried*: other methods on the same collections.
3. *Results*: the library's design on fresh data, ten collections (10,000 draws for each data set at ε = 1 and 0.1;
   with --full at 0.01 and 4 too). Data of one shape and size differ, those of a Pareto tail of 1.5 by a factor: the
   *worst shape* has the largest median over the collections. Its interval are the second and the ninth ratio of ten,
   which hold that shape's median in 97.8 % of cases. The *largest* of all data sets grows with their number.
4. *Where the loss is* (--lost): what the ratios would be if a part were free. None of these is private: a cap that is
   chosen knowing the data, noises with all of ε, both, and caps six times as fine.
5. *Agreement* of the simulation with the library's exact sampler, and the library on 0 to 200 persons.
6. *Simulated, not kept*: typical ratio, worst shape and largest, evidence A; ten collections, 3,000 draws, ε = 1. N
   decides at a level; the cap and the limit lie some places above it.

       as it is: ten caps a decade, cap at the level, limit 1 place above     1.82   2.52   3.93   1.56
       κ = 4/25, p = 6.5, cap 1 and limit 2 places above                      1.80   2.28   3.88   1.48
       20 caps a decade, κ = 0.139, limit 3 places above, counted 2.73        1.68   2.56   4.15   1.08
       20 caps a decade, κ = 0.147, cap 1 and limit 3 places above            1.71   2.44   4.20   0.96

   Found by a random search over level, cap, limit, κ, p and what a person above counts as, on two other collections.
   Two noisy numbers of persons, above the limit and above a second one (a person is in one of them, so both cost what
   one does), were never among the best. All but the first need half as many persons again for many (2,000 at
   ε = 0.1 are then too few, which the test of many leaves to the scan).

Results go to benchmarks/results/bound_free_sum.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from bound_free_data import (
    SHAPES,
    Floats,
    Rng,
    Totals,
    collection,
    drawn,
    evidence,
    lopsided,
    scanned,
    weighed,
)
from bound_free_rivals import RIVALS, Method
from record import read, write
from scipy.stats import ks_2samp

from tacit.answers.totals import DESIGN, TotalDesign
from tacit.mechanisms.totals.scan_and_release import CAPS, scan_and_release

LIST = np.array(CAPS, dtype=float)
CHOOSING, TESTING = range(1, 7), range(101, 111)
TAIL = 20


def simulated(design: TotalDesign, many: bool | None = None) -> Method:
    """The library's mechanism with floating-point noise; ``many`` leaves the test out."""

    def release(data: Totals, epsilon: float, size: int, rng: Rng) -> Floats:
        counted = data.split(LIST)
        rate, exact = float(design.test) * epsilon, Fraction(epsilon)
        seen = data.persons + lopsided(rng, rate, rate, size)
        large = int((seen >= ceil(design.size / exact)).sum()) if many is None else size * many
        handful = int((seen < ceil(design.handful / exact)).sum()) if many is None and design.handful else 0
        kinds = ((True, False, large), (False, True, handful), (False, False, size - large - handful))
        return np.concatenate([_part(design, flag, small, epsilon, counted, k, rng) for flag, small, k in kinds])

    return release


def _part(
    design: TotalDesign, many: bool, handful: bool, epsilon: float, counted: tuple[Floats, Floats], size: int, rng: Rng
) -> Floats:
    if not size:
        return np.zeros(0)
    over, up_to = counted
    if many:
        place = drawn(rng, weighed(over, LIST, float(design.choice) * epsilon, design.power / 2), size)
    else:
        scan = design.scan(handful)
        rates = float(scan.threshold) * epsilon, float(scan.each) * epsilon
        law = scanned(over[:: scan.stride], *rates, int(scan.offset / Fraction(epsilon)))
        place = drawn(rng, law, size) * scan.stride
    caps, charges = LIST[place], design.charges(many, handful)
    above = over[np.minimum(place + design.beyond, len(LIST) - 1)]
    within, scale = up_to[place] + caps * (over[place] - above), epsilon / caps
    low = within + lopsided(rng, float(charges.within_up) * scale, float(charges.within_down) * scale, size)
    seen = above + lopsided(rng, float(charges.above_up) * epsilon, float(charges.above_down) * epsilon, size)
    lifted, doubted = (design.lifted, design.doubted) if many else (design.scanned_lifted, design.scanned_doubted)
    noise = float(design.allowed) + float(doubted) / np.maximum(seen * epsilon, epsilon)
    persons = np.where(seen > 0, np.maximum(0, seen - noise / epsilon), 0)
    return np.asarray(low + np.floor(float(lifted) * caps / epsilon) + np.floor(float(design.counted) * caps) * persons)


# Measuring


def measured(method: Method, data: Totals, epsilon: float, size: int, seed: int = 0) -> dict[str, float]:
    """Errors relative to the truth, the ratio to the oracle, and the tail in medians."""
    error = np.abs(method(data, epsilon, size, np.random.default_rng(seed)) - data.truth)
    median, p95, p999 = np.quantile(error, [0.5, 0.95, 0.999])
    return {
        "ratio": float(median / data.oracle(epsilon)),
        "median": float(median / data.truth),
        "p95": float(p95 / data.truth),
        "p999": float(p999 / data.truth),
        "p999/median": float(p999 / median),
        "max/median": float(error.max() / median),
    }


def over(method: Method, sets: Sequence[Sequence[Totals]], epsilon: float, size: int) -> dict[str, float]:
    """The ratios over collections of data sets, and evidence A."""
    found = [[measured(method, data, epsilon, size) for data in group] for group in sets]
    ratios = [[row["ratio"] for row in group] for group in found]
    on_evidence = measured(method, evidence(), epsilon, size)
    hardest, edge = sorted(max(zip(*ratios, strict=True), key=median)), max(len(sets) // 5 - 1, 0)
    return {
        "worst": float(np.mean([max(group) for group in ratios])),
        "worst shape": median(hardest),
        "worst shape, from": hardest[edge],
        "worst shape, to": hardest[-1 - edge],
        "largest": max(map(max, ratios)),
        "typical": float(np.median(ratios)),
        "p999/median": max(row["p999/median"] for group in found for row in group),
        "max/median": max(row["max/median"] for group in found for row in group),
        "evidence A": on_evidence["ratio"],
        "evidence A, median %": 100 * on_evidence["median"],
    }


# Choosing

Row = dict[str, Any]


def for_many(sets: Sequence[Sequence[Totals]], size: int) -> list[Row]:
    """Designs for many persons, the best first."""
    rows = []
    shares = [Fraction(n, 40) for n in (8, 9, 10, 11, 12)]
    counted, allowed = [Fraction(n, 4) for n in (7, 8, 9)], [Fraction(n, 4) for n in (3, 4, 5, 6)]
    for choice, power, each, noise in product(shares, (7, 8, 9), counted, allowed):
        design = replace(DESIGN, choice=choice, power=power, counted=each, allowed=noise)
        found = over(simulated(design, many=True), sets, 1, size)
        score = found["worst"] * found["typical"] * found["evidence A"] * (1 if found["p999/median"] <= TAIL else 1e9)
        public = {"choice": choice, "power": power, "counted": each, "allowed": noise}
        rows.append({**{k: str(v) for k, v in public.items()}, **found, "score": score, "design": design})
    return sorted(rows, key=lambda row: float(row["score"]))


def for_few(sets: Sequence[Sequence[Totals]], size: int) -> list[Row]:
    """Designs for few persons, the best first."""
    rows = []
    rates = [Fraction(n, 20) for n in (5, 6, 7, 8)], [Fraction(n, 20) for n in (2, 3, 4)]
    for threshold, each, offset in product(*rates, (4, 6, 8, 10, 12)):
        design = replace(DESIGN, threshold=threshold, each=each, offset=Fraction(offset))
        method = simulated(design, many=False)
        found = [_quantiles(method, data, size) for group in sets for data in group]
        ratios = [float(np.exp(np.mean(np.log([row[i] for row in found])))) for i in range(2)]
        public = {"threshold": threshold, "each": each, "offset": offset}
        row = {**{k: str(v) for k, v in public.items()}, "median": ratios[0], "99th": ratios[1]}
        rows.append({**row, "score": ratios[0] * ratios[1], "design": design})
    return sorted(rows, key=lambda row: float(row["score"]))


def _quantiles(method: Method, data: Totals, size: int) -> tuple[float, float]:
    """The median and the 99th percentile of the error over the oracle's median."""
    error = np.abs(method(data, 1, size, np.random.default_rng(0)) - data.truth) / data.oracle(1)
    return float(np.quantile(error, 0.5)), float(np.quantile(error, 0.99))


def crossing(size: int) -> list[Row]:
    """Median relative errors of either choice by the number of persons, lognormal totals of 10^4 and 10^10 units."""
    rows = []
    for persons, unit in product((50, 100, 200, 400, 600, 1000, 2000), (1e2, 1e8)):
        data = collection(3, (persons,), unit)[0]
        row: Row = {"persons": persons, "unit": unit}
        for name, many in (("weights", True), ("scan", False), ("library", None)):
            row[name] = measured(simulated(DESIGN, many), data, 1, size)["median"]
        rows.append(row)
    return rows


# Where the loss is

FINER = np.unique(np.rint(np.concatenate([np.arange(1, 30), 10 ** np.arange(1.4, 30, 1 / 60)])))


def freed(knowing: bool = False, spared: bool = False, caps: Floats = LIST) -> Method:
    """The library's way with many persons, if choosing the cap took no guess, or the noises had all of ε."""
    rates = [1.0] * 4 if spared else [float(rate) for rate in vars(DESIGN.charges(True)).values()]
    beyond = DESIGN.beyond * (6 if caps is FINER else 1)

    def release(data: Totals, epsilon: float, size: int, rng: Rng) -> Floats:
        over, up_to = data.split(caps)

        def values(place: Any, draws: int) -> Floats:
            cap, above = caps[place], over[np.minimum(place + beyond, len(caps) - 1)]
            low = up_to[place] + cap * (over[place] - above)
            low = low + lopsided(rng, rates[0] * epsilon / cap, rates[1] * epsilon / cap, draws)
            seen = above + lopsided(rng, rates[2] * epsilon, rates[3] * epsilon, draws)
            noise = float(DESIGN.allowed) + float(DESIGN.doubted) / np.maximum(seen * epsilon, epsilon)
            persons = np.where(seen > 0, np.maximum(0, seen - noise / epsilon), 0)
            return np.asarray(low + float(DESIGN.lifted) * cap / epsilon + float(DESIGN.counted) * cap * persons)

        if not knowing:
            law = weighed(over, caps, float(DESIGN.choice) * epsilon, DESIGN.power / 2)
            return values(drawn(rng, law, size), size)
        first, last = np.searchsorted(-over, [-60 / epsilon, 0])
        errors = [np.median(np.abs(values(np.full(400, i), 400) - data.truth)) for i in range(first, last + 1)]
        return values(np.full(size, first + int(np.argmin(errors))), size)

    return release


def lost(sets: Sequence[Sequence[Totals]], size: int) -> list[Row]:
    """The ratios with a part of the price left out."""
    methods = {
        "the library's": freed(),
        "the cap chosen knowing the data": freed(knowing=True),
        "noises with all of ε": freed(spared=True),
        "both": freed(knowing=True, spared=True),
        "six times as many caps": freed(caps=FINER),
        "both, six times as many caps": freed(knowing=True, spared=True, caps=FINER),
    }
    return [{"if": name, **over(method, sets, 1, size)} for name, method in methods.items()]


# Agreement with the library


def buckets(data: Totals) -> tuple[list[int], list[int]]:
    """What the library is given."""
    place = np.searchsorted(LIST, data.sorted, side="left")
    counts = np.bincount(place, minlength=len(CAPS) + 1)
    sums = np.bincount(place, weights=data.sorted, minlength=len(CAPS) + 1)
    return [int(n) for n in counts], [int(s) for s in sums]


def agreement(draws: int) -> list[Row]:
    """The exact sampler against the simulation: the same median, and no difference by the Kolmogorov–Smirnov test."""
    rows = []
    sets = [evidence(), *collection(201, (2_000,)), *collection(202, (150,), 1e8)[:2]]
    for data, epsilon in product(sets, (1.0, 0.1)):
        law = scan_and_release(*buckets(data), epsilon)
        start = perf_counter()
        exact = np.array([float(draw.value) for draw in law.sample(draws)])
        each = (perf_counter() - start) / draws
        rough = simulated(DESIGN)(data, epsilon, 100_000, np.random.default_rng(1))
        medians = [float(np.median(np.abs(x - data.truth)) / data.truth) for x in (exact, rough)]
        p = float(ks_2samp(exact, rough).pvalue)
        rows.append(
            {
                "data": data.name,
                "epsilon": epsilon,
                "exact": medians[0],
                "simulated": medians[1],
                "p": p,
                "ms": 1e3 * each,
            }
        )
    return rows


def little(seed: int = 9) -> list[Row]:
    """The library on next to nothing: what an analyst sees."""
    rows = []
    for persons, epsilon in product((0, 1, 20, 200), (Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(20))):
        data = Totals.of("lognormal", np.rint(100 * np.random.default_rng(seed).lognormal(3, 1.5, persons)))
        draw = scan_and_release(*buckets(data), epsilon).sample()
        down, up = draw.reach()
        interval = [draw.value - up, draw.value + down]
        row = {
            "persons": persons,
            "epsilon": str(epsilon),
            "truth": data.truth,
            "value": draw.value,
            "interval": interval,
        }
        rows.append({**row, "cap": draw.cap, "at most above": draw.persons_above_cap()})
    return rows


# Printing


def table(title: str, rows: Sequence[Row], limit: int = 12) -> None:
    """Rows under the names of their first."""
    print(f"\n{title}")
    names = [name for name in rows[0] if name != "design"]
    cells = [names, *([_cell(row[name]) for name in names] for row in rows[:limit])]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    for line in cells:
        print("  " + "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def results(sets: Sequence[Sequence[Totals]], epsilons: Sequence[float]) -> Row:
    """Every data set of the first collection, and all collections in short."""
    method, found = simulated(DESIGN), {}
    for epsilon in epsilons:
        detail = {data.name: measured(method, data, epsilon, 10_000) for data in (evidence(), *sets[0])}
        short = over(method, sets, epsilon, 10_000)
        table(f"ε = {epsilon}: ratio to the oracle and relative errors, 10,000 draws each", _rows(detail), 30)
        table(f"ε = {epsilon}, {len(sets)} collections", [short])
        found[str(epsilon)] = {"data sets": detail, "collections": short}
    return found


def _rows(detail: dict[str, dict[str, float]]) -> list[Row]:
    return [{"data": name, **row} for name, row in detail.items()]


def outcome(full: bool) -> Row:
    """The library's design on fresh data, beside its exact sampler, and on next to nothing."""
    testing = [collection(seed) for seed in TESTING]
    final = results(testing, (1.0, 0.1, 0.01, 4.0) if full else (1.0, 0.1))
    same = agreement(4000 if full else 1000)
    table("the exact sampler and the simulation", same, 40)
    small = little()
    table("next to nothing", small, 20)
    design = {name: str(value) for name, value in vars(DESIGN).items()}
    return {"design": design, "full": full, "results": final, "agreement": same, "little data": small}


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--full", action="store_true", help="more draws, and all budgets")
    parser.add_argument("--results", action="store_true", help="parts 3 and 5 only; the other parts stay as stored")
    parser.add_argument("--lost", action="store_true", help="part 4 only; the other parts stay as stored")
    given = parser.parse_args()
    if given.lost:
        rows = lost([collection(seed) for seed in TESTING[:3]], 4_000 if given.full else 1_000)
        table("where the loss is, ε = 1", rows)
        write("bound_free_sum", {**read("bound_free_sum"), "where the loss is": rows})
        return
    full, began, runs = given.full, perf_counter(), 4000 if given.full else 1000
    if given.results:
        write("bound_free_sum", {**read("bound_free_sum"), **outcome(full)})
        return
    choosing = [collection(seed) for seed in CHOOSING]
    few = [collection(seed, (50, 100, 200, 400), 1e8) for seed in CHOOSING]
    few = [[data for data in group if not data.name.startswith(SHAPES[-1])] for group in few]
    many_rows, few_rows = for_many(choosing, runs), for_few(few[:3], runs)
    table("parameters for many persons, best first", many_rows)
    table("parameters for few persons, best first", few_rows)
    for rows, names in (
        (many_rows, ("choice", "power", "counted", "allowed")),
        (few_rows, ("threshold", "each", "offset")),
    ):
        best = {name: getattr(rows[0]["design"], name) for name in names}
        print(
            "  the library's"
            if best == {name: getattr(DESIGN, name) for name in names}
            else f"  NOT the library's: {best}"
        )
    cross = crossing(4000)
    table("median relative error by how the cap is chosen", cross, 20)
    methods = {"the library's": simulated(DESIGN), **RIVALS}
    tried = [{"method": name, **over(method, choosing, 1, 10_000)} for name, method in methods.items()]
    tried_low = [{"method": name, **over(method, choosing[:2], 0.1, 4_000)} for name, method in methods.items()]
    table("tried, ε = 1", tried)
    table("tried, ε = 0.1", tried_low)
    strip = [[{k: v for k, v in row.items() if k != "design"} for row in rows] for rows in (many_rows, few_rows)]
    record = {
        "chosen for many": strip[0][:12],
        "chosen for few": strip[1][:12],
        "crossing": cross,
        "tried": {"1": tried, "0.1": tried_low},
        **outcome(full),
        "seconds": perf_counter() - began,
    }
    write("bound_free_sum", record)
    print(f"\n{perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
