"""The page of results says what the stored results say, and a figure that falls short is called short."""

import importlib
import json
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("TACIT_BENCH_RESULTS", raising=False)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("report")


def test_the_page_is_made_from_the_stored_results(report: Any) -> None:
    """What is older than its code changes with every edit, so `report --check` holds that paragraph to the code."""
    stored = (BENCHMARKS / "RESULTS.md").read_text()
    age = stored.split("\n\n")[2]
    assert age == report.age([]) or age.startswith(report.age(["x"]).split(" x.")[0])
    assert stored == report.page(report.record.read, age), "run `python -m benchmarks report` and commit the page"


def test_a_page_says_which_studies_are_older_than_their_code(report: Any) -> None:
    assert "to be run again: median, serve." in report.page(lambda _: {}, report.age(["median", "serve"]))
    assert "no study was older" in report.page(lambda _: {}, report.age([]))


def test_a_figure_is_met_short_or_not_measured(report: Any) -> None:
    stored = report.record.read("searches")
    figure = next(figure for figure in report.EARLIER if "downward scan" in figure.name)

    def judged(reports: dict[str, Any]) -> str:
        return str(importlib.import_module("scoreboard").judged(figure, lambda name: reports.get(name, {}))[1])

    assert judged({"searches": stored}) == "met"
    assert judged({}) == "not measured"
    worse = json.loads(json.dumps(stored))
    worse["windows"]["1"]["scan_down"]["stated"] = 80
    assert judged({"searches": worse}) == "short"


def test_cells_with_fewer_releases_are_listed_with_the_reason(report: Any) -> None:
    rows = [
        ["sum", "lognormal", 20, 1.0, "tacit", "none", 0.2, 0.3, 200],
        ["sum", "lognormal", 20, 1.0, "oracle", "the truth", 0.1, None, 0],
        ["max", "lognormal", 20, 1.0, "slow", "sensible", 0.3, 0.4, 40],
        ["max", "signed", 20, 1.0, "slow", "sensible", 0.3, 0.4, 120],
        ["max", "lognormal", 20, 1.0, "strict", "automatic", None, None, 0],
    ]
    text = report.accuracy({"rows": rows, "peers": {}, "fewer": {"slow": "it takes its time"}})
    assert "1 of 3 cells have 200 releases; in 1 more the peer refused every release." in text
    assert "| slow | max | 20 | 2 | 40 to 120 |" in text
    assert "slow: it takes its time." in text
    assert "fewer" not in report.accuracy({"rows": rows[:2], "peers": {}})


def test_a_peer_measured_apart_has_a_table_of_its_own(report: Any) -> None:
    where = {"shape": "lognormal", "persons": 2_000, "epsilon": "1", "bound": "sensible", "releases": 20}
    one = {"median": 0.02, "p95": 0.05, "tacit": 0.01, "seconds": 4.5}
    made = report.tumult({"versions": {"tmlt.analytics": "0.21.0"}, **where, "statistics": {"sum": one}})
    assert "| sum | 0.02 (0.05) | 0.01 | 4.5 |" in made
    assert report.tumult({}) == ""


def test_no_result_names_a_host_or_a_path() -> None:
    for path in (BENCHMARKS / "results").glob("*.json"):
        text = path.read_text()
        assert not any(word in text for word in ("/home/", "/root/", "/tmp/", "/work/", "hostname")), path.name


def test_sentences_have_their_share_of_truth_by_shape(report: Any) -> None:
    cell = {"statistic": "sum", "sentence": "interval of the truth", "shape": "signed"}
    cells = [cell | {"rows": 5, "true": 9, "runs": 10}, cell | {"rows": 20, "true": 10, "runs": 10}]
    text = report.coverage({"confidence": 0.95, "below": 0, "cells": cells})
    assert "| sum | interval of the truth | 20 | 95.0 (90) |" in text
    assert "0 of 2 cells" in text


def test_the_scoreboard_counts_what_stands_below_it(report: Any) -> None:
    kept = cache(report.record.read)
    made = report.scoreboard(kept)
    below = report.asked(kept, report.LATEST) + report.asked(kept, report.EARLIER)
    met, short = (len(re.findall(rf"\| {word} \|$", below, re.MULTILINE)) for word in ("met", "short"))
    assert f"| **all** | **{met + short}** | **{met}** | **{short}** | **0** |" in made
    assert made.count("\n") <= 45
    assert all(len(line) <= 130 for line in made.splitlines())
    assert (BENCHMARKS / "RESULTS.md").read_text().split("\n## ")[1].startswith("Scoreboard")


def test_five_queries_stand_beside_those_of_an_extension(report: Any) -> None:
    found = {name: {"customers": {"error": 0.0123}} for name in ("Q1", "Q5", "Q6", "Q14", "Q19")}
    text = report.extension({"queries": found, "lines": 6_001_215, "runs": 3})
    assert "| Q1 | 0.85 % | 25.5 % | 1.2 % |" in text
    assert "scale 30" in text
    assert "6,001,215" in text
    assert report.extension({}) == ""


@pytest.fixture
def freshness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    found = importlib.import_module("freshness")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(found, "HERE", tmp_path / "benchmarks")
    monkeypatch.setattr(found, "SOURCE", tmp_path / "src")
    return found


FILES = {
    "benchmarks/study.py": "import helper\nimport record\nfrom tacit.rooms import made\n",
    "benchmarks/attributes.py": "import tacit\n\ntacit.audit.all()\n",
    "benchmarks/starting.py": "import subprocess\n",
    "benchmarks/helper.py": "x = 1\n",
    "benchmarks/record.py": "import report\n",
    "benchmarks/report.py": "x = 1\n",
    "benchmarks/ratio.py": "x = 1\n",
    "src/tacit/__init__.py": 'LATER = {"plan": "tacit.plans", "word": "ratio"}\n',
    "src/tacit/plans.py": "z = 1\n",
    "src/tacit/types.py": "z = 1\n",
    "src/tacit/rooms.py": '"""Words."""\n\n\ndef made():\n    """Words."""\n    return 1  # a remark\n',
    "src/tacit/other.py": "y = 1\n",
    "src/tacit/audit/__init__.py": (
        "if TYPE_CHECKING:\n    import tacit.types\nfrom tacit.audit import cases as package\nimport pkgutil\n"
    ),
    "src/tacit/audit/cases/__init__.py": "",
    "src/tacit/audit/cases/sums.py": "import_module('tacit.answers.report')\n",
    "src/tacit/answers/__init__.py": "",
    "src/tacit/answers/report.py": "from helper.missing import ratio\n",
}
"""A small project: what a study loads, what a name in it means, and what shows results."""


def changed(freshness: Any, path: Path, text: str) -> str:
    path.write_text(text)
    for cached in (freshness.imported, freshness._read):
        cached.cache_clear()
    return str(freshness.fingerprint("study"))


def names(freshness: Any, study: str) -> list[str]:
    return [str(path.relative_to(freshness.HERE.parent)) for path in freshness.code(study)]


def test_a_study_is_as_old_as_what_its_code_does(freshness: Any, tmp_path: Path) -> None:
    before = freshness.fingerprint("study")
    rooms, other = tmp_path / "src/tacit/rooms.py", tmp_path / "src/tacit/other.py"
    assert changed(freshness, other, "y = 2\n") == before
    assert changed(freshness, rooms, '"""Others."""\ndef made():\n    return 1\n') == before
    assert freshness.state("study", {"code": before}) == "fresh"
    assert changed(freshness, rooms, "def made():\n    return 2\n") != before
    assert freshness.state("study", {"code": before}) == "its code has changed since"
    assert freshness.state("study", {}) == "from before fingerprints"
    assert freshness.state("gone", {}) == "its script is gone"


def test_a_name_means_what_python_would_find(freshness: Any) -> None:
    """A string is no import but on the face of a package; what shows results is no part of a study."""
    common = ["src/tacit/__init__.py", "src/tacit/plans.py"]
    found = names(freshness, "study")
    assert found == ["benchmarks/helper.py", "benchmarks/study.py", *common, "src/tacit/rooms.py"]
    audit = [f"src/tacit/audit/{name}" for name in ("__init__.py", "cases/__init__.py", "cases/sums.py")]
    answers = ["src/tacit/answers/__init__.py", "src/tacit/answers/report.py"]
    found = names(freshness, "attributes")
    helper = ["benchmarks/attributes.py", "benchmarks/helper.py"]
    assert sorted(found) == sorted([*helper, *common, *audit, *answers])


def test_a_study_that_starts_processes_counts_all_it_could_import(
    freshness: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others count what they had loaded."""

    def load(*files: str) -> None:
        places = [SimpleNamespace(__file__=str(freshness.HERE.parent / file)) for file in files]
        monkeypatch.setattr(freshness.sys, "modules", dict(enumerate(places)))

    own = ["benchmarks/study.py", "src/tacit/rooms.py"]
    load(*own, "benchmarks/record.py", "benchmarks/report.py")
    assert freshness.loaded("study") == own
    load(*own, "benchmarks/starting.py")
    assert freshness.loaded("study") is None
    load("src/tacit/rooms.py")
    assert freshness.loaded("study") is None
    load("benchmarks/starting.py", "src/tacit/rooms.py")
    assert freshness.loaded("starting") is None
    assert freshness.loaded("starting", worker=True) == ["benchmarks/starting.py", "src/tacit/rooms.py"]
    load(*own, "benchmarks/starting.py")
    assert freshness.loaded("study", alone=True) == ["benchmarks/starting.py", *own]
    load("benchmarks/starting.py", "benchmarks/study.py")
    assert freshness.loaded("study", worker=True) is None


def test_a_study_in_parts_is_as_old_as_the_oldest(freshness: Any, tmp_path: Path) -> None:
    parts = {name: freshness.traced("study", [f"src/tacit/{name}.py"]) for name in ("rooms", "other")}
    assert freshness.state("study", {"parts": parts}) == "fresh"
    changed(freshness, tmp_path / "src/tacit/other.py", "y = 2\n")
    assert freshness.state("study", {"parts": parts}) == "other: its code has changed since"
    assert freshness.state("study", {"parts": parts | {"rooms": {}}}) == "rooms: from before fingerprints"


def test_a_study_does_not_go_on_from_rows_of_other_code(
    freshness: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever shows results reads them all the same; a study in parts looks at each of them."""
    monkeypatch.setenv("TACIT_BENCH_RESULTS", str(tmp_path))
    record = importlib.import_module("record")
    monkeypatch.setattr(record, "state", freshness.state)
    stored = {"facts": freshness.traced("study", None), "rows": [1]}
    (tmp_path / "study.json").write_text(json.dumps(stored))
    monkeypatch.setattr("sys.argv", ["benchmarks/study.py"])
    assert record.read("study") == stored
    changed(freshness, tmp_path / "benchmarks/helper.py", "x = 2\n")
    assert record.read("study") == {}
    monkeypatch.setattr("sys.argv", ["benchmarks/report.py"])
    assert record.read("study") == stored
    assert record.read("another") == {}


def test_a_check_names_studies_that_are_older_than_their_code(
    report: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        report, "state", lambda study, facts: "its code has changed since" if study == "median" else "fresh"
    )
    monkeypatch.setattr(report, "page", lambda results, age: (BENCHMARKS / "RESULTS.md").read_text())
    assert report.check() == ["median"]
    assert "median               its code has changed since" in capsys.readouterr().out
    monkeypatch.setattr(report, "page", lambda results, age: "another")
    assert report.check() == ["median", "RESULTS.md"]
