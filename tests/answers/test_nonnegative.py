"""Counts below 0: shown as released and explained, or as 0 with the part of their interval from 0 on."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import tacit
from tacit import Answer, Answers, InvalidInput, Pure
from tacit.answers.nonnegative import BELOW, FromZero
from tacit.answers.spreads import Additive
from tacit.answers.storing import decode, encode
from tacit.noises import DiscreteLaplace
from tacit.tables import Table


def counted(value: Any, statistic: str = "number of rows", **more: Any) -> Answer:
    spread = Additive(DiscreteLaplace(Fraction(1)))
    return Answer(statistic, value, Pure(1), "noise", "any one person", spread=spread, **more)


@pytest.fixture
def table() -> Table:
    rows = pa.table({"who": range(50), "g": ["x"] * 50, "v": range(50)})
    return tacit.read(rows, person="who", budget=Pure(10**6))


def test_a_count_below_zero_is_explained_and_can_be_clamped() -> None:
    released = counted(-3)
    assert BELOW in str(released)
    low, high = released.interval()
    assert low < -3 < high
    shown = released.nonnegative()
    assert (shown.value, tuple(shown.interval())) == (0, (0, max(0, high)))
    assert shown.noise_std == released.noise_std
    assert BELOW not in str(shown)
    assert "-3 was released, and 0 is shown in its place." in str(shown)
    assert shown.nonnegative() == shown
    assert tuple(counted(-50).nonnegative().interval()) == (0, 0)  # an interval that missed


def test_other_answers_stay_as_they_are() -> None:
    assert counted(5).nonnegative().value == 5
    assert counted(1).nonnegative().interval().low == 0
    total = counted(-3, "sum of amount")
    assert total.nonnegative() is total
    assert BELOW not in str(total)
    none = replace(counted(1), value=None)
    assert none.nonnegative() is none


def test_the_spread_is_stored_like_others() -> None:
    spread = FromZero(Additive(DiscreteLaplace(Fraction(1))), -3)
    assert decode(encode(spread)) == spread


def test_several_say_it_once() -> None:
    several = Answers({"a": counted(-3), "b": counted(4), "c": counted(-1)}, Pure(1), "g")
    assert str(several).count(BELOW) == 1
    shown = several.nonnegative()
    assert [answer.value for answer in shown.values()] == [0, 4, 0]
    assert BELOW not in str(shown)


def test_groups_are_clamped_after_the_fact_and_the_question_is_the_same(table: Table) -> None:
    """Whether it is clamped is no part of the question: the second answer is the first one, for nothing."""
    keys = ["x", *map(str, range(40))]  # 40 groups of nobody: about half of them are drawn below 0
    released = table.group_by("g", keys).count(epsilon="0.1")
    spent = table.budget.spent
    shown = table.group_by("g", keys, nonnegative=True).count(epsilon="0.1")
    assert table.budget.spent == spent
    assert list(map(float, shown.values())) == [max(0, float(each)) for each in released.values()]
    assert min(map(float, released.values())) < 0  # fails once in 2^40
    assert shown.certificate() == released.certificate()
    with pytest.raises(InvalidInput, match="for counts"):
        table.group_by("g", keys, nonnegative=True).sum("v", epsilon=1)


@pytest.mark.parametrize(("epsilon", "weak"), [(20, False), ("20.1", True)])
def test_an_epsilon_above_20_is_remarked(table: Table, epsilon: Any, weak: bool) -> None:
    for answer in (table.persons(epsilon=epsilon), table.group_by("g", ["x"]).persons(epsilon=epsilon)):
        assert ("promises next to nothing" in str(answer)) == weak


def test_a_quantile_without_an_interval_says_so(table: Table) -> None:
    said = str(table.median("v", epsilon="0.001"))
    assert "unbounded to unbounded" not in said
    assert "No interval in its own unit was found" in said
