"""Rows full of awkward values for the library of expressions, and expressions at random over them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from math import inf, nan, nextafter
from random import Random
from typing import Any

import pyarrow as pa

from tacit.errors import TacitError
from tacit.language.expressions import Expression, Scope
from tacit.language.parsing import parse
from tacit.language.types import Schema
from tests.engines.cases import LARGEST, Row
from tests.engines.cases import TEXTS as ODD_TEXTS

FIELDS = {
    "number": pa.int64(), "who": pa.int64(), "i": pa.int64(), "j": pa.int64(), "c": pa.decimal128(12, 2),
    "w": pa.decimal128(19, 6), "f": pa.float64(), "g": pa.float64(), "b": pa.bool_(), "d": pa.date32(),
    "e": pa.date32(),
    "t": pa.timestamp("us"), "u": pa.timestamp("us"), "s": pa.string(), "r": pa.string(),
}  # fmt: skip
SCHEMA = Schema.of(
    {
        "number": "integer", "who": "integer", "i": "integer", "j": "integer", "c": "decimal(2)", "w": "decimal(6)",
        "f": "float", "g": "float", "b": "boolean", "d": "date", "e": "date", "t": "timestamp", "u": "timestamp",
        "s": "text", "r": "text",
    }
)  # fmt: skip
SCOPE = Scope.of(SCHEMA, "t")
COLUMNS = [name for name in FIELDS if name not in ("number", "who")]

INTEGERS = [
    0, 1, -1, 2, 3, 5, 7, 12, 28, 29, 31, -7, 10, 60, 100, 1000, 10**5, 10**5 + 1, 2**31 - 1, 2**31, 2**53 + 1, 2**62,
    2**63 - 1, -(2**63), -(2**63) + 1, 10**18, -(10**18), 9999, 2024, 4 * 10**6,
]  # fmt: skip
DOUBLES = [
    nan, inf, -inf, 0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, LARGEST, -LARGEST, 1e308, 0.1, 0.5, 1.5, -2.5,
    2.5, 0.49999999999999994, -0.5, 1.0, -1.0, 2.0, 10.0, 1000.0, 1e22, 1e-3, 2.0**52, 2.0**52 + 1, 2.0**53, 2.0**63,
    -(2.0**63), nextafter(2.0**63, 0), 1 / 3, 700.0, -700.0, nextafter(-700.0, -inf), 709.782712893384,
    709.7827128933841,
    709.0, -745.0, 1e-17, 2.0**-54, nextafter(1.0, 2), nextafter(1.0, 0), 2.0**0.5, nextafter(2.0**0.5, 0), 2.0**-896,
    nextafter(2.0**-896, 0), 123456789.987654321, 1e15, 1e-300, 3e-162, 64.0, -3.0,
]  # fmt: skip
DATES = [
    date.min, date(1, 1, 2), date(1, 12, 31), date(4, 2, 29), date(99, 12, 31), date(1582, 10, 4), date(1582, 10, 15),
    date(1900, 2, 28), date(1900, 3, 1), date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29), date(2001, 2, 28),
    date(2020, 1, 31), date(2020, 2, 29), date(2021, 1, 3), date(2023, 12, 31), date(2024, 12, 30), date(2038, 1, 20),
    date(9999, 1, 31), date(9999, 12, 1), date.max,
]  # fmt: skip
MOMENTS = [
    datetime.min, datetime(1, 1, 1, 0, 0, 0, 1), datetime(1582, 10, 10, 12), datetime(1883, 11, 18, 12, 3, 58),
    datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1), datetime(1972, 6, 30, 23, 59, 59, 999999),
    datetime(2016, 12, 31, 23, 59, 59), datetime(2017, 1, 1), datetime(2020, 2, 29, 12, 30, 59, 999999),
    datetime(2021, 3, 28, 2, 30), datetime(2021, 11, 7, 1, 30), datetime(2024, 12, 30, 0, 0, 0, 500000),
    datetime(2038, 1, 19, 3, 14, 8), datetime(2020, 1, 31, 6, 7, 8, 90), datetime.max,
]  # fmt: skip
CASTABLE = [
    "0", "-0", "+5", "007", "12.5", "-12.5", ".5", "5.", ".", "-", "1e3", "1E-3", "1e249", "1e250", "1e-400", "NaN",
    "Infinity", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "9223372036854775807.4999",
    "9223372036854775807.5", "0.0000000000000000005", "00000000000000000000000000000000000000000001", "1_000", "1,5",
    " 42 ", "\t42", "4 2", "0x1f", "１", "true", "FALSE", "Yes", "no", "on", "off", "t", "f", "y", "n", "1", "TRUE ",
    "2020-02-29", "2021-02-29", "0001-01-01", "9999-12-31", "10000-01-01", "2020-2-9", "2020-13-01", "2020-00-10",
    "2020-04-31", "2020-01-01T12:30", "2020-01-01 12:30:59.5", "2020-01-01 24:00:00", "2016-12-31 23:59:60",
    "2020-01-01 12:30:59.1234567", "2020-01-01 12:30:59Z", "2020-01-01Z", "2020-01-01 23:59:59.999999", "0000-01-01",
    "2020-06-15 1:2:3", "2.2250738585072014e-308", "1.7976931348623157e+200", "123456789012345678901234567890.5",
    "0." + "3" * 40, "9" * 41, "a-b-c", "--", "-a-", "ab" * 300, "x" * 500, "x" * 501, "É" * 60_000, "😀é",
    "29/02/2020 23:59", "31/11/2020 00:00", "20200229", "20210229", "abc\n", "Straße", "ΣΊΣΥΦΟΣ", "ǅ", "ﬀ", "ı", "İ",
    "ſ", "Ⅷ", "ჰ", "Ა",
]  # fmt: skip


def rows(draw: Random, count: int, all_first: bool = False) -> list[Row]:
    """Rows of one person whose values are drawn from all of the above, after one of each where that is asked for."""
    pools: dict[str, Sequence[Any]] = {
        **dict.fromkeys("ij", INTEGERS),
        "c": [Decimal(n).scaleb(-2) for n in (0, 1, -1, 5, -5, 50, 149, 150, -150, 250, 12345, 10**12 - 1, 1 - 10**12)],
        "w": [Decimal(n).scaleb(-6) for n in (0, 1, 500_000, -1_500_000, 2**63 - 1, -(2**63), 999_999, 3_141_593)],
        **dict.fromkeys("fg", DOUBLES),
        "b": [True, False],
        **dict.fromkeys("de", DATES),
        **dict.fromkeys("tu", MOMENTS),
        "s": ODD_TEXTS,
        "r": CASTABLE + ODD_TEXTS,
    }
    found = []
    for number in range(count):
        values = {
            name: pool[number] if all_first and number < len(pool) else draw.choice((None, *pool))
            for name, pool in pools.items()
        }
        found.append({"number": number, "who": 1, **values})
    return found


def arrow(table: list[Row]) -> pa.Table:
    """The rows as an Arrow table."""
    return pa.table({name: pa.array([row[name] for row in table], kind) for name, kind in FIELDS.items()})


# ---- expressions at random ---------------------------------------------------------------------------------------

_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "decade", "century")
_PARTS = (*_UNITS[:5], "dow", "isodow", "doy", "isoyear", "decade", "century", "millennium", "epoch")
_TIMES = ("hour", "minute", "second", "millisecond", "microsecond")
_PATTERNS = (
    "^[a-z]+$", "é|a", "^.$", "[^0-9]", "\\d{2,4}", "^(ab){1,3}", "-.*-", "^\\s*$", "a?b", "[😀-😂x]", "(true|no|y)$",
    "^[+-]?[0-9]+$", ".{3}", "\\.", "^$", "[\\w-]+",
)  # fmt: skip
_LIKES = ("%", "", "_", "E%", "%a%", "a__", "%-%-%", "%0%")
_SHARED = (
    "CASE WHEN {B} THEN {X} ELSE {X} END", "COALESCE({X}, {X})", "NULLIF({X}, {X})", "IF({B}, {X}, {X})",
    "LEAST({X}, {X})", "GREATEST({X}, {X})", "CASE {X} WHEN {X} THEN {X} END",
)  # fmt: skip
FORMS: dict[str, tuple[str, ...]] = {
    "I": (
        "i", "j", "0", "1", "-1", "7", "100", "-9223372036854775808", "9223372036854775807", "2147483648", "NULL",
        "({I} + {I})", "({I} - {I})", "({I} * {I})", "(- {I})", "MOD({I}, {I})", "({I} // {I})", "({I} % 7)",
        "({I} // 60)", "ABS({I})",
        "SIGN({F})",
        "SIGN({C})", "ROUND({I}, -2)", "FLOOR({C})", "CEIL({C})", "ROUND({C})", "TRUNC({C})", "CAST({F} AS BIGINT)",
        "CAST({T} AS BIGINT)", "CAST({B} AS BIGINT)", "CAST({C} AS INTEGER)", "LENGTH({T})", "POSITION({T} IN {T})",
        "({D} - {D})", "WIDTH_BUCKET({I}, -10, 100, 7)", "WIDTH_BUCKET({F}, -1.5, 1e3, 9)",
        "WIDTH_BUCKET({C}, 0, 1.5, 100)",
        *(f"EXTRACT({part} FROM {{D}})" for part in _PARTS),
        *(f"EXTRACT({part} FROM {{M}})" for part in (*_PARTS[:-1], *_TIMES)),
        *(f"DATE_DIFF('{unit}', {{D}}, {{M}})" for unit in _UNITS),
        *(f"DATE_SUB('{unit}', {{M}}, {{D}})" for unit in _UNITS),
        "DATE_SUB('month', {D}, {D})", "EXTRACT(DAY FROM {M} - {M})",
        "DATE_PART('week', {D})", "EXTRACT(YEAR FROM AGE({M}, {D}))",
        *(f"{part}({{D}})" for part in ("YEAR", "QUARTER", "MONTH", "WEEK", "WEEKOFYEAR", "DAY", "DAYOFMONTH")),
        "DAYOFYEAR({D})",
        *(f"{part}({{M}})" for part in ("ISODOW", "ISOYEAR", "HOUR", "MINUTE", "SECOND")), "EPOCH({D})", *_SHARED,
    ),
    "C": (
        "c", "w", "0.01", "-1.5", "12.345", "({C} + {C})", "({C} - {C})", "(c * {I})", "ABS({C})", "ROUND({C}, 1)",
        "TRUNC({C}, 1)", "MOD({C}, {C})", "({C} % {I})", "CAST({F} AS DECIMAL(18, 2))", "CAST({T} AS DECIMAL(18, 3))",
        "CAST({I} AS DECIMAL(18, 1))", "CAST({C} AS DECIMAL(18, 1))", "EXTRACT(EPOCH FROM {M})", "EPOCH({M})",
        "EXTRACT(EPOCH FROM {M} - {M})", *_SHARED,
    ),
    "F": (
        "f", "g", "0e0", "1.5e0", "-2.5e-3", "1e300", "({F} + {F})", "({F} - {F})", "({F} * {F})", "({F} / {F})",
        "({I} / {C})", "(- {F})", "ABS({F})", "FLOOR({F})", "CEIL({F})", "ROUND({F})", "ROUND({F}, 2)",
        "ROUND({F}, -3)",
        "ROUND({F}, 18)", "ROUND({F}, -18)", "TRUNC({F}, 1)", "SQRT({F})", "LN({F})", "LOG2({F})", "LOG10({F})",
        "LOG(3, {F})", "EXP({F})", "POWER({F}, {F})", "POWER({F}, 2)", "POWER({F}, -5)", "POWER({I}, {I})",
        "POWER({F}, 64)", "POWER({F}, 0.5)", "CAST({T} AS DOUBLE)", "CAST({I} AS DOUBLE)", "CAST({C} AS DOUBLE)",
        "CAST({B} AS DOUBLE)", *_SHARED,
    ),
    "B": (
        "b", "TRUE", "FALSE", "NULL", "({I} < {C})", "({F} >= {F})", "({I} = {F})", "({T} = {T})", "({T} < {T})",
        "({D} <= {M})", "({M} <> {M})", "({B} AND {B})", "({B} OR {B})", "(NOT {B})", "({I} IS NULL)",
        "({T} IS NOT NULL)",
        "({B} IS TRUE)", "({F} IS DISTINCT FROM {F})", "({T} IS NOT DISTINCT FROM {T})", "({I} BETWEEN {I} AND {C})",
        "({I} IN ({I}, 1, NULL))", "({T} IN ('a', 'EU', {T}))", "({D} IN (DATE '2020-02-29', {D}))",
        "CONTAINS({T}, {T})",
        "(SPLIT_PART(SUBSTRING('abc', 0), 'a', 2) = 'a')",
        "(CASE WHEN {I} > 10 THEN 'x' END = 'a')", "(CASE WHEN {I} < -5 THEN 'x' WHEN {F} > 1e200 THEN 'y' END <> 'a')",
        "STARTS_WITH({T}, {T})", "ENDS_WITH({T}, {T})", "CAST({T} AS BOOLEAN)", "CAST({F} AS BOOLEAN)",
        "CAST({C} AS BOOLEAN)", *(f"({{T}} LIKE '{like}')" for like in _LIKES), "({T} ILIKE '%É%')",
        "({T} NOT ILIKE 'e%')",
        *(f"REGEXP_MATCHES({{T}}, '{pattern}')" for pattern in _PATTERNS),
        "REGEXP_FULL_MATCH({T}, '[a-z]{1,3}|[0-9.]+')",
        *_SHARED,
    ),
    "D": (
        "d", "e", "DATE '2020-02-29'", "DATE '0001-01-01'", "DATE '9999-12-31'", "({D} + {I})", "({D} - {I})",
        "({D} + INTERVAL 1 MONTH)", "({D} - INTERVAL '1 year 1 day')", "({D} + INTERVAL ({I}) MONTH)",
        "({D} - INTERVAL ({I}) WEEK)", "LAST_DAY({D})", "LAST_DAY({M})", "MAKE_DATE({I}, {I}, {I})",
        "MAKE_DATE(2024, {I}, {I})", "CAST({M} AS DATE)", "CAST({T} AS DATE)", "DATE({M})", "TO_DATE({T}, 'YYYYMMDD')",
        *(f"DATE_TRUNC('{unit}', {{D}})" for unit in (*_UNITS[:5], "decade")), *_SHARED,
    ),
    "M": (
        "t", "u", "TIMESTAMP '2016-12-31 23:59:59.999999'", "({M} + INTERVAL ({I}) SECOND)",
        "({M} + INTERVAL ({I}) MONTH)",
        "({M} - INTERVAL '1 month 3 hours')", "({M} + INTERVAL ({I}) MICROSECOND)", "({D} + INTERVAL ({I}) HOUR)",
        "CAST({D} AS TIMESTAMP)", "CAST({T} AS TIMESTAMP)", "STRPTIME({T}, '%Y-%m-%d')",
        "STRPTIME({T}, '%d/%m/%Y %H:%M')",
        *(f"DATE_TRUNC('{unit}', {{M}})" for unit in (*_UNITS[:9], "decade", "microsecond")), *_SHARED,
    ),
    "T": (
        "s", "r", "''", "'a'", "'Éß😀'", "'0'", "'2020-02-29'", "LOWER({T})", "UPPER({T})", "SUBSTRING({T}, {I})",
        "SUBSTRING({T}, {I}, {I})", "SUBSTRING({T}, 2, 3)", "LEFT({T}, {I})", "RIGHT({T}, {I})", "RIGHT({T}, 2)",
        "TRIM({T})",
        "LTRIM({T}, 'a0 ')", "RTRIM({T}, 'é0')", "({T} || {T})", "CONCAT({T}, {I}, {C}, {B}, {D})", "CONCAT({M}, {T})",
        "CONCAT_WS('-', {T}, {I}, {T})",
        "REPLACE({T}, {T}, {T})", "REPLACE({T}, 'a', 'bb')", "REPEAT({T}, {I})", "REPEAT({T}, 3)",
        "LPAD({T}, {I}, 'xé')",
        "RPAD({T}, 5, '0')", "SPLIT_PART({T}, '-', {I})", "SPLIT_PART({T}, 'a', 2)", "CAST({I} AS VARCHAR)",
        "CAST({C} AS VARCHAR)", "CAST({B} AS VARCHAR)", "CAST({D} AS VARCHAR)", "CAST({M} AS VARCHAR)",
        "MONTHNAME({D})",
        "DAYNAME({M})", "STRFTIME({M}, '%Y-%m-%d %H:%M:%S.%f %j %b %a %G-W%V-%u')", "TO_CHAR({D}, 'YY/MM/DD')",
        "FORMAT_DATE('%d.%m.%y %A %B %w%%', {D})",
        *_SHARED,
    ),
}  # fmt: skip
"""For each type what it can be made of: I integer, C decimal, F float, B boolean, D date, M moment, T text."""


def text(draw: Random, kind: str, depth: int) -> str:
    """An expression of a type, as a text."""
    forms = FORMS[kind]
    known = forms if depth > 0 else [form for form in forms if "{" not in form]
    chosen = draw.choice(known).replace("{X}", f"{{{kind}}}")
    pieces = []
    while "{" in chosen:
        at = chosen.index("{")
        if chosen[at + 2 : at + 3] != "}" or chosen[at + 1] not in FORMS:  # a brace of a pattern
            pieces.append(chosen[: at + 1])
            chosen = chosen[at + 1 :]
            continue
        pieces += [chosen[:at], text(draw, chosen[at + 1], depth - draw.choice((1, 1, 2)))]
        chosen = chosen[at + 3 :]
    return "".join([*pieces, chosen])


_COLUMNS = {"I": "ij", "C": "cw", "F": "fg", "B": "bb", "D": "de", "M": "tu", "T": "rs"}


def filled() -> dict[str, list[str]]:
    """Every form of each type once, over bare columns."""
    found: dict[str, list[str]] = {}
    for kind, forms in FORMS.items():
        for form in forms:
            written = form.replace("{X}", f"{{{kind}}}")
            for hole, names in _COLUMNS.items():
                for place in range(written.count(f"{{{hole}}}")):
                    written = written.replace(f"{{{hole}}}", names[place % 2], 1)
            found.setdefault(kind, []).append(written)
    return found


def each() -> list[tuple[str, Expression]]:
    """The same as expressions."""
    return [(text, parse(text, SCOPE)) for forms in filled().values() for text in forms]


def expression(draw: Random) -> tuple[str, Expression]:
    """An expression at random with its text; a text that is refused before it is asked is drawn anew."""
    while True:
        written = text(draw, draw.choice(tuple(FORMS)), draw.choice((1, 1, 2, 2, 3, 4)))
        try:
            return written, parse(written, SCOPE)
        except TacitError:
            continue
