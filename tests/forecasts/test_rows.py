"""Made-up rows answer as an engine does that was given the same rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.engines import Source, open_engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.requests import (
    HALF,
    Deviation,
    Extremes,
    Filled,
    Ordered,
    PersonMean,
    Persons,
    Product,
    ProductTotals,
    RankSteps,
    Relation,
    Request,
    RowCount,
    Steps,
    TotalBuckets,
    Value,
)
from tacit.forecasts import rows
from tacit.forecasts.rows import Answering, MadeUpRows
from tacit.forecasts.worlds import World
from tacit.language.expressions import Column
from tacit.language.types import INTEGER
from tacit.tables.statistics.catalogue import made_up

PERSON, X, Y = (Column(INTEGER, "people", name) for name in ("person", "x", "y"))
PEOPLE = Relation("people", "people", PERSON)
WIDE = Steps(Value(X, Fraction(1)), 0, 2**62 - 1)

numbers = st.integers(-50, 50) | st.integers(-(10**6), 10**6)
people = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30)
columns = st.sampled_from([Value(X, Fraction(1)), Value(Y, Fraction(1))])
middles = st.integers(-2000, 2000)
boundaries = st.sets(st.integers(0, 10**6) | st.integers(0, 2**126 - 1), min_size=1, max_size=9).map(
    lambda found: tuple(sorted(found))
)


@st.composite
def steps(draw: Any) -> Steps:
    """Distances that are exact and such as are rounded, of every width."""
    radius = draw(st.integers(0, 30).map(lambda power: 1 << power) | st.integers(1, 2**38))
    return Steps(draw(columns), draw(middles), radius, draw(st.integers(-HALF, HALF) | st.just(0)))


deviations = st.builds(Deviation, columns, middles)
totals = (
    columns
    | st.sampled_from([RowCount(), RowCount(X)])
    | st.builds(Filled, columns)
    | deviations
    | st.builds(PersonMean, columns | deviations, st.sampled_from([1, 7, 1000]))
    | st.builds(Product, steps(), steps(), st.booleans())
    | steps().map(lambda each: Product(each, each))
)
weights = st.integers(1, 2**30)
ordered = st.sampled_from([Ordered(X), Ordered(Y)])
asked = (
    st.builds(TotalBuckets, totals, boundaries)
    | st.builds(
        ProductTotals,
        st.lists(steps(), min_size=1, max_size=3).map(tuple),
        st.tuples(weights, weights),
        weights,
        st.booleans(),
    )
    | st.builds(
        RankSteps,
        ordered,
        st.lists(st.fractions(0, 1, max_denominator=1000), min_size=1, max_size=3).map(tuple),
        st.integers(1, 40),
        st.none() | st.integers(1, 5),
    )
    | st.builds(Extremes, ordered | columns, st.integers(1, 40), st.booleans())
)


def both(table: list[tuple[int, int]], requests: tuple[Request[Any], ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What the rows answer, and what the engine does."""
    x, y = (np.array(column, np.int64) for column in zip(*table, strict=True))
    with duckdb.connect() as connection:
        connection.register("made", {"person": np.arange(len(table)), "x": x, "y": y})
        connection.execute("CREATE TABLE people AS SELECT * FROM made")
        engine = open_engine({"people": Source(connection, table="people")})
        with engine.snapshot() as snapshot:
            expected = snapshot.ask(PEOPLE, requests)
        engine.close()
    made = MadeUpRows({X: x, Y: y})
    return tuple(map(made.answer, requests)), expected


@given(people, st.lists(asked, min_size=1, max_size=6).map(tuple))
@settings(max_examples=60, deadline=None)
def test_every_answer_is_that_of_the_engine(table: list[tuple[int, int]], requests: tuple[Request[Any], ...]) -> None:
    answered, expected = both(table, requests)
    assert answered == expected


def test_sums_beyond_64_bits_are_exact() -> None:
    """Of rows that are alike and of such as are not, each of up to 62 bits."""
    column, table = Value(X, Fraction(1)), [(2**61, 1)] * 5000 + [(i - 2**61, 1) for i in range(100)]
    far = Steps(column, 0, 2**30)
    rank = RankSteps(Ordered(X), (Fraction(1, 10**9),), 1, 2**31 - 1)
    requests = (TotalBuckets(column, (5, 2**60, 2**62)), TotalBuckets(Product(far, far), (1, 2**44)), rank)
    answered, expected = both(table, requests)
    assert answered == expected
    assert answered[0].positive[2].sum == 5000 * 2**61


@pytest.mark.parametrize(
    "request_",
    [
        TotalBuckets(Value(PERSON, Fraction(1)), (1,)),
        TotalBuckets(Deviation(Value(X, Fraction(1)), -(2**63)), (1,)),
        TotalBuckets(PersonMean(Value(Y, Fraction(1)), 1000), (1,)),
        TotalBuckets(Product(WIDE, WIDE), (1,)),
        ProductTotals((WIDE,), (1, 1), 1),
        RankSteps(Ordered(PERSON), (Fraction(1, 2),), 1),
        Persons(),
    ],
)
def test_what_may_not_fit_and_what_is_unknown_is_left_to_the_engine(request_: Request[Any]) -> None:
    made = MadeUpRows({X: np.array([1, 2]), Y: np.array([2**61, -1])})
    assert made.answer(request_) is None


def test_another_relation_is_left_to_the_engine() -> None:
    engine: Any = Answering(None, PEOPLE, MadeUpRows({X: np.array([1, 2])}))  # type: ignore[arg-type]
    requests = (TotalBuckets(Value(X, Fraction(1)), (1,)),)
    assert engine.remember((PEOPLE, requests), None)[0].positive[1].count == 1
    assert engine._answers(Relation("other", "people", PERSON), requests) is None
    assert engine._answers(PEOPLE, (*requests, Persons())) is None


@pytest.mark.parametrize(
    "statistic", ["sum", "mean", "median", "p90", "iqr", "max", "min", "std", "covariance", "correlation"]
)
def test_forecasts_of_moments_and_quantiles_ask_the_engine_nothing(
    statistic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forecast asks up to 300 different requests; when an engine answered them, it took five times as long."""

    def never(*_: Any) -> Any:
        raise AssertionError("the engine was asked")

    monkeypatch.setattr(DuckDB, "snapshot", never)
    assert len(tacit.plan(statistic, persons=2000, epsilon=1).lines) == 5


@pytest.mark.parametrize("statistic", ["regression", "median"])
def test_a_forecast_is_the_same_when_the_engine_answers(statistic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = tacit.plan(statistic, persons=200, epsilon=8)
    monkeypatch.setattr(rows.MadeUpRows, "answer", lambda *_: None)
    assert tacit.plan(statistic, persons=200, epsilon=8) == quick


def test_a_forecast_by_groups_is_left_to_the_engine() -> None:
    with World(made_up()["sum"], 100, "uniform", groups=2) as world:
        assert world.accuracy(tacit.Pure(4)).nearly_all < 1
