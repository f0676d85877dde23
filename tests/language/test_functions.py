"""A function is one entry: parsing and the SQL of every engine follow from it."""

import importlib
from fractions import Fraction
from pathlib import Path

import pytest

from tacit.engines.calls import WRITTEN
from tacit.engines.dialect import Dialect
from tacit.engines.duckdb.dialect import DIALECT as DUCKDB
from tacit.engines.postgres.dialect import DIALECT as POSTGRESQL
from tacit.engines.spark.dialect import DIALECT as SPARK
from tacit.engines.terms import Terms
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language import functions
from tacit.language.build import alike
from tacit.language.expressions import Absolute, Coalesce, Extreme, Literal, NamedCall, Scope
from tacit.language.functions import ABS, COALESCE, FUNCTIONS, GREATEST, LEAST, Function
from tacit.language.parsing import parse
from tacit.language.types import FLOAT, INTEGER, TEXT, Schema
from tests.engines import oracle
from tests.language.meanings import MEANING

SCOPE = Scope.of(Schema.of({"a": "integer", "n": "text"}), "x")
ONE, TWO = Literal(INTEGER, 1), Literal(FLOAT, 2.0)
TOY = Function("TRANSLATE", "Translate", alike, ("this", "from_", "to"))
"""A function that Tacit does not have."""


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Function:
    monkeypatch.setitem(functions.PARSED, TOY.node, TOY)
    monkeypatch.setitem(functions.FUNCTIONS, TOY.name, TOY)
    return TOY


def test_a_function_widens_its_arguments_and_has_their_type() -> None:
    assert COALESCE(ONE, TWO) == Coalesce(FLOAT, (Literal(FLOAT, 1.0), TWO))
    assert LEAST(ONE, ONE) == Extreme(INTEGER, False, (ONE, ONE))
    assert GREATEST(TWO) == Extreme(FLOAT, True, (TWO,))
    assert ABS(ONE) == Absolute(INTEGER, ONE)
    with pytest.raises(InvalidInput, match="ABS needs numbers, not text"):
        ABS(Literal(TEXT, "x"))


def test_every_function_is_parsed() -> None:
    for name, function in FUNCTIONS.items():
        assert name == function.name
        assert function.written
        assert function.meaning
        for text, _ in function.examples:
            parse(text, SCOPE)
        assert function.examples or function.meaning.startswith("Refused")


def test_every_example_is_true() -> None:
    for function in FUNCTIONS.values():
        for text, value in function.examples:
            expression = parse(text, SCOPE)
            found = oracle.evaluate(expression, {})
            scale = expression.type.scale
            assert (Fraction(found, 10**scale) if scale and found is not None else found) == value, text


def test_the_reference_is_made_of_the_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs" / "hooks"))
    made = importlib.import_module("functions")
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "run python docs/hooks/functions.py"


def test_names_in_ledgers_stay() -> None:
    """Questions are known by the names of the calls that they are made of: these may become more, none may change."""
    assert set(MEANING) >= {
        "ROUND", "TRUNC", "FLOOR", "CEIL", "MOD", "DIV", "SQRT", "WIDTH_BUCKET", "LN", "LOG2", "LOG10", "EXP", "POWER",
        "LOWER", "UPPER", "LENGTH", "SUBSTRING", "LEFT", "RIGHT", "TRIM", "LTRIM", "RTRIM", "||", "REPLACE", "REPEAT",
        "LPAD", "RPAD", "SPLIT_PART", "POSITION", "STARTS_WITH", "ENDS_WITH", "REGEXP_MATCHES", "ADD_DAYS", "ADD_TIME",
        "ADD_MONTHS", "WHOLE_MONTHS", "MAKE_DATE", "EPOCH", "EPOCH_US", "TRY_CAST",
    }  # fmt: skip
    assert set(WRITTEN) == set(MEANING)


def test_a_function_that_is_not_listed_is_refused() -> None:
    with pytest.raises(UnsupportedQuery, match=r"TRANSLATE is not supported .* CASE, .* COALESCE, ROUND"):
        parse("TRANSLATE(n, 'a', 'b')", SCOPE)


def test_a_new_function_is_one_entry(toy: Function) -> None:
    written = parse("TRANSLATE(a, 1, 2) + TRANSLATE(1, 2, 3)", SCOPE)
    assert written.type == INTEGER
    assert next(parse("TRANSLATE(a, 1.5, 2)", SCOPE).children()).type.scale == 1
    assert parse("TRANSLATE(1, 2, 2)", SCOPE) == NamedCall(INTEGER, TOY.name, (ONE, *[Literal(INTEGER, 2)] * 2))
    with pytest.raises(InvalidInput, match="TRANSLATE mixes integer and text"):
        parse("TRANSLATE(a, n, n)", SCOPE)


@pytest.mark.parametrize("dialect", [DUCKDB, POSTGRESQL, SPARK])
def test_its_sql_follows(toy: Function, dialect: Dialect) -> None:
    call = parse("TRANSLATE(1, 2, 2)", SCOPE)
    assert Terms(dialect, {}).term(call).sql == f"TRANSLATE(CAST(1 AS BIGINT){', CAST(2 AS BIGINT)' * 2})"
    assert Terms(dialect, {}).term(toy(TWO, TWO)).sql == f"TRANSLATE({dialect.double(2.0)}, {dialect.double(2.0)})"
