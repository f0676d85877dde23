"""Frames become Arrow tables value by value, and ordinary columns without a copy."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.engines.duckdb import frames


class _Raises:
    def __str__(self) -> str:
        raise ValueError("a secret")


@pytest.mark.parametrize("column", [[b"a", "b"], [b"a", "b", _Raises()]])
def test_one_object_does_not_change_how_another_is_read(column: list[Any]) -> None:
    """Bytes among texts are text, whether or not the column has an object that has none."""
    found = frames.arrow(pd.DataFrame({"x": pd.Series(column, dtype=object)}))["x"].to_pylist()
    assert found == ["a", "b", None][: len(column)]


def test_numbers_are_not_copied() -> None:
    numbers = np.arange(5, dtype=float)
    table = frames.arrow(pd.DataFrame({"x": numbers}, copy=False))
    column: Any = table["x"].chunk(0)
    buffer = column.buffers()[1]
    assert buffer.address == numbers.ctypes.data


def test_times_lose_their_zone_and_never_their_moment() -> None:
    zoned = pa.array([0, 2**62, None], pa.timestamp("s", "Asia/Tokyo"))
    table = frames.arrow(pa.table({"x": zoned}))
    assert table["x"].type == pa.timestamp("us")
    assert table["x"].cast(pa.int64()).to_pylist() == [0, None, None]


def test_text_that_is_none_is_absent_whatever_holds_it() -> None:
    raw = pa.array([b"a", b"\xff", None])
    text = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    for column in (text, text.dictionary_encode(), text.cast(pa.string_view()), text.cast(pa.large_string())):
        assert frames.arrow(pa.table({"x": column}))["x"].to_pylist() == ["a", None, None]


def test_the_shape_is_what_a_statement_depends_on() -> None:
    frame = pd.DataFrame({"x": pd.Series(["a", "b"], dtype="category"), 7: [1, 2]})
    wider = pd.DataFrame({"x": pd.Series([str(i) for i in range(300)], dtype="category"), 7: range(300)})
    assert frames.shape(frames.arrow(frame)) == frames.shape(frames.arrow(wider))
    assert frames.arrow(pl.DataFrame({"x": ["a"]})).column_names == ["x"]
    assert frames.arrow(frame).column_names == ["x", "7"]
