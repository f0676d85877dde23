"""Derived tables as values: what they read, how their columns are told apart, how many rows their joins can have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from tacit.engines import Engine, Source, open_engine
from tacit.engines.requests import (
    PERSON,
    Bound,
    Derived,
    Join,
    Listed,
    Membership,
    PersonGroups,
    PersonRows,
    Persons,
    Relation,
    RowCount,
    Sample,
    TotalBuckets,
    Union,
    before_filters,
)
from tacit.errors import EngineError, InvalidInput, UnsupportedQuery
from tacit.language import build
from tacit.language.aggregates import aggregate
from tacit.language.expressions import Column, Expression, Literal, Scope
from tacit.language.parsing import parse
from tacit.language.types import INTEGER, TEXT, KeyType
from tacit.language.windows import window

ROWS = pa.table(
    {
        "who": pa.array([1, 1, 2, 2, 2, 3], pa.int64()),
        "price": pa.array([1, 2, 3, 4, 5, 6], pa.decimal128(38, 2)),
        "place": ["a", "b", "a", "a", "c", None],
    }
)


@pytest.fixture(scope="module")
def engine() -> Any:
    opened = open_engine({"t": Source(ROWS), "other": Source(ROWS)})
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def scope(engine: Engine) -> Scope:
    return Scope.of(engine.schema("t"), "t")


def _source(scope: Scope, where: str | None = None) -> Relation:
    who = scope.find("who")
    assert isinstance(who, Column)
    return Relation("t", "t", who, filter=None if where is None else parse(where, scope))


def _over(table: Derived, alias: str = "d", *joins: Join, where: Expression | None = None) -> Relation:
    return Relation(table, alias, Column(table.type_of(PERSON), alias, PERSON), joins, where)


def _visits(scope: Scope, where: str | None = None) -> PersonGroups:
    return PersonGroups(_source(scope, where), (("place", scope.find("place")),), (("n", aggregate("count")),))


def test_all_tables_are_known_however_deep(scope: Scope) -> None:
    inner = _over(_visits(scope))
    other = Join("other", "o", ((Column(TEXT, "d", "place"), Column(TEXT, "o", "place")),))
    outer = _over(PersonRows(replace(inner, joins=(other,))), "e")
    assert outer.tables == ("other", "t")
    assert outer.depth == 2
    assert [relation.alias for relation in outer.every] == ["t", "d", "e"]
    assert outer.origins(outer.person) == (("t", "who"),)


def test_a_bare_column_keeps_its_key_and_what_is_computed_has_that_of_its_value(engine: Engine, scope: Scope) -> None:
    price = scope.find("price")
    shown = (("price", price), ("twice", build.arithmetic("+", price, price)), ("place", scope.find("place")))
    rows = PersonRows(_source(scope), shown, (("before", window("lag", [price])),))
    deep = PersonRows(_over(rows), tuple((name, Column(kind, "d", name)) for name, kind in rows.columns))
    for table in (rows, deep):
        assert engine.key_type(table, "price") == engine.key_type("t", "price") == KeyType("number", 2, narrow=False)
        assert engine.key_type(table, "twice") == engine.key_type(table, "before") == KeyType("number", 2)
        assert engine.key_type(table, "place") == KeyType("text")
        assert engine.key_type(table, PERSON) == engine.key_type("t", "who")
    listed = Listed((("code", INTEGER),), ((1,),))
    assert engine.key_type(listed, "code") == KeyType("number")


def test_a_union_of_persons_who_are_told_apart_in_different_ways_is_refused(engine: Engine, scope: Scope) -> None:
    place = scope.find("place")
    assert isinstance(place, Column)
    parts = PersonRows(_source(scope)), PersonRows(replace(_source(scope), person=place))
    with pytest.raises(InvalidInput, match="told apart in different ways"):
        engine.key_type(Union(parts), PERSON)


def test_one_row_each(scope: Scope) -> None:
    """A public fact: of groups by the person alone, and of what adds no rows to them."""
    each = PersonGroups(_source(scope), (), (("n", aggregate("count")),))
    about = _over(each)
    assert about.one_row_each
    assert _over(PersonRows(about), "e").one_row_each
    assert not _source(scope).one_row_each
    assert not _over(_visits(scope)).one_row_each
    tie = (about.person, Column(INTEGER, "e", PERSON))
    for table, kind, still in [
        (each, "inner", True),
        (each, "left", True),
        (_visits(scope), "left", False),
        (_visits(scope), "semi", True),
        (_visits(scope), "anti", True),
    ]:
        assert replace(about, joins=(Join(table, "e", (tie,), kind),)).one_row_each == still  # type: ignore[arg-type]
    by_number = (Column(INTEGER, "d", "n"), Column(INTEGER, "e", PERSON))
    assert not replace(about, joins=(Join(each, "e", (by_number,)),)).one_row_each


def test_a_condition_is_simple() -> None:
    x, y = Column(INTEGER, "t", "x"), Column(INTEGER, "u", "y")
    above = build.comparison(">", x, y)
    Join("u", "u", ((x, y),), "semi", above)
    with pytest.raises(InvalidInput, match="a filter"):
        Join("u", "u", ((x, y),), "inner", above)
    deep = build.arithmetic("+", build.arithmetic("*", build.arithmetic("+", x, y), y), y)
    with pytest.raises(UnsupportedQuery, match="computes too much"):
        Join("u", "u", ((x, y),), "semi", build.comparison(">", deep, x))
    with pytest.raises(UnsupportedQuery, match="computes too much"):
        Join("u", "u", ((x, y),), "left", build.logic("AND", [above] * 60))


def test_persons_are_chosen_inside_as_they_are_outside(engine: Engine, scope: Scope) -> None:
    """Parts and samples of the persons of the rows that are grouped, and of the groups."""
    place = build.case([(parse("place = 'a'", scope), Literal(INTEGER, 0))], Literal(INTEGER, 1))
    for members, key in [((), b"k" * 16), ((Membership(place, 0),), b"k" * 16), ((Membership(place, 1),), b"j" * 16)]:
        for sample in (None, Sample(2**59, key)):
            chosen = replace(_source(scope), members=members, sample=sample)
            outside = replace(_over(PersonGroups(replace(chosen, sample=None))), sample=sample)
            about = [chosen, _over(PersonGroups(chosen)), _over(PersonRows(chosen)), outside]
            found = []
            for relation in about:
                with engine.snapshot() as snapshot:
                    found.append(snapshot.ask(relation, (Persons(),)))
            assert len(set(found)) == 1, found


# ---- sizes -------------------------------------------------------------------------------------------------------


def _with_itself(scope: Scope, where: str | None, having: Expression | None = None) -> Relation:
    """Each person's visits with each of their rows."""
    visits = _visits(scope, where)
    rows = PersonRows(_source(scope, where), (("place", scope.find("place")),))
    about = _over(visits, where=having)
    return replace(about, joins=(Join(rows, "r", ((about.person, Column(INTEGER, "r", PERSON)),)),))


def test_no_filter_decides_about_the_size_of_a_join(engine: Engine, scope: Scope) -> None:
    """2·2 + 2·3 + 1·1 rows whatever is asked: an attacker cannot make a question fail if someone is there."""
    plain = _with_itself(scope, None)
    one = build.comparison(">", Column(INTEGER, "d", "n"), Literal(INTEGER, 7))
    aimed = [_with_itself(scope, "who = 3"), _with_itself(scope, "place = 'none'"), _with_itself(scope, None, one)]
    for relation in (plain, *aimed):
        with engine.snapshot() as snapshot:
            assert snapshot.fits(replace(relation, bound=Bound(11)))
            assert not snapshot.fits(replace(relation, bound=Bound(10)))
            assert snapshot.fits(replace(relation, bound=Bound(5, "d")))
            assert not snapshot.fits(replace(relation, bound=Bound(4, "d")))
        with engine.snapshot() as snapshot, pytest.raises(EngineError, match="could not finish"):
            snapshot.ask(replace(relation, bound=Bound(10)), (Persons(),))


def test_joins_inside_derived_tables_are_counted_too(engine: Engine, scope: Scope) -> None:
    inner = replace(_with_itself(scope, None), bound=Bound(10))
    outer = _over(PersonGroups(inner, (), (("n", aggregate("count")),)), "o")
    with engine.snapshot() as snapshot:
        assert not snapshot.fits(outer)
        large = replace(outer, table=PersonGroups(replace(inner, bound=Bound(11)), (), (("n", aggregate("count")),)))
        assert snapshot.fits(large)
        (found,) = snapshot.ask(large, (TotalBuckets(RowCount(), (1,)),))
        assert found.positive[0].count == 3


def test_a_join_by_computed_columns_alone_cannot_be_counted(engine: Engine, scope: Scope) -> None:
    listed = Listed((("n", INTEGER),), ((1,), (2,)))
    about = _over(_visits(scope))
    loose = replace(about, joins=(Join(listed, "l", ((Column(INTEGER, "d", "n"), Column(INTEGER, "l", "n")),)),))
    assert before_filters(loose) is None
    assert before_filters(_over(PersonRows(loose), "e")) is None
    with engine.snapshot() as snapshot:
        assert not snapshot.fits(replace(loose, bound=Bound(10**9)))
        assert snapshot.ask(loose, (Persons(),)) == (3,)


def test_groups_by_what_a_filter_decides_are_counted_as_rows(engine: Engine, scope: Scope) -> None:
    """Persons by the number of their visits: one row for each at most, and never more than they have rows."""
    about = _over(_visits(scope))
    by = PersonGroups(about, (("n", Column(INTEGER, "d", "n")), ("place", Column(TEXT, "d", "place"))))
    left = before_filters(_over(by, "e"))
    assert left is not None
    assert isinstance(left.table, PersonRows)
    assert [name for name, _ in left.table.columns] == ["place"]
