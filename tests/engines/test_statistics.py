"""The same randomness gives the same answers everywhere: every statistic through the public face, noise included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pytest

import tacit
from tacit.randomness import seeded_not_private
from tests.engines.engines import store
from tests.postgres import POSTGRES, REQUIRED, schema
from tests.tables.support import EXTREME, Row, arrow, found, questions


def rows() -> list[Row]:
    """The extreme rows, and some hundred ordinary ones."""
    draw = Random(3)
    ordinary: list[Row] = []
    for _ in range(300):
        day = date(2020, 1, 1 + draw.randrange(28))
        cents = Decimal(draw.randrange(10**5)).scaleb(-2)
        at = datetime(2020, 1, 1, draw.randrange(24), draw.randrange(60))
        who, g = draw.randrange(5, 60), draw.choice(("x", "y", "z", None))
        ordinary.append((who, draw.randrange(-9, 99), draw.gauss(0, 50), cents, draw.random() < 0.5, day, at, g))
    return EXTREME + ordinary


def asked(source: Any) -> Iterator[tuple[str, Any]]:
    """Every question's name and answer, under one stream of randomness: the first that differs spoils the rest."""
    with tacit.Session(
        {"t": tacit.Private(source, person="who")},
        tacit.Approx(10**6, "0.1"),
        randomness=seeded_not_private(8),
    ) as session:
        for name, ask in questions(session["t"]):
            yield name, _told(ask(epsilon=1))
        for name, ask in found(session["t"]):
            yield name, _told(ask(epsilon=1, delta="0.01"))


def _told(answer: tacit.Answer | tacit.Answers) -> str:
    """All that an answer tells but the time."""
    return re.sub(r"'asked': '[^']*'", "", str(answer.to_dict()))


@pytest.mark.skipif(not (POSTGRES or REQUIRED), reason="not run: psycopg or the embedded server is absent")
def test_postgresql_answers_as_duckdb_does(server: str) -> None:
    where, table = schema(server), arrow(rows())
    store(where, "t", table)
    for (name, expected), (_, answer) in zip(asked(table), asked(where), strict=True):
        assert answer == expected, name
