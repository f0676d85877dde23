"""Keys that are in the data: how many persons have each of them, and how many persons have how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from tacit.engines.requests.operands import Key, check_boundaries, check_by, decoded, encoded, numbers_by_place
from tacit.engines.requests.request import AnswerRow, Arm, Request
from tacit.engines.script import fragment
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement


@dataclass(frozen=True)
class KeyCounts(Request[tuple[tuple[Key, int], ...]]):
    """Persons for each key found in the data, each person keeping at most ``cap`` keys; in the order of the keys.

    A person with more keys keeps those of smallest hash of (salt, person, key): the salt is secret, fresh for each
    question, so the choice depends on the person's own keys alone. Only keys with at least ``least`` persons come back.
    The exception from the limit of 10,000 numbers: keys are unknown, so there may be up to cap·persons/least of them.
    """

    by: tuple[Expression, ...]
    cap: int
    least: int
    salt: bytes

    def __post_init__(self) -> None:
        check_by(self.by)
        if self.cap < 1 or self.least < 1 or len(self.salt) < 16:
            raise InvalidInput("cap and least must be at least 1, and salt at least 16 secret bytes.")

    def __repr__(self) -> str:
        return f"KeyCounts(by={self.by!r}, cap={self.cap}, least={self.least}, salt=…)"

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """Only persons with too many keys are sorted: the others keep all they have."""
        dialect, pairs = statement.dialect, statement.pairs(self.by)
        keys = [f"k{i}" for i in range(len(self.by))]
        listed = ", ".join(keys)
        sizes = statement.table("sizes", "SELECT person, COUNT(*) AS keys FROM ", pairs, " GROUP BY person")
        joined = fragment(pairs, " INNER JOIN ", sizes, f" ON {pairs.name}.person = {sizes.name}.person")
        shown = [encoded(name, by.type, dialect) for name, by in zip(keys, self.by, strict=True)]
        texts = [f"CAST({sql} AS {dialect.text_type})" for sql in (f"{pairs.name}.person", *shown)]
        order = f"ROW_NUMBER() OVER (PARTITION BY {pairs.name}.person ORDER BY {dialect.digest(texts, self.salt)})"
        source = fragment(
            f"(SELECT {listed} FROM ",
            joined,
            f" WHERE keys <= {self.cap} UNION ALL SELECT {listed} FROM (SELECT {listed}, {order} AS place FROM ",
            joined,
            f" WHERE keys > {self.cap}) AS chosen WHERE place <= {self.cap}) AS kept "
            f"GROUP BY {listed} HAVING COUNT(*) >= {self.least}",
        )
        return (Arm(source, a="COUNT(*)", keys=shown),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[tuple[Key, int], ...]:
        """The keys with their numbers of persons, NULL before any value."""
        return _in_order(self.by, rows)


@dataclass(frozen=True)
class KeyWeights(Request[tuple[tuple[Key, int], ...]]):
    """The weight of each key found in the data, a person giving each of their keys the same; in the order of the keys.

    A person of at most ``levels[i]`` keys, and more than ``levels[i − 1]``, gives ``weights[i]`` to each; one with more
    than the last level is left out. Only keys of at least ``least`` of the other persons come back; there may be as
    many as for `KeyCounts`.
    """

    by: tuple[Expression, ...]
    levels: tuple[int, ...]
    weights: tuple[int, ...]
    least: int

    def __post_init__(self) -> None:
        check_by(self.by)
        check_boundaries(self.levels, numbers=1)
        if len(self.weights) != len(self.levels) or not all(0 <= w < 2**31 for w in self.weights) or self.least < 1:
            raise InvalidInput("weights must be one small whole number for each level, and least at least 1.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """The number of each person's keys says what they weigh."""
        dialect, pairs = statement.dialect, statement.pairs(self.by)
        keys = [f"k{i}" for i in range(len(self.by))]
        counted = fragment("(SELECT person, COUNT(*) AS keys FROM ", pairs, " GROUP BY person) AS sizes")
        sizes = statement.table("weights", dialect.placed(counted, "keys", self.levels, "person"))
        weight = " ".join(f"WHEN {i} THEN {weight}" for i, weight in enumerate(self.weights))
        source = fragment(
            f"(SELECT {', '.join(keys)}, CASE place {weight} END AS weight FROM ",
            fragment(pairs, " INNER JOIN ", sizes, f" ON {pairs.name}.person = {sizes.name}.person"),
            f" WHERE place < {len(self.levels)}) AS weighed GROUP BY {', '.join(keys)} HAVING COUNT(*) >= {self.least}",
        )
        shown = [encoded(name, by.type, dialect) for name, by in zip(keys, self.by, strict=True)]
        return (Arm(source, a=f"SUM({dialect.wide('weight')})", keys=shown),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[tuple[Key, int], ...]:
        """The keys with their weights, NULL before any value."""
        return _in_order(self.by, rows)


def _in_order(by: Sequence[Expression], rows: Sequence[AnswerRow]) -> tuple[tuple[Key, int], ...]:
    parts = [[decoded(row[5 + place], each.type) for row in rows] for place, each in enumerate(by)]
    found = [(key, int(row[1])) for key, row in zip(zip(*parts, strict=True), rows, strict=True)]
    if not any(None in part for part in parts):
        return tuple(sorted(found, key=itemgetter(0)))
    return tuple(sorted(found, key=lambda item: [(part is not None, part) for part in item[0]]))


@dataclass(frozen=True)
class KeysPerPerson(Request[tuple[int, ...]]):
    """Persons by their number of different keys (NULL is a key), in the buckets of `Buckets`."""

    by: tuple[Expression, ...]
    boundaries: tuple[int, ...]

    def __post_init__(self) -> None:
        check_by(self.by)
        check_boundaries(self.boundaries, numbers=1)

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """The number of each person's keys, then its bucket."""
        pairs = statement.pairs(self.by)
        sizes = fragment("(SELECT COUNT(*) AS size FROM ", pairs, " GROUP BY person) AS sizes")
        source = fragment("(", statement.dialect.placed(sizes, "size", self.boundaries), ") AS places GROUP BY place")
        return (Arm(source, a="place", b="COUNT(*)"),)

    def read(self, rows: Sequence[AnswerRow]) -> tuple[int, ...]:
        """The persons in each bucket."""
        return numbers_by_place(rows, len(self.boundaries) + 1)
