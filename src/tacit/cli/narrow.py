"""A result as a terminal shows it: a table, or where that is too wide each row as a list of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tacit.answers import Answer, Answers
from tacit.answers.report import Report
from tacit.answers.results import INTERVAL, Result
from tacit.answers.several import first_lines, told


def fitting(found: Answer | Answers | Report, columns: int | None) -> str:
    """What was found in the words of the command line, no table wider than so many columns if that is given."""
    if not isinstance(found, Report):
        return _narrowed(found, columns)
    text = found.told("command line")
    for result in found.values():
        text = text.replace(told(result, "command line"), _narrowed(result, columns), 1)
    return text


def _narrowed(found: Answer | Answers, columns: int | None) -> str:
    text = told(found, "command line")
    if columns is None or not isinstance(found, Result) or not found.rows:
        return text
    lines, (head, rows) = text.split("\n"), found.shown()
    start = len(first_lines(found))
    end = start + sum(1 + sum(cell.count("\n") for cell in line) for line in (head, *rows))
    if max(map(len, lines[start:end])) <= columns:
        return text
    return "\n".join([*lines[:start], *_listed(head, rows), *lines[end:]])


def _listed(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Each row as a list: what it is about, then below it each answer with its interval."""
    places = [place for place, name in enumerate(head) if name != INTERVAL]
    answers = [place for place in places if head[place + 1 : place + 2] == [INTERVAL]]
    about = [place for place in places if place not in answers]
    margin = "  " if about else ""
    names = max((len(head[place]) for place in answers), default=0)
    values = max((len(row[place]) for row in rows for place in answers), default=0)
    for row in rows:
        if about:
            yield ", ".join(f"{head[place]} {row[place]}" for place in about)
        for place in answers:
            yield f"{margin}{head[place]:<{names}}  {row[place]:>{values}}  {row[place + 1]}".rstrip()
