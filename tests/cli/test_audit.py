"""`tacit audit` from the command line."""

import json
from pathlib import Path

import pytest

from tacit.audit import survey
from tacit.audit.survey import Job, SurveyLine
from tacit.cli.app import run

Captured = pytest.CaptureFixture[str]


def test_a_table_with_a_verdict_for_each_promise(capsys: Captured) -> None:
    assert run(["audit", "randomised_response"]) == 0
    out = capsys.readouterr().out
    assert "randomised response" in out
    assert "tight" in out
    assert "1 promise holds, nothing broken." in out


def test_json_and_html(capsys: Captured, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    assert run(["audit", "scale 1/2", "--json", "--html", str(report)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] is True
    assert found["mode"] == "quick"
    (line,) = found["lines"]
    assert (line["name"], line["exact"], line["verdict"]) == ("noise of scale 1/2ε", "ε = 2", "caught")
    assert "noise of scale 1/2ε" in report.read_text(encoding="utf-8")


def test_a_broken_promise_ends_with_code_1(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(job: Job) -> SurveyLine:
        return SurveyLine("museum", "something", "Pure(1)", "ε = 1", "–", "missed", False)

    monkeypatch.setitem(survey._WORK, "museum", broken)
    assert run(["audit", "scale 1/2"]) == 1
    assert "1 FAILED: something" in capsys.readouterr().out


@pytest.mark.parametrize(("kind", "word", "code"), [("statistic", "sum, Gaussian", 1), ("library", "opendp", 0)])
def test_whose_promise_is_broken_is_told_apart(
    kind: str, word: str, code: int, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a line says of itself, a broken promise of ours is a failure, and another library's is not."""

    def broken(job: Job) -> SurveyLine:
        return SurveyLine(kind, "something", "Pure(1)", "ε = 2", "–", "broken", True)

    monkeypatch.setitem(survey._WORK, kind, broken)
    assert run(["audit", word]) == code
    said = capsys.readouterr().out
    assert ("FAILED: something (a promise of Tacit is broken)" in said) == (code == 1)
    assert ("broken outside of Tacit: something, nothing of Tacit is broken" in said) == (code == 0)
    assert run(["audit", word, "--json"]) == code
    assert json.loads(capsys.readouterr().out)["passed"] == (code == 0)


def test_what_cannot_be_done_is_said_before_the_work(capsys: Captured, tmp_path: Path) -> None:
    assert run(["audit", "no such thing"]) == 2
    said = capsys.readouterr().err
    assert all(word in said for word in ("the names are", "threshold_scan", "median"))
    assert run(["audit", "treshold_scan"]) == 2
    assert "did you mean threshold_scan?" in capsys.readouterr().err
    assert run(["audit", "ratio", "--html", str(tmp_path / "nowhere" / "report.html")]) == 2
    assert "--html must name a file in a directory that exists." in capsys.readouterr().err
