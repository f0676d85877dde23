"""What the studies revealed and what was done about it: before and after, measured side by side.

    python benchmarks/changes.py [--quick]

- *quartiles for little*: three quartiles at ε = 0.1 shared one answer of the engine, which left each too few steps, so
  that most of the chance went to values far away. Each now has an answer of its own. Mean rank error of the three.
- *sums by group*: the cap on a person's vector was chosen as for one number; with more groups it should be lower, as
  its noise falls on each. Error of ten groups together, relative to the sum.
- *far off by group*: that cap was chosen by a single scan, which now and then ran on far beyond everybody, at any ε. It
  is now found roughly first. The worst relative error among fifty releases of the sums and standard deviations of three
  groups of 1,000 persons, and in how many of all releases a group was off by a fifth.
- *means*: sum and count had half of the cost each, and the sum noise for the largest totals. Where there are many
  persons the sum is now taken around a rough mean. Error relative to the mean of the absolute values, for values of one
  row each, ages of one row each, and ratings of many rows each.
- *nearest value of a grid*: found by two searches that made powers of ten anew; now by one. Milliseconds of processor
  time for a thousand values.

Results go to benchmarks/results/changes.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction
from math import ceil, log
from time import process_time
from typing import Any, cast

import numpy as np
import pyarrow as pa
from draws import Draws
from field import Field
from record import write
from vector_caps import Releases

from tacit import Private, Pure, Session, grids, read
from tacit.grids import Grid
from tacit.mechanisms.totals.vector_cap import share, vector_cap
from tacit.tables.sql.privacy_clause import Priced
from tacit.tables.sql.queries import understand
from tacit.tables.statistics import mean, quantiles
from tacit.tables.statistics.ways import vectors
from tacit.tables.statistics.ways.caps import choose_cap


def shared_reach(epsilon: Fraction, size: float, together: int) -> tuple[int, int]:
    """As before: all quantiles in one answer."""
    return min(ceil(2 * (log(size) + 25) / epsilon), 10_000 // (6 * together) - 2), together


def side_by_side(what: str, runs: int, module: Any, name: str, old: Any, measured: Callable[[], list[float]]) -> Any:
    """Median and 95th percentile of the error with a part of the library as it was and as it is."""
    found: dict[str, Any] = {"what": what, "runs": runs}
    own = getattr(module, name)
    for when, part in (("before", old), ("after", own)):
        setattr(module, name, part)
        errors = measured()
        found[when] = {"median": float(np.median(errors)), "p95": float(np.quantile(errors, 0.95))}
    setattr(module, name, own)
    return found


def errors_of(data: Field, statistic: str, epsilon: str, runs: int) -> list[float]:
    """Of as many releases."""
    return [data.error(statistic, answer) for answer in Draws(data).answers(statistic, epsilon, runs)]


def quartiles(runs: int) -> Any:
    what = "three quartiles of 200,000 persons, ε = 0.1: mean rank error"
    data = Field.of("lognormal", 200_000, 1)
    return side_by_side(what, runs, quantiles, "reach", shared_reach, lambda: errors_of(data, "quantiles", "0.1", runs))


def as_for_one_number(room: Any, steps: Any, counts: Any, groups: int, allowance: Any, counted: bool) -> Any:
    """As before: a cap that few persons exceed, however many groups there are."""
    part = share(groups)
    return choose_cap(room, steps, counts, allowance.share(part)), allowance.share(1 - part)


def by_group(runs: int) -> Any:
    what = "sums of ten groups, 2,000 persons, ε = 1: relative error"
    data = Field.of("lognormal", 2_000, 2_000)
    return side_by_side(
        what, runs, vectors, "choose_norm", as_for_one_number, lambda: errors_of(data, "group by", "1", runs)
    )


BATCH = 50
"""So many releases, of which the worst is told."""


def by_a_single_scan(
    room: Any, steps: Any, above: Any, releases: int, allowance: Any, left: Any, counted: bool = False
) -> int:
    """As before: all of the choice's cost for one scan."""
    law = vector_cap(above, steps, releases, target=left, counts=counted, **allowance.keywords)
    return int(room.draw(law))


def far_off(asked: str, name: str, epsilon: str, runs: int) -> Any:
    """The worst of every fifty releases, and the share of all that were off by a fifth."""
    who = np.arange(3_000)
    columns: dict[str, Any] = {"who": who, "g": who % 3, "x": 1_000 * (who % 3) + who // 3}
    table = pa.table(columns)
    session = Session({"t": Private(table, person="who")}, Pure(10**9))
    query = understand(session._releaser, Priced(f"SELECT g, {asked}(x) FROM t GROUP BY g", Pure(1)), range(3))
    releases = Releases(session, query.relation, query.statistics[0])
    groups = [np.asarray(table["x"])[who % 3 == g] for g in range(3)]
    truth = np.array([np.sum(x) if asked == "SUM" else np.std(x) for x in groups])
    shares: list[float] = []

    def worst() -> list[float]:
        errors = np.abs(releases.values(Pure(epsilon), runs) / truth - 1).max(axis=1)
        shares.append(float((errors > 0.2).mean()))
        return [float(np.max(errors[i : i + BATCH])) for i in range(0, runs, BATCH)]

    what = f"{name} of three groups, 3,000 persons, ε = {epsilon}: relative error of the worst of {BATCH} answers"
    found = side_by_side(what, runs, vectors, "choose_level", by_a_single_scan, worst)
    return found | {"off by a fifth": dict(zip(("before", "after"), shares, strict=True))}


def around_a_centre(what: str, person: Any, values: Any, runs: int) -> Any:
    """A mean at ε = 1 with the sum as it is, and around a rough mean."""
    table = read(pa.table({"person": person, "v": values}), person="person", budget=Pure(10**9))
    truth, size = float(np.mean(values)), float(np.mean(np.abs(values)))

    def errors() -> list[float]:
        return [abs(float(table.mean("v", epsilon=1, fresh=True)) - truth) / size for _ in range(runs)]

    return side_by_side(f"mean of {what}, 5,000 persons, ε = 1: relative error", runs, mean, "MANY", 10**9, errors)


def of_means(runs: int) -> dict[str, Any]:
    """Three tables."""
    rng, persons = np.random.default_rng(7), np.arange(5_000)
    many = np.repeat(persons, np.rint(1 + rng.lognormal(2, 1, len(persons))).astype(int))
    tables = {
        "skewed values": (persons, Field.of("lognormal", len(persons), 7).value),
        "ages": (persons, np.rint(rng.normal(40, 12, len(persons)).clip(1, 95)).astype(int)),
        "ratings of many rows each": (many, rng.integers(1, 6, len(many))),
    }
    return {f"mean of {what}": around_a_centre(what, *table, runs) for what, table in tables.items()}


def two_searches(grid: Grid, x: Fraction) -> int:
    """As before."""
    low, high = grid.floor(x), grid.ceil(x)
    assert low is not None
    assert high is not None
    return low if x - grid.value(low) <= grid.value(high) - x else high


def nearest() -> dict[str, Any]:
    """The time for a thousand values among numbers of four digits."""
    module = cast(Any, grids)
    grid, cached = grids.digits(4, 0, 18), module._ten
    values = [Fraction(37 * k * k) for k in range(1000)]
    assert [two_searches(grid, x) for x in values] == [grid.nearest(x) for x in values]
    found: dict[str, Any] = {"what": "nearest of a grid for a thousand values: milliseconds"}
    for name, ten, find in (("before", cached.__wrapped__, two_searches), ("after", cached, Grid.nearest)):
        module._ten, times = ten, []
        for _ in range(7):
            begun = process_time()
            for x in values:
                find(grid, x)
            times.append(1000 * (process_time() - begun))
        found[name] = {"median": float(np.median(times)), "p95": max(times)}
    module._ten = cached
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    runs = 20 if parser.parse_args().quick else 100
    found = {
        "nearest value of a grid": nearest(),
        "quartiles for little": quartiles(runs),
        "sums by group": by_group(2 * runs),
        "sums far off": far_off("SUM", "sums", "4", 10 * runs),
        "deviations far off": far_off("STDDEV", "standard deviations", "4", 10 * runs),
        **of_means(2 * runs),
    }
    for name, one in found.items():
        print(name, one)
    write("changes", {"changes": found})


if __name__ == "__main__":
    main()
