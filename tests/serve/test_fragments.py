"""Pictures and pieces of pages, for ordinary and for odd answers; the audit's report."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest

from tacit.answers import Answer, Answers
from tacit.answers.spreads import Additive
from tacit.guarantees import Approx, Pure, Zcdp
from tacit.noises import DiscreteLaplace
from tacit.serve import drawings, fragments
from tests.serve.test_security import log_in


def made(value: Any, *, noisy: bool = True) -> Answer:
    spread = Additive(DiscreteLaplace.for_pure(Fraction(1, 2), 1)) if noisy else None
    return Answer("sum of <x>", value, Pure("0.5"), "noise", "any one <person>", spread=spread)


@pytest.mark.parametrize("value", [7, -(10**30), 0, Decimal("12.50"), 1.5])
def test_an_interval_is_drawn_to_scale(value: Any) -> None:
    answer = made(value)
    picture = drawings.interval(answer)
    ElementTree.fromstring(picture)
    low, dot, high = (
        float(re.findall(pattern, picture)[0])
        for pattern in (r'class="span" x1="([\d.]+)"', r'cx="([\d.]+)"', r'class="span"[^>]*x2="([\d.]+)"')
    )
    assert 0 <= low <= dot <= high <= drawings.WIDTH


@pytest.mark.parametrize(
    "answer", [made(None), made(date(2020, 1, 1), noisy=False), made("text", noisy=False), made(1e400)]
)
def test_what_cannot_be_drawn_is_said_in_words(answer: Answer) -> None:
    assert drawings.interval(answer) == ""
    assert "Sum of &lt;x&gt;" in fragments.answer(answer)


def test_several_answers_share_a_scale() -> None:
    answers = Answers({"<north>": made(100), ("a", 1): made(-5), "odd": made(None)}, Pure(1), "place")
    page = fragments.answer(answers)
    assert "&lt;north&gt;" in page
    assert page.count("svg class") == 2
    assert "No group was large enough" in fragments.answer(Answers({}, Approx(1, "1e-6"), "place"))


def test_a_budget_burns_down() -> None:
    for left in ([(0, 1.0)], [(0, 1.0), (1, 0.5)], [(0, 1.0), (1, 0.9), (500, 0.2), (1000, 0.0)]):
        picture = drawings.burn_down(left, "ε = 2")
        ElementTree.fromstring(picture)
        assert f"{100 * left[-1][1]:.3g} % of ε = 2 is left" in picture


def test_prices_are_letters() -> None:
    assert fragments.price(Pure("1/3")) == "ε = 0.333333"
    assert fragments.price(Approx(1, "1e-6")) == "ε = 1, δ = 1e-06"
    assert fragments.price(Zcdp("0.01")) == "ρ = 0.01"


@pytest.mark.parametrize("nobody", [{"epsilon": "1\nbudget.delta = 1e-6", "limit": ""}], indirect=True)
def test_other_budgets_are_paid_in_other_letters(nobody: httpx.Client) -> None:
    mark = log_in(nobody, "ada")
    assert 'name="rho"' in nobody.get("/datasets/visits").text
    form = {"sql": "SELECT COUNT(*) FROM visits", "mark": mark, "action": "ask", "epsilon": "0.5"}
    assert "Approx(0.1, 1e-07)" in nobody.post("/datasets/visits", data=form | {"epsilon": "0.1", "delta": "1e-7"}).text
    assert "Zcdp(0.001)" in nobody.post("/datasets/visits", data=form | {"rho": "0.001"}).text
    history = nobody.get("/datasets/visits").text
    assert "ρ = 0.001" in history
    assert "% of ε = 1, δ = 1e-06 is left, after 2 questions" in history


def test_the_audit_runs_apart_and_its_report_is_shown(
    tmp_path: Path, nobody: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    class Running:
        def __init__(self, command: list[str], **_: Any) -> None:
            started.append(command)

        def poll(self) -> None:
            return None

    monkeypatch.setattr("tacit.serve.custodian.subprocess.Popen", Running)
    monkeypatch.setattr("tacit.serve.custodian._audits", [])
    mark = log_in(nobody, "custodian")
    assert nobody.post("/custodian/audit", data={"mark": "0"}).status_code == 403
    for _ in range(2):  # the second finds the first one running
        assert nobody.post("/custodian/audit", data={"mark": mark}).status_code == 303
    assert len(started) == 1
    assert started[0][-1] == str(tmp_path / "tacit-audit.html")
    assert "An audit is running now" in nobody.get("/custodian").text
    (tmp_path / "tacit-audit.html").write_text("<h1>Tacit audit</h1>")
    report = nobody.get("/custodian/audit")
    assert "Tacit audit" in report.text
    assert "script-src" not in report.headers["content-security-policy"]
    assert "default-src 'none'" in report.headers["content-security-policy"]
