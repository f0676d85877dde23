"""What a check finds, on files, frames and a server, without a value of any row."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tacit import Private, Public
from tacit.checks import Finding, Report, check, check_keys
from tests.postgres import POSTGRES, REQUIRED, run, schema


def found(report: Report) -> dict[tuple[str, str, str], int]:
    return {(f.table, f.check, f.column): f.count for f in report.findings}


def orders(**changes: Any) -> pd.DataFrame:
    rows = {"id": range(300), "customer": [f"c{i % 100}" for i in range(300)], "amount": [i % 7 for i in range(300)]}
    return pd.DataFrame({**rows, **changes})


def test_nothing_to_find() -> None:
    report = check({"orders": Private(orders()[["customer", "amount"]], person="customer")})
    assert not report.findings
    assert not report.unchecked
    facts = {"persons": 100, "median_rows": 3, "largest_rows": 3}
    assert report.facts == {"orders": {"rows": 300, "persons": {"customer": facts}}}
    assert "Nothing was found." in str(report)


def test_repeated_keys_are_serious_and_rows_that_lead_nowhere_are_not() -> None:
    tables: dict[str, Private | Public] = {
        "orders": Private(orders(id=[0, 0, 0, 1, 1, *range(2, 297)]), person="customer"),
        "lines": Private(pd.DataFrame({"order": [1, 2, 999, 998]}), through={"order": "orders.id"}),
    }
    report = check(tables)
    assert found(report)["orders", "repeated key", "id"] == 2
    assert found(report)["lines", "rows that lead to nobody", "order"] == 2
    assert [f.check for f in report.serious] == ["repeated key"]
    assert "id is called unique by through= of 'lines', but 2 values of it are in several rows." in str(report)
    assert check_keys(tables).findings == report.serious
    assert check_keys({"orders": Private(orders(), person="customer")}) == Report()


def test_declared_keys() -> None:
    private = Private(orders(id=[0, *range(299)]), person="customer")
    object.__setattr__(private, "keys", (("id",), ("id", "customer")))
    report = check_keys({"orders": private})
    assert found(report) == {("orders", "repeated key", "id"): 1}


def test_persons_that_are_missing_or_alike() -> None:
    names = ["a", "A", " a", "a ", "b", None, None, "c"]
    report = check({"t": Private(pd.DataFrame({"p": names}), person="p")})
    assert found(report) == {
        ("t", "rows without a person", ""): 2,
        ("t", "stray spaces", "p"): 2,
        ("t", "only case differs", "p"): 1,
    }


def test_types_that_are_not_read_as_they_are(tmp_path: Path) -> None:
    lines = ["person,amount,price", "1,5,1.5", "2,99999999999999999999,1e300", "3,many,nan", "4,1,x", "5,1,2.5"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    schema = {"person": "integer", "amount": "integer", "price": "float"}
    report = check({"t": Private(tmp_path / "t.csv", person="person", schema=schema)})
    assert found(report) == {
        ("t", "unconvertible values", "amount"): 1,
        ("t", "unconvertible values", "price"): 1,
        ("t", "saturated values", "amount"): 1,
        ("t", "saturated values", "price"): 1,
    }
    nested = pd.DataFrame({"person": [1], "many": [[1, 2]]})
    import pyarrow as pa

    report = check({"t": Private(pa.Table.from_pandas(nested), person="person")})
    assert found(report) == {("t", "type", "many"): 0}


def test_lines_that_are_no_records(tmp_path: Path) -> None:
    lines = ["person,amount", "1,5", '2,"open', "3", "", "4,4", *["x"] * 9]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    report = check({"t": Private(tmp_path / "t.csv", person="person")})
    assert found(report) == {("t", "unreadable lines", ""): 11}
    assert "11 lines of t.csv cannot be read and are left out (the first: 3, 4, 7, 8, 9)." in str(report)
    assert report.facts["t"]["files"] == [{"file": "t.csv", "encoding": "utf-8", "lines": 15, "unreadable": 11}]
    objects = ['{"person": 1}', "", "[1]", '{"person": 2}', '{"person', '{"person": "\\ud800"}']
    (tmp_path / "t.jsonl").write_bytes("\n".join(objects).encode() + b'\n{"\xff": 1}\n' + b"x" * (1 << 21))
    report = check({"t": Private(tmp_path / "t.jsonl", person="person", encoding="utf-8")})
    assert "5 lines of t.jsonl cannot be read and are left out (the first: 3, 5, 6, 7, 8)." in str(report)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("ada{}@example.org", "e-mail addresses"),
        ("+49 30 1234{:03}", "telephone numbers"),
        ("Ada Byron", "names of people"),
    ],
)
def test_texts_that_look_like_peoples(value: str, words: str) -> None:
    frame = orders(id=1, note=[value.format(i % 50) for i in range(300)])
    report = check({"orders": Private(frame, person="customer")})
    assert found(report) == {("orders", "personal text", "note"): 0}
    assert words in str(report)
    assert "Byron" not in str(report) + json.dumps(report.to_dict())


def test_identifiers_that_are_not_declared_and_persons_that_are_public() -> None:
    public = pd.DataFrame({"who": [f"c{i}" for i in range(100)], "town": ["x"] * 100})
    report = check({"orders": Private(orders(), person="customer"), "towns": Public(public)})
    assert found(report) == {
        ("orders", "undeclared identifier", "id"): 300,
        ("towns", "persons in a public table", "who"): 100,
    }


def test_reports_travel_and_come_together() -> None:
    report = Report({"t": {"rows": 3}}, (Finding("t", "a check", "words.", "c", 2, True),), ("t: something",))
    assert Report.of(json.loads(json.dumps(report.to_dict()))) == report
    both = Report.together({"one": report, "two": report})
    assert list(both.facts) == ["one.t", "two.t"]
    assert [f.table for f in both.serious] == ["one.t", "two.t"]
    assert "SERIOUS  one.t: words." in str(both)


def test_what_is_too_late_is_said(tmp_path: Path) -> None:
    report = check({"orders": Private(orders(), person="customer")}, 1e-9)
    assert not report.findings
    assert "orders: persons, for lack of time" in report.unchecked


@pytest.mark.skipif(not POSTGRES and not REQUIRED, reason="PostgreSQL is not installed")
def test_a_server(server: str) -> None:
    address = schema(server)
    run(
        address,
        "CREATE TABLE orders (id int, customer text, amount numeric(30, 2))",
        "INSERT INTO orders VALUES (1, 'a', 5), (1, 'b', 6), (2, ' a', 1e26), (3, NULL, 1), (4, 'A', 2)",
        'CREATE TABLE lines ("order" int)',
        "INSERT INTO lines VALUES (1), (9)",
    )
    report = check(
        {
            "orders": Private(address, person="customer"),
            "lines": Private(address, through={"order": "orders.id"}),
        }
    )
    assert report.unchecked == ()
    assert found(report) == {
        ("orders", "repeated key", "id"): 1,
        ("orders", "rows without a person", ""): 1,
        ("orders", "stray spaces", "customer"): 1,
        ("orders", "only case differs", "customer"): 1,
        ("orders", "saturated values", "amount"): 1,
        ("lines", "rows that lead to nobody", "order"): 1,
    }
    facts = {"persons": 4, "median_rows": 1, "largest_rows": 1}
    assert report.facts["orders"] == {"rows": 5, "persons": {"customer": facts}}
