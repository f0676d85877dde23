"""Lines of text files that are no records, with their numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import duckdb
import numpy as np

from tacit.answers.values import counted
from tacit.checks.report import Finding, list_numbers
from tacit.engines.duckdb.text_files import json
from tacit.engines.duckdb.text_files.csv import Records
from tacit.engines.duckdb.text_files.feed import FIELDS, Feed, batch
from tacit.engines.duckdb.text_files.lines import Block
from tacit.engines.inspection import Inspection
from tacit.errors import EngineError

FIRST = 5
"""How many line numbers are shown."""


def check_lines(
    inspection: Inspection, table: str, facts: dict[str, Any], late: Callable[[], bool]
) -> Iterable[Finding]:
    """Find the lines of text files that are left out; their encodings are facts."""
    feed = inspection.feed(table)
    if feed is None:
        return []
    total, unread, first = {}, {}, {}
    for file in feed.files:
        total[file.path], unread[file.path], first[file.path] = 0, 0, list[int]()
    with duckdb.connect() as connection:
        for file, block, records in feed.records():
            if late():
                raise EngineError("the time limit was reached.")
            numbers = _unread(connection, feed, block, records)
            total[file.path] += len(block.ends)
            unread[file.path] += len(numbers)
            first[file.path] += numbers[: FIRST - len(first[file.path])]
    facts["files"] = [
        {"file": os.path.basename(f.path), "encoding": f.encoding, "lines": total[f.path], "unreadable": unread[f.path]}
        for f in feed.files
    ]
    return [
        Finding(
            table,
            "unreadable lines",
            f"{counted(unread[path], 'line')} of {os.path.basename(path)} cannot be read and "
            f"{'is' if unread[path] == 1 else 'are'} left out (the first: {list_numbers(first[path])}).",
            count=unread[path],
        )
        for path in unread
        if unread[path]
    ]


def _unread(connection: duckdb.DuckDBPyConnection, feed: Feed, block: Block, records: Records) -> list[int]:
    """The numbers of a block's lines that are no records."""
    found: list[int] = block.numbers[records.unreadable].tolist()
    if feed.objects:
        connection.register("block", batch(records, feed.width))
        (objects,) = connection.execute(f"SELECT {json.is_object(f'{FIELDS}[1]')} FROM block").fetchnumpy().values()
        found += block.numbers[~(records.unreadable | block.empty)][~np.asarray(objects, bool)].tolist()
    return sorted(found)
