"""The whole library of expressions: on every engine what plain Python says, bit for bit, and no row can make one fail.

Every form of `tests.engines.awkward` is asked about rows of awkward values, and so are some expressions at random;
`benchmarks/expressions.py` asks 100,000 of these. Spark is asked a part, unless TACIT_CONFORMANCE=full is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from tacit.engines import Engine, Source, open_engine
from tacit.engines.postgres.dialect import DIALECT
from tacit.engines.requests import Persons
from tacit.engines.terms import Terms
from tacit.language.expressions import LINKS, Expression, NamedCall
from tacit.language.functions import FUNCTIONS
from tacit.language.parsing import parse
from tests.engines import awkward, oracle
from tests.engines.cases import Row
from tests.engines.engines import OPEN, everything, facts
from tests.engines.questions import relation
from tests.engines.rowwise import differences
from tests.language.meanings import MEANING


@cache
def table() -> list[Row]:
    return awkward.rows(Random(20), 130, all_first=True)


@pytest.fixture(scope="module", params=list(OPEN))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with OPEN[request.param](request, {"t": awkward.arrow(table())}) as opened:
        yield opened


def _agree(engine: Engine, asked: list[tuple[str, Expression]], few: int) -> None:
    at_once = 100
    if not everything(engine):
        asked, at_once = asked[:: len(asked) // few], 10
    with engine.snapshot() as snapshot:
        for start in range(0, len(asked), at_once):
            assert differences(snapshot, asked[start : start + at_once], table()) == []


def test_every_form_in_every_row(engine: Engine) -> None:
    _agree(engine, awkward.each(), 30)


def test_constants_beyond_64_bits_are_compared_with_nothing_as_others_are(engine: Engine) -> None:
    """Spark decides a comparison of whole numbers with a bare constant beyond them, also where they are NULL."""
    forms = [f"(c {operator} {end})" for operator in ("<", "<=", "=", "<>") for end in (-(2**63), 2**63 - 1)]
    forms += ["(9223372036854775807 BETWEEN c AND i)", "(c IN (9223372036854775807, 1))", "(c * 100 >= -(1 - i))"]
    asked = [(form, parse(form, awkward.SCOPE)) for form in forms]
    with engine.snapshot() as snapshot:
        assert differences(snapshot, asked, table()) == []


def test_expressions_at_random(engine: Engine) -> None:
    draw = Random(21)
    _agree(engine, [awkward.expression(draw) for _ in range(60)], 10)


def test_what_a_planner_knows_about_columns_decides_nothing(tmp_path: Path) -> None:
    """DuckDB plans with what it knows about a stored column, as that it is empty: no question may fail for that.

    A filter is moved to where the column is read, which a column of the answer is not.
    """
    rows = [row | dict.fromkeys(awkward.COLUMNS) for row in table()[:1]]
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.register("arrow", arrow := awkward.arrow(rows))
        connection.execute("CREATE TABLE t AS SELECT * FROM arrow")
    engine = open_engine({"t": Source(tmp_path / "t.duckdb", facts(arrow))})
    for form in awkward.filled()["T"]:
        condition = parse(f"{form} = 'a'", awkward.SCOPE)
        with engine.snapshot() as snapshot:
            found = snapshot.ask(replace(relation(), filter=condition), (Persons(),))
        assert found == (int(oracle.evaluate(condition, rows[0]) is True),), form
    engine.close()


# ---- the list is whole -------------------------------------------------------------------------------------------


def _calls(expression: Expression) -> Iterator[NamedCall]:
    if isinstance(expression, NamedCall):
        yield expression
    for child in expression.children():
        yield from _calls(child)


def test_every_function_is_among_the_forms() -> None:
    texts = [text for text, _ in awkward.each()]
    operators = {"DIV": "//", "LOG": "LOG2"}
    for name, function in FUNCTIONS.items():
        if not function.meaning.startswith("Refused"):
            assert any(operators.get(name, f"{name}(") in text for text in texts), name
    assert {call.name for _, expression in awkward.each() for call in _calls(expression)} == set(MEANING)


class _Bare(Terms):
    """Terms over columns that are read as they are."""

    def read_column(self, column: Any, reading: Any) -> str:
        return str(column.name)


def test_a_call_takes_as_many_links_as_it_counts() -> None:
    """What bounds the depth of an expression bounds the queries inside one another that it becomes."""
    for text, expression in awkward.each():
        for call in _calls(expression):
            terms = _Bare(DIALECT, {})
            before = max((terms.term(operand).level for operand in call.operands), default=0)
            assert terms.term(call).level - before <= LINKS.get(call.name, 2), text
