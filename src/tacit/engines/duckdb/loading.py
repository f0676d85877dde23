"""Sources that are read once, when they are opened: spreadsheets, SQLite files, streams, lazy frames and relations.

PROMISE. A cell is read by itself: one that has no place in its column's type is absent, and no cell changes how another
is read. Names and types are public facts: of a SQLite table its declaration, of a sheet its first rows;
columns that the first row does not reach are no part of the table.

What is asked later is what was read, whatever becomes of the source meanwhile: open it again to see a change. A sheet
or a table is kept as text, exactly as it stands there, and converted as text files are.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, time
from itertools import islice
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from tacit.engines.duckdb.dialect import DIALECT
from tacit.engines.duckdb.text_files.sniffing import SAMPLE
from tacit.errors import InvalidInput, instead, not_installed
from tacit.language.types import BOOLEAN, DATE, FLOAT, INTEGER, TEXT, TIMESTAMP, ColumnType, Schema

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 65_536
"""Rows that are read at once."""
_MIDNIGHT = time()


def streamed(data: Any) -> pa.Table | None:
    """What offers its rows as an Arrow stream or array, or can be collected into a frame, read whole; else None."""
    import pyarrow as pa

    if type(data).__module__.partition(".")[0] == "polars" and hasattr(data, "collect"):
        data = data.collect()
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data).read_all()
    if hasattr(data, "__arrow_c_array__"):
        return pa.Table.from_batches([pa.record_batch(data)])
    if type(data).__module__.startswith("pyarrow.") and hasattr(data, "to_table"):
        return cast("pa.Table", data.to_table())
    return None


def sqlite_tables(path: str) -> tuple[str, ...]:
    """The tables and views of a SQLite file."""
    with closing(_opened(path)) as connection:
        rows = connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1"
        ).fetchall()
    return tuple(str(name) for (name,) in rows)


def sqlite(name: str, path: str, table: str | None) -> tuple[pa.Table, Schema]:
    """A table of a SQLite file as texts, and the types that it declares; the only table needs no name."""
    tables = sqlite_tables(path)
    wanted = table if table is not None else name
    own = next((each for each in tables if each.lower() == wanted.lower()), None)
    if own is None and table is None and len(tables) == 1:
        own = tables[0]
    if own is None:
        named = instead(wanted, tables, "tables")
        raise InvalidInput(f"the database has no table {wanted!r}; name one with table=, {named}")
    with closing(_opened(path)) as connection:
        quoted = DIALECT.name(own)
        declared = connection.execute(f"PRAGMA table_xinfo({quoted})").fetchall()
        types = Schema(tuple((str(row[1]), _declared(str(row[2]))) for row in declared if row[6] != 1))
        columns = ", ".join(map(DIALECT.name, types))
        connection.text_factory = bytes  # which may be no UTF-8
        rows = connection.execute(f"SELECT {columns} FROM {quoted}")
        return _texts(types, iter(lambda: rows.fetchmany(_ROWS), [])), types


def _opened(path: str) -> sqlite3.Connection:
    """A SQLite file, to be read only."""
    connection = sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except sqlite3.Error:
        connection.close()
        raise InvalidInput(f"{path!r} could not be opened; check that it is a SQLite file and not in use.") from None
    return connection


def _declared(kind: str) -> ColumnType:
    """The type that a SQLite column declares, by SQLite's own rules, and dates beside them."""
    kind = kind.upper()
    if "INT" in kind:
        return INTEGER
    if kind.startswith("BOOL"):
        return BOOLEAN
    if kind.startswith(("DATETIME", "TIMESTAMP")):
        return TIMESTAMP
    if kind == "DATE":
        return DATE
    if kind.startswith(("DECIMAL(", "NUMERIC(")):
        found = DIALECT.inferred("DECIMAL" + kind[7:].replace(" ", ""))
        return found if found.number else FLOAT
    if any(part in kind for part in ("REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL")):
        return FLOAT
    return TEXT


def excel(name: str, path: str, sheet: str | None) -> tuple[pa.Table, Schema]:
    """A sheet of a workbook as texts; its first row has the names, and the rows after it say the types."""
    try:
        import python_calamine as calamine
    except ImportError:
        raise not_installed("workbooks need the package python-calamine", "excel") from None
    try:
        book = calamine.CalamineWorkbook.from_path(path)
        sheets = book.sheet_names
        if sheet is not None and sheet not in sheets:
            raise InvalidInput(f"table {name!r}: there is no sheet {sheet!r}; the sheets are {', '.join(sheets)}.")
        cells = book.get_sheet_by_name(sheet or sheets[0]).to_python()
    except calamine.CalamineError:
        raise InvalidInput(f"{path!r} could not be opened; check that it is a workbook without a password.") from None
    named = [place for place, cell in enumerate(cells[0]) if cell != ""] if cells else []
    if not named:
        raise InvalidInput(f"table {name!r}: the sheet is empty; its first row must have the names of the columns.")
    cells = [row[named[0] : named[-1] + 1] for row in cells]
    names = [str(cell) if cell != "" else f"column{place}" for place, cell in enumerate(cells[0])]
    rows = cells[1:]
    seen = [[row[place] for row in islice(rows, SAMPLE) if row[place] != ""] for place in range(len(names))]
    types = Schema(tuple(zip(names, map(_seeming, seen), strict=True)))
    return _texts(types, [rows]), types


_KINDS: tuple[tuple[ColumnType, Callable[[Any], bool]], ...] = (
    (BOOLEAN, lambda cell: isinstance(cell, bool)),
    (INTEGER, lambda cell: _number(cell) and float(cell).is_integer()),
    (FLOAT, lambda cell: _number(cell)),
    (DATE, lambda cell: isinstance(cell, date) and (not isinstance(cell, datetime) or cell.time() == _MIDNIGHT)),
    (TIMESTAMP, lambda cell: isinstance(cell, date)),
)


def _number(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _seeming(cells: Sequence[Any]) -> ColumnType:
    """The narrowest type that all of some cells have."""
    fitting = (kind for kind, fits in _KINDS if cells and all(map(fits, cells)))
    return next(fitting, TEXT)


def _texts(types: Schema, parts: Iterable[Sequence[Sequence[Any]]]) -> pa.Table:
    """Rows as columns of text."""
    import pyarrow as pa

    schema = pa.schema([(name, pa.string()) for name in types])
    whole = [kind in (DATE, INTEGER) for _, kind in types.columns]

    def batches() -> Iterator[pa.RecordBatch]:
        for rows in parts:
            columns = [[_text(row[i], whole[i]) for row in rows] for i in range(len(types))]
            yield pa.record_batch([pa.array(column, pa.string()) for column in columns], schema=schema)

    return pa.Table.from_batches(batches(), schema=schema)


def _text(cell: Any, whole: bool) -> str | None:
    """A cell as it is written; nothing where it has no text. ``whole`` writes 1.0 as 1, and midnight as its day."""
    match cell:
        case None | "":
            return None
        case str():
            return cell
        case bool():
            return "true" if cell else "false"
        case float() if whole and cell.is_integer():
            return str(int(cell))
        case int() | float():
            return repr(cell)
        case datetime():
            return cell.date().isoformat() if whole else cell.isoformat(" ")
        case date() | time():
            return cell.isoformat()
        case bytes():
            try:
                return cell.decode()
            except UnicodeDecodeError:
                return None
    return str(cell)
