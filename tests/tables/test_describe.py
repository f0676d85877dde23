"""Descriptions: one cost, all or none, from public facts alone, as lines, JSON and a page; no test here is random."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from tacit import Approx, BudgetExceeded, Private, Pure, Session, Zcdp
from tacit.answers.description import Column, Description
from tacit.answers.nonnegative import BELOW, below_zero
from tacit.answers.values import show
from tacit.cli.app import run
from tacit.guarantees import Guarantee
from tacit.randomness import seeded_not_private
from tacit.tables.face.table import Table

NASTY = "<script>alert('x')</script>"


def people(count: int = 400, **changed: Any) -> pa.Table:
    """Two rows of each person; each kind of column, one of them with a name that must be escaped."""
    rows = [number // 2 for number in range(2 * count)]
    columns: dict[str, Any] = {
        "person": rows,
        "number": list(range(len(rows))),
        "age": [20 + row % 50 for row in rows],
        "paid": [Decimal(row % 100) / 4 for row in rows],
        NASTY: ["<b>north</b>" if row % 3 else "south" for row in rows],
        "day": [date(2025, 1, 1) + timedelta(days=row % 365) for row in rows],
        "member": [None if row % 5 == 0 else row % 2 == 0 for row in rows],
        "parts": [[row] for row in rows],
    }
    types = [pa.int64(), pa.int64(), pa.int64(), pa.decimal128(9, 2), pa.string(), pa.date32(), pa.bool_()]
    schema: Any = list(zip(columns, [*types, pa.list_(pa.int64())], strict=True))
    return pa.table(columns | changed, schema=pa.schema(schema))


def opened(data: pa.Table | None = None, budget: Guarantee | None = None, **options: Any) -> Table:
    private = Private(people() if data is None else data, person="person", key="number")
    session = Session({"t": private}, budget=budget or Pure(8), randomness=seeded_not_private(7), **options)
    return session["t"]


def test_each_column_is_described_as_its_type_has_it() -> None:
    table = opened()
    shown = table.describe(epsilon=8)
    numbers = ["missing", "mean", "quartiles", "lowest", "highest"]
    assert {column.name: list(column.answers) for column in shown.columns} == {
        "age": numbers,
        "paid": numbers,
        NASTY: ["missing", "distinct"],
        "day": ["missing", "quartiles", "lowest", "highest"],
        "member": ["counts"],
    }
    assert shown.guarantee == table.budget.spent == Pure(8)
    assert abs(float(shown["age"].one("mean") or 0) - 44.5) < 5
    said = " ".join(shown.left_out)
    assert "which row it is: person, number." in said
    assert "cannot be read: parts." in said
    assert "takes a δ" in said
    assert "give --delta 1e-6 beside --epsilon." in shown.told("command line")
    assert max(map(len, str(shown).rpartition("\n\n")[0].splitlines())) <= 80


def test_texts_show_their_values_where_delta_is_given() -> None:
    shown = opened(budget=Approx(8, "1e-5")).describe([NASTY], epsilon=8, delta="1e-5")
    assert list(shown[NASTY].values) == ["<b>north</b>", "south"]
    assert shown.left_out == ()


@pytest.mark.parametrize(("cost", "per"), [(Pure(4), "person"), (Zcdp(4), "row"), (Approx(4, "1e-5"), "person")])
def test_what_is_asked_follows_from_public_facts(cost: Guarantee, per: Any) -> None:
    """The charges of a description are the same whatever the rows are, up to the range that was released."""
    told = []
    for data in (people(), people(2, age=[None] * 4, member=[None] * 4), people(0)):
        table, paid = opened(data, cost), cast(Any, cost.keywords())
        seen = table.describe(per=per, preview=True, **paid)
        shown = table.describe(per=per, **paid)
        assert table.budget.spent == seen.cost == cost
        told.append((str(seen), [list(column.answers) for column in shown.columns], shown.left_out))
    assert told[0] == told[1] == told[2]


def test_all_or_none_and_a_repeat_is_free() -> None:
    table = opened(budget=Pure(1))
    with pytest.raises(BudgetExceeded):
        table.describe(epsilon=2)
    assert not any(table.budget.spent.keywords().values())
    first = table.describe(["age", "member"], epsilon=1)
    assert not first.stored
    assert table.describe(["age", "member"], epsilon=1, preview=True).free
    again = table.describe(["age", "member"], epsilon=1)  # nothing is left, and nothing is needed
    assert again.stored
    assert [a.value for a in again.answers.values()] == [a.value for a in first.answers.values()]
    with pytest.raises(BudgetExceeded):
        table.describe(["age", "member"], epsilon=1, fresh=True)
    assert table.budget.spent == Pure(1)


def test_filtered_and_derived_tables_and_those_of_one_row() -> None:
    table = opened(budget=Pure(20))
    some = table.filter("age < 40").mutate(half="age / 2").describe(["half"], epsilon=4)
    assert some.table == "t, some of its rows"
    each = table.per_person(spent="SUM(paid)").describe(epsilon=4)
    assert [column.name for column in each.columns] == ["spent"]
    assert each.whole["persons"].value == each.whole["rows"].value  # one row each, asked once


def test_rows_of_several_persons_have_what_can_be_answered() -> None:
    data = pa.table({"a": [1, 2, 3], "b": [2, 3, 4], "amount": [1, 2, 3]})
    session = Session({"t": Private(data, person=["a", "b"])}, budget=Pure(4), randomness=seeded_not_private(7))
    shown = session["t"].describe(epsilon=4, per="row")
    assert "rows" in shown.whole
    assert session.budget.spent == Pure(4)


def small(epsilon: int, seed: int) -> Description:
    """400 persons with an id, a date, a number and a category, as newcomers have them."""
    rows = range(1200)
    columns: dict[str, Any] = {
        "person": pa.array([row // 3 for row in rows], pa.int64()),
        "order_id": pa.array(rows, pa.int64()),
        "day": pa.array([date(2025, 1, 1) + timedelta(days=row * 7 % 365) for row in rows], pa.date32()),
        "amount": pa.array([(row * 37 % 6600 + 1) / 100 for row in rows], pa.float64()),
        "region": pa.array([("EU", "US", "Asia")[row % 3] for row in rows], pa.string()),
    }
    private = Private(pa.table(columns), person="person")
    session = Session({"t": private}, budget=Pure(epsilon), randomness=seeded_not_private(seed))
    return session["t"].describe(epsilon=epsilon)


@pytest.mark.parametrize("seed", [7, 8])
def test_what_noise_decided_is_unclear(seed: int) -> None:
    """Where bounds exceed the persons, or a cap leaves nothing, no number is shown; JSON keeps it beside the reason."""
    shown = small(1, seed)
    told, page = str(shown), shown.to_html()
    lines = dict(line.strip().split("  ", 1) for line in told.splitlines() if line.startswith("  "))
    assert not re.search(r"\de-\d", "".join(lines.values()))
    assert "9999" not in told + page
    assert "0001-" not in told + page
    assert "at least -" not in told + page
    assert "at least 0" not in told + page
    assert page.count("<svg") == 0
    assert lines["persons"].strip()[0].isdigit()
    found = shown.to_dict()
    for column, plain in zip(shown.columns, found["columns"], strict=True):
        clear = {"text": {"distinct"}}.get(
            column.type, {"quartiles", "lowest", "highest"} | {"mean"} & set(column.answers)
        )
        assert set(plain["unclear"]) == clear
        for what, reason in plain["unclear"].items():
            assert reason in told or what == "quartiles"
            if (answer := column.one(what)) is not None:
                assert plain[what] == answer.to_dict()
    assert "needs more than 986 persons" in shown["day"].unclear(shown.persons)["lowest"]
    (help_,) = (note for note in found["notes"] if "unclear" in note)
    assert "more ε or fewer columns help" in help_
    negative = any(below_zero(answer) for answer in shown.answers.values())
    for text in (told, page, " ".join(found["notes"])):
        assert help_ in text
        assert (BELOW in text) == negative
    assert negative


def test_what_stands_out_of_the_noise_is_shown_as_it_was() -> None:
    shown = small(20, 7)
    told = str(shown)
    assert "unclear" not in told
    assert not any(column["unclear"] for column in shown.to_dict()["columns"])
    for column in shown.columns:
        for what in ("mean", "lowest", "highest"):
            if (answer := column.one(what)) is not None:
                assert show(answer.value) in told
        for answer in column.several("quartiles").values():
            assert show(answer.value) in told
    assert re.search(r"lowest +2025-01-\d\d +at most \d+ persons below", told)
    assert shown.to_html().count("<svg") == 3


def test_ends_that_are_crossed_are_unclear_however_many_persons_there_are() -> None:
    lowest, highest = (small(20, 7)["amount"].one(what) for what in ("lowest", "highest"))
    assert lowest is not None
    assert highest is not None
    crossed = Column("amount", "float", {"lowest": highest, "highest": lowest})
    assert set(crossed.unclear(400).values()) == {"lowest is above highest"}
    assert [value for _, value, _ in crossed.lines(400)] == ["unclear"] * 2
    assert set(Column("amount", "float", {"lowest": lowest}).unclear(40)) == {"lowest"}
    assert not Column("amount", "float", {"lowest": lowest}).unclear(None)


def test_the_page_loads_nothing_and_escapes_everything() -> None:
    page = opened(budget=Approx(8, "1e-5")).describe(epsilon=8, delta="1e-5").to_html()
    assert NASTY not in page
    assert "<b>north" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<svg") == 5
    assert not re.search(r"(src|href|url)\s*[=(]|<script|https?:", page)


def test_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 200},{i % 40},{'EU' if i % 2 else 'US'}\n" for i in range(600))
    Path("shop.csv").write_text(f"customer,amount,region\n{rows}")
    assert run(["ledger", "create", "shop", "--ledger", "l.db", "--epsilon", "2", "--person", "customer"]) == 0
    capsys.readouterr()
    ask = ["describe", "shop.csv", "--person", "customer", "--ledger", "l.db", "--epsilon", "2", "--quiet"]
    assert run([*ask, "--dry-run"]) == 0
    assert "Nothing was spent" in capsys.readouterr().out
    assert run([*ask, "--dry-run", "--persons", "200"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^number of persons, .*; 19 of 20 answers within", told)
    assert "say about how many" not in told  # that was said
    assert "for a forecast" not in told
    assert run([*ask, "--json", "--html", "shop.html", "--certificate", "shop.json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [column["name"] for column in found["columns"]] == ["amount", "region"]
    assert Path("shop.html").read_text().startswith("<!doctype html>")
    assert run(["verify", "shop.json"]) == 0
    capsys.readouterr()
    assert run(ask) == 0  # free
    assert capsys.readouterr().out.startswith("Answered on ")
    assert run([*ask, "--column", "amuont"]) == 2
    assert "did you mean amount" in capsys.readouterr().err
    assert run([*ask, "--fresh"]) == 3
    capsys.readouterr()
    query = "SELECT region, SUM(amount), COUNT(*) FROM shop WHERE region IN ('EU', 'US') GROUP BY region"
    plan = ["ask", "shop.csv", "--person", "customer", "--epsilon", "2", "--dry-run", "--persons", "200", query]
    assert run([*plan, "--json"]) == 0
    assert [each["share"] is not None for each in json.loads(capsys.readouterr().out)["expected_errors"]] == [True] * 2
    assert run(plan) == 0
    assert "in each of 2 groups of about 100 persons: 19 of 20 answers within" in capsys.readouterr().out
    assert run([word for word in plan if word != "--dry-run"]) == 2
    assert "add that" in capsys.readouterr().err
