"""Small tables full of what usually goes wrong, and questions about them."""

import atexit
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from math import inf, nan
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tacit.engines import Source
from tacit.engines.duckdb.dialect import DIALECT
from tacit.engines.duckdb.engine import DuckDB, DuckSnapshot
from tacit.engines.requests import Relation
from tacit.engines.rows import Rows
from tacit.engines.script import ALL_ROWS, Script, fragment
from tacit.language.expressions import Expression, Scope
from tacit.language.types import Schema
from tests.engines.cases import FIELDS

SCHEMA = Schema.of(
    {
        "who": "integer",
        'näme "of" {} who': "text",
        "i": "integer",
        "u": "integer",
        "c": "decimal(2)",
        "w": "decimal(3)",
        "f": "float",
        "g": "float",
        "b": "boolean",
        "d": "date",
        "t": "timestamp",
        "s": "text",
        "nothing": "integer",
    }
)
SCOPE = Scope.of(SCHEMA, "t")
PERSONS = ("who", 'näme "of" {} who', "f", "u", "d")

floats = st.one_of(
    st.sampled_from((nan, inf, -inf, 1e308, -1.7e308, 0.0, -0.0, 5e-324, 0.5, 2.5e-6, 1.5e-6, 9.2e12, -9.3e12, 1e6)),
    st.integers(-40, 40).map(lambda n: n / 8),
    st.floats(allow_nan=True),
)
whole = st.one_of(st.integers(-9, 9), st.sampled_from((2**63 - 1, -(2**63), 2**62, -(2**62), 2**31)))
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "who": st.one_of(st.none(), st.integers(1, 3), st.just(2**63 - 1)),
    'näme "of" {} who': st.sampled_from((None, "", "a", "A", "é", "e\u0301", "'; DROP TABLE t; --")),
    "i": st.one_of(st.none(), whole),
    "u": st.one_of(st.none(), st.integers(0, 3), st.just(2**64 - 1)),
    "c": st.one_of(st.none(), st.integers(-500, 500), st.just(10**12 - 1)).map(
        lambda n: None if n is None else Decimal(n).scaleb(-2)
    ),
    "w": st.one_of(st.none(), st.integers(-500, 500), st.sampled_from((10**37, -(10**37), 2**63, -(2**63)))).map(
        lambda n: None if n is None else Decimal(n).scaleb(-3)
    ),
    "f": st.one_of(st.none(), floats),
    "g": st.one_of(st.none(), st.sampled_from((nan, inf, -inf, 0.5, -2.25)), st.floats(width=32)),
    "b": st.one_of(st.none(), st.booleans()),
    "d": st.one_of(st.none(), st.dates(), st.sampled_from((date.min, date.max, date(2020, 2, 29)))),
    "t": st.one_of(st.none(), st.datetimes(), st.sampled_from((datetime.min, datetime.max))),
    "s": st.sampled_from((None, "", "EU", "eu", "%", "a_b", "ü", "O'Brien", "line\nbreak")),
    "nothing": st.none(),
}
rows = st.fixed_dictionaries(VALUES)


_SHARED: list[Any] = []
atexit.register(_SHARED.clear)


def shared() -> Any:
    import duckdb  # here and not above: a module that keeps it until the end makes it complain about leaks

    if not _SHARED:
        _SHARED.append(duckdb.connect())
    return _SHARED[0]


def tables(largest: int = 10) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Tables of up to some rows, the empty one included."""
    return st.lists(rows, max_size=largest)


def arrow(table: Sequence[dict[str, Any]]) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in table], kind) for name, kind in FIELDS.items()})


@contextmanager
def engine_over(table: Sequence[dict[str, Any]]) -> Iterator[DuckDB]:
    """An engine over a small table; all share one database, which opens in a tenth of the time of a new one."""
    connection = shared()
    connection.register("incoming", arrow(table))
    connection.execute("CREATE OR REPLACE TABLE t AS SELECT * FROM incoming")
    engine = DuckDB({"t": Source(connection, SCHEMA)})
    try:
        yield engine
    finally:
        engine.close()


def relation(person: str = "who", where: Expression | None = None) -> Relation:
    column = SCOPE.find(person)
    return Relation("t", "t", column, filter=where)  # type: ignore[arg-type]


def row_values(engine: DuckDB, expressions: Sequence[Expression]) -> list[tuple[Any, ...]]:
    """The values of some expressions in every row with a person."""
    rows = Rows(DIALECT, relation(), {"t": engine.tables["t"].sql})
    names = [rows.plain(expression) for expression in expressions]
    with engine.snapshot() as snapshot:
        asked = fragment(f"SELECT {', '.join(names)} FROM ", ALL_ROWS)
        return snapshot.fetch_rows(Script(tuple(rows.parts()), asked))


def run(snapshot: DuckSnapshot, statement: str) -> list[tuple[Any, ...]]:
    """A statement of the test's own, run as the engine runs its statements."""
    return snapshot.fetch_rows(Script((), fragment(statement)))
