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
    PERSON,
    Derived,
    GroupTotals,
    Incidence,
    Join,
    KeyCounts,
    KeysPerPerson,
    Listed,
    Moments,
    Ordered,
    PersonGroups,
    PersonRows,
    Persons,
    RankSteps,
    Relation,
    TotalBuckets,
    Union,
    value,
)
from tacit.engines.rows import Rows
from tacit.engines.script import Script
from tacit.engines.snapshots import render
from tacit.engines.spark import dialect as spark_dialect
from tacit.engines.spark import tables as spark_tables
from tacit.language import build
from tacit.language.aggregates import aggregate
from tacit.language.expressions import Column, Literal, Scope
from tacit.language.inside import Frame, Ordering
from tacit.language.parsing import parse
from tacit.language.types import INTEGER, TEXT, ColumnType, Schema
from tacit.language.windows import window

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


def _inside(table: Derived, *joins: Join) -> Callable[..., Script]:
    """The sums of all columns of a derived table, and how many different texts each person has in the last one."""
    about = Relation(table, "d", Column(table.type_of(PERSON), "d", PERSON), joins)
    columns = [Column(kind, "d", name) for name, kind in table.columns]
    asked = [TotalBuckets(value(c), (1,)) if c.type.number else KeysPerPerson((c,), (1,)) for c in columns]
    return lambda dialect, tables: render(dialect, tables, about, asked)


def _groups() -> PersonGroups:
    amount, rate, place = (SCOPE.find(name) for name in ("amount", "rate", "place"))
    made = {
        "total": aggregate("sum", [rate], filter=parse("paid", SCOPE)),
        "mean": aggregate("avg", [amount], distinct=True),
        "median": aggregate("median", [amount]),
        "places": aggregate("count", [place], distinct=True),
        "last": aggregate("arg_max", [place, SCOPE.find("day")]),
        "listed": aggregate("string_agg", [place]),
    }
    return PersonGroups(Relation("t", "t", WHO), (("moment", SCOPE.find("moment")),), tuple(made.items()))


def _windows() -> PersonRows:
    amount, day = SCOPE.find("amount"), SCOPE.find("day")
    made = {
        "number": window("row_number", order=[Ordering(day, descending=True)]),
        "running": window("sum", [amount], order=[Ordering(day)], frame=Frame("rows", None, 0)),
        "share": window("cume_dist", order=[Ordering(day)], partition=[PLACE]),
        "before": window("lag", [PLACE], order=[Ordering(day)]),
    }
    return PersonRows(Relation("t", "t", WHO), (("price", SCOPE.find("price")),), tuple(made.items()))


def _together() -> Union:
    """Those with a large price and without a moment of their own, and what is listed."""
    groups, price = _groups(), SCOPE.find("price")
    tie, when = (WHO, Column(WHO.type, "g", PERSON)), Column(SCHEMA["moment"], "g", "moment")
    late = build.comparison("<", SCOPE.find("moment"), when)
    listed = Listed((("code", TEXT), ("rank", INTEGER)), (("EU", 1), ("O'Brien", None)))
    joins = (
        Join(groups, "g", (tie,), "anti", late),
        Join(listed, "l", ((PLACE, Column(TEXT, "l", "code")),), "left"),
    )
    rows = PersonRows(Relation("t", "t", WHO, joins), (("price", price), ("rank", Column(INTEGER, "l", "rank"))))
    rank = aggregate("max", [SCOPE.find("amount")])
    return Union((rows, PersonGroups(Relation("t", "t", WHO), (("price", price),), (("rank", rank),))))


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
    "inside groups": _inside(_groups()),
    "inside windows": _inside(_windows()),
    "inside together": _inside(_together()),
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
