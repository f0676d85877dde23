"""Whom rows concern: each person column keeps its kind."""

import pyarrow as pa

from tacit import Private, Pure, Session
from tacit.engines.requests import Incidence
from tacit.tables.sql.privacy_clause import price
from tacit.tables.sql.queries import understand


def test_kinds_that_alternate_keep_their_columns() -> None:
    """Two persons of one kind and one of another: columns in the order of kinds would swap two of them."""
    rows = pa.table({"a": [1, 2], "b": [7, 7], "g": [0, 0]})
    with Session({"t": Private(rows, ["a", "k:b"])}, Pure(1)) as session:
        text = "SELECT COUNT(*) FROM t AS x JOIN t AS y ON x.g = y.g"
        relation = understand(session._releaser, price(text, 1)).relation
        with session._tables.engine.snapshot() as snapshot:
            found = snapshot.touches(relation, Incidence())
    assert found.kinds == ("", "k", "", "k")
    rows_of = sorted(zip(*(column.tolist() for column in found.persons), strict=True))
    assert {row[1] for row in rows_of} == {row[3] for row in rows_of} == {1}
    assert {(row[0], row[2]) for row in rows_of} == {(1, 1), (1, 2), (2, 1), (2, 2)}
