"""A description as a page of its own: pictures inline, nothing loaded, everything from the data escaped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

from tacit.answers.answer import NOT_PRIVATE, Answer
from tacit.answers.description import COUNTED, ENDS, Column, Description, error
from tacit.answers.several import warned
from tacit.answers.values import show

if TYPE_CHECKING:
    from tacit.errors import Face

FACE: Face = "python"

STYLE = """
.tacit-description { font: 15px/1.45 system-ui, sans-serif; --ink: #1f4e79; --soft: #9db8d2; --line: #d8dee4; }
.tacit-description h1 { font-size: 1.4em; } .tacit-description h2 { font-size: 1.05em; margin: 0 0 .4em; }
.tacit-description h2 small { font-weight: normal; opacity: .7; }
.tacit-description .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(21em, 1fr)); gap: 1em; }
.tacit-description section { border: 1px solid var(--line); border-radius: 6px; padding: .8em 1em; overflow: auto; }
.tacit-description table { border-collapse: collapse; width: 100%; }
.tacit-description td { padding: .1em .5em .1em 0; vertical-align: top; text-align: left; overflow-wrap: break-word; }
.tacit-description td.value { font-variant-numeric: tabular-nums; }
.tacit-description td.error { opacity: .75; font-size: .9em; }
.tacit-description svg { display: block; width: 100%; height: 2.6em; margin: .2em 0 .6em; }
.tacit-description .whisker { stroke: var(--ink); } .tacit-description .box { fill: var(--soft); stroke: var(--ink); }
.tacit-description .middle { stroke: var(--ink); stroke-width: 2.5; } .tacit-description .dot { fill: #c0392b; }
.tacit-description .bar { fill: var(--soft); } .tacit-description .first { font-weight: 600; }
@media (prefers-color-scheme: dark) {
  html.tacit-page { background: #16191d; color: #e6e8ea; }
  .tacit-page .tacit-description { --ink: #9cc3ea; --soft: #33587c; --line: #3a4149; }
}
"""


def page(shown: Description) -> str:
    """The whole page."""
    title = escape(f"{shown.table}, described")
    return (
        f'<!doctype html>\n<html lang="en" class="tacit-page"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"</head><body>{fragment(shown)}</body></html>\n"
    )


def fragment(shown: Description) -> str:
    """The same inside another page, such as a notebook."""
    first = [] if all(answer.private for answer in shown.answers.values()) else [NOT_PRIVATE]
    first += [] if (said := warned(shown.answers, FACE)) is None else [said]
    facts = "; ".join(f"{show(each.value)} {what} ({error(each)})" for what, each in shown.whole.items())
    cards = "".join(_card(column, shown.persons) for column in shown.columns)
    return (
        f'<div class="tacit-description"><style>{STYLE}</style><h1>{escape(shown.table)}</h1>'
        + "".join(f'<p class="first">{escape(line)}</p>' for line in first)
        + f'<p>{escape(facts)}. {escape(COUNTED[shown.per])}</p><div class="cards">{cards}</div>'
        + "".join(f"<p>{escape(line)}</p>" for line in shown.sentences(FACE))
        + "</div>"
    )


def _card(column: Column, persons: int | None) -> str:
    rows = "".join(
        f'<tr><td>{escape(what)}</td><td class="value">{escape(value)}</td><td class="error">{escape(off)}</td></tr>'
        for what, value, off in column.lines(persons)
    )
    head = f"<h2>{escape(column.name)} <small>{escape(column.type)}</small></h2>"
    return f"<section>{head}{_box(column, persons) or _bars(column)}<table>{rows}</table></section>"


def _box(column: Column, persons: int | None) -> str:
    """The quartiles as a box between the lowest and the highest value, with the mean as a dot; only what is clear."""
    unclear = column.unclear(persons)
    if any(what in unclear for what in ENDS):
        return ""
    quartiles = [_number(each.value) for each in column.several("quartiles").values()]
    ends = [None if (end := column.one(what)) is None else _number(end.value) for what in ("lowest", "highest")]
    low, high = ends
    points = [each for each in quartiles if each is not None]
    if low is None or high is None or not low < high or len(points) != 3:
        return ""
    spare = (high - low) / 20

    def x(at: float) -> float:
        return 100 * (min(max(at, low - spare), high + spare) - low + spare) / (high - low + 2 * spare)

    first, middle, last = map(x, points)
    mean = None if "mean" in unclear else column.one("mean")
    centre = None if mean is None else _number(mean.value)
    dot = "" if centre is None else f'<ellipse class="dot" cx="{x(centre):.2f}" cy="15" rx="1" ry="3"/>'
    words = "a box from the lower to the upper quartile, a line at the median" + (", a dot at the mean" if dot else "")
    return (
        f'<svg viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label="{words}">'
        f'<path class="whisker" vector-effect="non-scaling-stroke" d="M{x(low):.2f} 15H{x(high):.2f}'
        f'M{x(low):.2f} 10v10M{x(high):.2f} 10v10"/>'
        f'<rect class="box" vector-effect="non-scaling-stroke" x="{first:.2f}" y="6" width="{max(last - first, 0):.2f}"'
        f' height="18"/><path class="middle" vector-effect="non-scaling-stroke" d="M{middle:.2f} 6v18"/>{dot}</svg>'
    )


def _bars(column: Column) -> str:
    """A bar for each value, with the interval on it; what is above 0 is drawn."""
    answers: Sequence[Answer] = list(column.values.values())
    drawn = [(_number(each.value), *map(_number, each.interval())) for each in answers]
    most = max((each for one in drawn for each in one if each is not None), default=0.0)
    if most <= 0:
        return ""

    def x(at: float | None, otherwise: float) -> float:
        return otherwise if at is None else 100 * min(max(at, 0.0), most) / most

    parts = []
    for row, (value, low, high) in enumerate(drawn):
        y = 10 * row
        parts.append(
            f'<rect class="bar" x="0" y="{y + 1}" width="{x(value, 0):.2f}" height="8"/>'
            '<path class="whisker" vector-effect="non-scaling-stroke" '
            f'd="M{x(low, 0):.2f} {y + 5}H{x(high, 100):.2f}"/>'
        )
    return (
        f'<svg viewBox="0 0 100 {10 * len(drawn)}" preserveAspectRatio="none" role="img" '
        f'aria-label="a bar for each value, with its interval" style="height:{1.1 * len(drawn):.1f}em">'
        f"{''.join(parts)}</svg>"
    )


def _number(value: Any) -> float | None:
    """Where a value is drawn."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, date):
        return float(value.toordinal())
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return float(value) if isfinite(value) else None
