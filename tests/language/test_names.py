"""Rows do not become public as the name of a column."""

from pathlib import Path

import pytest

from tacit.cli import main
from tacit.errors import InvalidInput
from tacit.language.names import LONGEST, check_names


def test_a_name_that_may_hold_rows_is_refused_and_not_repeated() -> None:
    check_names(["amount", "x" * LONGEST])
    with pytest.raises(InvalidInput, match="over 200 characters") as refused:
        check_names(["amount", "x" * (LONGEST + 1)])
    assert "xx" not in str(refused.value)


def test_a_file_read_in_the_wrong_encoding_shows_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "orders.csv"
    path.write_text("customer,amount\n" + "".join(f"{i},{i * 3}\n" for i in range(300)))
    monkeypatch.setattr("sys.argv", ["tacit", "schema", str(path), "--encoding", "utf-16"])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert "wrong encoding" in shown.err.replace("\n", " ")
    assert len(shown.out + shown.err) < 400
