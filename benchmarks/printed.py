"""What an answer prints of the truth and of persons, read from its words and compared with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf

import numpy as np

from tacit.answers import Answer
from tacit.serve.answering import reading

Sentence = tuple[str, bool]
"""What it is about, and whether it is true."""


def inside(answer: Answer, low: float, high: float | None = None) -> bool:
    """Whether the 95 % interval holds a value, or all from one to another."""
    found = answer.interval()
    slack = 1e-9 * max(1.0, abs(low))
    return float(found.low) <= low + slack and (low if high is None else high) - slack <= float(found.high)


def about_truth(answer: Answer, truth: float) -> Iterator[Sentence]:
    """What is said of the truth, by the answer and on a page of Serve."""
    if answer.value is None:
        return
    interval = answer.interval()
    if interval.covers == "truth":
        yield "interval of the truth", inside(answer, truth)
    least = answer.at_least()
    if least is not None:
        yield "the truth is at least", float(least) <= truth + 1e-9 * abs(truth)
    yield from on_page(answer, truth)


NUMBER = r"(-?[\d,.]+(?:e[+-]?\d+)?)"
ON_PAGE = (
    rf"^(?:The truth is a|A)t least {NUMBER}(),",
    rf"^At most (){NUMBER}, and",
    rf"^The truth lies between {NUMBER} and {NUMBER} \(",
)
COUNTED = re.compile(
    rf"(No person|(?:At most|at least) [\d,]+ persons?)(?: is| are)? ((?:(?:above|below) {NUMBER}(?: or )?)+) \(95 %\)"
)


def number(text: str, otherwise: float = inf) -> float:
    """A number as it is printed."""
    return float(text.replace(",", "")) if text else otherwise


def holds(low: float, truth: float, high: float) -> bool:
    """Whether printed ends hold the truth; fractions are printed with six digits."""
    return low - 1e-5 * abs(truth) <= truth <= high + 1e-5 * abs(truth)


def on_page(answer: Answer, truth: float) -> Iterator[Sentence]:
    """What a page of Serve says of the truth first, read from its words."""
    words = reading(answer)
    for pattern in ON_PAGE:
        if (found := re.search(pattern, words)) is not None:
            yield "on a page: the truth", holds(number(found[1], -inf), truth, number(found[2]))


def about_capped(answer: Answer, own: np.ndarray) -> Iterator[Sentence]:
    """How many persons are said to be above some number, or below one, and between what the truth of a capped sum lies.

    What is said only where it bounds something is not false where it is not said.
    """
    between = re.findall(rf"^the truth lies between {NUMBER} and {NUMBER} \(", answer.interval().truth)
    yield "the truth lies between", all(holds(number(low), float(own.sum()), number(high)) for low, high in between)
    most = least = True
    for said, where, _ in COUNTED.findall(str(answer)):
        ends = {side: number(end) for side, end in re.findall(rf"(above|below) {NUMBER}", where)}
        beyond = int((own > ends.get("above", inf)).sum() + (own < ends.get("below", -inf)).sum())
        persons = number("".join(re.findall(r"[\d,]", said)), 0)
        if said.startswith("at least"):
            least = beyond >= persons
        else:
            most = beyond <= persons
    yield "at least so many persons above or below", least
    yield "at most so many persons above or below", most
