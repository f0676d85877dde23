"""Rows that concern several persons, through the public face: what is answered, refused, limited and shown."""

import io
import sys
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit import Answer, EngineError, Pure, Table
from tacit.answers.storing import decode, encode
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.tables.releasing.releaser import waiting
from tests.tables.support import refused, shown

ROWS = 600
LARGE = Pure(10**6)


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    days = [date(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 300, ROWS)]
    return {
        "src": rng.integers(0, 60, ROWS),
        "dst": rng.integers(60, 120, ROWS),
        "x": np.round(rng.lognormal(3, 1, ROWS), 2) * np.where(rng.random(ROWS) < 0.3, -1, 1),
        "g": rng.choice(list("abc"), ROWS, p=[0.6, 0.3, 0.1]),
        "day": pa.array(days),
    }


@pytest.fixture(scope="module")
def edges(columns: dict[str, Any]) -> Table:
    """Each row concerns two persons."""
    return tacit.read(pa.table(columns), person=["src", "dst"], budget=LARGE, table="edges")


@pytest.fixture(scope="module")
def rows(columns: dict[str, Any]) -> Table:
    """Each row concerns one person."""
    return tacit.read(pa.table(columns), person="src", budget=LARGE, table="rows")


SURE: Any = {"epsilon": 2000, "fresh": True}
"""An ε at which noise is nothing and few removals matter: answers are true up to grids and caps."""


def close(answer: Any, truth: float, share: float = 0.02) -> bool:
    return abs(float(answer.value) - truth) <= share * abs(truth) + 1


@pytest.mark.parametrize("method", [None, "exponential", "scan", "shifted_inverse"])
def test_counts_and_sums_are_near_the_truth(edges: Table, columns: dict[str, Any], method: str | None) -> None:
    degrees = np.bincount(np.concatenate([columns["src"], columns["dst"]]))
    assert close(edges.count(method=method, **SURE), ROWS)
    assert close(edges.sum("x", method=method, **SURE), columns["x"].sum(), 0.05)
    assert close(edges.nunique("day", method=method, **SURE), len(set(columns["day"].to_pylist())))
    assert close(edges.modal_count("g", method=method, **SURE), (columns["g"] == "a").sum())
    assert close(edges.max_degree(method=method, **SURE), degrees.max(), 0.1)


@pytest.mark.parametrize("table", ["edges", "rows"])
def test_the_kth_largest_and_smallest(table: str, columns: dict[str, Any], request: pytest.FixtureRequest) -> None:
    asked: Table = request.getfixturevalue(table)
    values = np.sort(columns["x"])
    for k in (1, 2, 5):
        assert close(asked.largest("x", k, **SURE), values[-k])
        assert close(asked.smallest("x", k, **SURE), values[k - 1])
    assert asked.max("x", **SURE).value == asked.largest("x", 1, **SURE).value
    days = sorted(columns["day"].to_pylist())
    assert asked.smallest("day", 3, **SURE).value == days[2]
    assert asked.largest("day", 3, **SURE).value == days[-3]


def test_the_kth_of_persons(rows: Table, columns: dict[str, Any]) -> None:
    largest = sorted((columns["x"][columns["src"] == who].max() for who in set(columns["src"])), reverse=True)
    assert close(rows.largest("x", 3, per="person", **SURE), largest[2])


def test_the_most_rows_of_one_person_and_the_modal_count(rows: Table, columns: dict[str, Any]) -> None:
    assert rows.max_degree(**SURE).value == np.bincount(columns["src"]).max()
    assert close(rows.modal_count("g", **SURE), (columns["g"] == "a").sum())
    having = {who for who, g in zip(columns["src"], columns["g"], strict=True) if g == "a"}
    assert close(rows.modal_count("g", per="person", **SURE), len(having))


def asked(t: Table) -> list[Callable[..., Answer]]:
    return [
        lambda **c: t.count(method="scan", **c),
        lambda **c: t.count(method="shifted_inverse", **c),
        lambda **c: t.sum("x", **c),
        lambda **c: t.largest("x", 2, **c),
        lambda **c: t.modal_count("g", **c),
        lambda **c: t.max_degree(**c),
        lambda **c: t.max_degree(method="shifted_inverse", **c),
    ]


@pytest.mark.parametrize("size", [0, 1, 20])
def test_few_rows_give_ordinary_answers_that_can_be_kept(columns: dict[str, Any], size: int) -> None:
    data = pa.table({name: pa.array(column)[:size] for name, column in columns.items()})
    table = tacit.read(data, person=["src", "dst"], budget=LARGE, table="edges")
    for ask in asked(table):
        answer = ask(epsilon=1)
        views = shown(answer)
        assert shown(decode(encode(answer))) == views


def test_rows_without_persons_or_values_do_not_count() -> None:
    data: dict[str, list[Any]] = {
        "a": [1, None, None, 2],
        "b": [None, 3, None, 2],
        "x": [1.0, float("nan"), 5.0, None],
        "g": ["u", None, "u", "v"],
    }
    table = tacit.read(pa.table(data), person=["a", "b"], budget=LARGE, table="t")
    assert table.count(**SURE).value == 3
    assert table.max("x", **SURE).value == 1.0
    assert table.nunique("g", **SURE).value == 2


def test_intervals_cover_what_they_say(edges: Table) -> None:
    """A 99 % interval misses more than 4 of 12 times with probability below 10^-7."""
    missed = 0
    for _ in range(12):
        low, high = edges.count(method="shifted_inverse", epsilon=1, fresh=True).interval("0.99")
        missed += not low <= ROWS <= high
    assert missed <= 4


REFUSED: dict[str, Callable[[Table], Any]] = {
    "does not answer the mean of x where a row": lambda t: t.mean("x", epsilon=1),
    "does not answer the sum of x per person where a row": lambda t: t.sum("x", per="person", epsilon=1),
    "2nd largest x per person": lambda t: t.largest("x", 2, per="person", epsilon=1),
    "number of persons with the most frequent g per person": lambda t: t.modal_count("g", per="person", epsilon=1),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_several_persons_do_not_allow_is_refused_unpaid(words: str, edges: Table) -> None:
    refused(edges.budget, UnsupportedQuery, words, lambda: REFUSED[words](edges))


def test_a_query_is_refused_as_a_whole(edges: Table) -> None:
    query = "SELECT COUNT(*), MEDIAN(x) FROM edges"
    refused(edges.budget, UnsupportedQuery, "median", lambda: edges.sql(query, epsilon=1))


def test_a_mean_over_rows_of_several_persons_is_a_quotient(edges: Table) -> None:
    seen = edges.session.preview("SELECT AVG(x) FROM edges", epsilon=1)
    assert seen.statistics == ("sum of x", "number of rows with x")
    answer = edges.sql("SELECT AVG(x) FROM edges", epsilon=1)
    assert isinstance(answer, Answer)
    assert "Computed at no further cost from the sum of x" in str(answer)


def test_methods_and_ranks_are_checked(edges: Table, rows: Table) -> None:
    refused(edges.budget, InvalidInput, "method must be one of", lambda: edges.count(method="guess", epsilon=1))
    refused(edges.budget, InvalidInput, "k must lie", lambda: edges.largest("x", 0, epsilon=1))
    refused(edges.budget, InvalidInput, "k must lie", lambda: edges.largest("x", 41, epsilon=1))
    refused(rows.budget, UnsupportedQuery, "several persons", lambda: rows.count(method="scan", epsilon=1))
    refused(rows.budget, UnsupportedQuery, "several persons", lambda: rows.max_degree(method="scan", epsilon=1))
    refused(rows.budget, InvalidInput, "leave it out", lambda: rows.count(per="person", method="scan", epsilon=1))


def test_more_rows_than_declared_end_in_the_one_failure(columns: dict[str, Any]) -> None:
    table = tacit.read(pa.table(columns), person=["src", "dst"], budget=Pure(3), table="edges", max_rows=100)
    with pytest.raises(EngineError, match="what was charged stays charged") as failed:
        table.count(epsilon=1)
    assert "100" not in str(failed.value)
    assert table.budget.spent == Pure(1)
    with pytest.raises(InvalidInput, match="max_rows"):
        tacit.read(pa.table(columns), person="src", budget=Pure(1), table="t", max_rows=0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_sign_of_life_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    for screen, after, seen in ((Terminal(), 0.0, True), (Terminal(), 60.0, False), (io.StringIO(), 0.0, False)):
        monkeypatch.setattr(sys, "stderr", screen)
        with waiting(after):
            end = time.monotonic() + (200 if seen else 0.3)
            while time.monotonic() < end and not screen.getvalue():
                time.sleep(0.01)
        assert ("answering" in screen.getvalue()) == seen
