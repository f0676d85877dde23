"""Pictures as SVG text: an answer with its interval, bars, a line with its band, a budget burning down.

Colours come from the page's style sheet by class, because the page allows no style of its own. Pictures hold no text:
they are stretched to whatever room there is, and letters would be stretched with them; numbers stand beside them in
HTML. Each says in words what it shows, or is left out where the same stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from html import escape
from itertools import pairwise
from math import isfinite
from typing import Any

from tacit.answers import Answer
from tacit.answers.values import show

Ends = tuple[float | None, float, float | None]
"""The low end, the value and the high end; None for an end that nothing bounds."""


def number(value: object) -> float | None:
    """A value that can be drawn."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) else None


def ends(answer: Answer) -> Ends | None:
    """What there is to draw of an answer; nothing where it is no number."""
    value = number(answer.value)
    if value is None:
        return None
    low, high = map(number, answer.interval())
    return low, value, high


def _scale(drawn: Sequence[Ends], zero: bool) -> tuple[float, float]:
    """The lowest and the highest number, zero among them if it should be."""
    found = [each for one in drawn for each in one if each is not None] + ([0.0] if zero else [])
    low, high = min(found), max(found)
    spare = max(1.0, abs(low))  # wide enough to be another double
    return (low, high) if low < high else (low - spare, high + spare)


def _open(words: str, kind: str, high: float) -> str:
    label = f'role="img" aria-label="{escape(words)}"' if words else 'aria-hidden="true"'
    return f'<svg class="stretch {kind}" viewBox="0 0 100 {high:g}" preserveAspectRatio="none" {label}>'


def _dot(x: float, y: float) -> str:
    return f'<path class="ring" d="M{x:.2f} {y:.2f}h.01"/><path class="dot" d="M{x:.2f} {y:.2f}h.01"/>'


def _whisker(low: float | None, high: float | None, y: float, size: float) -> str:
    """A line between two places, with ends where something bounds it."""
    left, right = 0.0 if low is None else low, 100.0 if high is None else high
    kind = "whisker open" if low is None or high is None else "whisker"
    found = f'<path class="{kind}" d="M{left:.2f} {y:g}H{right:.2f}"/>'
    stops = [f"M{at:.2f} {y - size:g}v{2 * size:g}" for at in (low, high) if at is not None]
    return found + (f'<path class="whisker" d="{"".join(stops)}"/>' if stops else "")


def interval(answer: Answer) -> str:
    """One answer: a dot on a line from the low end to the high one; nothing where there is none."""
    drawn = ends(answer)
    if drawn is None or (drawn[0] is None and drawn[2] is None):
        return ""
    low, high = _scale([drawn], zero=False)

    def x(at: float | None) -> float | None:
        return None if at is None else 4 + 92 * (at - low) / (high - low)

    place = x(drawn[1])
    assert place is not None
    words = f"{show(answer.value)}; {answer.interval()}"
    return f"{_open(words, 'interval', 20)}{_whisker(x(drawn[0]), x(drawn[2]), 10, 7)}{_dot(place, 10)}</svg>"


def bars(answers: Sequence[Answer]) -> list[str]:
    """A bar from zero to each answer with its interval on it, all on one scale; empty where one cannot be drawn."""
    found = [ends(answer) for answer in answers]
    low, high = _scale([each for each in found if each is not None] or [(0.0, 0.0, 0.0)], zero=True)

    def x(at: float | None) -> float | None:
        return None if at is None else 1 + 98 * (at - low) / (high - low)

    pictures = []
    for each in found:
        if each is None:
            pictures.append("")
            continue
        zero, place = x(0.0), x(each[1])
        assert zero is not None
        assert place is not None
        left, wide = min(zero, place), abs(place - zero)
        pictures.append(
            f'{_open("", "bar-row", 16)}<rect class="bar" x="{left:.2f}" y="2" width="{wide:.2f}" height="12"/>'
            f'<path class="rule" d="M{zero:.2f} 0v16"/>{_whisker(x(each[0]), x(each[2]), 8, 3)}</svg>'
        )
    return pictures


def line(points: Sequence[tuple[Any, Answer]], words: str, zero: bool) -> tuple[str, float, float]:
    """Answers along dates, or other keys in order, with the band of their intervals; and the scale it is drawn on."""
    found = [(key, drawn) for key, answer in points if (drawn := ends(answer)) is not None]
    low, high = _scale([drawn for _, drawn in found] or [(0.0, 0.0, 0.0)], zero)
    first, last = _place(points[0][0]), _place(points[-1][0])

    def x(key: Any) -> float:
        return 2 + 96 * (_place(key) - first) / ((last - first) or 1.0)

    def y(at: float) -> float:
        return 38 - 36 * (at - low) / (high - low)

    held = [(key, drawn) for key, drawn in found if drawn[0] is not None or drawn[2] is not None]
    tops = [f"{x(key):.2f} {y(high if top is None else top):.2f}" for key, (_, _, top) in held]
    bottoms = [f"{x(key):.2f} {y(low if bottom is None else bottom):.2f}" for key, (bottom, _, _) in held]
    middle = [f"{x(key):.2f} {y(value):.2f}" for key, (_, value, _) in found]
    band = f'<path class="band" d="M{"L".join([*tops, *reversed(bottoms)])}Z"/>' if len(held) > 1 else ""
    path = f'<path class="path" d="M{"L".join(middle)}"/>' if len(found) > 1 else ""
    dots = "".join(_dot(x(key), y(value)) for key, (_, value, _) in found) if len(found) <= 60 else ""
    rules = "".join(f'<path class="rule" d="M0 {at}H100"/>' for at in (2, 20, 38))
    return f"{_open(words, 'line', 40)}{rules}{band}{path}{dots}</svg>", low, high


def _place(key: Any) -> float:
    """Where a key stands on a line."""
    if isinstance(key, datetime):
        return key.replace(tzinfo=None).toordinal() + (key.hour * 60 + key.minute) / 1440
    return float(key.toordinal()) if isinstance(key, date) else float(key)


def gauge(share: float, words: str) -> str:
    """How much of something is left."""
    return (
        f'{_open(words, "gauge", 10)}<rect class="all" width="100" height="10"/>'
        f'<rect class="rest" width="{100 * min(1.0, max(0.0, share)):.2f}" height="10"/></svg>'
    )


def burn_down(left: Sequence[tuple[int, float]], total: str) -> str:
    """Draw the share of a budget that is left after each question."""
    count = left[-1][0]

    def y(share: float) -> float:
        return 2 + 36 * (1 - share)

    points = [f"0 {y(left[0][1]):.2f}"]
    for (_, before), (after, share) in pairwise(left):
        x = 100 * after / (count + 1)  # what is left now has room too
        points += [f"{x:.2f} {y(before):.2f}", f"{x:.2f} {y(share):.2f}"]
    points.append(f"100 {y(left[-1][1]):.2f}")
    asked = "no question yet" if not count else f"after {count} charge{'s' if count > 1 else ''}"
    words = f"{100 * left[-1][1]:.3g} % of {total} is left, {asked}"
    return (
        f'{_open(words, "burn", 40)}<path class="left" d="M0 38L{"L".join(points)}L100 38Z"/>'
        f'<path class="step" d="M{"L".join(points)}"/><path class="axis" d="M0 38H100"/></svg>'
        f'<p class="hint">{escape(words)}</p>'
    )
