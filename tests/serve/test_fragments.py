"""Pieces of pages: prices in letters, tables, the audit's report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tacit.guarantees import Approx, Pure, Zcdp
from tacit.serve import fragments
from tests.serve.test_security import log_in


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
    assert "% of ε = 1, δ = 1e-06 is left, after 2 charges" in history


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


def test_a_sentence_begins_with_a_capital_but_a_price_stays_a_price() -> None:
    assert "ε = 3 does not fit" in fragments.notice("bad", "ε = 3 does not fit")  # not E, the capital of ε
    assert "Nothing was spent" in fragments.notice("bad", "nothing was spent")


def test_tables_are_reached_by_the_keyboard_and_escape_what_names_them() -> None:
    shown = fragments.table(("<a>", ""), [("x", "y")], cards=True, finds=['"><b>'])
    assert 'role="region" tabindex="0" aria-label="&lt;a&gt;"' in shown
    assert 'data-find="&quot;&gt;&lt;b&gt;"' in shown
    assert "<td></td></tr></thead>" in shown  # an empty head is no head
    assert ' datetime="2026-01-02T03:04:05Z">2026-01-02 03:04 UTC<' in fragments.when("2026-01-02T03:04:05.678901Z")
