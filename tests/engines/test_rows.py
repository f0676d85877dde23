"""Every expression means the same in SQL as in plain Python, row by row, and never fails."""

from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import UnsupportedQuery
from tacit.language import build, functions
from tacit.language.expressions import PARTS, UNITS, Expression
from tacit.language.parsing import parse
from tacit.language.types import BOOLEAN, DATE, FLOAT, INTEGER, TEXT, TIMESTAMP, decimal
from tests.engines.oracle import evaluate
from tests.engines.support import SCOPE, engine_over, row_values, tables

COLUMNS = {
    "exact": ("i", "u", "c", "w", "nothing"),
    "float": ("f", "g"),
    "boolean": ("b",),
    "date": ("d",),
    "timestamp": ("t",),
    "text": ("s",),
}
CONSTANTS = {
    "exact": (0, 1, -3, 2**63 - 1, -(2**63), Decimal("0.25"), Decimal("-7.5"), None),
    "float": (0.0, 0.1, -2.5, 1e308, 5e-324),
    "boolean": (True, False, None),
    "date": (date(2020, 2, 29), date(1, 1, 1), date(9999, 12, 31)),
    "timestamp": (datetime(2020, 2, 29, 12, 30, 59, 999999), datetime(1970, 1, 1)),
    "text": ("", "EU", "O'Brien", "{}", "ü"),
}


def leaves(kind: str) -> st.SearchStrategy[Expression]:
    columns = st.sampled_from([SCOPE.find(name) for name in COLUMNS[kind]])
    null = {"exact": INTEGER, "boolean": BOOLEAN}.get(kind, TEXT)
    constants = [build.widen(build.literal(c), null) if c is None else build.literal(c) for c in CONSTANTS[kind]]
    return st.one_of(columns, columns, st.sampled_from(constants))


@st.composite
def expressions(draw: st.DrawFn, kind: str, depth: int = 3) -> Expression:
    """A random expression of a kind: a leaf, or one node over smaller ones."""

    def part(of: str) -> Expression:
        return draw(expressions(of, depth - 1))

    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(leaves(kind))
    numeric = draw(st.sampled_from(("exact", "exact", "float")))
    forms: dict[str, list[Any]] = {
        "exact": [
            lambda: build.arithmetic(draw(st.sampled_from(("+", "-", "*"))), part("exact"), part("exact")),
            lambda: functions.ABS(part("exact")),
            lambda: build.extract(draw(st.sampled_from(PARTS)), part("timestamp")),
            lambda: build.arithmetic("-", build.widen(part("date"), DATE), build.widen(part("date"), DATE)),
            lambda: build.widen(part("boolean"), INTEGER),
        ],
        "float": [
            lambda: build.arithmetic(draw(st.sampled_from(("+", "-", "*", "/"))), part(numeric), part("float")),
            lambda: build.arithmetic("/", part("exact"), part("exact")),
            lambda: build.widen(part("exact"), FLOAT),
            lambda: functions.ABS(part("float")),
        ],
        "boolean": [
            lambda: _compared(draw, part, draw(st.sampled_from(list(COLUMNS)))),
            lambda: build.logic(draw(st.sampled_from(("AND", "OR"))), [part("boolean"), part("boolean")]),
            lambda: build.negation(part("boolean")),
            lambda: build.is_null(part(draw(st.sampled_from(list(COLUMNS))))),
            lambda: build.like(part("text"), build.literal(draw(st.sampled_from(("%", "_U", "a%b", "O'%", "%\n%"))))),
            lambda: build.membership(part(numeric), [build.literal(c) for c in CONSTANTS["exact"]]),
            lambda: build.membership(part("text"), [build.literal(c) for c in CONSTANTS["text"]]),
        ],
        "date": [lambda: build.date_trunc(draw(st.sampled_from(UNITS[:5])), build.widen(part("date"), DATE))],
        "timestamp": [
            lambda: build.date_trunc(draw(st.sampled_from(UNITS)), part("timestamp")),
            lambda: build.widen(part("date"), TIMESTAMP),
        ],
        "text": [],
    }
    shared = [
        lambda: build.case([(part("boolean"), part(kind))], draw(st.sampled_from((None, part(kind))))),
        lambda: functions.COALESCE(part(kind), part(kind)),
    ]
    if kind != "text" and kind != "boolean":
        shared.append(lambda: draw(st.sampled_from((functions.LEAST, functions.GREATEST)))(part(kind), part(kind)))
    made: Expression = draw(st.sampled_from(forms[kind] + shared))()
    return made


def _compared(draw: st.DrawFn, part: Any, kind: str) -> Expression:
    operator: Any = draw(st.sampled_from(("=", "<>", "<", "<=", ">", ">=")))
    return build.comparison(operator, part(kind), part(kind))


@given(tables(6), st.data())
@settings(max_examples=40, deadline=None)
def test_expressions_equal_their_meaning(table: list[dict[str, Any]], data: st.DataObject) -> None:
    asked: list[Expression] = []
    for kind in COLUMNS:
        try:
            asked.append(data.draw(expressions(kind)))
        except UnsupportedQuery:  # a product of decimals with too many digits is refused, as it should
            continue
    with engine_over(table) as engine:
        found = row_values(engine, asked)
    expected = [tuple(evaluate(e, row) for e in asked) for row in table if row["who"] is not None]
    assert Counter(found) == Counter(expected)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("9223372036854775807 + 1", INTEGER, None),
        ("-9223372036854775808 - 1", INTEGER, None),
        ("ABS(-9223372036854775808)", INTEGER, None),
        ("4611686018427387904 * 2", INTEGER, None),
        ("1e308 * 10", FLOAT, None),
        ("1 / 0", FLOAT, None),
        ("0 / 0", FLOAT, None),
        ("1.5 + 2.25", decimal(2), 375),
        ("1.5 * 2.25", decimal(3), 3375),
        ("7 / 2", FLOAT, 3.5),
        ("CAST(0.1 AS DOUBLE)", FLOAT, 0.1),
        ("CASE WHEN 1 / 0 > 1 THEN 1 ELSE 2 END", INTEGER, 2),
        ("9223372036854775807 = 9223372036854775807.0", BOOLEAN, True),
        ("9223372036854775807 > 0.5", BOOLEAN, True),
        ("1 IN (2, NULL)", BOOLEAN, None),
        ("NOT 1 IN (1, NULL)", BOOLEAN, False),
        ("EXTRACT(week FROM DATE '2021-01-03')", INTEGER, 53),
        ("EXTRACT(dow FROM DATE '2021-01-03')", INTEGER, 0),
        ("DATE '2020-03-01' - DATE '2020-02-01'", INTEGER, 29),
        ("DATE_TRUNC('week', DATE '2021-01-03')", DATE, date(2020, 12, 28)),
        ("LEAST(3, NULL, 1)", INTEGER, 1),
        ("COALESCE(NULL, 'x')", TEXT, "x"),
        ("TIMESTAMP '2020-01-01 12:00:00+02:00'", TIMESTAMP, datetime(2020, 1, 1, 10)),
    ],
)
def test_known_values(text: str, kind: Any, expected: Any) -> None:
    expression = parse(text, SCOPE)
    assert expression.type == kind
    row = dict.fromkeys(SCOPE.tables["t"]) | {"who": 1}
    assert evaluate(expression, row) == expected
    with engine_over([row]) as engine:
        assert row_values(engine, [expression]) == [(expected,)]


def test_text_grows_linearly_with_the_expression() -> None:
    """Each level of arithmetic is named once: sixty levels would otherwise be 3^60 characters."""
    expression, factor, term = SCOPE.find("f"), build.literal(1.01), SCOPE.find("i")
    for _ in range(60):
        expression = build.arithmetic("+", build.arithmetic("*", expression, factor), term)
    row = dict.fromkeys(SCOPE.tables["t"]) | {"who": 1, "f": 1.0, "i": 2}
    with engine_over([row]) as engine:
        assert row_values(engine, [expression]) == [(evaluate(expression, row),)]


def test_the_conversion_of_decimals_to_doubles_is_one_division() -> None:
    row = dict.fromkeys(SCOPE.tables["t"]) | {"who": 1, "w": Decimal("123456789012345.678")}
    with engine_over([row]) as engine:
        ((found,),) = row_values(engine, [parse("CAST(w AS DOUBLE)", SCOPE)])
    assert found == float(123456789012345678) / 1000.0
    assert Fraction(found) != Fraction("123456789012345.678")
