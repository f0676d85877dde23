"""Aggregates and windows of a person's rows: which types they take and give, and what is refused in which words."""

from __future__ import annotations

import pytest

from tacit.errors import InvalidInput, TacitError, UnsupportedQuery
from tacit.language.aggregates import AGGREGATES, aggregate
from tacit.language.expressions import Expression, Scope
from tacit.language.inside import Frame, Ordering
from tacit.language.parsing import parse
from tacit.language.types import BOOLEAN, FLOAT, INTEGER, OTHER, ColumnType, Schema, decimal
from tacit.language.windows import WINDOWS, window

TYPES: dict[str, str | ColumnType] = {
    "i": "integer",
    "c": "decimal(2)",
    "f": "float",
    "b": "boolean",
    "d": "date",
    "s": "text",
    "o": OTHER,
}
SCOPE = Scope.of(Schema.of(TYPES), "t")


def of(*texts: str) -> list[Expression]:
    return [SCOPE.find(text) if text.isidentifier() else parse(text, SCOPE) for text in texts]


@pytest.mark.parametrize(
    ("name", "operands", "kind"),
    [
        ("count", (), INTEGER),
        ("SUM", ("i",), INTEGER),
        ("sum", ("c",), decimal(2)),
        ("sum", ("f",), decimal(6)),
        ("sum", ("b",), INTEGER),
        ("mean", ("c",), FLOAT),
        ("min", ("s",), of("s")[0].type),
        ("median", ("i",), FLOAT),
        ("median", ("d",), of("d")[0].type),
        ("percentile_cont", ("f", "0.25"), FLOAT),
        ("quantile", ("c", "0.25"), decimal(2)),
        ("every", ("b",), BOOLEAN),
        ("max_by", ("d", "f"), of("d")[0].type),
        ("variance", ("i",), FLOAT),
        ("countif", ("b",), INTEGER),
    ],
)
def test_types_of_aggregates(name: str, operands: tuple[str, ...], kind: ColumnType) -> None:
    assert aggregate(name, of(*operands)).type == kind


def test_synonyms_are_one_question() -> None:
    assert aggregate("stddev", of("i")) == aggregate("STDDEV_SAMP", of("i"))
    assert aggregate("median", of("i")) == aggregate("percentile_cont", of("i", "0.5"))
    assert aggregate("count_if", of("b")) == aggregate("count", filter=of("b")[0])
    assert len(set(AGGREGATES)) == len(AGGREGATES)


@pytest.mark.parametrize(
    ("name", "operands", "words"),
    [
        ("product", ("i",), "no aggregate that is known"),
        ("sum", ("s",), "needs numbers, not text"),
        ("sum", (), "has 0 arguments; give it 1"),
        ("avg", ("d",), "needs numbers, not date"),
        ("min", ("o",), "type that Tacit reads"),
        ("quantile_cont", ("d", "0.5"), "QUANTILE_DISC"),
        ("quantile_cont", ("i", "1.5"), "from 0 to 1"),
        ("quantile_cont", ("i", "i"), "from 0 to 1"),
        ("quantile_cont", ("i", "0.123456"), "too many digits"),
        ("string_agg", ("i",), "needs text"),
        ("string_agg", ("s", "s"), "constant text"),
        ("arg_max", ("s",), "has 1 arguments"),
        ("countif", (), "has 0 arguments"),
    ],
)
def test_refused_aggregates(name: str, operands: tuple[str, ...], words: str) -> None:
    with pytest.raises((InvalidInput, UnsupportedQuery), match=words):
        aggregate(name, of(*operands))


def test_orders_and_distinct_of_aggregates() -> None:
    s, i = of("s", "i")
    with pytest.raises(InvalidInput, match="leave ORDER BY out"):
        aggregate("sum", [i], order=[Ordering(i)])
    with pytest.raises(InvalidInput, match="counts nothing"):
        aggregate("count", distinct=True)
    with pytest.raises(UnsupportedQuery, match="with DISTINCT"):
        aggregate("string_agg", [s], distinct=True, order=[Ordering(i)])
    with pytest.raises(InvalidInput, match="WITHIN GROUP"):
        aggregate("quantile_disc", [i, *of("0.5")], order=[Ordering(s)])
    with pytest.raises(TacitError):
        aggregate("sum", [i], filter=s)


@pytest.mark.parametrize(
    ("name", "operands", "kind"),
    [
        ("row_number", (), INTEGER),
        ("percent_rank", (), FLOAT),
        ("ntile", ("4",), INTEGER),
        ("lag", ("s",), of("s")[0].type),
        ("lead", ("i", "2", "0.5"), decimal(1)),
        ("nth_value", ("d", "3"), of("d")[0].type),
        ("sum", ("f",), decimal(6)),
    ],
)
def test_types_of_windows(name: str, operands: tuple[str, ...], kind: ColumnType) -> None:
    assert window(name, of(*operands)).type == kind


@pytest.mark.parametrize(
    ("name", "operands", "words"),
    [
        ("median", ("i",), "no window function"),
        ("row_number", ("i",), "has 1 arguments; give it 0"),
        ("lag", ("i", "-1"), "whole number from 0"),
        ("lag", ("i", "i"), "whole number from 0"),
        ("ntile", ("0",), "whole number from 1"),
        ("nth_value", ("i",), "give it 2"),
        ("lag", ("i", "1", "s"), "mixes"),
        ("sum", ("s",), "needs numbers"),
        ("first_value", ("o",), "type that Tacit reads"),
    ],
)
def test_refused_windows(name: str, operands: tuple[str, ...], words: str) -> None:
    with pytest.raises((InvalidInput, UnsupportedQuery), match=words):
        window(name, of(*operands))


@pytest.mark.parametrize(
    ("name", "frame", "words"),
    [
        ("row_number", Frame("rows", None, 0), "has no frame"),
        ("sum", Frame("rows", 2, 1), "begin before it ends"),
        ("sum", Frame("rows", -(10**7), 0), "at most 1,000,000 rows"),
        ("sum", Frame("range", -1, 0), "RANGE with a distance"),
        ("sum", Frame("range", None, 0), "needs an order"),
    ],
)
def test_refused_frames(name: str, frame: Frame, words: str) -> None:
    with pytest.raises((InvalidInput, UnsupportedQuery), match=words):
        window(name, of("i") if name == "sum" else [], frame=frame)
    assert name in WINDOWS
