"""The ends of a quantile's interval: on the right side whatever the data, with losses that one person moves by one."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from typing import Any

import pyarrow as pa
import pytest

from tacit import Pure, read
from tacit.answers.order import Between, Ranked
from tacit.engines.requests import WEIGHT, Ranks
from tacit.engines.requests.rank_steps import Step
from tacit.language.types import INTEGER
from tacit.randomness import seeded_not_private
from tacit.tables.releasing.identity import identity
from tacit.tables.releasing.room import Allowance
from tacit.tables.statistics.quantiles import Quantiles
from tacit.tables.statistics.ways.scales import Scale
from tacit.tables.statistics.ways.sides import MISSED, Sides, distances

SCALE = Scale(INTEGER, 4)
LIMIT, ONE = 40, SCALE.grid.nearest(1)


def ranks(values: Sequence[int]) -> Ranks:
    """The steps of persons with one value each."""
    steps, below = [], 0
    for value in sorted(set(values)):
        weight = WEIGHT * values.count(value)
        steps.append(Step(Fraction(value), below, below + weight))
        below += weight
    return Ranks(below, (tuple(steps),))


def sides(q: str, epsilon: str = "1", largest: int = WEIGHT) -> Sides:
    return Sides(Fraction(q), largest, SCALE, Fraction(epsilon))


def wrong(ends: Sides, values: Sequence[int], y: int, upper: bool) -> float:
    """The exact chance that an end is on the wrong side of a value that can be called the quantile."""
    ordered, number = sorted(values), len(values)
    true = [v for v in set(ordered) if sum(x < v for x in ordered) <= ends.q * number <= sum(x <= v for x in ordered)]
    index = SCALE.grid.nearest(y)
    law, candidates = ends.law(ranks(values), LIMIT, index, upper), ends.candidates(index, upper)
    chance = 0.0
    for place in range(1, len(candidates) + 1):
        end = SCALE.grid.value(candidates[place - 1])
        if any(v > end if upper else v < end for v in true):
            chance += float(law.pmf(place))
    return chance


@pytest.mark.parametrize("q", ["0.5", "0.9", "0"])
@pytest.mark.parametrize("upper", [False, True])
def test_an_end_is_seldom_on_the_wrong_side(q: str, upper: bool) -> None:
    """From the exact law, for values drawn well and badly; also with ties, and with hardly anybody."""
    for values in ([3], [7] * 60, [1] * 30 + [9] * 30, list(range(60)), [0] * 5 + [1000] * 55):
        for y in {7, 1000}:
            assert wrong(sides(q), values, y, upper) <= MISSED


def test_constants_are_known_exactly_and_few_persons_leave_the_ends_open() -> None:
    ends, y = sides("0.5"), SCALE.grid.nearest(7)
    for upper in (False, True):
        law = ends.law(ranks([7] * 400), LIMIT, y, upper)
        assert float(law.pmf(len(ends.candidates(y, upper)))) > 0.95  # the end is 7 itself
        assert float(ends.law(ranks([7] * 4), LIMIT, y, upper).pmf(0)) > 0.8


def _moved(ends: Sides, without: Sequence[int], value: int, upper: bool) -> int:
    """How far one more person moves the loss at most."""
    losses = []
    for values in (without, [*without, value]):
        law: Any = ends.law(ranks(values), LIMIT, ONE, upper)
        losses.append([law._loss.at(place) for place in range(len(ends.candidates(ONE, upper)) + 1)])
    return max(abs(a - b) for a, b in zip(*losses, strict=True))


@pytest.mark.parametrize("q", ["0.5", "0.9", "0.25"])
def test_one_person_moves_a_loss_by_one_step(q: str) -> None:
    """All datasets of up to three persons with values from 0 to 2; a twin that counts half steps is caught."""
    most, twin = 0, 0
    for size in range(3):
        for without in combinations_with_replacement(range(3), size):
            for value in range(3):
                for upper in (False, True):
                    most = max(most, _moved(sides(q), without, value, upper))
                    twin = max(twin, _moved(sides(q, largest=WEIGHT // 2), without, value, upper))
    assert most == 1
    assert twin == 2


def test_candidates_reach_the_end_of_the_grid() -> None:
    assert distances(0) == (0,)
    found = distances(10**7)
    assert found[:9] == (0, 1, 2, 3, 4, 5, 7, 9, 12)
    assert found[-1] == 10**7
    assert all(a < b for a, b in pairwise(found))
    assert len(found) < 60


def test_a_quantile_without_an_interval_spends_all_on_its_value() -> None:
    rows = pa.table({"who": list(range(2000)), "x": [i % 500 for i in range(2000)]})
    table = read(rows, person="who", budget=Pure(100), table="t", randomness=seeded_not_private(3))
    with table.session:
        usual = table.median("x", per="person", epsilon=1)
        alone = table.median("x", per="person", epsilon=1, interval=False)
        assert isinstance(usual.spread, Between)
        assert type(alone.spread) is Ranked
        assert (usual.spread.epsilon, alone.spread.epsilon) == (Fraction(7, 8), 1)
        low, high = usual.interval()
        assert 100 < low <= 249 <= 250 <= high < 400
        assert f"Interval, 95 % of the truth: {low} to {high}." in str(usual)
        assert usual.interval("0.99").low == alone.interval().low == -float("inf")
        assert table.budget.spent == Pure(2)


def test_what_is_asked_with_an_interval_is_what_was_asked_before_there_were_any() -> None:
    rows = pa.table({"who": [1], "x": [1]})
    with read(rows, person="who", budget=Pure(1), table="t").session as session:
        column = session["t"]._operand("x")
        texts = [identity(Quantiles.of(column, "0.5", interval=interval)) for interval in (True, False)]
    assert "interval" not in texts[0]
    assert texts[1] != texts[0]


def test_both_ends_spend_what_is_given() -> None:
    ends = Sides.of(Fraction(1, 2), WEIGHT, SCALE, Allowance(Fraction(1, 8), concentrated=False))
    law = ends.law(ranks([1, 2, 3]), LIMIT, 2, False)
    assert law.guarantee == Pure(Fraction(1, 16))
