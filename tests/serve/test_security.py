"""What keeps strangers out and data in: tokens, cookies, forms, headers, sizes, pace, padding, the log."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tacit.serve import tokens
from tacit.serve.running import Busy, Pace, pad
from tacit.serve.tokens import ANALYST, Caller, Doorkeeper, new_token
from tests.serve.support import token

ASK = "/v1/datasets/visits/ask"
COUNT: dict[str, Any] = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 0.5}
PRIVATE = ["/v1/datasets", "/v1/datasets/visits", "/v1/datasets/visits/budget", "/v1/datasets/visits/history"]
PAGES = ["/", "/datasets/visits", "/custodian", "/custodian/audit", "/custodian/visits/report.md"]


def log_in(client: httpx.Client, name: str) -> str:
    """Log in by the form; returns the mark of the next form."""
    response = client.post("/login", data={"token": token(name)})
    assert response.status_code == 303
    page = client.get(response.headers["location"], follow_redirects=True)
    found = re.search(r'name="mark" content="([0-9a-f]+)"', page.text)
    assert found is not None
    return found.group(1)


def test_nobody_gets_in_without_a_token(nobody: httpx.Client) -> None:
    for path in PRIVATE:
        assert nobody.get(path).status_code == 401
        assert nobody.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert nobody.get(path, headers={"Cookie": "tacit=analyst:ada:99999999999:00:00"}).status_code == 401
    for path in PAGES:
        response = nobody.get(path)
        assert (response.status_code, response.headers["location"]) == (303, "/login")
    assert nobody.post("/login", data={"token": "wrong"}).status_code == 401
    assert nobody.get("/healthz").json() == {"status": "ok"}
    assert "nothing at this address" in nobody.get("/no/such/page").text.lower()


def test_every_comparison_is_made_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    people = {Caller(ANALYST, f"a{i}"): new_token() for i in range(5)}
    keeper = Doorkeeper({who: line.removeprefix("sha256:") for who, (_, line) in people.items()}, bytes(32))
    compared: list[str] = []

    def noted(known: str, shown: str) -> bool:
        compared.append(known)
        return hmac.compare_digest(known, shown)

    monkeypatch.setattr(tokens, "compare_digest", noted)
    for who, (secret, _) in people.items():
        compared.clear()
        assert keeper.who(secret) == who
        assert len(compared) == len(people)  # the first match does not end the search
    assert keeper.who("") is None
    assert keeper.who("ü\udcff") is None


def test_cookies_are_bound_to_secret_token_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ada = Caller(ANALYST, "ada")
    keeper = Doorkeeper({ada: "digest"}, bytes(32))
    cookie = keeper.cookie(ada)
    assert keeper.holder(cookie) == ada
    for changed in (cookie[:-1] + "0", cookie.replace("ada", "eve"), "", "::::", cookie + "é", "a:b:²:d:e"):
        assert changed == cookie or keeper.holder(changed) is None
    assert Doorkeeper({ada: "digest"}, b"other" * 7).holder(cookie) is None
    assert Doorkeeper({ada: "new token"}, bytes(32)).holder(cookie) is None
    assert Doorkeeper({}, bytes(32)).holder(cookie) is None
    now = time.time()
    monkeypatch.setattr("tacit.serve.tokens.time.time", lambda: now + tokens.LIFETIME + 1)
    assert keeper.holder(cookie) is None


def test_forms_need_their_mark_and_our_own_page(nobody: httpx.Client) -> None:
    mark = log_in(nobody, "ada")
    form = {"sql": COUNT["sql"], "epsilon": "0.5", "action": "ask", "key": "k"}
    assert nobody.post("/datasets/visits", data=form).status_code == 403
    assert nobody.post("/datasets/visits", data=form | {"mark": "0" * 64}).status_code == 403
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert nobody.post("/datasets/visits", data=form | {"mark": mark}, headers=elsewhere).status_code == 403
    assert nobody.post("/login", data={"token": token("ada")}, headers=elsewhere).status_code == 403
    assert nobody.post(ASK, json=COUNT).status_code == 403  # the cookie alone does not ask
    assert "Nothing was asked yet" in nobody.get("/datasets/visits").text
    assert nobody.post(ASK, json=COUNT, headers={"X-CSRF-Token": mark}).status_code == 200
    changed = nobody.post("/datasets/visits", data=form | {"mark": mark, "epsilon": "0.25"})
    assert changed.status_code == 200  # the way back, another question, the same form
    asked = nobody.post("/datasets/visits", data=form | {"mark": mark})
    assert asked.status_code == 200
    assert "returned at no cost" in asked.text
    assert nobody.post("/logout", data={"mark": ""}).status_code == 403
    assert nobody.post("/logout", data={"mark": mark}).headers["location"] == "/login"


def test_an_analyst_is_no_custodian_and_a_custodian_asks_nothing(nobody: httpx.Client) -> None:
    log_in(nobody, "ada")
    for path in PAGES[2:]:
        assert nobody.get(path).status_code == 403
    nobody.cookies.clear()
    log_in(nobody, "custodian")
    assert nobody.get("/custodian?verify=visits").text.count("entries verified") == 1
    assert nobody.get("/custodian/visits/secrets").status_code == 404
    assert nobody.get("/custodian/audit").status_code == 404
    custodian = {"Authorization": f"Bearer {token('custodian')}"}
    assert nobody.post(ASK, json=COUNT, headers=custodian).status_code == 404


def test_every_response_carries_the_headers(ada: httpx.Client) -> None:
    for path in ("/login", "/static/page.js", "/static/page.css", "/v1/datasets", "/v1/nothing", "/metrics"):
        response = ada.get(path)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
    cookie = ada.post("/login", data={"token": token("ada")}).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize("nobody", [{"extra": "[limits]\nbody_bytes = 2000\nper_minute = 20"}], indirect=True)
def test_sizes_and_pace_are_limited(ada: httpx.Client) -> None:
    assert ada.post(ASK, content=b"{" + b" " * 3000, headers={"Content-Type": "application/json"}).status_code == 413
    assert ada.post(ASK, content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415
    assert ada.post(ASK, content=b"[" * 1900, headers={"Content-Type": "application/json"}).status_code == 400
    assert ada.post(ASK, content=b'{"epsilon": NaN}', headers={"Content-Type": "application/json"}).status_code == 400
    seen = [ada.get("/v1/datasets").status_code for _ in range(30)]
    assert set(seen) == {200, 429}
    assert ada.get("/v1/datasets").headers["retry-after"]


def test_pace_refills(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("tacit.serve.running.time.monotonic", lambda: now)
    pace = Pace(60)
    for _ in range(60):
        pace.take("ada")
    with pytest.raises(Busy):
        pace.take("ada")
    pace.take("grace")
    now = 1.0
    pace.take("ada")
    with pytest.raises(Busy):
        pace.take("ada")


@pytest.mark.parametrize("nobody", [{"extra": "[limits]\npadding_seconds = 0.7"}], indirect=True)
def test_answers_are_sent_at_multiples_of_the_padding(ada: httpx.Client) -> None:
    for body in (COUNT, COUNT, {"sql": "SELECT who FROM visits", "epsilon": 1}):
        start = time.monotonic()
        ada.post(ASK, json=body)
        assert time.monotonic() - start >= 0.7  # a busy machine may be late, never early
    start = time.monotonic() - 1
    asyncio.run(pad(start, 0.7))
    assert time.monotonic() - start >= 1.4
    start = time.monotonic() - 1
    asyncio.run(pad(start, 0))
    assert time.monotonic() - start < 20


def test_the_log_says_who_did_what_and_holds_no_secret(tmp_path: Path, nobody: httpx.Client) -> None:
    log_in(nobody, "ada")
    bearer = {"Authorization": f"Bearer {token('grace')}"}
    nobody.post(ASK, json=COUNT, headers=bearer)
    nobody.post(ASK, json=COUNT | {"epsilon": 9}, headers=bearer)
    nobody.get("/v1/datasets", headers={"Authorization": "Bearer tacit_guess"})
    text = (tmp_path / "audit.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["event"] for line in lines] == ["started", "login", "asked", "asked", "refused"]
    assert [line["outcome"] for line in lines if line["event"] == "asked"] == ["answered", "budget_exceeded"]
    assert not re.search(r"tacit_|SELECT|sha256|seconds|duration", text)
    metrics = nobody.get("/metrics").text
    assert 'outcome="budget_exceeded"} 1' in metrics
    assert not re.search("ada|grace|visits", metrics)


def test_what_nobody_foresaw_becomes_one_sentence(
    tmp_path: Path, ada: httpx.Client, capfd: pytest.CaptureFixture[str]
) -> None:
    response = ada.post(ASK, json=COUNT | {"sql": f"{COUNT['sql']} -- surprise"})
    assert response.status_code == 500
    assert response.json()["error"] == "unforeseen"
    log = (tmp_path / "audit.jsonl").read_text()
    assert '"kind": "KeyError"' in log
    assert "p17" not in response.text + log + "".join(capfd.readouterr())


def test_whatever_is_shown_is_escaped(nobody: httpx.Client) -> None:
    mark = log_in(nobody, "ada")
    attack = "<script>alert(1)</script>\"'>"
    sql = f"SELECT COUNT(*) AS \"{attack.replace(chr(34), '')}\" FROM visits WHERE place <> '<b>'"
    form = {"sql": sql, "epsilon": "0.5", "action": "ask", "key": "k", "mark": mark, "where": attack, "persons": attack}
    for page in (nobody.post("/datasets/visits", data=form), nobody.get("/datasets/visits")):
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<b>" not in page.text
        assert "&lt;b&gt;" in page.text
