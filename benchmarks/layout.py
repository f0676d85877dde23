"""Tables and numbers of the page of results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value: float | None) -> str:
    """Three digits."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if 100 <= abs(value) < 1e6 else f"{value:.3g}"
