"""Nested questions, those that are answered first, grouped and public ones: over HTTP, on the page and in previews."""

from __future__ import annotations

import html
import re
from pathlib import Path

import httpx
import pytest

from tacit import Pure
from tests.serve.test_api import ASK, COST, spent
from tests.serve.test_security import log_in

PUBLIC = {"extra": '[datasets.visits.tables.places]\nsource = "places.csv"\npublic = true\nkey = "code"\n'}
PER_PERSON = "SELECT COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who HAVING COUNT(*) >= 3) AS t"
ABOVE = "SELECT COUNT(*) FROM visits WHERE minutes > (SELECT AVG(minutes) FROM visits)"
BY_PLACE = "SELECT name, COUNT(*) AS n FROM visits JOIN places ON place = code GROUP BY name ORDER BY name"


@pytest.fixture
def places(tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text("code,name\nnorth,The North\nsouth,The South\n")


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize("nobody", [PUBLIC], indirect=True)
def test_nested_grouped_and_public_questions(tmp_path: Path, ada: httpx.Client) -> None:
    nested = ada.post(ASK, json={"sql": PER_PERSON, "epsilon": 2}).json()
    assert abs(nested["answer"]["value"] - 200) <= 20  # noise of ε = 2 beyond 20 is rarer than 1e-16
    assert spent(tmp_path) == Pure(2)

    seen = ada.post(COST, json={"sql": ABOVE, "epsilon": 1}).json()
    assert (seen["cost"], seen["charge"], seen["free"]) == ("Pure 1", "Pure 1", False)
    assert "which is answered first: costs Pure(1) (Pure(0.5) for each of 2 questions)" in seen["words"]
    above = ada.post(ASK, json={"sql": ABOVE, "epsilon": 1}).json()
    assert above["cost"] == "Pure 1"
    assert re.search(r"was answered first, for Pure\(0\.5\), and gave -?[\d,.]+\.", above["words"])
    assert spent(tmp_path) == Pure(3)
    again = ada.post(COST, json={"sql": ABOVE, "epsilon": 1}).json()
    assert (again["charge"], again["free"]) == ("Pure 0", True)
    assert again["words"].endswith("answered before, so it is free. Nothing was spent.")
    assert ada.post(ASK, json={"sql": ABOVE, "epsilon": 1}).json()["answer"]["value"] == above["answer"]["value"]

    grouped = ada.post(ASK, json={"sql": BY_PLACE, "epsilon": 1}).json()["answer"]
    assert grouped["columns"] == ["name", "n"]
    assert [row["name"] for row in grouped["rows"]] == ["The North", "The South"]
    assert spent(tmp_path) == Pure(4)

    public = ada.post(ASK, json={"sql": "SELECT name FROM places ORDER BY name", "epsilon": 1}).json()
    assert (public["cost"], public["answer"]["rows"]) == ("Pure 0", [{"name": "The North"}, {"name": "The South"}])
    assert spent(tmp_path) == Pure(4)

    across = "SELECT AVG(n) FROM (SELECT place, COUNT(*) AS n FROM visits GROUP BY place) AS t"
    for sql in (across, "SELECT who, COUNT(*) FROM visits GROUP BY who"):
        for path in (ASK, COST):
            assert ada.post(path, json={"sql": sql, "epsilon": 1}).status_code == 422
    assert spent(tmp_path) == Pure(4)


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize("nobody", [PUBLIC], indirect=True)
def test_the_page_shows_them(nobody: httpx.Client) -> None:
    mark = log_in(nobody, "ada")

    def shown(sql: str) -> str:
        form = {"mark": mark, "key": f"k{len(sql)}", "action": "ask", "sql": sql, "epsilon": "1", "persons": "200"}
        response = nobody.post("/datasets/visits", data=form)
        while response.is_redirect:
            response = nobody.get(response.headers["location"])
        return html.unescape(re.sub(r"<[^>]*>", " ", response.text))

    assert "was answered first, for Pure(0.5), and gave" in shown(ABOVE)
    assert re.search(r"The North\s+\d+\s+\d+ to \d+", shown(BY_PLACE))
    assert "the rows are exact and cost nothing" in shown("SELECT name FROM places ORDER BY name")
    quartiles = shown("SELECT QUANTILE_CONT(minutes, [0.25, 0.75]) FROM visits")
    assert "unbounded" not in quartiles
    assert len(set(re.findall(r"rank ± [\d,]+ rows", quartiles))) == 2
    refused = shown("SELECT who, COUNT(*) FROM visits GROUP BY who")
    assert "Grouping by 'who' would make one group of each person" in refused
    assert ".per_person(" not in refused  # the page has no methods
