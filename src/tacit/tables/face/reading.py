"""`read` one private table, or look at the `schema` of a source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.budgets import Budget, Periods
from tacit.engines import open_engine
from tacit.engines.requests import MAX_JOIN_ROWS, MAX_ROWS
from tacit.guarantees import Guarantee
from tacit.language.types import Schema
from tacit.numbers.exact import Number
from tacit.randomness import SYSTEM, Randomness
from tacit.tables.face.declarations import Columns, KeyNames, Private, as_source, default_name
from tacit.tables.face.session import Session
from tacit.tables.face.table import Table

if TYPE_CHECKING:
    from tacit.ledger import Ledger


def read(
    source: Any,
    person: str | Sequence[str],
    budget: Guarantee | Budget | Periods | None = None,
    *,
    table: str | None = None,
    name: str | None = None,
    ledger: str | Path | Ledger | None = None,
    analyst: str = "",
    version: str | None = None,
    period: str | None = None,
    date: str | None = None,
    schema: Columns | None = None,
    unit: Number | None = None,
    composition: str = "basic",
    timeout: float | None = None,
    sample: Number | None = None,
    max_rows: int = MAX_ROWS,
    max_join_rows: int = MAX_JOIN_ROWS,
    key: KeyNames | None = None,
    randomness: Randomness = SYSTEM,
    **options: Any,
) -> Table:
    """One private table under a budget of its own; no row is read yet.

    Args:
        source: a path, a list of them, a pattern or a folder (Parquet, CSV, JSON, Excel, DuckDB, SQLite), a pandas or
            Polars frame, an Arrow table or stream, a DuckDB relation, an open DuckDB or psycopg connection, a text
            "postgresql://…", a Spark DataFrame or session.
        person: the column, or columns, that say whom a row is about.
        budget: what all answers together may cost, such as ``Pure(1)``, or about each period (`Periods`).
        table: the table's name in SQL, and in a database; without one it is the file's stem, or "data".
        name: the name of the budget in a ledger.
        ledger: the file or address of a ledger, or an open one; it keeps the budget and the answers.
        analyst: who asks, for the ledger.
        version: a public label of the data as they are now, such as "2026-11", within which an answer is found again.
        period: the period whose rows are asked about, such as "2026-11", where the budget is by period.
        date: the column that says when a row happened, where the budget is by period.
        schema: names and types of the columns, where they should not be inferred.
        unit: the public unit in which floats are counted; 10^−6 without one.
        composition: how costs add up: "basic", or "advanced", "tight" or "odometer" for an `Approx` budget.
        timeout: the most seconds that one statement may take; what was charged stays charged.
        sample: the probability that a person is included, drawn anew for each question; a sample lowers the cost.
        max_rows: the most rows of a question whose rows concern several persons.
        max_join_rows: the largest number of rows a join may produce.
        key: the columns that identify a row, as for `Private`.
        randomness: where noise comes from; `tacit.randomness.seeded_not_private` is for tests.
        options: further options for the file reader, such as ``encoding=``.

    >>> orders = tacit.read(data, person="customer", budget=Pure(2), table="orders")
    >>> orders
    <Table orders: customer integer, ...; person = customer; ...>
    """
    called = table or default_name(source)
    private = Private(source, person, key=key, table=table, schema=schema, unit=unit, date=date, **options)
    session = Session(
        {called: private},
        budget,
        composition=composition,
        name=name,
        ledger=ledger,
        analyst=analyst,
        version=version,
        period=period,
        timeout=timeout,
        sample=sample,
        max_rows=max_rows,
        max_join_rows=max_join_rows,
        randomness=randomness,
    )
    return session[called]


def schema(source: Any, *, table: str | None = None, **options: Any) -> Schema:
    """The public facts of a source as Tacit reads them, to be confirmed or corrected with ``schema=``.

    Args:
        source: whatever `read` takes.
        table: the table's name, where the source is a database.
        options: further options for the file reader, such as ``encoding=``.

    >>> print(tacit.schema(regions))
    region text, country text
    """
    key = table or default_name(source)
    engine = open_engine({key: as_source(source, table, None, options)})
    try:
        return engine.schema(key)
    finally:
        engine.close()
