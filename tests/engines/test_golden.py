"""The SQL of every dialect, word by word: a change here changes what an engine runs, and must be meant.

The statements are in ``golden/<dialect>/<question>.sql``, with line breaks for spaces. After a change that is meant,
run ``TACIT_GOLDEN=write python -m pytest tests/engines/test_golden.py`` and read the difference.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from tacit.engines.columns import ColumnSQL, TableSQL
from tacit.engines.dialect import Dialect
from tacit.engines.duckdb import dialect as duckdb_dialect
from tacit.engines.duckdb import tables as duckdb_tables
from tacit.engines.postgres import dialect as postgres_dialect
from tacit.engines.postgres import tables as postgres_tables
from tacit.engines.requests import (
    GroupTotals,
    Incidence,
    Join,
    KeyCounts,
    Moments,
    Ordered,
    Persons,
    RankSteps,
    Relation,
    TotalBuckets,
    value,
)
from tacit.engines.rows import Rows
from tacit.engines.script import Script
from tacit.engines.snapshots import render
from tacit.engines.spark import dialect as spark_dialect
from tacit.engines.spark import tables as spark_tables
from tacit.language.expressions import Column, Literal, Scope
from tacit.language.parsing import parse
from tacit.language.types import TEXT, ColumnType, Schema

GOLDEN = Path(__file__).parent / "golden"
SCHEMA = Schema.of(
    {
        "who": "integer",
        "amount": "integer",
        "price": "decimal(2)",
        "rate": "float",
        "paid": "boolean",
        "day": "date",
        "moment": "timestamp",
        "place": "text",
    }
)
SCOPE = Scope.of(SCHEMA, "t")
WHO, PLACE = Column(SCHEMA["who"], "t", "who"), Column(SCHEMA["place"], "t", "place")


def _duckdb(name: str, kind: ColumnType) -> ColumnSQL:
    natives = {"who": "BIGINT", "price": "DECIMAL(12,2)", "rate": "DOUBLE", "place": "VARCHAR", "amount": "INTEGER"}
    return duckdb_tables.DuckColumn(name, natives.get(name, kind.kind.name), kind)


def _postgresql(name: str, kind: ColumnType) -> ColumnSQL:
    natives = {
        "who": "int8",
        "amount": "int4",
        "price": "numeric(12,2)",
        "rate": "float8",
        "paid": "bool",
        "day": "date",
        "moment": "timestamptz",
        "place": "text",
    }
    return postgres_tables.PostgresColumn(name, natives[name], kind)


def _spark(name: str, kind: ColumnType) -> ColumnSQL:
    natives = {"who": "bigint", "amount": "int", "price": "decimal(12,2)", "rate": "double", "place": "string"}
    return spark_tables.SparkColumn(name, natives.get(name, kind.kind.value), kind)


DIALECTS: dict[str, tuple[Dialect, Callable[[str, ColumnType], ColumnSQL]]] = {
    "duckdb": (duckdb_dialect.DIALECT, _duckdb),
    "postgresql": (postgres_dialect.DIALECT, _postgresql),
    "spark": (spark_dialect.DIALECT, _spark),
}


def _asked(*requests: object, where: str | None = None, joins: tuple[Join, ...] = ()) -> Callable[..., Script]:
    about = Relation("t", "t", WHO, joins, None if where is None else parse(where, SCOPE))
    return lambda dialect, tables: render(dialect, tables, about, requests)  # type: ignore[arg-type]


def _touched(dialect: Dialect, tables: dict[str, TableSQL]) -> Script:
    about = Relation("t", "t", WHO, others=(("", Column(SCHEMA["amount"], "t", "amount")),))
    return Incidence(value(SCOPE.find("price"))).script(Rows(dialect, about, tables))


QUESTIONS: dict[str, Callable[..., Script]] = {
    "totals": _asked(
        Persons(),
        *(TotalBuckets(value(SCOPE.find(name)), (10, 20)) for name in ("amount", "price", "rate", "paid")),
    ),
    "expressions": _asked(
        TotalBuckets(value(parse("amount * price + 1", SCOPE)), (1,)),
        TotalBuckets(value(parse("rate * 2.5e0 - amount / rate", SCOPE)), (1,)),
        TotalBuckets(value(parse("EXTRACT(second FROM moment)", SCOPE)), (1,)),
        where="place LIKE 'O''%' AND day >= DATE '2020-02-29' AND NOT (place IN ('EU', 'US') OR paid)",
    ),
    "quantiles": _asked(RankSteps(Ordered(SCOPE.find("rate")), (Fraction(1, 2),), 3, 2)),
    "moments": _asked(Moments(value(SCOPE.find("amount")), 0, 9, 2, 3)),
    "groups": _asked(
        GroupTotals(
            value(SCOPE.find("amount")), (PLACE,), ((Literal(TEXT, "EU"),), (Literal(TEXT, None),)), "l2", 5, 10
        )
    ),
    "keys": _asked(KeyCounts((PLACE, SCOPE.find("day")), 3, 2, bytes(16))),
    "joins": _asked(Persons(), joins=(Join("p", "p 1", ((PLACE, Column(TEXT, "p 1", "place")),), "left"),)),
    "several persons": _touched,
}


@pytest.mark.parametrize("question", list(QUESTIONS))
@pytest.mark.parametrize("name", list(DIALECTS))
def test_statements(name: str, question: str) -> None:
    dialect, read = DIALECTS[name]
    columns = {column: read(column, kind) for column, kind in SCHEMA.columns}
    tables = {key: TableSQL(dialect.name(key), columns) for key in ("t", "p")}
    script = QUESTIONS[question](dialect, tables)
    statement = dialect.statement(script)
    path = GOLDEN / name / f"{question.replace(' ', '_')}.sql"
    if os.environ.get("TACIT_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_lines(statement, script), encoding="utf-8")
    assert " ".join(path.read_text(encoding="utf-8").splitlines()) == statement


def _lines(statement: str, script: Script) -> str:
    """The statement with each part and each answer on a line of its own."""
    for part in script.parts[1:]:
        statement = statement.replace(f"), {part.name} ", f"),\n{part.name} ", 1)
    body = script.body.text()
    head = statement.removesuffix(body).rstrip()
    return f"{head}\n" + body.replace(" UNION ALL ", "\nUNION ALL ") + "\n"
