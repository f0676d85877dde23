"""Many quantiles by levels and extremes of a thousand groups: rank errors and times, no range given.

    python benchmarks/quantiles.py [--releases 50] [--quick]

Data: *ages*, whole numbers from 17 to 90 that hundreds of persons share, and *wages*, whole numbers of which hardly two
are alike, made with a fixed seed, of 48,842 and of 586,104 persons with a row each, and of 29,305 persons with twenty
rows each. Quantiles are i/(m+1); a rank error is the distance from i/(m+1) of all rows to the ranks that the released
value has, and of m quantiles the mean is taken. Groups: 200,000 persons, each in one of 1,000 groups, beside single
tables of 200 persons. Everything is asked through the public face at ε = 1. Figures are medians over releases, which
share the statements of the first one: seconds are those of the draws. Results go to benchmarks/results/quantiles.json.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from record import write

import tacit
from tacit.engines.remembering import Remembering

MANY = (3, 10, 50, 200)
PERSONS = {"48,842 persons": (48_842, 1), "586,104 persons": (586_104, 1), "29,305 persons, 20 rows each": (29_305, 20)}
GROUPS, MEMBERS = 1000, 200
PLENTY = tacit.Pure(10**6)
Values = np.ndarray[Any, np.dtype[np.int64]]


def ages(random: np.random.Generator, rows: int) -> Values:
    return np.clip(np.rint(random.gamma(6, 4, rows) + 17), 17, 90).astype(np.int64)


def wages(random: np.random.Generator, rows: int) -> Values:
    return np.rint(random.lognormal(10, 0.8, rows)).astype(np.int64)


def arrow(**columns: Values) -> pa.Table:
    return pa.table({name: pa.array(column) for name, column in columns.items()})


def ranks_off(ordered: Values, answers: Any) -> float:
    """The mean rank error of released quantiles."""
    values = np.array([float(answer) for answer in answers.values()])
    wanted = np.array(list(answers)) * len(ordered)
    low, high = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
    return float(np.mean(np.maximum(0, np.maximum(low - wanted, wanted - high))))


def remembered(table: tacit.Table) -> tacit.Table:
    """The same table, whose engine answers each statement once and then from memory: only draws are repeated."""
    tables = table.session._tables
    object.__setattr__(tables, "engine", Remembering(tables.engine))
    return table


def many(releases: int, quick: bool) -> list[dict[str, Any]]:
    """Rank errors of m quantiles."""
    found = []
    for source in (ages, wages):
        for words, (persons, rows) in PERSONS.items():
            if quick and persons > 50_000:
                continue
            values = source(np.random.default_rng(persons), persons * rows)
            data = arrow(person=np.repeat(np.arange(persons), rows), x=values)
            table, ordered = tacit.read(data, person="person", budget=PLENTY, table="t"), np.sort(values)
            begun = time.perf_counter()
            table.quantile("x", [Fraction(i, 1001) for i in range(1, 1001)], epsilon=1)
            print(f"1,000 quantiles: {time.perf_counter() - begun:.2f} s with the statements")
            remembered(table)
            for m in (*MANY, 1000):
                wanted = [Fraction(i, m + 1) for i in range(1, m + 1)]
                begun = time.perf_counter()
                again = releases if m <= max(MANY) else min(releases, 5)
                errors = [ranks_off(ordered, table.quantile("x", wanted, epsilon=1, fresh=True)) for _ in range(again)]
                seconds = (time.perf_counter() - begun) / again
                row = {"data": source.__name__, "of": words, "rows": rows, "quantiles": m, "releases": again}
                row |= {"error": median(errors), "worst": max(errors), "seconds": seconds}
                found.append(row)
                print(
                    *(f"{key}: {value:.4g}" if isinstance(value, float) else value for key, value in row.items()),
                    flush=True,
                )
    return found


def of_groups(releases: int) -> list[dict[str, Any]]:
    """Rank errors of medians and maxima by group, and of single groups."""
    random = np.random.default_rng(1)
    values = wages(random, GROUPS * MEMBERS)
    group = np.arange(len(values)) % GROUPS
    by_group = [np.sort(values[group == g]) for g in range(GROUPS)]
    data = arrow(person=np.arange(len(values)), g=group, x=values)
    table = remembered(tacit.read(data, person="person", budget=PLENTY, table="t"))
    one = arrow(person=np.arange(MEMBERS), x=by_group[0])
    alone = tacit.read(one, person="person", budget=PLENTY, table="t")

    def off(what: str, mine: Values, value: Any) -> float:
        rank = np.searchsorted(mine, float("-inf") if value is None else float(value), side="right")
        return float(abs(rank - MEMBERS / 2)) if what == "median" else float(MEMBERS - rank)

    found = []
    for what in ("median", "max"):
        asked = getattr(table.group_by("g", keys=range(GROUPS)), what)
        errors, begun = [], time.perf_counter()
        for _ in range(releases):
            answers = asked("x", epsilon=1, fresh=True)
            errors += [off(what, by_group[g], answer.value) for g, answer in answers.items()]
        seconds = (time.perf_counter() - begun) / releases
        single = [
            off(what, by_group[0], getattr(alone, what)("x", epsilon=1, fresh=True).value) for _ in range(4 * releases)
        ]
        row: dict[str, Any] = {"what": what, "releases": releases, "seconds": seconds}
        row |= {"groups": {"median": median(errors), "p95": float(np.quantile(errors, 0.95))}}
        row |= {"single": {"median": median(single), "p95": float(np.quantile(single, 0.95))}}
        found.append(row)
        print(row, flush=True)
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--releases", type=int, default=50)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    releases = 3 if given.quick else given.releases
    write("quantiles", {"many": many(releases, given.quick), "groups": of_groups(max(1, releases // 5))})


if __name__ == "__main__":
    main()
