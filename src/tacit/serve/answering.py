"""Answers as people read them: the number with its interval, bars for groups, a line for dates, then the words.

Every aggregate has a picture of its own, so that no count and mean share an axis. What an answer's own notes say stands
first. Nothing is computed here that was not released.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from html import escape
from math import inf
from typing import Any

from tacit.answers import Answer, Answers, Interval
from tacit.answers.results import Result, remarks
from tacit.answers.several import show_error, told, warned
from tacit.answers.values import show, show_key
from tacit.serve import drawings
from tacit.serve.fragments import notice, table, when

MOST_BARS = 60
"""The most groups that are drawn; the table shows all."""
_ONLY = {
    "capped value": "where nobody counts for more than a cap",
    "sampled value": "for the persons who were asked",
    "sampled, capped value": "for the persons who were asked, where nobody counts for more than a cap",
}
"""What an interval is about that does not cover the truth."""
_PER = {"row": "over all rows", "person": "each person counted once"}


def answer(found: Answer | Answers) -> str:
    """An answer whole: that it is an earlier one, notes, pictures, sentences, the table, and how it was made."""
    earlier = warned(found, "page")
    return ("" if earlier is None else notice("warn", earlier)) + _whole(found)


def _whole(found: Answer | Answers) -> str:
    if isinstance(found, Answer):
        return f"{_notes(found)}{_number(found)}{_terms([found])}{_story(found)}"
    if not len(found):
        words = " ".join(remarks(found)) if not isinstance(found, Result) or found.rows else str(found)
        rows = _table(found) if isinstance(found, Result) and found.rows else ""
        return f'{rows}<p class="sentence">{escape(words)}</p>'
    drawn = "".join(_drawn(*part) for part in _aggregates(found))
    whole = f"<details><summary>Table of all numbers</summary>{_table(found)}</details>"
    said = f"<details><summary>What is known about them</summary><p>{escape(' '.join(remarks(found)))}</p></details>"
    terms = _terms(list(found.values()))
    return f'{_notes(found)}<div class="answers">{drawn}</div>{terms}{whole}{said}'


def to_keep(found: Answer | Answers) -> str:
    """An answer whole, and hidden the words that a button copies."""
    return f'{answer(found)}<pre id="copied" hidden>{escape(told(found, "page"))}</pre>'


def _notes(found: Answer | Answers) -> str:
    """What a careful reader must know, each once."""
    answers = [found] if isinstance(found, Answer) else list(found.values())
    return "".join(notice("plain", note) for note in dict.fromkeys(n for each in answers for n in each.notes))


def _terms(answers: Sequence[Answer]) -> str:
    """Whom it protects, at which cost, and whether it was paid for now."""
    first = answers[0]
    pills = [f'<span class="pill">protects {escape(first.protected)}</span>']
    if first.stored:
        at = when(first.asked.isoformat())
        pills.append(f'<span class="pill good">stored answer of {at}, returned at no cost</span>')
    if not all(each.private for each in answers):
        pills.append('<span class="pill bad">not private: seeded randomness</span>')
    return f'<p class="pills">{" ".join(pills)}</p>'


def _number(found: Answer) -> str:
    """One answer: what it is, the number, its interval, and what that means."""
    title = found.title if found.name else found.title[:1].upper() + found.title[1:]
    low, high = (show(end) if end not in (-inf, inf) else "" for end in found.interval())
    drawn = drawings.interval(found)
    marks = f'<div class="marks"><span>{escape(low)}</span><span>{escape(high)}</span></div>' if drawn else ""
    return (
        f'<div class="reading"><p class="what">{escape(title)}, {_PER[found.per]}</p>'
        f'<p class="big">{escape(shown(found))}</p>{drawn}{marks}'
        f'<p class="sentence">{escape(reading(found))}</p></div>'
    )


def shown(found: Answer) -> str:
    """The value of an answer."""
    return "no answer" if found.value is None else show(found.value)


def reading(found: Answer) -> str:
    """What an answer says about the truth, in words a person uses."""
    if found.value is None:
        return "There is no answer: at this cost the data do not say enough."
    stated = found.interval()
    low, high = show(stated.low), show(stated.high)
    if stated.low == -inf and stated.high == inf:
        known = "" if found.spread is None else found.spread.brief(stated.confidence)
        return f"Known: {known}." if known else "How far it may be off is not known."
    if stated.covers != "truth":
        return _of_something_else(found, stated)
    if stated.high == inf:
        return f"At least {low}, and possibly far more (95 % sure)."
    if stated.low == -inf:
        return f"At most {high}, and possibly far less (95 % sure)."
    return f"The truth lies between {low} and {high} (95 % sure)."


def _of_something_else(found: Answer, stated: Interval) -> str:
    """What is known of the truth, then what the interval covers in its place, and whom a cap concerns."""
    low, high, spread, least = show(stated.low), show(stated.high), found.spread, found.at_least()
    within = f"between {low} and {high}" if stated.low != -inf else f"at most {high}"
    within = f"at least {low}" if stated.high == inf else within
    it = f"{stated.of[:1].upper()}{stated.of[1:]} lies {within} (95 % sure)".replace(" lies at ", " is at ")
    ends = None if spread is None else spread.truth(stated.confidence)
    concerned = "" if spread is None else spread.cut(stated.confidence)
    cut = f" {concerned}" if concerned else ""
    if ends is not None:
        return f"The truth lies between {show(ends[0])} and {show(ends[1])} (95 % sure). {it}.{cut}"
    if least is not None:
        return f"The truth is at least {show(least)}, and possibly far more (95 % sure). {it}.{cut}"
    return f"{it}; {stated.truth}.{cut}"


def _aggregates(found: Answers) -> Iterator[tuple[str, str, list[tuple[Any, Answer]]]]:
    """For each column of answers its name, what its rows are, and its answers by their keys."""
    if not isinstance(found, Result):
        yield _common([each.statistic for each in found.values()]), found.name, list(found.items())
        return
    for place, name in enumerate(found.columns):
        if name in found.released:
            rows = [(row.key[0] if len(row.key) == 1 else row.key, row.cells[place]) for row in found.rows]
            cells = [(key, cell) for key, cell in rows if isinstance(cell, Answer)]
            yield name, ", ".join(_heads(found)), cells


def _heads(found: Result) -> list[str]:
    """What groups are called: by the columns that show them, where the query shows them."""
    known = [name for name in found.columns if name not in found.released]
    return known[: len(found.by)] if len(known) >= len(found.by) else list(found.by)


def _common(texts: Sequence[str]) -> str:
    """What some sentences share, or the first."""
    words = texts[0]
    while words and not all(text.startswith(words) for text in texts):
        words = words.rpartition(" ")[0]
    return words or texts[0]


def _drawn(name: str, of: str, cells: Sequence[tuple[Any, Answer]]) -> str:
    """One aggregate: a number where there is one row, a line for what has an order, bars for the rest."""
    if not cells:
        return ""
    if len(cells) == 1 and cells[0][0] == ():
        return _number(cells[0][1])
    title, covered = escape(name), escape(_covers([each for _, each in cells]))
    about = f" by {escape(of)}" if of else ""
    head = f'<figcaption><strong>{title}</strong><span class="quiet">{about}</span></figcaption>'
    drawn = _line(cells, name) if len(cells) > 2 and _ordered(of, [key for key, _ in cells]) else _bars(cells, of)
    return f'<figure>{head}{drawn}<p class="hint">{covered}</p></figure>'


def _ordered(of: str, keys: Sequence[Any]) -> bool:
    """Whether keys stand on a line: dates and times, and years."""
    if not all(isinstance(key, date) for key in keys):
        year = "year" in of.lower() and all(isinstance(key, int) and not isinstance(key, bool) for key in keys)
        if not year:
            return False
    return sorted(keys) in (list(keys), list(reversed(keys))) or len(set(keys)) == len(keys)


def _line(cells: Sequence[tuple[Any, Answer]], name: str) -> str:
    points = sorted(cells, key=lambda cell: cell[0])
    total = points[0][1].statistic.split(" ", 1)[0] in ("count", "sum", "number")
    first, last = points[0], points[-1]
    words = f"{name}: from {shown(first[1])} at {show_key(first[0])} to {shown(last[1])} at {show_key(last[0])}"
    drawn, low, high = drawings.line(points, words, total)
    middle = points[len(points) // 2][0]
    below = "".join(f"<span>{escape(_key(key))}</span>" for key in (first[0], middle, last[0]))
    up = f"<span>{escape(_short(high))}</span><span>{escape(_short(low))}</span>"
    return f'<div class="chart"><div class="up">{up}</div>{drawn}<div class="marks">{below}</div></div>'


def _short(value: float) -> str:
    return f"{value:,.0f}" if 10_000 <= abs(value) < 10**7 else f"{value:,.4g}"


def _key(key: Any) -> str:
    """A key for people: a time at midnight is a day, a year is not written with a comma."""
    if hasattr(key, "hour") and (key.hour, key.minute, key.second) == (0, 0, 0):
        return str(key.date())
    if isinstance(key, tuple):
        return ", ".join(map(_key, key))
    return str(key) if isinstance(key, int) and not isinstance(key, bool) else show_key(key)


def _bars(cells: Sequence[tuple[Any, Answer]], of: str) -> str:
    first = list(cells)[:MOST_BARS]
    drawn = drawings.bars([each for _, each in first])
    rows = "".join(
        f'<tr><th scope="row">{escape(_key(key))}</th><td class="draw">{picture}</td>'
        f'<td class="number"><strong>{escape(shown(each))}</strong></td>'
        f'<td class="range">{escape(show_error(each))}</td></tr>'
        for (key, each), picture in zip(first, drawn, strict=True)
    )
    more = (
        f'<p class="hint">The first {MOST_BARS} of {len(cells)}; the table shows all.</p>'
        if len(cells) > MOST_BARS
        else ""
    )
    head = "".join(
        f'<th scope="col">{escape(words)}</th>' if words else "<td></td>"
        for words in (of or "group", "", "value", "95 % interval")
    )
    return f'<table class="bars"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}'


def _covers(answers: Sequence[Answer]) -> str:
    """What the intervals of a column hold."""
    stated = [each.interval() for each in answers if each.value is not None]
    bounded = [one for one in stated if one.low != -inf or one.high != inf]
    if not bounded:
        return "How far these may be off is not known as an interval."
    if all(one.covers == "truth" for one in bounded):
        return "Each interval holds the truth with 95 % confidence."
    about = next(one.covers for one in bounded if one.covers != "truth")
    return f"Each interval holds the value {_ONLY[about]}, with 95 % confidence; the truth may be far from it."


def _table(found: Answers) -> str:
    if isinstance(found, Result):
        head, texts = found.shown()
    else:
        head = [found.name, "value", "95 % interval"]
        texts = [[_key(key), shown(each), show_error(each)] for key, each in found.items()]
    return table(head, [[escape(text) for text in row] for row in texts], label="all numbers")


def _story(found: Answer) -> str:
    return (
        f"<details><summary>How this was made</summary><p>{escape(str(found))}</p>"
        f"<pre>{escape(found.explain())}</pre></details>"
    )
