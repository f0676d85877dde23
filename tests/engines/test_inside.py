"""What is computed inside persons: on every engine what plain Python says, to the last bit, and no row makes it fail.

Sixty small tables of awkward values (`tests.engines.cases`) against `tests.engines.inside`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.engines import Engine
from tacit.engines.chains import Steps
from tacit.engines.requests import (
    PERSON,
    Derived,
    Join,
    Listed,
    Ordered,
    PersonGroups,
    PersonRows,
    Persons,
    Relation,
    RowCount,
    TotalBuckets,
    Union,
)
from tacit.engines.rows import Rows
from tacit.engines.script import ALL_ROWS, Script, fragment
from tacit.language.aggregates import aggregate
from tacit.language.expressions import Column, Expression, Scope
from tacit.language.inside import Aggregate, Frame, Ordering, Window
from tacit.language.parsing import parse
from tacit.language.types import BOOLEAN, DATE, FLOAT, INTEGER, TEXT, TIMESTAMP, Kind, decimal
from tacit.language.windows import window
from tests.engines import cases, inside, oracle, support
from tests.engines.engines import OPEN, everything
from tests.engines.questions import PERSONS, SCOPE, relation

ALL = {"t": cases.rows()}


@pytest.fixture(scope="module", params=list(OPEN))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with OPEN[request.param](request, {"t": cases.arrow(ALL["t"])}) as opened:
        yield opened


def found(engine: Engine, table: Derived) -> Counter[Any]:
    """The rows of a derived table: the person's key, then the values of its columns."""
    about = Relation(table, "p", Column(table.type_of(PERSON), "p", PERSON))
    with engine.snapshot() as snapshot:
        rows = Rows(snapshot.dialect, about, snapshot.tables)  # type: ignore[attr-defined]
        names = [rows.distinct(about.person)]
        for name, kind in table.columns:
            column = Column(kind, "p", name)
            names.append(rows.ordered(Ordered(column)) if kind.kind in _AS_NUMBER else rows.plain(column))
        script = Script(tuple(rows.parts()), fragment(f"SELECT {', '.join(names)} FROM ", ALL_ROWS))
        return Counter(tuple(map(_bits, row)) for row in snapshot.fetch_rows(script))  # type: ignore[attr-defined]


_AS_NUMBER = (Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN)


def _bits(value: Any) -> Any:
    """A value so that two are equal only if all their bits are."""
    if isinstance(value, float):
        return value.hex()
    return value if value is None or isinstance(value, str) else int(value)


def expected(table: Derived, tables: inside.Tables = ALL) -> Counter[Any]:
    return Counter(tuple(_row(table, row)) for row in inside.rows_of(table, tables))


def _row(table: Derived, row: oracle.Row) -> Iterator[Any]:
    yield _bits(row[PERSON])
    for name, kind in table.columns:
        column = Column(kind, "p", name)
        value = inside.value(column, row)
        yield _bits(oracle.in_order(Ordered(column), row) if isinstance(value, date) else value)


def of(text: str) -> Expression:
    return parse(text, SCOPE)


# ---- aggregates --------------------------------------------------------------------------------------------------


@cache
def aggregates() -> tuple[tuple[str, Aggregate], ...]:
    """Every aggregate of every type that it takes."""
    made: list[Aggregate] = [aggregate("count"), aggregate("COUNT", filter=of("b"))]
    numbers = ("i", "u", "c", "w", "f", "g", "b", "nothing", "i * c", "f * 2")
    every = (*numbers, "d", "t", "s")
    some = of("i > 0 OR b")
    for place, text in enumerate(numbers):
        number, distinct = [of(text)], bool(place % 2)
        made += [aggregate(name, number, distinct=distinct) for name in ("sum", "avg", "var_pop", "stddev_samp")]
        made += [aggregate(name, number, filter=some, distinct=not distinct) for name in ("sum", "avg", "var_samp")]
    for text in every:
        x = of(text)
        made += [aggregate(name, [x]) for name in ("min", "max", "mode", "median", "first", "last")]
        made += [aggregate(name, [x], distinct=True, filter=some) for name in ("count", "mode", "median")]
        made.append(aggregate("arg_min", [x, of("f")]))
        made.append(aggregate("max_by", [x, of("s")], filter=some))
        made.append(aggregate("last", [x], order=[Ordering(of("b"), True, True)], filter=some))
        made.append(aggregate("quantile_disc", [x, of("0.9")], order=[Ordering(x, descending=True)]))
        if x.type.number:
            made += [aggregate("quantile_cont", [x, of(q)]) for q in ("0", "0.3", "1")]
    made += [
        aggregate("string_agg", [of("s")]),
        aggregate("string_agg", [of("s"), of("'😀'")], distinct=True),
        aggregate("listagg", [of("s"), of("''")], order=[Ordering(of("f"), True), Ordering(of("i"))], filter=some),
        aggregate("every", [of("b")]),
        aggregate("any", [of("i > 0")]),
        aggregate("any_value", [of("s")]),
        aggregate("countif", [of("f > 0")]),
    ]
    return tuple((f"{place} {a.function}", a) for place, a in enumerate(made))


BY = {
    "person": (),
    "keys": (("of b", SCOPE.find("b")), ("of w", SCOPE.find("w")), ("of s", SCOPE.find("s"))),
    "values": (("of f", SCOPE.find("f")), ("made", of("f * 0")), ("of t", SCOPE.find("t"))),
}
FEW = relation(where="case_of < 28")


@cache
def groups(by: str, part: int, step: int) -> tuple[PersonGroups, Counter[Any]]:
    table = PersonGroups(FEW, BY[by], aggregates()[part::step])
    return table, expected(table)


@pytest.mark.parametrize(("part", "by"), list(enumerate(BY)))
def test_aggregates(engine: Engine, by: str, part: int) -> None:
    table, wanted = groups(by, part, 5 if everything(engine) else 23)
    assert found(engine, table) == wanted


# ---- windows -----------------------------------------------------------------------------------------------------


@cache
def windows() -> tuple[tuple[str, Window], ...]:
    """Every window, of several types, orders and frames."""
    orders = [[], [Ordering(of("s"), True, True)], [Ordering(of("b"), False, True), Ordering(of("d"))]]
    frames = [
        None,
        *(Frame("rows", *ends) for ends in ((None, 0), (-1, 1), (1, 3), (-3, -1), (0, None), (None, None))),
        *(Frame("range", *ends) for ends in ((None, 0), (0, None), (0, 0), (None, None))),
    ]
    made: list[Window] = []
    for place, order in enumerate(orders):
        partition = [of("b")] if place == 1 else [of("f > 0")] if place else []
        for name in ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist"):
            made.append(window(name, order=order, partition=partition))
        made.append(window("NTILE", [of("3")], order=order))
        made += [window("lag", [of(x)], order=order) for x in "iwfsb"]
        made += [window("lead", [of(x), of("2"), of(x)], order=order, partition=partition) for x in "ctsb"]
        made.append(window("lag", [of("s"), of("1"), of("'none'")], order=order))
        for number, frame in enumerate(frames):
            if not order and frame is not None and frame.unit == "range" and 0 in (frame.start, frame.end):
                continue
            x = "iwfb"[number % 4]
            made += [window(name, [of(x)], order=order, frame=frame) for name in ("sum", "avg")]
            made += [
                window(name, [of("sfbdi"[number % 5])], order=order, frame=frame) for name in ("min", "max", "count")
            ]
            made.append(window("count", order=order, frame=frame, partition=partition))
            made += [window(name, [of("s")], order=order, frame=frame) for name in ("first_value", "last_value")]
            if frame is None or frame.unit == "rows" or frame.start is None:
                made.append(window("nth_value", [of("f"), of("2")], order=order, frame=frame))
    return tuple((f"{place} {w.function}", w) for place, w in enumerate(made))


SHOWN = {
    "nothing": (),
    "number": (("number", SCOPE.find("number")),),
    "values": (("of w", SCOPE.find("w")), ("of t", SCOPE.find("t")), ("made", of("i * 2"))),
}


@cache
def shown(columns: str, part: int, step: int) -> tuple[PersonRows, Counter[Any]]:
    table = PersonRows(FEW, SHOWN[columns], windows()[part::step])
    return table, expected(table)


@pytest.mark.parametrize(("part", "columns"), list(enumerate(SHOWN)))
def test_windows(engine: Engine, columns: str, part: int) -> None:
    table, wanted = shown(columns, part, 17 if everything(engine) else 31)
    assert found(engine, table) == wanted


# ---- joins, unions and lists ---------------------------------------------------------------------------------------


def _column(table: Derived, alias: str, name: str) -> Column:
    return Column(table.type_of(name), alias, name)


def _spent() -> PersonGroups:
    """For each person and truth value: rows, the largest i, a wide key that many have."""
    made = (("rows", aggregate("count")), ("most", aggregate("max", [of("i")])), ("mean", aggregate("avg", [of("c")])))
    return PersonGroups(
        relation(where="i < 9 OR i IS NULL"), (("flag", SCOPE.find("b")), ("wide", SCOPE.find("w"))), made
    )


def _beside(kind: str, *, condition: str = "", on: tuple[str, str] | None = None) -> PersonGroups:
    """What is known of persons by a join of their rows with their groups, each person's with their own."""
    groups = _spent()
    scope = SCOPE.beside(Scope({"g": {name: _column(groups, "g", name) for name, _ in groups.columns}}))
    ties = [(relation().person, _column(groups, "g", PERSON))]
    if on is not None:
        ties.append((scope.find(on[0]), scope.find(on[1])))  # type: ignore[arg-type]
    join = Join(groups, "g", tuple(ties), kind, parse(condition, scope) if condition else None)  # type: ignore[arg-type]
    about = Relation("t", "t", relation().person, (join,), parse("case_of < 34", SCOPE))
    seen = [aggregate("count"), aggregate("sum", [of("c")]), aggregate("string_agg", [of("s")])]
    if kind in ("inner", "left"):
        seen += [aggregate("sum", [scope.find("rows")]), aggregate("count", [scope.find("wide")], distinct=True)]
        seen += [aggregate("max", [scope.find("mean")]), aggregate("max", [scope.find("flag")])]
    return PersonGroups(about, (), tuple((f"{n} {a.function}", a) for n, a in enumerate(seen)))


JOINS = {
    "inner by key": lambda: _beside("inner", on=("w", "wide")),
    "left": lambda: _beside("left", condition="most > i AND NOT flag", on=("b", "flag")),
    "exists": lambda: _beside("semi", condition="most = i"),
    "not exists": lambda: _beside("anti", condition="most + 1 > i OR s LIKE 'E%'"),
    "not in": lambda: _beside("anti", condition="i = most OR i IS NULL OR most IS NULL"),
}


@cache
def joined(name: str) -> tuple[PersonGroups, Counter[Any]]:
    return JOINS[name](), expected(JOINS[name]())


@pytest.mark.parametrize("name", list(JOINS))
def test_joins(engine: Engine, name: str) -> None:
    if everything(engine) or name in ("left", "not in"):
        table, wanted = joined(name)
        assert found(engine, table) == wanted


LISTED = Listed(
    (
        ("code", INTEGER), ("cents", decimal(2)), ("ratio", FLOAT), ("truth", BOOLEAN), ("day", DATE),
        ("moment", TIMESTAMP), ("label", TEXT),
    ),
    (
        (1, Fraction(1, 100), 0.1, True, date.min, datetime.max, "O'Brien \\ 😀\n"),
        (2**63 - 1, Fraction(-(2**63), 100), 5e-324, False, date.max, datetime.min, ""),
        (-(2**63), None, -1.7976931348623157e308, None, None, None, None),
        (None, Fraction(5, 100), None, True, date(2020, 2, 29), datetime(1969, 12, 31, 23, 59, 59, 999999), "a"),
    ),
)  # fmt: skip


def _with_list(key: str, other: str) -> PersonRows:
    columns = {name: Column(kind, "l", name) for name, kind in LISTED.heads}
    join = Join(LISTED, "l", ((SCOPE.find(key), columns[other]),), "left")  # type: ignore[arg-type]
    about = Relation("t", "t", relation().person, (join,), parse("case_of < 30", SCOPE))
    return PersonRows(about, tuple(columns.items()))


def _union() -> Union:
    """Rows of two kinds, one of whose columns keeps its key in one part only."""
    first = PersonRows(FEW, (("wide", of("w")), ("number", of("i")), ("text", of("s")), ("at", of("t"))))
    second = PersonGroups(
        FEW,
        (("wide", of("w")), ("number", of("i * 2"))),
        (("text", aggregate("max", [of("s")])), ("at", aggregate("min", [of("t")]))),
    )
    return Union((first, second))


def _of_union() -> PersonGroups:
    union = _union()
    columns = {name: _column(union, "u", name) for name, _ in union.columns}
    about = Relation(union, "u", _column(union, "u", PERSON))
    made = [aggregate("count", [c], distinct=True) for c in columns.values()]
    made += [aggregate("max", [c]) for c in columns.values()]
    return PersonGroups(
        about, (("wide", columns["wide"]),), tuple((f"{n} {a.function}", a) for n, a in enumerate(made))
    )


OTHERS = {
    "list by number": lambda: _with_list("i", "code"),
    "list by decimal": lambda: _with_list("c", "cents"),
    "list by moment": lambda: _with_list("t", "moment"),
    "union": _union,
    "of a union": _of_union,
}


@cache
def other(name: str) -> tuple[Derived, Counter[Any]]:
    return OTHERS[name](), expected(OTHERS[name]())


@pytest.mark.parametrize("name", list(OTHERS))
def test_lists_and_unions(engine: Engine, name: str) -> None:
    if everything(engine) or name in ("list by moment", "of a union"):
        table, wanted = other(name)
        assert found(engine, table) == wanted


def test_persons_of_every_type_stay_who_they_are(engine: Engine) -> None:
    """However deep their rows stand, and where they are joined: keys beyond what values hold, NaN, ±inf, −0.0."""
    for person in PERSONS if everything(engine) else ("w",):
        plain = relation(person)
        inner = PersonRows(plain, (("number", of("number")),))
        each = PersonGroups(Relation(inner, "d", _column(inner, "d", PERSON)), (), (("n", aggregate("count")),))
        deep = Relation(inner, "d", _column(inner, "d", PERSON))
        tie = (deep.person, _column(each, "e", PERSON))
        asked = (Persons(), TotalBuckets(RowCount(), (0, 1, 2, 5, 100)))
        about = (plain, deep, replace(deep, joins=(Join(each, "e", (tie,)),)))
        answers = set()
        for one in about if everything(engine) else about[::2]:
            with engine.snapshot() as snapshot:
                answers.add(snapshot.ask(one, asked))
        assert len(answers) == 1, person


# ---- any rows, any depth -------------------------------------------------------------------------------------------


@st.composite
def nested(draw: st.DrawFn) -> Derived:
    """Groups, or rows with windows, of groups of a person's rows."""
    by = draw(st.lists(st.sampled_from(("b", "s", "w", "f", "t", "i * 2")), max_size=2, unique=True))
    made = draw(st.lists(st.sampled_from(aggregates()), min_size=2, max_size=4, unique=True))
    where = draw(st.sampled_from((None, *(of(text) for text in ("b", "i > 0 OR f < 1", "s < 'a'")))))
    inner = PersonGroups(
        Relation("t", "t", relation().person, filter=where), tuple((x, of(x)) for x in by), tuple(made)
    )
    columns = [_column(inner, "d", name) for name, _ in inner.columns]
    about = Relation(inner, "d", _column(inner, "d", PERSON))
    x, y = draw(st.sampled_from(columns)), draw(st.sampled_from(columns))
    if draw(st.booleans()):
        names = draw(st.sampled_from((("count", "max"), ("mode", "first"), ("last", "min"), ("median", "count"))))
        again = [*(aggregate(name, [x]) for name in names), aggregate("arg_min", [y, x])]
        return PersonGroups(about, (), tuple((f"{n} again", a) for n, a in enumerate(again)))
    order = [Ordering(y, draw(st.booleans()), draw(st.booleans()))]
    frame = draw(st.sampled_from((None, Frame("rows", -1, 1), Frame("range", 0, None))))
    over = [window("row_number", order=order), window("lag", [x], order=order, partition=columns[:1])]
    over += [window(name, [x], order=order, frame=frame) for name in ("count", "min", "last_value")]
    over += [window(name, [x], order=order, frame=frame) for name in ("sum", "avg") if x.type.number]
    return PersonRows(about, (("x", x),), tuple((f"{n} over", w) for n, w in enumerate(over)))


@given(table=nested(), rows=support.tables(8))
@settings(max_examples=25)
def test_no_rows_make_it_fail_or_differ(table: Derived, rows: list[dict[str, Any]]) -> None:
    with support.engine_over(rows) as engine:
        assert found(engine, table) == expected(table, {"t": rows})


def of_each_alone(table: Derived, rows: list[dict[str, Any]]) -> Counter[Any]:
    """The rows of a derived table, made for each person as if nobody else were there."""
    everyone: Counter[Any] = Counter()
    for person in {row["who"] for row in rows}:
        with support.engine_over([row for row in rows if row["who"] == person]) as engine:
            everyone += found(engine, table)
    return everyone


@given(table=nested(), rows=support.tables(6))
@settings(max_examples=8)
def test_a_person_adds_just_the_rows_made_from_theirs(table: Derived, rows: list[dict[str, Any]]) -> None:
    with support.engine_over(rows) as engine:
        assert found(engine, table) == of_each_alone(table, rows)


def test_a_window_that_sees_other_persons_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin leaves the person out of what rows are partitioned by."""
    rows = [dict.fromkeys(support.SCHEMA) | {"who": who, "i": who} for who in (1, 2, 3)]
    table = PersonRows(relation(), (), (("before", window("lag", [of("i")], order=[Ordering(of("i"))])),))
    read = Steps.read
    for twin in (False, True):
        if twin:
            monkeypatch.setattr(Steps, "read", lambda self, sql: read(self, "1" if sql == "person" else sql))
        with support.engine_over(rows) as engine:
            assert (found(engine, table) == of_each_alone(table, rows)) != twin
