"""Tumult Analytics beside Tacit in a few cells, for a release of it is a Spark job of seconds.

    python benchmarks/tumult.py

The data, the sensible bounds and the errors are those of `accuracy`: 2,000 persons of one shape, ε = 1, 20 releases.
It needs Java 17 and makes an environment of its own, with its own Spark, so no other command runs it. Results go to
benchmarks/results/tumult.json.
"""

from __future__ import annotations

import tempfile
from math import inf
from pathlib import Path

import environments
from accuracy import cell
from draws import Draws
from field import SHAPES, Field
from record import write

STATISTICS = ("sum", "count", "mean", "quantiles")
SHAPE, PERSONS, EPSILON, BOUND, RUNS = SHAPES[0], 2_000, "1", "sensible", 20


def main() -> None:
    data = Field.of(SHAPE, PERSONS, seed=PERSONS)
    draws = Draws(data)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "data.npz"
        data.save(path)
        given = {"epsilon": float(EPSILON), "runs": RUNS, "seconds": inf, "data": str(path)}
        jobs = [given | {"statistic": name, "bounds": data.bounds(name, float(EPSILON))[BOUND]} for name in STATISTICS]
        replies = environments.speak("tumult", jobs)
    found = {}
    for name, reply in zip(STATISTICS, replies, strict=True):
        own, _, _ = cell(data, name, draws.answers(name, EPSILON, 10 * RUNS))
        median, p95, _ = cell(data, name, reply["answers"])
        found[name] = {"median": median, "p95": p95, "tacit": own, "seconds": float(f"{reply['seconds']:.3g}")}
    facts = {"shape": SHAPE, "persons": PERSONS, "epsilon": EPSILON, "bound": BOUND, "releases": RUNS}
    write("tumult", {"versions": environments.versions("tumult"), **facts, "statistics": found})


if __name__ == "__main__":
    main()
