"""The HTTP interface: public facts, costs, answers, history, and questions that are never charged twice."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import tacit
from tacit import Pure
from tacit.ledger import charges, open_ledger, verify
from tests.serve.support import configuration, serving, token
from tests.support import until

ASK, COST = "/v1/datasets/visits/ask", "/v1/datasets/visits/cost"
SUM: dict[str, Any] = {"sql": "SELECT SUM(minutes) FROM visits", "epsilon": 0.5}


def spent(folder: Path) -> Any:
    with open_ledger(folder / "ledger.db") as ledger:
        assert verify(ledger, "visits").sound
        return ledger.budget("visits").spent


def test_public_facts(ada: httpx.Client) -> None:
    assert ada.get("/v1/datasets").json() == {"datasets": ["visits"]}
    facts = ada.get("/v1/datasets/visits").json()
    assert facts["tables"] == [
        {
            "name": "visits",
            "private": True,
            "declared": "private, person = who",
            "columns": [
                {"name": "who", "type": "text"},
                {"name": "minutes", "type": "integer"},
                {"name": "place", "type": "text"},
            ],
        }
    ]
    assert ada.get("/v1/datasets/other").status_code == 404
    assert ada.get("/v1/openapi.json").json()["openapi"] == "3.1.0"


def test_a_preview_spends_nothing_and_an_answer_is_charged(tmp_path: Path, ada: httpx.Client) -> None:
    seen = ada.post(COST, json=SUM).json()
    assert (seen["cost"], seen["fits"], seen["free"], seen["forecast"]) == ("Pure 1/2", True, False, "sum")
    assert spent(tmp_path).epsilon == 0
    found = ada.post(ASK, json=SUM).json()
    assert (found["cost"], found["stored"], found["remaining"]) == ("Pure 1/2", False, "Pure 19/2")
    assert found["answer"]["statistic"] == "sum of minutes"
    assert ada.post(COST, json=SUM).json()["free"]
    again = ada.post(ASK, json=SUM).json()
    assert again["stored"]
    assert again["answer"]["value"] == found["answer"]["value"]
    assert spent(tmp_path) == Pure("0.5")
    (line,) = ada.get("/v1/datasets/visits/history").json()["questions"]
    assert (line["question"], line["cost"], line["status"]) == (SUM["sql"], "Pure 1/2", "answered")
    kept = ada.get(f"/v1/datasets/visits/answers/{line['number']}").json()
    assert kept["answer"]["value"] == found["answer"]["value"]
    assert ada.get("/v1/datasets/visits/answers/1").status_code == 404
    assert ada.get("/v1/datasets/visits/budget").json()["remaining"] == "Pure 19/2"


def test_analysts_do_not_see_each_other_and_have_their_limits(tmp_path: Path, ada: httpx.Client) -> None:
    number = ada.post(ASK, json=SUM) and ada.get("/v1/datasets/visits/history").json()["questions"][0]["number"]
    grace = {"Authorization": f"Bearer {token('grace')}"}
    assert ada.get("/v1/datasets/visits/history", headers=grace).json() == {"questions": []}
    assert ada.get(f"/v1/datasets/visits/answers/{number}", headers=grace).status_code == 404
    refused = ada.post(ASK, json=SUM | {"epsilon": 2, "fresh": True}, headers=grace)
    assert refused.status_code == 403
    assert refused.json()["error"] == "budget_exceeded"
    assert "nothing was spent" in refused.json()["message"]
    assert spent(tmp_path) == Pure("0.5")


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ({"table": "visits", "statistic": "persons"}, "SELECT COUNT(DISTINCT who)\nFROM visits"),
        ({"table": "visits", "statistic": "count"}, "SELECT COUNT(*)\nFROM visits"),
        (
            {"table": "visits", "statistic": "quantile", "column": "minutes", "quantile": 0.9, "where": "minutes > 3"},
            "SELECT QUANTILE_CONT(minutes, 0.9)\nFROM visits\nWHERE minutes > 3",
        ),
        (
            {
                "table": "visits",
                "statistic": "mean",
                "column": "minutes",
                "group_by": "place",
                "where": "place IN ('a')",
            },
            "SELECT place, AVG(minutes)\nFROM visits\nWHERE place IN ('a')\nGROUP BY place",
        ),
    ],
)
def test_composed_questions(ada: httpx.Client, question: dict[str, Any], sql: str) -> None:
    body = {"question": question, "epsilon": "1/10"}
    assert ada.post(COST, json=body).json()["sql"] == sql
    assert ada.post(ASK, json=body).status_code == 200


WRONG: list[Any] = [
    [],
    {},
    {"sql": "SELECT COUNT(*) FROM visits"},
    {"sql": 3, "epsilon": 1},
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": True},
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1e999999999"},
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": -1},
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1, "fresh": "yes"},
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1, "keys": {}},
    {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1, "surprise": 1},
    {"sql": "x" * 20_000, "epsilon": 1},
    {"question": {"table": "nothing", "statistic": "count"}, "epsilon": 1},
    {"question": {"table": "visits", "statistic": "sum"}, "epsilon": 1},
    {"question": {"table": "visits", "statistic": "sum", "column": 'x"; DROP'}, "epsilon": 1},
]


def test_mistakes_are_said_and_cost_nothing(tmp_path: Path, ada: httpx.Client) -> None:
    for body in WRONG:
        response = ada.post(ASK, json=body)
        assert response.status_code in (400, 422), body
        assert response.json()["message"].endswith(".")
    assert spent(tmp_path).epsilon == 0


ABOVE = "SELECT COUNT(*) FROM visits WHERE minutes > (SELECT AVG(minutes) FROM visits)"


@pytest.mark.parametrize("nobody", [{"extra": "[limits]\naggregates = 1"}], indirect=True)
def test_a_subquery_across_persons_counts_among_the_aggregates(tmp_path: Path, ada: httpx.Client) -> None:
    for path in (ASK, COST):
        response = ada.post(path, json={"sql": ABOVE, "epsilon": 1})
        assert (response.status_code, response.json()["error"]) == (400, "invalid_input")
        assert "at most 1 different aggregates" in response.json()["message"]
    assert spent(tmp_path).epsilon == 0


@pytest.mark.parametrize("sql", ["SELECT SUM(minutes), COUNT(*) FROM visits", ABOVE])
def test_a_key_is_charged_once(tmp_path: Path, ada: httpx.Client, sql: str) -> None:
    body = {"sql": sql, "epsilon": 1, "fresh": True}
    key = {"Idempotency-Key": "first"}
    with ThreadPoolExecutor(8) as pool:  # eight at once, and each of them fresh
        responses = list(pool.map(lambda _: ada.post(ASK, json=body, headers=key), range(8)))
    assert {response.status_code for response in responses} == {200}
    answers = [response.json()["answer"] for response in responses]
    assert len({tuple(part["value"] for part in answer.get("answers", [answer])) for answer in answers}) == 1
    assert spent(tmp_path) == Pure(1)
    other = ada.post(ASK, json=body | {"epsilon": 2}, headers=key)
    assert (other.status_code, other.json()["error"]) == (400, "invalid_input")
    assert "another question" in other.json()["message"]
    grace = {"Authorization": f"Bearer {token('grace')}"}
    assert ada.post(ASK, json=body, headers=key | grace).status_code == 200  # her key, her charge
    assert spent(tmp_path) == Pure(2)
    assert ada.post(ASK, json=body, headers={"Idempotency-Key": "a b"}).status_code == 400


def test_an_answer_lost_in_a_crash_is_given_later_and_not_charged_again(tmp_path: Path, ada: httpx.Client) -> None:
    key = {"Idempotency-Key": "lost"}
    lost = SUM | {"sql": f"{SUM['sql']} -- lost"}  # the process dies before the outcome, see tests.serve.planted
    assert ada.post(ASK, json=lost, headers=key).status_code == 200
    response = ada.post(ASK, json=lost, headers=key)
    assert (response.status_code, response.json()["error"]) == (429, "busy")  # the first may still be alive
    assert "nothing more was charged" in response.json()["message"]
    assert spent(tmp_path) == Pure("0.5")
    key, lost = {"Idempotency-Key": "long"}, SUM | {"sql": f"{SUM['sql']} -- lost long ago", "epsilon": "0.25"}
    first, second, third = (ada.post(ASK, json=lost, headers=key) for _ in range(3))
    assert [response.status_code for response in (first, second, third)] == [200, 200, 200]
    assert [response.json()["stored"] for response in (second, third)] == [False, True]
    assert second.json()["answer"]["value"] == third.json()["answer"]["value"]
    assert spent(tmp_path) == Pure("0.75")
    with open_ledger(tmp_path / "ledger.db", read_only=True) as ledger:
        assert verify(ledger, "visits").sound
        whats = [entry.what for entry in ledger.history("visits")]
        assert whats[-3:] == ["charged", "resumed", "answered"]


def test_plans(ada: httpx.Client) -> None:
    path = "/v1/datasets/visits/plan"
    found = ada.get(path, params={"statistic": "persons", "epsilon": "1"}).json()
    assert found["persons"] == 200
    assert "in 19 of 20 answers" in found["words"]
    for wrong in ({"statistic": "x", "epsilon": "1"}, {"statistic": "sum"}, {"statistic": "sum", "epsilon": "1e999"}):
        assert ada.get(path, params=wrong).status_code == 400
    assert ada.get(path, params={"statistic": "sum", "epsilon": "1", "persons": "2000000"}).status_code == 400


def test_the_client_has_the_face_of_a_session(tmp_path: Path) -> None:
    path = configuration(tmp_path)
    with serving(str(path), tokens={"ada": token("ada")}) as served:
        with tacit.connect(served.address, token("ada")) as session:
            assert session.tables == ("visits",)
            assert str(session.schema("visits")) == "who text, minutes integer, place text"
            query = "SELECT SUM(minutes) FROM visits"
            assert "costs Pure(0.5) of the Pure(10) left" in str(session.cost(query, epsilon=0.5))
            answer = session.sql(query, epsilon=0.5)
            assert isinstance(answer, tacit.Answer)
            assert answer.interval(0.5).low > answer.interval(0.99).low
            places = session.sql(
                "SELECT place, COUNT(*) FROM visits GROUP BY place", keys=["north", "south"], epsilon="1/2"
            )
            assert [part["key"] for part in places.to_dict()["answers"]] == ["north", "south"]
            assert (session.budget.spent, session.budget.remaining) == (Pure(1), Pure(9))
            assert token("ada") not in repr(session) + repr(vars(session))
            with pytest.raises(tacit.BudgetExceeded, match="nothing was spent"):
                session.sql(query, epsilon=100)
            with pytest.raises(tacit.UnsupportedQuery):
                session.sql("SELECT who FROM visits", epsilon=1)
            with pytest.raises(tacit.InvalidInput, match="no table"):
                session.schema("other")
        script = served.line("ada").get("/datasets/visits/questions.py").text
        run = subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"TACIT_TOKEN": token("ada")},
            capture_output=True,
            text=True,
            timeout=200,
            check=True,
        )
        assert run.stdout.count("Answered on ") == 2
    with pytest.raises(tacit.InvalidInput, match="https://"):
        tacit.connect("http://example.org", token("ada"))
    assert Pure(1) == open_ledger(tmp_path / "ledger.db", read_only=True).budget("visits").spent


def test_a_stop_answers_what_is_in_flight_and_a_start_goes_on(tmp_path: Path) -> None:
    path = configuration(tmp_path)
    with serving(str(path), tokens={"ada": token("ada")}) as served, ThreadPoolExecutor(6) as pool:
        line = served.line("ada")
        bodies = [SUM | {"epsilon": f"0.{i}"} for i in range(1, 7)]
        asked = [pool.submit(line.post, ASK, json=body) for body in bodies]
        with open_ledger(tmp_path / "ledger.db", read_only=True) as ledger:
            until(lambda: charges(ledger, "visits"))
        served.process.terminate()
        served.process.wait(200)
        answered = [f.result().json()["cost"] for f in asked if f.exception() is None and f.result().is_success]
    assert answered
    with open_ledger(tmp_path / "ledger.db", read_only=True) as ledger:
        found = charges(ledger, "visits")
        assert {charge.status for charge in found} == {"answered"}
        assert set(answered) == {charge.cost for charge in found}  # who paid was told, before it stopped
        before = ledger.budget("visits").spent
    with serving(str(path), tokens={"ada": token("ada")}) as served:
        body = SUM | {
            "epsilon": next(body["epsilon"] for body in bodies if Pure(body["epsilon"]) == found[0].guarantee)
        }
        assert served.line("ada").post(ASK, json=body).json()["stored"]
        assert open_ledger(tmp_path / "ledger.db", read_only=True).budget("visits").spent == before
