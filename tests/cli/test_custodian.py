"""`tacit custodian` from the command line: a first file, and everything that is done later, confirmed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.cli.app import run
from tacit.serve.config import load
from tacit.serve.tokens import CUSTODIAN, Caller, digest
from tests.serve.support import people


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """What a command says in JSON."""
    assert run(["custodian", *arguments, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_everything_is_done_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    people(tmp_path)
    token = str(said(capsys, "found")["token"])
    assert load("tacit.toml").digests == {Caller(CUSTODIAN, CUSTODIAN): digest(token)}
    assert load("tacit.toml").server.ledger_id  # no other ledger is used by mistake
    assert (tmp_path / "tacit.toml").stat().st_mode & 0o777 == 0o600
    assert run(["custodian", "found"]) == 2
    person = ("--person", "who", "--epsilon", "4", "--yes")
    assert (
        run(["custodian", "add-dataset", "visits", "visits.csv", "--person", "nobody", "--epsilon", "1", "--yes"]) == 2
    )
    assert (
        run(["custodian", "add-dataset", "visits", "visits.csv", "--person", "who", "--yes"]) == 2
    )  # without a budget
    assert said(capsys, "add-dataset", "visits", "visits.csv", *person)["done"] == 1
    made = said(capsys, "add-analyst", "ada", "visits", "--epsilon", "1", "--yes")
    assert str(made["token"]).startswith("tacit_")
    assert run(["custodian", "set-limit", "ada", "visits", "--epsilon", "5", "--yes"]) == 2  # above the budget of all
    assert run(["custodian", "pause", "ada", "--json"]) == 2  # nobody can be asked
    monkeypatch.setattr("typer.confirm", lambda *_, **__: False)
    assert run(["custodian", "pause", "ada"]) == 0
    capsys.readouterr()
    shown = said(capsys, "show")
    assert [(each["name"], each["state"]) for each in shown["analysts"]] == [("ada", "active")]  # type: ignore[attr-defined]
    monkeypatch.setattr("typer.confirm", lambda *_, **__: True)
    assert run(["custodian", "revoke", "ada"]) == 0
    capsys.readouterr()
    acts = said(capsys, "log")
    assert [each["act"] for each in acts["acts"]] == ["dataset added", "analyst added", "analyst revoked"]  # type: ignore[attr-defined]
    assert acts["problems"] == []
    assert {each["way"] for each in acts["acts"]} == {"command line"}  # type: ignore[attr-defined]
