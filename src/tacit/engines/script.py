"""A statement made of values, so that each engine can run it in its own way and nobody has to read its text again.

A `Query` is SQL in pieces: text, and `Reading`s of what stands after FROM. A `Part` is a named query that the queries
after it may read. From the readings follows how often a part is read; whether it is worth computing once, and whether
a later statement of the same snapshot reads it too, is said where the part is made. A database writes the parts in a
WITH and materializes those that are kept. Spark writes them inside the query and keeps in its cache those that are
shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType

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


@dataclass(frozen=True)
class Query:
    """SQL in pieces; build it with `query`."""

    pieces: tuple[str | Reading, ...]

    @property
    def readings(self) -> tuple[Reading, ...]:
        """What it reads, as often as it reads it."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Reading))

    def written(self, write: Callable[[Reading], str]) -> str:
        """The text, each reading written by a function."""
        return "".join(piece if isinstance(piece, str) else write(piece) for piece in self.pieces)

    def text(self, sources: Mapping[str, str] = MappingProxyType({})) -> str:
        """The text for a database, where a part has a name and a table its engine's name, or what is given for that."""

        def write(reading: Reading) -> str:
            place = sources.get(reading.place, reading.place)
            return f"{place} AS {reading.alias}" if reading.alias else place

        return self.written(write)


Piece = str | Reading | Query


def query(*pieces: Piece) -> Query:
    """A query from pieces in their order."""
    flat: list[str | Reading] = []
    for piece in pieces:
        flat.extend(piece.pieces if isinstance(piece, Query) else (piece,))
    return Query(tuple(flat))


def filled(form: str, *pieces: Piece) -> Query:
    """A query from a form with a place {} for each piece; the form itself holds no text from outside."""
    first, *rest = form.split("{}")
    return query(first, *(part for pair in zip(pieces, rest, strict=True) for part in pair))


def joined(between: str, queries: Iterable[Query]) -> Query:
    """Some queries with the same text between them."""
    first, *rest = queries
    return query(first, *(piece for other in rest for piece in (between, other)))


@dataclass(frozen=True)
class Part:
    """A named query, worth computing once (``kept``) and perhaps read ``again`` by the snapshot's next statement."""

    name: str
    query: Query
    kept: bool = False
    again: bool = False


@dataclass(frozen=True)
class Script:
    """Some parts, each of which reads tables and parts before it, and the query whose rows come back."""

    parts: tuple[Part, ...]
    body: Query

    @property
    def readings(self) -> tuple[Reading, ...]:
        """All readings of its parts and of the query at its end."""
        return tuple(chain(*(part.query.readings for part in self.parts), self.body.readings))

    @cached_property
    def shared(self) -> frozenset[str]:
        """The names of the parts that are kept and read more than once, in this statement or by the next one."""
        times = Counter(reading.of for reading in self.readings if isinstance(reading.of, str))
        return frozenset(part.name for part in self.parts if part.kept and (part.again or times[part.name] > 1))

    def inlined(self, asked: Query, places: Mapping[str, str]) -> str:
        """The text of a query with the parts that it reads written inside it.

        Parts and tables that have a place, by their name, are read from there.
        """
        inner = {part.name: part.query for part in self.parts}

        def write(reading: Reading) -> str:
            place, part = reading.place, isinstance(reading.of, str)
            source = places.get(place) or (f"({self.inlined(inner[place], places)})" if part else place)
            return f"{source} AS {reading.name}"

        return asked.written(write)
