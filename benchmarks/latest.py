"""The rows that were asked in the latest round, beside those in `asked` that belong to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

from asked import FIGURES as BEFORE
from asked import Figure, Results
from extension import PUBLISHED, ours

OLDER = ("TPC-H", "Groups", "Attacks", "Truth", "Many answers", "Second moments", "Over time")
"""Parts of `asked` that the latest round asked for."""


def _pattern(name: str, part: str = "seconds") -> Callable[[Results], Any]:
    return lambda results: results("patterns")[name][part]


def _theorem(*path: str) -> Callable[[Results], Any]:
    def measure(results: Results) -> Any:
        found = results("delta")["theorems"]
        for name in path:
            found = found[name]
        return found

    return measure


def _with_delta(results: Results) -> Any:
    return max(one["ratio"] for found in results("delta")["every statistic"].values() for one in found.values())


def _many_at_once(name: str) -> Callable[[Results], Any]:
    return lambda results: 1 / results("delta")["many at once"][name]["ratio"]


def _plain(what: str) -> Callable[[Results], Any]:
    return lambda results: results("beside_plain")["engines"]["duckdb"]["statistics"][what]["ratio"]


def _packing(results: Results) -> Any:
    found = {name: one for name, one in results("patterns").items() if name.startswith("hostile packing: distinct")}
    return max(one["seconds"] for one in found.values())


def _questions(results: Results) -> Any:
    found = results("crowd")
    return found["beside"]["questions_ms"]["p95"] / found["alone"]["questions_ms"]["p95"]


def _few(persons: int) -> Callable[[Results], Any]:
    """The median error of sums over few persons at ε = 1, the middle one of the shapes."""

    def measure(results: Results) -> float:
        rows = [row for row in results("accuracy")["rows"] if row[2:6] == [persons, 1, "tacit", "none"]]
        return float(median(row[6] for row in rows if row[0] == "sum"))

    return measure


def _sharper(name: str, most: float, reason: str) -> Figure:
    """A figure of before, asked more sharply."""
    return replace(
        next(figure for figure in BEFORE if figure.name == name),
        part="Frontier",
        most=most,
        reason=reason,
    )


BUSY = "time of the clock on a busy machine; the table of patterns has the processor's beside it"

NEW: tuple[Figure, ...] = (
    _sharper(
        "shapes, typical: median error over the oracle's",
        1.5,
        "a share of the cost finds the cap: with a cap chosen knowing the data the same noises have 1.48. Of what was "
        "simulated (benchmarks/bound_free_sum.py, 6) the best has 1.68, by twice as many caps, and 2.56 for the worst "
        "shape where the library has 2.52",
    ),
    _sharper(
        "shapes, worst: median error over the oracle's",
        2.2,
        "200,000 totals of a Pareto tail of 1.5, whose few largest carry the sum: data sets of that shape alone lie "
        "between 1.3 and 3.9. Of what was simulated (benchmarks/bound_free_sum.py, 6) the best has 2.28, a cap one "
        "place above the chosen one, and needs half as many persons again where there are few",
    ),
    Figure("Frontier", "a sum over 20 persons, ε = 1, middle shape: median error", _few(20), most=0.75, unit="%"),
    Figure(
        "Frontier",
        "a sum over 200 persons, ε = 1, middle shape: median error",
        _few(200),
        most=0.05,
        unit="%",
        reason="200 persons at ε = 1 are few, whose cap a scan finds. Of its parameters at random, those that err 14 % "
        "less (0.21, 0.13, 13) have a 99.9th percentile 230 times as large",
    ),
    Figure(
        "δ and ρ", "every statistic: error at (1, 10⁻⁶) over that at ε = 1, worst", _with_delta, most=1.05, unit="times"
    ),
    *(
        Figure("δ and ρ", f"{name}: times better with δ", _many_at_once(name), least=1.5, unit="times")
        for name in ("counts of 100 groups, everybody in 100", "the 10 most frequent of 30, 10 choices")
    ),
    Figure("δ and ρ", "median at ρ = 0.5²/8: mean rank error", _theorem("median", "rho = 0.5²/8"), most=5.06),
    Figure("δ and ρ", "maximum at ρ = 0.0183: window in persons", _theorem("max", "rho = 0.0183", "stated"), most=99),
    *(
        Figure("Patterns", f"{name}: seconds", _pattern(name), most=most, unit="s", reason=BUSY)
        for name, most in {
            "Gnutella: edges": 0.3,
            "Gnutella: triangles": 1,
            "Gnutella: two-paths": 8,
            "Gnutella: rectangles": 10,
            "two Deezer graphs: edges": 3,
            "two Deezer graphs: triangles": 15,
            "two Deezer graphs: two-paths": 150,
            "Q8": 8,
            "Q21": 10,
            "Q7": 12,
        }.items()
    ),
    *(
        Figure(
            "Patterns",
            f"{name}: error over that of the best cap",
            _pattern(name, "ratio"),
            most=most,
            unit="times",
        )
        for name, most in {
            "two Deezer graphs: edges": 2.5,
            "two Deezer graphs: triangles": 2.5,
            "two Deezer graphs: two-paths": 2.5,
            "a hub: edges": 2,
            "a hub: maximum degree": 2,
        }.items()
    ),
    Figure("Patterns", "a hostile packing of 20,000 rows, slowest", _packing, most=5, unit="s", reason=BUSY),
    *(
        Figure(
            "Beside the plain query",
            f"{what}, 10 million rows, DuckDB",
            _plain(what),
            most=most,
            unit="times",
            reason="a person's rows, sum and sum of squares take 1.25 times the sum alone; three short rounds follow"
            if what == "standard deviation"
            else "",
        )
        for what, most in {
            "mean": 1.5,
            "standard deviation": 1.5,
            "median": 2,
            "sums of 13 groups": 1.5,
            "different amounts": 2,
            "different branches": 2,
        }.items()
    ),
    Figure(
        "Beside the plain query",
        "a sample of 1 % of the persons over the whole, slowest",
        lambda results: max(one["ratio"] for one in results("beside_plain")["engines"]["duckdb"]["samples"].values()),
        most=0.3,
        unit="times",
        reason="to read two columns and to look up each row's person takes a quarter of the whole sum, which is itself "
        "no slower than the plain query; the keyed hashes of 200,000 persons take a fourteenth",
    ),
    Figure(
        "Beside the plain query",
        "a question to 1,000 rows, slowest",
        lambda results: max(results("beside_plain")["engines"]["duckdb"]["small"].values()),
        most=25,
        unit="ms",
        reason="a median takes two rounds, each with a snapshot and a thread of the engine; the others take 8 to 16 ms",
    ),
    Figure(
        "Gateway", "a cheap question beside a hostile analyst over its time alone", _questions, most=2, unit="times"
    ),
    *(
        Figure(
            "DuckDB's extension",
            f"{query}: error without bounds, at scale 1, below theirs with bounds 100 times too wide",
            ours(query),
            most=wide / 100,
            unit="%",
            below=True,
        )
        for query, (_, wide) in PUBLISHED.items()
    ),
)

FIGURES = (*NEW, *(figure for figure in BEFORE if figure.part in OLDER))
"""All of the latest round."""
EARLIER = tuple(figure for figure in BEFORE if figure.part not in OLDER)
"""All others."""
