"""Which files a table is made of, and what they are by their names."""

from __future__ import annotations

import glob
import os
import re
from contextlib import suppress
from urllib.parse import unquote

from tacit.errors import InvalidInput

_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".db": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
}
KINDS = ("parquet", "csv", "json", "duckdb", "sqlite", "excel")
"""The kinds of files."""
_ABSENT = "__HIVE_DEFAULT_PARTITION__"
"""The folder of rows without a value."""
_SQLITE = b"SQLite format 3\0"
"""How a SQLite file begins."""


def file_kind(path: str) -> str:
    """What a file is by its name, one of `KINDS`; empty where that is not clear. A .db file says so itself."""
    kind = _SUFFIXES.get(os.path.splitext(unpacked(path).lower())[1], "")
    if kind == "duckdb" and os.path.isfile(path):
        with suppress(OSError), open(path, "rb") as file:
            return "sqlite" if file.read(len(_SQLITE)) == _SQLITE else kind
    return kind


def unpacked(path: str) -> str:
    """A file's name without what says that it is packed."""
    return path[: -len(suffix)] if (suffix := os.path.splitext(path)[1]).lower() in (".gz", ".zst") else path


def table_name(path: str) -> str:
    """What the table of a file, a folder or a pattern is called: its name without endings and wildcards, or "data"."""
    parts = unpacked(path.rstrip("/\\")).replace("\\", "/").split("/")
    while len(parts) > 1 and (parts[-1].startswith("*") or "=" in parts[-1]):  # sales/year=*/*.parquet is sales
        parts.pop()
    stem, ending = os.path.splitext(parts[-1])
    named = stem if ending.lower() in _SUFFIXES or not os.path.isdir(path) else parts[-1]
    return re.sub(r"[\W_]*[*?\[].*", "", named).strip(".") or "data"


def found(name: str, path: str) -> list[str]:
    """The files of a path, a pattern or a folder; in a folder, those of a kind that is known, however deep."""
    if os.path.isdir(path):
        inside = glob.glob(os.path.join(glob.escape(path), "**", "*"), recursive=True)
        files = sorted(file for file in inside if os.path.isfile(file) and file_kind(file))
    else:
        files = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    if not files or not all(map(os.path.isfile, files)):
        raise InvalidInput(f"table {name!r}: there is no file at {path!r}; check the path.")
    return [os.path.abspath(file) for file in files]


def partitioned(files: list[str]) -> bool:
    """Whether all files stand in folders such as year=2026, of the same names."""
    names = {tuple(part.split("=")[0] for part in file.split(os.sep)[:-1] if "=" in part) for file in files}
    return len(names) == 1 and names != {()}


def partitions(file: str) -> dict[str, str | None]:
    """What the folders of a file say, such as year=2026, as DuckDB reads them; an absent value has its own name."""
    pairs = [part.split("=") for part in file.split(os.sep)[:-1] if part.count("=") == 1]
    return {name: None if value == _ABSENT else unquote(value) for name, value in pairs}
