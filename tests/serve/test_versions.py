"""Versions behind the gateway: they are the custodian's, and no stale number goes out without the warning."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

import tacit
from tacit import InvalidInput, Periods, Pure
from tacit.serve.config import load
from tests.serve.support import configuration, people, token
from tests.serve.test_security import log_in

ASK = "/v1/datasets/visits/ask"
COUNT = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 1}
BOTH = {"sql": "SELECT SUM(minutes) AS m, COUNT(DISTINCT who) AS n FROM visits", "epsilon": 2}


def test_the_wire_and_the_page_warn_of_an_earlier_answer(tmp_path: Path, nobody: httpx.Client) -> None:
    ada = {"Authorization": f"Bearer {token('ada')}"}
    for question in (COUNT, BOTH):
        first = nobody.post(ASK, json=question, headers=ada).json()
        assert (first["stored"], first["warning"]) == (False, None)
    people(tmp_path, 900)  # three rows each, where there were 200
    again = nobody.post(ASK, json=COUNT, headers=ada).json()
    assert again["stored"]
    assert re.match(r"Answered on .* at ε = 1; .* ask anew with 'fresh': true\.$", again["warning"])
    assert again["words"].startswith(again["warning"])
    assert again["answer"]["warning"].endswith("ask anew.")
    assert nobody.post(ASK, json=BOTH, headers=ada).json()["words"].startswith("Answered on ")
    far = tacit.connect(str(nobody.base_url), token("ada"))
    assert str(far.sql(COUNT["sql"], epsilon=1)).startswith("Answered on ")  # type: ignore[arg-type]
    far.close()
    mark = log_in(nobody, "ada")
    form = {"action": "ask", "mark": mark, "key": "k", "epsilon": "1", "sql": str(COUNT["sql"])}
    page = nobody.post("/datasets/visits", data=form).text
    first = page.partition('id="answer"')[2].partition('class="reading"')[0]
    assert re.search(r"Answered on .* if the data have changed since, ask anew with “Ask anew”", first)
    assert 'name="fresh"' in page
    several = nobody.post("/datasets/visits", data=form | {"epsilon": "2", "sql": str(BOTH["sql"])}).text
    assert "Answered on " in several.partition('id="answer"')[2].partition('class="answers"')[0]
    fresh = nobody.post("/datasets/visits", data=form | {"fresh": "yes"}).text
    assert "nswered on" not in fresh.partition('id="answer"')[2].partition("</section>")[0]
    anew = nobody.post(ASK, json=COUNT | {"fresh": True}, headers=ada).json()
    assert not anew["stored"]
    assert anew["answer"]["value"] > 2000
    folder = "/datasets/visits/answers"
    old, *_, new = (line["number"] for line in nobody.get("/v1/datasets/visits/history").json()["questions"])
    then, now = (nobody.get(f"{folder}/{number}/answer.json").json() for number in (old, new))
    assert (then["answer"]["value"], now["answer"]["value"]) == (again["answer"]["value"], anew["answer"]["value"])
    assert then["warning"] == again["warning"]
    assert "Answered on " in nobody.get(f"{folder}/{old}").text
    assert re.match(r'warning,[\w,]+\s+"Answered on ', nobody.get(f"{folder}/{old}/answer.csv").text)
    twice = [nobody.post(ASK, json=COUNT | {"fresh": True}, headers=ada | {"Idempotency-Key": "a"}) for _ in range(2)]
    assert [response.json()["stored"] for response in twice] == [False, True]  # sent twice, charged once


@pytest.mark.parametrize("nobody", [{"epsilon": '10\nversion = "2026-11"'}], indirect=True)
def test_the_label_is_the_custodians(ada: httpx.Client) -> None:
    assert ada.get("/v1/datasets/visits").json()["version"] == "2026-11"
    assert ada.post(ASK, json=COUNT).json()["answer"]["version"] == "2026-11"
    again = ada.post(ASK, json=COUNT).json()
    assert (again["stored"], again["warning"]) == (True, None)
    assert "for version 2026-11" in again["words"]
    assert ada.post(ASK, json=COUNT | {"version": "2026-12"}).status_code == 400


BY_MONTH = '30\nperiod = "2026-11"\nperiods = { every = "month", each.epsilon = 10 }'


@pytest.mark.parametrize("nobody", [{"epsilon": BY_MONTH}], indirect=True)
def test_a_dataset_has_a_budget_for_each_period(ada: httpx.Client) -> None:
    assert ada.get("/v1/datasets/visits").json()["period"] == "2026-11"
    assert ada.post(ASK, json=COUNT).json()["remaining"] == "Pure 9"
    budget = ada.get("/v1/datasets/visits/budget").json()
    assert list(budget["protection"]) == ["event", "period", "lifetime", "undated"]
    assert "Pure(30)" in budget["protection"]["lifetime"]


def test_periods_in_a_configuration_say_which_and_that_there_is_no_bound(tmp_path: Path) -> None:
    def configured(text: str) -> Any:
        return load(configuration(tmp_path, epsilon=text)).datasets["visits"]

    found = configured(BY_MONTH)
    assert (found.periods, found.period, found.budget) == (Periods("month", Pure(10), Pure(30)), "2026-11", Pure(30))
    with pytest.raises(InvalidInput, match="say which is asked about"):
        configured('3\nperiods = { every = "month", each.epsilon = 1 }')
    with pytest.raises(InvalidInput, match="without_lifetime_bound"):
        configured('3\nperiods = { every = "month", each.epsilon = 1, without_lifetime_bound = true }')
    with pytest.raises(InvalidInput, match="needs what each month may cost"):
        configured('3\nperiods = { every = "month" }')
