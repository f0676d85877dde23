"""The comparison with others, from what the studies in benchmarks/ stored: only what was measured or published."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
sys.path.append(str(RESULTS.parent))

JOINS = {
    "Q12": ("rows of `lineitem`, an order protected", "automatic bounds"),
    "Q18": ("quantity ordered, a customer protected", "automatic bounds"),
    "Q5": ("rows of a join, customers and suppliers protected", "recursive mechanism"),
    "edges": ("edges of a graph, a node protected", "shifted inverse, 2022"),
    "Q9 max": ("largest profit: rows above the answer", "shifted inverse, 2022"),
    "distinct": ("different values, a supplier protected", "shifted inverse, 2022"),
}
"""The questions of the published comparison, and whose published error is the smallest."""


def stored(name: str) -> Any:
    """The results of a study."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ("---",) * len(head), *rows))


SHORT = 4
"""So many rows has a table of the README; with its head it is six lines."""


def joins(only: Sequence[str] = tuple(JOINS)) -> str:
    """Absolute errors at ε = 1 beside the best that others published."""
    found = stored("joins")
    rows = [
        (words, f"{found[name]['error']:,.0f}", f"{found[name]['published']:,}", best)
        for name, (words, best) in JOINS.items()
        if name in found and name in only
    ]
    return table(("question (TPC-H and a graph, ε = 1)", "Tacit", "best published", "by"), rows)


def sums(most: int | None = None) -> str:
    """Relative errors of a sum without bounds at ε = 1, beside an oracle that knows the best cap."""
    found = stored("bound_free_sum")["results"]["1.0"]["data sets"]
    wanted = {
        "evidence A": "heavy tails, 200,000 persons",
        "lognormal, 20,000": "lognormal, 20,000 persons",
        "Pareto 1.5, 20,000": "Pareto 1.5, 20,000 persons",
        "exponential, 20,000": "exponential, 20,000 persons",
        "lognormal, 2,000": "lognormal, 2,000 persons",
    }
    rows = [
        (
            words,
            _percent(found[name]["median"] / found[name]["ratio"]),
            _percent(found[name]["median"]),
            _percent(found[name]["p95"]),
        )
        for name, words in wanted.items()
        if name in found
    ][:most]
    return table(("data", "best cap, known (not private)", "Tacit, no bound", "Tacit, 95th percentile"), rows)


def libraries() -> str:
    """Median errors of a sum beside other libraries with all kinds of bounds; empty before that study has run."""
    if not (RESULTS / "accuracy.json").exists():
        return ""
    rows = _sums_of_libraries()
    persons = rows[0]["persons"]
    errors = {(row["method"], row["bound"], row["shape"]): row["median"] for row in rows}
    shapes = list(dict.fromkeys(shape for _, _, shape in errors))
    ways = sorted({(method, bound) for method, bound, _ in errors}, key=_rank)
    body = [
        (method, bound, *(_percent(errors[method, bound, s]) if (method, bound, s) in errors else "–" for s in shapes))
        for method, bound in ways
    ]
    return table((f"a sum over {persons:,} persons, ε = 1", "bound given", *shapes), body)


def best_libraries() -> str:
    """The best median error among the libraries with each kind of bound, in short."""
    if not (RESULTS / "accuracy.json").exists():
        return ""
    rows = _sums_of_libraries()
    shapes = list(dict.fromkeys(row["shape"] for row in rows))[:4]
    kinds = {
        "Tacit, no bound": [row for row in rows if row["method"] == "tacit"],
        **{
            f"best library, {words}": [row for row in rows if row["bound"] == bound and row["method"] != "oracle"]
            for bound, words in BOUNDS.items()
        },
    }
    body = [
        (words, *(_percent(min(row["median"] for row in each if row["shape"] == shape)) for shape in shapes))
        for words, each in kinds.items()
    ]
    return table((f"a sum over {rows[0]['persons']:,} persons, ε = 1", *shapes), body)


BOUNDS = {
    "oracle": "best bound for these data",
    "sensible": "bound of the right size",
    "too large": "bound 1,000 times that",
}
"""What a library may be told."""
PERSONS = 20_000
"""The size shown, where it was measured."""


def releases() -> str:
    """How many releases stand behind a median of that table."""
    made = [row["runs"] for row in _sums_of_libraries() if row["method"] != "oracle"]
    return str(min(made)) if min(made) == max(made) else f"{min(made)} to {max(made)}"


def _sums_of_libraries() -> list[dict[str, Any]]:
    found = stored("accuracy")
    rows = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    rows = [row for row in rows if row["statistic"] == "sum" and row["epsilon"] == 1 and row["median"] is not None]
    sizes = {row["persons"] for row in rows}
    return [row for row in rows if row["persons"] == (PERSONS if PERSONS in sizes else max(sizes))]


def _rank(way: tuple[str, str]) -> tuple[int, str, str]:
    return {"tacit": 0, "oracle": 2}.get(way[0], 1), *way


def draw_sums(path: Path) -> None:
    """The picture of the README: errors of sums against the number of persons."""
    from lines import plot

    found = stored("bound_free_sum")["results"]["1.0"]["data sets"]
    panels = {}
    for shape in ("lognormal", "Pareto 1.5", "exponential"):
        each = [(persons, found[f"{shape}, {persons:,}"]) for persons in (2_000, 20_000, 200_000)]
        panels[f"{shape} totals"] = {
            "Tacit, no bound given": [(n, 100 * x["median"]) for n, x in each],
            "best cap, known": [(n, 100 * x["median"] / x["ratio"]) for n, x in each],
        }
    plot(path, panels, "persons", "median error of a sum in percent")


def speed() -> str:
    """The time of a whole sum against the plain per-person query of the same engine."""
    rows = []
    for size, facts in stored("engine").items():
        if isinstance(facts, dict) and "sum" in facts:
            kinds = {"amount": "integer", "price": "double", "charge": "decimal"}
            for name, measured in facts["sum"].items():
                rows.append((size, kinds.get(name, name), f"{measured['ratio']:.2f}", f"{measured['ratio p95']:.2f}"))
    return table(("table", "column", "times the plain query", "95th percentile"), rows)


def page() -> str:
    """The whole page: short tables, and the long ones folded."""
    beside = libraries()
    every = folded("Every library with every bound", f"{beside}\n\nEach is the median of {releases()} releases.")
    return INTRODUCTION.format(
        sums=sums(),
        best=best_libraries() or NOT_YET,
        libraries=every if beside else "",
        joins=joins(),
        speed=folded("Ratios by table and type of column", speed()),
        ratio=_ratio(),
        duckdb=duckdb_extension(),
    )


def duckdb_extension() -> str:
    """The five queries of the extension of DuckDB, as the page of results has them."""
    from extension import section

    text: str = section(stored("tpch_queries"))
    return text


def folded(title: str, text: str) -> str:
    """A part that opens on a click."""
    return "\n".join([f'??? note "{title}"', "", *(f"    {line}".rstrip() for line in text.splitlines())])


def _percent(share: float) -> str:
    return f"{100 * share:,.0f} %" if share >= 1 else f"{100 * share:.2g} %"


INTRODUCTION = """# Compared with others

How accurate and how quick Tacit is beside other tools, where it does worse too. Every number of ours comes from a file
in `benchmarks/results/`, written by a script beside it; nothing is typed by hand. Numbers that others published are
marked as theirs. [All results](results.md) have a page of their own, which begins with a scoreboard.

## A sum without bounds

Nobody knows in advance how much a person may contribute. The first column is the best that any cap could do with
Laplace noise if it were chosen by looking at the data, which is not private. The others are Tacit's, which was told
nothing.

{sums}

## Beside other libraries

The median error of a sum over persons with one value each. OpenDP, PipelineDP, diffprivlib and PyDP are given a bound,
and the best of the four is shown. Tacit is given none.

{best}

{libraries}

## Joins, graphs, maxima, different values

These are the queries and data of a published comparison. Errors are means over the middle 60 % of runs.

{joins}

## Beside the extension of DuckDB

{duckdb}
## What privacy costs in time

{ratio}

{speed}

## What others do better

- Libraries with a bound that fits the data are as accurate as Tacit or better: they spend nothing on finding it. If you
  know a bound that holds for everybody and is not much too large, `range=` says so where a statistic takes it.
- OpenDP composes transformations that Tacit cannot express, in three languages, with a proof for each part.
- Tumult Analytics and PipelineDP run pipelines of many steps on clusters; Tacit answers one statement at a time.
- Google's dp_accounting composes more queries, of more mechanisms, and faster. Tacit's budgets compose in exact
  arithmetic, and their tests use dp_accounting as a check.
"""


NOT_YET = "Not measured on this machine yet: `benchmarks/accuracy.py` does it."
README = Path(__file__).parents[2] / "README.md"


def readme(text: str) -> str:
    """The README with its tables as they were measured, each between two remarks."""
    few = joins(("Q12", "Q5", "edges", "distinct"))
    for name, part in {"sums": sums(SHORT), "libraries": best_libraries(), "joins": few, "speed": _ratio()}.items():
        begin, end = f"<!-- {name} -->\n", "<!-- end -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = before + begin + (f"\n{part}\n\n" if part else "") + end + after
    return text


def _ratio() -> str:
    measured = stored("engine").get("10,000,000 rows", {}).get("sum", {})
    if not measured:
        return ""
    ratios = sorted(each["ratio"] for each in measured.values())
    return (
        f"A private sum over 10 million rows takes {ratios[0]:.2f} to {ratios[-1]:.2f} times the plain per-person "
        "query of the same engine, depending on the type of its column."
    )


if __name__ == "__main__":
    draw_sums(README.parent / "docs" / "images" / "sums.svg")
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
