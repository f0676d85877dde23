"""How many rows a join can have: bounds of random joins, and numbers that stay finite."""

from __future__ import annotations

import random
from dataclasses import replace

import pyarrow as pa
import pytest

from tacit.engines import Source, open_engine
from tacit.engines.requests import Bound, Join, Relation
from tacit.language.expressions import Column
from tacit.language.types import INTEGER
from tests.tables.sql.test_expanding import COLUMNS, joined_rows, made


def test_random_joins_have_no_more_rows_than_their_bound() -> None:
    """Forty random joins, left ones and circles among them; half of them at most twice as large as they are."""
    rng, close, cases = random.Random(2), 0, 40
    for _ in range(cases):
        case = made(rng)
        data = {
            name: Source(pa.table({c: pa.array([row[c] for row in rows], pa.int64()) for c in COLUMNS}))
            for name, rows in case.rows.items()
        }
        truth, engine = joined_rows(case), open_engine(data)
        with engine.snapshot() as snapshot:
            assert not truth or not snapshot.fits(replace(case.relation, bound=Bound(truth - 1)))
            close += snapshot.fits(replace(case.relation, bound=Bound(2 * truth)))
        engine.close()
    assert close >= cases // 2


def test_nothing_overflows() -> None:
    """(10^5)^20 rows are cut at 10^30."""
    engine = open_engine({"t": Source(pa.table({"k": [1] * 10**5}))})
    column = Column(INTEGER, "t0", "k")
    joins = tuple(
        Join("t", f"t{i}", ((replace(column, table=f"t{i - 1}"), replace(column, table=f"t{i}")),))
        for i in range(1, 20)
    )
    relation = Relation("t", "t0", column, joins)
    with engine.snapshot() as snapshot:
        assert not snapshot.fits(replace(relation, bound=Bound(10**29)))
        assert snapshot.fits(replace(relation, bound=Bound(2 * 10**30)))
    engine.close()


@pytest.mark.parametrize("rows", [(0, 0), (0, 2), (2, 0)])
def test_tables_without_rows_fit_as_any_others(rows: tuple[int, int]) -> None:
    """A sum over no rows is NULL, and must not pass for the largest number: one person's row would make it fit."""
    engine = open_engine({f"t{i}": Source(pa.table({"k": pa.array([1] * n, pa.int64())})) for i, n in enumerate(rows)})
    column = Column(INTEGER, "t0", "k")
    relation = Relation("t0", "t0", column, (Join("t1", "t1", ((column, replace(column, table="t1")),)),))
    with engine.snapshot() as snapshot:
        assert snapshot.fits(replace(relation, bound=Bound(0)))
    engine.close()
