"""Forecasts: the same every time, from public facts, and true of data that have the assumed shape."""

from fractions import Fraction
from itertools import cycle, pairwise
from types import ModuleType
from typing import Any

import pytest

import tacit
from tacit import Approx, InvalidInput, Pure, Zcdp
from tacit.forecasts import SHAPES, falling, foresee
from tacit.forecasts.worlds import World
from tacit.tables.statistics import interquartile, trimmed
from tacit.tables.statistics.catalogue import forecastable


def test_the_same_forecast_every_time_and_more_epsilon_is_better() -> None:
    first, again = (tacit.plan("persons", persons=300, epsilon="0.5") for _ in range(2))
    assert first == again
    assert [line.epsilon for line in first.lines] == [Fraction(n, 8) for n in (1, 2, 4, 8, 16)]
    assert first.epsilon == Fraction(1, 2)
    assert first.error == first.lines[2].nearly_all
    assert all(line.typical <= line.nearly_all for line in first.lines)
    assert first.lines[0].nearly_all > first.lines[-1].nearly_all


def test_a_count_of_persons_errs_as_laplace_noise_does() -> None:
    """|Laplace(1/ε)| is below ln(2)/ε half of the time and below ln(20)/ε in 19 of 20 cases; the seed is fixed."""
    forecast = tacit.plan("persons", persons=1000, epsilon="0.1")
    assert 0.3 * 6.9 < 1000 * forecast.lines[2].typical < 3 * 6.9
    assert 0.3 * 30 < 1000 * forecast.error < 3 * 30


@pytest.mark.parametrize(("statistic", "shape"), list(zip(forecastable(), cycle(SHAPES), strict=False)))
def test_every_statistic_gets_close_with_enough_epsilon(statistic: str, shape: str) -> None:
    forecast = tacit.plan(statistic, persons=1000, epsilon=100, shape=shape)
    assert forecast.error < 0.02
    text = str(forecast)
    assert SHAPES[shape] in text
    assert "no private data was read" in text
    assert text.count("\n> ") == 1


@pytest.mark.parametrize(("statistic", "words"), [("max", "largest value"), ("std", "standard deviation"),
                                                  ("p25", "0.25 quantile"), ("quantile", "0.9 quantile")])  # fmt: skip
def test_what_sql_can_ask_is_planned_by_name(statistic: str, words: str) -> None:
    """All that previews forecast; these are asked of few persons, who suffice to see that it is the right question."""
    forecast = tacit.plan(statistic, persons=300, epsilon=50)
    assert forecast.error < 0.3
    assert f"the {words} lies within" in forecast.headline


@pytest.mark.parametrize(("statistic", "module"), [("trimmed_mean", trimmed), ("iqr", interquartile)])
def test_a_law_that_all_draws_share_is_made_once(
    statistic: str, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the five values of ε each has a law, and one more for each cap on rows that another draw chose."""
    asked, local_law = list[Any](), module.local_law

    def counted(*facts: Any) -> Any:
        asked.append(facts)
        return local_law(*facts)

    monkeypatch.setattr(module, "local_law", counted)
    tacit.plan(statistic, persons=200, epsilon=4)
    assert 5 <= len(asked) < (6 if statistic == "trimmed_mean" else 50)


def test_a_searched_epsilon_draws_each_of_its_answers_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search passes by values of ε that the table shows too."""
    costs, drawn = list[Any](), World._drawn

    def counted(world: World, cost: Any) -> list[float]:
        costs.append(cost)
        return drawn(world, cost)

    monkeypatch.setattr(World, "_drawn", counted)
    tacit.plan("persons", persons=200, error="0.05")
    assert len(costs) == len(set(costs)) > 5


def test_a_part_of_a_query_is_foreseen_around_its_cost() -> None:
    part = foresee("sum", Approx("0.5", "1e-6"), 2000, groups=2, words="sum of x by y")
    assert part is not None
    assert [float(line.epsilon) for line in part.lines] == [0.125, 0.25, 0.5, 1, 2]
    assert part.error == part.lines[2].nearly_all
    assert "the sum of x by y lies within" in part.headline
    assert foresee("sum", Zcdp("0.01"), 2000) is None
    assert foresee("mood", Pure(1), 2000) is None


@pytest.mark.parametrize("statistic", ["count", "sum", "nunique"])
def test_more_epsilon_never_looks_worse(statistic: str) -> None:
    lines = tacit.plan(statistic, persons=300, epsilon="0.5").lines
    for told in ([line.typical for line in lines], [line.nearly_all for line in lines]):
        assert told == sorted(told, reverse=True)
    assert lines[0].nearly_all > 2 * lines[-1].nearly_all


def test_a_median_of_few_persons_gets_better_step_by_step() -> None:
    """What a user reads at 0.125, 0.25, 0.5, 1 and 2: 600 answers lie within 14 % at 0.5, and far off at 0.125."""
    lines = tacit.plan("median", persons=300, epsilon="0.5").lines
    for told in ([line.typical for line in lines], [line.nearly_all for line in lines]):
        assert told == sorted(told, reverse=True)
        assert all(before < 8 * after for before, after in pairwise(told[1:]))
    assert 0.07 < lines[2].nearly_all < 0.28
    assert lines[0].nearly_all > 10


def test_a_line_is_the_same_whichever_epsilon_was_asked_about() -> None:
    """Nobody who compares two forecasts reads 5 % and then 9 % for the same ε."""
    here, there = (tacit.plan("median", persons=300, epsilon=epsilon).lines for epsilon in ("0.5", 1))
    assert here[1:] == there[:-1]


def test_neighbours_that_would_rise_are_taken_together() -> None:
    assert falling([[9.0], [1.0], [2.0, 8.0], [4.0]], max) == [9.0, 8.0, 8.0, 4.0]
    assert falling([[1.0], [2.0], [3.0]], max) == [3.0, 3.0, 3.0]


def test_heavier_tails_give_larger_errors() -> None:
    equal, heavy = (tacit.plan("sum", persons=300, epsilon=1, shape=shape).error for shape in ("equal", "pareto"))
    assert equal < heavy


def test_which_epsilon_gives_an_error() -> None:
    found = tacit.plan("persons", persons=1000, error="0.01")
    assert found.error <= 0.01
    assert tacit.plan("persons", persons=1000, epsilon=found.epsilon * Fraction(9, 10)).error > 0.009
    assert Fraction("0.1") < found.epsilon < 1


def test_few_persons_give_a_forecast_too() -> None:
    assert tacit.plan("sum", persons=1, epsilon=1).error >= 0.5


GOOD: dict[str, Any] = {"statistic": "sum", "persons": 100, "epsilon": 1}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"statistic": "mood"}, "statistic must be one of persons, count"),
    ({"shape": "round"}, "shape must be one of equal"),
    ({"statistic": "medain"}, r"statistic must be one of persons, .*; did you mean median\?$"),
    ({"shape": "paretto"}, r"shape must be one of equal, .*, pareto; did you mean pareto\?$"),
    ({"persons": 0}, "persons must be at least 1"),
    ({"persons": 2.5}, "persons must be a whole number"),
    ({"persons": 10**9}, "persons must be at most 1,000,000"),
    ({"epsilon": None}, "give epsilon= to learn the accuracy, or error="),
    ({"error": 1}, "give epsilon= to learn the accuracy, or error="),
    ({"epsilon": 0}, "epsilon must be above 0"),
    ({"epsilon": None, "error": 0}, "error must be above 0"),
    ({"epsilon": None, "error": "1e-9", "statistic": "mean", "persons": 20}, "no ε up to 10 reaches that error"),
]


@pytest.mark.parametrize(("change", "words"), WRONG, ids=[words[:30] for _, words in WRONG])
def test_what_cannot_be_planned_is_said(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        tacit.plan(**{**GOOD, **change})


def test_views() -> None:
    forecast = tacit.plan("ratio", persons=100, epsilon=1)
    assert forecast.to_dict()["lines"][2] == {
        "epsilon": 1.0,
        "typical": forecast.lines[2].typical,
        "nearly_all": forecast.error,
    }
    assert forecast._repr_html_().count("<tr>") == 6


def test_the_headline_is_a_sentence() -> None:
    """An error below the digits that are shown is not nothing."""
    forecast = tacit.plan("persons", persons=1000, epsilon=100)
    start = "At ε = 100, with about 1,000 persons, the number of persons lies within 0.01 % of the truth"
    assert forecast.headline == f"{start} in 19 of 20 answers."
    assert "< 0.01 %" in str(forecast)
