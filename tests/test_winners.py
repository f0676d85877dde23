"""What the page on choosing a method says, against the stored results of the studies."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"


def results(study: str) -> Any:
    return json.loads((RESULTS / f"{study}.json").read_text())


def test_inverse_sensitivity_wins_every_median() -> None:
    for row in results("median")["rows"]:
        errors = {method: row["errors"][method]["mean"] for method in row["errors"]}
        assert min(errors, key=errors.__getitem__) in ("inverse", "permute-and-flip"), row


def test_two_counts_are_never_far_from_the_best_share() -> None:
    methods = ("naive", "two_counts", "local", "automatic")
    for row in results("ratio")["errors"]:
        best = min(row[method] for method in methods)
        if row["neighbours"] == "added or removed":
            assert row["two_counts"] <= best * 4 / 3, row
            if row["b"] >= 10_000 and row["share"] == 0.5:
                assert 1.15 <= row["two_counts"] / row["local"] <= 1.35, row
        elif row["b"] >= 10_000:
            assert min(row["local"], row["automatic"]) == best, row
        else:
            assert row["two_counts"] == best, row
