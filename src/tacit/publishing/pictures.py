"""Pictures of answers as SVG text, drawn from what was released: a value and its 95 % interval for each key."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from html import escape
from math import inf, isfinite
from typing import Any

from tacit.answers import Answers
from tacit.answers.results import Result
from tacit.answers.values import show, show_key

MOST_LINES = 30
"""More values than these are drawn as a line from left to right."""
_WIDTH, _LEFT, _STEP = 720, 200, 22

Point = tuple[str, float, float, float]
"""A label, a value and the ends of its interval."""


def picture(found: Answers, title: str) -> str:
    """The values of one column with their intervals; nothing where there are fewer than two numbers to compare."""
    points = _points(found)
    if len(points) < 2:
        return ""
    low, high = min(p[2] for p in points), max(p[3] for p in points)
    low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return ""
    drawn = _line(points, low, high) if len(points) > MOST_LINES else _bars(points, low, high)
    height, inside = drawn
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}: values with 95 % intervals">{inside}</svg>'
    )


def _points(found: Answers) -> list[Point]:
    if isinstance(found, Result) and len(found.released) != 1:
        return []
    points = []
    for key, answer in found.items():
        value = _number(answer.value)
        if value is None:
            continue
        low, high = (_number(end) for end in answer.interval())
        points.append((_label(key), value, value if low is None else low, value if high is None else high))
    return points


def _label(key: Any) -> str:
    if isinstance(key, datetime):
        return str(key.date()) if key.time() == datetime.min.time() else str(key)
    return str(key) if isinstance(key, date | int | str) else show_key(key)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or value in (inf, -inf):
        return None
    found = float(value)
    return found if isfinite(found) else None


def _bars(points: list[Point], low: float, high: float) -> tuple[int, str]:
    """A bar for each value, and a line over its interval."""

    def place(x: float) -> float:
        return round(_LEFT + (x - low) / (high - low) * (_WIDTH - _LEFT - 90), 1)

    pieces, zero = [], place(0.0)
    for number, (label, value, least, most) in enumerate(points):
        y = 6 + number * _STEP
        start, end = sorted((zero, place(value)))
        short = label if len(label) <= 26 else f"{label[:25]}…"
        pieces += [
            f'<text x="{_LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(short)}</text>',
            f'<rect x="{start}" y="{y}" width="{round(end - start, 1)}" height="16" fill="#9db8d2"/>',
            f'<path d="M{place(least)} {y + 8}H{place(most)}" stroke="#1f3a56" stroke-width="2"/>',
            f'<text x="{max(end, place(most)) + 6}" y="{y + 12}">{escape(show(value))}</text>',
        ]
    height = 12 + len(points) * _STEP
    return height, f'<path d="M{zero} 2V{height - 4}" stroke="#888"/>' + "".join(pieces)


def _line(points: list[Point], low: float, high: float) -> tuple[int, str]:
    """The values from left to right, in a band of their intervals."""
    height, left, bottom = 260, 90, 230

    def at(number: int) -> float:
        return round(left + number / (len(points) - 1) * (_WIDTH - left - 10), 1)

    def up(x: float) -> float:
        return round(bottom - (x - low) / (high - low) * (bottom - 10), 1)

    above = [f"{at(i)} {up(p[3])}" for i, p in enumerate(points)]
    below = [f"{at(i)} {up(p[2])}" for i, p in reversed(list(enumerate(points)))]
    values = [f"{at(i)} {up(p[1])}" for i, p in enumerate(points)]
    marks = "".join(
        f'<text x="{left - 8}" y="{up(x) + 4}" text-anchor="end">{escape(show(x))}</text>'
        f'<path d="M{left} {up(x)}H{_WIDTH - 10}" stroke="#ddd"/>'
        for x in dict.fromkeys((low, 0.0, high))
    )
    ends = (
        f'<text x="{left}" y="{bottom + 20}">{escape(points[0][0])}</text>'
        f'<text x="{_WIDTH - 10}" y="{bottom + 20}" text-anchor="end">{escape(points[-1][0])}</text>'
    )
    band = f'<path d="M{" L".join([*above, *below])}Z" fill="#c9d9e8"/>'
    return height, f'{marks}{band}<path d="M{" L".join(values)}" fill="none" stroke="#1f3a56" stroke-width="2"/>{ends}'
