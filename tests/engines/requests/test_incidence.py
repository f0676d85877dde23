"""Whom rows concern: each person column keeps its kind, and no number of rows takes an engine forever."""

import numpy as np
import pyarrow as pa
import pytest

from tacit import Private, Pure, Session
from tacit.engines.requests import Incidence, Relation
from tacit.errors import EngineError
from tacit.language.expressions import Column
from tacit.language.types import INTEGER
from tacit.tables.sql.privacy_clause import price
from tacit.tables.sql.queries import understand
from tacit.tables.sql.query import Query
from tests.engines.engines import OPEN, everything


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
    rows_of = sorted(zip(*(column.tolist() for column in found.persons), strict=True))
    assert {row[1] for row in rows_of} == {row[3] for row in rows_of} == {1}
    assert {(row[0], row[2]) for row in rows_of} == {(1, 1), (1, 2), (2, 1), (2, 2)}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("where", list(OPEN))
def test_a_graph_of_many_edges_is_listed(request: pytest.FixtureRequest, where: str) -> None:
    """DuckDB 2.0 hangs on a LIMIT above two LEFT JOINs from some 250,000 rows on."""
    edges = np.unique(np.random.default_rng(1).integers(0, 50_000, (300_000, 2)), axis=0)
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
