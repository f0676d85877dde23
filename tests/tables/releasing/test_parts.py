"""Parts hold different persons by construction: the dearest part is what everybody pays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import BudgetExceeded, InvalidInput, Private, Pure, Session, Table, UnsupportedQuery, read
from tacit.engines.requests import RowCount, TotalBuckets
from tacit.language import build

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

Row = tuple[int | None, str | None]
KEYS = ["b", "a", "c"]


def table(rows: list[Row], budget: Pure | None = None, **options: Any) -> Table:
    columns = list(zip(*rows, strict=True)) or [(), ()]
    data = pa.table({"who": pa.array(columns[0], pa.int64()), "k": pa.array(columns[1], pa.string())})
    return read(data, person="who", budget=budget or Pure(10), table="t", **options)


def by_filter(whole: Table) -> dict[str, Table]:
    """A twin that splits rows, not persons."""
    found = {}
    for key, part in whole.partition("k", KEYS).items():
        condition = build.comparison("=", whole._expression("k"), build.literal(key))
        relation = replace(part._relation, members=(), filter=condition)
        found[key] = Table(whole.session, relation, whole._scope, None)
    return found


def persons(part: Table) -> Any:
    """Who is in a part, as the engine counts them: persons by their number of rows."""
    with part.session._tables.engine.snapshot() as snapshot:
        return snapshot.ask(part._relation, (TotalBuckets(RowCount(), (1, 2, 3, 4)),))


def moved(rows: list[Row], further: list[Row], split: Callable[[Table], dict[str, Table]]) -> int:
    """How many parts a person changes."""
    before, after = ({k: persons(p) for k, p in split(table(r)).items()} for r in (rows, rows + further))
    return sum(before[key] != after[key] for key in KEYS)


ROWS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.sampled_from(["a", "b", "c", "d", None])), max_size=8
)


@settings(max_examples=15)
@given(ROWS, st.lists(st.sampled_from(["a", "b", "c", "d", None]), max_size=4))
def test_a_person_changes_one_part_at_most(rows: list[Row], keys: list[str | None]) -> None:
    assert moved(rows, [(9, key) for key in keys], lambda whole: whole.partition("k", KEYS)) <= 1


def test_a_split_of_rows_is_caught() -> None:
    further: list[Row] = [(9, "a"), (9, "b")]
    assert moved([(1, "a")], further, by_filter) == 2
    assert moved([(1, "a")], further, lambda whole: whole.partition("k", KEYS)) == 1


def test_a_person_belongs_with_all_rows_to_the_first_listed_key() -> None:
    parts = table([(1, "a"), (1, "b"), (1, None), (2, "a"), (3, "d"), (None, "a")]).partition("k", KEYS)
    assert [persons(parts[key])[0].positive for key in KEYS] == [
        persons(table([(1, "a")] * 3))[0].positive,
        persons(table([(2, "a")]))[0].positive,
        persons(table([]))[0].positive,
    ]


def test_the_filter_of_the_whole_decides_and_a_later_one_moves_nobody() -> None:
    whole = table([(1, "b"), (1, "a"), (2, "a")])
    filtered = whole.filter("k <> 'b'").partition("k", KEYS)
    assert persons(filtered["b"]) == persons(table([]))
    assert persons(filtered["a"]) == persons(table([(1, "a"), (2, "a")]))
    later = whole.partition("k", KEYS)["b"].filter("k = 'a'")
    assert persons(later) == persons(table([(1, "a")]))


def test_the_dearest_part_is_paid() -> None:
    whole = table([(1, "a"), (2, "b")], Pure(1))
    parts = whole.partition("k", KEYS)
    parts["a"].persons(epsilon="0.5")
    assert whole.budget.spent == Pure("0.5")
    parts["b"].count(epsilon="0.5")
    assert whole.budget.spent == Pure("0.5")
    parts["b"].persons(epsilon="0.25")
    assert whole.budget.spent == Pure("0.75")
    again = whole.partition("k", KEYS)  # the same split is the same group of accounts
    with pytest.raises(BudgetExceeded):
        again["b"].persons(epsilon="0.3")
    again["a"].count(epsilon="0.25")
    assert whole.budget.spent == Pure("0.75")
    other = whole.partition("k", ["a", "b"])  # another split holds the same persons otherwise: it adds up
    other["a"].count(epsilon="0.25")
    assert whole.budget.spent == Pure(1)


def test_parts_of_parts() -> None:
    whole = table([(1, "a"), (1, "b"), (2, "b")], Pure(2))
    inner = whole.partition("k", ["b", "a"])["b"].partition("k", ["a", "b"])
    assert persons(inner["a"]) == persons(table([(1, "a"), (1, "b")]))
    assert persons(inner["b"]) == persons(table([(2, "b")]))
    for part in inner.values():
        part.persons(epsilon=1)
    assert whole.budget.spent == Pure(1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda part: part.sql("SELECT COUNT(*) FROM t", epsilon=1),
        lambda part: part.session["t"].count(epsilon=1),
        lambda part: part.session.share(Pure(1), "mine")["t"].count(epsilon=1),
    ],
)
def test_the_session_of_a_part_answers_about_nobody_else(ask: Callable[[Table], object]) -> None:
    part = table([(1, "a")]).partition("k", KEYS)["a"]
    with pytest.raises(UnsupportedQuery, match="one part"):
        ask(part)


def test_a_ledger_remembers_the_parts(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"who": [1], "k": ["a/b\n"]}), file)
    for _ in range(2):  # the second time as a new process would
        whole = read(str(file), person="who", budget=Pure(1), table="t", ledger=str(tmp_path / "l.db"), name="d")
        parts = whole.partition("k", ["a/b\n", "x" * 100])
        parts["a/b\n"].persons(epsilon="0.4", fresh=True)
    assert whole.budget.spent == Pure("0.8")
    parts["x" * 100].persons(epsilon="0.8")
    assert whole.budget.spent == Pure("0.8")


def test_refusals() -> None:
    whole = table([(1, "a")])
    for keys in ([], [None], ["a", "a"], "ab", [1]):
        with pytest.raises(InvalidInput):
            whole.partition("k", keys)
    edges = pa.table({"a": [1], "b": [2]})
    graph = Session({"edge": Private(edges, person=["a", "b"])}, budget=Pure(1))["edge"]
    with pytest.raises(UnsupportedQuery, match="several persons"):
        graph.partition("a", [1])
