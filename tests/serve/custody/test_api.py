"""The custodian over HTTP: invite, pause, revoke, limit, approve, add data; confirmed, recorded, without a restart."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tacit.ledger import open_ledger, verify
from tacit.serve.custody.first import guess
from tests.serve.custody.support import ACTIONS, APPROVALS, ASK, COST, CUSTODIAN, act, bearer, refused
from tests.serve.support import token
from tests.serve.test_security import log_in

COUNT: dict[str, Any] = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "0.25"}
GRACE = bearer(token("grace"))


def custody(line: httpx.Client) -> Any:
    return line.get("/v1/custodian", headers=CUSTODIAN).json()


def test_an_analyst_is_invited_limited_paused_and_revoked(tmp_path: Path, nobody: httpx.Client) -> None:
    made = act(nobody, "add analyst", name="lin", dataset="visits", epsilon="0.5")
    lin = bearer(made["token"])
    assert nobody.get("/v1/datasets", headers=lin).json() == {"datasets": ["visits"]}
    assert nobody.post(ASK, json=COUNT, headers=lin).json()["remaining"] == "Pure 1/4"
    assert nobody.post(ASK, json=COUNT | {"epsilon": "0.5"}, headers=lin).status_code == 403
    act(nobody, "set limit", name="lin", dataset="visits", epsilon=2)
    assert nobody.post(ASK, json=COUNT | {"epsilon": "0.5"}, headers=lin).json()["remaining"] == "Pure 5/4"
    act(nobody, "pause analyst", name="lin")
    for response in (nobody.post(ASK, json=COUNT, headers=lin), nobody.get("/v1/datasets", headers=lin)):
        assert (response.status_code, response.json()["error"]) == (403, "not_admitted")
    act(nobody, "resume analyst", name="lin")
    assert nobody.post(ASK, json=COUNT, headers=lin).json()["stored"]
    second = bearer(act(nobody, "add token", name="lin")["token"])
    (lines,) = [
        each for each in nobody.get("/v1/custodian", headers=CUSTODIAN).json()["analysts"] if each["name"] == "lin"
    ]
    assert (lines["state"], len(lines["tokens"]), lines["access"]["visits"]["remaining"]) == ("active", 2, "Pure 5/4")
    act(nobody, "revoke token", name="lin", token=lines["tokens"][0])
    assert nobody.get("/v1/datasets", headers=lin).status_code == 401
    assert nobody.get("/v1/datasets", headers=second).status_code == 200
    act(nobody, "withdraw access", name="lin", dataset="visits")
    assert nobody.post(ASK, json=COUNT, headers=second).status_code == 404
    act(nobody, "set limit", name="lin", dataset="visits", epsilon=2)
    assert nobody.post(ASK, json=COUNT, headers=second).json()["stored"]
    act(nobody, "revoke analyst", name="lin")
    assert nobody.get("/v1/datasets", headers=second).status_code == 401
    assert refused(nobody, "add token", name="lin").status_code == 400
    assert refused(nobody, "add analyst", name="lin", dataset="visits").status_code == 400
    acts = nobody.get("/v1/custodian/acts", headers=CUSTODIAN).json()["acts"]
    assert [each["act"] for each in acts] == [
        "analyst added",
        "access set",
        "analyst paused",
        "analyst resumed",
        "token added",
        "token revoked",
        "access withdrawn",
        "access set",
        "analyst revoked",
    ]
    assert all((each["who"], each["way"]) == ("custodian", "http") for each in acts)
    with open_ledger(tmp_path / "ledger.db") as ledger:
        assert ledger.verify_acts() == ()
        assert verify(ledger, "visits").sound
    log = (tmp_path / "audit.jsonl").read_text()
    assert [json.loads(line)["number"] for line in log.splitlines() if '"act"' in line] == list(range(1, 10))
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("ledger.db*")).decode(errors="replace")
    everything = log + json.dumps(acts) + kept
    assert made["token"] not in everything
    assert second["Authorization"].removeprefix("Bearer ") not in everything


def test_nothing_is_done_unless_it_is_confirmed_as_it_is_now(nobody: httpx.Client) -> None:
    body = {"action": "pause analyst", "name": "grace"}
    code = nobody.post(ACTIONS, json=body, headers=CUSTODIAN).json()["confirm"]
    for wrong in ("x", code[:-1]):
        assert nobody.post(ACTIONS, json=body | {"confirm": wrong}, headers=CUSTODIAN).json()["error"] == "unconfirmed"
    other = {"action": "pause analyst", "name": "ada", "confirm": code}
    assert nobody.post(ACTIONS, json=other, headers=CUSTODIAN).json()["error"] == "unconfirmed"
    act(nobody, "pause analyst", name="ada")  # something is done meanwhile
    assert nobody.post(ACTIONS, json=body | {"confirm": code}, headers=CUSTODIAN).json()["error"] == "unconfirmed"
    assert nobody.post(COST, json=COUNT, headers=GRACE).status_code == 200
    for headers in (GRACE, {}):
        assert nobody.post(ACTIONS, json=body, headers=headers).status_code in (401, 403)
        assert nobody.get("/v1/custodian", headers=headers).status_code in (401, 403)
        assert nobody.get("/v1/custodian/acts", headers=headers).status_code in (401, 403)


WRONG: list[Any] = [
    [],
    {},
    {"action": "set limit", "name": "grace", "dataset": "visits", "epsilon": 11},  # above the whole budget
    {"action": "set limit", "name": "grace", "dataset": "visits", "rho": 1},
    {"action": "set limit", "name": "grace", "dataset": "other", "epsilon": 1},
    {"action": "set limit", "name": "nobody", "dataset": "visits", "epsilon": 1},
    {"action": "add analyst", "name": "x y", "dataset": "visits"},
    {"action": "add analyst", "name": "ada", "dataset": "visits"},
    {"action": "pause analyst"},
    {"action": "pause analyst", "name": True},
    {"action": "pause analyst", "name": "ada", "surprise": 1},
    {"action": "revoke token", "name": "ada", "token": "000000000000"},
    {"action": "approve", "request": 1},
    {"action": "approve", "request": "x"},
    {"action": "add dataset", "name": "more", "source": "absent.csv", "person": "who", "epsilon": 1},
]


def test_mistakes_are_said_and_do_nothing(nobody: httpx.Client) -> None:
    for body in WRONG:
        response = nobody.post(ACTIONS, json=body, headers=CUSTODIAN)
        assert response.status_code in (400, 404, 503), response.text
        assert response.json()["message"].endswith(".")
    assert nobody.get("/v1/custodian/acts", headers=CUSTODIAN).json() == {"acts": []}


def test_one_question_is_approved_once(tmp_path: Path, nobody: httpx.Client) -> None:
    dear = {"sql": "SELECT SUM(minutes), COUNT(*) FROM visits", "epsilon": 3}
    assert nobody.post(ASK, json=dear, headers=GRACE).json()["error"] == "budget_exceeded"
    asked = nobody.post(APPROVALS, json=dear | {"reason": "the yearly report"}, headers=GRACE).json()
    assert (asked["status"], asked["cost"], asked["question"]) == ("open", "Pure 3", dear["sql"])
    assert nobody.post(APPROVALS, json=dear | {"reason": "again"}, headers=GRACE).json()["number"] == asked["number"]
    assert nobody.get(APPROVALS, headers=bearer(token("ada"))).json() == {"approvals": []}
    act(nobody, "approve", request=asked["number"], days=2)
    assert nobody.post(COST, json=dear, headers=GRACE).json()["fits"]
    assert nobody.post(ASK, json=dear | {"epsilon": "3.1"}, headers=GRACE).status_code == 403
    assert nobody.post(ASK, json=dear, headers=bearer(token("ada"))).json()["stored"] is False  # within ada's own
    first = nobody.post(ASK, json=dear, headers=GRACE).json()
    assert (first["stored"], first["remaining"]) == (False, "Pure 1")  # grace's own limit is as it was
    for again in (dear, dear | {"fresh": True}):
        found = nobody.post(ASK, json=again, headers=GRACE).json()
        values = [[each["value"] for each in one["answer"]["answers"]] for one in (found, first)]
        assert found["stored"]
        assert values[0] == values[1]
    lines = nobody.get("/v1/datasets/visits/history", headers=GRACE).json()["questions"]
    assert [line["cost"] for line in lines] == ["Pure 3/2", "Pure 3/2"]
    assert nobody.get(f"/v1/datasets/visits/answers/{lines[0]['number']}", headers=GRACE).status_code == 200
    with open_ledger(tmp_path / "ledger.db") as ledger:
        assert ledger.budget("visits").spent.text() == "Pure 6"
        assert verify(ledger, "visits").sound
    for name, page in (("grace", "/datasets/visits"), ("custodian", "/custodian/requests")):
        log_in(nobody, name)
        shown = nobody.get(page).text
        assert ">used</span>" in shown  # an approval that was used does not read as one that still holds
        assert not re.search("until 2|Take back", shown)
    log = nobody.get("/custodian/acts").text
    nobody.cookies.clear()
    assert "cost: ε = 3" in log  # in the letters of every other page, and times to the minute
    assert re.search(r"until: \d{4}-\d\d-\d\d \d\d:\d\d UTC", log)
    assert "Pure" not in log
    act(nobody, "withdraw approval", request=asked["number"])
    assert nobody.post(ASK, json=dear, headers=GRACE).json()["stored"]  # what was paid for stays free
    assert nobody.post(ASK, json=dear | {"fresh": True}, headers=GRACE).status_code == 403


@pytest.mark.parametrize("nobody", [{"limit": "datasets.visits.approve_above.epsilon = 0.5"}], indirect=True)
def test_questions_above_a_price_wait_for_a_person(nobody: httpx.Client) -> None:
    dear = COUNT | {"epsilon": 1}
    assert nobody.post(ASK, json=dear, headers=GRACE).json()["error"] == "approval_needed"
    number = nobody.post(APPROVALS, json=dear, headers=GRACE).json()["number"]
    act(nobody, "decline", request=number)
    assert nobody.get(APPROVALS, headers=GRACE).json()["approvals"][0]["status"] == "declined"
    number = nobody.post(APPROVALS, json=dear, headers=GRACE).json()["number"]
    act(nobody, "approve", request=number)
    assert nobody.post(ASK, json=dear, headers=GRACE).status_code == 200
    assert nobody.post(ASK, json=dear | {"sql": "SELECT SUM(minutes) FROM visits"}, headers=GRACE).status_code == 403
    act(nobody, "require approval", name="grace", dataset="visits", epsilon=5)
    assert nobody.post(ASK, json=dear | {"sql": "SELECT SUM(minutes) FROM visits"}, headers=GRACE).status_code == 200


def test_an_approval_is_offered_only_where_it_can_be_given(nobody: httpx.Client) -> None:
    form = {"sql": COUNT["sql"], "action": "ask", "mark": log_in(nobody, "grace")}
    dear = nobody.post("/datasets/visits", data=form | {"epsilon": "3"}).text
    assert "Ask the custodian" in dear
    assert "No approval helps" not in dear
    beyond = nobody.post("/datasets/visits", data=form | {"epsilon": "11"}).text  # the dataset has 10
    assert "Ask the custodian" not in beyond
    assert "No approval helps: the budget of the whole dataset has less left than this costs." in beyond


def test_a_dataset_is_added_and_asked_without_a_restart(tmp_path: Path, nobody: httpx.Client) -> None:
    (tmp_path / "more.csv").write_text("who,paid\n" + "".join(f"p{i},{i % 9}\n" for i in range(100)))
    fields = {"name": "more", "source": "more.csv", "person": "who", "epsilon": 2, "persons": 100}
    far = nobody.post(ACTIONS, json={"action": "add dataset", **fields}, headers=CUSTODIAN | {"X-Forwarded-For": "::1"})
    assert far.json()["error"] == "local_only"
    act(nobody, "add dataset", **fields)
    ada = bearer(token("ada"))  # without a list of datasets, ada may ask all
    assert nobody.get("/v1/datasets", headers=ada).json() == {"datasets": ["visits", "more"]}
    question = {"sql": "SELECT SUM(paid) FROM more", "epsilon": "0.5"}
    assert nobody.post("/v1/datasets/more/ask", json=question, headers=ada).json()["remaining"] == "Pure 3/2"
    assert nobody.post("/v1/datasets/more/ask", json=question, headers=GRACE).status_code == 404
    act(nobody, "set limit", name="grace", dataset="more", epsilon="0.5")
    assert nobody.post("/v1/datasets/more/ask", json=question, headers=GRACE).json()["remaining"] == "Pure 0"
    assert refused(nobody, "add dataset", **fields).status_code == 400
    report = nobody.get("/v1/custodian/datasets/more/report.md", headers=CUSTODIAN)
    assert "Left: Pure(1)" in report.text
    (tmp_path / "newer.csv").write_text("who,paid\n" + "".join(f"p{i},{i % 7}\n" for i in range(120)))
    act(nobody, "add version", name="more", version="2026-12", source="newer.csv")
    again = nobody.post("/v1/datasets/more/ask", json=question, headers=ada).json()
    assert (again["stored"], again["remaining"]) == (False, "Pure 1/2")  # another version, the same budget
    assert refused(nobody, "add version", name="more", version="2026-12", source="newer.csv").status_code == 400
    act(nobody, "withdraw dataset", name="more")
    assert nobody.get("/v1/datasets", headers=ada).json() == {"datasets": ["visits"]}
    assert "ada" in nobody.get("/v1/custodian", headers=CUSTODIAN).text


def test_no_budget_reads_as_certain_and_a_new_dataset_as_one_that_nobody_asked(nobody: httpx.Client) -> None:
    assert [guess(each) for each in ("0.5", "4", "8")] == ["62.3", "98.3", "99.97"]  # rounded up, and never 100
    log_in(nobody, "custodian")
    overview = nobody.get("/custodian").text
    assert "Nobody has asked anything yet." in overview
    assert "analyst:" not in overview
    assert "<td>grace</td>" in overview
