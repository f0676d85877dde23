"""The engines that must agree, listed in one place.

Each entry opens an engine over some named Arrow tables, put where that engine keeps tables, with the native types
nearest to Arrow's. A new engine adds a function to `OPEN`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pyarrow as pa
import pytest

from tacit.engines import Engine, Source, open_engine
from tacit.engines.requests import RankSteps, Request
from tacit.engines.spark.engine import Spark
from tacit.language.types import BOOLEAN, DATE, FLOAT, INTEGER, TEXT, TIMESTAMP, ColumnType, Schema, decimal
from tests.postgres import POSTGRES, REQUIRED, schema
from tests.spark import QUICK, SPARK, frame, with_settings

Tables = Mapping[str, pa.Table]
Asked = tuple[Request[Any], ...]
Opener = Callable[[pytest.FixtureRequest, Tables], AbstractContextManager[Engine]]


@contextmanager
def duckdb(request: pytest.FixtureRequest, tables: Tables) -> Iterator[Engine]:
    """Arrow tables as they are."""
    engine = open_engine({name: Source(table, facts(table)) for name, table in tables.items()})
    yield engine
    engine.close()


@contextmanager
def postgresql(request: pytest.FixtureRequest, tables: Tables) -> Iterator[Engine]:
    """Tables of a new schema, asked by a connection string."""
    where = schema(request.getfixturevalue("server"))
    for name, table in tables.items():
        store(where, name, table)
    engine = open_engine({name: Source(where, facts(table)) for name, table in tables.items()})
    yield engine
    engine.close()


@contextmanager
def spark(request: pytest.FixtureRequest, tables: Tables) -> Iterator[Engine]:
    """Frames of a session that plans quickly."""
    session = with_settings(request.getfixturevalue("spark"), QUICK)
    engine = open_engine({name: Source(frame(session, table), facts(table)) for name, table in tables.items()})
    yield engine
    engine.close()


FULL = os.environ.get("TACIT_CONFORMANCE") == "full"


def everything(engine: Engine) -> bool:
    """Whether an engine is asked the whole list: all but Spark, which takes long to plan quantiles and groups.

    With TACIT_CONFORMANCE=full in the environment Spark is too; `benchmarks/conformance.py` does that.
    """
    return FULL or not isinstance(engine, Spark)


def portions(engine: Engine, asked: Asked) -> list[Asked]:
    """What is asked at once: all, but of Spark two requests, or one quantile, as planning outgrows a statement."""
    if not isinstance(engine, Spark):
        return [asked]
    size = 1 if isinstance(asked[0], RankSteps) else 2
    return [asked[start : start + size] for start in range(0, len(asked), size)]


def facts(table: pa.Table) -> Schema:
    """The schema that is declared for an Arrow table, the same on every engine."""
    return Schema(tuple((field.name, _declared(field.type)) for field in table.schema))


def _declared(kind: pa.DataType) -> ColumnType:
    if pa.types.is_decimal(kind):
        return decimal(kind.scale)
    return {
        pa.int32(): INTEGER,
        pa.int64(): INTEGER,
        pa.uint64(): INTEGER,
        pa.float32(): FLOAT,
        pa.float64(): FLOAT,
        pa.bool_(): BOOLEAN,
        pa.date32(): DATE,
        pa.timestamp("us"): TIMESTAMP,
        pa.string(): TEXT,
        pa.null(): INTEGER,
    }[kind]


def store(where: str, name: str, table: pa.Table) -> None:
    """Put an Arrow table into PostgreSQL, value by value in binary form, so that none is changed on the way."""
    import psycopg

    def quoted(identifier: str) -> str:
        return '"' + identifier.replace('"', '""') + '"'

    kinds = [_native(field.type) for field in table.schema]
    columns = ", ".join(f"{quoted(field.name)} {kind}" for field, kind in zip(table.schema, kinds, strict=True))
    with psycopg.connect(where, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {quoted(name)} ({columns})".encode())
        with cursor.copy(f"COPY {quoted(name)} FROM STDIN (FORMAT BINARY)".encode()) as copy:
            copy.set_types([kind.partition("(")[0] for kind in kinds])
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)


def _native(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision},{kind.scale})"
    return {
        pa.int32(): "int4",
        pa.int64(): "int8",
        pa.uint64(): "numeric(20,0)",
        pa.float32(): "float4",
        pa.float64(): "float8",
        pa.bool_(): "bool",
        pa.date32(): "date",
        pa.timestamp("us"): "timestamp",
        pa.string(): "text",
        pa.null(): "int4",
    }[kind]


OPEN: dict[str, Opener] = {"duckdb": duckdb}
if POSTGRES or REQUIRED:
    OPEN["postgresql"] = postgresql
if SPARK or REQUIRED:
    OPEN["spark"] = spark
