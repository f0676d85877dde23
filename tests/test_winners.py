"""What the page on choosing a method says, against the stored results of the studies and the laws themselves."""

import json
from itertools import pairwise
from math import floor
from pathlib import Path
from typing import Any

from tacit.grids import digits, integers
from tacit.mechanisms import shifted_inverse

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = " ".join((ROOT / "docs" / "how-to" / "choosing-a-method.md").read_text(encoding="utf-8").split())


def results(study: str) -> Any:
    return json.loads((RESULTS / f"{study}.json").read_text())


def test_inverse_sensitivity_wins_every_median() -> None:
    for row in results("median")["rows"]:
        errors = {method: row["errors"][method]["mean"] for method in row["errors"]}
        assert min(errors, key=errors.__getitem__) in ("inverse", "permute-and-flip"), row


def test_the_page_counts_the_winners_of_medians() -> None:
    rows = results("median")["rows"]
    persons, epsilons = sorted({row["n"] for row in rows}), sorted({row["epsilon"] for row in rows})
    assert {row["data"] for row in rows} == {"incomes", "heights"}
    settings = f"for {persons[0]} to {persons[-1]:,} persons, at ε = {epsilons[0]:g} and {epsilons[1]:g}: {len(rows)}"
    assert len(epsilons) == 2
    assert settings in PAGE
    means = [{name: each["mean"] for name, each in row["errors"].items()} for row in rows]
    for ours, theirs in (("inverse", "exponential"), ("permute-and-flip", "permute_and_flip")):
        won = sum(min(each, key=each.__getitem__) == ours for each in means)
        line = next(part for part in PAGE.split("| `") if part.startswith(f'"{theirs}"'))
        assert f"in {won} of {len(rows)} settings" in line
    behind = [
        min(each[name] for name in each if name not in ("inverse", "permute-and-flip")) / each["inverse"]
        for row, each in zip(rows, means, strict=True)
        if row["n"] >= 100
    ]
    assert f"at least {floor(10 * min(behind)) / 10} times as much" in PAGE


def test_two_counts_are_never_far_from_the_best_share() -> None:
    methods = ("naive", "two_counts", "local", "automatic")
    for row in results("ratio")["errors"]:
        best = min(row[method] for method in methods)
        if row["neighbours"] == "added or removed":
            assert row["two_counts"] <= best * 1.305, row
            if row["b"] >= 10_000 and row["share"] == 0.5:
                assert 1.15 <= row["two_counts"] / row["local"] <= 1.35, row
        elif row["b"] >= 10_000:
            assert min(row["local"], row["automatic"]) == best, row
        else:
            assert row["two_counts"] == best, row


def test_the_page_gives_the_distances_of_shares() -> None:
    rows = results("ratio")["errors"]
    large = [row for row in rows if row["b"] >= 10_000]
    added = [row for row in large if row["neighbours"] == "added or removed" and row["share"] == 0.5]
    more = [round(100 * (row["two_counts"] / row["local"] - 1)) for row in added]
    assert f"two counts err by {min(more)} to {max(more)} % more" in PAGE
    assert f"at most {max(more)} % above the best" in PAGE
    replaced = [row for row in large if row["neighbours"] != "added or removed"]
    assert max(row["automatic"] / row["local"] for row in replaced) <= 1.05
    assert "within 5 % of it" in PAGE
    assert f"for b from {min(row['b'] for row in rows)} to {max(row['b'] for row in rows):,}" in PAGE
    assert f"shares from {min(row['share'] for row in rows)} to {max(row['share'] for row in rows)}" in PAGE


def test_a_scan_has_the_smaller_window_on_every_grid() -> None:
    """Windows never fall as a grid grows, so comparing neighbouring sizes decides all sizes between them."""
    sizes = [*range(2, 9), *(2**k for k in range(4, 17)), *(2**k for k in range(20, 65, 4))]
    found = {
        method: [shifted_inverse([0], integers(0, size - 1), 1, method).accuracy("0.05").window or 0 for size in sizes]
        for method in ("scan", "exponential")
    }
    assert all(windows == sorted(windows) for windows in found.values())
    assert all(scan < other for scan, other in zip(found["scan"], found["exponential"], strict=True))
    between = zip(pairwise(sizes), found["scan"][1:], found["exponential"], strict=False)
    assert all(scan < other for (low, high), scan, other in between if high > low + 1)
    assert digits(3, 0, 18).size == 34_201


def test_the_page_gives_the_window_of_the_bayesian_search() -> None:
    window = results("searches")["windows"]["1"]["bayesian_search"]["stated"]
    assert f"its window on 2^64 values is {window}." in PAGE
