"""Comma-separated lines: each line's fields, by that line alone.

A field that begins with the quote mark ends at the next one that is not escaped, and the delimiter or the line's end
must follow; within it the delimiter is an ordinary character. Any other field ends at the next delimiter, and quote
marks inside it are ordinary. A line whose last quote stays open, or with another number of fields, is no record.

Blocks of lines are split at once, by counting quote marks: those after an even number of them in their line open, the
others close, and one that opens right after one that closed is an escaped one. That is the rule above wherever the
delimiter, the line's end or another quote mark follows every mark that closes, and comes before every mark that opens
unless it stands first (induction along the line). Lines of any other kind are read one character after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.engines.duckdb.text_files.lines import Block, Bytes, Flags, Numbers

NEWLINE = 10


@dataclass(frozen=True)
class Dialect:
    """The marks of a file, one byte each; no quote mark is "", and an escape that is the quote mark doubles it."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'

    @property
    def marks(self) -> tuple[int, ...]:
        """The bytes that matter inside a line."""
        return tuple({ord(mark) for mark in (self.delimiter, self.quote, self.escape) if mark})


@dataclass(frozen=True)
class Records:
    """The records of a block: all fields one after the other, and which lines were none."""

    body: Bytes
    sizes: Numbers
    """Bytes of each field."""
    unreadable: Flags
    """The block's lines that are no records and not empty either."""


def fields(line: str, dialect: Dialect) -> list[str] | None:
    """The fields of one line by the rule above, one character after the other; None if it is no record."""
    found, at = [], 0
    while True:
        if dialect.quote and line.startswith(dialect.quote, at):
            part, at = _quoted(line, at + 1, dialect)
            if at < 0 or not (at == len(line) or line.startswith(dialect.delimiter, at)):
                return None
        else:
            end = line.find(dialect.delimiter, at)
            part, at = line[at:] if end < 0 else line[at:end], len(line) if end < 0 else end
        found.append(part)
        if at == len(line):
            return found
        at += 1


def _quoted(line: str, at: int, dialect: Dialect) -> tuple[str, int]:
    """A quoted field's text and where it ends; -1 if it does not. An escape before anything but a mark is a letter."""
    part = []
    while at < len(line):
        character, following = line[at], line[at + 1 : at + 2]
        if character == dialect.escape and following and following in (dialect.quote, dialect.escape):
            part.append(following)
            at += 2
        elif character == dialect.quote:
            return "".join(part), at + 1
        else:
            part.append(character)
            at += 1
    return "", -1


def records(block: Block, dialect: Dialect, width: int) -> Records:
    """The records of a block, those of ``width`` fields."""
    data, wanted = block.data, ~(block.bad | block.empty)
    marked = data == NEWLINE
    for mark in dialect.marks:
        marked |= data == mark
    at = np.flatnonzero(marked)
    kind = data[at]
    bounds = kind == NEWLINE
    bounds |= kind == ord(dialect.delimiter)
    irregular = np.zeros(len(block.ends), bool)
    dropped = bounds
    if dialect.quote and (quotes := kind == ord(dialect.quote)).any():
        odd, irregular = _quotes(at, kind, quotes, dialect)
        bounds &= ~odd | (kind == NEWLINE)
        escaped = quotes & ~odd & np.r_[False, quotes[:-1]] & (np.diff(at, prepend=-2) == 1)
        dropped = bounds | (quotes & ~escaped)
    places = at[bounds]  # where fields end
    counted = np.flatnonzero(kind[bounds] == NEWLINE)  # the last field of each line
    good = wanted & ~irregular & (np.diff(counted, prepend=-1) == width)
    keep = np.ones(len(data), bool)
    keep[at[dropped]] = False
    if dropped is not bounds:
        places = places - (np.cumsum(dropped) - dropped)[bounds] + np.arange(len(places))
    sizes = np.diff(places, prepend=-1) - 1
    if not good.all():
        keep &= np.repeat(good, np.diff(block.ends, prepend=-1))
        sizes = sizes[np.repeat(good, np.diff(counted, prepend=-1))]
    body, good = data[keep], good.copy()
    slow = [
        (index, fields(block.line(index).decode(), dialect)) for index in np.flatnonzero(irregular & wanted).tolist()
    ]
    rare = [(index, found) for index, found in slow if found is not None and len(found) == width]
    if rare:
        parts = [part.encode() for _, found in rare for part in found]
        body = np.concatenate([body, np.frombuffer(b"".join(parts), np.uint8)])
        sizes = np.concatenate([sizes, np.array([len(part) for part in parts], np.int64)])
        good[[index for index, _ in rare]] = True
    return Records(body, sizes, ~good & ~block.empty)


def _quotes(at: Numbers, kind: Bytes, quotes: Flags, dialect: Dialect) -> tuple[Flags, Flags]:
    """Which marks stand after an odd number of quote marks of their line, and which lines need the slow way."""
    ending = kind == NEWLINE
    before: Numbers = np.cumsum(quotes) - quotes
    odd: Flags = before % 2 == 1
    if odd[ending].any():  # some line has an odd number itself: count anew from each line's start
        before -= np.repeat(np.r_[0, before[ending][:-1]], np.diff(np.flatnonzero(ending), prepend=-1))
        odd = before % 2 == 1
    touching = np.diff(at) == 1
    after, ahead = np.r_[touching, False], np.r_[at[0] == 0, touching]
    wrong = (quotes & np.where(odd, ~after, ~ahead)) | (ending & odd)
    if dialect.escape != dialect.quote:
        wrong |= quotes & odd & after & np.r_[quotes[1:], False]
        if dialect.escape:
            wrong |= kind == ord(dialect.escape)
    irregular = np.zeros(int(ending.sum()), bool)
    if wrong.any():
        irregular[(np.cumsum(ending) - ending)[wrong]] = True
    return odd, irregular
