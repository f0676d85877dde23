"""What all engines share about open tables: names of types, unique keys, and columns of every pair of types."""

from collections.abc import Iterator

import pytest

from tacit.engines.columns import ColumnSQL
from tacit.engines.dialect import LARGEST, SMALLEST, Dialect, digits
from tacit.engines.duckdb import conversion
from tacit.engines.duckdb.dialect import DIALECT as DUCKDB
from tacit.engines.duckdb.tables import DuckColumn
from tacit.engines.duckdb.text_files.formats import TextFormat
from tacit.engines.postgres.dialect import DIALECT as POSTGRESQL
from tacit.engines.postgres.tables import PostgresColumn, native_name
from tacit.engines.postgres.tables import readable as readable_in_postgres
from tacit.engines.spark.dialect import DIALECT as SPARK
from tacit.engines.spark.tables import SparkColumn
from tacit.engines.spark.tables import readable as readable_in_spark
from tacit.engines.tables import unique_keys
from tacit.language.types import (
    BOOLEAN,
    DATE,
    FLOAT,
    INTEGER,
    OTHER,
    TEXT,
    TIMESTAMP,
    ColumnType,
    decimal,
)

KINDS = (INTEGER, decimal(0), decimal(2), decimal(18), FLOAT, BOOLEAN, DATE, TIMESTAMP, TEXT, OTHER)


@pytest.mark.parametrize(
    ("dialect", "names"),
    [
        (DUCKDB, ("HUGEINT", "DECIMAL(12,2)", "FLOAT", "BOOLEAN", "DATE", "TIMESTAMP_S", "ENUM('a')", "INTEGER[]")),
        (POSTGRESQL, ("int8", "numeric(12,2)", "numeric", "bool", "date", "timestamptz", "text", "money")),
        (SPARK, ("void", "decimal(12,2)", "double", "boolean", "date", "timestamp_ntz", "varchar(9)", "array<int>")),
    ],
)
def test_every_engine_reads_its_types_into_the_same_few(dialect: Dialect, names: tuple[str, ...]) -> None:
    assert [dialect.inferred(name) for name in names] == [
        INTEGER, decimal(2), FLOAT, BOOLEAN, DATE, TIMESTAMP, TEXT, OTHER
    ]  # fmt: skip


@pytest.mark.parametrize("dialect", [DUCKDB, POSTGRESQL, SPARK])
def test_decimals_that_are_too_fine_only_name_persons(dialect: Dialect) -> None:
    assert dialect.inferred(f"{dialect.native_decimal}(38,19)") == OTHER
    assert dialect.native_digits(f"{dialect.native_decimal}(38,19)") == (38, 19)


def test_a_catalog_type_has_a_name() -> None:
    def packed(precision: int, scale: int) -> int:
        return (precision << 16 | scale & 0x7FF) + 4

    assert native_name("numeric", packed(12, 2), False) == "numeric(12,2)"
    assert native_name("numeric", packed(5, -2), False) == "numeric(7,0)"  # 12,300 has five digits and no fraction
    assert native_name("numeric", -1, False) == "numeric"
    assert native_name("varchar", 24, True) == "text"
    assert native_name("int4", -1, False) == "int4"


def columns() -> Iterator[ColumnSQL]:
    """A column of every pair of native and declared type that may be read."""
    for native in (*DUCKDB.native_types, "DECIMAL(12,2)", "DECIMAL(38,18)", "ENUM('a')", "BLOB"):
        for kind in KINDS:
            if kind == OTHER or conversion.writable(native):
                target, _ = conversion.converted(native, kind, "x", TextFormat())
                yield DuckColumn("x", target, kind, conversion.exact(native, kind))
    for native in (*POSTGRESQL.native_types, "numeric(12,2)", "numeric(38,18)", "money", "inet", ""):
        yield from (PostgresColumn("x", native, kind) for kind in KINDS if readable_in_postgres(native, kind))
    for native in (*SPARK.native_types, "decimal(12,2)", "decimal(38,18)", "string", "char(9)", "array<int>", "binary"):
        yield from (SparkColumn("x", native, kind) for kind in KINDS if readable_in_spark(native, kind))


def test_every_column_has_a_value_a_key_and_a_group() -> None:
    seen = set()
    for column in columns():
        for sql in (column.value("x"), column.key("x"), column.group("x"), column.double("x")):
            assert "x" in sql
            assert sql.count("(") == sql.count(")"), sql
            assert sql.count("CASE ") == sql.count(" END"), sql
        assert column.key_type.meets(column.key_type)
        assert column.key_type.narrow or column.key_type.domain == "number" or column.kind == OTHER
        seen.add((type(column), column.kind))
    assert len(seen) > 20


def column(native: str, kind: ColumnType, exact: bool = True) -> DuckColumn:
    return DuckColumn("x", native, kind, exact)


def test_a_key_stays_unique_only_if_its_columns_are_read_as_what_they_are() -> None:
    native = {"a": "BIGINT", "b": "VARCHAR", "c": "TIMESTAMP_NS"}
    read = {"a": column("BIGINT", INTEGER), "b": column("HUGEINT", INTEGER), "c": column("TIMESTAMP", TIMESTAMP, False)}
    assert unique_keys([("a",), ("b",), ("a", "b"), ("c",), ()], read, native) == (("a",), ())
    assert unique_keys([("b",), ("a", "b")], read | {"b": column("VARCHAR", TEXT)}, native) == (("b",), ("a", "b"))
    assert unique_keys([("a", "left out")], read, native) == ()


def test_steps_are_written_out() -> None:
    assert digits(-5, 2) == "-0.05"
    assert digits(120, 0) == "120"
    assert digits(LARGEST, 18) == "9.223372036854775807"
    assert digits(SMALLEST, 2) == "-92233720368547758.08"
