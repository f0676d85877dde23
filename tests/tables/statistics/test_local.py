"""Quantiles with local noise and modes without candidates: verified, refused where theory refuses, charged always."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import Answer, Approx, InvalidInput, Pure, Table, read
from tacit.audit.questions import questions, small_tables
from tacit.engines.requests import Ranks, Step
from tacit.mechanisms.local.ladder import Ladder
from tacit.tables.statistics import local_quantiles
from tacit.tables.statistics.local_quantiles import ladder
from tacit.tables.statistics.ways import local

pa = pytest.importorskip("pyarrow")

BUDGET = Approx(1000, "0.5")


def table(values: list[int | None], persons: int = 400) -> Table:
    rows = {"who": list(range(persons)), "x": [values[i % len(values)] for i in range(persons)]}
    return read(pa.table({k: pa.array(v, pa.int64()) for k, v in rows.items()}), person="who", budget=BUDGET, table="t")


def ranks(weights: dict[int, list[int]], q: Fraction, largest: int, reach: int) -> Ranks:
    """The steps that the engine returns, by their definition: ``weights`` are those of each value's rows."""
    total = sum(map(sum, weights.values()))
    thresholds = [q * total + j * max(q, 1 - q) * largest for j in range(1 - reach, reach + 1)]
    steps, before = [], 0
    for value in sorted(weights):
        after = before + sum(weights[value])
        if any(before < t <= after for t in thresholds):
            steps.append(Step(Fraction(value), before, after))
        before = after
    return Ranks(total, (tuple(steps),))


PERSON = st.dictionaries(st.integers(0, 9), st.integers(0, 4), max_size=3).filter(lambda rows: sum(rows.values()) <= 4)


@settings(max_examples=15)
@given(st.lists(PERSON, max_size=6), PERSON, st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10))
def test_a_person_moves_every_rung_by_at_most_one_place(
    persons: list[dict[int, int]], further: dict[int, int], q: Fraction
) -> None:
    ends, reach = (Fraction(1), Fraction(8)), local_quantiles.REACH

    def rungs(everybody: list[dict[int, int]]) -> list[Fraction]:
        weights: dict[int, list[int]] = {}
        for person in everybody:
            for value, weight in person.items():
                weights.setdefault(value, []).append(weight)
        return ladder(ranks(weights, q, 4, reach), q, 4, ends)

    without, with_ = rungs(persons), rungs([*persons, further])
    middle = slice(reach - 20, reach + 20)
    for one, other in ((without, with_), (with_, without)):
        assert all(a <= b for a, b in zip(one[:-1][middle], other[1:][middle], strict=True))
    statistic = Ladder(1, 8)
    grown = [statistic.growth(rungs) for rungs in (without, with_)]
    first, second = ([next(steps) for _ in range(20)] for steps in grown)
    assert abs(statistic.value(without) - statistic.value(with_)) <= min(first[0], second[0])
    assert all(a <= b for a, b in zip(first, second[1:], strict=False))
    assert all(a <= b for a, b in zip(second, first[1:], strict=False))


@pytest.mark.parametrize("name", ["median by smooth sensitivity", "median by propose-test-release"])
def test_a_ladder_with_half_its_steps_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (question,) = (question for question in questions() if question.name == name)
    assert small_tables().check(question).holds
    whole = local_quantiles.ladder
    monkeypatch.setattr(local_quantiles, "ladder", lambda r, q, largest, ends: whole(r, q, largest // 8, ends))
    assert small_tables().check(question).broken


@pytest.mark.parametrize("method", ["exponential", "permute_and_flip", "smooth", "propose_test_release"])
def test_every_method_finds_the_median_of_many(method: str) -> None:
    answer = table([40, 50, 60], 6000).median("x", per="person", method=method, range=_range(method), **_cost(method))
    assert isinstance(answer, Answer)
    assert abs(float(answer) - 50) < 25  # false alarms below 1e-6: a few hundred persons of slack at ε = 4


def _range(method: str) -> tuple[int, int] | None:
    return (0, 100) if method in local.METHODS else None


def _cost(method: str) -> dict[str, Any]:
    return {"epsilon": 4, "delta": "0.01"} if method == "propose_test_release" else {"epsilon": 4}


def test_a_refusal_is_an_answer_and_paid() -> None:
    tied = table([1, 2])
    answer = tied.mode("x", per="person", epsilon=1, delta="1e-6")
    assert answer.value is None
    assert "refused" in str(answer)
    assert answer.guarantee == Approx(1, "1e-6")
    assert tied.budget.spent == Approx(1, "1e-6")
    assert tied.mode("x", per="person", epsilon=1, delta="1e-6").stored


def test_a_clear_mode_is_named_without_candidates() -> None:
    assert table([7, 7, 7, 8]).mode("x", per="person", epsilon=1, delta="1e-6").value == 7  # ahead by 200


@pytest.mark.parametrize("values", [[None], [3]])
def test_odd_data_give_ordinary_answers(values: list[int | None]) -> None:
    for method in local.METHODS:
        for persons in (0, 1, 5):
            answer = table(values, persons).quantile("x", "0.9", method=method, epsilon=1, delta="0.01")
            assert isinstance(answer, Answer)
            assert answer.value is None or isinstance(answer.value, int)


def test_a_decimal_column_keeps_its_scale() -> None:
    rows = pa.table({"who": [1, 2, 3], "x": pa.array([Decimal("1.50")] * 3, pa.decimal128(9, 2))})
    answer = read(rows, person="who", budget=Pure(9), table="t").median("x", method="smooth", range=(0, 3), epsilon=4)
    assert isinstance(answer.value, Decimal)
    assert answer.value == answer.value.quantize(Decimal("0.01"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"q": "0.5", "method": "propose_test_release", "epsilon": 1}, "needs delta"),
        ({"q": "0.5", "method": "nonsense", "epsilon": 1}, "must be one of"),
        ({"q": "0.5", "range": (0, 1), "epsilon": 1}, "range goes with the methods smooth and"),
        ({"q": ["0.2", "0.5"], "method": "smooth", "epsilon": 1}, "one quantile at a time"),
        ({"q": 1, "method": "smooth", "epsilon": 1}, "between 0 and 1"),
        ({"q": "0.5", "method": "smooth", "range": (3, 1), "epsilon": 1}, "low below high"),
    ],
)
def test_refusals_cost_nothing(options: dict[str, object], words: str) -> None:
    given = table([1])
    with pytest.raises(InvalidInput, match=words):
        given.quantile("x", **options)  # type: ignore[arg-type]
    assert given.budget.remaining == BUDGET


def test_a_mode_without_candidates_needs_persons_and_delta() -> None:
    given = table([1])
    with pytest.raises(InvalidInput, match="per='person'"):
        given.mode("x", epsilon=1, delta="1e-6")
    with pytest.raises(InvalidInput, match="delta"):
        given.mode("x", per="person", epsilon=1)
