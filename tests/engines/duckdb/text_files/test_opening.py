"""What is declared, what is found, and what is refused when text files are opened."""

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tacit.engines import Source, open_engine
from tacit.errors import InvalidInput
from tacit.language.types import Schema
from tests.engines.duckdb.test_tables import summary
from tests.engines.support import run


def rows(path: Path | str, schema: Schema | None = None, **options: Any) -> tuple[int, int, int]:
    engine = open_engine({"t": Source(path, schema, options=options)})
    try:
        return summary(engine)
    finally:
        engine.close()


def types(path: Path, **options: Any) -> str:
    engine = open_engine({"t": Source(path, options=options)})
    try:
        return str(engine.schema("t"))
    finally:
        engine.close()


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_files_may_be_packed_and_marked(packed: str, mark: bytes, tmp_path: Path) -> None:
    data = mark + b"person,amount\r\n1,5\r\n2,7"
    path = tmp_path / f"t.csv{packed}"
    if packed == ".zst":
        with pa.output_stream(str(path), compression="zstd") as stream:
            stream.write(data)
    else:
        path.write_bytes(gzip.compress(data[:20]) + gzip.compress(data[20:]) if packed else data)
    assert rows(path) == (2, 2, 12)


def test_headers_of_several_files_must_agree(tmp_path: Path) -> None:
    (tmp_path / "a1.csv").write_text("person,amount\n1,5\n")
    (tmp_path / "a2.csv").write_text("person,amount\n\n2,5\n")
    assert rows(str(tmp_path / "a*.csv")) == (2, 2, 10)
    (tmp_path / "a3.csv").write_text("amount,person\n5,3\n")
    with pytest.raises(InvalidInput, match=r"the header of '.*a3.csv' is not that of '.*a1.csv'") as refusal:
        rows(str(tmp_path / "a*.csv"))
    assert "amount" not in str(refusal.value)


def test_lines_above_the_header_and_comments_are_only_lines(tmp_path: Path) -> None:
    lines = ["made by hand", "", "person,amount", "#1,5", "1,5", "# a remark", "2,7"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    found = types(tmp_path / "t.csv")
    assert found == "person text, amount integer"
    assert rows(tmp_path / "t.csv") == (3, 3, 17)
    assert rows(tmp_path / "t.csv", skip=2) == (3, 3, 17)
    schema = Schema.of({"person": "text", "amount": "integer"})
    assert rows(tmp_path / "t.csv", schema, skip=4, header=False) == (2, 2, 12)


def test_one_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("person\n1\n\n2\n")
    assert summary(open_engine({"t": Source(tmp_path / "t.csv")}), "person", "person") == (2, 2, 3)


@pytest.mark.parametrize("mark", [";", "\t", "|", ","])
def test_the_delimiter_is_found_whatever_some_lines_are(mark: str, tmp_path: Path) -> None:
    lines = [
        f"person{mark}amount{mark}note",
        *[f"{i}{mark}1{mark}a.b" for i in range(50)],
        "1,2;3|4\t5",
        '"',
        'x"y"z',
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert types(tmp_path / "t.csv") == "person integer, amount integer, note text"
    assert rows(tmp_path / "t.csv") == (50, 50, 50)


def test_no_quote_mark(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('person,amount\n"a,1\nb",2\n')
    assert rows(tmp_path / "t.csv", quote="") == (2, 2, 3)
    (tmp_path / "u.csv").write_text("person,amount\n'a,b',1\n'c\\'',2\n")
    assert rows(tmp_path / "u.csv", quote="'", escape="\\") == (2, 2, 3)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (10**18, "integer"),
        (10**30, "integer"),
        (10**37, "integer"),
        (10**38, "text"),
        ("007", "text"),
        ("1.5", "float"),
    ],
)
def test_digits_are_no_floats(value: object, kind: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"person,amount\n{value},1\n{value},2\n")
    assert types(tmp_path / "t.csv").startswith(f"person {kind}")
    if value != "007":
        (tmp_path / "t.jsonl").write_text(f'{{"person": {value}}}\n{{"person": {value}}}\n')
        assert types(tmp_path / "t.jsonl") == f"person {kind}"


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (b"", {}, "neither a header nor a record"),
        (b"a,b\r1,2\r", {}, "neither a header nor a record.*check that its lines end with LF"),
        (b"a,b\n1,2\n", {"delimiter": "||"}, "delimiter must be one ASCII character"),
        (b"a,b\n1,2\n", {"delimiter": ",", "quote": ","}, "must differ"),
        (b"a,b\n1,2\n", {"encoding": "iso2022_jp"}, "cannot be read line by line; convert the file to UTF-8"),
        (b"a,b\n1,2\n", {"encoding": "nonsense"}, "cannot be read line by line"),
        (b"a,b\n1,\xe9\n", {}, "first lines of .* are not UTF-8; declare the encoding"),
        (b"a,b\n1,2\n", {"multilines": True}, "multilines is not an option"),
        (b"a,b\n1,2\n", {"multiline": "yes"}, "multiline must be True or False"),
        (b"a,b\n1,\xe9\n", {"multiline": True}, "first lines of .* are not UTF-8; declare the encoding"),
        (b"a,b\n1,2\n", {"multiline": True, "encoding": "cp1252"}, "cannot be read with multiline"),
    ],
)
def test_refusals_at_opening(data: bytes, options: dict[str, Any], words: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(InvalidInput, match=words):
        types(tmp_path / "t.csv", **options)


def test_several_scans_in_one_statement_and_a_long_line(tmp_path: Path) -> None:
    """A self join reads the file twice at once; what is longer than a block does not disturb its neighbours."""
    lines = [f"{i % 1000},1" for i in range(200_000)]
    lines.insert(77_777, "5," + "x" * 5_000_000)
    lines.insert(99_999, "6," + "1" * (1 << 20))
    (tmp_path / "t.csv").write_text("\n".join(["person,amount", *lines]))
    engine = open_engine({"t": Source(tmp_path / "t.csv")})
    from tacit.engines.duckdb.engine import DuckDB

    assert isinstance(engine, DuckDB)
    assert summary(engine) == (1000, 200_000, 200_000)
    with engine.snapshot() as snapshot:
        sql = engine.tables["t"].sql.source
        both = f"SELECT count(*), count(DISTINCT a.person) FROM {sql} a JOIN {sql} b ON a.person = b.person"
        found = run(snapshot, both)
    assert found == [(200 * 200 * 1000, 1000)]


def test_several_lines_of_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes('person,amount,town\n1,5,"Zü\nrich"\n2,7,x\n'.encode("latin-1"))
    assert rows(tmp_path / "t.csv", multiline=True, encoding="latin-1") == (2, 2, 12)
    (tmp_path / "u.csv").write_bytes('person,amount,town\n1,5,"Zü\nrich"\n2,7,x\n'.encode("utf-16"))
    assert rows(tmp_path / "u.csv", multiline=True) == (2, 2, 12)
