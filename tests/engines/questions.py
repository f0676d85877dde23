"""What every engine is asked in the conformance tests: every node of an expression, every kind of request."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

from tacit.engines.requests import (
    HALF,
    Deviation,
    Different,
    Extremes,
    Flags,
    GroupDistinct,
    GroupFlags,
    GroupMoments,
    GroupNorms,
    GroupSteps,
    GroupTotals,
    HasValue,
    KeysPerPerson,
    Moments,
    Ordered,
    OuterTotals,
    PersonMean,
    Persons,
    Presence,
    Product,
    ProductTotals,
    RankSteps,
    Relation,
    RowCount,
    RunningTotals,
    Steps,
    TotalBuckets,
    WeighedRows,
    value,
)
from tacit.language import build
from tacit.language.expressions import PARTS, UNITS, Column, Expression, Literal, Scope
from tacit.language.parsing import parse
from tacit.language.types import Schema
from tacit.tables.statistics.ways.centres import joint
from tests.engines.cases import NAME
from tests.engines.support import SCHEMA

FACTS = Schema.of({"number": "integer", "case_of": "integer", **SCHEMA})
SCOPE = Scope.of(FACTS, "t")
CENTRES = (-(2**63), 3, -7, 2**63 - 1, 0, 10**6, -(10**12))
BOUNDARIES = (0, 1, 10, 10**3, 10**6, 10**9, 10**15, 2**62, 2**63, 2**70)

TEXTS = (
    "i", "u", "c", "w", "f", "g", "b", "d", "t", "s", "nothing",
    # arithmetic on exact numbers
    "-i", "i + 1", "i + i", "i - u", "u - i", "i * i", "i * 3", "i - 9223372036854775807", "c + i", "c * c", "c * w",
    "w + w", "w - c", "w * 10", "c * 0.05", "i * nothing", "4611686018427387904 * 2", "9223372036854775807 + 1 - 1",
    # arithmetic on doubles
    "-f", "f + f", "f - f", "f * f", "f / f", "f + 1e308", "f - 1e308", "f * 1e308", "f * 1e-308", "f / 1e-308",
    "f / 1e308", "f * 5e-324", "5e-324 / f", "1e-320 * 1e-20", "f - g", "f * g", "g / f", "f / i", "i / f", "i / u",
    "c / w", "w / c", "i / 0", "f / 0.0", "f * i", "f + c", "1e308 * f * 10", "(f + 1) * (f - 1) / (f * f + 1)",
    "1 / 3.0",
    # comparisons
    "i < u", "i = c", "c = w", "w >= 0.0005", "i > 0.5", "i <> 1", "f < g", "f = 0", "f >= 9.2e12", "c = f", "w <= f",
    "i = u", "u <> i", "f = g", "f <> f", "w = w",
    "d < t", "d = DATE '2020-02-29'", "t >= TIMESTAMP '1970-01-01'", "s = 'EU'", "s < 'a'", "s >= 'É'", "s <> '\"'",
    f'"{NAME.replace(chr(34), chr(34) * 2)}" = s', "b = TRUE", "b <> (i > 0)", "i BETWEEN -1 AND 1",
    "i = 9223372036854775807.0",
    # logic
    "b AND i > 0", "b OR f > 1", "NOT b", "(b AND NULL) OR i = 1", "NOT (b OR NULL)",
    "i IN (1, 2, -9223372036854775808)", "c IN (0.01, 0.05, 1)", "f IN (0.5, 0, 1.5)", "s IN ('EU', 'a', '')",
    "d IN (DATE '0001-01-01', DATE '9999-12-31')", "i IN (1, NULL)", "NOT i IN (1, NULL)", "i IS NULL",
    "f IS NOT NULL", "s IS NULL", "f / 0 IS NULL", "s LIKE '%'", "s LIKE ''", "s LIKE '_'", "s LIKE 'E%'",
    "s LIKE '%\n%'", "s LIKE 'O''%'", "s LIKE 'a__'", "NOT s LIKE '%b%'",
    # choices
    "CASE WHEN b THEN i WHEN f > 0 THEN c END", "CASE WHEN i / 0 > 1 THEN 1 ELSE 2 END",
    "CASE WHEN b THEN s ELSE 'x' END", "CASE WHEN d < DATE '1970-01-01' THEN t ELSE TIMESTAMP '2000-01-01' END",
    "COALESCE(nothing, i, 3)", "COALESCE(s, '?')", "COALESCE(f / i, -1.5)", "COALESCE(d, DATE '1970-01-01')",
    "COALESCE(b, FALSE)", "ABS(i)", "ABS(w)", "ABS(f)", "ABS(c - w)", "LEAST(i, 3)", "GREATEST(i, u, c)",
    "LEAST(f, g, 1.5)", "GREATEST(f, 0)", "LEAST(d, DATE '2000-01-01')", "GREATEST(t, TIMESTAMP '1970-01-01')",
    "LEAST(s, 'b')", "GREATEST(s, 'É')",
    # conversions and dates
    "CAST(i AS DOUBLE)", "CAST(c AS DOUBLE)", "CAST(w AS DOUBLE)", "CAST(i AS DECIMAL(18, 3))",
    "CAST(d AS TIMESTAMP)", "CAST(b AS BIGINT)", "d - DATE '2000-02-29'", "d - d", "DATE '2021-01-01' - d",
    *(f"EXTRACT({part} FROM t)" for part in PARTS), *(f"DATE_TRUNC('{unit}', t)" for unit in UNITS),
    *(f"EXTRACT({part} FROM d)" for part in PARTS[:8]), *(f"DATE_TRUNC('{unit}', d)" for unit in UNITS[:5]),
)  # fmt: skip

NUMBERS = ("i", "u", "c", "w", "f", "g", "b", "nothing", "i * c", "f / i", "f * g", "ABS(f) + 1")
ORDERED = (*NUMBERS, "d", "t")
PERSONS = ("who", NAME, "u", "w", "f", "g", "b", "d", "t")
FILTERS = ("i > 0 OR f < 1", "s LIKE '%U'", "FALSE", "NOT (d < DATE '2020-01-01')")


def expressions() -> list[Expression]:
    return [parse(text, SCOPE) for text in TEXTS]


def relation(person: str = "who", where: str | None = None) -> Relation:
    column = SCOPE.find(person)
    assert isinstance(column, Column)
    return Relation("t", "t", column, filter=None if where is None else parse(where, SCOPE))


def of_persons() -> tuple[Any, ...]:
    """Every request about persons that has a definition in the oracle, but quantiles."""
    numbers = [value(parse(text, SCOPE)) for text in NUMBERS]
    floats = [value(parse("f", SCOPE), unit) for unit in (Fraction(100), Fraction(1, 4), Fraction(7), Fraction(10**15))]
    ordered = [Ordered(parse(text, SCOPE)) for text in ORDERED]
    return (
        Persons(),
        *(TotalBuckets(number, BOUNDARIES) for number in numbers + floats),
        *(TotalBuckets(PersonMean(number), BOUNDARIES) for number in numbers),
        *(
            TotalBuckets(Deviation(number, centre), BOUNDARIES)
            for number, centre in zip(numbers, CENTRES, strict=False)
        ),
        *(TotalBuckets(PersonMean(Deviation(number, 2), 1000), BOUNDARIES) for number in numbers[:2]),
        *(TotalBuckets(RowCount(x.expression), BOUNDARIES) for x in ordered),
        TotalBuckets(RowCount(), BOUNDARIES),
        *(Extremes(x, 1500, largest) for x in ordered for largest in (True, False)),
        Extremes(numbers[4], 1500, True),
        *(Flags(parse(text, SCOPE)) for text in ("b", "b AND i <> 0", "f > 0 OR s = 'a'", "s < 'a'")),
        *(Moments(number, -50, 10**6, 2, 2) for number in numbers),
        *(Moments(number, -(10**9), 10**9, 1) for number in numbers),
        Moments(numbers[0], -(2**63), 2**63 - 1, 2),
        Moments(numbers[0], -(2**63), 2**63 - 1, 1, 3),
        *products(),
        *(OuterTotals(total, 3) for total in (RowCount(), numbers[0], PersonMean(numbers[4], 1000))),
    )


def products() -> tuple[Any, ...]:
    """Products of columns that have a value in the same rows, near zero and over the whole range."""
    near = [value(e) for e in joint([parse(text, SCOPE) for text in ("i", "f", "c")])]
    steps = [Steps(near[0], 2, 2**10, -7), Steps(near[1], -5, 2**33, 3), Steps(near[2], 1, 1000)]
    far = [Steps(value(parse(text, SCOPE)), middle, 2**62) for text, middle in (("i", 2**62), ("f * g", -(2**62)))]
    whole = [Steps(near[2], -3, 2**24, 5), Steps(near[0], 4, 2**30, -HALF)]
    return (
        *(TotalBuckets(Product(steps[0], other, mean), BOUNDARIES) for other in steps for mean in (False, True)),
        *(
            TotalBuckets(Product(one, other, mean), BOUNDARIES)
            for one in whole
            for other in (steps[0], whole[0])
            for mean in (False, True)
        ),
        *(TotalBuckets(Product(one, one), BOUNDARIES) for one in far),
        *(ProductTotals(tuple(steps), (3 * 10**6, 1000), 2**24, mean) for mean in (False, True)),
        ProductTotals((far[0],), (1, 1), 2**30),
        ProductTotals((far[1], far[1]), (2**30, 2**30), 1),
    )


def quantiles(text: str) -> tuple[RankSteps, ...]:
    """Quantiles of an expression, without a cap on a person's rows and with one."""
    wanted = (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1))
    return tuple(RankSteps(Ordered(parse(text, SCOPE)), wanted, 3, cap) for cap in (None, 2))


def of_groups() -> tuple[Any, ...]:
    """Requests over groups that have a definition in the oracle."""
    i, c, f = (value(SCOPE.find(name)) for name in "icf")
    found: list[Any] = []
    for by, keys in _keys():
        for norm, entry in (("l1", i), ("l2", c), ("max", f), ("l2", RowCount()), ("l1", Presence())):
            found.append(GroupNorms(entry, by, keys, norm, (0, 1, 5, 1000, 2**40, 2**62)))  # type: ignore[arg-type]
            found.append(GroupTotals(entry, by, keys, norm, 3, 1000))  # type: ignore[arg-type]
        found += [
            RunningTotals(i, by, keys, 5),
            RunningTotals(RowCount(), by, keys, 2),
            RunningTotals(f, by, keys, 2**62),
        ]
        found.append(KeysPerPerson(by, (0, 1, 2, 3, 5)))
    return tuple(found)


def of_parts() -> tuple[Any, ...]:
    """What persons bring to groups, capped over all of them; and the entries that go with it."""
    i, f, s = SCOPE.find("i"), value(SCOPE.find("f"), Fraction(1, 4)), Different(SCOPE.find("s"))
    (texts, names), (numbers, figures) = _keys()[0], _keys()[1]
    wide = tuple((-(10**k), 10**k) for k in range(len(names)))
    full = ((-(2**63), 2**63 - 1),) * len(figures)
    around = tuple(((-3) ** k, 2 ** (10 + 7 * k)) for k in range(len(names)))
    return (
        GroupDistinct(s, numbers, figures, 1),
        GroupFlags(parse("b AND i <> 0", SCOPE), texts, names, 1),
        GroupMoments(f, texts, names, wide, 2, 2),
        GroupMoments(value(i), numbers, figures, full, 2, 1, per_person=True),
        GroupNorms(s, numbers, figures, "l1", (0, 1, 2, 3, 5)),
        GroupTotals(HasValue(i), texts, names, "l1", 1, 1000),
        GroupDistinct(Different(SCOPE.find("f")), texts, names, 2),
        GroupMoments(value(i), texts, names, wide, 1, 3, per_person=True),
        GroupTotals(GroupSteps(f, around, squared=True), texts, names, "l1", 2**40, 1),
        GroupTotals(GroupSteps(value(i), around, squared=True, mean=True), texts, names, "l2", 2**40, 1),
        GroupTotals(GroupSteps(value(i), around), texts, names, "l1", 2**20, 1000),
        GroupTotals(GroupSteps(f, around, mean=True), texts, names, "max", 2**40, 1),
    )


def weighed() -> tuple[WeighedRows, ...]:
    """Rows that weigh their part of a person, all of them and at both ends."""
    (texts, names), (numbers, figures) = _keys()[0], _keys()[1]
    f, i, c, d, t = (Ordered(SCOPE.find(name)) for name in "ficdt")
    return (
        WeighedRows(f, texts, names, cap=2, per_person=True),
        WeighedRows(c, texts, names, ends=(False, True), rank=2, depth=2, unit=12),
        WeighedRows(i),
        WeighedRows(d, numbers, figures, cap=2),
        WeighedRows(value(SCOPE.find("f")), texts, names, ends=(False, True), depth=1000),
        WeighedRows(t, ends=(True,), rank=3, depth=3),
    )


def _keys() -> list[tuple[tuple[Expression, ...], tuple[tuple[Literal, ...], ...]]]:
    """Columns to group by, with keys that occur and keys that do not; NULL is one."""
    chosen: dict[str, tuple[Any, ...]] = {
        "s": ("EU", "a", "é", "", "a ", "none", None),
        "i": (1, 2**63 - 1, -(2**63), 12345, None),
        "c": ("0.01", "-0.05", "1", None),
        "f": (0.0, 0.5, -2.5, None),
        "b": (True, False, None),
        "d": (date.min, date(2020, 2, 29), None),
        "t": ("1969-12-31 23:59:59.999999", "1970-01-01", None),
    }
    found = []
    for name, keys in chosen.items():
        column = SCOPE.find(name)
        found.append(((column,), tuple((_constant(key, column),) for key in keys)))
    pair = (SCOPE.find("b"), SCOPE.find("s"))
    both = tuple((_constant(b, pair[0]), _constant(s, pair[1])) for b in (True, None) for s in ("EU", "A", None))
    return [*found, (pair, both)]


def _constant(key: Any, column: Expression) -> Literal:
    if column.type.scale and key is not None:
        return Literal(column.type, Fraction(key))
    found = build.widen(build.literal(key), column.type)
    assert isinstance(found, Literal)
    return found
