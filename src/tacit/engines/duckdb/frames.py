"""Frames as Arrow tables that DuckDB can read without failing, whatever a row holds.

PROMISE. Every column is converted value by value, and a value that has no place in its column's type is absent: text
that is no UTF-8, half a surrogate pair, an object whose text cannot be had, a moment that microseconds in 64 bits do
not hold. No value changes how another is read, and what cannot be read at all follows from the column's type.

Ordinary columns are passed on as they are, without a copy; only text, objects and coarse times are looked at. Parquet
files come here only where DuckDB's own reader gives up on a value in them: it is quicker, and such values are rare.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.engines.duckdb.files import partitions

if TYPE_CHECKING:
    import pyarrow as pa

Shape = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Frame:
    """A frame that may change, and the names and types that it must keep."""

    data: Any = field(repr=False)
    shape: Shape
    changes: bool

    def now(self) -> pa.Table:
        """The frame as it is now; raises where it has other columns than when it was opened."""
        table = arrow(self.data) if self.changes else self.data
        if shape(table) != self.shape:
            raise LookupError
        return table


_TICKS = {"s": 10**6, "ms": 10**3, "us": 1}
"""Microseconds in a unit of time that could leave 64 bits."""


def is_frame(data: object) -> bool:
    """Whether something is a frame, told by its type alone."""
    module, kind = type(data).__module__.partition(".")[0], type(data).__name__
    return (module, kind) in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"))


def arrow(data: Any) -> pa.Table:
    """A pandas or Polars frame or an Arrow table as it is now; raises only on what its columns' types show."""
    import pyarrow as pa

    if type(data).__module__.partition(".")[0] == "pandas":
        data = with_index(data)
        columns: Iterable[Any] = [_column(data.iloc[:, place]) for place in range(data.shape[1])]
        names = [str(name) for name in data.columns]
    else:
        table = data if isinstance(data, pa.Table) else data.to_arrow()
        columns, names = table.columns, table.column_names
    return pa.Table.from_arrays([_safe(column) for column in columns], names=names)


def parquet(files: list[str], columns: list[str], hive: bool) -> list[pa.Table]:
    """Some columns of Parquet files, read by Arrow, which looks at no value; ``hive`` partitions are columns.

    One table for each file, with those of the columns that it has. Times are read as DuckDB reads them.
    """
    import pyarrow as pa
    from pyarrow import parquet

    times: dict[str, Any] = {"coerce_int96_timestamp_unit": "us"}
    read: Any = parquet.ParquetFile
    found = []
    for file in files:
        try:  # dictionaries as their texts
            opened = read(file, binary_type=pa.large_binary(), **times)
        except TypeError:  # an older Arrow
            opened = read(file, **times)
        folders = partitions(file) if hive else {}
        names = set(opened.schema_arrow.names) - set(folders)
        table = arrow(opened.read([name for name in columns if name in names]))
        said = {name: pa.array([value], pa.string()) for name, value in folders.items() if name in columns}
        every = pa.array([0] * opened.metadata.num_rows, pa.int8())  # all rows of a file have what its folders say
        whole: dict[str, Any] = dict(zip(table.column_names, table.columns, strict=True))
        found.append(pa.table(whole | {name: value.take(every) for name, value in said.items()}))
    return found


def shape(table: pa.Table) -> Shape:
    """Names and types, as far as a statement over the table depends on them."""
    import pyarrow as pa

    kinds = [f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in table.schema]
    return tuple((name, str(kind)) for name, kind in zip(table.column_names, kinds, strict=True))


def with_index(data: Any) -> Any:
    """A pandas frame with the named levels of its index as columns; other indexes are left alone."""
    levels = [level for level in data.index.names if level is not None and level not in data.columns]
    if not levels or len(levels) < data.index.nlevels or len(set(levels)) < len(levels):
        return data
    return data.reset_index()


def object_columns(data: Any) -> Any:
    """The columns of a pandas frame that hold Python objects, as a frame; None where there are none."""
    if type(data).__module__.partition(".")[0] != "pandas":
        return None
    data = with_index(data)
    found = [place for place, kind in enumerate(data.dtypes) if str(kind) == "object"]
    return data.iloc[:, found] if found and data.columns.is_unique else None


def _column(series: Any) -> Any:
    """A column of pandas."""
    import pyarrow as pa

    kind = series.dtype
    if str(kind) == "object":
        return _texts(series.to_numpy())
    if str(kind) == "category" and series.cat.categories.dtype.kind == "O":
        codes = series.cat.codes.to_numpy()
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), _texts(series.cat.categories.to_numpy()))
    if isinstance(kind.type, type) and kind.type is str:
        try:
            return pa.array(series, from_pandas=True)
        except ValueError:  # of strings kept by Python, one is no text
            return _texts(series.to_numpy(dtype=object))
    return pa.array(series if kind.kind in "OMm" or not hasattr(kind, "newbyteorder") else series.to_numpy())


def _texts(values: Any) -> pa.StringArray:
    """Python objects as text: all at once where all are text or absent, else one by one, which means the same."""
    import pyarrow as pa

    try:
        return pa.array(values, pa.string(), from_pandas=True)
    except Exception:
        return pa.array([_text(value) for value in values], pa.string())


def _text(value: Any) -> str | None:
    """The text of one object, or None."""
    import pandas

    try:
        if isinstance(value, str):
            return str.encode(value).decode()  # its characters, whatever a subclass says they are
        if isinstance(value, bytes):
            return bytes.decode(value)
        return None if pandas.isna(value) is True else str(value).encode().decode()
    except Exception:
        return None


def _safe(column: Any) -> Any:
    """A column whose every value DuckDB reads."""
    import pyarrow as pa

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType) and pa.types.is_string(kind.storage_type):
        return _safe(column.cast(kind.storage_type))
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_string(inner) or pa.types.is_large_string(inner) or pa.types.is_string_view(inner):
        return _readable(column)
    if pa.types.is_decimal256(kind):  # which DuckDB reads from files, up to 38 digits, but not from memory
        return column.cast(pa.decimal128(kind.precision, kind.scale) if kind.precision <= 38 else pa.float64())
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_timestamp(kind):
        naive = column.cast(pa.timestamp(kind.unit))  # moments in UTC, with or without a zone
        return naive if kind.unit == "ns" else _microseconds(naive, _TICKS[kind.unit])
    return column


def _readable(column: Any) -> Any:
    """Text; what is no UTF-8 is absent."""
    import pyarrow as pa

    try:
        column.validate(full=True)
        return column
    except pa.ArrowInvalid:
        pass
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return pa.chunked_array([_texts(chunk.cast(pa.large_binary()).to_numpy(False)) for chunk in chunks], pa.string())


def _microseconds(column: Any, ticks: int) -> Any:
    """Times in microseconds; those that 64 bits do not hold are absent, and so is one that DuckDB cannot write."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = column.cast(pa.int64())
    ends = pc.min_max(numbers)
    limit = (2**63 - 1) // ticks
    if ends["min"].as_py() is not None and (ends["min"].as_py() < -limit or ends["max"].as_py() > limit):
        inside = pc.and_(pc.greater_equal(numbers, pa.scalar(-limit)), pc.less_equal(numbers, pa.scalar(limit)))
        numbers = pc.if_else(inside, numbers, pa.scalar(None, pa.int64()))
    return (numbers if ticks == 1 else pc.multiply(numbers, pa.scalar(ticks))).cast(pa.timestamp("us"))
