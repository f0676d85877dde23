"""Lines keep their numbers whatever they are, and encodings are declared or told by the first bytes."""

import tracemalloc
from pathlib import Path

import pytest

from tacit.engines.duckdb.text_files.lines import LIMIT, TextFile, blocks, text_file
from tacit.errors import InvalidInput


@pytest.mark.parametrize(
    ("data", "declared", "encoding", "mark"),
    [
        (b"", None, "utf-8", 0),
        (b"a\n", None, "utf-8", 0),
        (b"\xef\xbb\xbfa\n", None, "utf-8", 3),
        (b"\xef\xbb\xbfa\n", "utf-8-sig", "utf-8", 3),
        (b"\xff\xfea\0", None, "utf-16-le", 2),
        (b"\xfe\xff\0a", None, "utf-16-be", 2),
        (b"\xfe\xff\0a", "utf-16", "utf-16-be", 2),
        (b"a\0", "utf-16", "utf-16-le", 0),
        (b"\xe9", "Latin1", "iso8859-1", 0),
        (b"\xef\xbb\xbfa", "cp1252", "cp1252", 0),
        (b"x" * 65535 + "é".encode(), None, "utf-8", 0),  # a character cut by the end of the first bytes
    ],
)
def test_encodings(data: bytes, declared: str | None, encoding: str, mark: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    assert text_file("t", str(path), declared) == TextFile(str(path), encoding, mark)


@pytest.mark.parametrize(
    ("data", "declared"), [(b"\xe9", None), (b"a\0b\0", None), (b"a", "utf-7"), (b"a", "shift_jis")]
)
def test_encodings_that_are_refused(data: bytes, declared: str | None, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(InvalidInput):
        text_file("t", str(tmp_path / "t.csv"), declared)


def test_a_line_of_any_length_takes_little_memory_and_one_number(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with path.open("wb") as file:
        file.write(b"a\n" + b"x" * LIMIT + b"\r\n" + b"x" * (LIMIT + 1) + b"\nb\n")
        for _ in range(20):
            file.write(b"y" * (2 * LIMIT))
        file.write(b"\nlast")
    tracemalloc.start()
    found = []
    for block in blocks(TextFile(str(path), "utf-8")):
        found += [(int(n), bool(bad)) for n, bad in zip(block.numbers, block.bad, strict=True)]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [(1, False), (2, False), (3, True), (4, False), (5, True), (6, False)]
    assert most < 12 * LIMIT
