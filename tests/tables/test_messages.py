"""What neighbours show: every message, log line, warning, view and exception is the same with and without a person.

Draws are replaced by constants that depend on public facts alone. What an answer then still shows would be something
that was not drawn; so all views must agree to the letter between neighbouring datasets.
"""

import gc
import logging
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import zip_longest
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit import Approx, EngineError, Private, Public, Session, TacitError
from tacit.answers.flows import CappedFlow
from tacit.answers.totals import CappedTotal
from tacit.engines import FAILED
from tacit.mechanisms.choose.stable_keys import StableKeys
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.inverse.cuts import CutLaw
from tacit.mechanisms.inverse.shifted_inverse import ShiftedInverseLaw
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise.noise import NoiseVector, NoisyInteger
from tacit.mechanisms.together import Together
from tacit.mechanisms.totals.capped_flow import CappedFlowLaw
from tacit.mechanisms.totals.scan_and_release import CappedTotalLaw
from tacit.tables.releasing.certifying import Drawn
from tacit.tables.releasing.room import Room
from tests.tables.support import TYPES, Row, arrow, found, questions, shown
from tests.tables.test_refusals import ASKED, FILTERS, PUBLIC, QUERIES

BASE: list[Row] = [
    (1, 10, 1.5, Decimal("1.25"), True, date(2020, 2, 29), datetime(2020, 2, 29, 12), "x"),
    (1, 20, 2.5, Decimal("2.50"), None, date(2021, 2, 28), datetime(2021, 2, 28, 12), "y"),
    (2, 30, 3.5, Decimal("0.01"), False, date(2022, 1, 1), datetime(2022, 1, 1), "x"),
]
PERSON: list[Row] = [
    (9, 2**63 - 1, 1e308, Decimal("999999999999999999.99"), True, date.max, datetime(9999, 12, 31), "secret"),
    (9, -(2**63), nan, None, None, None, None, None),
    (9, None, inf, None, None, date.min, datetime.min, "secret'\n\"--"),
    (9, None, -inf, None, None, date.min, datetime.min, "\u202esecret"),
] * 10


class ConstantRoom(Room):
    """Draws what public facts alone decide."""

    def draw(self, law: Law[Any], part: str = "") -> Any:
        self._spent.setdefault(part, []).append(law.guarantee)
        value = self._constant(law)
        self.drawn.append(Drawn.of(part, law, value))
        return value

    def _constant(self, law: Law[Any]) -> Any:
        law = law._inner if isinstance(law, ShiftedInverseLaw) else law
        if isinstance(law, Together):
            return tuple(map(self._constant, law._parts))
        if isinstance(law, CutLaw):
            return (law.first + law.last) // 2
        if isinstance(law, CappedFlowLaw):
            return CappedFlow(law.design.factor * law.levels[3], 1000, law._epsilon, law.design)
        if isinstance(law, GridLaw):
            first, last = law.grid.first, law.grid.last
            assert first is not None
            assert last is not None
            return law.grid.answer((first + last) // 2 + (last - first) // 40)
        if isinstance(law, NoisyInteger):
            return 1000
        if isinstance(law, NoiseVector):
            return tuple(1000 + i for i in range(len(law._parts)))
        if isinstance(law, CappedTotalLaw):
            return CappedTotal(law.caps[30], 5000, 3, False, law._epsilon)
        assert isinstance(law, StableKeys)
        return frozenset({((Fraction(5, 4),), 20)})


Views = list[str]


OTHERS: set[threading.Thread] = set()
"""Threads that other tests of this process have left: a client that tries again to reach a server that is gone."""


@pytest.fixture(autouse=True)
def others() -> None:
    """Who was here before the test is not listened to."""
    OTHERS.clear()
    OTHERS.update(set(threading.enumerate()) - {threading.current_thread()})


@contextmanager
def listening() -> Iterator[Views]:
    """Collects log lines of every level and warnings, of this test's threads alone.

    What other tests left as garbage must not speak either while it is taken away, as objects of Spark do.
    """
    lines: Views = []

    def hear(line: str) -> None:
        if threading.current_thread() not in OTHERS:
            lines.append(line)

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            hear(f"{record.name} {record.levelname} {record.getMessage()}")

    def warned(message: Any, category: type[Warning], *_: Any) -> None:
        hear(f"{category.__name__} {message}")

    root, handler = logging.getLogger(), Collector()
    level, collecting = root.level, gc.isenabled()
    gc.disable()
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            setattr(warnings, "showwarning", warned)  # noqa: B010
            yield lines
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        if collecting:
            gc.enable()


def said(ask: Callable[[], Any]) -> Views:
    """All that a question says, times left out."""
    with listening() as lines:
        try:
            views = shown(ask())
        except TacitError as error:
            views = [type(error).__name__, str(error), repr(error.__cause__), repr(error.__context__)]
    return [_timeless(text) for text in (*views, *lines)]


def _timeless(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?(\+00:00)?( UTC)?", "TIME", text)


@contextmanager
def opened(rows: list[Row]) -> Iterator[Session]:
    tables: dict[str, Private | Public] = {"t": Private(arrow(rows), person="who"), "pub": Public(PUBLIC)}
    with Session(tables, budget=Approx(10**5, "0.9")) as session:
        yield session


def everything(session: Session) -> dict[str, Views]:
    """What every question, refusal and repr says."""
    t = session["t"]
    heard = {name: said(lambda ask=ask: ask(epsilon=1)) for name, ask in questions(t)}  # type: ignore[misc]
    heard |= {name: said(lambda ask=ask: ask(epsilon=1, delta="0.1")) for name, ask in found(t)}  # type: ignore[misc]
    heard |= {"again": said(lambda: t.sum("i", epsilon=1)), "described": [_timeless(view) for view in described(t)]}
    heard |= {name: said(lambda ask=ask: ask(t)) for name, (ask, _) in ASKED.items()}  # type: ignore[misc]
    heard |= {text: said(lambda text=text: t.filter(text)) for text in FILTERS}  # type: ignore[misc]
    heard |= {query: said(lambda query=query: session.sql(query, epsilon=1)) for query in QUERIES}  # type: ignore[misc]
    heard |= {"dear": said(lambda: t.persons(epsilon=10**6)), "preview": [repr(session.cost(SQL, epsilon=1).to_dict())]}
    heard |= {"sql": said(lambda: session.sql(SQL, epsilon=1)), "reprs": [repr(session), repr(t), repr(t.budget)]}
    return heard


def described(table: tacit.Table) -> Views:
    """All that a description shows."""
    whole = table.describe(epsilon=1)
    views = [str(whole), repr(whole), whole._repr_html_(), whole.to_html(), repr(whole.to_dict())]
    return [*views, str(whole.answers.to_pandas()), whole.told("command line")]


def differences(first: Views, second: Views) -> list[tuple[str, str]]:
    """What is shown of one and not of the other, so that a failure says what it found."""
    return [pair for pair in zip_longest(first, second, fillvalue="nothing") if pair[0] != pair[1]]


SQL = "SELECT SUM(i) AS total, COUNT(*), MAX(f) FROM t JOIN pub ON g = k WHERE i > 0"


def test_everything_shown_is_the_same_with_and_without_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.tables.releasing.releaser.Room", ConstantRoom)
    with opened(BASE) as without, opened(BASE + PERSON) as with_one:
        first = everything(without)
        assert len(first) > 100
        failed = [name for name, views in first.items() if any(FAILED in view for view in views)]
        assert failed == ["sum by found g and b"]  # the constant key is that of one column
        second = everything(with_one)
        assert list(second) == list(first)
        different = {name: differences(first[name], second[name]) for name in first if first[name] != second[name]}
        assert different == {}


def test_constant_draws_do_change_what_is_shown() -> None:
    """The comparison above could fail: with real draws the views differ."""
    with opened(BASE) as session:
        assert said(lambda: session["t"].sum("i", epsilon=1)) != said(lambda: session["t"].max("i", epsilon=1))
        values = {said(lambda: session["t"].count(epsilon="0.01", fresh=True))[0] for _ in range(8)}
        assert len(values) > 1


class Speaking:
    """Says something when it is taken away, from a cycle that only the collector of garbage finds."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        logging.getLogger("garbage").warning("of another test")


def test_a_test_hears_its_own_threads_and_nobody_else() -> None:
    """What others say in the same process is no difference between neighbours; what a question says is heard."""
    asked, end = threading.Event(), threading.Event()

    def talk() -> None:
        while not end.is_set():
            logging.getLogger("another").debug("still here")
            asked.set()
            end.wait(0.001)

    before = threading.Thread(target=talk)
    before.start()
    OTHERS.add(before)
    Speaking()
    try:
        with listening() as lines:
            asked.clear()
            asked.wait(60)
            mine = threading.Thread(target=lambda: logging.getLogger("mine").debug("a thread of the question"))
            mine.start()
            mine.join()
            warnings.warn("of the question", stacklevel=1)
            several = [[n] for n in range(50_000)]  # enough that the collector would look for garbage
        assert len(several) == 50_000
        assert lines == ["mine DEBUG a thread of the question", "UserWarning of the question"]
    finally:
        end.set()
        before.join()
    gc.collect()
    assert gc.isenabled()


# ---- failures after the charge ----------------------------------------------------------------------------------


class LeakingRoom(Room):
    """Fails with a row in its message."""

    def draw(self, law: Law[Any], part: str = "") -> Any:
        raise ValueError("Original Line: 9, secret")


def test_a_failure_is_charged_and_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.tables.releasing.releaser.Room", LeakingRoom)
    with opened(BASE) as session:
        before = session.budget.spent
        with listening() as lines, pytest.raises(EngineError) as caught:
            session["t"].sum("i", epsilon=1)
        assert str(caught.value) == FAILED
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        assert session.budget.spent.epsilon == before.epsilon + 1  # type: ignore[attr-defined]
        assert not any("secret" in line for line in lines)
        monkeypatch.undo()
        assert not session["t"].sum("i", epsilon=1).stored  # a failure is no answer


def test_a_source_that_goes_away_ends_in_the_same_sentence(tmp_path: Path) -> None:
    heard = []
    for name, rows in (("a", BASE), ("b", BASE + PERSON)):
        path = tmp_path / name / "t.parquet"
        path.parent.mkdir()
        import pyarrow.parquet as pq

        pq.write_table(arrow(rows), path)
        t = tacit.read(path, person="who", budget=Approx(10, "0.1"))
        path.unlink()
        heard.append(said(lambda t=t: t.sum("i", epsilon=1)))  # type: ignore[misc]
        assert t.budget.spent.epsilon == 1  # type: ignore[attr-defined]
    assert heard[0] == heard[1]
    assert heard[0][1] == FAILED


LINES = ["9,x,y", "9,1,2,3,secret", '9,"secret', "9," + "9" * 400, "\xff\xff,secret", "9,1e999"]


@pytest.mark.parametrize("line", LINES)
def test_text_files_with_and_without_a_broken_row_say_the_same(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tacit.tables.releasing.releaser.Room", ConstantRoom)
    heard = []
    for name, last in (("a", ""), ("b", line)):
        path = tmp_path / name / "t.csv"
        path.parent.mkdir()
        body = "".join(f"{n % 7},{n}\n" for n in range(30))
        path.write_bytes(f"who,v\n{body}{last}\n".encode("latin-1"))
        schema = {"who": "integer", "v": "integer"}
        t = tacit.read(path, person="who", budget=Approx(10, "0.1"), schema=schema, encoding="utf-8")
        asks = (t.persons, lambda t=t, **c: t.sum("v", **c), lambda t=t, **c: t.max("v", **c))
        heard.append([said(lambda ask=ask: ask(epsilon=1)) for ask in asks] + [[repr(t)]])  # type: ignore[misc]
    assert heard[0] == heard[1]
    assert capfd.readouterr() == ("", "")


def test_the_columns_of_the_test_are_those_of_the_table() -> None:
    assert all(len(row) == len(TYPES) for row in BASE + PERSON)
