"""The error to expect is said before anything is paid, from public facts and from what was answered before."""

from __future__ import annotations

import re
from pathlib import Path

import httpx

import tacit
from tests.serve.support import configuration, token
from tests.serve.test_api import ASK, spent

EXPECTED = "/v1/datasets/visits/expected"
SQL = "SELECT place, COUNT(*), AVG(minutes) FROM visits WHERE place IN ('north', 'south') GROUP BY place"
BOTH = {"sql": SQL, "epsilon": 1}


def test_groups_and_several_aggregates_have_an_error_to_expect(ada: httpx.Client, tmp_path: Path) -> None:
    found = ada.post(f"{EXPECTED}?persons=5000", json=BOTH).json()
    assert found["persons"] == 5000
    assert len(found["errors"]) == 2
    assert all("in each of 2 groups of about 2,500 persons" in each["words"] for each in found["errors"])
    assert all(0 < each["share"] < 1 for each in found["errors"])
    assert ada.post(EXPECTED, json=BOTH).json()["persons"] == 200  # the dataset's own
    many = {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1}
    assert ada.post(f"{EXPECTED}?persons=999999999", json=many).json()["persons"] == 100_000  # and no error is larger
    assert ada.post(f"{EXPECTED}?shape=round", json=BOTH).status_code == 400
    assert ada.post(EXPECTED, json={"sql": "SELECT who FROM visits", "epsilon": 1}).status_code == 422
    assert not any(spent(tmp_path).keywords().values())
    with tacit.connect(str(ada.base_url), token=token("ada")) as far:
        seen = far.preview(SQL, epsilon=1)
        assert [part.groups for part in seen.parts] == [2, 2]
        assert seen.parts[0].expected_error(5000).words == found["errors"][0]["words"]


def test_without_a_public_number_that_of_an_answer_is_taken(tmp_path: Path) -> None:
    from tacit.serve.config import load
    from tacit.serve.expecting import counted, expected
    from tacit.serve.gateway import Gateway
    from tacit.serve.tokens import ANALYST, Caller

    path = configuration(tmp_path)
    path.write_text(path.read_text().replace("persons = 200\n", ""))
    gateway, ada = Gateway(load(path)), Caller(ANALYST, "ada")
    try:
        question = gateway.read_question(ada, "visits", {"sql": "SELECT COUNT(*) FROM visits", "epsilon": 1})
        unknown = expected(gateway, ada, "visits", question, None, "lognormal")
        assert unknown["persons"] is None
        assert "say about how many persons there are, as “persons”, for a forecast" in unknown["words"]
        assert "=" not in unknown["words"]  # that is Python's way to say it
        persons = "SELECT COUNT(DISTINCT who) FROM visits"
        filtered = gateway.read_question(ada, "visits", {"sql": f"{persons} WHERE minutes > 40", "epsilon": 1})
        gateway.ask(ada, "visits", filtered)
        assert counted(gateway, ada, "visits") is None  # that is not about all
        answer = gateway.ask(ada, "visits", gateway.read_question(ada, "visits", {"sql": persons, "epsilon": 1}))
        assert isinstance(answer, tacit.Answer)
        assert counted(gateway, ada, "visits") == answer.value
        assert counted(gateway, Caller(ANALYST, "grace"), "visits") is None  # what ada was told is hers
        assert re.search("19 of 20 answers within", expected(gateway, ada, "visits", question, None, "equal")["words"])
    finally:
        gateway.close()


def test_asking_needs_the_mark_of_our_page(nobody: httpx.Client) -> None:
    from tests.serve.test_security import log_in

    mark = log_in(nobody, "ada")
    for path in (EXPECTED, EXPECTED.replace("expected", "compose"), ASK):
        assert nobody.post(path, json=BOTH).status_code == 403
    body = {"table": "visits", "statistic": "count"}
    written = nobody.post(EXPECTED.replace("expected", "compose"), json=body, headers={"X-CSRF-Token": mark})
    assert written.json() == {"sql": "SELECT COUNT(*)\nFROM visits"}
