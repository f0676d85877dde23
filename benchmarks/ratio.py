"""Who wins at a share a/b: mean absolute error of every method over b, several a/b, and both kinds of neighbours.

    python benchmarks/ratio.py [--draws 4000]

Results go to benchmarks/results/ratio.json, the picture to benchmarks/results/ratio.svg. Errors are exact draws of the
laws themselves, given as multiples of 1/(bε) so that they can be compared over b; the standard error of each is about
1/√draws of it.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path
from typing import Any

from lines import Lines, plot
from record import folder, write

from tacit.guarantees import Approx
from tacit.mechanisms import Law, Ratio, ratio
from tacit.mechanisms.totals.ratio_local import LocalRatio

EPSILON, DELTA, LATTICE = Fraction(1), Fraction(1, 10**6), Fraction(1, 10**9)
SIZES = [10, 100, 1000, 10**4, 10**5, 10**6]
SHARES = [0.02, 0.1, 0.3, 0.5]
METHODS = ("naive", "two_counts", "local", "automatic")
SPLITS = (Fraction(1, 50), Fraction(1, 20), Fraction(1, 10), Fraction(1, 5))


def error(a: int, b: int, method: str, replacement: bool, draws: int) -> float:
    """Mean absolute error, in units of 1/(bε)."""
    delta = DELTA if method in ("local", "automatic") else None
    law = ratio(a, b, EPSILON, delta, method=method, replacement=replacement)
    return scaled(law, Fraction(a, b), b, draws)


def scaled(law: Law[Ratio], truth: Fraction, b: int, draws: int) -> float:
    return float(sum(abs(y.value - truth) for y in law.sample(draws)) / draws * b * EPSILON)


def study(draws: int) -> dict[str, Any]:
    table = [
        {
            "neighbours": "replaced" if replacement else "added or removed",
            "share": p,
            "b": b,
            **{method: round(error(round(p * b), b, method, replacement, draws), 3) for method in METHODS},
        }
        for replacement in (False, True)
        for p in SHARES
        for b in SIZES
    ]
    return {"epsilon": str(EPSILON), "delta": str(DELTA), "draws": draws, "errors": table, "splits": splits(draws)}


def splits(draws: int) -> list[dict[str, Any]]:
    """What the bound on the local sensitivity should cost: the error of "local" for several parts of ε spent on it."""
    guarantee, found = Approx(EPSILON, DELTA), []
    for part in SPLITS:
        row: dict[str, Any] = {"part": str(part)}
        for b in SIZES[2:]:
            law = LocalRatio(b // 2, b - b // 2, guarantee, False, False, LATTICE, part)
            row[str(b)] = round(scaled(law, Fraction(1, 2), b, draws), 3)
        found.append(row)
    return found


def picture(result: dict[str, Any], path: Path) -> None:
    panels: dict[str, Lines] = {}
    for kind in ("added or removed", "replaced"):
        for p in (0.02, 0.3, 0.5):
            rows = [r for r in result["errors"] if (r["neighbours"], r["share"]) == (kind, p)]
            panels[f"a/b = {p}, {kind}"] = {m: [(r["b"], r[m] / r["b"]) for r in rows] for m in METHODS}
    plot(path, panels, "b", "mean absolute error")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4000)
    result = study(parser.parse_args().draws)
    write("ratio", result)
    picture(result, folder() / "ratio.svg")
    for row in result["errors"]:
        best = min(METHODS, key=lambda m: row[m])
        print(
            f"{row['neighbours']:17} a/b {row['share']:<5} b {row['b']:>8}",
            *(f"{m} {row[m]:<8}" for m in METHODS),
            best,
        )
    for row in result["splits"]:
        print("local at a/b 0.5:", row)


if __name__ == "__main__":
    main()
