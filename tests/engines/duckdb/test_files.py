"""Which files a table is made of, and what it is called."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit import InvalidInput, Pure
from tacit.engines.duckdb.files import table_name

LARGE = Pure(10**6)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("orders.csv", "orders"),
        ("data/orders.csv.gz", "orders"),
        ("orders.jsonl.ZST", "orders"),
        ("orders.2026.parquet", "orders.2026"),
        ("sales-*.parquet", "sales"),
        ("sales/*.parquet", "sales"),
        ("sales/year=*/*.parquet", "sales"),
        ("sales/year=2026/month=01/part.parquet", "part"),
        ("sales/", "sales"),
        ("orders", "orders"),
        ("*.csv", "data"),
        (".", "data"),
    ],
)
def test_names_of_tables(path: str, name: str) -> None:
    assert table_name(path) == name


def parts(folder: Path) -> None:
    for year in (2025, 2026):
        for part in range(2):
            place = folder / f"year={year}"
            place.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.table({"person": [1, 2], "x": [part, part]}), place / f"part{part}.parquet")


def test_a_folder_of_partitions_is_a_table(tmp_path: Path) -> None:
    parts(tmp_path / "sales")
    (tmp_path / "sales" / "_SUCCESS").write_text("")
    for source in (tmp_path / "sales", str(tmp_path / "sales" / "*" / "*.parquet")):
        sales = tacit.read(source, person="person", budget=LARGE)
        assert repr(sales).startswith("<Table sales: person integer, x integer, year integer")
        assert sales.filter("year = 2026").sum("x", epsilon=1000).value == 2
    assert str(tacit.schema(tmp_path / "sales", hive_partitioning=False)) == "person integer, x integer"


def test_several_files_are_a_table(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.tsv").write_text("person\tx\n1\t1,5\n2\t2,5\n")
    both = tacit.read(
        [tmp_path / "a.tsv", str(tmp_path / "b.tsv")], "person", LARGE, table="both", decimal_separator=","
    )
    assert both.count(epsilon=1000).value == 4
    (tmp_path / "c.parquet").write_text("")
    with pytest.raises(InvalidInput, match="the files are of several kinds, csv, parquet; name those of one"):
        tacit.schema(tmp_path)


def test_packed_files_have_a_plain_name(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "orders.csv.gz", "wt") as file:
        file.write("person,x\n1,2\n")
    orders = tacit.read(tmp_path / "orders.csv.gz", person="person", budget=LARGE)
    assert repr(orders).startswith("<Table orders: person integer, x integer")
