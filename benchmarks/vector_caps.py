"""Sums of groups beside the best cap that knows the data, and how the choice of the cap was tuned.

    python benchmarks/vector_caps.py [--tpch DIR] [--tune] [--quick]

- *shapes*: sums of 2 to 1,000 groups over four shapes of data, and a fifth, at ε = 0.5, 1 and 4. The error of all
  groups together (sum of absolute errors, and Euclidean) as a median of releases, over the median error of the best ℓ1
  cap, which looks at the data and pays nothing for it.
- *few persons*: sums of 1 to 4 groups over 20 to 1,000 persons in cents and in steps of 10^-4, the choice alone in
  floating point, by the scan and by the weights that only counts use.
- *daily revenue* (TPC-H at scale 1, customers private, ε = 4): relative Euclidean error of 100 days.
- ``--tune``: the choice alone, in floating point, for other shares, targets and powers, 2 to 10,000 groups, ε from 0.1
  to 4: the table from which the constants of `tacit.mechanisms.totals.vector_cap` were taken.

Results go to benchmarks/results/vector_caps.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from draws import Remembering
from record import read, write

from tacit import Private, Pure, Session
from tacit.mechanisms.totals import vector_cap
from tacit.tables.releasing.room import Room
from tacit.tables.sql.privacy_clause import Priced
from tacit.tables.sql.queries import understand
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.ways.caps import levels

BUDGET = Pure(10**9)
SUMS = "SELECT grp, SUM(value) FROM t GROUP BY grp"
EPSILONS = ("0.5", "1", "4")
PERSONS = {2: (3_000, 30_000), 10: (3_000, 30_000), 100: (30_000, 100_000), 1_000: (100_000,)}
TUNED = {**PERSONS, 5: (3_000, 30_000), 20: (30_000,), 50: (30_000,), 10_000: (300_000,)}
HEAVY, HARSH = 2.5, 1.7
"""Tails of the fourth shape and of a fifth that is told apart: of the latter not even the variance is finite."""
SETS = {2: 4, 10: 4, 100: 2, 1_000: 1}
"""Data sets of each shape: where a handful of persons decide which cap is best, one data set says little."""
LEVELS = np.array(levels(2**31, 5), dtype=float)
DAILY = (
    "FROM orders JOIN lineitem ON l_orderkey = o_orderkey "
    "WHERE o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1995-04-10' GROUP BY o_orderdate"
)
REVENUE = "SUM(l_extendedprice*(1-l_discount)/1000)"

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Rows = tuple[Integers, Integers, Integers]
"""Whose each row is, in which group, and its value."""


def shapes(groups: int, persons: int, rng: np.random.Generator) -> Iterator[tuple[str, Rows]]:
    """The same amount for each; rows in crowded and empty groups; amounts of a light, a heavy, a very heavy tail."""
    everybody = np.arange(persons)
    yield "one row", (everybody, rng.integers(0, groups, persons), np.full(persons, 100))
    person = np.repeat(everybody, rng.geometric(0.15, persons))
    crowd = 1 / np.arange(1, groups + 1)
    yield "rows", (person, rng.choice(groups, len(person), p=crowd / crowd.sum()), np.ones(len(person), np.int64))
    person = np.repeat(everybody, 1 + rng.poisson(4, persons))
    amount = np.maximum(1, rng.lognormal(7, 1, len(person))).astype(np.int64)
    yield "lognormal", (person, rng.integers(0, groups, len(person)), amount)
    for tail in (HEAVY, HARSH):
        person = np.repeat(everybody, 1 + rng.poisson(2, persons))
        amount = (100 * (1 + rng.pareto(tail, len(person)))).astype(np.int64)
        yield f"Pareto {tail}", (person, rng.integers(0, groups, len(person)), amount)


class Caps:
    """What caps leave out of some data."""

    def __init__(self, rows: Rows, groups: int, persons: int) -> None:
        person, group, value = rows
        totals = np.bincount(person, weights=value, minlength=persons)
        self.truth: Floats = np.bincount(group, weights=value, minlength=groups).astype(float)
        self.groups = groups
        self.above = np.array([int((totals > level).sum()) for level in LEVELS])
        self.lost = np.zeros((len(LEVELS), groups))
        for i, level in enumerate(LEVELS[: int(np.argmin(self.above)) + 1]):
            kept = value * np.minimum(1, level / np.maximum(totals, 1))[person]
            self.lost[i] = self.truth - np.bincount(group, weights=kept, minlength=groups)

    def errors(self, places: Integers, rate: float, rng: np.random.Generator) -> Floats:
        """The errors of releases at these levels, as rows of two: absolute, and Euclidean."""
        noise = rng.laplace(size=(len(places), self.groups)) * (LEVELS[places] / rate)[:, None]
        return both(np.rint(noise - self.lost[places]))  # released in whole units

    def best(self, epsilon: float, draws: int, rng: np.random.Generator) -> Floats:
        """The smallest median errors that any one level gives."""
        near = np.flatnonzero(self.above <= 20 * (self.groups + 2) / epsilon)
        near = near[: int(np.argmin(self.above[near])) + 1]
        medians: Floats = np.array([np.median(self.errors(np.full(draws, i), epsilon, rng), axis=0) for i in near])
        return np.asarray(medians.min(axis=0), float)


def both(errors: Floats) -> Floats:
    """Sums of absolute errors beside Euclidean ones, a row for each release."""
    return np.stack([np.abs(errors).sum(1), np.sqrt((errors**2).sum(1))], axis=1)


class Releases:
    """Releases of one question from one reading of the data."""

    def __init__(self, session: Session, relation: Any, statistic: Statistic) -> None:
        self._session, self._relation, self._statistic = session, relation, statistic
        self._engine: Any = Remembering(session._tables.engine)

    def values(self, cost: Any, runs: int) -> Floats:
        """Released values, a row for each release."""
        return np.array([self._once(cost) for _ in range(runs)])

    def _once(self, cost: Any) -> list[float]:
        tables, source = self._session._tables, self._session._releaser.randomness
        engine = self._engine
        room = Room(engine, engine, self._relation, source, cost, "any one", most_groups=tables.most_groups)
        answers: Any = self._statistic.release(room)
        return [float(answer) for answer in answers.values()]


def of_shapes(quick: bool) -> list[dict[str, Any]]:
    """Every shape, through the engine."""
    rng = np.random.default_rng(21)
    found: dict[tuple[Any, ...], list[Floats]] = {}
    runs = 5 if quick else 100
    for groups in (2, 10) if quick else PERSONS:
        persons = PERSONS[groups][-1]
        for _ in range(SETS[groups]):
            for name, rows in shapes(groups, persons, rng):
                caps = Caps(rows, groups, persons)
                columns: Any = dict(zip(("person", "grp", "value"), rows, strict=True))
                data = pa.table(columns)
                session = Session({"t": Private(data, person="person")}, BUDGET)
                query = understand(session._releaser, Priced(SUMS, Pure(1)), range(groups))
                releases = Releases(session, query.relation, query.statistics[0])
                for epsilon in EPSILONS:
                    errors = both(releases.values(Pure(epsilon), runs) - caps.truth)
                    best = caps.best(float(epsilon), 20 if quick else 300, rng)
                    found.setdefault((groups, name, persons, epsilon), []).append(errors / best)
    cells = []
    for place, ratios in found.items():
        absolute, euclidean = np.median(np.concatenate(ratios), axis=0)
        named = dict(zip(("groups", "shape", "persons", "epsilon"), place, strict=True))
        cells.append(named | {"absolute": float(absolute), "euclidean": float(euclidean)})
    return cells


def daily_revenue(directory: Path, runs: int) -> dict[str, Any]:
    """Revenue of 100 days."""
    tables = {
        "orders": Private(directory / "orders.parquet", person="o_custkey"),
        "lineitem": Private(directory / "lineitem.parquet", through={"l_orderkey": "orders.o_orderkey"}),
    }
    session = Session(tables, BUDGET)
    days = [date(1995, 1, 1) + timedelta(days=i) for i in range(100)]
    query = understand(session._releaser, Priced(f"SELECT o_orderdate, {REVENUE} {DAILY}", Pure(4)), days)
    files = DAILY.replace("orders JOIN", f"'{directory}/orders.parquet' JOIN")
    files = files.replace("JOIN lineitem", f"JOIN '{directory}/lineitem.parquet'")
    rows = duckdb.connect().execute(f"SELECT {REVENUE} {files} ORDER BY o_orderdate").fetchall()
    truth = np.array([float(row[0]) for row in rows])
    values = Releases(session, query.relation, query.statistics[0]).values(Pure(4), runs)
    errors = np.linalg.norm(values - truth, axis=1) / np.linalg.norm(truth)
    return {"releases": runs, "median": float(np.median(errors)), "p95": float(np.quantile(errors, 0.95))}


# ---- tuning: the choice in floating point, for constants that the library does not have -----------------------------


def chosen(
    caps: Caps, epsilon: float, share: float, target: float, power: float | None, draws: int, rng: Any
) -> Integers:
    """Places of levels: by weights that fall with a power of the level, or by the scan."""
    left, rate, split = target * caps.groups / epsilon, share * epsilon, vector_cap.split(caps.groups)
    if power is not None:
        weights = -power * np.log(LEVELS) - rate * np.maximum(0, caps.above - left)
        chances = np.exp(weights - weights.max())
        return np.asarray(rng.choice(len(LEVELS), draws, p=chances / chances.sum()))
    first, each = (1 - np.exp(-rate * float(part)) for part in (split, 1 - split))
    lowered = rng.geometric(first, (draws, 1)) - rng.geometric(each, (draws, len(LEVELS)))
    stops = caps.above[None, :] <= left - lowered
    return np.where(stops.any(1), stops.argmax(1), len(LEVELS) - 1)


def few_persons(draws: int) -> list[dict[str, Any]]:
    """Median errors over the total, at shares, targets and splits of the library."""
    rng = np.random.default_rng(4)
    cells = []
    for groups, persons, unit, epsilon in product((1, 2, 3, 4), (20, 100, 300, 1_000), (100, 10_000), (0.5, 1, 4)):
        share, target = float(vector_cap.share(groups)), 1.5
        found: dict[str, list[float]] = {"scan": [], "weights": [], "best": []}
        for seed in range(6):  # the same data in either unit
            data = np.random.default_rng([groups, persons, seed])
            person = np.repeat(np.arange(persons), 1 + data.poisson(2, persons))
            amount = np.maximum(1, unit * data.lognormal(4, 1, len(person))).astype(np.int64)
            caps = Caps((person, data.integers(0, groups, len(person)), amount), groups, persons)
            for name, power in (("scan", None), ("weights", 3.0)):
                places = chosen(caps, epsilon, share, target, power, draws, rng)
                found[name] += list(caps.errors(places, (1 - share) * epsilon, rng)[:, 0] / caps.truth.sum())
            found["best"].append(caps.best(epsilon, draws, rng)[0] / caps.truth.sum())
        named = {"groups": groups, "persons": persons, "steps to a unit": unit, "epsilon": epsilon}
        cells.append(named | {name: float(np.median(errors)) for name, errors in found.items()})
    return cells


def tuned() -> list[dict[str, Any]]:
    """Ratios over the best cap for other constants than those chosen."""
    rng = np.random.default_rng(14)
    found: list[dict[str, Any]] = []
    for groups in sorted(TUNED):
        data = [Caps(rows, groups, n) for n in TUNED[groups] for _, rows in shapes(groups, n, rng)]
        draws = 200 if groups <= 100 else 60
        asked = [(caps, e) for caps in data for e in (0.1, 0.5, 1, 4) if caps.above[0] * e > 40 * groups or e >= 0.5]
        bests = [caps.best(e, draws, rng) for caps, e in asked]
        kinds: list[float | None] = [None, 3.0, 5.0] if groups <= 20 else [None, 8.0]
        for power in kinds:
            for share in (0.25, 0.15, 0.1, 0.05):
                for target in (0.0, 0.7, 1.5, 3.0):
                    ratios = [
                        np.median(
                            caps.errors(chosen(caps, e, share, target, power, draws, rng), (1 - share) * e, rng), axis=0
                        )
                        / best
                        for (caps, e), best in zip(asked, bests, strict=True)
                    ]
                    found.append({"groups": groups, "power": power, "share": share, "target": target,
                                  "typical": float(np.median(ratios)), "worst": float(np.max(ratios))})  # fmt: skip
        print(groups, min(found[-16 * len(kinds) :], key=lambda one: one["typical"] + one["worst"] / 4), flush=True)
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tpch", type=Path, help="a folder with the tables of TPC-H at scale 1 as Parquet files")
    parser.add_argument("--tune", action="store_true", help="measure other constants too")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    report = dict(read("vector_caps"))
    report["shapes"] = of_shapes(given.quick)
    for name, harsh in (("", False), (" of a very heavy tail", True)):
        asked = [one for one in report["shapes"] if (one["shape"] == f"Pareto {HARSH}") is harsh]
        ratios = [one[norm] for one in asked for norm in ("absolute", "euclidean")]
        report[f"typical{name}"], report[f"worst{name}"] = median(ratios), max(ratios)
    report["few persons"] = few_persons(20 if given.quick else 200)
    if given.tpch:
        report["daily revenue"] = daily_revenue(given.tpch, 5 if given.quick else 60)
    if given.tune:
        report["tuning"] = tuned()
    write("vector_caps", report)
    print({name: found for name, found in report.items() if name not in ("shapes", "few persons", "tuning", "facts")})


if __name__ == "__main__":
    main()
