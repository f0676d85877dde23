"""The SQL itself, word by word: a change here is a change on every engine and must be meant."""

from fractions import Fraction

import pytest

from tacit.engines.columns import TableSQL
from tacit.engines.duckdb.dialect import DIALECT
from tacit.engines.duckdb.tables import DuckColumn
from tacit.engines.requests import (
    LARGEST_ANSWER,
    Extremes,
    Flags,
    GroupNorms,
    GroupTotals,
    Join,
    KeyCounts,
    Moments,
    Ordered,
    Persons,
    RankSteps,
    Relation,
    RowCount,
    TotalBuckets,
    value,
)
from tacit.engines.snapshots import render
from tacit.errors import InvalidInput
from tacit.language.expressions import Column, Literal
from tacit.language.parsing import parse
from tacit.language.types import BOOLEAN, INTEGER, TEXT
from tests.engines.support import SCHEMA, SCOPE, engine_over, relation

NATIVE = {
    "who": "BIGINT", "i": "BIGINT", "u": "UBIGINT", "c": "DECIMAL(12,2)", "w": "DECIMAL(38,3)", "f": "DOUBLE",
    "g": "FLOAT", "b": "BOOLEAN", "d": "DATE", "t": "TIMESTAMP", "s": "VARCHAR", "nothing": "INTEGER",
}  # fmt: skip
TABLE = TableSQL('"t"', {n: DuckColumn(n, NATIVE.get(n, "VARCHAR"), kind) for n, kind in SCHEMA.columns})
SPLIT = (" AS MATERIALIZED (", " AS NOT MATERIALIZED (")


def sql(*requests: object, where: str | None = None) -> str:
    about = relation(where=None if where is None else parse(where, SCOPE))
    return DIALECT.statement(render(DIALECT, {"t": TABLE}, about, requests))  # type: ignore[arg-type]


def test_a_sum_of_integers() -> None:
    assert sql(Persons(), TotalBuckets(value(SCOPE.find("i")), (10, 20))) == (
        'WITH link0 AS NOT MATERIALIZED (SELECT "t"."who" AS person, "t"."i" AS c0 FROM "t" AS "t"), '
        "rows AS NOT MATERIALIZED (SELECT person, c0 AS x0 FROM link0 WHERE person IS NOT NULL), "
        "persons AS MATERIALIZED (SELECT SUM(x0) AS a0 FROM rows GROUP BY person) "
        "SELECT 0 AS request, CAST(COUNT(*) AS HUGEINT) AS a, CAST(NULL AS HUGEINT) AS b, CAST(NULL AS HUGEINT) AS c, "
        "CAST(NULL AS DOUBLE) AS x FROM persons "
        "UNION ALL "
        "SELECT 1 AS request, CAST(CASE WHEN negative THEN -1 - place ELSE place END AS HUGEINT) AS a, "
        "CAST(COUNT(*) AS HUGEINT) AS b, CAST(SUM(size) AS HUGEINT) AS c, CAST(NULL AS DOUBLE) AS x FROM "
        "(SELECT size, negative, CASE WHEN size <= 20 THEN CASE WHEN size <= 10 THEN 0 ELSE 1 END ELSE 2 END AS place "
        "FROM (SELECT ABS(a0) AS size, a0 < 0 AS negative FROM persons WHERE a0 <> 0) AS sizes) AS places "
        "GROUP BY place, negative"
    )


def test_the_conversion_of_doubles() -> None:
    assert (
        "CASE WHEN ABS(c0) < CAST('9200000000000.0' AS DOUBLE) THEN CAST(c0 * CAST('1000000.0' AS DOUBLE) AS BIGINT) "
        "WHEN ISNAN(c0) THEN NULL WHEN c0 > 0 THEN 9200000000000000000 WHEN c0 < 0 THEN -9200000000000000000 END AS x0"
    ) in sql(TotalBuckets(value(SCOPE.find("f")), (1,)))
    assert "THEN CAST(c0 / CAST('100.0' AS DOUBLE) AS BIGINT)" in sql(
        TotalBuckets(value(SCOPE.find("f"), Fraction(100)), (1,))
    )


def test_arithmetic_is_guarded() -> None:
    assert (
        "link1 AS NOT MATERIALIZED (SELECT person, c2, (CAST(c0 AS HUGEINT) * CAST(c1 AS HUGEINT)) AS e0 FROM link0), "
        "rows AS NOT MATERIALIZED (SELECT person, CASE WHEN e0 BETWEEN -9223372036854775808 AND 9223372036854775807 "
        "THEN CAST(e0 AS BIGINT) END AS x0 FROM link1 WHERE person IS NOT NULL AND (c2 = 'O''Brien'))"
    ) in sql(TotalBuckets(value(parse("i * u", SCOPE)), (1,)), where="s = 'O''Brien'")


def test_reading_saturates() -> None:
    text = sql(*(Extremes(Ordered(SCOPE.find(name)), 1, True) for name in "ucwgdt"))
    for part in (
        'CASE WHEN "t"."u" > 9223372036854775807 THEN 9223372036854775807 ELSE CAST("t"."u" AS BIGINT) END AS c0',
        'CAST("t"."c" * CAST(100 AS DECIMAL(3,0)) AS BIGINT) AS c1',
        'CASE WHEN "t"."w" >= CAST(\'9223372036854775.807\' AS DECIMAL(38,3)) THEN 9223372036854775807',
        'WHEN ISNAN(CAST("t"."g" AS DOUBLE)) THEN NULL',
        "GREATEST(LEAST(\"t\".\"d\", DATE '9999-12-31'), DATE '0001-01-01')",
        "EPOCH_US(c5) AS x5",
    ):
        assert part in text


def test_persons_are_computed_once_and_rows_never_kept() -> None:
    text = sql(
        Persons(),
        TotalBuckets(RowCount(), (1,)),
        TotalBuckets(value(SCOPE.find("i")), (1,)),
        Extremes(value(SCOPE.find("i")), 1, True),
        Flags(SCOPE.find("b")),
        Moments(value(SCOPE.find("i")), 0, 9, 2, 3),
    )
    assert text.count("GROUP BY person)") == 1
    assert text.count(SPLIT[0]) == 1
    assert text.count(SPLIT[1]) == 2
    assert text.count("SUM(x0) AS") == 1  # one total for two requests about it


def test_group_requests_share_their_table() -> None:
    by, keys = (SCOPE.find("s"),), ((Literal(TEXT, "EU"),), (Literal(TEXT, None),))
    entry = value(SCOPE.find("i"))
    text = sql(GroupNorms(entry, by, keys, "l1", (5,)), GroupTotals(entry, by, keys, "l1", 5))
    assert text.count("(VALUES (0, 'EU'), (1, CAST(NULL AS VARCHAR)))") == 1


def test_joins() -> None:
    public = TableSQL('"p"', {"id": DuckColumn("id", "INTEGER", INTEGER)})
    join = Join("p", "p 1", ((Column(INTEGER, "t", "i"), Column(INTEGER, "p 1", "id")),), "left")
    about = Relation("t", "t", Column(INTEGER, "t", "who"), (join,))
    text = DIALECT.statement(render(DIALECT, {"t": TABLE, "p": public}, about, (Persons(),)))
    assert 'FROM "t" AS "t" LEFT JOIN "p" AS "p 1" ON "t"."i" = "p 1"."id"' in text


def test_answers_stay_small_whatever_the_table() -> None:
    """10,000 numbers at most: the grid is refused beyond, and a full grid brings back no more."""
    most = LARGEST_ANSWER // 4 - 1
    with pytest.raises(InvalidInput, match="too many"):
        TotalBuckets(RowCount(), tuple(range(most + 1)))
    full = TotalBuckets(value(SCOPE.find("i")), tuple(range(most)))
    empty = dict.fromkeys(SCOPE.tables["t"])
    table = [empty | {"who": who, "i": 2 * who - 3000} for who in range(3_000)]
    with engine_over(table) as engine, engine.snapshot() as snapshot:
        numbers = snapshot.fetch_rows(render(DIALECT, {"t": engine.tables["t"].sql}, relation(), (full,)))
    assert 0 < 2 * len(numbers) <= LARGEST_ANSWER


@pytest.mark.parametrize(
    "build",
    [
        lambda: TotalBuckets(RowCount(), ()),
        lambda: TotalBuckets(RowCount(), (2, 1)),
        lambda: TotalBuckets(RowCount(), (-1, 1)),
        lambda: Extremes(Ordered(SCOPE.find("i")), 0, True),
        lambda: Extremes(Ordered(SCOPE.find("i")), LARGEST_ANSWER + 1, True),
        lambda: Ordered(SCOPE.find("s")),
        lambda: Flags(SCOPE.find("i")),
        lambda: RankSteps(Ordered(SCOPE.find("i")), (), 1),
        lambda: RankSteps(Ordered(SCOPE.find("i")), (Fraction(3, 2),), 1),
        lambda: RankSteps(Ordered(SCOPE.find("i")), (Fraction(1, 2),), LARGEST_ANSWER),
        lambda: Moments(value(SCOPE.find("i")), 5, 5, 1),
        lambda: Moments(value(SCOPE.find("i")), 0, 5, 1, 0),
        lambda: GroupTotals(RowCount(), (), ((),), "l1", 1),
        lambda: GroupTotals(RowCount(), (SCOPE.find("b"),), (), "l1", 1),
        lambda: GroupTotals(RowCount(), (SCOPE.find("b"),), ((Literal(INTEGER, 1),),), "l1", 1),
        lambda: GroupTotals(RowCount(), (SCOPE.find("b"),), ((Literal(BOOLEAN, True),),) * 2, "l1", 1),
        lambda: GroupTotals(RowCount(), (SCOPE.find("b"),), ((Literal(BOOLEAN, True),),), "l1", 2**64),
        lambda: KeyCounts((SCOPE.find("s"),), 1, 1, b"short"),
        lambda: value(SCOPE.find("s")),
        lambda: value(SCOPE.find("d")),
        lambda: value(SCOPE.find("i"), Fraction(1, 100)),
        lambda: value(SCOPE.find("f"), Fraction(2, 3)),
        lambda: Join("p", "p", ()),
        lambda: Join("p", "p", ((Column(INTEGER, "t", "i"), Column(TEXT, "p", "id")),)),
        lambda: relation(where=SCOPE.find("i")),
        lambda: Relation("t", "t", Column(INTEGER, "t", "who"), (Join("p", "t", ((SCOPE.find("i"),) * 2,)),)),  # type: ignore[arg-type]
    ],
)
def test_impossible_requests_are_refused(build: object) -> None:
    with pytest.raises(InvalidInput):
        build()  # type: ignore[operator]
