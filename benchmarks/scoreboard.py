"""What was asked and what was measured: the scoreboard, and every figure with its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from asked import Figure, Results, shown
from latest import EARLIER
from latest import FIGURES as LATEST
from layout import table


def scoreboard(results: Results) -> str:
    """How many figures of each part are met, and a few that say most."""
    parts: dict[str, list[str]] = {}
    for figure in (*LATEST, *EARLIER):
        parts.setdefault(figure.part, []).append(judged(figure, results)[1])
    rows = [
        [LONG.get(part, part), str(len(found)), *(str(found.count(word) or "") for word in VERDICTS)]
        for part, found in parts.items()
    ]
    every = list(chain(*parts.values()))
    rows.append(["**all**", *(f"**{many}**" for many in (len(every), *map(every.count, VERDICTS)))])
    known = {figure.name: figure for figure in (*EARLIER, *LATEST)}
    said = []
    for name, words in HEADLINES.items():
        value, verdict = judged(known[name], results)
        said.append([words, value, known[name].asked, verdict])
    return (
        table(["in short", "measured", "asked", ""], said)
        + "\n"
        + table(["part", "figures asked", *VERDICTS], rows)
        + "\nWhat falls short is listed with its reason below the figures of its round.\n"
    )


VERDICTS = ("met", "short", "not measured")
LONG = {
    "A": "sums without bounds",
    "B": "joins and graphs",
    "C": "promises verified",
    "D": "ledgers that hold",
    "Truth": "sentences that are true",
}
"""Parts by longer names."""
HEADLINES = {
    "evidence A, ε = 1: median relative error": "a sum over 200,000 persons, no bound, ε = 1: median error",
    "shapes, typical: median error over the oracle's": "sums: error over that of the best cap that knows the data",
    "edges: error below the best published": "edges of a graph, a node protected: error, best published",
    "no promise broken, exhaustively or by samples": "no promise broken, exhaustively or by samples",
    "printed sentences, by statistic, shape and size, true less often than they say, beyond chance": (
        "printed sentences that are true less often than they say"
    ),
    "whole query over the plain one, 10 million rows": "a private sum over the plain query, 10 million rows: time",
    "queries answered, verbatim, at scale 1": "queries of TPC-H answered as they are written, of 22",
    "a cheap question beside a hostile analyst over its time alone": "beside a hostile analyst: the time of others",
}
"""The figures that say most, in words of their own."""


def asked(results: Results, figures: Sequence[Figure]) -> str:
    """Every figure with its verdict."""
    rows, short = [], []
    for figure in figures:
        value, verdict = judged(figure, results)
        rows.append([figure.part, figure.name, figure.asked, value, verdict])
        if verdict == "short":
            short.append(f"- {figure.name}: {value}, asked {figure.asked}. Why: {figure.reason or 'not known yet'}.\n")
    text = table(["part", "figure", "asked", "measured", ""], rows)
    counted = {word: sum(row[4] == word for row in rows) for word in VERDICTS}
    summary = ", ".join(f"{count} {word}" for word, count in counted.items() if count)
    return f"{text}\n{summary}.\n" + ("\nWhat falls short:\n\n" + "".join(short) if short else "")


def judged(figure: Figure, results: Results) -> tuple[str, str]:
    """The measured value and whether it is met."""
    try:
        value = figure.measure(results)
    except (KeyError, ValueError):
        return "–", "not measured"
    return shown(value, figure.unit), "met" if figure.met(value) else "short"
