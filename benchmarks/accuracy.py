"""How far answers lie from the truth without bounds to guess, beside other libraries with all kinds of bounds.

    python benchmarks/accuracy.py [--quick] [--persons N …] [--peers | --again STATISTIC …]

Seven statistics on six shapes of data (`field`) with 20 to 200,000 persons at ε = 0.1, 0.5, 1 and 4. Tacit is told
nothing. Each peer is told that a person has one value, or how many rows at most, and is given bounds that are too
small, too large, sensible, or the best there are (`field` says how they are found), or none where it finds bounds
itself. The oracle is not private: noise at the best cap that knows the data.

There are 200 releases, of sums over few persons 2,000. What they have in common is prepared once (`draws`, `peers`),
and the library's own code draws each. A peer stops after `SECONDS` of processor time for one cell, which only order
statistics of python-dp reach (`FEWER` says why). ``--peers`` and ``--again`` do a part of the study: the peers alone,
or Tacit alone, some statistics or all; everything else is kept as stored. Results go to
benchmarks/results/accuracy.json: one row for each cell, with the median and the 95th percentile of the error and the
number of releases, 0 where the peer refused them all; a pair (method, bound) that is missing is not offered.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import environments
import numpy as np
from draws import Draws
from field import BOUNDS, SHAPES, STATISTICS, Field
from lines import Lines, plot
from record import folder, read, write

SIZES = (20, 200, 2_000, 20_000, 200_000)
QUICK = (20, 2_000)
EPSILONS = ("0.1", "0.5", "1", "4")
RUNS, SECONDS = 200, 4.0
MORE = {("sum", 20): 2000, ("sum", 200): 2000}
"""More releases of Tacit where few persons scatter and a figure was asked for."""
FEW = 20
"""With fewer releases there is no 95th percentile."""
COLUMNS = ("statistic", "shape", "persons", "epsilon", "method", "bound", "median", "p95", "runs")
FEWER = {
    "python_dp": "its order statistics read all values again for each release: an algorithm answers once, and the "
    "summary it hands to another is the data"
}
"""Why a peer makes fewer releases than the others."""
Row = list[Any]


def cell(data: Field, statistic: str, answers: Sequence[Any]) -> Row:
    """Median and 95th percentile of the error, four digits each, and how many releases; of few, no percentile."""
    errors = [data.error(statistic, answer) for answer in answers]
    median, p95 = (float(f"{x:.4g}") for x in np.quantile(errors, [0.5, 0.95]))
    return [median, p95 if len(errors) >= FEW else None, len(errors)]


def of_tacit(data: Field, epsilons: Sequence[str], runs: int, statistics: Sequence[str]) -> Iterator[Row]:
    """Tacit, and the oracle."""
    draws = Draws(data)
    for statistic in statistics:
        for epsilon in epsilons:
            place = [statistic, data.shape, data.persons, float(epsilon)]
            count = max(runs, MORE.get((statistic, data.persons), 0) if runs == RUNS else 0)
            yield [*place, "tacit", "none", *cell(data, statistic, draws.answers(statistic, epsilon, count))]
            if (best := data.oracle_error(statistic, float(epsilon))) is not None:
                yield [*place, "oracle", "the truth", float(f"{best:.4g}"), None, 0]


def of_peer(name: str, sets: Sequence[Field], epsilons: Sequence[str], runs: int, seconds: float) -> Iterator[Row]:
    """One other library with every kind of bounds."""
    with tempfile.TemporaryDirectory() as place:
        paths = {data.shape: Path(place) / f"{data.shape}.npz" for data in sets}
        for data in sets:
            data.save(paths[data.shape])
        jobs: list[tuple[Field, dict[str, Any]]] = [
            (data, {"statistic": statistic, "epsilon": float(epsilon), "bound": bound, "bounds": ends})
            for data in sets
            for statistic in STATISTICS
            for epsilon in epsilons
            for bound, ends in {**data.bounds(statistic, float(epsilon)), "automatic": None}.items()
        ]
        limits = {"runs": runs, "seconds": seconds}
        replies = environments.speak(name, [job | limits | {"data": str(paths[data.shape])} for data, job in jobs])
    for (data, job), reply in zip(jobs, replies, strict=True):
        where = [job["statistic"], data.shape, data.persons, job["epsilon"], name, job["bound"]]
        if "answers" in reply:
            yield [*where, *cell(data, job["statistic"], reply["answers"])]
        elif "refused" in reply:
            yield [*where, None, None, 0]


def study(given: argparse.Namespace) -> None:
    """The asked part, kept after every number of persons beside everything else."""
    quick = given.quick
    epsilons, shapes = (EPSILONS[2:3], SHAPES[:2]) if quick else (given.epsilons, SHAPES)
    runs, seconds = (40, 0.05) if quick else (RUNS, given.seconds)
    peers, begun = {} if given.again is not None else environments.known(), time.perf_counter()
    for persons in given.persons or (QUICK if quick else SIZES):
        sets = [Field.of(shape, persons, seed=persons + SHAPES.index(shape)) for shape in shapes]
        found: list[Row] = []
        for name in (name for name, what in peers.items() if isinstance(what, dict)):
            found += of_peer(name, sets, epsilons, runs, seconds)
            print(f"{persons:>8,} persons, {name}: {time.perf_counter() - begun:.0f} s so far", flush=True)
        if not given.peers:
            found += [row for data in sets for row in of_tacit(data, epsilons, runs, given.again or STATISTICS)]
            print(f"{persons:>8,} persons, tacit: {time.perf_counter() - begun:.0f} s so far", flush=True)
        keep(found, {"peers": peers, "seconds": seconds} if peers else {})


def keep(found: Sequence[Row], facts: dict[str, Any]) -> None:
    """Store rows in place of those of the same statistic, number of persons, ε and method."""
    stored = read("accuracy") | {"bounds": BOUNDS, "columns": COLUMNS, "fewer": FEWER} | facts
    new = {(row[0], *row[2:5]) for row in found}
    rows = [row for row in stored.pop("rows", []) if (row[0], *row[2:5]) not in new] + list(found)
    rows.sort(key=lambda row: (STATISTICS.index(row[0]), SHAPES.index(row[1]), *row[2:6]))
    write("accuracy", {**stored, "rows": rows})
    picture(rows, folder() / "accuracy.svg")


def picture(rows: Sequence[Row], path: Path) -> None:
    """The error of a sum over persons, a panel for each shape, at ε = 1."""
    lines = {
        "tacit, no bounds": ("tacit", "none"),
        "sensible bound": ("opendp", "sensible"),
        "too large a bound": ("opendp", "too large"),
        "automatic bounds": ("python_dp", "automatic"),
        "oracle": ("oracle", "the truth"),
    }
    panels: dict[str, Lines] = {}
    for shape in SHAPES:
        chosen = [row for row in rows if (row[0], row[1], row[3]) == ("sum", shape, 1.0) and row[6] is not None]
        panel = {
            name: [(row[2], row[6]) for row in chosen if (row[4], row[5]) == which] for name, which in lines.items()
        }
        if chosen:
            panels[shape] = {name: line for name, line in panel.items() if line}
    plot(path, panels, "persons", "median relative error of a sum, ε = 1,")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--persons", type=int, nargs="*", help="only these numbers of persons; other results are kept")
    parser.add_argument("--epsilons", nargs="*", choices=EPSILONS, default=EPSILONS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="processor time a peer may take for one cell")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--peers", action="store_true", help="the peers alone, Tacit as stored")
    part.add_argument("--again", nargs="*", choices=STATISTICS, help="Tacit alone, these statistics or all")
    study(parser.parse_args())


if __name__ == "__main__":
    main()
