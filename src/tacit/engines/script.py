"""A statement made of values, so that each engine can run it in its own way and nobody has to read its text again.

A `Fragment` is SQL in pieces: text, and `Reading`s of what stands after FROM. A `Part` is a SELECT with a name, which
those after it may read. From the readings follows how often a part is read; whether it is worth computing once, and
whether the next statement of the snapshot reads it too, is said where the part is made. A database writes the parts in
a WITH and materializes those that are kept. Spark writes them where they are read, and keeps in its cache those that
are shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.engines.columns import TableSQL


@dataclass(frozen=True)
class Reading:
    """A part, by its name, or a table, read under an alias; a part's alias is its own name unless said otherwise."""

    of: str | TableSQL
    alias: str = ""
    columns: frozenset[str] = frozenset()
    """The columns of a table that are used."""

    @property
    def name(self) -> str:
        """What its columns are qualified by."""
        return self.alias or self.place

    @property
    def place(self) -> str:
        """The part's name, or what a database writes for the table."""
        return self.of if isinstance(self.of, str) else self.of.source


ALL_ROWS = Reading("rows")
"""The rows of the relation, with the columns that requests ask for."""

PERSONS = Reading("persons")
"""The table of persons, with the columns of `tacit.engines.snapshots.Statement.aggregate`."""


@dataclass(frozen=True)
class Fragment:
    """SQL in pieces; build it with `fragment`."""

    pieces: tuple[str | Reading, ...]

    @property
    def readings(self) -> tuple[Reading, ...]:
        """What it reads, as often as it reads it."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Reading))

    def write(self, write: Callable[[Reading], str]) -> str:
        """The text, each reading written by a function."""
        return "".join(piece if isinstance(piece, str) else write(piece) for piece in self.pieces)

    def text(self, sources: Mapping[str, str] = MappingProxyType({})) -> str:
        """The text for a database, where a part has a name and a table its engine's name, or what is given for that."""

        def name(reading: Reading) -> str:
            if reading.place in sources:
                return f"{sources[reading.place]} AS {reading.name}"
            return f"{reading.place} AS {reading.alias}" if reading.alias else reading.place

        return self.write(name)


Piece = str | Reading | Fragment


def fragment(*pieces: Piece) -> Fragment:
    """A fragment from pieces in their order."""
    flat: list[str | Reading] = []
    for piece in pieces:
        flat.extend(piece.pieces if isinstance(piece, Fragment) else (piece,))
    return Fragment(tuple(flat))


def fill(form: str, *pieces: Piece) -> Fragment:
    """A form with a piece in each of its places {}; the form itself holds no text from outside."""
    first, *rest = form.split("{}")
    return fragment(first, *(part for pair in zip(pieces, rest, strict=True) for part in pair))


def join(between: str, fragments: Iterable[Fragment]) -> Fragment:
    """Some fragments with the same text between them."""
    first, *rest = fragments
    return fragment(first, *(piece for other in rest for piece in (between, other)))


@dataclass(frozen=True)
class Part:
    """A SELECT with a name."""

    name: str
    body: Fragment
    kept: bool = False
    """Whether it is worth computing once."""
    again: bool = False
    """Whether the snapshot's next statement may read it too."""
    lasting: bool = False
    """Whether the next question may read it too."""


@dataclass(frozen=True)
class Script:
    """Some parts, each of which reads tables and parts before it, and the SELECT whose rows come back."""

    parts: tuple[Part, ...]
    body: Fragment

    @property
    def readings(self) -> tuple[Reading, ...]:
        """All readings of its parts and of its body."""
        return tuple(chain(*(part.body.readings for part in self.parts), self.body.readings))

    @cached_property
    def shared(self) -> frozenset[str]:
        """The names of the parts that are kept and read more than once, in this statement or by the next one.

        A part that is not kept is written wherever it is read, and with it what it reads.
        """
        times, shared = Counter[str](), set[str]()
        for part in (Part("", self.body), *reversed(self.parts)):
            if part.kept and (part.again or times[part.name] > 1):
                shared.add(part.name)
            once = 1 if not part.name or part.name in shared else times[part.name]
            for reading in part.body.readings:
                if isinstance(reading.of, str):
                    times[reading.of] += once
        return frozenset(shared)

    def only(self, body: Fragment, known: Container[str] = ()) -> Script:
        """The script with another body, and the parts that it reads; those that are known elsewhere are left out."""
        wanted, parts = {reading.place for reading in body.readings}, list[Part]()
        for part in reversed(self.parts):
            if part.name in wanted and part.name not in known:
                wanted.update(reading.place for reading in part.body.readings)
                parts.append(part)
        return Script(tuple(reversed(parts)), body)

    def inline(self, asked: Fragment, places: Mapping[str, str]) -> str:
        """The text of a fragment with the parts that it reads written inside it.

        Parts and tables that have a place, by their name, are read from there.
        """
        inner = {part.name: part.body for part in self.parts}

        def write(reading: Reading) -> str:
            place, part = reading.place, isinstance(reading.of, str)
            source = places.get(place) or (f"({self.inline(inner[place], places)})" if part else place)
            return f"{source} AS {reading.name}"

        return asked.write(write)
