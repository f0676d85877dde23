"""The one-run audit: published check values, coverage, and whole sessions audited in one go."""

from fractions import Fraction
from math import exp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.audit.one_run import Rule, audit_run, epsilon_bound, insert_canaries, p_value, rules, score_run
from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.mechanisms import laplace
from tacit.randomness import SYSTEM
from tests.support import Binomial

SURE = 1 - Fraction(1, 10**7)


@pytest.mark.parametrize(
    ("canaries", "guesses", "correct", "delta", "epsilon"),
    [
        (1000, 100, 90, "0", 1.630823),
        (1000, 100, 90, "1e-5", 1.626143),
        (1000, 100, 100, "0", 3.492965),
        (5000, 200, 150, "1e-5", 0.814143),
        (100, 100, 70, "1e-6", 0.471647),
    ],
)
def test_check_values(canaries: int, guesses: int, correct: int, delta: str, epsilon: float) -> None:
    assert epsilon_bound(canaries, guesses, correct, delta) == pytest.approx(epsilon, abs=5e-7)


@given(st.integers(1, 120), st.integers(0, 80), st.floats(0, 0.001), st.data())
def test_p_value_is_its_formula(guesses: int, idle: int, delta: float, data: st.DataObject) -> None:
    correct = data.draw(st.integers(1, guesses))
    epsilon = data.draw(st.floats(0, 4))
    q, m = 1 / (1 + exp(-epsilon)), guesses + idle
    pmf = [Binomial(guesses, q).exactly(k) for k in range(guesses + 1)]
    alpha = max(sum(pmf[correct - i : correct]) / i for i in range(1, correct + 1))
    expected = min(1.0, sum(pmf[correct:]) + 2 * m * delta * alpha)
    assert p_value(m, guesses, correct, epsilon, delta) == pytest.approx(expected, abs=1e-9)


@given(st.integers(2, 100), st.sampled_from(["0", "1e-6", "1e-4"]), st.data())
def test_everything_below_the_bound_is_refuted(guesses: int, delta: str, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, guesses))
    bound = epsilon_bound(guesses, guesses, correct, delta)
    for share in (0.25, 0.5, 0.75, 0.999):
        assert bound == 0 or p_value(guesses, guesses, correct, bound * share, float(delta)) < 0.05
    assert p_value(guesses, guesses, correct, bound + 1e-6, float(delta)) >= 0.05 or bound > 60


def test_coverage_is_exact_for_randomised_response() -> None:
    """Over all outcomes of 100 guesses at odds e^1 the bound exceeds 1 with probability at most 5 %."""
    q = exp(1) / (1 + exp(1))
    missed = sum(Binomial(100, q).exactly(v) for v in range(101) if epsilon_bound(100, 100, v) > 1)
    assert 0.01 < missed <= 0.05


def test_rules_guess_the_ends_and_the_best_is_corrected() -> None:
    scores, included = [5, 1, 4, 2, 3, 0], [True, False, False, True, True, False]
    assert Rule(1, 1).correct(scores, included) == 2
    assert Rule(2, 1).correct(scores, included) == 2
    assert Rule(3, 3).correct(scores, included) == 4
    clean = [i >= 200 for i in range(400)]
    several = score_run(range(400), clean, tried=[Rule(10, 10), Rule(100, 100)])
    alone = score_run(range(400), clean, tried=[Rule(100, 100)])
    assert several.best.rule == Rule(100, 100)
    assert several.epsilon < alone.epsilon == epsilon_bound(400, 200, 200)
    assert several.epsilon == epsilon_bound(400, 200, 200, 0, Fraction(975, 1000))
    assert rules(1000) == (Rule(10, 10), Rule(50, 50), Rule(200, 200), Rule(500, 500))


def test_input_is_checked() -> None:
    with pytest.raises(InvalidInput):
        epsilon_bound(10, 20, 5)
    with pytest.raises(InvalidInput):
        score_run([1, 2], [True])
    with pytest.raises(InvalidInput):
        score_run([1, 2], [True, False], tried=[Rule(2, 2)])


ROWS = [{"who": i, "place": "town", "amount": i % 7} for i in range(50)]


def test_canaries_are_persons_of_their_own() -> None:
    canaries = [[{"place": f"c{i}", "amount": 1}, {"place": "town", "amount": 2}] for i in range(3)]
    table = insert_canaries(ROWS, "who", canaries, [True, False, True])
    assert table.num_rows == 54
    assert table.column("who").to_pylist()[50:] == [50, 50, 52, 52]
    assert table.column("place").to_pylist()[50:] == ["c0", "town", "c2", "town"]
    named = [{**row, "who": f"p{row['who']}"} for row in ROWS]
    names = insert_canaries(named, "who", canaries, [True, True, True]).column("who").to_pylist()
    assert len(set(names)) == 53
    with pytest.raises(InvalidInput):
        insert_canaries(ROWS, "nobody", canaries, [True, True, True])


COUNT = 300
CANARIES = [[{"place": f"c{i}", "amount": 1}] for i in range(COUNT)]


def _noisy_counts(scale: int) -> Any:
    """One exact count for each canary's place with Laplace noise of rate ``scale``: ε = scale for a person."""

    def session(table: Any) -> dict[str, int]:
        present = set(table.column("place").to_pylist())
        return {f"c{i}": laplace(int(f"c{i}" in present), scale).sample(source=SYSTEM) for i in range(COUNT)}

    return session


def _score(released: Any, i: int) -> Any:
    return released[f"c{i}"]


def test_a_promise_kept_and_a_promise_broken_in_one_run() -> None:
    kept = audit_run(ROWS, "who", CANARIES, _noisy_counts(1), _score, promised=Pure(1), confidence=SURE)
    assert kept.verdict == "consistent"
    broken = audit_run(ROWS, "who", CANARIES, _noisy_counts(8), _score, promised=Pure(1), confidence=SURE)
    assert broken.verdict == "broken"
    assert 1 < broken.epsilon <= 8
    assert "guesses right among 300 canaries" in str(broken)


def test_a_whole_session_of_queries_is_audited_in_one_run() -> None:
    """ε = 8 over a count by place and a total; false alarm 1e-7. The noise hides little at 8, so ε > 0 must show."""

    def session(table: Any) -> dict[str, float]:
        private = tacit.read(table, person="who", budget=Pure(8), table="rows")
        private.sum("amount", epsilon=1)
        answers = private.group_by("place", keys=[f"c{i}" for i in range(COUNT)]).count(epsilon=7)
        return {key: float(answer) for key, answer in answers.items()}

    found = audit_run(ROWS, "who", CANARIES, session, _score, promised=Pure(8), confidence=SURE)
    assert found.verdict == "consistent"
    assert found.epsilon > 0.2
