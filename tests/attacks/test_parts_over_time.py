"""Persons who move between parts: the parts of different versions of the data add up.

The attack: a table is split by a column, everybody is moved to another part every day, and each day the part that all
are in is asked at ε = 1. Under one group of parts a budget of Pure(1) paid for as many answers as there are parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit import BudgetExceeded, EngineError, Pure, Session, Table, UnsupportedQuery, read
from tacit.budgets import open_budget
from tacit.ledger import open_ledger

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

DAYS = list("abcdefgh")


def rows(day: str, persons: int = 30) -> Any:
    return pa.table({"who": list(range(persons)), "k": [day] * persons})


def write(path: Path, day: str) -> None:
    """Another version of a file, as daily exports make them: the same size, often the same moment."""
    pq.write_table(rows(day), path)


def opened(path: Path, budget: Any = None, **options: Any) -> Table:
    return read(str(path), person="who", budget=budget or Pure(1), table="t", **options)


def test_a_file_rewritten_every_day_pays_every_day(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write(path, DAYS[0])
    whole = opened(path)
    parts = whole.partition("k", DAYS)
    answered = 0
    for day in DAYS:
        write(path, day)
        try:
            parts[day].persons(epsilon=1)
            answered += 1
        except BudgetExceeded:
            pass
    assert answered == 1
    assert whole.budget.spent == Pure(1)


def test_one_version_still_pays_for_the_dearest_part(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write(path, "a")
    whole = opened(path)
    for part in whole.partition("k", DAYS).values():
        part.persons(epsilon=1)
    assert whole.budget.spent == Pure(1)
    os.utime(path, ns=(1, 1))  # the times that anybody can set do not hide a change
    with pytest.raises(BudgetExceeded):
        whole.partition("k", DAYS)["a"].count(epsilon=1)


def changed_pandas(day: str) -> Any:
    return rows(day).to_pandas()


def changed_polars(day: str) -> Any:
    return pytest.importorskip("polars").from_arrow(rows(day))


def set_pandas(frame: Any, day: str) -> None:
    frame["k"] = day


def set_polars(frame: Any, day: str) -> None:
    polars = pytest.importorskip("polars")
    frame.replace_column(1, polars.Series("k", [day] * len(frame)))


@pytest.mark.parametrize(
    ("frame", "change"), [(changed_pandas, set_pandas), (changed_polars, set_polars)], ids=["pandas", "polars"]
)
def test_frames_that_change_in_place_have_no_parts_to_pay_for(
    frame: Callable[[str], Any], change: Callable[[Any, str], None]
) -> None:
    pytest.importorskip("pandas")
    data = frame("a")
    whole = read(data, person="who", budget=Pure(2), table="t")
    parts = whole.partition("k", DAYS)
    for day in "ab":
        change(data, day)
        parts[day].persons(epsilon=1)
    assert whole.budget.spent == Pure(2)
    with pytest.raises(BudgetExceeded):
        parts["c"].persons(epsilon=1)
    assert parts["c"].budget.spent == Pure(2)


def test_an_open_connection_has_no_parts_to_pay_for() -> None:
    connection = pytest.importorskip("duckdb").connect()
    connection.execute("CREATE TABLE t AS SELECT range AS who, 'a' AS k FROM range(30)")
    whole = read(connection, person="who", budget=Pure(2), table="t")
    parts = whole.partition("k", DAYS)
    parts["a"].persons(epsilon=1)
    connection.execute("UPDATE t SET k = 'b'")
    parts["b"].persons(epsilon=1)
    assert whole.budget.spent == Pure(2)


def test_a_ledger_adds_up_versions_and_shares_one_version_between_processes(tmp_path: Path) -> None:
    path, where = tmp_path / "t.parquet", str(tmp_path / "ledger.db")
    write(path, "a")
    for day in "ab":  # two openings of the same version, as two processes would
        whole = opened(path, Pure(3), ledger=where, name="d")
        whole.partition("k", DAYS)[day].persons(epsilon=1)
        assert whole.budget.spent == Pure(1)
    write(path, "b")
    whole.partition("k", DAYS)["c"].persons(epsilon=1)
    assert whole.budget.spent == Pure(2)
    # A group of before, whatever it was called, keeps what it cost.
    with open_ledger(where) as ledger:
        ledger.budget("d").parallel("k #0123456789abcdef").part("0 a").charge(Pure("0.5"))
        assert ledger.budget("d").spent == Pure("2.5")
        assert ledger.budget("d").parallel("k #0123456789abcdef").spent == Pure("0.5")


def test_one_file_read_in_two_ways_is_not_one_version(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,k\n" + "".join(f"{i},a\n" for i in range(30)))
    budget = open_budget(Pure(2))
    for options in ({}, {"null": "a"}):
        whole = opened(path, budget, schema={"who": "BIGINT", "k": "VARCHAR"}, **options)
        whole.partition("k", ["a", "b"])["a"].persons(epsilon=1, fresh=True)
    assert budget.spent == Pure(2)


def test_a_change_while_the_answer_is_made_withholds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.tables.statistics.persons import PersonCount

    path = tmp_path / "t.parquet"
    write(path, "a")
    whole = opened(path)
    part = whole.partition("k", DAYS)["a"]
    honest = PersonCount.release

    def moving(self: PersonCount, room: Any) -> Any:
        found = honest(self, room)
        write(path, "b")
        return found

    monkeypatch.setattr(PersonCount, "release", moving)
    with pytest.raises(EngineError, match="stays charged"):
        part.persons(epsilon=1)
    assert whole.budget.spent == Pure(1)


def test_nobody_else_charges_a_part(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write(path, "a")
    whole = opened(path)
    part, declared = whole.partition("k", DAYS)["a"], whole.session._tables.declared["t"]
    part.persons(epsilon="0.5")
    assert part.budget.spent == Pure("0.5")
    for use in (
        lambda: part.budget.charge(Pure("0.1")),
        lambda: part.budget.parallel("mine"),
        lambda: part.session.share(Pure("0.1"), "mine"),
        lambda: part.session.analyst("ada", Pure("0.1")),
        lambda: Session({"other": declared}, budget=part.budget)["other"].count(epsilon="0.1"),
    ):
        with pytest.raises(UnsupportedQuery, match="one part"):
            use()
    assert whole.budget.spent == Pure("0.5")
