"""Tacit beside the extension of DuckDB for differential privacy (cwida/privacy), on its own five queries of TPC-H.

Theirs are the errors that they published for their mechanism with bounded contributions; ours are those that
`tpch_queries` stored. Nothing was run again here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PUBLISHED = {"Q1": (0.85, 25.5), "Q5": (0.25, 18.0), "Q6": (0.026, 0.27), "Q14": (0.06, 2.5), "Q19": (0.62, 14.7)}
"""Their errors in percent at ε = 1: with an oracle's bounds, and with bounds that are 100 times too wide."""

SAID = (
    "The five queries that the extension [cwida/privacy](https://github.com/cwida/privacy) is measured on, at ε = 1 "
    "with customers private. It is told what a customer may contribute at most; an oracle knows the best such bounds, "
    "and whoever guesses may be off by a factor of 100. Tacit is told none.\n\n"
)
DIFFERENT = """
The two columns are not of the same study, so read them with these differences in mind:

- **Scale.** Theirs is set up at scale 30 (4.5 million customers), ours at scale 1 (150,000 customers, {lines:,}
  lines). Noise for one customer is about the same at every scale, so a relative error at scale 1 is about 30 times as
  large as at scale 30. That favours theirs.
- **What is measured.** Theirs is the mean error over all output columns, ours that of the worst column, all groups
  together. That favours theirs, most of all in Q1, whose eight columns share ε here and there.
- **Guarantee.** Theirs has a δ of 2.2·10⁻⁷ and finds the keys of groups with it; ours is pure, and the keys of Q1 are
  given. That favours ours in Q1, and theirs elsewhere.
- **Runs.** Medians of {runs} here, means of 3 there.
"""


def ours(query: str) -> Callable[[Callable[[str], Any]], Any]:
    """How our error of a query is found among the results."""
    return lambda results: results("tpch_queries")["queries"][query]["customers"]["error"]


def section(report: Any) -> str:
    """The table and what must be said with it."""
    if not report:
        return ""
    lines = [
        "| query | theirs, an oracle's bounds | theirs, bounds 100 times too wide | Tacit, no bounds |",
        "| --- " * 4 + "|",
    ]
    for query, (oracle, wide) in PUBLISHED.items():
        error = 100 * report["queries"][query]["customers"]["error"]
        lines.append(f"| {query} | {oracle:g} % | {wide:g} % | {error:.2g} % |")
    different = DIFFERENT.format(lines=report["lines"], runs=report["runs"])
    return SAID + "\n".join(lines) + "\n" + different
