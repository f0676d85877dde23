"""Every kind of source with a column of every type it has, for `tests.attacks.values`."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Iterator
from decimal import Decimal
from enum import Enum
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tests.attacks.values import ABOVE, BAD_BYTES, BELOW, Case, Pairs, doubles, integers, texts

_DAY = dt.date(2020, 1, 1)
_TIME = dt.datetime(2020, 1, 1, 12)
_numbers = count()


# ---- Arrow, and what is made from it -----------------------------------------------------------------------------


def _arrow(values: Any, pairs: Pairs) -> pa.Table:
    return pa.table({"who": pa.array([who for who, _ in pairs], pa.int64()), "v": values([v for _, v in pairs])})


def _typed(kind: pa.DataType) -> Any:
    return lambda values: pa.array(values, kind)


def _bits(raw: pa.DataType, kind: pa.DataType) -> Any:
    """Whole numbers taken for the bits of another type, whatever that type thinks of them."""
    return lambda values: pa.array(values, raw).view(kind)


def _unchecked(values: list[Any]) -> Any:
    """Bytes taken for text."""
    made = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(made), made.buffers())


def arrow_types(draw: Random) -> Iterator[tuple[str, Any, list[Any], list[Any]]]:
    """Name, maker, ordinary values, hostile values."""
    for bits in (8, 16, 32, 64):
        yield f"int{bits}", _typed(getattr(pa, f"int{bits}")()), [1, 2, None], integers(draw, bits)
        yield f"uint{bits}", _typed(getattr(pa, f"uint{bits}")()), [1, 2, None], integers(draw, bits, signed=False)
    for scale in (0, 2, 18, 30):
        steps = [0, 1, -1, 2**63, -(2**63) - 1, 10**38 - 1, 1 - 10**38]
        yield (
            f"decimal(38,{scale})",
            _typed(pa.decimal128(38, scale)),
            [Decimal(1), None],
            [Decimal(f"{step}e-{scale}") for step in steps],
        )
    yield (
        "float16",
        lambda values: pa.array(values, pa.float32()).cast(pa.float16()),
        [1.0, None],
        [float("nan"), -0.0, 6e-8],
    )
    yield "float32", _typed(pa.float32()), [1.0, None], [x for x in doubles(draw) if not 1e38 < abs(x) < float("inf")]
    yield "float64", _typed(pa.float64()), [1.0, None], doubles(draw)
    yield "bool", _typed(pa.bool_()), [True, None], [True, False]
    yield "null", _typed(pa.null()), [None], [None]
    yield "date32", _bits(pa.int32(), pa.date32()), [0, 18262, None], [2**31 - 1, -(2**31), 2**31 - 2, 2932897, -719529]
    yield (
        "date64",
        _bits(pa.int64(), pa.date64()),
        [0, 86_400_000 * 18262, None],
        [86_400_000 * 2**31, -86_400_000 * 2**31, 1],
    )
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "UTC", "America/St_Johns"):
            yield (
                f"timestamp({unit}, {zone})",
                _bits(pa.int64(), pa.timestamp(unit, zone)),
                [0, 10**9, None],
                [
                    ABOVE,
                    BELOW,
                    BELOW + 1,
                    ABOVE - 1,
                    253402300800 * 10**6,
                    -62135596801 * 10**6,
                    10**18,
                    draw.getrandbits(62),
                ],
            )
    yield "time64", _bits(pa.int64(), pa.time64("us")), [0, None], [ABOVE, BELOW, 86_400_000_000]
    yield "duration", _bits(pa.int64(), pa.duration("us")), [0, None], [ABOVE, BELOW]
    yield "string", _typed(pa.string()), ["a", "b", None], texts(draw)
    yield "large_string", _typed(pa.large_string()), ["a", "b", None], texts(draw)
    yield "invalid UTF-8", _unchecked, [b"a", b"b", None], BAD_BYTES
    yield "binary", _typed(pa.binary()), [b"a", None], BAD_BYTES
    yield "dictionary", lambda values: pa.array(values, pa.string()).dictionary_encode(), ["a", "b", None], texts(draw)
    yield "list", _typed(pa.list_(pa.int64())), [[1], None], [[], [None] * 1000, list(range(100))]
    yield "struct", _typed(pa.struct([("x", pa.string())])), [{"x": "a"}, None], [{"x": None}, {"x": "y" * 1000}]


def arrow(draw: Random) -> Iterator[Case]:
    """Arrow tables."""
    for name, make, ordinary, hostile in arrow_types(draw):
        yield Case(f"Arrow {name}", ordinary, hostile, partial(_arrow, make), held=True)


def parquet(draw: Random, folder: Path) -> Iterator[Case]:
    """The same in files."""

    def build(make: Any, pairs: Pairs) -> str:
        path = folder / f"{next(_numbers)}.parquet"
        pq.write_table(_arrow(make, pairs), path, version="2.6")
        return str(path)

    for name, make, ordinary, hostile in arrow_types(draw):
        if name not in ("float16", "duration", "date64", "null") and "(s," not in name:
            yield Case(f"Parquet {name}", ordinary, hostile, partial(build, make))


def polars(draw: Random) -> Iterator[Case]:
    """Polars frames: from Arrow, and Polars' own types."""

    def build(make: Any, pairs: Pairs) -> Any:
        return pl.DataFrame(pl.from_arrow(_arrow(make, pairs)))

    def own(kind: Any, pairs: Pairs) -> Any:
        return pl.DataFrame(
            {"who": [who for who, _ in pairs], "v": pl.Series([v for _, v in pairs], dtype=kind, strict=False)}
        )

    for name, make, ordinary, hostile in arrow_types(draw):
        if (
            name not in ("float16", "null", "time64", "invalid UTF-8")
            and "decimal" not in name
            and "date64" not in name
        ):
            yield Case(f"Polars {name}", ordinary, hostile, partial(build, make), held=True)
    yield Case("Polars Int128", [1, None], integers(draw, 128), partial(own, pl.Int128), held=True)
    yield Case(
        "Polars Decimal",
        [Decimal(1)],
        [Decimal(2**63), -Decimal(2**63) - 1],
        partial(own, pl.Decimal(38, 0)),
        held=True,
    )
    yield Case("Polars Categorical", ["a", None], ["b", "", "\x00"], partial(own, pl.Categorical), held=True)
    yield Case("Polars Enum", ["a", None], ["b", ""], partial(own, pl.Enum(["a", "b", ""])), held=True)
    yield Case("Polars Object", ["a"], [object(), 1, [1]], partial(own, pl.Object), held=True)


class _Raises:
    """Whose text conversion fails."""

    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


class _Lies:
    """Whose text is not a text."""

    def __str__(self) -> str:
        return 1  # type: ignore[return-value]


class _Interrupts:
    """Whose text conversion ends the program, if it is believed."""

    def __str__(self) -> str:
        raise RecursionError


class _Colour(Enum):
    RED = 1


def pandas(draw: Random) -> Iterator[Case]:
    """pandas frames: every dtype, and objects of all sorts."""

    def build(kind: Any, pairs: Pairs) -> Any:
        return pd.DataFrame({"who": [who for who, _ in pairs], "v": pd.Series([v for _, v in pairs], dtype=kind)})

    odd: list[Any] = [
        "\ud800", "a\udfff", "\x00", b"\xff", b"text", 1, 2**70, -(2**70), 1.5, float("nan"), None, pd.NA, pd.NaT, True, Decimal("NaN"),
        Decimal("1e400"), Decimal("sNaN"), dt.date.max, dt.datetime.max, dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=14))),
        dt.time(1), dt.timedelta.max, (1, 2), [1, [2]], {"a": {"b": 1}}, {1}, uuid.UUID(int=5), _Colour.RED, 1 + 2j, object, print,
        _Raises(), _Lies(), _Interrupts(), pd.Timestamp.max, "x" * 300_000,
    ]  # fmt: skip
    yield Case("pandas object of text", ["a", "b", None], odd, partial(build, object), held=True)
    yield Case("pandas object of numbers", [1, 2, None], odd, partial(build, object), held=True)
    yield Case("pandas object of dates", [_DAY, None], odd, partial(build, object), held=True)
    yield Case("pandas object of decimals", [Decimal("1.5"), None], odd, partial(build, object), held=True)
    yield Case("pandas string", ["a", None], [*texts(draw), "\ud800"][:-1], partial(build, "string"), held=True)
    yield Case("pandas Int64", [1, None], integers(draw, 64), partial(build, "Int64"), held=True)
    yield Case("pandas UInt64", [1, None], integers(draw, 64, signed=False), partial(build, "UInt64"), held=True)
    yield Case("pandas float64", [1.0], doubles(draw), partial(build, "float64"), held=True)
    yield Case("pandas boolean", [True, None], [True, False], partial(build, "boolean"), held=True)
    yield Case("pandas category", ["a", "b"], ["c", "", "\x00"], partial(build, "category"), held=True)
    limits = [pd.Timestamp.max, pd.Timestamp.min, pd.NaT]
    yield Case("pandas datetime64[ns]", [pd.Timestamp(_TIME)], limits, partial(build, "datetime64[ns]"), held=True)
    zone = "datetime64[ns, America/St_Johns]"
    far = [stamp.tz_localize("UTC") for stamp in (pd.Timestamp(1677, 9, 22), pd.Timestamp(2262, 4, 10))]
    yield Case("pandas datetime64 with a zone", [pd.Timestamp(_TIME, tz="UTC")], far, partial(build, zone), held=True)
    yield Case(
        "pandas timedelta", [pd.Timedelta(1)], [pd.Timedelta.max, pd.NaT], partial(build, "timedelta64[ns]"), held=True
    )


# ---- text files --------------------------------------------------------------------------------------------------

_WRITTEN = {
    "integer": (["1", "2", ""], ["9223372036854775808", "-1e400", "1e400", "0x10", "1_000", "١", "1" * 5000, "NaN", "--1", "1.5"]),
    "decimal(2)": (["1.50", ""], ["1e40", "-0.001", "9" * 40, ".", "1.5.5", "inf"]),
    "float": (["1.5", ""], ["nan", "inf", "-inf", "1e400", "-1e-400", "0x1p3", "1,5", "infinity", "-0.0", "5e-324"]),
    "boolean": (["true", ""], ["TRUE", "yes", "2", "t", "\x00"]),
    "date": (["2020-01-01", ""], ["0000-00-00", "9999-12-31", "99999-01-01", "infinity", "epoch", "2020-02-30", "-0044-03-15 (BC)"]),
    "timestamp": (["2020-01-01 12:00:00", ""], ["infinity", "294247-01-10 04:00:55", "2020-01-01T00:00:00+99:99", "0001-01-01 BC"]),
    "text": (["a", "b", ""], ["é", "x" * 200_000, "\\", "a''b", "NULL", "\\N", "\t", "\u2028", "#", "//"]),
}  # fmt: skip
_RAW = [
    b"\xff\xfe",
    b"caf\xe9",
    b"\xed\xa0\x80",
    b"a\x00b",
    b'"open',
    b'a"b',
    b'"a""b"',
    b'""',
    b"\\",
    b"a,b",
    b"\x1a",
    b"\r",
]
"""Fields as bytes that may break the line they stand in, and no other."""


_UTF8 = {"encoding": "utf-8"}
"""Declared, so that a line that is not UTF-8 is left out; otherwise the first bytes of a file say what it is."""


def _csv(folder: Path, pairs: Pairs) -> str:
    path = folder / f"{next(_numbers)}.csv"
    rows = [b"%d,%s" % (who, v if isinstance(v, bytes) else v.encode()) for who, v in pairs]
    path.write_bytes(b"who,v\n" + b"\n".join(rows) + b"\n")
    return str(path)


def csv(draw: Random, folder: Path) -> Iterator[Case]:
    """Comma-separated text."""
    for kind, (ordinary, hostile) in _WRITTEN.items():
        yield Case(f"CSV {kind}", [*ordinary] * 5, [*hostile, *_RAW], partial(_csv, folder), _UTF8)


def ndjson(draw: Random, folder: Path) -> Iterator[Case]:
    """One JSON object a line, and lines that are none."""

    def build(pairs: Pairs) -> str:
        path = folder / f"{next(_numbers)}.ndjson"
        lines = [v if isinstance(v, bytes) else b'{"who": %d, "v": %s}' % (who, v.encode()) for who, v in pairs]
        path.write_bytes(b"\n".join(lines) + b"\n")
        return str(path)

    broken = [
        b"", b"{", b"[]", b"null", b'{"who": 1', b'"', b"\xff\xfe", b'{"who": {"a": 1}, "v": 1}', b'{"v": 1, "who": 100, "who": 101}',
        b'{"who": 102, "v": "\\ud800"}', b'{"who": 103, "v": "\xff"}', b"x" * 100_000, b'{"who": 104, "v": "' + b"y" * 300_000 + b'"}',
        b'{"who": 1e3, "v": 2}', b'{"who": 105, "v": 1}{"who": 106, "v": 1}', b'{"who": 107, "v": ' + b"[" * 500 + b"]" * 500 + b"}",
    ]  # fmt: skip
    values = [
        "1",
        "1.5",
        "true",
        "null",
        '"a"',
        "[1]",
        "{}",
        "1e400",
        "-0.0",
        "123456789012345678901234567890",
        '"\\u0000"',
        "NaN",
    ]
    for name, ordinary in {"numbers": ["1", "2"], "text": ['"a"', '"b"'], "fractions": ["1.5", "2.25"]}.items():
        yield Case(f"NDJSON {name}", ordinary * 5, [*values, *broken], build, _UTF8)
    long = json.dumps({"who": 200, "v": "z" * 20_000_000}).encode()
    yield Case("NDJSON of a long line", ["1", "2"] * 5, [long], build, _UTF8)


# ---- databases ---------------------------------------------------------------------------------------------------

_DUCKDB: dict[str, tuple[list[str], list[str]]] = {
    "HUGEINT": (["1", "2"], ["170141183460469231731687303715884105727", "-170141183460469231731687303715884105728", str(2**63)]),
    "UHUGEINT": (["1", "2"], [str(2**128 - 1), str(2**63), "0"]),
    "UBIGINT": (["1", "2"], [str(2**64 - 1), str(2**63), str(2**63 + 1)]),
    "DECIMAL(38,10)": (["1", "2.5"], ["9999999999999999999999999999.9999999999", "-9999999999999999999999999999"]),
    "DECIMAL(38,38)": (["0.1"], ["0.99999999999999999999999999999999999999"]),
    "DOUBLE": (["1", "2.5"], ["nan", "inf", "-inf", "-0.0", "5e-324", "1e308"]),
    "FLOAT": (["1"], ["nan", "inf", "-inf", "-0.0", "1e-45", "3.4e38"]),
    "DATE": (["2020-01-01"], ["infinity", "-infinity", "5881580-07-10", "5877642-06-25 (BC)", "0001-01-01", "9999-12-31"]),
    "TIMESTAMP": (["2020-01-01"], ["infinity", "-infinity", "294247-01-10 04:00:54.775806", "290309-12-22 (BC) 00:00:00"]),
    "TIMESTAMP_S": (["2020-01-01"], ["infinity", "-infinity", "294247-01-10 04:00:54"]),
    "TIMESTAMP_MS": (["2020-01-01"], ["infinity", "-infinity", "294247-01-10 04:00:54"]),
    "TIMESTAMP_NS": (["2020-01-01"], ["infinity", "-infinity", "2262-04-11 23:47:16.854775806", "1677-09-22"]),
    "TIMESTAMP WITH TIME ZONE": (["2020-01-01"], ["infinity", "-infinity", "294247-01-09 04:00:54+00", "0001-01-01 00:00:00+14"]),
    "TIME": (["12:00:00"], ["24:00:00", "00:00:00"]),
    "TIME WITH TIME ZONE": (["12:00:00+01"], ["24:00:00+15:59:59", "00:00:00-15:59:59"]),
    "INTERVAL": (["1 day"], ["178956970 years", "-178956970 years"]),
    "VARCHAR": (["a", "b"], ["", "é", "x" * 300_000, "\ufeff", "😀"]),
    "BLOB": (["a"], ["\\xFF", "\\x00", ""]),
    "BIT": (["101"], ["0", "1" * 1000]),
    "UUID": (["00000000-0000-0000-0000-000000000001"], ["ffffffff-ffff-ffff-ffff-ffffffffffff"]),
    "ENUM('a', 'b', '')": (["a", "b"], [""]),
    "BOOLEAN": (["true"], ["false"]),
    "JSON": (['{"a": 1}'], ["[]", "null", '"\\u0000"']),
    "INTEGER[]": (["[1]"], ["[]", "[NULL]"]),
    "STRUCT(a INTEGER)": (["{'a': 1}"], ["{'a': NULL}"]),
    "MAP(INTEGER, INTEGER)": (["{1=2}"], ["{}"]),
    "BIGNUM": (["1"], ["9" * 400, "-" + "9" * 400]),
}  # fmt: skip


def duckdb(draw: Random) -> Iterator[Case]:
    """Tables of a DuckDB connection."""
    import duckdb as native

    connection = native.connect()

    def build(kind: str, pairs: Pairs) -> Any:
        connection.execute(f"CREATE OR REPLACE TABLE t (who BIGINT, v {kind})")
        rows = ", ".join(f"({who}, {_quoted(v)})" for who, v in pairs)
        connection.execute(f"INSERT INTO t SELECT who, CAST(v AS {kind}) FROM (VALUES {rows}) AS rows(who, v)")
        return connection

    for kind, (ordinary, hostile) in _DUCKDB.items():
        yield Case(f"DuckDB {kind}", ordinary, hostile, partial(build, kind))
    connection.close()


_POSTGRES: dict[str, tuple[list[str], list[str]]] = {
    "smallint": (["1"], ["32767", "-32768"]),
    "int8": (["1"], [str(2**63 - 1), str(-(2**63))]),
    "numeric": (["1", "2.5"], ["NaN", "Infinity", "-Infinity", "1e1000", "-1e1000", "1e-1000", str(2**63), "9" * 500 + ".5"]),
    "numeric(38,2)": (["1", "2.5"], ["NaN", "9" * 36, "-" + "9" * 36]),
    "numeric(20,0)": (["1"], [str(2**63), str(2**63 + 1), "NaN"]),
    "numeric(1000,500)": (["1"], ["NaN", "9" * 500, "0." + "9" * 500]),
    "float8": (["1", "2.5"], ["NaN", "Infinity", "-Infinity", "-0", "5e-324", "1.7976931348623157e308"]),
    "float4": (["1"], ["NaN", "Infinity", "-Infinity", "-0", "1e-45", "3.4e38"]),
    "money": (["1"], ["92233720368547758.07", "-92233720368547758.08"]),
    "date": (["2020-01-01"], ["infinity", "-infinity", "5874897-12-31", "4713-01-01 BC", "0001-12-31 BC", "10000-01-01"]),
    "timestamp": (["2020-01-01"], ["infinity", "-infinity", "294276-12-31 23:59:59.999999", "4713-01-01 00:00:00 BC"]),
    "timestamptz": (["2020-01-01"], ["infinity", "-infinity", "294276-12-31 00:00:00+00", "4713-01-02 00:00:00+00 BC"]),
    "time": (["12:00"], ["24:00:00", "00:00"]),
    "timetz": (["12:00+01"], ["24:00:00-15:59", "00:00+15:59"]),
    "interval": (["1 day"], ["178000000 years", "-178000000 years"]),
    "text": (["a", "b"], ["", "é", "e\u0301", "x" * 300_000, "\ufeff", "\x01", "😀", "\\", "%"]),
    "varchar(10)": (["a"], ["", "a ", "ééééé"]),
    "char(5)": (["a"], ["", "abcde", " a"]),
    '"char"': (["a"], ["", "b"]),
    "name": (["a"], ["x" * 60]),
    "bytea": (["a"], ["\\x00ff", ""]),
    "uuid": (["00000000-0000-0000-0000-000000000001"], ["ffffffff-ffff-ffff-ffff-ffffffffffff"]),
    "bool": (["true"], ["false"]),
    "json": (['{"a": 1}'], ['"\\u0000"', "[]", '"\\ud800"']),
    "jsonb": (['{"a": 1}'], ["[]", "1e500", "null"]),
    "int[]": (["{1}"], ["{}", "{NULL}", "{{1},{2}}"]),
    "int4range": (["[1,2)"], ["empty", "(,)"]),
    "inet": (["10.0.0.1"], ["::/0"]),
    "bit varying": (["101"], ["", "1" * 500]),
    "oid": (["1"], [str(2**32 - 1)]),
    "xid": (["1"], [str(2**32 - 1)]),
    "point": (["(1,2)"], ["(NaN,Infinity)"]),
    "tsvector": (["a"], [""]),
    "pg_lsn": (["0/0"], ["FFFFFFFF/FFFFFFFF"]),
}  # fmt: skip


def postgres(draw: Random, address: str) -> Iterator[Case]:
    """Tables of a PostgreSQL schema."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:

        def build(kind: str, pairs: Pairs) -> str:
            rows = ", ".join(f"({who}, {_quoted(v)}::{kind})" for who, v in pairs)
            connection.execute(b"DROP TABLE IF EXISTS t")
            connection.execute(f"CREATE TABLE t (who int8, v {kind})".encode())
            connection.execute(f"INSERT INTO t VALUES {rows}".encode())
            return address

        for kind, (ordinary, hostile) in _POSTGRES.items():
            yield Case(f"PostgreSQL {kind}", ordinary, hostile, partial(build, kind))


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def spark(draw: Random, session: Any) -> Iterator[Case]:
    """Spark frames, made by SQL so that no value is changed on the way."""

    def build(kind: str, pairs: Pairs) -> Any:
        rows = " UNION ALL ".join(f"SELECT CAST({who} AS BIGINT) AS who, CAST({v} AS {kind}) AS v" for who, v in pairs)
        return session.sql(rows)

    known: dict[str, tuple[list[str], list[str]]] = {
        "DECIMAL(38,0)": (["1"], [str(2**63), str(2**63 + 1), "99999999999999999999999999999999999999", f"-{2**63 + 1}"]),
        "DECIMAL(38,37)": (["1"], ["'9.9999999999999999999999999999999999999'"]),
        "DOUBLE": (["1"], ["'NaN'", "'Infinity'", "'-Infinity'", "'-0.0'", "'4.9E-324'"]),
        "TIMESTAMP": (["'2020-01-01'"], ["timestamp_micros(9223372036854775807)", "timestamp_micros(-9223372036854775808)"]),
        "DATE": (["'2020-01-01'"], ["date_from_unix_date(2147483647)", "date_from_unix_date(-2147483648)"]),
        "STRING": (["'a'"], ["CAST(X'FF' AS STRING)", "CAST(X'EDA080' AS STRING)", "''", "repeat('x', 300000)", "char(0)"]),
        "BINARY": (["'a'"], ["X'FF'"]),
    }  # fmt: skip
    for kind, (ordinary, hostile) in known.items():
        yield Case(f"Spark {kind}", ordinary, hostile, partial(build, kind))
