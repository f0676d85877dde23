"""The survey and its report: every promise is on it, what fails is said, and the page needs nothing else."""

from dataclasses import replace
from html.parser import HTMLParser
from inspect import Parameter, signature
from typing import Any, cast

import pytest

from tacit.audit import survey
from tacit.audit.html import page
from tacit.audit.museum import EXHIBITS
from tacit.audit.questions import questions, table_of
from tacit.audit.registry import cases
from tacit.audit.statistical import LIBRARIES
from tacit.audit.survey import Job, SurveyLine, jobs, run, summary, work
from tacit.engines.requests import WEIGHT
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Zcdp
from tacit.tables import Table
from tacit.tables.statistics import quantiles
from tacit.tables.statistics.asking import Audited


def test_every_promise_is_on_the_list() -> None:
    planned = jobs(full=True)
    kinds = [job.kind for job in planned]
    assert kinds.count("mechanism") == len(list(cases()))
    assert kinds.count("statistic") == len(questions())
    assert kinds.count("museum") == len(EXHIBITS)
    assert kinds.count("library") == len(LIBRARIES)
    assert len(planned) == len(set(planned))
    assert len(jobs()) == len(planned) - sum(question.slow for question in questions())


def test_every_statistic_of_the_public_face_is_on_the_list() -> None:
    """A method of `Table` that takes a cost must be asked by some question; SQL asks the same statistics.

    A series is verified as a whole, over all short streams (`tacit.audit.cases.running_totals`). `describe` and `ask`
    ask statistics that are on the list already, or somebody's own.
    """
    watched = _Watched()
    for question in questions():
        question(watched)
    asked = watched.names
    public = {name for name in dir(Table) if not name.startswith("_") and _costs(getattr(Table, name))}
    assert {"sum", "median", "top"} <= public
    assert public - asked == {"sql", "series", "describe", "ask"}


class _Watched:
    """A table that notes what is called on it, and on what that returns."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __getattr__(self, name: str) -> "_Watched":
        self.names.add(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> "_Watched":
        return self


def _costs(method: object) -> bool:
    return callable(method) and any(p.name in ("cost", "epsilon") for p in _parameters(method))


def _parameters(method: Any) -> list[Parameter]:
    return list(signature(method).parameters.values())


def test_a_name_chooses_by_what_it_says_or_covers() -> None:
    assert {job.kind for job in jobs("Threshold-Scan")} == {"mechanism"}
    assert {job.kind for job in jobs("binary_search")} == {"mechanism", "museum"}
    assert all(job.full for job in jobs("laplace", full=True))
    with pytest.raises(InvalidInput, match="threshold_scan"):
        jobs("no such mechanism")


def test_a_mechanism_is_checked_exactly_from_samples_and_with_its_twins() -> None:
    (job,) = [job for job in jobs("randomised response", full=True) if job.kind == "mechanism"]
    line = work(job)
    assert line.passed
    assert (line.promised, line.exact, line.verdict) == ("Pure(1)", "ε = 1", "tight")
    assert line.sampled.startswith("ε ≥ 0.")
    assert line.note == "30 pairs; 2 of 2 broken twins caught"


def test_a_statistic_is_checked_draw_by_draw() -> None:
    line = work(next(job for job in jobs("sum") if job.kind == "statistic"))
    assert line.passed
    assert line.promised == "Pure(4)"
    assert line.note == "3 laws of its draws, over 20 tables"


@pytest.mark.parametrize("full", [False, True])
def test_what_holds_by_a_formula_is_not_called_broken(full: bool) -> None:
    """Of samples in full mode, wrong about a private statistic with probability 1e-7 each."""
    planned = jobs("sum, Gaussian noise", full) if full else jobs("Gaussian noise")
    lines = [work(job) for job in planned]
    assert "sum, Gaussian noise" in [line.name for line in lines]
    assert {line.verdict for line in lines if line.kind in ("mechanism", "statistic")} <= {"tight", "loose"}
    assert summary(lines).endswith("nothing broken.")


def test_a_statistic_that_only_may_be_broken_fails_as_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantiles, "WEIGHT", WEIGHT // 2)
    asked = Audited("median", Zcdp("0.5"), lambda t, **given: t.median("value", interval=False, **given))
    monkeypatch.setattr(survey, "questions", lambda: [asked])
    line = work(Job("statistic", 0, False))
    assert (line.verdict, line.passed, line.failed) == ("undecided", False, True)


def test_a_statistic_is_sampled_in_full() -> None:
    """Wrong about a private statistic with probability 1e-7."""
    line = work(next(job for job in jobs("persons", full=True) if job.kind == "statistic"))
    assert line.passed
    assert line.sampled.startswith("ε ≥ ")


def test_every_question_can_be_asked_of_a_table_again_and_again() -> None:
    for question in questions():
        table = table_of(("b", "c", "d") if question.network else (0, 2), question.cost, question.network)
        assert (table is None) == isinstance(question.cost, Approx)
        for _ in range(2 if table is not None else 0):
            assert survey._number(question, cast(Table, table)) is not None


def test_a_session_is_audited_in_one_run() -> None:
    """Wrong about a private session with probability 1e-7."""
    line = work(jobs("session")[0])
    assert line.passed
    assert line.verdict == "consistent"
    assert line.note.endswith("guesses right among 400 canaries")


def test_a_broken_mechanism_fails_the_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in cases() if case.name == "randomised response")
    wrong = replace(case, mechanism=next(iter(case.twins.values())), twins={"right": case.mechanism})
    monkeypatch.setattr(survey, "_cases", lambda: (wrong,))
    line = work(Job("mechanism", 0, False))
    assert (line.passed, line.verdict) == (False, "broken")
    monkeypatch.setattr(survey, "_cases", lambda: (replace(case, twins={"right": case.mechanism}),))
    missed = work(Job("mechanism", 0, True))
    assert (missed.passed, missed.verdict) == (False, "twin missed")


def test_a_check_that_cannot_be_finished_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(job: Job) -> SurveyLine:
        raise ZeroDivisionError("text that stays inside")

    monkeypatch.setitem(survey._WORK, "museum", fail)
    line = work(Job("museum", 0, False))
    assert (line.name, line.verdict, line.note, line.passed) == (EXHIBITS[0].name, "error", "ZeroDivisionError", False)


def test_lines_come_in_order_from_several_processes() -> None:
    planned = jobs("randomised response") + jobs("noise of scale") + jobs("opendp")
    lines = list(run(planned, processes=2))
    assert [line.kind for line in lines] == [job.kind for job in planned]
    assert all(line.passed for line in lines)


GOOD = SurveyLine("mechanism", "a <law>", "Pure(1)", "ε = 1", "ε ≥ 0.8", "tight", True, "5 pairs")
BAD = SurveyLine("statistic", "mean & co", "Pure(1)", "2 of each draw's promise", "–", "broken", False)
ABSENT = SurveyLine("library", "opendp, discrete Laplace noise", "Pure(1)", "–", "–", "not installed", True)


def test_the_summary_says_what_failed() -> None:
    assert summary([GOOD, ABSENT]) == "1 promise holds, 1 not run, nothing broken."
    assert summary([GOOD, BAD]) == "1 promise holds, 1 FAILED: mean & co (a promise of Tacit is broken)."
    assert summary([GOOD, replace(BAD, verdict="error")]) == "1 promise holds, 1 FAILED: mean & co."
    theirs = replace(ABSENT, verdict="broken")
    assert (
        summary([GOOD, theirs])
        == f"1 promise holds, broken outside of Tacit: {theirs.name}, nothing of Tacit is broken."
    )


@pytest.mark.parametrize("kind", ["mechanism", "statistic", "museum", "session"])
def test_a_broken_line_of_ours_is_never_taken_for_a_librarys(kind: str) -> None:
    ours, theirs = replace(BAD, kind=kind, passed=True), replace(ABSENT, verdict="broken")
    assert summary([GOOD, ours]) == "1 promise holds, 1 FAILED: mean & co (a promise of Tacit is broken)."
    both = summary([ours, theirs])
    assert f"broken outside of Tacit: {theirs.name}, 1 FAILED: mean & co" in both
    assert 'class="bad">broken' in page([ours], 1.0, False, "2030-01-02")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta",):
            self.open.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_is_well_formed_and_stands_alone() -> None:
    text = page([GOOD, BAD, ABSENT], 12.3, False, "2030-01-02")
    reader = _Reader()
    reader.feed(text)
    assert reader.open == []
    assert reader.links == []
    assert {"script", "link", "img"}.isdisjoint(reader.open)
    assert "a <law>" in reader.text
    assert "mean & co" in reader.text
    assert "a &lt;law&gt;" in text
    assert 'class="bad">broken' in text
    assert 'class="absent">not installed' in text
    assert "quick mode, 2030-01-02, 12 seconds" in text
