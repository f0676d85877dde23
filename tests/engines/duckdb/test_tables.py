"""Every kind of source gives the same table, refusals use public facts only, and damage costs only itself."""

import datetime as dt
import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tacit.engines import Engine, Source, open_engine
from tacit.engines.requests import Buckets, Extremes, Ordered, Persons, Relation, RowCount, TotalBuckets, value
from tacit.errors import InvalidInput
from tacit.language.expressions import Column, Scope
from tacit.language.types import Schema

ROWS: list[dict[str, Any]] = [
    {"person": "a", "amount": 5, "price": 1.5, "day": dt.date(2020, 1, 31), "ok": True},
    {"person": "a", "amount": 7, "price": None, "day": dt.date(2020, 2, 29), "ok": False},
    {"person": "ü", "amount": None, "price": 2.25, "day": None, "ok": None},
]
TYPES = {"person": "text", "amount": "integer", "price": "float", "day": "date", "ok": "boolean"}


def summary(engine: Engine, person: str = "person", amount: str = "amount") -> tuple[int, int, int]:
    """Persons, rows, and the sum of an amount."""
    scope = Scope.of(engine.schema("t"), "t")
    who = scope.find(person, quoted=True)
    assert isinstance(who, Column)
    asked = (
        Persons(),
        TotalBuckets(RowCount(), (10**9,)),
        TotalBuckets(value(scope.find(amount, quoted=True)), (2**62,)),
    )
    with engine.snapshot() as snapshot:
        persons, rows, total = snapshot.ask(Relation("t", "t", who), asked)
    return persons, sum(b.sum for b in rows.positive), signed(total)


def signed(buckets: Buckets) -> int:
    return sum(b.sum for b in buckets.positive) - sum(b.sum for b in buckets.negative)


def write(kind: str, folder: Path) -> Any:
    """The rows above as one kind of source."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist(ROWS)
    match kind:
        case "arrow":
            return table
        case "pandas":
            return table.to_pandas()
        case "polars":
            import polars as pl

            return pl.DataFrame(ROWS)
        case "parquet":
            pq.write_table(table, folder / "t.parquet")
        case "csv" | "tsv" | "csv.gz":
            mark = "\t" if kind == "tsv" else ","
            lines = [
                mark.join(ROWS[0]),
                *(mark.join("" if v is None else str(v) for v in row.values()) for row in ROWS),
            ]
            data = ("\n".join(lines) + "\n").encode()
            (folder / f"t.{kind}").write_bytes(gzip.compress(data) if kind == "csv.gz" else data)
        case "json" | "jsonl":
            text = [json.dumps(row, default=str, ensure_ascii=False) for row in ROWS]
            (folder / f"t.{kind}").write_text("\n".join(text) if kind == "jsonl" else f"[{', '.join(text)}]")
        case "duckdb":
            import duckdb

            with duckdb.connect(str(folder / "t.duckdb")) as connection:
                connection.register("rows", table)
                connection.execute("CREATE TABLE t AS SELECT * FROM rows")
    return folder / f"t.{kind}"


@pytest.mark.parametrize(
    "kind", ["arrow", "pandas", "polars", "parquet", "csv", "tsv", "csv.gz", "json", "jsonl", "duckdb"]
)
def test_every_source_is_the_same_table(kind: str, tmp_path: Path) -> None:
    options = {"multiline": True} if kind == "json" else {}
    engine = open_engine({"t": Source(write(kind, tmp_path), options=options)})
    found = dict(engine.schema("t"))
    if kind == "pandas":  # a column of whole numbers with a gap is one of floats there
        assert found.pop("amount") == found["price"]
        assert {**found, "amount": "integer"}.keys() == TYPES.keys()
    else:
        assert dict(engine.schema("t")) == dict(Schema.of(TYPES))
    assert summary(engine)[:2] == (2, 3)
    assert summary(engine)[2] == (12 * 10**6 if kind == "pandas" else 12)
    engine.close()


def test_an_open_connection_is_read_and_left_alone(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS person, 2 AS amount")
        connection.execute('CREATE SCHEMA s; CREATE TABLE s."two words" AS SELECT 1 AS person, 3 AS amount')
        connection.execute("SET default_collation = NOCASE")
        engine = open_engine({"t": Source(connection), "u": Source(connection, table="s.two words")})
        assert summary(engine) == (1, 1, 2)
        assert list(engine.schema("u")) == ["person", "amount"]
        connection.execute("INSERT INTO t VALUES (2, 5)")
        assert summary(engine) == (2, 2, 7)
        with pytest.raises(InvalidInput, match="cannot be mixed"):
            open_engine({"t": Source(connection), "v": Source(write("arrow", tmp_path))})
        engine.close()
        assert connection.execute("SELECT COUNT(*) FROM t").fetchall() == [(2,)]


def test_rounds_see_one_state_of_a_database() -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS person, 2 AS amount")
        engine = open_engine({"t": Source(connection)})
        scope = Scope.of(engine.schema("t"), "t")
        relation = Relation("t", "t", scope.find("person"))  # type: ignore[arg-type]
        with engine.snapshot() as snapshot:
            assert snapshot.ask(relation, (Persons(),)) == (1,)
            connection.execute("INSERT INTO t VALUES (2, 5)")
            assert snapshot.ask(relation, (Persons(),)) == (1,)
        engine.close()


@pytest.mark.parametrize("name", ['a"b', "a b", "'; DROP TABLE t; --", "{}", "größe", "select", "A"])
def test_any_column_name_works(name: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(
        pa.table({name: [1, 1, 2], "a": [4, 5, 6]}), tmp_path / "t.parquet"
    ) if name != "A" else pq.write_table(pa.table({"A": [1, 1, 2]}), tmp_path / "t.parquet")
    engine = open_engine({"t": Source(str(tmp_path / "t.parquet"))})
    assert summary(engine, name, name) == (2, 3, 4)


@pytest.mark.parametrize("person", ["integer", "huge", "uuid", "text", "blob", "float", "date", "nocase", "enum"])
def test_persons_are_equal_as_their_type_says(person: str) -> None:
    """Four persons, whom saturation, collation or rounding would merge, and a fifth row without a person."""
    import duckdb

    values = {
        "integer": "1::INTEGER, 2, 3, 4, NULL",
        "huge": "9223372036854775808::HUGEINT, 9223372036854775809, 1, 2, NULL",
        "uuid": "uuid(), uuid(), uuid(), uuid(), NULL",
        "text": "'a', 'A', 'a ', '', NULL",
        "blob": "'\\xAA'::BLOB, '\\xAB', '', 'a', NULL",
        "float": "1.5::DOUBLE, 'inf'::DOUBLE, 1.7976931348623157e308, '-inf', 'nan'",
        "date": "'infinity'::DATE, '9999-12-31', '-infinity', '2020-01-01', NULL",
        "nocase": "'a', 'A', 'b', 'B', NULL",
        "enum": "'a', 'b', 'c', 'd', NULL",
    }[person]
    kind = {"nocase": "VARCHAR COLLATE NOCASE", "enum": "ENUM('a', 'b', 'c', 'd')"}.get(person)
    with duckdb.connect() as connection:
        if kind:
            connection.execute(f"CREATE TABLE t (person {kind}, amount INTEGER)")
            connection.execute(f"INSERT INTO t SELECT unnest([{values}]), 1")
        else:
            connection.execute(f"CREATE TABLE t AS SELECT unnest([{values}]) AS person, 1 AS amount")
        connection.execute("INSERT INTO t SELECT * FROM t")
        engine = open_engine({"t": Source(connection)})
        assert summary(engine) == (4, 8, 8)
        engine.close()


def test_wide_types_saturate() -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 1 AS person, 340282366920938463463374607431768211455::UHUGEINT AS a, "
            "18446744073709551615::UBIGINT AS b, (-9223372036854775809)::HUGEINT AS c, "
            "99999999999999999999.99::DECIMAL(38,2) AS d, 'infinity'::TIMESTAMPTZ AS e, '-infinity'::DATE AS f, "
            "'290000-01-01'::TIMESTAMP_S AS g, 1.25::DECIMAL(38,20) AS h, [1] AS i"
        )
        engine = open_engine({"t": Source(connection)})
        schema = engine.schema("t")
        scope = Scope.of(schema, "t")
        asked: tuple[Any, ...] = tuple(Extremes(Ordered(scope.find(name)), 1, True) for name in "abcdefg")
        with engine.snapshot() as snapshot:
            found: Any = snapshot.ask(Relation("t", "t", scope.find("person")), asked)  # type: ignore[arg-type]
        engine.close()
    top = dt.datetime.max - dt.datetime(1970, 1, 1)
    assert [values[0] for values in found[:4]] == [2**63 - 1, 2**63 - 1, -(2**63), Decimal(2**63 - 1).scaleb(-2)]
    assert found[4] == found[6] == (top // dt.timedelta(microseconds=1),)
    assert found[5] == ((dt.date.min - dt.date(1970, 1, 1)).days,)
    assert [str(schema[name]) for name in "hi"] == ["other", "other"]


def damaged_csv(path: Path, *broken: str) -> None:
    good = [f"{i % 100},{i % 7},2020-01-{i % 28 + 1:02d},n{i % 3}" for i in range(300_000)]
    path.write_text("\n".join(["person,amount,day,name", *good, *broken, "7,5,2020-01-01,end", ""]))


@pytest.mark.parametrize(
    ("line", "rows", "total"),
    [
        ("8,abc,not a date,x", 1, 0),  # the values that do not fit are NULL
        ("8,99999999999999999999,2020-13-45,x", 1, 2**63 - 1),  # and too large ones saturate
        ("8", 0, 0),  # a line with another number of fields is no row
        ("8,1,2020-01-01,x,y", 0, 0),
        ('8,6,2020-01-01,"a, ""b"" and c"', 1, 6),  # quotes that the first rows did not use
        (
            '8,6,2020-01-01,"a\n8,6,2020-01-01,c"',
            1,
            6,
        ),  # a quote does not span lines; the second line has its mark inside
    ],
)
def test_a_broken_line_is_an_ordinary_matter(line: str, rows: int, total: int, tmp_path: Path) -> None:
    damaged_csv(tmp_path / "t.csv", line)
    engine = open_engine({"t": Source(str(tmp_path / "t.csv"))})
    assert dict(engine.schema("t")) == dict(
        Schema.of({"person": "integer", "amount": "integer", "day": "date", "name": "text"})
    )
    usual = sum(i % 7 for i in range(300_000))
    assert summary(engine) == (100, 300_001 + rows, usual + 5 + total)


def test_an_open_quote_costs_its_own_line(tmp_path: Path) -> None:
    damaged_csv(tmp_path / "t.csv", '8,1,2020-01-01,"open', *["9,1,2020-01-01,y"] * 300_000)
    engine = open_engine({"t": Source(str(tmp_path / "t.csv"))})
    assert summary(engine)[1] == 600_001


def test_quotes_span_lines_where_the_custodian_declares_it(tmp_path: Path) -> None:
    lines = ["person,note", '1,"a', 'b"', '2,"c, ""d"""', ""]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert summary(open_engine({"t": Source(tmp_path / "t.csv", options={"multiline": True})}), "person", "person") == (
        2,
        2,
        3,
    )
    assert summary(open_engine({"t": Source(tmp_path / "t.csv")}), "person", "person") == (1, 1, 2)


def test_bytes_outside_the_encoding(tmp_path: Path) -> None:
    lines = ["person;amount", *["x;1"] * 30_000, "café;2", "y;3", ""]
    (tmp_path / "t.csv").write_bytes("\n".join(lines).encode("latin-1"))
    assert summary(open_engine({"t": Source(str(tmp_path / "t.csv"))})) == (2, 30_001, 30_003)
    latin = open_engine({"t": Source(str(tmp_path / "t.csv"), options={"encoding": "latin-1"})})
    assert summary(latin) == (3, 30_002, 30_005)


def test_reader_options(tmp_path: Path) -> None:
    path = tmp_path / "t.data"
    path.write_text("skip me\n1|1,5|31/12/2020|NA\n2|2,25|01/01/2021|4\n2|x|99/99/9999|NA\n")
    options = {
        "format": "csv",
        "delimiter": "|",
        "header": False,
        "skip": 1,
        "decimal_separator": ",",
        "date_format": "%d/%m/%Y",
        "null": "NA",
    }
    schema = Schema.of({"person": "integer", "amount": "decimal(2)", "day": "date", "rest": "text"})
    engine = open_engine({"t": Source(str(path), schema, options=options)})
    assert summary(engine) == (2, 3, 375)
    scope = Scope.of(engine.schema("t"), "t")
    relation = Relation("t", "t", scope.find("person"))  # type: ignore[arg-type]
    asked = (Extremes(Ordered(scope.find("day")), 5, True), TotalBuckets(RowCount(scope.find("rest")), (9,)))
    with engine.snapshot() as snapshot:
        days, rest = snapshot.ask(relation, asked)
    assert days == tuple((day - dt.date(1970, 1, 1)).days for day in (dt.date(2021, 1, 1), dt.date(2020, 12, 31)))
    assert sum(b.count for b in rest.positive) == 1


def test_long_numbers_still_tell_persons_apart(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("person,amount\n" + "".join(f"{10**19 + i % 5},1\n" for i in range(20)))
    schema = Schema.of({"person": "integer", "amount": "integer"})  # DuckDB 1 would take these numbers for floats
    assert summary(open_engine({"t": Source(tmp_path / "t.csv", schema)})) == (5, 20, 20)


def test_formats_of_dates_and_times_are_found(tmp_path: Path) -> None:
    lines = ["person,day,time", "1,31/12/2020,2020-01-01T12:00:00+02:00", "2,01/02/2020,2020-01-01T09:00:00Z", "2,,x"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    schema = Schema.of({"person": "integer", "day": "date", "time": "timestamp"})
    engine = open_engine({"t": Source(tmp_path / "t.csv", schema)})
    scope = Scope.of(engine.schema("t"), "t")
    asked = (Extremes(Ordered(scope.find("day")), 2, True), Extremes(Ordered(scope.find("time")), 2, True))
    with engine.snapshot() as snapshot:
        days, times = snapshot.ask(Relation("t", "t", Column(schema["person"], "t", "person")), asked)
    assert days == tuple((day - dt.date(1970, 1, 1)).days for day in (dt.date(2020, 12, 31), dt.date(2020, 2, 1)))
    hours = [dt.datetime(2020, 1, 1, hour) - dt.datetime(1970, 1, 1) for hour in (10, 9)]
    assert [dt.timedelta(microseconds=int(time)) for time in times] == hours


def test_a_schema_renames_nothing_and_converts(tmp_path: Path) -> None:
    path = write("parquet", tmp_path)
    engine = open_engine({"t": Source(str(path), Schema.of({"person": "text", "price": "decimal(1)"}))})
    assert list(engine.schema("t")) == ["person", "price"]
    assert summary(engine, amount="price") == (2, 3, 38)  # 1.5 and 2.25 in tenths, the half rounded away from zero
    with pytest.raises(InvalidInput, match="'nmae'; the columns are person, amount, price, day, ok"):
        open_engine({"t": Source(str(path), Schema.of({"nmae": "text"}))})


def test_json_lines_that_are_no_objects_have_no_person(tmp_path: Path) -> None:
    good = [json.dumps({"person": i % 10, "amount": i % 3}) for i in range(30_000)]
    bad = ['{"person": broken', "42", "[1, 2]", '{"person": 3, "amount": "many"}', '{"person": 4, "amount": 100}']
    (tmp_path / "t.jsonl").write_text("\n".join(good + bad))
    engine = open_engine({"t": Source(str(tmp_path / "t.jsonl"))})
    assert summary(engine) == (10, 30_002, 30_000 + 100)


def test_python_objects_of_mixed_types_are_no_surprise() -> None:
    """pandas' object columns are typed from a sample; later rows of another type become NULL and never an error."""
    import pandas as pd

    mixed = pd.Series([Decimal("1.50")] * 5000 + ["oops", None, float("nan"), Decimal("2.50")], dtype=object)
    frame = pd.DataFrame({"person": 1, "amount": mixed})
    engine = open_engine({"t": Source(frame, Schema.of({"person": "integer", "amount": "decimal(2)"}))})
    assert summary(engine) == (1, 5004, 5000 * 150 + 250)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_empty_tables(kind: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / f"t.{kind}"
    schema = Schema.of({"person": "integer", "amount": "integer"})
    if kind == "parquet":
        pq.write_table(pa.table({"person": pa.array([], pa.int64()), "amount": pa.array([], pa.int64())}), path)
    else:
        path.write_text("person,amount\n" if kind == "csv" else "")
    assert summary(open_engine({"t": Source(str(path), schema)})) == (0, 0, 0)


def test_several_files_by_a_pattern(tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / f"part{i}.csv").write_text(f"person,amount\n{i},5\n")
    assert summary(open_engine({"t": Source(str(tmp_path / "part*.csv"))})) == (3, 3, 15)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (Source("nowhere.parquet"), "there is no file at 'nowhere.parquet'"),
        (Source(__file__), "the kind of file is not clear"),
        (Source(3), "must come from a path"),
        (Source([7]), "must come from a path"),
        (Source(__file__, options={"format": "parquet"}), "could not be opened"),
        (Source(__file__, options={"format": "csv", "delimeter": ";"}), "delimeter is not an option"),
        (Source(__file__, options={"format": "duckdb"}), "could not be opened"),
    ],
)
def test_refusals_name_the_table_and_the_remedy(source: Source, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        open_engine({"t": source})


def test_a_database_without_the_table_lists_its_tables(tmp_path: Path) -> None:
    path = write("duckdb", tmp_path)
    assert summary(open_engine({"t": Source(str(path))})) == (2, 3, 12)
    engine = open_engine({"other": Source(str(path))})  # the only table, under another name
    assert dict(engine.schema("other")) == dict(Schema.of(TYPES))
    with pytest.raises(InvalidInput, match="no table 'missing'; name one with table=, the tables are t"):
        open_engine({"t": Source(str(path), table="missing")})
