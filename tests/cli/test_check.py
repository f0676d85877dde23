"""`tacit check` from the command line: its exit codes, its JSON, and whole configurations."""

import json
from pathlib import Path

import pytest

from tacit.cli.app import run
from tacit.serve.tokens import new_token


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text("customer,amount\n" + "".join(f"{i % 9},1\n" for i in range(90)))
    (tmp_path / "bad.csv").write_bytes("customer,town\n1,Zürich\n2,SECRET\n,Bern\n3".encode("latin-1"))
    config = f"""
[datasets.shop]
budget = {{ epsilon = 1 }}
[datasets.shop.tables.good]
source = "good.csv"
person = "customer"
[[analysts]]
name = "ada"
token = "{new_token()[1]}"
"""
    (tmp_path / "tacit.toml").write_text(config)
    return tmp_path


def test_nothing_found(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "good.csv", "--person", "customer"]) == 0
    said = capsys.readouterr().out
    assert "90 rows, 9 persons by customer (rows each: median 10, largest 10), good.csv (utf-8, 91 lines)" in said
    assert run(["check", "good.csv"]) == 0
    assert "no --person" in capsys.readouterr().err


def test_findings(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "bad.csv", "--person", "customer"]) == 2
    assert "declare the encoding" in capsys.readouterr().err
    options = ["--person", "customer", "--option", "encoding=latin-1", "--option", "header=true", "--json"]
    assert run(["check", "bad.csv", *options]) == 1
    text = capsys.readouterr().out
    found = json.loads(text)
    assert "SECRET" not in text
    assert [(f["check"], f["count"], f["serious"]) for f in found["findings"]] == [
        ("unreadable lines", 1, False),
        ("rows without a person", 1, False),
    ]
    assert found["tables"]["bad"]["files"][0]["encoding"] == "iso8859-1"


def test_a_configuration(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "tacit.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tables"]["shop.good"]["rows"] == 90
    assert run(["check", "tacit.toml", "--person", "customer"]) == 2


@pytest.mark.parametrize(
    "arguments",
    [["nowhere.csv"], ["good.csv", "--option", "x"], ["good.csv", "--option", "x=1"], ["good.csv", "--seconds", "0"]],
)
def test_mistakes(arguments: list[str], place: Path) -> None:
    assert run(["check", *arguments]) == 2
