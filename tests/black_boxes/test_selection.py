"""The best of a secret number of runs of a user's algorithm: chosen rightly, charged first, silent about failures."""

from typing import Any

import pytest

from tacit.black_boxes.selection import best_of
from tacit.budgets import open_budget
from tacit.errors import BudgetExceeded, InvalidInput
from tacit.guarantees import Approx, Pure
from tacit.mechanisms import NegativeBinomial, Poisson
from tacit.randomness import seeded_not_private

MANY = NegativeBinomial(1, "0.01")
ONE = Pure("0.1")


def test_the_best_candidate_is_chosen_and_the_whole_is_charged_once() -> None:
    budget = open_budget(Pure(1))
    calls: list[int] = []

    def run(candidate: int) -> tuple[int, str]:
        calls.append(candidate)
        return -abs(candidate - 3), f"model {candidate}"

    found = best_of(run, MANY, guarantee=ONE, candidates=range(8), budget=budget)
    best = max(calls, key=lambda candidate: -abs(candidate - 3))
    assert found.candidate in (best, 6 - best)
    assert found.output == f"model {found.candidate}"
    assert found.score.value == -abs(best - 3)
    assert found.score.guarantee == Pure("0.3") == budget.spent
    assert f"with the candidate {found.candidate}. Protects" in str(found)


def test_nothing_runs_that_is_not_paid_for() -> None:
    def run() -> tuple[int, str]:
        raise AssertionError

    with pytest.raises(BudgetExceeded):
        best_of(run, MANY, guarantee=Pure(1), budget=Pure(1))


@pytest.mark.parametrize("bad", [lambda: 1 / 0, lambda: None, lambda: (float("nan"), 1), lambda: ("high", 1)])
def test_failures_are_outputs_of_the_lowest_score(bad: Any) -> None:
    found = best_of(bad, NegativeBinomial(1, "0.5"), guarantee=ONE, budget=Pure(1))
    assert (found.score.value, found.output, found.candidate) == (None, None, None)
    assert str(found).startswith("No run succeeded. Protects")
    outcomes = iter([bad] * 3 + [lambda: (2, "fine")] * 10**4)
    found = best_of(lambda: next(outcomes)(), Poisson(1000), guarantee=ONE, delta="0.001", budget=Approx(20, "0.01"))
    assert found.output == "fine"  # fewer than four runs with probability below 1e-400


def test_an_interrupt_passes_and_stays_charged() -> None:
    budget = open_budget(Pure(1))

    def run() -> tuple[int, int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        best_of(run, MANY, guarantee=ONE, budget=budget)
    assert budget.spent == Pure("0.3")


def test_a_seeded_source_is_not_private() -> None:
    found = best_of(lambda: (1, 2), MANY, guarantee=ONE, budget=Pure(1), randomness=seeded_not_private(1))
    assert str(found).startswith("NOT PRIVATE")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"run": 5}, "run must be a function"),
        ({"runs": 5}, "runs must be NegativeBinomial"),
        ({"guarantee": 1}, "guarantee must say"),
        ({"candidates": []}, "candidates must not be empty"),
        ({"budget": None}, "give either budget="),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], words: str) -> None:
    good: dict[str, Any] = {"run": lambda: (1, 1), "runs": MANY, "guarantee": ONE, "budget": Pure(1)}
    with pytest.raises(InvalidInput, match=words):
        best_of(**good | arguments)
