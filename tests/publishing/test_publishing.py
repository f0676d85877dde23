"""Publications: what is written, that it is paid for once, and that whatever is killed goes on where it stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tacit import BudgetExceeded, InvalidInput, Pure
from tacit.cli.app import run
from tacit.ledger import charges, open_ledger, verify
from tacit.publishing import preview, publish, read_edition
from tacit.publishing.pictures import picture

ROOT = Path(__file__).parent.parent.parent
HOSTILE = "<script>alert('&')</script>"
REPORT = """
title = "Visits in {period} <b>"
about = "Who came."
period = "2026"
folder = "out/{period}"
ledger = "ledger.db"
epsilon = 120

[datasets.visits]
budget.epsilon = 1000
tables.visits = { source = "visits.parquet", person = "who" }
tables.places = { source = "places.parquet", public = true }

[questions.persons]
title = "How many people"
sql = "SELECT COUNT(DISTINCT who) AS people FROM visits"

[questions.places]
title = "By place"
note = "A visit is a row."
sql = "SELECT place, COUNT(*) AS visits FROM visits GROUP BY place"
keys = ["north", "=south", "<script>alert('&')</script>"]

[questions.minutes]
table = "visits"
call = "quantile"
with = { column = "minutes", q = [0.25, 0.5] }
filter = "place = 'north'"
"""
NAMES = ["certificate.json", "index.html", "minutes.csv", "minutes.parquet", "persons.csv", "persons.parquet"]
NAMES += ["places.csv", "places.parquet", "privacy.json"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("TACIT_LEDGER", raising=False)
    rows = pa.table(
        {
            "who": [f"p{i}" for i in range(90)],
            "minutes": [i % 30 for i in range(90)],
            "place": ["north", "=south", HOSTILE] * 30,
        }
    )
    parquet.write_table(rows, tmp_path / "visits.parquet")
    parquet.write_table(pa.table({"place": ["north"]}), tmp_path / "places.parquet")
    (tmp_path / "report.toml").write_text(REPORT)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def charged(folder: Path) -> list[Any]:
    with open_ledger(folder / "ledger.db", read_only=True) as ledger:
        assert verify(ledger, "visits").sound
        return charges(ledger, "visits")


def test_a_publication_is_written_whole_and_paid_for_once(here: Path) -> None:
    edition = read_edition(here / "report.toml")
    assert preview(edition) == (Pure(120), True)
    found = publish(edition)
    assert not found.stored
    assert found.results["persons"]["people"].value == 90
    files = contents(here / "out" / "2026")
    assert list(files) == NAMES
    assert [charge.version for charge in charged(here)] == ["2026"] * 3
    again = publish(edition)
    assert again.stored
    assert contents(here / "out" / "2026") == files
    assert preview(edition) == (None, True)
    assert len(charged(here)) == 3
    assert not list((here / "out").glob(".*"))
    assert files["persons.csv"].decode().splitlines()[1].startswith("90,")
    assert "'=south,30" in files["places.csv"].decode()  # no spreadsheet takes it for a formula
    table = parquet.read_table(here / "out" / "2026" / "places.parquet")
    assert table.column_names == ["place", "visits", "visits_low", "visits_high"]
    assert table.schema.metadata[b"version"] == b"2026"
    page = files["index.html"].decode()
    assert page.count("<svg") == 2
    for inside in ("How many people", "A visit is a row.", "Who came.", "What is protected", "any one who", "ε = 120"):
        assert inside in page
    assert "<script" not in page
    assert "<b>" not in page
    assert "alert(&#x27;&amp;&#x27;)" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    stated = json.loads(files["privacy.json"])
    assert stated["guarantees"]["publication"] == "Pure 120"
    assert stated["units"] == {"protected": ["any one who with all their rows"], "kinds": ["who"]}
    assert "one person more" in stated["neighbours"]
    assert stated["versions"]["data"] == "2026"
    assert [question["cost"] for question in stated["questions"]] == ["Pure 40"] * 3
    assert all(question["mechanisms"] and question["laws"] for question in stated["questions"])
    assert len(stated["ledger"]["charges"]) == 3
    assert "Pure(1000)" in stated["guarantees"]["holds"]["lifetime"]
    assert run(["verify", str(here / "out/2026/certificate.json"), "--ledger", str(here / "ledger.db")]) == 0


def test_another_period_a_new_question_and_one_asked_anew_are_charged(here: Path) -> None:
    path = here / "report.toml"
    publish(read_edition(path))
    publish(read_edition(path, period="2027"))
    assert len(charged(here)) == 6
    assert (here / "out" / "2027" / "index.html").is_file()
    publish(read_edition(path), fresh=["persons"])
    assert len(charged(here)) == 7
    path.write_text(
        REPORT.replace("epsilon = 120", "epsilon = 160") + '\n[questions.new]\nsql = "SELECT COUNT(*) FROM visits"'
    )
    assert preview(read_edition(path)) == (Pure(40), True)
    publish(read_edition(path))
    assert len(charged(here)) == 8
    with pytest.raises(InvalidInput, match="no question"):
        publish(read_edition(path), fresh=["nobody"])


def test_all_questions_are_paid_for_or_none(here: Path) -> None:
    path = here / "report.toml"
    path.write_text(REPORT.replace("epsilon = 1000", "epsilon = 119"))
    edition = read_edition(path)
    assert preview(edition) == (Pure(120), False)
    with pytest.raises(BudgetExceeded):
        publish(edition)
    assert charged(here) == []
    assert not (here / "out" / "2026").exists()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('period = "2026"', "", "about a period"),
        ('ledger = "ledger.db"', "", "needs a ledger"),
        ("epsilon = 120", "", "name what"),
        ('title = "By place"', 'headline = "x"', "no setting 'headline'"),
        ('call = "quantile"', 'call = "quantile"\nsql = "SELECT 1"', "one of them"),
        ('call = "quantile"', 'call = "filter"', "no statistic 'filter'"),
        ('call = "quantile"', 'call = "_release"', "no statistic '_release'"),
        ('with = { column = "minutes"', 'with = { columns = "minutes"', "does not take"),
        ("[questions.persons]", '[questions."../persons"]', "names files"),
        (
            "[datasets.visits]",
            '[datasets.other]\ntables.v = {source = "x.csv", person = "a"}\n[datasets.visits]',
            "choose",
        ),
        ("epsilon = 120", 'epsilon = 120\nconfig = "tacit.toml"', "one of them"),
        ("COUNT(DISTINCT who) AS people", "nonsense", "nonsense"),
        ('folder = "out/{period}"', 'folder = "."', "holds no publication"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_spent(here: Path, old: str, new: str, words: str) -> None:
    assert old in REPORT
    (here / "report.toml").write_text(REPORT.replace(old, new))
    with pytest.raises(Exception, match=words):
        publish(read_edition(here / "report.toml"))
    assert not (here / "ledger.db").exists() or not charged_anything(here)


def charged_anything(folder: Path) -> bool:
    with open_ledger(folder / "ledger.db", read_only=True) as ledger:
        return "visits" in ledger.names() and bool(charges(ledger, "visits"))


def test_the_command_publishes(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = str(here / "report.toml")
    assert run(["publish", path, "--preview"]) == 0
    assert "would be charged Pure(120)" in capfd.readouterr().out
    assert run(["publish", path, "--folder", str(here / "there"), "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["stored"], told["cost"]) == (False, "Pure(120)")
    assert run(["publish", path]) == 0
    assert "answered before, so nothing was charged" in capfd.readouterr().out
    assert contents(here / "there") == contents(here / "out" / "2026")
    assert run(["publish", str(here / "nothing.toml")]) == 2
    assert run(["publish", path, "--fresh", "--preview", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["charge"] == "Pure(120)"


def test_many_values_are_drawn_as_a_line(here: Path) -> None:
    edition = read_edition(here / "report.toml")
    found = publish(edition).results["places"]
    from tacit.answers import Answers

    (first, *_) = found.values()
    many = Answers(dict.fromkeys(range(40), first), Pure(1))
    assert 'Z"' in picture(many, "x")
    assert picture(Answers({}, Pure(1)), "x") == ""


def test_killed_publications_go_on_where_they_stopped(tmp_path: Path) -> None:
    """A few of the 200 of benchmarks/publishing.py: real processes, SIGKILL at random moments."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.publishing.killing", str(tmp_path), "--publications", "3", "--seed", "5"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["publications"] == 3
    assert (found["twice"], found["unpaid"], found["unfinished"], found["unsound"]) == (0, 0, 0, [])


def test_a_series_goes_on_in_the_next_edition_at_no_cost(tmp_path: Path) -> None:
    days = [date(2026, 1 + i % 4, 5) for i in range(80)]
    parquet.write_table(pa.table({"who": list(range(80)), "day": days}), tmp_path / "visits.parquet")
    path = tmp_path / "report.toml"
    path.write_text(
        """
ledger = "ledger.db"
epsilon = 20
[datasets.visits]
budget.epsilon = 20
tables.visits = { source = "visits.parquet", person = "who" }
[questions.months]
table = "visits"
call = "series"
with = { day = "day", every = "month", start = "2026-01-01", until = "{period}-28" }
"""
    )
    edition = read_edition(path, period="2026-02")
    assert preview(edition) == (Pure(20), True)
    assert len(publish(edition).results["months"]) == 2
    assert publish(edition).stored
    later = read_edition(path, period="2026-04")
    assert preview(later) == (None, True)
    assert len(publish(later).results["months"]) == 3
    assert [charge.guarantee.numbers for charge in charged(tmp_path)] == [(20,), (0,)]
