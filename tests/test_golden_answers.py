"""Golden answers: with a seeded source every statistic answers bit for bit as it did when this was recorded.

``golden_answers.json`` holds, for each case of `tests.golden_questions`, ``numbers`` (values, intervals, caps, costs,
the class of a refusal) and ``words`` (how the answer speaks). ``golden_ledger.sql``, with its head, is a ledger
that was written at the time; ``golden_ledger.json`` holds the numbers of its stored answers.

Numbers change only when a mechanism is meant to change. After a change of words that is meant, run
``python -m tests.test_golden_answers words`` and read the difference: it writes the words alone and refuses where a
number differs. ``python -m tests.test_golden_answers new`` records the cases that are not there yet. ``all`` writes
the whole recording; ``ledger`` writes the ledger anew, which defeats its purpose once a version has been released.

A sixteenth of the cases, chosen by a hash of their names, are asked in every run of the suite; before and after moving
rooms ask all of them: ``TACIT_GOLDEN=all python -m pytest tests/test_golden_answers.py`` (about a minute).
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import tacit
from tacit import Answer, Answers, Private, Session, Table, checker
from tests.golden_questions import COSTS, Case, Opened, Reseeded, _edges, _table, _usual, all_cases
from tests.support import as_private

RECORDING = Path(__file__).with_name("golden_answers.json")
LEDGER = Path(__file__).with_name("golden_ledger.sql")
CASES: dict[str, Case] = dict(all_cases())
ALWAYS = ("usual max(i, method=scan, per=row) ε", "usual quantile(d, 0.9, method=propose_test_release) εδ")
"""Asked in every run, because the hash leaves their methods out."""
CHOSEN = [
    name
    for name in CASES
    if os.environ.get("TACIT_GOLDEN") == "all"
    or name in ALWAYS
    or (sha256(name.encode()).digest()[0] % 16 == 0 and not name.startswith("plan "))
]
WITHOUT_CERTIFICATE = ("wrap ", "sample_and_aggregate ")
LEVELS = ("0.5", "0.95", "0.999")


# ---- the canonical form -------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A value as JSON holds it exactly; its kind is told with it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return f"float {float(value)!r}"
    if isinstance(value, datetime | date):
        return f"{'datetime' if isinstance(value, datetime) else 'date'} {value.isoformat()}"
    if isinstance(value, Fraction | Decimal):
        return f"{'fraction' if isinstance(value, Fraction) else 'decimal'} {value}"
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    assert isinstance(value, str), type(value)
    return f"text {value}"


def numbers(answer: Any) -> Any:
    """Everything about an answer that a later version must repeat exactly."""
    if isinstance(answer, Answers):
        pairs = [[plain(key), numbers(one)] for key, one in answer.items()]
        return {"cost": repr(answer.guarantee), "name": answer.name, "answers": pairs}
    if not isinstance(answer, Answer):
        return plain(answer)
    intervals = [answer.interval(level) for level in LEVELS]
    found = {
        "value": plain(answer.value),
        "cost": repr(answer.guarantee),
        "intervals": [[plain(x.low), plain(x.high), x.covers] for x in intervals],
        "noise_std": plain(answer.noise_std),
        "cap": plain(answer.cap),
        "above_cap": [answer.persons_above_cap(level) for level in LEVELS],
        "at_least": [plain(answer.at_least(level)) for level in LEVELS],
        "per": answer.per,
        "unit": answer.unit,
        "private": answer.private,
        "stored": answer.stored,
    }
    return {key: part for key, part in found.items() if part not in (None, [None] * 3)}


def _explained(answer: Answer) -> str:
    return "\n".join(line for line in answer.explain().splitlines() if not line.startswith("asked "))


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:12]


def _timeless(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _timeless(inner) for key, inner in part.items() if key != "asked"}
    return [_timeless(inner) for inner in part] if isinstance(part, list) else part


def words(answer: Any) -> Any:
    """How an answer speaks: its account in full, its other views as digests."""
    if not isinstance(answer, Answer | Answers):
        return None
    views = {
        "repr": _digest(repr(answer)),
        "dict": _digest(json.dumps(_timeless(answer.to_dict()), allow_nan=False)),
    }
    if isinstance(answer, Answer):
        return {"explain": _explained(answer), "str": _digest(str(answer)), **views}
    accounts = [_explained(one) for one in answer.values()]
    arrow = answer.to_arrow()
    views |= {"arrow": _digest(str(arrow.schema), str(arrow.to_pylist())), "html": _digest(answer._repr_html_())}
    return {"str": str(answer), "explain": _digest(*accounts), "first": accounts[0] if accounts else "", **views}


def outcome(opened: Opened, name: str) -> dict[str, Any]:
    """What a case gives now."""
    opened.source.seed(name)
    try:
        answer = CASES[name](opened)
    except tacit.TacitError as error:
        return {"numbers": {"refused": type(error).__name__}, "words": None}
    if isinstance(answer, str):  # what a question would cost is words
        return {"numbers": None, "words": answer}
    found = {"numbers": numbers(answer), "words": words(answer)}
    if isinstance(answer, Answer | Answers) and answer.releases:
        found["verdict"] = checker.check(as_private(answer.certificate()))
    return found


# ---- the recording ------------------------------------------------------------------------------------------------


@cache
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDING.read_text(encoding="utf-8"))
    return found


def test_every_case_is_recorded() -> None:
    assert list(recorded()) == list(CASES)
    spent = [name for name, found in recorded().items() if found["numbers"] == {"refused": "BudgetExceeded"}]
    assert spent == ["refused: beyond the budget"]  # otherwise a case would depend on those before it


Outcome = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def now() -> Iterator[Outcome]:
    """The outcome of a case, found once."""
    opened = Opened()
    yield cache(lambda name: outcome(opened, name))
    opened.close()


@pytest.mark.parametrize("case", CHOSEN)
def test_the_numbers_are_the_recorded_ones(case: str, now: Outcome) -> None:
    assert now(case)["numbers"] == recorded()[case]["numbers"]


@pytest.mark.parametrize("case", CHOSEN)
def test_the_words_are_the_recorded_ones(case: str, now: Outcome) -> None:
    assert now(case)["words"] == recorded()[case]["words"]


@pytest.mark.parametrize("case", [case for case in CHOSEN if not case.startswith(WITHOUT_CERTIFICATE)])
def test_the_certificate_is_verified(case: str, now: Outcome) -> None:
    """The laws and prices of every statistic, cost and method are those that the checker computes by itself."""
    found = now(case).get("verdict")
    assert found is None or (found.wrong, found.uncovered) == ([], []), str(found)
    asked = isinstance(now(case)["words"], dict) and "refused" not in now(case)["numbers"]
    assert found is not None or not asked, "an answer without a certificate"


# ---- a ledger of before -------------------------------------------------------------------------------------------

ASKED: dict[str, Callable[[Table, Table], Any]] = {
    "persons": lambda t, e: t.persons(**COSTS["ε"]),
    "count": lambda t, e: t.count(**COSTS["ρ"]),
    "sum": lambda t, e: t.sum("i", **COSTS["εδ"]),
    "pure sum": lambda t, e: t.filter("b").sum("d", **COSTS["ε"]),
    "mean": lambda t, e: t.mean("f", **COSTS["ε"]),
    "mean of persons": lambda t, e: t.mean("i", per="person", range=(0, 100), **COSTS["ρ"]),
    "variance": lambda t, e: t.variance("d", **COSTS["ε"]),
    "std": lambda t, e: t.std("i", **COSTS["εδ"]),
    "max": lambda t, e: t.max("at", **COSTS["ε"]),
    "largest": lambda t, e: t.largest("i", 3, method="permute_and_flip", **COSTS["ε"]),
    "median": lambda t, e: t.median("day", **COSTS["ε"]),
    "quantiles": lambda t, e: t.quantile("f", ["0.25", "0.75"], **COSTS["ρ"]),
    "smooth median": lambda t, e: t.median("i", method="smooth", range=(-20, 100), **COSTS["ε"]),
    "tested median": lambda t, e: t.median("f", method="propose_test_release", **COSTS["εδ"]),
    "ratio": lambda t, e: t.ratio("b", **COSTS["ε"]),
    "local ratio": lambda t, e: t.ratio("b", method="local", **COSTS["εδ"]),
    "nunique": lambda t, e: t.nunique("g", **COSTS["ε"]),
    "modal count": lambda t, e: t.modal_count("g", **COSTS["ε"]),
    "maximum degree": lambda t, e: t.max_degree(**COSTS["ε"]),
    "histogram": lambda t, e: t.histogram("i", [-20, 0, 40, 100], **COSTS["ε"]),
    "mode": lambda t, e: t.mode("g", ["x", "y"], **COSTS["ε"]),
    "stable mode": lambda t, e: t.mode("g", per="person", **COSTS["εδ"]),
    "top": lambda t, e: t.top("g", ["x", "y", "z"], 2, **COSTS["ε"]),
    "groups": lambda t, e: t.group_by(["g", "b"], [("x", True), ("y", False)]).sum("d", **COSTS["ρ"]),
    "groups with ε": lambda t, e: t.group_by("g", ["x", "y"]).sum("d", **COSTS["ε"]),
    "group means": lambda t, e: t.group_by("g", ["x", "y"]).mean("i", **COSTS["ε"]),
    "found groups": lambda t, e: t.group_by("g").persons(**COSTS["εδ"]),
    "found sums": lambda t, e: t.group_by("g").sum("i", **COSTS["εδ"]),
    "SQL": lambda t, e: t.sql("SELECT b, COUNT(*), SUM(i) FROM t GROUP BY b", **COSTS["ε"]),
    "edges count": lambda t, e: e.count(**COSTS["ε"]),
    "edges sum": lambda t, e: e.sum("v", **COSTS["ε"]),
    "edges sum without a cap": lambda t, e: e.sum("v", method="shifted_inverse", **COSTS["ε"]),
    "edges maximum": lambda t, e: e.max("v", **COSTS["ε"]),
    "edges nunique": lambda t, e: e.nunique("k", **COSTS["ε"]),
}


def _answers(ledger: Path, sample: bool, names: list[str]) -> tuple[dict[str, Any], str, str]:
    """Some questions asked under a ledger, and what was spent before and after."""
    source = Reseeded()
    tables = {"t": Private(_table(list(_usual())), "who"), "e": Private(_edges(), ["a", "b"])}
    budget, name = tacit.Approx(1000, "0.01"), "sampled" if sample else "whole"
    options: dict[str, Any] = {"sample": "0.5"} if sample else {}
    with Session(tables, budget, ledger=ledger, name=name, randomness=source, **options) as session:
        before, found = repr(session.budget.spent), {}
        for question in names:
            source.seed(question)
            found[question] = ASKED[question](session["t"], session["e"])
        return found, before, repr(session.budget.spent)


SAMPLED = ["persons", "sum", "mean", "max", "median", "tested median", "groups with ε", "found groups"]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("golden") / "ledger.db"
    connection = sqlite3.connect(path)
    connection.executescript(LEDGER.read_text(encoding="utf-8"))
    connection.close()
    path.chmod(0o600)
    path.with_name("ledger.db.head").write_bytes(LEDGER.with_suffix(".head").read_bytes())
    return path


def test_a_ledger_of_before_is_sound(ledger: Path) -> None:
    from tacit.ledger import open_ledger, verify

    with open_ledger(ledger) as opened:
        for name in ("whole", "sampled"):
            found = verify(opened, name)
            assert found.sound, str(found)


@pytest.mark.parametrize("sample", [False, True])
def test_what_a_ledger_of_before_holds_is_answered_at_no_cost(ledger: Path, sample: bool) -> None:
    names = SAMPLED if sample else list(ASKED)
    found, before, after = _answers(ledger, sample, names)
    stored = json.loads(LEDGER.with_suffix(".json").read_text(encoding="utf-8"))["sampled" if sample else "whole"]
    for name, answer in found.items():
        assert numbers(answer) == stored[name], name
    assert before == after


def write_ledger() -> None:
    held = {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        for sample in (False, True):
            names = SAMPLED if sample else list(ASKED)
            _answers(path, sample, names)
            again, before, after = _answers(path, sample, names)
            assert before == after
            held["sampled" if sample else "whole"] = {name: numbers(answer) for name, answer in again.items()}
        connection = sqlite3.connect(path)
        facts = [f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};" for name in PRAGMAS]
        LEDGER.write_text("\n".join([*facts, *connection.iterdump()]) + "\n", encoding="utf-8")
        connection.close()
        LEDGER.with_suffix(".head").write_bytes(path.with_name("ledger.db.head").read_bytes())
    LEDGER.with_suffix(".json").write_text(_lines(held), encoding="utf-8")


PRAGMAS = ("application_id", "user_version")


# ---- recording ----------------------------------------------------------------------------------------------------


def _lines(found: dict[str, Any]) -> str:
    """JSON with one line for each case."""
    rows = (f"{json.dumps(k, ensure_ascii=False)}: {json.dumps(v, ensure_ascii=False)}" for k, v in found.items())
    return "{\n" + ",\n".join(rows) + "\n}\n"


def record(what: str) -> None:
    opened = Opened()
    before = {} if what == "all" else recorded()
    found = {}
    for name in CASES:
        if what == "new" and name in before:
            found[name] = before[name]
            continue
        found[name] = {part: known for part, known in outcome(opened, name).items() if part != "verdict"}
        if what == "words" and found[name]["numbers"] != before[name]["numbers"]:
            raise SystemExit(f"the numbers of {name!r} differ; words alone were to be written.")
    opened.close()
    RECORDING.write_text(_lines(found), encoding="utf-8")


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) == 2 else ""
    if wanted not in ("all", "new", "words", "ledger"):
        raise SystemExit(__doc__)
    write_ledger() if wanted == "ledger" else record(wanted)
