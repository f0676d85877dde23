"""Operations on doubles give what IEEE arithmetic gives, where PostgreSQL's own would stop with an error."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf, isfinite, ldexp, nextafter
from random import Random

import numpy as np
import pytest

from tacit.engines.postgres.dialect import PostgresDialect
from tests.postgres import POSTGRES, REQUIRED

pytestmark = pytest.mark.skipif(not (POSTGRES or REQUIRED), reason="not run: psycopg or the embedded server is absent")

EDGES = [
    0.0, -0.0, 5e-324, -1e-323, 2.2250738585072014e-308, 2.225073858507201e-308, 1.7976931348623157e308,
    -1.7976931348623157e308, 8.98846567431158e307, 1.0, -1.0, 2.0, 0.5, 1.5, 1e-162, 1.3407807929942597e154,
    1.3407807929942596e154, 2.0**-537, 2.0**-538, 2.0**969, -(2.0**970), 2.0**971, 2.0**1023, 2.0**900, 2.0**-60,
    2.0**500, 2.0**-500, 2.0**501, 2.0**-501,
]  # fmt: skip


def _pairs() -> list[tuple[float, float]]:
    """All pairs of edges, and numbers whose product or quotient lies at the end of the range, or next to it."""
    draw = Random(5)
    found = list(product(EDGES, EDGES))
    smallest, largest = Fraction(1, 2**1075), Fraction(2**1024 - 2**970)

    def near(exponents: tuple[int, int], other: object, swapped: bool = False) -> None:
        one = ldexp(1 + draw.random(), draw.randint(*exponents))
        exact = other(Fraction(one))  # type: ignore[operator]
        if exact < largest:
            for two in (float(exact), nextafter(float(exact), 0), nextafter(float(exact), inf)):
                if isfinite(two):
                    found.append((two, one) if swapped else (one, two))

    for _ in range(400):
        near((-800, -200), lambda one: smallest / one)
        near((100, 900), lambda one: largest / one)
        near((-1074, -40), lambda one: one / smallest)
        near((-1074, -10), lambda one: one * largest, swapped=True)
    return found


def test_operations_at_the_ends_of_the_range(server: str) -> None:
    import psycopg

    dialect, pairs = PostgresDialect(), _pairs()
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    with psycopg.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE pairs (n int, a float8, b float8)")
        with cursor.copy("COPY pairs FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["int4", "float8", "float8"])
            for number, pair in enumerate(pairs):
                copy.write_row((number, *pair))
        for operator, operation in (("+", np.add), ("-", np.subtract), ("*", np.multiply), ("/", np.divide)):
            sql = f"SELECT {dialect.operation(operator, 'a', 'b')} FROM pairs ORDER BY n"
            found = [row[0] for row in cursor.execute(sql.encode()).fetchall()]
            with np.errstate(all="ignore"):
                expected = [float(x) if isfinite(x) else None for x in operation(a, b)]
            for pair, got, wanted in zip(pairs, found, expected, strict=True):
                assert (got.hex() if got is not None else "") == (wanted.hex() if wanted is not None else ""), pair
            assert {None, 0.0} <= set(found)


def test_long_names_stay_apart() -> None:
    name = PostgresDialect().name
    assert name('a "b"') == '"a ""b"""'
    assert name("x" * 63) == '"' + "x" * 63 + '"'
    assert name("x" * 64) != name("x" * 65)
    assert len(name("ü" * 40).encode()) <= 65
