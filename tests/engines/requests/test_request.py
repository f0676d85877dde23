"""A request says everything about itself, and a statement's parts read only what stands before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tacit.engines.columns import TableSQL
from tacit.engines.duckdb.dialect import DIALECT
from tacit.engines.requests import Blocks, Incidence, Join, KeyCounts, LeadingValue, Ordered, Relation, Request, TopRows
from tacit.engines.requests.request import AnswerRow, Arm
from tacit.engines.rows import Rows
from tacit.engines.script import PERSONS, Script, fragment
from tacit.engines.snapshots import Statement, render
from tacit.language.expressions import Column
from tacit.language.types import INTEGER
from tests.engines import questions
from tests.engines.support import SCOPE, engine_over, relation
from tests.engines.test_snapshots import TABLE


@dataclass(frozen=True)
class LongestText(Request[int]):
    """A toy: the length of the longest text that any person has."""

    column: Column

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        longest = statement.aggregate(f"MAX(LENGTH({statement.rows.plain(self.column)}))")
        return (Arm(fragment(PERSONS), a=f"MAX({longest})"),)

    def read(self, rows: Sequence[AnswerRow]) -> int:
        return int(rows[0][1])


def test_a_new_request_is_one_class() -> None:
    column = SCOPE.find("s")
    assert isinstance(column, Column)
    empty = dict.fromkeys(SCOPE.tables["t"])
    table = [empty | {"who": who, "s": text} for who, text in ((1, "EU"), (1, "line"), (2, "b"), (None, "too long"))]
    with engine_over(table) as engine, engine.snapshot() as snapshot:
        assert snapshot.ask(relation(), (LongestText(column),)) == (4,)


ASKED: tuple[Any, ...] = (
    *questions.of_persons()[::9],
    *questions.quantiles("f"),
    *questions.of_groups()[::7],
    KeyCounts((SCOPE.find("b"), SCOPE.find("d")), 2, 1, bytes(16)),
    LeadingValue(SCOPE.find("s")),
    TopRows(Ordered(SCOPE.find("f")), 3, 4, True),
)
ALONE = (
    Incidence(values=SCOPE.find("c")),
    Incidence(heights=Ordered(SCOPE.find("f"))),
    Blocks((("i", SCOPE.find("i")),), 7, bytes(16)),
)


@pytest.mark.parametrize("request_", ASKED + ALONE, ids=lambda asked: type(asked).__name__)
def test_parts_read_only_tables_and_parts_before_them(request_: Any) -> None:
    """Every part is read but the rows, which persons may be read without."""
    tables = {"t": TABLE}
    if isinstance(request_, Request):
        script = render(DIALECT, tables, relation(), (request_,))
    else:
        script = request_.script(Rows(DIALECT, relation(), tables))
    known: set[str] = set()
    for name, asked in (*((part.name, part.body) for part in script.parts), ("", script.body)):
        assert {reading.of for reading in asked.readings if isinstance(reading.of, str)} <= known, name
        known.add(name)
    assert {part.name for part in script.parts} - {reading.of for reading in _of_parts(script)} <= {"rows"}


def _of_parts(script: Script) -> list[Any]:
    return [reading for reading in script.readings if isinstance(reading.of, str)]


def test_readings_name_the_columns_that_are_used() -> None:
    """Of both tables: persons, join keys, filters and values."""
    other = Column(INTEGER, "p", "i")
    about = Relation("t", "t", Column(INTEGER, "t", "who"), (Join("p", "p", ((Column(INTEGER, "t", "u"), other),)),))
    tables = {"t": TABLE, "p": TableSQL('"p"', TABLE.columns)}
    script = render(DIALECT, tables, about, (LongestText(Column(SCOPE.find("s").type, "t", "s")),))
    used = {reading.alias: reading.columns for reading in script.readings if isinstance(reading.of, TableSQL)}
    assert used == {'"t"': {"who", "u", "s"}, '"p"': {"i"}}
