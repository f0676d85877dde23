"""Records of text files as a stream that DuckDB reads as often as it likes, from the files as they are then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.engines.duckdb.text_files.csv import Dialect, Records, records
from tacit.engines.duckdb.text_files.lines import Block, TextFile, blocks

WHOLE = Dialect("\n", "", "")
"""Every line is one field."""
FIELDS = "fields"
"""The stream's one column: the list of a record's fields."""
_SCHEMA = pa.schema([(FIELDS, pa.list_(pa.string()))])


@dataclass(frozen=True)
class Feed:
    """Files of one dialect, whose lines are records of ``width`` fields after the first ``skip`` lines of each."""

    name: str
    """By which DuckDB knows it."""
    files: tuple[TextFile, ...]
    dialect: Dialect = WHOLE
    width: int = 1
    skip: int = 0
    objects: bool = False
    """Whether records are JSON objects, which only DuckDB can tell."""

    def records(self) -> Iterator[tuple[TextFile, Block, Records]]:
        """All records, block by block."""
        for file in self.files:
            for block in blocks(file, self.skip):
                yield file, block, records(block, self.dialect, self.width)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for _, _, found in self.records():
            yield batch(found, self.width)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A stream from the first record on; nothing is read before it is asked for."""
        reader: Any = pa.RecordBatchReader.from_batches(_SCHEMA, self._batches())
        return reader.__arrow_c_stream__(requested_schema)


def batch(found: Records, width: int) -> pa.RecordBatch:
    """Records as one column of lists, made of buffers alone: `pyarrow.array` loads pandas, a third of a second."""
    count = len(found.sizes)
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(found.sizes, out=offsets[1:])
    starts = np.arange(0, count + 1, width, dtype=np.int32)
    arrow: Any = pa
    texts = arrow.StringArray.from_buffers(count, arrow.py_buffer(offsets), arrow.py_buffer(found.body))
    places = arrow.Int32Array.from_buffers(pa.int32(), len(starts), [None, arrow.py_buffer(starts)])
    return pa.RecordBatch.from_arrays([arrow.ListArray.from_arrays(places, texts)], schema=_SCHEMA)
