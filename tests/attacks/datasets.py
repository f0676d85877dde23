"""Random small datasets: private and public tables, kinds of person, foreign keys, and identifiers made to be mixed up.

Who a row concerns is computed here from the declaration alone, in plain Python with exact equality: the persons in its
own columns, and those of the rows that its foreign keys lead to. Every table holds several *worlds* at once: world 0 is
the data, each other world the data without one person. A column ``world`` says which; for each person column ``c`` a
column ``c_number`` numbers the persons by exact equality, so that a harness need not trust how an engine compares them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from tacit import Private, Public

Person = tuple[str, int]
"""A kind and a number."""

POOLS: dict[str, tuple[str, list[Any]]] = {
    "BIGINT": ("int", [0, 1, 2**53, 2**53 + 1, 2**60, 2**60 + 1, 2**63 - 1, 2**63 - 2, -(2**63)]),
    "UBIGINT": ("int", [0, 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64 - 2]),
    "HUGEINT": ("int", [0, -1, 2**53 + 1, 2**63, 2**63 + 1, 2**64 + 1, -(2**63) - 1, -(2**63) - 2, 10**30]),
    "DECIMAL(38,0)": ("int", [0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 10**30, 10**30 + 1]),
    "DECIMAL(20,3)": ("dec", [Decimal(n).scaleb(-3) for n in (0, 1, 1000, 1500, 2**63 - 1, 2**63, 2**63 + 1)]),
    "VARCHAR": ("text", ["", " ", "a", "A", "a ", "é", "e\u0301", "10", "10.0", "'; --", "\u200b"]),
    "DOUBLE": ("float", [1.0, 0.0, -0.0, 5e-324, 0.1, 2.0**53, 1e308, 1.7976931348623157e308, float("inf")]),
    "DATE": ("date", ["2020-01-01", "2020-01-02", "9999-12-31", "0001-01-01", "1970-01-01"]),
    "TIMESTAMP": ("ts", ["2020-01-01 00:00:00", "2020-01-01 00:00:00.000001", "9999-12-31 23:59:59"]),
}  # fmt: skip
"""Native types with their class in a query, and values of each that a careless comparison takes for one another."""

ORDINARY: dict[str, tuple[str, str, list[Any]]] = {
    "x": ("BIGINT", "int", [0, 1, 2, 3, -7, 2**62, None]),
    "g": ("INTEGER", "int", [0, 1, 2, None]),
    "f": ("DOUBLE", "float", [0.0, 0.5, -1.5, 1e300, float("nan"), None]),
    "c": ("DECIMAL(12,2)", "dec", [Decimal("0.01"), Decimal("1.50"), Decimal("-3.00"), None]),
    "b": ("BOOLEAN", "bool", [True, False, None]),
    "s": ("VARCHAR", "text", ["u", "v", "w", None]),
    "d": ("DATE", "date", ["2020-01-01", "2020-02-29", None]),
}
"""Columns that every table may have."""


@dataclass(frozen=True)
class Column:
    """A column's native type and its class in a query."""

    native: str
    kind: str


@dataclass
class Shape:
    """A table: its columns, whom they name, where they lead, and its rows."""

    columns: dict[str, Column]
    persons: dict[str, str]
    """Person columns with their kinds."""
    through: dict[str, tuple[str, str]]
    rows: list[dict[str, Any]]
    private: bool = True

    def declared(self, connection: Any, name: str) -> Private | Public:
        """As an analyst's custodian would declare it."""
        if not self.private:
            return Public(connection, table=name)
        person = [f"{kind}:{column}" if kind else column for column, kind in self.persons.items()]
        links = {column: f"{table}.{key}" for column, (table, key) in self.through.items()}
        return Private(connection, person or None, through=links or None, table=name)


@dataclass
class Dataset:
    """Tables by name, and the persons whose removal is tried."""

    shapes: dict[str, Shape]
    victims: list[Person]

    def __str__(self) -> str:
        """Types only."""
        natives = {
            column: kind.native
            for s in self.shapes.values()
            for column, kind in s.columns.items()
            if column[0] in "wko"
        }
        return ", ".join(f"{column} {native}" for column, native in sorted(natives.items()))

    def store(self, connection: Any) -> None:
        """Write all worlds into the tables of a DuckDB connection."""
        concerned = {name: concerns(self.shapes, name) for name in self.shapes}
        for name, shape in self.shapes.items():
            rows: list[tuple[int, dict[str, Any]]] = []
            for world, victim in enumerate([None, *self.victims]):
                rows += [
                    (world, row)
                    for row, persons in zip(shape.rows, concerned[name], strict=True)
                    if victim not in persons
                ]
            _write(connection, name, shape, rows)


def number(value: Any, pool: list[Any]) -> int | None:
    """The place of a value among the values of its pool that are different from one another; None for nobody."""
    if value is None or value != value:
        return None
    return next(place for place, known in enumerate(pool) if known == value)


def concerns(shapes: Mapping[str, Shape], name: str) -> list[frozenset[Person]]:
    """For each row of a table the persons whom it concerns."""
    shape = shapes[name]
    found = []
    for row in shape.rows:
        persons = {
            (kind, place)
            for column, kind in shape.persons.items()
            if (place := number(row[column], POOLS[shape.columns[column].native][1])) is not None
        }
        for column, (table, key) in shape.through.items():
            for other, theirs in zip(shapes[table].rows, concerns(shapes, table), strict=True):
                if row[column] is not None and other[key] == row[column]:
                    persons |= theirs
        found.append(frozenset(persons))
    return found


def dataset(draw: Random, worlds: int = 4, unique: bool = True, natives: Sequence[str] = tuple(POOLS)) -> Dataset:
    """A dataset with so many persons to remove; not ``unique``: keys that foreign keys lead to may repeat."""
    kinds = {"": draw.choice(natives)} | ({"k": draw.choice(natives)} if draw.random() < 0.4 else {})
    ids = {kind: _neighbours(draw, POOLS[native][1]) for kind, native in kinds.items()}
    keys = draw.choice(natives)
    shapes: dict[str, Shape] = {}
    for place in range(draw.choice((1, 2, 2, 3))):
        shapes[f"t{place}"] = _private(draw, shapes, kinds, ids, keys, unique)
    for place in range(draw.choice((0, 1, 1, 2))):
        shapes[f"p{place}"] = _public(draw, place)
    every = sorted({person for name in shapes for persons in concerns(shapes, name) for person in persons})
    return Dataset(shapes, draw.sample(every, min(worlds, len(every))))


def _neighbours(draw: Random, pool: list[Any]) -> list[Any]:
    """A few values that stand beside one another, where those are that are easily mixed up."""
    start, size = draw.randrange(len(pool) - 1), draw.randint(2, 4)
    return pool[start : start + size]


def _private(
    draw: Random,
    others: Mapping[str, Shape],
    kinds: Mapping[str, str],
    ids: Mapping[str, list[Any]],
    keys: str,
    unique: bool,
) -> Shape:
    targets = [name for name in others if draw.random() < 0.6]
    columns = {"k": Column(keys, POOLS[keys][0])}
    persons, through = {}, {}
    for place in range(draw.choice((0, 1, 1, 2)) if targets else draw.choice((1, 1, 2))):
        kind = draw.choice(list(kinds))
        persons[f"w{place}"] = kind
        columns[f"w{place}"] = Column(kinds[kind], POOLS[kinds[kind]][0])
    for place, target in enumerate(targets):
        through[f"o{place}"] = (target, "k")
        columns[f"o{place}"] = columns["k"]
    ordinary = draw.sample(list(ORDINARY), draw.randint(2, 5))
    columns |= {name: Column(*ORDINARY[name][:2]) for name in ordinary}
    different = list(dict.fromkeys(POOLS[keys][1]))
    size = draw.randint(2, 6)
    labels = draw.sample(different, min(size, len(different))) if unique else draw.choices(different[:3], k=size)
    rows = []
    for label in labels:
        row: dict[str, Any] = {"k": label}
        row |= {column: draw.choice([None, *ids[kind] * 4]) for column, kind in persons.items()}
        for column, (table, key) in through.items():
            row[column] = draw.choice([None, *[other[key] for other in others[table].rows] * 4, *different[:1]])
        row |= {name: draw.choice(ORDINARY[name][2]) for name in ordinary}
        rows.append(row)
    return Shape(columns, persons, through, rows)


def _public(draw: Random, place: int) -> Shape:
    key = ("s", "g", "x")[draw.randrange(3)]
    columns = {
        key: Column(*ORDINARY[key][:2]),
        f"y{place}": Column("BIGINT", "int"),
        f"l{place}": Column("VARCHAR", "text"),
    }
    rows = [
        {key: draw.choice(ORDINARY[key][2]), f"y{place}": draw.randint(-3, 3), f"l{place}": draw.choice("lmn")}
        for _ in range(draw.randint(1, 4))
    ]
    return Shape(columns, {}, {}, rows, private=False)


def _write(connection: Any, name: str, shape: Shape, rows: list[tuple[int, dict[str, Any]]]) -> None:
    """One table with all its worlds; values go as text, which every native type reads back exactly."""
    texts = {column: [_text(row[column]) for _, row in rows] for column in shape.columns}
    casts = [f'CAST("{column}" AS {kind.native}) AS "{column}"' for column, kind in shape.columns.items()]
    for column in shape.persons:
        pool = POOLS[shape.columns[column].native][1]
        texts[f"{column}_number"] = [_text(number(row[column], pool)) for _, row in rows]
        casts.append(f'CAST("{column}_number" AS BIGINT) AS "{column}_number"')
    texts["world"] = [str(world) for world, _ in rows]
    casts.append("CAST(world AS BIGINT) AS world")
    connection.register(
        "incoming", pa.table({column: pa.array(values, pa.string()) for column, values in texts.items()})
    )
    connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT {', '.join(casts)} FROM incoming")


def _text(value: Any) -> str | None:
    return None if value is None else repr(value) if isinstance(value, float) else str(value)
