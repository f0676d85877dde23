"""Sources that are read once: spreadsheets, SQLite files, streams, lazy frames and relations."""

import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import tacit
from tacit import InvalidInput, Pure
from tacit.engines import Source, list_tables
from tacit.engines.duckdb.engine import DuckDB

LARGE = Pure(10**6)
"""At this cost noise is 0."""


def book(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    """A workbook as a spreadsheet writes it, as small as can be: numbers, texts, booleans and days."""
    names = list(sheets)

    def cell(value: Any, place: str) -> str:
        if value is None:
            return ""
        if isinstance(value, bool):
            return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
        if isinstance(value, int | float):
            return f'<c r="{place}"><v>{value!r}</v></c>'
        if isinstance(value, tuple):  # a day, counted from 1899-12-30
            return f'<c r="{place}" s="1"><v>{value[0]}</v></c>'
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'

    def sheet(rows: list[list[Any]]) -> str:
        lines = "".join(
            f'<row r="{r}">' + "".join(cell(value, f"{chr(65 + c)}{r}") for c, value in enumerate(row)) + "</row>"
            for r, row in enumerate(rows, 1)
        )
        return f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'

    listed = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(names, 1))
    links = "".join(
        f'<Relationship Id="r{i}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i in range(1, len(names) + 1)
    )
    styles = f'<Relationship Id="s" Type="{OFFICE}/styles" Target="styles.xml"/>'
    with zipfile.ZipFile(path, "w") as file:
        kinds = '<Default Extension="xml" ContentType="application/xml"/>'
        file.writestr("[Content_Types].xml", f'<Types xmlns="{PACKAGE}/content-types">{kinds}</Types>')
        root = f'<Relationship Id="w" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        file.writestr("_rels/.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{root}</Relationships>')
        file.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>'
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships">{links}{styles}</Relationships>',
        )
        formats = '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs>'
        file.writestr("xl/styles.xml", f'<styleSheet xmlns="{MAIN}">{formats}</styleSheet>')
        for i, rows in enumerate(sheets.values(), 1):
            file.writestr(f"xl/worksheets/sheet{i}.xml", sheet(rows))
    return path


OPEN_XML = "http://schemas.openxmlformats.org"
MAIN, OFFICE = f"{OPEN_XML}/spreadsheetml/2006/main", f"{OPEN_XML}/officeDocument/2006/relationships"
PACKAGE = f"{OPEN_XML}/package/2006"

ROWS: list[list[Any]] = [
    ["customer", "amount", "paid", "day", "note"],
    [1, 5, True, (45_000,), "a"],
    [2, 7.5, False, (45_001,), None],
    [2, None, True, (45_002,), "7"],
]


def test_a_sheet_is_a_table(tmp_path: Path) -> None:
    path = book(tmp_path / "orders.xlsx", {"first": ROWS, "other": [["person"], [1]]})
    orders = tacit.read(path, person="customer", budget=LARGE)
    assert "orders: customer integer, amount float, paid boolean, day date, note text" in repr(orders)
    assert orders.sum("amount", epsilon=10**5).value == pytest.approx(12.5, abs=0.01)
    assert orders.filter("day >= DATE '2023-03-16'").count(epsilon=1000).value == 2
    assert str(tacit.schema(path, sheet="other")) == "person integer"
    with pytest.raises(InvalidInput, match="there is no sheet 'third'; the sheets are first, other"):
        tacit.schema(path, sheet="third")
    with pytest.raises(InvalidInput, match="delimiter is not an option of this kind of source; there are sheet"):
        tacit.schema(path, delimiter=";")


def test_a_cell_of_another_kind_is_absent_alone(tmp_path: Path) -> None:
    """The types are those of the first rows; what a later row holds is its own matter."""
    rows: list[list[Any]] = [["customer", "amount"], *([i, 1] for i in range(25_000)), [7, "#DIV/0!"], ["x", 1], [8, 2]]
    orders = tacit.read(book(tmp_path / "orders.xlsx", {"s": rows}), person="customer", budget=LARGE)
    assert "customer integer, amount integer" in repr(orders)
    assert orders.sum("amount", epsilon=1000).value == 25_002


def test_no_workbook(tmp_path: Path) -> None:
    (tmp_path / "orders.xlsx").write_text("no workbook")
    with pytest.raises(InvalidInput, match="check that it is a workbook without a password"):
        tacit.schema(tmp_path / "orders.xlsx")
    with pytest.raises(InvalidInput, match="the sheet is empty"):
        tacit.schema(book(tmp_path / "empty.xlsx", {"s": []}))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE orders "
            "(customer INTEGER, amount REAL, price DECIMAL(10, 2), day DATE, made TIMESTAMP, note TEXT)"
        )
        rows: list[tuple[Any, ...]] = [
            (1, 0.1, "2.50", "2026-01-01", "2026-01-01 10:00:00", "a"),
            (2, 1e-300, "3.25", "2026-02-01", "2026-01-01 11:00:00", "b\0c"),
            (2, "wrong", "no", "no", "no", b"\xff\xfe"),  # a cell may hold anything
            (3, None, None, None, None, None),
        ]
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.execute("INSERT INTO orders VALUES (4, 1, 1, '2026-03-01', '', CAST(x'ff' AS TEXT))")
        connection.execute("CREATE VIEW large AS SELECT customer FROM orders WHERE amount > 0")
    return path


def test_a_sqlite_file_is_a_database(database: Path) -> None:
    assert list_tables(str(database)) == ("large", "orders")
    orders = tacit.read(database, person="customer", budget=LARGE, table="orders")
    types = "customer integer, amount float, price decimal(2), day date, made timestamp, note text"
    assert str(tacit.schema(database, table="orders")) == types
    assert orders.count(epsilon=1000).value == 5
    assert orders.sum("amount", epsilon=1000).value == pytest.approx(1.1, abs=0.01)
    assert orders.sum("price", epsilon=10**5).value == Decimal("6.75")
    assert orders.filter("day IS NOT NULL").count(epsilon=1000).value == 3
    assert orders.filter("note IS NOT NULL").count(epsilon=1000).value == 2
    assert str(tacit.schema(database, table="large")) == "customer integer"
    with pytest.raises(InvalidInput, match="no table 'shop'; name one with table=, the tables are large, orders"):
        tacit.schema(database)


def test_no_sqlite_file(tmp_path: Path) -> None:
    (tmp_path / "shop.sqlite").write_text("no database at all, whatever its name says")
    with pytest.raises(InvalidInput, match="check that it is a SQLite file"):
        tacit.schema(tmp_path / "shop.sqlite")
    assert not (tmp_path / "none.sqlite").exists()
    with pytest.raises(InvalidInput, match="there is no file"):
        tacit.schema(tmp_path / "none.sqlite")


class Offering:
    """What has rows to give and is no frame."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]


TABLE = pa.table({"person": [1, 2, 2], "x": [1, 2, 3]})


def sources() -> Iterator[Any]:
    yield pl.from_arrow(TABLE).lazy().filter(pl.col("x") < 10)  # type: ignore[union-attr]
    yield pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())
    yield Offering(TABLE)
    yield TABLE.to_batches()[0]
    yield ds.dataset(TABLE)
    yield duckdb.from_arrow(TABLE).filter("x < 10")
    yield pd.DataFrame({"person": [1, 2, 2], "x": [1, 2, 3]}).set_index("person")
    yield pd.DataFrame({"person": [1, 2, 2], "x": [1, 2, 3]}, index=[5, 5, 5])
    yield pd.DataFrame(
        {"x": [1, 2, 3]}, index=pd.MultiIndex.from_tuples([(1, 9), (2, 9), (2, 8)], names=["person", "b"])
    )


@pytest.mark.parametrize("source", list(sources()), ids=lambda source: type(source).__name__)
def test_whatever_offers_rows_is_a_table(source: Any) -> None:
    table = tacit.read(source, person="person", budget=LARGE)
    assert table.sum("x", epsilon=1000).value == 6
    assert table.count(epsilon=1000).value == 3  # and again


def test_what_offers_nothing_is_refused() -> None:
    class Failing:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise ValueError("person 7")

    for source in (Failing(), 7, [], [1]):
        with pytest.raises(InvalidInput) as refused:
            DuckDB({"t": Source(source)})
        assert "person 7" not in str(refused.value)
