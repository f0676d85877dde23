"""Every request about persons equals its definition, on small tables full of extremes."""

from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.engines.requests import (
    Deviation,
    Extremes,
    Flags,
    Moments,
    Ordered,
    PersonMean,
    Persons,
    RankSteps,
    RowCount,
    TotalBuckets,
    value,
)
from tacit.language.parsing import parse
from tests.engines import oracle
from tests.engines.support import PERSONS, SCOPE, engine_over, relation, tables

NUMBERS = ("i", "u", "c", "w", "f", "g", "b", "nothing", "i * c", "f / i", "ABS(f) + 1", "who")
ORDERED = (*NUMBERS, "d", "t")
FILTERS = (None, "b", "i > 0 OR f < 1", "s LIKE '%U'", "FALSE", "d < '2020-01-01' IS NOT TRUE")
BOUNDARIES = st.lists(
    st.one_of(st.integers(0, 20), st.integers(0, 70).map(lambda i: 2**i)), min_size=1, max_size=8, unique=True
).map(lambda b: tuple(sorted(b)))
CAPS = st.one_of(st.none(), st.integers(1, 5))


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_answers_equal_their_definitions(data: st.DataObject) -> None:
    table = data.draw(tables())
    where = data.draw(st.sampled_from(FILTERS))
    about = relation(data.draw(st.sampled_from(PERSONS)), None if where is None else parse(where, SCOPE))
    number = value(parse(data.draw(st.sampled_from(NUMBERS)), SCOPE))
    ordered = Ordered(parse(data.draw(st.sampled_from(ORDERED)), SCOPE))
    boundaries = data.draw(BOUNDARIES)
    low, high = sorted(data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2, unique=True)))
    near = data.draw(st.integers(-50, 50))
    quantiles = tuple(
        data.draw(st.lists(st.sampled_from((0, 1, Fraction(1, 2), Fraction(1, 3))), min_size=1, max_size=2))
    )
    asked: tuple[Any, ...] = (
        Persons(),
        TotalBuckets(number, boundaries),
        TotalBuckets(PersonMean(number), boundaries),
        TotalBuckets(Deviation(number, low), boundaries),
        TotalBuckets(PersonMean(Deviation(number, near), data.draw(st.integers(1, 1000))), boundaries),
        TotalBuckets(RowCount(), boundaries),
        TotalBuckets(RowCount(ordered.expression), boundaries),
        Extremes(ordered, data.draw(st.integers(1, 4)), data.draw(st.booleans())),
        Extremes(number, data.draw(st.integers(1, 4)), data.draw(st.booleans())),
        Flags(parse("b AND i <> 0", SCOPE)),
        Moments(number, low, high, data.draw(st.sampled_from((1, 2))), data.draw(CAPS)),
        Moments(number, near, near + data.draw(st.integers(1, 10**7)), 2, data.draw(CAPS)),
        RankSteps(ordered, tuple(Fraction(str(q)) for q in quantiles), data.draw(st.integers(1, 4)), data.draw(CAPS)),
    )
    with engine_over(table) as engine, engine.snapshot() as snapshot:
        answers = snapshot.ask(about, asked)
    for request, found in zip(asked, answers, strict=True):
        assert found == oracle.answer(about, request, table), request


@given(tables(), st.sampled_from((Fraction(1), Fraction(100), Fraction(1, 4), Fraction(1, 100))))
@settings(max_examples=25, deadline=None)
def test_a_public_unit_changes_only_the_step(table: list[dict[str, Any]], unit: Fraction) -> None:
    request = TotalBuckets(value(SCOPE.find("f"), unit), (1, 10, 100, 10**17, 10**18, 2**62))
    with engine_over(table) as engine, engine.snapshot() as snapshot:
        (found,) = snapshot.ask(relation(), (request,))
    assert found == oracle.answer(relation(), request, table)
