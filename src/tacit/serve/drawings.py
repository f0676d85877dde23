"""Pictures as SVG text: an answer with its interval, several on one scale, a budget burning down.

Colours come from the page's style sheet by class, because the page allows no style of its own. Every picture says in
words what it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from html import escape
from itertools import pairwise
from math import isfinite

from tacit.answers import Answer, Interval
from tacit.answers.values import show

WIDTH, HEIGHT, MARGIN = 640, 74, 24


def _number(value: object) -> float | None:
    """A value that can be drawn."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) else None


def _ends(answer: Answer) -> tuple[float, float, float, Interval] | None:
    """The low end, the value and the high end, where all three are numbers."""
    interval = answer.interval()
    low, value, high = (_number(x) for x in (interval.low, answer.value, interval.high))
    if low is None or value is None or high is None:
        return None
    return low, value, high, interval


def interval(answer: Answer) -> str:
    """One answer: a dot between two ends, each with its number; nothing where there is no interval."""
    ends = _ends(answer)
    if ends is None:
        return ""
    low, value, high, stated = ends
    room = (high - low) or 1.0

    def x(at: float) -> float:
        return MARGIN + 40 + (WIDTH - 2 * MARGIN - 80) * (at - low) / room

    words = escape(f"{show(answer.value)}; {stated}")
    middle = min(max(x(value), 90.0), WIDTH - 90.0)
    return (
        f'<svg class="interval" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{words}"><title>{words}</title>'
        f'<line class="span" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="40" y2="40"/>'
        f'<line class="end" x1="{x(low):.1f}" x2="{x(low):.1f}" y1="30" y2="50"/>'
        f'<line class="end" x1="{x(high):.1f}" x2="{x(high):.1f}" y1="30" y2="50"/>'
        f'<circle class="value" cx="{x(value):.1f}" cy="40" r="7"/>'
        f'<text class="value" x="{middle:.1f}" y="22" text-anchor="middle">{escape(show(answer.value))}</text>'
        f'<text x="{MARGIN}" y="68">{escape(show(stated.low))}</text>'
        f'<text x="{WIDTH - MARGIN}" y="68" text-anchor="end">{escape(show(stated.high))}</text></svg>'
    )


def scale(answers: Sequence[Answer]) -> tuple[float, float] | None:
    """The common scale of several answers, zero included."""
    found = [ends for ends in map(_ends, answers) if ends is not None]
    if not found:
        return None
    return min(0.0, *(low for low, *_ in found)), max(0.0, *(high for _, _, high, _ in found))


def small(answer: Answer, over: tuple[float, float]) -> str:
    """One of several answers on their common scale."""
    ends = _ends(answer)
    if ends is None:
        return ""
    room = (over[1] - over[0]) or 1.0
    low, value, high = (4 + 192 * (at - over[0]) / room for at in ends[:3])
    zero = 4 + 192 * -over[0] / room
    return (
        '<svg class="interval small" viewBox="0 0 200 16" aria-hidden="true">'
        f'<line class="zero" x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="16"/>'
        f'<line class="span" x1="{low:.1f}" x2="{high:.1f}" y1="8" y2="8"/>'
        f'<circle class="value" cx="{value:.1f}" cy="8" r="4"/></svg>'
    )


def burn_down(left: Sequence[tuple[int, float]], total: str) -> str:
    """Draw the share of a budget that is left after each question."""
    wide, high, edge = 640, 150, 30
    count = left[-1][0]
    step = (wide - 2 * edge) / max(count, 1)

    def y(share: float) -> float:
        return 14 + (high - 40) * (1 - share)

    points = [f"{edge},{y(left[0][1]):.1f}"]
    for (_, before), (number, share) in pairwise(left):
        points += [f"{edge + step * number:.1f},{y(before):.1f}", f"{edge + step * number:.1f},{y(share):.1f}"]
    if not count:
        points.append(f"{wide - edge},{y(left[0][1]):.1f}")
    asked = "no question yet" if not count else f"after {count} question{'s' if count > 1 else ''}"
    words = escape(f"{100 * left[-1][1]:.3g} % of {total} is left, {asked}")
    area = f"{edge},{y(0):.1f} {' '.join(points)} {wide - edge},{y(0):.1f}"
    return (
        f'<svg class="burn" viewBox="0 0 {wide} {high}" role="img" aria-label="{words}"><title>{words}</title>'
        f'<polygon class="left" points="{area}"/><polyline class="step" points="{" ".join(points)}"/>'
        f'<line class="axis" x1="{edge}" x2="{wide - edge}" y1="{y(0):.1f}" y2="{y(0):.1f}"/>'
        f'<text x="{edge}" y="{high - 6}">{words}</text></svg>'
    )
