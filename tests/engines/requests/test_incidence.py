"""Whom rows concern: each person column keeps its kind, and no number of rows takes an engine forever."""

import numpy as np
import pyarrow as pa
import pytest

from tacit import Private, Pure, Session
from tacit.engines.requests import Incidence, Relation
from tacit.errors import EngineError
from tacit.flows import capped_distinct
from tacit.language.expressions import Column
from tacit.language.types import INTEGER
from tacit.tables.sql.privacy_clause import price
from tacit.tables.sql.queries import understand
from tacit.tables.sql.query import Query
from tacit.tables.statistics.ways.shared_rows import rows_of
from tests.engines.engines import FULL, OPEN, everything


def test_kinds_that_alternate_keep_their_columns() -> None:
    """Two persons of one kind and one of another: columns in the order of kinds would swap two of them."""
    rows = pa.table({"a": [1, 2], "b": [7, 7], "g": [0, 0]})
    with Session({"t": Private(rows, ["a", "k:b"])}, Pure(1)) as session:
        text = "SELECT COUNT(*) FROM t AS x JOIN t AS y ON x.g = y.g"
        query = understand(session._releaser, price(text, 1))
        assert isinstance(query, Query)
        with session._tables.engine.snapshot() as snapshot:
            found = snapshot.touches(query.relation, Incidence())
    assert found.kinds == ("", "k", "", "k")
    listed = sorted(zip(*(column.tolist() for column in found.persons), strict=True))
    assert {row[1] for row in listed} == {row[3] for row in listed} == {1}
    assert {(row[0], row[2]) for row in listed} == {(1, 1), (1, 2), (2, 1), (2, 2)}


@pytest.mark.parametrize("where", list(OPEN))
def test_a_graph_of_many_edges_is_listed(request: pytest.FixtureRequest, where: str) -> None:
    """DuckDB 2.0 hangs on a LIMIT above two LEFT JOINs from some 250,000 rows on."""
    size = 300_000 if where == "duckdb" else 20_000
    edges = np.unique(np.random.default_rng(1).integers(0, 50_000, (size, 2)), axis=0)
    graph = pa.table({"src": pa.array(edges[:, 0]), "dst": pa.array(edges[:, 1])})
    first, second = (Column(INTEGER, "edge", name) for name in ("src", "dst"))
    about = Relation("edge", "edge", first, others=(("", second),))
    with OPEN[where](request, {"edge": graph}) as engine:
        with engine.snapshot() as snapshot:
            found = snapshot.touches(about, Incidence())
        if everything(engine):
            with engine.snapshot() as snapshot, pytest.raises(EngineError, match="could not finish"):
                snapshot.touches(about, Incidence(limit=len(edges) - 1))
    assert found.weights.tolist() == [1] * len(edges)
    degrees = [sorted(np.unique(ends, return_counts=True)[1]) for ends in (*edges.T, edges)]
    listed = [sorted(np.unique(ends, return_counts=True)[1]) for ends in (*found.persons, np.stack(found.persons))]
    assert listed == degrees


def _spread(seed: int, persons: int, values: int, rows: int) -> pa.Table:
    """Persons with values, few of which most persons have; the last person has many that nobody else has."""
    draw = np.random.default_rng(seed)
    value = np.minimum(draw.zipf(1.3, rows), values)
    person = np.where(value > values // 2, persons, draw.integers(0, persons, rows))
    return pa.table({"person": pa.array(person), "value": pa.array(value)})


@pytest.mark.parametrize("where", list(OPEN))
def test_values_that_many_have_are_counted_and_no_cap_tells(request: pytest.FixtureRequest, where: str) -> None:
    """On tables of every size, down to none: the curve of all pairs, from few of them; Spark on three of them."""
    sizes = range(2, 40 if where != "spark" or FULL else 4)
    tables = [_spread(1, 300, 30, 4000), *(_spread(s, 1 + s % 4, 1 + s % 5, s % 9) for s in sizes)]
    person, value = (Column(INTEGER, "t0", name) for name in ("person", "value"))
    shown = []
    with OPEN[where](request, {f"t{i}": table for i, table in enumerate(tables)}) as engine:
        for i in range(len(tables)):
            about, asked = Relation(f"t{i}", "t0", person), Incidence(values=value)
            with engine.snapshot() as snapshot:
                every, few = snapshot.touches(about, asked), snapshot.touches(about, Incidence(values=value, rare=True))
            whole, part = (capped_distinct(rows_of(t), t.values, t.common) for t in (every, few))  # type: ignore[arg-type]
            assert [whole.at(cap) for cap in range(1, 50)] == [part.at(cap) for cap in range(1, 50)]
            assert all(part.above(cap) >= part.at(cap) for cap in range(1, 50))
            shown.append((few.common, len(few.weights), len(every.weights)))
    assert shown[0][0] > 5
    assert shown[0][1] < shown[0][2] / 2


def test_values_of_one_person_are_never_common() -> None:
    """Two values, one person: whoever counted them whole would be wrong by one at a cap of 1."""
    with Session({"t": Private(pa.table({"p": [1, 1, 2], "v": [5, 6, 7]}), "p")}, Pure(1)) as session:
        person, value = (Column(INTEGER, "t", name) for name in ("p", "v"))
        with session._tables.engine.snapshot() as snapshot:
            found = snapshot.touches(Relation("t", "t", person), Incidence(values=value, rare=True))
    assert found.common == 0
    assert capped_distinct(rows_of(found), found.values, found.common).at(1) == 2  # type: ignore[arg-type]
    assert capped_distinct(rows_of(found), found.values, 1).at(1) == 3  # type: ignore[arg-type]
