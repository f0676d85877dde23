"""The check of the data at the gateway's start: what it refuses, what it leaves, and who sees it."""

from __future__ import annotations

import json
import stat
import time
from pathlib import Path

import httpx
import pytest

from tacit.errors import InvalidInput
from tacit.serve import checking
from tacit.serve.config import load
from tests.serve.support import configuration, token
from tests.support import until

THROUGH = '[datasets.visits.tables.bills]\nsource = "bills.csv"\nthrough = { who = "visits.who" }'


def test_a_key_that_repeats_is_a_reason_not_to_start(tmp_path: Path) -> None:
    path = configuration(tmp_path, extra=THROUGH)
    (tmp_path / "bills.csv").write_text("who,amount\np1,5\n")
    config = load(path)
    with pytest.raises(
        InvalidInput, match="'visits': who is called unique by through= of 'bills', but 200 values"
    ) as no:
        checking.before_start(config)
    assert "`tacit check`" in str(no.value)
    assert "p1" not in str(no.value)
    checking.before_start(load(configuration(tmp_path)))


def test_the_report_is_for_the_custodian_alone(nobody: httpx.Client, tmp_path: Path) -> None:
    def page(name: str) -> httpx.Response:
        return nobody.get("/custodian", headers={"Authorization": f"Bearer {token(name)}"})

    assert "The data are being checked, or could not be" in page("custodian").text
    (tmp_path / "visits.csv").write_text("who,minutes,place\np1,5,north\nopen\n")
    checking.leave_report(tmp_path / "tacit.toml")
    report = tmp_path / "tacit-check.json"
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert "p1" not in report.read_text()
    shown = page("custodian")
    assert shown.status_code == 200
    assert "1 line of visits.csv cannot be read and is left out (the first: 3)." in shown.text
    assert page("ada").status_code == 403
    assert "cannot be read" not in page("ada").text
    (line,) = [text for text in (tmp_path / "audit.jsonl").read_text().splitlines() if '"checked"' in text]
    facts = json.loads(line)
    assert {key: facts[key] for key in set(facts) - {"at", "worker"}} == {
        "event": "checked",
        "findings": 1,
        "serious": 0,
        "unchecked": 0,
    }
    report.write_text("{")
    assert "could not be" in page("custodian").text


def test_it_runs_beside_the_gateway_and_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "LATER", 0.0)
    path = configuration(tmp_path)
    report = tmp_path / "tacit-check.json"
    report.write_text("old")
    with checking.in_background(path, load(path)):
        until(report.exists)
    assert json.loads(report.read_text())["tables"]["visits.visits"]["rows"] == 600
    monkeypatch.setattr(checking, "LATER", 600.0)
    start = time.monotonic()
    with checking.in_background(path, load(path)):
        assert not report.exists()
    assert time.monotonic() - start < 200
