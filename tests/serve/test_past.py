"""Questions of before: history, files, scripts that cost nothing, comparisons; one's own, and never by charging."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tacit.guarantees import Pure
from tests.serve.support import token
from tests.serve.test_api import ASK, spent
from tests.serve.test_security import log_in

PAGE = "/datasets/visits"
EVIL = "=1+1<script>"
GROUPS = f"SELECT place, COUNT(*) AS \"{EVIL}\" FROM visits WHERE place IN ('north', '=south') GROUP BY place"
TWO = "SELECT COUNT(*) AS n, SUM(minutes) AS total FROM visits"
KEYED = {"sql": "SELECT place, SUM(minutes) FROM visits GROUP BY place", "keys": ["north", "south"], "epsilon": "0.3"}


def ask(client: httpx.Client, mark: str, sql: str, epsilon: str) -> str:
    form = {"sql": sql, "epsilon": epsilon, "action": "ask", "mark": mark, "key": f"k{sql}{epsilon}"}
    form["key"] = re.sub(r"\W", "", form["key"])[:60]
    response = client.post(PAGE, data=form)
    assert response.status_code == 200, response.text
    return response.text


def numbers(client: httpx.Client) -> list[int]:
    return [line["number"] for line in client.get("/v1/datasets/visits/history").json()["questions"]]


def test_everything_of_before_is_found_again_for_nothing(
    nobody: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    mark = log_in(nobody, "ada")
    ask(nobody, mark, "SELECT COUNT(*) FROM visits", "0.5")
    ask(nobody, mark, TWO, "1")  # its count at 0.5 was answered before: one of two aggregates is charged
    shown = ask(nobody, mark, GROUPS, "0.25")
    nobody.post(ASK, json=KEYED, headers={"X-CSRF-Token": mark})
    paid, asked = spent(tmp_path), numbers(nobody)
    assert paid == Pure("1.55")
    link = re.search(r'href="(/datasets/visits/answers/\d+)">Link', shown)
    assert link is not None
    assert link.group(1).endswith(str(asked[2]))

    page = nobody.get(f"{PAGE}/answers/{asked[1]}").text  # the whole question, though one half was asked elsewhere
    assert "n (number of rows)" in page
    assert "total (sum of minutes)" in page
    for number in asked:
        files = {
            kind: nobody.get(f"{PAGE}/answers/{number}/answer.{kind}")
            for kind in ("csv", "json", "parquet", "py", "ipynb")
        }
        assert all(file.status_code == 200 for file in files.values())
        assert all("attachment" in file.headers["content-disposition"] for file in files.values())
        facts = json.loads(files["json"].text)
        rows = parquet.read_table(io.BytesIO(files["parquet"].content)).to_pylist()
        listed = list(csv.DictReader(io.StringIO(files["csv"].text)))
        assert len(rows) == len(listed) >= 1
        assert facts["question"] in (KEYED["sql"], TWO, GROUPS, "SELECT COUNT(*) FROM visits")
        cells = {name: cell for row in listed for name, cell in row.items()}
        assert not any(text[:1] in "=+@" for text in (*cells, *cells.values()) if text)  # no formula in a spreadsheet
        assert files["py"].text.count("print(session.sql(") == 1
        written = json.loads(files["ipynb"].text)["cells"]
    _run("\n".join("".join(cell["source"]) for cell in written if cell["cell_type"] == "code"), monkeypatch)
    everything = nobody.get(f"{PAGE}/questions.py").text
    assert everything.count("print(session.sql(") == 4
    assert "# " not in everything
    assert "keys=['north', 'south']" in everything
    _run(everything, monkeypatch)
    assert nobody.get(f"{PAGE}/questions.ipynb").status_code == 200

    compared = nobody.get(f"{PAGE}/compare?n={asked[2]}&n={asked[3]}")
    assert "different questions" in compared.text
    assert "<script>" not in compared.text
    alone = nobody.get(f"{PAGE}/compare?n={asked[0]}")  # one answer is too few: choose again, where one was
    assert (alone.status_code, "you chose 1" in alone.text, 'name="n"' in alone.text) == (400, True, True)
    assert nobody.get(f"{PAGE}/compare?n={asked[0]}&n=x").status_code == 404
    before = html.unescape(nobody.get(f"{PAGE}?from={asked[1]}").text)
    assert f">{TWO}</textarea>" in before
    assert 'name="epsilon" value="1"' in before
    history = nobody.get(f"{PAGE}/history?q=GROUP place").text
    assert "2 of 4 questions" in history
    assert "<script>" not in history
    assert spent(tmp_path) == paid
    assert numbers(nobody) == asked

    addresses = [
        f"{PAGE}/answers/{asked[0]}",
        f"{PAGE}/answers/{asked[0]}/answer.csv",
        f"{PAGE}/answers/{asked[0]}/answer.py",
    ]
    addresses += [f"{PAGE}/compare?n={asked[0]}&n={asked[1]}", f"{PAGE}?from={asked[0]}"]
    nobody.cookies.clear()
    assert all(nobody.get(address).headers["location"] == "/login" for address in addresses)
    log_in(nobody, "grace")
    assert [nobody.get(address).status_code for address in addresses] == [404] * len(addresses)
    assert nobody.get(f"{PAGE}/questions.py").text.count("session.sql") == 0
    assert "Nothing was asked yet" in nobody.get(f"{PAGE}/history").text


def _run(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_TOKEN", token("ada"))
    exec(script, {})


def test_no_address_asks(nobody: httpx.Client, tmp_path: Path) -> None:
    log_in(nobody, "ada")
    filled: dict[str, Any] = {
        "sql": "SELECT SUM(minutes) FROM visits </textarea><script>",
        "epsilon": '0.5"><b>',
        "action": "ask",
    }
    page = nobody.get(PAGE, params=filled)
    assert page.status_code == 200
    assert "<script>" not in page.text.replace('<script src="/static/', "")
    assert "<b>" not in page.text
    assert "&lt;/textarea&gt;&lt;script&gt;" in page.text
    for path in ("/v1/datasets/visits/ask", "/v1/datasets/visits/cost", "/v1/datasets/visits/compose"):
        assert nobody.get(path, params=filled).status_code == 405
    for path in (
        "answers/1",
        "answers/x",
        "answers/1/answer.exe",
        "questions.exe",
        "compare?n=1&n=2",
        "compare?n=a&n=b",
    ):
        assert nobody.get(f"{PAGE}/{path}").status_code == 404
    assert not any(spent(tmp_path).keywords().values())


def test_what_cannot_be_found_again_is_shown_as_it_is_and_stays_a_remark(ada: httpx.Client, tmp_path: Path) -> None:
    """The same text with other keys, and a question under a name that is gone, must not be asked by a script."""
    from tacit.serve import repeating
    from tacit.serve.config import load
    from tacit.serve.gateway import Gateway, NotHere
    from tacit.serve.script import WARNING, notebook, script
    from tacit.serve.tokens import ANALYST, Caller

    ada.post(ASK, json=KEYED)
    gateway, caller = Gateway(load(tmp_path / "tacit.toml")), Caller(ANALYST, "ada")
    try:
        (line,) = gateway.history(caller, "visits")
        found = repeating.look_back(gateway, caller, "visits", line)
        assert (found.repeats, found.keys, found.cost) == (True, ("north", "south"), Pure("0.3"))
        other = replace(line, text=line.text.replace("minutes", "hours"))
        lost = repeating.look_back(gateway, caller, "visits", other)
        assert not lost.repeats
        assert lost.found is not None
        assert WARNING in script("http://x", "visits", [lost])
        assert WARNING in notebook("http://x", "visits", [lost])
        unpaying = repeating._Unpaying(gateway.session(caller, "visits").budget, {})
        with pytest.raises(NotHere):
            unpaying.charge(Pure(1))
        assert gateway.session(caller, "visits").budget.spent == Pure("0.3")
    finally:
        gateway.close()
