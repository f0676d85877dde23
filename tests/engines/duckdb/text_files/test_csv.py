"""Records are those of the plain way, in whatever pieces a file is read; a line is its own matter alone."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tacit.engines.duckdb.text_files import csv, lines
from tacit.engines.duckdb.text_files.csv import Dialect
from tacit.engines.duckdb.text_files.feed import Feed
from tacit.engines.duckdb.text_files.lines import TextFile
from tests.engines.duckdb.text_files import oracle

DIALECTS = [Dialect(), Dialect(",", "", ""), Dialect(",", '"', "\\"), Dialect(",", '"', ""), Dialect(";", "'", "'")]
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)


@pytest.fixture(params=[(1 << 20, 1 << 20), (5, 9), (1, 4)], ids=["whole", "pieces", "bytes"])
def limit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The longest line, with blocks of some size."""
    block: int
    limit: int
    block, limit = request.param
    monkeypatch.setattr(lines, "BLOCK", block)
    monkeypatch.setattr(lines, "LIMIT", limit)
    return limit


def read(feed: Feed) -> Counter[tuple[str, ...]]:
    """The records of a feed, as DuckDB is given them."""
    found: Counter[tuple[str, ...]] = Counter()
    for batch in feed._batches():
        found.update(tuple(row or ()) for row in batch.column(0).to_pylist())
    return found


@SHARED
@given(data=oracle.files(), dialect=st.sampled_from(DIALECTS), width=st.integers(1, 4))
@example(data=b'a,"b\nc,d\n"e",f\n', dialect=DIALECTS[0], width=2)
@example(data=b'"a""b",c\n""",""",d\n"","",\n"a"b,c\n5" x 6",y\n', dialect=DIALECTS[0], width=2)
@example(data=b'"a\\"b",c\n"a""b",c\n"\\\\",d\n"\\",d\n', dialect=DIALECTS[2], width=2)
def test_records_are_those_of_the_plain_way(
    data: bytes, dialect: Dialect, width: int, limit: int, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    feed = Feed("t", (TextFile(str(path), "utf-8"),), dialect, width)
    assert read(feed) == oracle.csv_records(data, "utf-8", limit, dialect, width)


@SHARED
@given(
    text=st.lists(oracle.NASTY, max_size=8),
    encoding=st.sampled_from(["utf-16-le", "utf-16-be", "latin-1", "cp1252"]),
    odd=st.binary(max_size=3),
    place=st.integers(0, 40),
)
def test_other_encodings(text: list[str], encoding: str, odd: bytes, place: int, limit: int, tmp_path: Path) -> None:
    data = "\n".join(text).encode(encoding, "ignore")
    data = data[:place] + odd + data[place:]
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    feed = Feed("t", (TextFile(str(path), encoding),), Dialect(), 2)
    assert read(feed) == oracle.csv_records(data, encoding, limit, Dialect(), 2)


@SHARED
@given(data=oracle.files(), at=st.integers(0, 11), instead=st.one_of(oracle.BROKEN, oracle.NASTY.map(str.encode)))
def test_one_line_more_or_less_is_one_record_more_or_less(
    data: bytes, at: int, instead: bytes, limit: int, tmp_path: Path
) -> None:
    cut = data.split(b"\n")
    at %= len(cut)
    found = []
    for text in (b"\n".join(cut[:at] + cut[at + 1 :]), b"\n".join([*cut[:at], instead.rstrip(b"\r"), *cut[at:]])):
        (tmp_path / "t.csv").write_bytes(text)
        found.append(read(Feed("t", (TextFile(str(tmp_path / "t.csv"), "utf-8"),), Dialect(), 2)))
    (tmp_path / "t.csv").write_bytes(data)
    whole = read(Feed("t", (TextFile(str(tmp_path / "t.csv"), "utf-8"),), Dialect(), 2))
    for other in found:
        assert sum(((whole - other) + (other - whole)).values()) <= 1


@given(line=oracle.NASTY, dialect=st.sampled_from(DIALECTS))
def test_the_slow_way_is_the_rule(line: str, dialect: Dialect) -> None:
    found = csv.fields(line, dialect)
    assert (None if found is None else tuple(found)) == oracle.fields(line, dialect)


@given(line=oracle.NASTY)
def test_the_rule_is_that_of_python(line: str) -> None:
    """Python's strict reader means the same by a line, but for the CR, which ends a line there."""
    import csv as python

    if "\r" in line or not line:
        return
    try:
        (expected,) = python.reader([line], strict=True)
    except python.Error:
        assert csv.fields(line, Dialect()) is None
    else:
        assert csv.fields(line, Dialect()) == expected


def test_unreadable_lines_are_counted_and_empty_ones_are_not(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\n1,2\n\n"3,4\n5,6,7\n\xff,8\n9,"x" y\n10,5" x\n\n')
    feed = Feed("t", (TextFile(str(path), "utf-8"),), Dialect(), 2, 1)
    ((_, block, found),) = feed.records()
    assert block.numbers[found.unreadable].tolist() == [4, 5, 6, 7]
    assert read(feed) == Counter({("1", "2"): 1, ("10", '5" x'): 1})
    assert found.sizes.dtype == np.int64
