"""Ordinary and odd values of Parquet files, decimals and constraints, as a second hostile reading found them.

Each of these made a question fail for one value of one person, or changed how other persons' values were read.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit import InvalidInput, Private, Public, Pure, Session, UnsupportedQuery

SURE = 10**6
"""An ε at which noise is practically zero: P[any noise] ≤ 2 exp(-10^6)."""


def texts(values: list[bytes]) -> Any:
    """Text that need not be UTF-8, as other writers leave it in files."""
    _, offsets, data = pa.array(values, pa.binary()).buffers()
    made: Any = pa.StringArray.from_buffers
    return made(len(values), offsets, data)


def read(source: Any) -> tacit.Table:
    return tacit.read(source, person="p", budget=Pure(10**9), table="t")


@pytest.mark.parametrize(
    ("precision", "scale"), [(18, 2), (18, 6), (18, 9), (18, 18), (12, 6), (9, 4), (38, 2), (38, 12)]
)
def test_decimals_up_to_their_last_digit(precision: int, scale: int) -> None:
    """DuckDB multiplies decimals in 64 bits up to a width of 18, and raises where that does not hold."""
    largest = Decimal((0, (9,) * precision, -scale))
    values = [largest, largest.copy_negate(), Decimal(0), Decimal((0, (1,), -scale))]
    table = read(pa.table({"p": range(4), "v": pa.array(values, pa.decimal128(precision, scale))}))
    assert table.nunique("v", epsilon=SURE).value == 4
    assert table.filter("v = v").count(epsilon=SURE).value == 4
    table.sum("v", epsilon=SURE)
    table.max("v", epsilon=SURE)


@pytest.mark.parametrize("later", range(0, 9, 2))
@pytest.mark.parametrize("stored", ["parquet", "table"])
def test_weeks_of_the_first_days_that_a_date_can_hold(later: int, stored: str, tmp_path: Path) -> None:
    """A function of a column's smallest value was computed from its statistics, past the conditions around it."""
    days = pa.array([-(2**31) + later, 0, 10], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"p": [1, 2, 3], "v": days}), tmp_path / "t.parquet")
    source: Any = tmp_path / "t.parquet"
    if stored == "table":
        source = duckdb.connect()
        source.execute(f"CREATE TABLE t AS SELECT * FROM '{tmp_path / 't.parquet'}'")
    for condition in ("DATE_TRUNC('week', v) = DATE '1970-01-05'", "EXTRACT(week FROM v) >= 1"):
        read(source).filter(condition).count(epsilon=1)


def with_city(folder: Path, city: bytes, **columns: Any) -> tacit.Table:
    """Ten persons, the last of whom has this city."""
    table = pa.table({"p": range(10), "city": texts([b"Paris"] * 9 + [city]), **columns})
    pq.write_table(table, folder / "t.parquet", use_deprecated_int96_timestamps=True)
    return read(folder / "t.parquet").filter("city <> 'x' OR city IS NULL")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([datetime(9999, 12, 31)] * 10, pa.timestamp("us")),
        pa.array([Decimal("1.25")] * 10, pa.decimal256(38, 2)),
        pa.array([Decimal("1.25")] * 10, pa.decimal256(50, 2)),
        pa.array([True] * 10),
        pa.array([2**63 + 5] * 10, pa.uint64()),
        pa.array(["a"] * 10).dictionary_encode(),
        pa.array([1.5] * 10, pa.float32()),
        pa.array([3] * 10, pa.int32()).cast(pa.date32()),
    ],
    ids=lambda column: str(column.type),
)
def test_a_text_that_is_none_changes_nobody_elses_values(column: Any, tmp_path: Path) -> None:
    """Such a file is read a second time by Arrow, which read old times otherwise, or did not read a type at all."""
    answers = []
    for city in (b"Paris", b"\xff"):
        table = with_city(tmp_path, city, v=column)
        late = [table.filter("v > TIMESTAMP '9000-01-01'")] if pa.types.is_timestamp(column.type) else []
        asked = [t.count(epsilon=SURE).value for t in (table.filter("v IS NOT NULL"), *late)]
        answers.append([*asked, table.nunique("v", epsilon=SURE).value])
    assert answers[0] == answers[1] == [10, *([10] if pa.types.is_timestamp(column.type) else []), 1]


def test_files_of_different_types_are_read_value_by_value(tmp_path: Path) -> None:
    pq.write_table(pa.table({"p": [1, 2], "v": pa.array([1, 2], pa.int32())}), tmp_path / "1.parquet")
    for last, total in (("3", 7), ("x", 4)):
        pq.write_table(pa.table({"p": [3, 4], "v": ["1", last]}), tmp_path / "2.parquet")
        found = tacit.read(tmp_path / "*.parquet", person="p", budget=Pure(10**9), table="t")
        assert found.sum("v", epsilon=SURE).value == total


def test_a_constraint_of_texts_is_none_of_numbers(tmp_path: Path) -> None:
    """'1' and '01' are two keys of the source, and one as integers: they joined with each other."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE orders (id VARCHAR PRIMARY KEY, buyer INTEGER)")
        connection.execute("INSERT INTO orders VALUES ('1', 1), ('01', 2), ('001', 2)")
    kinds = {"id": "integer", "buyer": "integer"}
    orders = Private(str(path), person="buyer", table="orders", schema=kinds)
    join = "SELECT COUNT(*) FROM orders a JOIN orders b ON a.id = b.id"
    with Session({"orders": orders}, Pure(1), expanding_joins=False) as session, pytest.raises(UnsupportedQuery):
        session.cost(join, epsilon=1)
    declared = Private(str(path), person="buyer", table="orders", schema=kinds, key="id")
    with Session({"orders": declared}, Pure(1)) as session, pytest.raises(InvalidInput, match="rows that share"):
        session.verify()


def test_a_left_join_by_or_is_refused() -> None:
    """It was run as AND."""
    own, other = pa.table({"p": [1], "x": [1], "y": [2]}), pa.table({"x": [1], "y": [9], "w": [1]})
    with Session({"t": Private(own, person="p"), "o": Public(other)}, Pure(1)) as session:
        with pytest.raises(UnsupportedQuery, match="without an equality of two columns"):
            session.cost("SELECT COUNT(o.w) FROM t LEFT JOIN o ON t.x = o.x OR t.y = o.y", epsilon=1)
        session.cost("SELECT COUNT(o.w) FROM t LEFT JOIN o ON t.x = o.x AND t.y = o.y", epsilon=1)


def test_a_number_in_json_is_read_alike_on_every_line(tmp_path: Path) -> None:
    """Another number of the line decided whether 1.50 was '1.50' or '1.5': one person counted as two."""
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"p": 1.50, "x": {x}}}\n' for x in ("1", "2.123456789012", "1e5")))
    table = tacit.read(path, person="p", budget=Pure(10**9), schema={"p": "text", "x": "float"})
    assert table.persons(epsilon=SURE).value == 1


def test_groups_of_long_numbers_have_labels_of_their_own() -> None:
    values = [Decimal(10**37 + 1)] * 200 + [Decimal(10**37 + 2)] * 400
    data = pa.table({"p": range(600), "v": pa.array(values, pa.decimal128(38, 0))})
    table = tacit.read(data, person="p", budget=tacit.Approx(100, "0.1"))
    assert len(table.group_by("v").count(epsilon=50, delta="1e-3")) == 2
