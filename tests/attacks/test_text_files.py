"""One line, one record: what a line of a text file may contain, it is that line's matter alone.

Each test is a break that was found: one line, or one person's value, changed what was read of others.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit import InvalidInput, Pure
from tacit.engines import Source, open_engine
from tacit.language.types import Schema
from tests.engines.duckdb.test_tables import summary

PEOPLE = 3000


OPTIONS: dict[str, dict[str, Any]] = {"json": {"multiline": True}}
TYPES = Schema.of({"person": "integer", "amount": "integer"})


def rows(path: Path, schema: Schema | None = None, **options: object) -> tuple[int, int, int]:
    engine = open_engine({"t": Source(path, schema, options=options)})
    try:
        return summary(engine)
    finally:
        engine.close()


@pytest.mark.parametrize(
    "line", ['7,"open', '"7,1', '7,"a"b', '7,"', '"', "7,1,2", "7", '7,"a""', "7\r7,1,1", "7,\0\0,"]
)
def test_one_line_with_an_open_quote_costs_nobody_else(line: str, tmp_path: Path) -> None:
    """It removed 1,500 other persons."""
    lines = [f"{person},1" for person in range(PEOPLE)]
    lines.insert(PEOPLE // 2, line)
    (tmp_path / "t.csv").write_text("\n".join(["person,amount", *lines, ""]), newline="")
    assert rows(tmp_path / "t.csv") == (PEOPLE, PEOPLE, PEOPLE)


def test_a_file_of_another_encoding_is_refused_and_not_answered_from_no_rows(tmp_path: Path) -> None:
    """It answered from 0 rows."""
    text = "person;amount;town\n" + "".join(f"{person};1;Zürich\n" for person in range(PEOPLE))
    (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidInput, match="not UTF-8; declare the encoding, such as encoding='latin-1'") as refusal:
        rows(tmp_path / "t.csv")
    assert "rich" not in str(refusal.value)
    assert rows(tmp_path / "t.csv", encoding="latin-1") == (PEOPLE, PEOPLE, PEOPLE)
    assert rows(tmp_path / "t.csv", TYPES, encoding="utf-8") == (0, 0, 0)  # as declared: every line is left out
    (tmp_path / "u.csv").write_bytes(text.encode("utf-16"))
    assert rows(tmp_path / "u.csv") == (PEOPLE, PEOPLE, PEOPLE)
    (tmp_path / "v.csv").write_bytes(text.encode("utf-16-le"))
    with pytest.raises(InvalidInput, match="declare the encoding"):
        rows(tmp_path / "v.csv")
    assert rows(tmp_path / "v.csv", encoding="utf-16") == (PEOPLE, PEOPLE, PEOPLE)


@pytest.mark.parametrize("start", [10**20, 2**64, 10**60, 2**63 - 10])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "json"])
def test_long_identifiers_are_never_floats(kind: str, start: int, tmp_path: Path) -> None:
    """3,000 persons became 6."""
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        path.write_text("person,amount\n" + "".join(f"{start + person},1\n" for person in range(PEOPLE)))
    else:
        objects = [json.dumps({"person": start + person, "amount": 1}) for person in range(PEOPLE)]
        path.write_text("\n".join(objects) if kind == "jsonl" else "[" + ",\n".join(objects) + "]")
    assert rows(path, **OPTIONS.get(kind, {})) == (PEOPLE, PEOPLE, PEOPLE)


LONG = {f"<{mark}>": mark for mark in "x["}
"""What stands for 40 MB of it; written out in the one test that needs it, for every process imports this."""
NASTY = {
    "40 MB": '{"person": 1, "amount": 1, "note": "<x>"}',
    "40 MB open": '{"person": 1, "amount": 1, "note": "<[>',
    "nested": '{"person": 1, "x": ' + "[" * 300_000 + "]" * 300_000 + "}",
    "nested open": "[" * 300_000,
    "lone surrogate": r'{"person": 1, "amount": 1, "note": "\ud800"}',
    "surrogates swapped": r'{"person": "\udc00\ud800", "amount": 1}',
    "no object": "[1, 2]",
    "number": "12",
    "open": '{"person": 1, "amount": 1',
    "two": '{"person": 1, "amount": 1}{"person": 2, "amount": 1}',
    "control": '{"person": 1, "amount": 1, "note": "\x01"}',
    "cr": '{"person": 1, "amount": 1}\r{"person": 2, "amount": 1}',
    "nul": "\0",
    "quotes": '"' * 1001,
}


@pytest.mark.parametrize("nasty", NASTY)
def test_a_json_line_that_cannot_be_read_is_left_out_alone(nasty: str, tmp_path: Path) -> None:
    """Lines of 40 MB made questions fail."""
    lines = [json.dumps({"person": person, "amount": 1}) for person in range(10, 100)]
    line = NASTY[nasty]
    for short, mark in LONG.items():
        line = line.replace(short, mark * 40 * 2**20) if short in line else line
    lines.insert(50, line)
    (tmp_path / "t.jsonl").write_text("\n".join(lines), newline="")
    persons = 91 if nasty == "nested" else 90  # nesting is no fault; its amount is NULL
    assert rows(tmp_path / "t.jsonl", TYPES) == (persons, persons, 90)


HUGE = {
    "exponent": ("1e400", 0),
    "minus": ("-1" + "0" * 5000, -(2**63)),
    "digits": ("9" * 100_000, 2**63 - 1),
    "fraction": ("0." + "0" * 100_000 + "1", 0),
    "twice": ('1, "amount": 2', 1),
    "text": ('"many"', 0),
    "object": ('{"a": [1, {"b": null}]}', 0),
    "escape": (r'"\u0000\u2028"', 0),
}


@pytest.mark.parametrize("value", HUGE)
def test_no_json_value_makes_a_question_fail(value: str, tmp_path: Path) -> None:
    text, _ = HUGE[value]
    lines = [json.dumps({"person": person, "amount": 1}) for person in range(10, 100)]
    lines.insert(50, f'{{"person": 1, "amount": {text}}}')
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    assert rows(tmp_path / "t.jsonl", TYPES)[:2] == (91, 91)


def test_a_json_array_is_read_only_as_declared(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('[{"person": 1, "amount": 1},\n {"person": 2, "amount": 1}]')
    for schema in (None, Schema.of({"person": "integer", "amount": "integer"})):
        with pytest.raises(InvalidInput, match="none of the first lines is a JSON object; write one object a line"):
            open_engine({"t": Source(tmp_path / "t.json", schema)})
    assert rows(tmp_path / "t.json", multiline=True) == (2, 2, 2)


def test_a_fraction_is_no_integer_and_names_nobody_else(tmp_path: Path) -> None:
    """1.5 was rounded to 2, so that a person's rows went to another's."""
    path = tmp_path / "visits.csv"
    path.write_text("who,x\n2,1\n2.0,1\n1.5,1\n1.9999999999999999,1\n15e-1,1\n2e0,1\n")
    table = tacit.read(path, person="who", budget=Pure(10**7), schema={"who": "integer", "x": "integer"})
    assert table.persons(epsilon=10**6).value == 1
    assert table.count(epsilon=10**6).value == 3
    for kind in ("float", "decimal(1)", "date", "timestamp"):
        with pytest.raises(InvalidInput, match="not told apart exactly"):
            tacit.read(path, person="who", budget=Pure(1), schema={"who": kind, "x": "integer"})
