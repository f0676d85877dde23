"""A file of one person among others, or a cell of theirs beside the table: it changes how nobody else is read.

The attack: whoever writes one file of a folder, or one row of a sheet, writes what the others' have no place for, and
every question that fails from then on, or a column that is there now, tells that it is there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit import Pure
from tests.engines.duckdb.test_loading import book

LARGE = Pure(10**6)
"""At this cost noise is 0."""


def folder(path: Path, files: dict[str, dict[str, list[Any]]]) -> tacit.Table:
    for name, columns in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), path / name)
    return tacit.read(path, person="who", budget=LARGE)


@pytest.mark.parametrize("other", [{"v": ["q"]}, {"w": [5]}, {"v": [1e300]}, {"v": [[5]]}])
def test_a_file_of_another_shape_makes_no_question_of_partitions_fail(tmp_path: Path, other: dict[str, Any]) -> None:
    table = folder(tmp_path, {"who=1/a.parquet": {"v": [3, 4]}, "who=2/a.parquet": other})
    assert table.persons(epsilon=1000).value == 2
    assert table.sum("v", epsilon=1000).value == 7


def test_partitions_say_the_same_whoever_reads_them(tmp_path: Path) -> None:
    files: dict[str, dict[str, list[Any]]] = {
        "k=a/a.parquet": {"who": [1], "v": [3]},
        "k=b%20c/a.parquet": {"who": [2], "v": [5], "k": ["of the file"]},
        "k=__HIVE_DEFAULT_PARTITION__/a.parquet": {"who": [3], "v": [8]},
    }
    asked = [("k = 'a'", 1), ("k = 'b c'", 1), ("k IS NULL", 1), ("k = 'of the file'", 0)]
    other: dict[str, dict[str, list[Any]]] = {"k=a/z.parquet": {"who": [4], "v": ["q"]}}
    for name, more in (("whole", {}), ("other", other)):
        table = folder(tmp_path / name, files | more)
        found = [table.filter(f"{where} AND who < 4 AND coalesce(v, 0) >= 0").count(epsilon=1000) for where, _ in asked]
        assert [answer.value for answer in found] == [count for _, count in asked]


@pytest.mark.parametrize("rows", [[[1, 5, "beside"]], [[1, 5], [2, 6, None, 7]]])
def test_a_cell_beside_a_sheet_is_no_column(tmp_path: Path, rows: list[list[Any]]) -> None:
    path = book(tmp_path / "t.xlsx", {"s": [["who", "v"], *rows]})
    assert str(tacit.schema(path)) == "who integer, v integer"


def test_a_cell_before_a_sheet_is_no_column(tmp_path: Path) -> None:
    rows: list[list[Any]] = [[None, "who", None, "v"], ["before", 1, None, 5], [None, 2, "between", 6]]
    path = book(tmp_path / "t.xlsx", {"s": rows})
    assert str(tacit.schema(path)) == "who integer, column1 text, v integer"
