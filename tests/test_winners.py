"""What the page on choosing a method says, against the stored results of the studies and the laws themselves."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from tacit.grids import digits, integers
from tacit.mechanisms import shifted_inverse

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = " ".join((ROOT / "docs" / "how-to" / "choosing-a-method.md").read_text(encoding="utf-8").split())


def results(study: str) -> Any:
    return json.loads((RESULTS / f"{study}.json").read_text())


OURS = ("inverse", "permute-and-flip")


def test_the_page_says_who_wins_the_medians() -> None:
    """The page's bounds leave room for what 60 draws a setting move, so that a study run again agrees with it."""
    rows = results("median")["rows"]
    persons, epsilons = sorted({row["n"] for row in rows}), sorted({row["epsilon"] for row in rows})
    assert {row["data"] for row in rows} == {"incomes", "heights"}
    settings = f"for {persons[0]} to {persons[-1]:,} persons, at ε = {epsilons[0]:g} and {epsilons[1]:g}: {len(rows)}"
    assert len(epsilons) == 2
    assert settings in PAGE
    assert "From 100 persons on, the best of them errs at least 1.5 times as much as the default" in PAGE
    for row in rows:
        if row["n"] >= 100:
            errors = {method: each["mean"] for method, each in row["errors"].items()}
            assert min(errors, key=errors.__getitem__) in OURS, row
            assert min(errors[name] for name in errors if name not in OURS) >= 1.5 * errors["inverse"], row


def test_the_page_gives_the_distances_of_shares() -> None:
    rows = results("ratio")["errors"]
    for row in rows:
        best = min(row[method] for method in ("naive", "two_counts", "local", "automatic"))
        if row["neighbours"] == "added or removed":
            assert row["two_counts"] <= best * 1.4, row
            if row["b"] >= 10_000 and row["share"] == 0.5:
                assert 1.15 <= row["two_counts"] / row["local"] <= 1.4, row
        elif row["b"] >= 10_000:
            assert min(row["local"], row["automatic"]) == best, row
            assert row["automatic"] <= 1.1 * row["local"], row
        else:
            assert row["two_counts"] <= best * 1.05, row
    assert "at most 40 % above the best" in PAGE
    assert "two counts err by 15 to 40 % more" in PAGE
    assert "within 10 % of it" in PAGE
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
