"""The text of a question stays what it is: answers in ledgers, and the parts of a table, are found by it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pyarrow as pa
import pytest

import tacit
from tacit import InvalidInput, Pure, Table
from tacit.engines import requests
from tacit.language import build
from tacit.language.aggregates import aggregate
from tacit.language.expressions import Column, Expression
from tacit.language.inside import Frame, Ordering
from tacit.language.types import INTEGER
from tacit.language.windows import window
from tacit.tables.releasing.identity import FORMS, LATER, identity
from tacit.tables.statistics.count import Count
from tacit.tables.statistics.persons import PersonCount

PERSON = "Column(type=ColumnType(kind=<Kind.INTEGER: 'integer'>, scale=0), table='t', name='who')"
VALUE = "Column(type=ColumnType(kind=<Kind.FLOAT: 'float'>, scale=0), table='t', name='x')"
RELATION = f"Relation(table='t', alias='t', person={PERSON}, joins=(), filter=None, others=(), kind='', members=())"


@pytest.fixture
def table() -> Table:
    return tacit.read(pa.table({"who": [1, 2], "x": [1.5, 2.5]}), person="who", budget=Pure(1), table="t")


def test_texts_are_those_of_the_first_version(table: Table) -> None:
    column, relation = table._operand("x"), table._relation
    texts: dict[Any, str] = {
        PersonCount(): "PersonCount(expression=None, name=None, per='person')",
        Count.of(): "Total(total=RowCount(expression=None), name=None, per='row', method=None)",
        Count.of(column): f"Total(total=RowCount(expression={VALUE}), name='x', per='row', method=None)",
    }
    for statistic, text in texts.items():
        assert identity((relation, statistic)) == f"({RELATION}, {text})"
    session = table.session
    assert session._releaser.question(relation, PersonCount()).identity == f"({RELATION}, {texts[PersonCount()]})"


def test_every_expression_has_a_form() -> None:
    assert {kind for kind in _below(Expression) if not kind.__subclasses__()} <= set(FORMS)
    for kind, form in FORMS.items():
        names = [*form.partition("(")[2].rstrip(")").split(", "), *LATER.get(kind, ())]
        assert [name for name in names if name] == [item.name for item in fields(kind) if item.repr], kind


def _below(kind: type[Any]) -> set[type[Any]]:
    return {one for below in kind.__subclasses__() for one in (below, *_below(below))}


def test_what_is_told_apart_differs() -> None:
    columns = [Column(INTEGER, "t", name) for name in ("a", "a', name='b")]
    written = {identity(column) for column in columns} | {identity((columns[0],)), identity((columns[0], columns[0]))}
    assert len(written) == 4
    assert identity(requests.RowCount()) != identity(requests.RowCount(columns[0]))


def test_numbers_of_other_libraries_ask_the_same_question(table: Table) -> None:
    np = pytest.importorskip("numpy")
    assert not table.largest("x", 2, epsilon="0.1").stored
    assert table.largest("x", np.int64(2), epsilon="0.1").stored
    assert not table.top("x", [1.5, 2.5], 1, epsilon="0.1").stored
    assert table.top("x", [1.5, 2.5], np.int64(1), epsilon="0.1").stored


def test_no_text_writes_itself_as_another() -> None:
    class Odd(str):
        def __repr__(self) -> str:
            return "'other'"

    assert identity(Odd("this")) == identity("this")


def test_what_has_no_form_is_refused() -> None:
    with pytest.raises(InvalidInput, match="value of type set cannot stand here"):
        identity({1})


def test_texts_of_what_is_computed_inside_persons() -> None:
    who, x = (Column(INTEGER, "t", name) for name in ("who", "x"))
    about = requests.Relation("t", "t", who)
    counted = requests.PersonGroups(about, (("x", x),), (("n", aggregate("count", [x], distinct=True)),))
    running = window("sum", [x], order=[Ordering(x, True)], frame=Frame("rows", None, 0))
    placed = requests.PersonRows(about, (("x", x),), (("s", running),))
    INT, own = "ColumnType(kind=<Kind.INTEGER: 'integer'>, scale=0)", identity(x)
    assert identity(counted) == (
        f"PersonGroups(source={RELATION}, by=(('x', {own}),), aggregates=(('n', Aggregate(type={INT}, "
        f"function='count', operands=({own},), distinct=True, filter=None, order=())),))"
    )
    assert identity(placed) == (
        f"PersonRows(source={RELATION}, shown=(('x', {own}),), windows=(('s', Window(type={INT}, function='sum', "
        f"operands=({own},), partition=(), order=(Ordering(by={own}, descending=True, nulls_first=False),), "
        "frame=Frame(unit='rows', start=None, end=0))),))"
    )
    listed = requests.Listed((("x", INTEGER),), ((1,), (None,)))
    assert identity(listed) == f"Listed(heads=(('x', {INT}),), rows=((1,), (None,)))"
    assert identity(requests.Union((placed, placed))) == f"Union(parts=({identity(placed)}, {identity(placed)}))"


def test_a_condition_of_a_join_is_part_of_the_question_and_none_is_not() -> None:
    x, y = Column(INTEGER, "t", "x"), Column(INTEGER, "u", "y")
    plain = requests.Join("u", "u", ((x, y),), "left")
    assert identity(plain) == f"Join(table='u', alias='u', on=(({identity(x)}, {identity(y)}),), kind='left')"
    above = build.comparison(">", x, y)
    assert identity(replace(plain, condition=above)) == f"{identity(plain)[:-1]}, condition={identity(above)})"
