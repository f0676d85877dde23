"""Series over time beside the best factorisation that knows how many periods there will be, and the best cap.

    python benchmarks/series.py [--quick]

1,800 days, 20,000 persons with 1 to 200 rows, in two shapes: *loyal* persons have their rows anywhere in all days,
others *come and go*: theirs lie within a year. Errors are root mean squares over days and releases, in rows.

- *at once*: cumulative totals of all days, released together, over the error of the best factorisation with the best
  cap, which looks at the data and pays nothing for it: trees of any number of children, and, for Gaussian noise, the
  square root of the matrix of sums. What a cap leaves out is an error on both sides.
- *appended*: 900 days at once, then thirty at a time, with a new chapter when the data have outgrown the cap; the best
  factorisation has what all chapters cost together. Once more with a new chapter from the first thirty on.
- *ranges*: totals of 30 days, beside noise on every day, for the same cost and the same cap, added up.
- *noise alone*: the deviation of cumulative totals in caps over ε, or over √(2ρ), for several numbers of bins, at once
  and one after the other.

Results go to benchmarks/results/series.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from record import write

import tacit
from tacit import Pure, Zcdp
from tacit.answers.nodes import Block, Fit
from tacit.answers.series import Series
from tacit.guarantees import Guarantee
from tacit.mechanisms.totals.running_totals import blocks_for, opening

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int16]
START, DAYS, PERSONS, MOST = date(2020, 1, 1), 1_800, 20_000, 200
EPSILON, RHO = 1.0, 0.5
SHAPES = ("loyal", "come and go")


def made(shape: str, persons: int, days: int) -> tuple[pa.Table, Counts]:
    """Rows, and what each person brings to each day."""
    draw = np.random.default_rng(27)
    counts = np.exp(draw.uniform(0, np.log(MOST + 1), persons)).astype(int).clip(1, MOST)
    who = np.repeat(np.arange(persons), counts)
    length = days if shape == "loyal" else min(days, 365)
    first = draw.integers(0, days - length + 1, persons)
    when = first[who] + draw.integers(0, length, len(who))
    table = pa.table({"person": pa.array(who), "day": [START + timedelta(days=int(d)) for d in when]})
    brought = np.zeros((persons, days), dtype=np.int16)
    np.add.at(brought, (who, when), 1)
    return table, brought


def factorisations(days: int, pure: bool) -> Iterator[tuple[str, Floats]]:
    """The deviation of each cumulative total, in caps over ε or over √(2ρ), where the number of days is known."""
    for children in (2, 3, 4, 6, 10, 15, 20, 40):
        for top in (False, True):
            sizes = [1]
            while sizes[-1] * children < days:
                sizes.append(sizes[-1] * children)
            sizes += [days] if top else []
            for least in range(1, len(sizes) + 1):
                block = Block(days, tuple(sizes[:least]), (Fraction(1, least),) * least)
                yield f"{children} children, {least} levels", deviations([block], days, pure)
    if not pure:
        f = np.cumprod([1.0, *(1 - 1 / (2 * k) for k in range(1, days))])
        yield "square root", np.sqrt(np.cumsum(f**2) * np.sum(f**2))


def deviations(blocks: list[Block] | tuple[Block, ...], days: int, pure: bool, points: int = 24) -> Floats:
    """The deviation of cumulative totals at some days, once all of these days are there."""
    at = np.unique(np.linspace(1, days, min(points, days)).astype(int))
    found = np.zeros(len(at))
    first = 0
    for block in blocks:
        done = min(block.bins, days - first)
        if done <= 0:
            break
        variances = tuple(float(2 / w**2 if pure else 1 / w) for w in block.weights)
        fit = Fit(block, done, variances)
        whole = fit.error(0, done)[0]
        for place, day in enumerate(at):
            inside = day - first
            found[place] += 0 if inside <= 0 else whole if inside >= done else fit.error(0, int(inside))[0]
        first += done
    return np.sqrt(np.interp(np.arange(1, days + 1), at, found))


@cache
def _best_known(days: int, pure: bool) -> tuple[str, Floats]:
    return min(factorisations(days, pure), key=lambda kind: float(np.mean(kind[1] ** 2)))


def best(brought: Counts, cost: float, pure: bool) -> dict[str, Any]:
    """The least error of cumulative totals of any factorisation with any cap."""
    days = brought.shape[1]
    kinds = _best_known(days, pure)
    scale = 1 / cost if pure else 1 / sqrt(2 * cost)
    reached = np.cumsum(brought, axis=1, dtype=np.int32)
    truth = reached.sum(axis=0)
    found = []
    for cap in (*range(1, 20), *range(20, MOST + 1, 5)):
        bias = truth - np.minimum(reached, cap).sum(axis=0)
        found.append((float(np.sqrt(np.mean(bias**2 + (kinds[1] * cap * scale) ** 2))), cap))
    error, cap = min(found)
    return {"error": error, "cap": cap, "factorisation": kinds[0]}


def errors(series: Series, brought: Counts) -> tuple[float, float]:
    """The mean squared errors of cumulative totals and of 30 days."""
    days = len(series)
    truth = np.cumsum(brought[:, :days].sum(axis=0))
    told = np.array([float(x) for x in series._running[1:]])
    off = told - truth
    ranges = off[30:] - off[:-30]
    return float(np.mean(off**2)), float(np.mean(ranges**2))


def opened(table: pa.Table, total: Guarantee) -> Any:
    return tacit.read(table, person="person", budget=total, table="visits")


def at_once(shape: str, pure: bool, releases: int, persons: int, days: int) -> dict[str, Any]:
    """Releases of all days beside the best factorisation."""
    table, brought = made(shape, persons, days)
    paid = {"epsilon": EPSILON} if pure else {"rho": RHO}
    visits = opened(table, Pure(10**6) if pure else Zcdp(10**6))
    squares, caps = [], []
    for _ in range(releases):
        series = visits.series("day", every="day", start=START, until=START + timedelta(days - 1), fresh=True, **paid)
        squares.append(errors(series, brought))
        caps.append(int(series.cap))
    known = best(brought, EPSILON if pure else RHO, pure)
    ours, ranges = (sqrt(x) for x in np.mean(squares, axis=0))
    cap = float(np.median(caps))
    daily = sqrt(30 * (2 * cap**2 / EPSILON**2 if pure else cap**2 / (2 * RHO)))
    facts = {"error": ours, "ratio": ours / known["error"], "best": known, "cap": cap, "total": int(brought.sum())}
    return facts | {"30 days": ranges, "30 days of daily noise": daily}


def appended(shape: str, releases: int, persons: int, days: int, first: bool | str = True) -> dict[str, Any]:
    """Half of the days at once, then thirty at a time; ``first`` is whether these begin a new chapter."""
    table, brought = made(shape, persons, days)
    ratios, chapters = [], []
    for _ in range(releases):
        visits = opened(table, Pure(10**6))
        series = visits.series("day", every="day", start=START, until=START + timedelta(days // 2 - 1), epsilon=EPSILON)
        while len(series) < days:
            until = START + timedelta(min(days, len(series) + 30) - 1)
            renew: Any = first if len(series.chapters) == 1 else True
            series = visits.series("day", every="day", until=until, renew=renew, epsilon=EPSILON)
        known = best(brought, EPSILON * len(series.chapters), True)
        ratios.append(sqrt(errors(series, brought)[0]) / known["error"])
        chapters.append(len(series.chapters))
    return {"ratio": float(np.sqrt(np.mean(np.square(ratios)))), "chapters": float(np.mean(chapters))}


def noise_alone() -> dict[str, Any]:
    """Deviations for a cap of one."""
    found: dict[str, Any] = {}
    for pure in (True, False):
        for days in (12, 60, 365, 1_800):
            one_by_one: tuple[Block, ...] = (opening(1, not pure),)
            one_by_one = blocks_for(one_by_one, days, not pure)
            known = {
                "this, at once": deviations([opening(days, not pure)], days, pure),
                "this, one after the other": deviations(one_by_one, days, pure),
                "best": _best_known(days, pure)[1],
                "binary tree": min(
                    (kind[1] for kind in factorisations(days, pure) if kind[0].startswith("2 ")),
                    key=lambda d: float(np.mean(d**2)),
                ),
                "bins added up": np.sqrt(np.arange(1, days + 1) * (2.0 if pure else 1.0)),
            }
            rms = {name: float(np.sqrt(np.mean(d**2))) for name, d in known.items()}
            found[f"{'Laplace' if pure else 'Gaussian'} noise, {days:,} bins"] = rms
    return found


def main() -> None:
    """Run the studies and store what they found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    persons, days, releases = (500, 120, 1) if quick else (PERSONS, DAYS, 3)
    report: dict[str, Any] = {"days": days, "persons": persons, "noise alone": noise_alone() if not quick else {}}
    for shape in SHAPES:
        report[f"{shape}, Laplace noise"] = at_once(shape, True, releases, persons, days)
        report[f"{shape}, Gaussian noise"] = at_once(shape, False, releases, persons, days)
        report[f"{shape}, appended"] = appended(shape, 1, persons, days)
        report[f"{shape}, appended in a chapter of its own"] = appended(shape, 1, persons, days, "now")
        print({name: facts for name, facts in report.items() if shape in name}, flush=True)
    if not quick:
        write("series", report)


if __name__ == "__main__":
    main()
