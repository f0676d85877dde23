"""No value makes a question fail, and none changes another person's rows.

The attack: whoever writes one row writes a value that the engine cannot convert, and every question that fails from
then on tells, exactly and at any ε, that the row is there. So every native type that a source may have is filled with
its extremes, and everything is asked: nothing may raise, and what is asked about all persons must be what is asked
about one of them and what is asked about the others, added up.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.engines import Engine, Source, open_engine
from tacit.engines.requests import (
    FAR,
    HALF,
    Blocks,
    Buckets,
    Deviation,
    Extremes,
    Filled,
    GroupSteps,
    GroupTotals,
    Incidence,
    KeyCounts,
    KeysPerPerson,
    Ordered,
    PersonMean,
    Persons,
    Product,
    ProductTotals,
    RankSteps,
    Relation,
    RowCount,
    Sample,
    Steps,
    TotalBuckets,
    value,
)
from tacit.errors import InvalidInput
from tacit.language.expressions import Column, Literal, Scope
from tacit.language.parsing import parse
from tacit.language.types import DATE, OTHER, TIMESTAMP, Schema
from tests.engines.support import shared
from tests.postgres import POSTGRES, REQUIRED, run, schema, server

__all__ = ["server"]

SALT = bytes(16)
BOUNDS = (0, 1, 10, 10**6, 2**62)


# ---- everything that can be asked about one column ----------------------------------------------------------------


def everything(engine: Engine, column: str, person: str = "who", rest: bool = True) -> Counter[Any]:
    """All answers about a column as counts that add up over persons; the ``rest`` do not, and must not fail."""
    scope = Scope.of(engine.schema("t"), "t")
    who, x = scope.tables["t"][person], scope.tables["t"][column]
    assert isinstance(who, Column)
    about = Relation("t", "t", who)
    if x.type == OTHER:
        with engine.snapshot() as snapshot:
            return Counter(persons=snapshot.ask(about, (Persons(),))[0])
    parts: list[Any] = [TotalBuckets(RowCount(), BOUNDS), TotalBuckets(RowCount(x), BOUNDS)]
    products: list[Any] = []
    if x.type.number:
        near, far = Steps(value(x), 3, 2**20, -5), Steps(value(x), -FAR, FAR, HALF)
        centred = [Product(near, far), PersonMean(Deviation(value(x), -FAR), 1000)]
        parts += [TotalBuckets(total, BOUNDS) for total in (value(x), Filled(value(x)), *centred)]
        places = ((-FAR, FAR), (FAR, 1))
        groups = ((x,), ((Literal(x.type, None),), (Literal(x.type, 0),)))
        entries = (GroupSteps(value(x), places, squared=True), GroupSteps(value(x), places, mean=True))
        products = [ProductTotals((near, far), (2**10, 3), 2**20)]
        products += [GroupTotals(entry, *groups, "l2", 2**50) for entry in entries]
    further: list[Any] = [KeysPerPerson((x,), (1, 2))]
    if x.type.ordered:
        parts += [Extremes(Ordered(x), 1000, True), Extremes(Ordered(x), 1000, False)]
        further += [RankSteps(Ordered(x), (Fraction(1, 2),), 3, 2)]
    if x.type in (DATE, TIMESTAMP):
        texts = [f'EXTRACT({part} FROM "{column}")' for part in ("year", "week", "doy")]
        texts += [f"DATE_TRUNC('{unit}', \"{column}\")" for unit in ("year", "week", "day")]
        further += [Extremes(Ordered(parse(text, scope)), 9, True) for text in texts]
    with engine.snapshot() as snapshot:
        persons, keys, *answers = snapshot.ask(about, (Persons(), KeyCounts((x,), 10**6, 1, SALT), *parts))
        touches = snapshot.touches(about, Incidence(values=x))
    found: Counter[Any] = Counter(persons=persons, pairs=len(touches.weights))
    found.update({("group", key): count for key, count in keys})
    for number, answer in enumerate(answers):
        if isinstance(answer, Buckets):
            for place, cell in enumerate((*answer.positive, *answer.negative)):
                found.update({(number, place): cell.count, (number, place, "sum"): cell.sum})
        else:
            found.update((number, v) for v in answer)
    if rest:
        some = replace(about, filter=parse(f'"{column}" = "{column}"', scope), sample=Sample(2**59, SALT))
        with engine.snapshot() as snapshot:
            snapshot.ask(some, tuple(further))
            snapshot.blocks(about, Blocks((("x", x),), 3, SALT))
        with engine.snapshot() as snapshot:
            snapshot.ask(about, (Persons(), *products))
            rare = snapshot.touches(about, Incidence(values=x, rare=True))
        assert touches.values is not None
        assert rare.values is not None
        assert rare.common + len(np.unique(rare.values)) == len(np.unique(touches.values))
    return found


def attack(sources: Sequence[Source], columns: Iterable[str], rest: bool = True) -> None:
    """Ask about all persons, about one of them, about the others; then with every column as the person."""
    engines = [open_engine({"t": source}) for source in sources]
    for column in columns:
        asked = rest and engines[0].schema("t")[column].ordered
        whole, *parts = (everything(engine, column, rest=asked and engine is engines[0]) for engine in engines)
        for part in parts:
            whole.subtract(part)
        assert not {key: count for key, count in whole.items() if count}, column
        if engines[0].key_type("t", column).exact:
            person = Column(engines[0].schema("t")[column], "t", column)
            with engines[0].snapshot() as snapshot:
                snapshot.ask(Relation("t", "t", person, sample=Sample(2**59, SALT)), (Persons(),))
    for engine in engines:
        engine.close()


DECLARED = ("integer", "decimal(18)", "float", "date", "timestamp", "text")


def readable(source: Callable[[Schema], Source], columns: Iterable[str], kind: str) -> Engine:
    """An engine over the columns that may be declared as this type; the others are refused by name."""
    left = list(columns)
    while True:
        try:
            return open_engine({"t": source(Schema.of({"who": "integer"} | dict.fromkeys(left, kind)))})
        except InvalidInput as refusal:
            (refused,) = (column for column in left if repr(column) in str(refusal))
            left.remove(refused)


def declared(source: Callable[[Schema], Source], columns: Sequence[str]) -> None:
    """Whatever a column is declared as, it is refused from its type alone or read without failing."""
    for kind in DECLARED:
        engine = readable(source, columns, kind)
        scope = Scope.of(engine.schema("t"), "t")
        asked = [scope.find(column) for column in engine.schema("t")]
        with engine.snapshot() as snapshot:
            about = Relation("t", "t", scope.find("who"))  # type: ignore[arg-type]
            snapshot.ask(about, tuple(KeyCounts((x,), 10**6, 1, SALT) for x in asked))
            snapshot.ask(about, tuple(Extremes(Ordered(x), 9, True) for x in asked if x.type.ordered))
        engine.close()


def thirds(table: pa.Table) -> list[pa.Table]:
    """Rows of persons 1, 2, 3, 1, 2, 3, …: all of them, those of the first, those of the others."""
    places = np.arange(len(table))
    table = table.append_column("who", pa.array(1 + places % 3))
    return [table, table.take(places[places % 3 == 0]), table.take(places[places % 3 > 0])]


def padded(columns: Mapping[str, Any]) -> pa.Table:
    """Columns of one length."""
    length = max(map(len, columns.values()))
    made: dict[str, Any] = {
        name: column if isinstance(column, pa.DictionaryArray) and len(column) == length
        else pa.chunked_array([column, pa.nulls(length - len(column), column.type)])
        for name, column in columns.items()
    }  # fmt: skip
    return pa.table(made)


# ---- Arrow --------------------------------------------------------------------------------------------------------

INT64 = [0, 1, -1, 2**63 - 1, -(2**63), -(2**63) + 1, 2**62, 10**12, -(10**13), 9 * 10**15, 253402300800 * 10**6]
INT32 = [0, 1, -1, 2**31 - 1, -(2**31), -(2**31) + 1, 10**8, -(10**9)]
TEXTS = [b"", b"a", b"A", b"\xff", b"\xed\xa0\x80", b"\x00", b"a\x00b", b"\xc3\xa9", b"\xf4\x90\x80\x80", b"x" * 300]


def _text_array(kind: pa.DataType) -> Any:
    """Bytes in a column of text, as a damaged writer leaves them."""
    raw = pa.array(TEXTS, pa.large_binary() if kind == pa.large_string() else pa.binary())
    return pa.Array.from_buffers(kind, len(raw), raw.buffers())


DAMAGED = b"".join(n.to_bytes(16, "little", signed=True) for n in (2**127 - 1, -(10**38), 7))
"""Bits that Arrow takes for decimals, two of them with more digits than any has."""

ARROW: dict[str, Any] = {
    **{
        f"timestamp {unit} {zone}": pa.array([*INT64, None]).cast(pa.timestamp(unit, zone))
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "Zulu")
    },
    "date32": pa.array([*INT32, None], pa.int32()).cast(pa.date32()),
    "date64": pa.array([*INT64, None]).cast(pa.date64()),
    "text": _text_array(pa.string()),
    "long text": _text_array(pa.large_string()),
    "dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 3, None, 4]), _text_array(pa.string())),
    "uint64": pa.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1, None], pa.uint64()),
    "double": pa.array([nan, inf, -inf, 0.0, -0.0, 5e-324, 1.7976931348623157e308, None]),
    "other nan": pa.array(np.frombuffer(struct.pack("<QQQ", 0x7FF8000000000001, 0xFFF8000000000000, 0), np.float64)),
    "float": pa.array([nan, inf, -0.0, 0.0, 0.1, 3.4e38, None], pa.float32()),
    "half": pa.array(np.array([nan, inf, -0.0, 1.5], np.float16)),
    "decimal": pa.array([Decimal(10**38 - 1), Decimal(1 - 10**38), Decimal(2**63), None], pa.decimal128(38, 0)),
    "damaged decimal": pa.Array.from_buffers(
        pa.decimal128(38, 0),
        4,
        [
            None,
            pa.py_buffer(b"".join(n.to_bytes(16, "little", signed=True) for n in (10**38, 2**127 - 1, -(2**127), 1))),
        ],
    ),
    "fine decimal": pa.array([Decimal("9" * 20 + "." + "9" * 18), Decimal("-1e-18"), None], pa.decimal128(38, 18)),
    "finest decimal": pa.array([Decimal("0." + "9" * 38), None], pa.decimal128(38, 38)),
    **{
        f"no decimal of {kind.scale}": pa.Array.from_buffers(kind, 3, [None, pa.py_buffer(DAMAGED)])
        for kind in (pa.decimal128(38, 0), pa.decimal128(38, 10), pa.decimal128(25, 2))
    },
    "bytes": pa.array([b"", b"\xff", b"a\\xff", None]),
    "duration": pa.array([0, 2**63 - 1, -(2**63), None], pa.int64()).cast(pa.duration("s")),
    "time": pa.array([0, 2**31 - 1, -(2**31), None], pa.int32()).cast(pa.time32("s")),
    "list": pa.array([[nan], [-0.0], [], None]),
    "struct": pa.array([{"a": 1}, {"a": None}, None]),
    "nothing": pa.nulls(3),
    "truth": pa.array([True, False, None]),
}


def test_arrow() -> None:
    attack([Source(table) for table in thirds(padded(ARROW))], ARROW)


def test_arrow_declared_as_something_else() -> None:
    declared(lambda facts: Source(thirds(padded(ARROW))[0], facts), list(ARROW))


RAW: list[Any] = [
    pa.int8(), pa.uint64(), pa.int64(), pa.float32(), pa.float64(), pa.date32(), pa.date64(), pa.decimal128(38, 0),
    pa.timestamp("s"), pa.timestamp("ms", "Asia/Tokyo"), pa.timestamp("us"), pa.timestamp("ns"),
]  # fmt: skip


@given(st.binary(min_size=9 * 16, max_size=9 * 16), st.lists(st.binary(max_size=5), min_size=9, max_size=9))
@settings(max_examples=2, deadline=None)
def test_any_bits(bits: bytes, texts: list[bytes]) -> None:
    """Nine rows of any bits in columns of every fixed width, and of any bytes in columns of text."""
    raw: dict[str, Any] = {
        f"r{number}": pa.Array.from_buffers(kind, 9, [None, pa.py_buffer(bits)]) for number, kind in enumerate(RAW)
    }
    written = pa.array(texts, pa.binary())
    raw["text"] = pa.Array.from_buffers(pa.string(), 9, written.buffers())
    raw["decimal"] = pa.array([Decimal(int.from_bytes(bits[k : k + 15], "big", signed=True)) for k in range(9)])
    attack([Source(table) for table in thirds(pa.table(raw))], raw, rest=False)


PARQUET = [
    "timestamp ms None", "timestamp ms Zulu", "timestamp us None", "timestamp us Zulu", "timestamp ns None", "date32",
    "text", "dictionary", "double", "other nan", "fine decimal", "bytes",
]  # fmt: skip


def test_parquet(tmp_path: Path) -> None:
    """DuckDB's own reader gives up on some of these values."""
    tables = thirds(padded({name: ARROW[name] for name in PARQUET}))
    for number, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{number}.parquet")
    attack([Source(str(tmp_path / f"{number}.parquet")) for number in range(3)], PARQUET)


# ---- pandas -------------------------------------------------------------------------------------------------------


class _Raises:
    def __str__(self) -> str:
        raise ValueError("a secret")


class _NoText:
    def __str__(self) -> Any:
        return 3


class _Liar(str):
    def __str__(self) -> str:
        raise RuntimeError


OBJECTS: list[Any] = [
    "a", "\ud800", "x\udfff", None, nan, 3, 10**5000, 2.5, True, b"\xff", b"a", _Raises(), _NoText(), _Liar("a"),
    Decimal("NaN"), Decimal("sNaN"), Decimal("1e400"), date(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC), [1], {},
    "\0",
]  # fmt: skip


def test_pandas() -> None:
    import pandas as pd

    size = len(OBJECTS)
    frame = pd.DataFrame(
        {
            "objects": pd.Series(OBJECTS, dtype=object),
            "seconds": pd.Series(np.resize(np.array([2**62, -(2**62), 0, 2**40]), size).view("datetime64[s]")),
            "zoned": pd.Series(pd.to_datetime([0] * size, utc=True)).dt.tz_convert("Europe/Berlin"),
            "kept": pd.Series(["\ud800", "a"] * (size // 2), dtype="string[python]"),
            "classes": pd.Series(["b", "a"] * (size // 2), dtype=object).astype("category"),
            "floats": np.resize(np.array([nan, inf, -0.0, 1.5]), size),
            "who": [1 + i % 3 for i in range(size)],
        }
    )
    frames = [frame, frame[frame.who == 1].copy(), frame[frame.who > 1].copy()]
    attack([Source(f) for f in frames], frame.columns[:-1])
    declared(lambda facts: Source(frame, facts), ["objects"])


def test_a_frame_that_changes_fails_before_the_charge_or_not_at_all() -> None:
    import pandas as pd

    frame = pd.DataFrame({"who": [1, 2, 3], "x": pd.Series(["a", "b", "c"], dtype=object)})
    table = tacit.read(frame, person="who", budget=tacit.Pure(10), table="t")
    frame["x"] = pd.Series(["a", _Raises(), "c"], dtype=object)
    table.count("x", epsilon=1)
    frame["x"] = [1.5, 2.5, 3.5]
    with pytest.raises(tacit.EngineError, match="Nothing was charged"):
        table.count("x", epsilon=1, fresh=True)
    assert table.budget.remaining == tacit.Pure(9)


# ---- DuckDB's own types -------------------------------------------------------------------------------------------

NATIVE = {
    "TINYINT": ["-128", "127"],
    "UBIGINT": ["0", "18446744073709551615", "9223372036854775808"],
    "HUGEINT": [str(2**127 - 1), str(1 - 2**127), "0"],
    "UHUGEINT": [str(2**128 - 1), str(2**127), "0"],
    "DECIMAL(38,0)": ["9" * 38, "-" + "9" * 38],
    "DECIMAL(38,18)": ["9" * 20 + "." + "9" * 18, "-0.000000000000000001"],
    "DECIMAL(38,37)": ["9.9999999999999999999999999999999999999", "0"],
    "DECIMAL(4,4)": ["0.9999", "-0.9999"],
    "FLOAT": ["nan", "inf", "-0.0", "3.4e38"],
    "DOUBLE": ["nan", "-inf", "-0.0", "1.7976931348623157e308", "5e-324"],
    "DATE": ["infinity", "-infinity", "5877642-06-25 (BC)", "5881580-07-10"],
    "TIMESTAMP": ["infinity", "-infinity", "294247-01-10 04:00:54.775806", "290309-12-22 (BC) 00:00:00"],
    "TIMESTAMP WITH TIME ZONE": ["infinity", "-infinity", "294247-01-10 04:00:54.775806+00", "290309-12-22 (BC) 00:00"],
    "TIMESTAMP_S": ["infinity", "-infinity", "294247-01-10 04:00:54", "290309-12-22 (BC) 00:00:00"],
    "TIMESTAMP_MS": ["infinity", "-infinity", "294247-01-10 04:00:54", "290309-12-22 (BC) 00:00:00"],
    "TIMESTAMP_NS": ["infinity", "-infinity", "2262-04-11 23:47:16.854775806", "1677-09-22 00:00:00"],
    "VARCHAR": ["", "a", "A", "é"],
    "JSON": ["1", "[1]"],
    "UUID": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "ENUM('a', 'b')": ["a", "b"],
    "BOOLEAN": ["true", "false"],
    "BLOB": ["a", ""],
    "BIT": ["1", "0101"],
    "INTERVAL": ["1 month", "30 days"],
}  # fmt: skip


def test_types_of_duckdb() -> None:
    with shared().cursor() as connection:
        names = {f"c{number}": kind for number, kind in enumerate(NATIVE)}
        for number, kept in enumerate(("TRUE", "who = 1", "who > 1")):
            listed = ", ".join(f"{name} {kind}" for name, kind in names.items())
            connection.execute(f"CREATE OR REPLACE TABLE natives{number} (who INTEGER, {listed})")
            for row in range(9):
                values = [NATIVE[kind] for kind in NATIVE]
                cells = ", ".join("NULL" if row == 8 else f"'{v[row % len(v)]}'" for v in values)
                connection.execute(f"INSERT INTO natives{number} VALUES ({1 + row % 3}, {cells})")
            connection.execute(f"DELETE FROM natives{number} WHERE NOT ({kept})")
        attack([Source(connection, table=f"natives{number}") for number in range(3)], names)
        declared(lambda facts: Source(connection, facts, table="natives0"), list(names))


# ---- PostgreSQL ---------------------------------------------------------------------------------------------------

SERVED = {
    "int2": ["-32768", "32767"],
    "int8": ["9223372036854775807", "-9223372036854775808"],
    "numeric": ["NaN", "Infinity", "-Infinity", "1e131071", "-1e-16000", "0.00", "0"],
    "numeric(38,0)": ["NaN", "9" * 38, "-" + "9" * 38],
    "numeric(38,18)": ["NaN", "9" * 20 + "." + "9" * 18, "-0.000000000000000001"],
    "numeric(30,20)": ["NaN", "9999999999.99999999999999999999"],
    "numeric(5,-2)": ["9999900", "-100"],
    "float4": ["NaN", "Infinity", "-0", "1e-45"],
    "float8": ["NaN", "-Infinity", "-0", "1.7976931348623157e308", "5e-324"],
    "date": ["infinity", "-infinity", "4713-01-01 BC", "5874897-12-31"],
    "timestamp": ["infinity", "-infinity", "4713-01-01 BC", "294276-12-31 23:59:59.999999"],
    "timestamptz": ["infinity", "-infinity", "4713-01-01 BC", "294276-12-31 23:59:59.999999"],
    "text": ["", "a", "A", "é", "\u200b"],
    "char(3)": ["a", "a  ", ""],
    "bool": ["true", "false"],
    "uuid": ["ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "jsonb": ["1", "[1.0]"],
    "money": ["92233720368547758.07", "-92233720368547758.08"],
    "interval": ["178000000 years", "-1 day"],
    "bytea": ["\\xff", ""],
    "int[]": ["{1,NULL}", "{}"],
}


@pytest.mark.skipif(not POSTGRES and not REQUIRED, reason="not run: PostgreSQL needs a server")
def test_types_of_postgresql(server: str) -> None:
    where, names = schema(server), {f"c{number}": kind for number, kind in enumerate(SERVED)}
    listed = ", ".join(f"{name} {kind}" for name, kind in names.items())
    cells = [", ".join("NULL" if row == 8 else f"'{v[row % len(v)]}'" for v in SERVED.values()) for row in range(9)]
    run(where, f"CREATE TABLE t0 (who int, {listed})")
    run(where, *(f"INSERT INTO t0 VALUES ({1 + row % 3}, {cell})" for row, cell in enumerate(cells)))
    run(where, "CREATE TABLE t1 AS SELECT * FROM t0 WHERE who = 1", "CREATE TABLE t2 AS SELECT * FROM t0 WHERE who > 1")
    attack([Source(where, table=f"t{number}") for number in range(3)], names)
    declared(
        lambda facts: Source(where, facts, table="t0"), [n for n in names if names[n] in ("numeric", "money", "date")]
    )
