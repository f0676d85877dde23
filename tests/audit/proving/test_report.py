"""The survey of proofs, its page and its command."""

import json
from pathlib import Path

import pytest

from tacit.audit.proving import report
from tacit.audit.proving.report import Job, ProofLine, jobs, summary, work
from tacit.cli.app import run
from tacit.errors import InvalidInput

Captured = pytest.CaptureFixture[str]


def test_everything_is_on_the_list() -> None:
    kinds = {job.kind for job in jobs()}
    assert kinds == set(report.KINDS)
    assert all(job.kind != "mutant" for job in jobs(mutants_too=False))
    with pytest.raises(InvalidInput, match="nothing to prove"):
        jobs("no such thing")


def test_a_table_a_page_and_json(capsys: Captured, tmp_path: Path) -> None:
    page = tmp_path / "proofs.html"
    assert run(["audit", "--prove", "weighted_keys", "--html", str(page)]) == 0
    out = capsys.readouterr().out
    assert "1 proved for every dataset; 2 mistakes not provable; nothing failed." in out
    assert "Trusted: the kernel" in out
    text = page.read_text(encoding="utf-8")
    assert "stable keys by weight" in text
    assert "z3" in text
    assert run(["audit", "--prove", "one step too short", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] is True
    assert len(found["fingerprint"]) == 64
    (line,) = found["lines"]
    assert line["verdict"] == "refuted"


def test_options_that_mean_something_else_are_refused(capsys: Captured) -> None:
    assert run(["audit", "--prove", "--full"]) == 2
    assert "--prove goes with" in capsys.readouterr().err


def test_what_fails_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    def broken(index: int) -> ProofLine:
        raise ValueError

    monkeypatch.setitem(report._WORK, "law", broken)
    line = work(Job("law", 0))
    assert not line.passed
    assert line.note == "ValueError"
    assert "1 FAILED: noises" in summary([line])
    assert run(["audit", "--prove", "joint charges"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_a_missing_solver_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "cvc5", None)
    assert run(["audit", "--prove", "truncated_laplace"]) == 2
    assert "tacit-dp[proofs]" in capsys.readouterr().err
