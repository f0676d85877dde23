"""The two-dataset audit: it finds the ε that is there, never more than is there, and the leaks of careless noise.

A bound at confidence 1 − 1e-7 is above the truth with probability at most 1e-7, so the tests that compare a bound with
the truth from above have that false-alarm rate. The lower limits lie more than six standard deviations below what the
audit finds.
"""

from fractions import Fraction
from math import exp, log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.audit.statistical import (
    LIBRARIES,
    audit,
    clopper_pearson,
    event_bound,
    guess_bound,
    last_digit,
    promised_epsilon,
)
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Pure, Zcdp
from tacit.mechanisms import gaussian, laplace, randomised_response
from tests.support import Binomial

SURE = 1 - Fraction(1, 10**7)


@given(st.integers(1, 200), st.data())
def test_clopper_pearson_solves_its_equations(trials: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, trials))
    low, high = clopper_pearson(hits, trials, 0.01)
    assert low == 0 if hits == 0 else Binomial(trials, low).at_least(hits) == pytest.approx(0.01)
    assert high == 1 if hits == trials else Binomial(trials, high).at_most(hits) == pytest.approx(0.01)


@pytest.mark.parametrize(("epsilon", "least"), [("0.5", 0.2), ("1", 0.6), ("3", 2.1)])
def test_randomised_response_and_laplace_are_recovered(epsilon: str, least: float) -> None:
    for pair in (
        (randomised_response(0, 2, epsilon), randomised_response(1, 2, epsilon)),
        (laplace(0, epsilon), laplace(1, epsilon)),
    ):
        found = audit(*pair, samples=8000, confidence=SURE, promised=Pure(epsilon))
        assert found.verdict == "consistent"
        assert least < found.epsilon <= float(epsilon)
        assert found.event <= float(epsilon)


def test_gaussian_noise_is_recovered_at_its_delta() -> None:
    """The noise's own ε at δ, summed output by output, is below what ρ-zCDP implies in general."""
    promised = Zcdp("0.5")
    found = audit(gaussian(0, "0.5"), gaussian(1, "0.5"), samples=20_000, delta="0.01", confidence=SURE)
    own = _gaussian_epsilon(0.01)
    assert 0.6 * own < found.epsilon <= own
    assert own < float(promised_epsilon(promised, Fraction(1, 100)))


def _gaussian_epsilon(delta: float) -> float:
    """The smallest ε with Σ max(0, P − e^ε·Q) ≤ δ for the discrete Gaussian of variance 1 and shift 1."""
    weights = {z: exp(-z * z / 2) for z in range(-40, 42)}
    total = sum(weights.values())
    shifted = {z: weights.get(z - 1, 0.0) for z in weights}
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        mass = sum(max(0.0, weights[z] - exp(middle) * shifted[z]) for z in weights) / total
        low, high = (middle, high) if mass > delta else (low, middle)
    return high


def test_a_broken_promise_is_refuted() -> None:
    found = audit(laplace(0, 2), laplace(1, 2), samples=4000, confidence=SURE, promised=Pure(1))
    assert found.verdict == "broken"
    assert "broken with Pure(1)" in str(found)


def test_any_function_can_be_audited_and_equal_laws_give_nothing_away() -> None:
    random = Random(7)
    found = audit(random.random, random.random, samples=4000, confidence=SURE, promised=Pure("0.01"))
    assert found.verdict == "consistent"
    assert found.epsilon == 0
    texts = audit(lambda: "yes", lambda: random.choice(["yes", "no"]), samples=2000, confidence=SURE)
    assert texts.epsilon > 3  # "no" comes from one side only


def test_low_bits_of_float_noise_are_looked_at() -> None:
    random = Random(3)

    def noisy(value: float) -> float:
        return value + random.choice([-1, 1]) * log(1 - random.random())

    found = audit(lambda: noisy(0.0), lambda: noisy(1.0), samples=4000, confidence=SURE, promised=Pure(1))
    assert found.feature == "the last binary digit"
    assert found.broken


def test_a_named_feature_is_used() -> None:
    random = Random(5)
    sides = [lambda: (random.random(), 0), lambda: (random.random(), 1)]
    found = audit(*sides, samples=1000, confidence=SURE, features={"the second part": lambda y: y[1]})
    assert found.feature == "the second part"
    assert found.epsilon > 3


@given(st.integers(2, 300), st.data())
def test_bounds_fall_with_delta_and_with_confidence(trials: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(1, trials))
    assert guess_bound(right, trials, trials, 0.01) <= guess_bound(right, trials, trials)
    assert guess_bound(right, trials, trials, 0.0, 1e-6) <= guess_bound(right, trials, trials)
    assert event_bound(right, trials, trials - right, trials, 0.01) <= event_bound(
        right, trials, trials - right, trials
    )


def test_the_guess_bound_covers_exactly() -> None:
    """Over all outcomes of 60 guesses at odds e^1 the bound exceeds 1 with probability at most 5 %."""
    q = exp(1) / (1 + exp(1))
    missed = sum(Binomial(60, q).exactly(v) for v in range(61) if guess_bound(v, 60, 60) > 1)
    assert 0.01 < missed <= 0.05


def test_promises_are_read_at_the_audits_delta() -> None:
    assert promised_epsilon(Pure(2), Fraction(0)) == 2
    assert promised_epsilon(Approx(2, "0.01"), Fraction(1, 100)) <= 2
    with pytest.raises(InvalidInput):
        promised_epsilon(Zcdp(1), Fraction(0))
    with pytest.raises(InvalidInput):
        audit(laplace(0, 1), laplace(1, 1), samples=100, delta=1)


def test_last_digit() -> None:
    assert last_digit(3.0) == 1
    assert last_digit(0.75) == 3
    assert last_digit(float("inf")) == -1


def test_other_libraries_are_audited_or_said_to_be_absent() -> None:
    from importlib.util import find_spec

    assert len(LIBRARIES) == 2
    for name, probe in LIBRARIES.items():
        found = probe(1000, SURE)
        assert (found is None) == (find_spec(name.split(",")[0]) is None)
        assert found is None or found.epsilon >= 0
