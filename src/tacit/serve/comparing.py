"""Two answers beside each other, and what can be said about their difference.

Each interval is taken at 97.5 %, so both hold with 95 % at least, however they were made; the difference of two numbers
then lies between the smallest and the largest difference of what they hold. Only answers to the same statistic are
subtracted: a count and a mean have no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import inf
from typing import Any

from tacit.answers import Answer, Answers
from tacit.answers.results import Result
from tacit.answers.values import show, show_key
from tacit.serve import answering, drawings
from tacit.serve.fragments import notice, table

EACH = "0.975"
MOST = 200
"""The most groups whose differences are shown."""


def compare(first: Answer | Answers, second: Answer | Answers) -> str:
    """What is known about the differences."""
    left, right = dict(_cells(first)), dict(_cells(second))
    common = [key for key in left if key in right]
    if not common or any(_kind(left[key]) != _kind(right[key]) for key in common):
        return notice("plain", "these answer different questions, so they are not subtracted.")
    if len(common) == 1 and len(left) == len(right) == 1:
        return f'<p class="sentence">{escape(difference(left[common[0]], right[common[0]]))}</p>'
    rows = [
        (
            escape(", ".join(map(show_key, key))),
            escape(answering.shown(left[key])),
            escape(answering.shown(right[key])),
            escape(difference(left[key], right[key])),
        )
        for key in common[:MOST]
    ]
    alone = len(left) + len(right) - 2 * len(common)
    more = f'<p class="hint">{alone} more are in one of them only.</p>' if alone else ""
    return table(("", "first", "second", "difference"), rows, label="differences", cards=True) + more


def _cells(found: Answer | Answers) -> Iterator[tuple[tuple[Any, ...], Answer]]:
    """All answers by group and column; the name of the only column plays no part."""
    if isinstance(found, Answer):
        yield (), found
    elif isinstance(found, Result):
        names = found.released if len(found.released) > 1 else ()
        for row in found.rows:
            for name, cell in zip(found.columns, row.cells, strict=True):
                if isinstance(cell, Answer):
                    yield (*row.key, *([name] if names else [])), cell
    else:
        for key, cell in found.items():
            yield key if isinstance(key, tuple) else (key,), cell


def _kind(answer: Answer) -> tuple[str, str]:
    """What may be subtracted from what: the same statistic, of whatever rows."""
    return answer.statistic.split(" of ", 1)[0].split(" by ", 1)[0], answer.per


def difference(first: Answer, second: Answer) -> str:
    """How far the first lies from the second, in words."""
    if drawings.number(first.value) is None or drawings.number(second.value) is None:
        return "There is no difference of these."
    one, other = first.interval(EACH), second.interval(EACH)
    ends = [one.low, one.high, other.low, other.high]
    if any(end in (-inf, inf) or drawings.number(end) is None for end in ends):
        return "How far they lie apart is not known: nothing bounds one of them."
    low, high = float(one.low) - float(other.high), float(one.high) - float(other.low)
    capped = "" if one.covers == other.covers == "truth" else ", as far as capped values tell"
    if low > 0:
        return f"The first is higher, by {show(low)} to {show(high)} (95 % sure{capped})."
    if high < 0:
        return f"The second is higher, by {show(-high)} to {show(-low)} (95 % sure{capped})."
    return (
        f"They may be equal: the first minus the second lies between {show(low)} and {show(high)} (95 % sure{capped})."
    )
