"""Sixty small tables full of what engines disagree about, as one table with a column that says which.

Persons called ``who`` are different in every small table; those of the other columns meet across them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from math import inf, nan, nextafter
from random import Random
from typing import Any

import pyarrow as pa

Row = dict[str, Any]

FIELDS = {
    "who": pa.int64(),
    'näme "of" {} who': pa.string(),
    "i": pa.int64(),
    "u": pa.uint64(),
    "c": pa.decimal128(12, 2),
    "w": pa.decimal128(38, 3),
    "f": pa.float64(),
    "g": pa.float32(),
    "b": pa.bool_(),
    "d": pa.date32(),
    "t": pa.timestamp("us"),
    "s": pa.string(),
    "nothing": pa.null(),
}
LARGEST = 1.7976931348623157e308
COLUMNS = {"number": pa.int64(), "case_of": pa.int64(), **FIELDS}
NAME = 'näme "of" {} who'
EMPTY, NOBODY, ONE = 0, 1, 2
"""A table without rows, one whose rows concern nobody, one row of one person."""


def _scaled(scale: int, *steps: int) -> list[Decimal]:
    return [Decimal(f"{step}e-{scale}") for step in steps]


TEXTS = [
    "", " ", "a", "A", "a ", "a\t", "B", "b", "é", "e\u0301", "ß", "ss", "SS", "İ", "i", "Z", "z", "_", "%", "a_b",
    "EU", "eu", "E", "O'Brien", '"', "\\", "{}", "'; DROP TABLE t; --", "line\nbreak", "\r\n", "\u200b", "\uffff",
    "😀", "10", "9",
]  # fmt: skip
VALUES: dict[str, list[Any]] = {
    NAME: TEXTS,
    "i": [0, 1, -1, 2, 7, -9, 10, 2**31, 2**53 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63), -(2**63) + 1, 3037000500],
    "u": [0, 1, 2, 3, 2**32, 2**63 - 1, 2**63, 2**64 - 1],
    "c": _scaled(2, 0, 1, -1, 5, -5, 50, 100, 150, -12345, 10**12 - 1, 1 - 10**12),
    "w": _scaled(3, 0, 1, -1, 500, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**37, -(10**37), 10**38 - 1),
    "f": [
        nan, inf, -inf, 0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, LARGEST, -LARGEST, 1e308, -1.7e308,
        0.1, 0.5, 1.5, -2.5, 0.5e-6, 1.5e-6, 2.5e-6, -2.5e-6, 9.2e12, -9.2e12, nextafter(9.2e12, 0), 9.3e12, 1e6,
        2.0**-537, 2.0**-538, 3e-162, 1e154, 1.3407807929942597e154, 2.0**53 + 2, 2.0**970, 1 / 3, 1e22,
        123456789.123456789,
    ],
    "g": [nan, inf, -inf, 0.0, -0.0, 0.5, -2.25, 0.10000000149011612, 3.4028234663852886e38, 1.401298464324817e-45],
    "b": [True, False],
    "d": [
        date.min, date(1, 1, 2), date(99, 12, 31), date(1582, 10, 4), date(1582, 10, 15), date(1899, 12, 31),
        date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29), date(2020, 2, 29), date(2021, 1, 3), date(2024, 12,
        30), date(2038, 1, 20), date.max,
    ],
    "t": [
        datetime.min, datetime(1, 1, 1, 0, 0, 0, 1), datetime(1582, 10, 10, 12), datetime(1883, 11, 18, 12, 3, 58),
        datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1), datetime(2020, 2, 29, 12, 30, 59, 999999),
        datetime(2021, 3, 28, 2, 30), datetime(2024, 12, 30, 0, 0, 0, 500000), datetime(2038, 1, 19, 3, 14, 8),
        datetime.max,
    ],
    "s": TEXTS,
}  # fmt: skip


def _blank(**values: Any) -> Row:
    return dict.fromkeys(FIELDS) | values


def _small_tables() -> Iterator[list[Row]]:
    """The rows of each; persons numbered from 1."""
    draw = Random(17)

    def some(rows: int, persons: int) -> list[Row]:
        return [
            _blank(
                who=draw.choice((None, *range(1, persons + 1))),
                **{name: draw.choice((None, *draw.sample(values, 2))) for name, values in VALUES.items()},
            )
            for _ in range(rows)
        ]

    yield []
    yield [row | {"who": None} for row in some(5, 1)]
    yield [_blank(who=1, i=5, c=Decimal("1.25"), f=0.5, b=True, s="EU", **{NAME: "a"})]
    yield [_blank(who=1) for _ in range(3)]
    yield [_blank(who=k % 4 + 1, i=1, c=Decimal("0.01"), f=1.0, b=True, d=date(2020, 1, 1), s="tie") for k in range(16)]
    yield [row | {"who": 1} for row in some(12, 1)]
    yield [row | {"who": k} for k, row in enumerate(some(12, 1), 1)]
    for name, values in VALUES.items():  # every value alone, then all of one person's
        yield [_blank(who=k, **{name: v}) for k, v in enumerate(values, 1)]
        yield [_blank(who=1 + k % 2, **{name: v}) for k, v in enumerate(values)]
    while True:
        yield some(draw.randint(2, 12), draw.randint(1, 5))


def rows(tables: int = 60) -> list[Row]:
    """All rows of all small tables."""
    found: list[Row] = []
    for case, table in zip(range(tables), _small_tables(), strict=False):
        for row in table:
            who = None if row["who"] is None else 1000 * case + row["who"]
            found.append({"number": len(found), "case_of": case, **row, "who": who})
    return found


def arrow(table: list[Row]) -> pa.Table:
    """The rows as an Arrow table."""
    return pa.table({name: pa.array([row[name] for row in table], kind) for name, kind in COLUMNS.items()})
