"""Odd data are answered like any other: an ordinary answer, no error, the documented meaning.

With ε in the thousands noise is zero except with probability below 1e-20, so meanings can be compared exactly.
"""

from datetime import date
from decimal import Decimal
from itertools import islice
from math import inf, nan
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit import Answer, Approx, Pure, Table
from tacit.language.types import INTEGER
from tacit.mechanisms.inverse.shifted_inverse import ShiftedInverseLaw
from tacit.tables.statistics.ways.scales import Scale
from tests.tables.support import EXTREME, arrow, found, questions, shown

SURE = 10**5
"""An ε at which noise of a cap of at most a thousand is zero."""


def table(columns: dict[str, Any], **options: Any) -> Table:
    return tacit.read(pa.table(columns), **{"person": "who", "budget": Pure(10**12), "table": "t", **options})


@pytest.mark.parametrize(("rows", "every"), [([], 1), (EXTREME[:2], 4)], ids=["nobody", "one person"])
def test_every_question_has_an_ordinary_answer(rows: list[Any], every: int) -> None:
    t = tacit.read(arrow(rows), person="who", budget=Approx(10**6, "0.9"))
    for name, ask in islice(questions(t), 0, None, every):
        answer = ask(epsilon=1)
        assert shown(answer), name
        assert not (isinstance(answer, Answer) and answer.stored)
    for name, ask in found(t):
        assert shown(ask(epsilon=1, delta="1e-6")), name


def test_a_column_without_values() -> None:
    for kind in (pa.int64(), pa.float64(), pa.null()):
        t = table({"who": [1, 2, 3], "v": pa.array([None] * 3, kind)})
        assert t.persons(epsilon=SURE).value == 3
        assert t.count("v", epsilon=SURE).value == 0
        assert t.count("v", per="person", epsilon=SURE).value == 0
        assert t.sum("v", epsilon=SURE).value == 0
        largest = t.max("v", epsilon=SURE)
        assert largest.value is None
        assert "no answer" in str(largest)
        assert "Too few persons" in str(largest)
        assert tuple(t.mean("v", epsilon=SURE).interval()) == (-inf, inf)
        assert tuple(t.variance("v", epsilon=SURE).interval()) == (0, inf)


@pytest.mark.parametrize(("place", "named"), [(0, False), (5, False), (899, False), (900, True)])
def test_a_scan_that_stops_at_once_names_no_value(place: int, named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lowest of all numbers is not taken for the largest value of the data."""
    grid = Scale(INTEGER, 3).outward(True)
    assert grid.first is not None
    monkeypatch.setattr(ShiftedInverseLaw, "_draw", lambda *_: grid.value(grid.first + place))
    t = table({"who": list(range(20)), "v": list(range(20))})
    for answer in (t.max("v", epsilon=1, fresh=True), t.min("v", epsilon=1, fresh=True)):
        assert (answer.value is not None) == named
        assert ("Too few persons" in str(answer)) != named


def test_nobody_at_all() -> None:
    t = table({"who": pa.array([], pa.int64()), "v": pa.array([], pa.int64()), "b": pa.array([], pa.bool_())})
    assert t.persons(epsilon=SURE).value == 0
    assert t.count(epsilon=SURE).value == 0
    assert t.sum("v", epsilon=SURE).value == 0
    assert t.min("v", epsilon=SURE).value is None
    assert t.ratio("b", epsilon=SURE).value == 0.5
    assert t.ratio("b", epsilon=SURE).interval().low == 0
    assert t.ratio("b", epsilon=SURE).interval().high == 1


def test_little_data_say_how_little_can_be_known() -> None:
    t = table({"who": [1], "v": [5]})
    low, high = t.persons(epsilon="0.001").interval()
    assert high - low > 1000
    assert t.max("v", epsilon="0.1").value is None or t.max("v", epsilon="0.1").persons_above_cap() is not None


def test_integers_of_64_bits_do_not_overflow() -> None:
    n = 2000
    t = table({"who": list(range(n)), "v": [2**63 - 1] * n, "w": [-(2**63)] * n})
    assert t.sum("v", epsilon=10**6).value == pytest.approx(n * 2**63, rel=1e-3)
    assert t.sum("w", epsilon=10**6).value == pytest.approx(-n * 2**63, rel=1e-3)
    assert t.mean("v", epsilon=10**6).value == pytest.approx(2**63, rel=1e-3)
    assert t.max("v", epsilon=SURE).value == pytest.approx(2**63, rel=1e-2)
    assert t.min("w", epsilon=SURE).value == pytest.approx(-(2**63), rel=1e-2)
    assert t.mutate(z="v + 1").count("z", epsilon=SURE).value == 0  # an overflow is NULL
    assert t.filter("v - w > 0").count(epsilon=SURE).value == 0
    unsigned = table({"who": list(range(n)), "v": pa.array([2**64 - 1] * n, pa.uint64())})
    assert unsigned.max("v", epsilon=SURE).value == pytest.approx(2**63, rel=1e-2)  # saturates at 64 bits


def test_floats_saturate_and_nan_is_absent() -> None:
    values = [1e308, -1e308, nan, inf, -inf, None, 2.5]
    t = table({"who": list(range(700)), "v": values * 100})
    assert t.count("v", epsilon=SURE).value == 500
    assert t.count("v", per="person", epsilon=SURE).value == 500
    assert t.sum("v", epsilon=10**6).value == pytest.approx(250, abs=1e9)
    positive = t.filter("v > 0")
    assert positive.persons(epsilon=SURE).value == 300
    assert positive.sum("v", epsilon=10**6).value == pytest.approx(200 * 9.2e12, rel=1e-3)
    assert t.max("v", epsilon=SURE).value == pytest.approx(1.7976931348623157e308, rel=1e-2)
    assert t.min("v", epsilon=SURE).value == pytest.approx(-1.7976931348623157e308, rel=1e-2)
    assert t.median("v", epsilon=SURE).value == 2.5
    assert t.filter("v IS NULL").persons(epsilon=SURE).value == 200
    assert t.mutate(z="v / 0").count("z", epsilon=SURE).value == 0
    assert t.mutate(z="v * v").count("z", epsilon=SURE).value == 100  # beyond the finite range is NULL


def test_a_public_unit_is_a_hint_and_is_stated() -> None:
    t = table({"who": list(range(1000)), "v": [1234.5678] * 1000}, unit="0.01")
    total = t.sum("v", epsilon=10**6)
    assert total.value == pytest.approx(1_234_570)
    assert total.unit == "0.01"
    assert "0.01" in total.explain()


def test_decimals_stay_exact() -> None:
    prices = pa.array([Decimal("0.10")] * 300, pa.decimal128(12, 2))
    t = table({"who": list(range(300)), "v": prices, "g": ["a", "b", "c"] * 100})
    total = t.sum("v", epsilon=SURE)
    assert total.value == Decimal("30.00")
    assert isinstance(total.value, Decimal)
    assert total.unit == "0.01"
    by = t.group_by("g", ["a", "b"]).sum("v", epsilon=SURE)
    assert [by[key].value for key in ("a", "b")] == [Decimal("10.00")] * 2
    assert t.group_by("v", [Decimal("0.1"), "0.2"][:1]).count(epsilon=SURE)[Decimal("0.1")].value == 300


def test_dates_and_truth_values_have_minima_and_maxima() -> None:
    days = [date(1900, 1, 1), date(2020, 2, 29), date(2500, 12, 31)]
    t = table({"who": list(range(300)), "d": days * 100, "yes": [True] * 300, "no": [False] * 300})
    assert t.min("d", epsilon=SURE).value == days[0]
    assert t.median("d", epsilon=SURE).value == days[1]
    assert t.max("d", epsilon=SURE).value == days[2]
    assert [t.min(c, epsilon=SURE).value for c in ("yes", "no")] == [True, False]
    assert [t.max(c, epsilon=SURE).value for c in ("yes", "no")] == [True, False]


NAMES = ("größe", 'with "quotes"', "it's", "SELECT", "a b", "1st", "x; DROP TABLE t; --", "名前", "*", "Größe.2")


@pytest.mark.parametrize("name", NAMES)
def test_any_column_name_can_be_asked_about(name: str) -> None:
    t = table({"who": list(range(50)), name: [2] * 50})
    assert t.sum(name, epsilon=SURE).value == 100
    assert t.select(name).max(name, epsilon=SURE).value == 2
    quoted = '"' + name.replace('"', '""') + '"'
    assert t.filter(f"{quoted} = 2").count(epsilon=SURE).value == 50
    assert t.sql(f"SELECT SUM({quoted}) FROM t WHERE {quoted} > 1", epsilon=SURE).value == 100  # type: ignore[union-attr]
    person = tacit.read(pa.table({name: [1, 1, 2]}), person=name, budget=Pure(SURE))
    assert person.persons(epsilon=SURE).value == 2


IDENTITIES: dict[str, tuple[list[Any], int]] = {
    "integers": ([1, 1, 2, None, 2**63 - 1], 3),
    "texts": (["a", "A", "a ", None, "é", "e\u0301", ""], 6),
    "floats": ([1.0, 1.0, nan, None, inf, 0.5], 3),
    "dates": ([date(2020, 1, 1), date(2020, 1, 1), date(2020, 1, 2), None], 2),
    "truth values": ([True, False, True, None], 2),
    "nobody": ([None, None], 0),
}


@pytest.mark.parametrize("kind", IDENTITIES)
def test_persons_are_told_apart_by_their_own_type_and_null_is_nobody(kind: str) -> None:
    values, persons = IDENTITIES[kind]
    rows = sum(value is not None and value == value for value in values)
    t = table({"who": pa.array(values, pa.int64() if kind == "nobody" else None), "v": [1] * len(values)})
    assert t.persons(epsilon=SURE).value == persons
    assert t.count(epsilon=SURE).value == rows


def test_uuids_of_a_database_are_persons(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(tmp_path / "shop.duckdb") as connection:
        connection.execute("CREATE TABLE orders AS SELECT uuid() AS who, 1 AS v FROM range(20)")
        connection.execute("INSERT INTO orders SELECT who, 2 FROM orders")
        connection.execute("INSERT INTO orders VALUES (NULL, 3)")
    t = tacit.read(tmp_path / "shop.duckdb", person="who", table="orders", budget=Pure(10**7))
    assert t.persons(epsilon=SURE).value == 20
    assert t.sum("v", epsilon=SURE).value == 60


def test_frames_and_files_answer_alike(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {"who": [1, 1, 2, 3], "v": [1.5, 2.5, None, 4.0], "s": ["a", "b", None, "a"]}
    frame, arrow_table = pd.DataFrame(columns), pa.table(columns)
    polars = pl.DataFrame(columns)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.json", orient="records", lines=True)
    polars.write_parquet(tmp_path / "t.parquet")
    for source in (frame, polars, arrow_table, *(tmp_path / f"t.{end}" for end in ("csv", "json", "parquet"))):
        t = tacit.read(source, person="who", budget=Pure(10**9))
        assert t.persons(epsilon=SURE).value == 3
        assert t.sum("v", epsilon=10**6).value == pytest.approx(8, abs=1e-3)
        assert t.count("v", epsilon=SURE).value == 3
        assert t.group_by("s", ["a", None]).count(epsilon=SURE)[None].value == 1


BROKEN = ["7,eight", "7,8,9,secret", '7,"8', "\xff\xfe7,8"]


@pytest.mark.parametrize("line", BROKEN)
def test_a_text_file_with_a_broken_row_far_down(line: str, tmp_path: Path) -> None:
    """Row 300,002 is beyond what any reader looks at when a file is opened."""
    good, path = 300_000, tmp_path / "t.csv"
    body = "".join(f"{n},1\n" for n in range(good)).encode()
    path.write_bytes(b"who,v\n" + body + line.encode("latin-1") + b"\n1,1\n")
    t = tacit.read(path, person="who", budget=Pure(10**9))
    total = t.sum("v", epsilon=SURE).value
    assert isinstance(total, int)
    assert total in (good, good + 1, good + 9)  # what an open quote swallows is the rest of a megabyte at most
    assert t.persons(epsilon=SURE).value in (good, good + 1)


def test_rows_that_break_rules_are_dropped_or_null(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who;v;day\n1;1,5;01.02.2020\n1;x;99.99.2020\n;3,0;01.02.2020\n2;2,5;\n")
    schema = {"who": "integer", "v": "decimal(1)", "day": "date"}
    options: dict[str, Any] = {"delimiter": ";", "decimal_separator": ",", "date_format": "%d.%m.%Y"}
    t = tacit.read(path, person="who", budget=Pure(10**9), schema=schema, **options)
    assert t.sum("v", epsilon=SURE).value == Decimal("4.0")
    assert t.count("day", epsilon=SURE).value == 1
    assert t.count(epsilon=SURE).value == 3


def test_the_schema_that_is_read_can_be_confirmed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,v\n1,2.5\n")
    found_schema = tacit.schema(path)
    assert str(found_schema) == "who integer, v float"
    t = tacit.read(path, person="who", budget=Pure(1), schema=found_schema)
    assert t.schema == found_schema


@pytest.mark.parametrize("epsilon", ["1e-20", "0.01", 1, 10**6])
@pytest.mark.parametrize("n", [0, 1, 20, 200])
def test_a_sum_needs_no_parameter_at_any_size(n: int, epsilon: Any) -> None:
    t = table({"who": pa.array(range(n), pa.int64()), "v": pa.array([7] * n, pa.int64())})
    answer = t.sum("v", epsilon=epsilon)
    low, high = answer.interval("0.999999")
    assert low <= high
    assert shown(answer)
