"""Bayesian search: what it spends, how often it succeeds, and the floating-point belief that steers it."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, log
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.curves import Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Zcdp
from tacit.mechanisms.search.bayesian_search import (
    THETAS,
    BayesianDesign,
    BayesianSearchLaw,
    _log_failure,
    bayesian_search,
)
from tacit.mechanisms.search.search_posterior import Looks, Posterior, best_position
from tacit.noises import DiscreteGaussian
from tacit.randomness import Randomness

N = 2**64
HUGE = integers(0, N - 1)
RHO = Fraction("0.0244")
BETA = Fraction(1, 20)


def jump(at: int, middle: int | None = None, width: int = 2**60, top: int = 500) -> StepLoss:
    """A loss that falls from ``top`` to 0 at one value, or rests at ``middle`` before it."""
    runs = [Run(0, at - width - 1, top), Run(at - width, at - 1, top if middle is None else middle), Run(at, N - 1, 0)]
    return StepLoss.joined(HUGE, runs, True)


def stairs(at: int) -> StepLoss:
    """A loss that falls by 1 every 2^50 values."""
    steps = [Run(at - j * 2**50, at - (j - 1) * 2**50 - 1, j) for j in range(400, 0, -1)]
    return StepLoss.joined(HUGE, [Run(0, at - 400 * 2**50 - 1, 401), *steps, Run(at, N - 1, 0)], True)


@pytest.mark.parametrize("shape", ["plateau", "stairs"])
def test_succeeds_at_the_design_s_target(shape: str) -> None:
    """ρ = 0.0244, τ = 65, |Y| = 2^64: at most 5 % of 60 answers miss the window; false alarm 1e-6 at a true 0.1 %."""
    random, missed = Random(3), 0
    for _ in range(60):
        at = random.randrange(2**62, 2**63)
        loss = stairs(at) if shape == "stairs" else jump(at, random.choice([None, 32, 97]))
        answer = int(bayesian_search(loss, RHO, 65).sample())
        missed += not (answer <= at and loss.at(answer) <= 130)
    assert missed <= 3


@dataclass(frozen=True)
class CountingNoise(DiscreteGaussian):
    """Gaussian noise that counts its draws."""

    drawn: list[int] = field(default_factory=list)

    def draw(self, source: Randomness) -> int:
        self.drawn.append(super().draw(source))
        return self.drawn[-1]


def test_spends_exactly_what_is_promised() -> None:
    law = bayesian_search(jump(2**63), RHO)
    assert law.guarantee == Zcdp(RHO)
    assert law.design.looks / (2 * law.design.noise.squared_scale) == RHO
    assert law.design.looks * law.design.each.rho == RHO
    noise = CountingNoise(law.design.noise.squared_scale)
    counted = BayesianSearchLaw(jump(2**63), law.design._replace(noise=noise), law.guarantee)
    counted.sample()
    assert 0 < len(noise.drawn) <= law.design.looks
    generous = bayesian_search(StepLoss.from_losses(integers(0, 3), [9, 9, 0, 0]), 1000)
    assert generous.design.noise.variance == 1  # less is spent than promised
    assert set(generous.sample(20)) == {2}


def test_looks_are_clamped() -> None:
    law = bayesian_search(jump(2**63, top=10**6), RHO)
    assert law._loss.at(0) == 2 * law.target + 1


def test_probabilities_are_refused_with_the_reason() -> None:
    law = bayesian_search(jump(2**63), RHO)
    for ask in (lambda: law.pmf(0), lambda: law.cdf(0), law.outcomes):
        with pytest.raises(InvalidInput, match="composition"):
            ask()


def test_refusals_and_repr() -> None:
    with pytest.raises(InvalidInput, match="finite"):
        bayesian_search(StepLoss(integers(0, None), (Run(0, None, 0),)), 1)
    with pytest.raises(InvalidInput, match="target"):
        bayesian_search(jump(2**63), RHO, 0)
    with pytest.raises(InvalidInput, match="target"):
        bayesian_search(jump(2**63), RHO, 30).accuracy(BETA)
    with pytest.raises(InvalidInput, match="grid"):
        bayesian_search(jump(2**63), RHO).look(-1)
    law, other = bayesian_search(jump(2**63), RHO), bayesian_search(stairs(2**62), RHO)
    assert repr(law) == repr(other)
    assert law.accuracy(BETA) == other.accuracy(BETA)
    window = law.accuracy(BETA).window
    assert window is not None
    assert window <= 120
    assert bayesian_search(StepLoss.from_losses(integers(7, 7), [4]), 1).sample() == 7


def direct_failure(size: int, design: BayesianDesign) -> float:
    """θ·ln(|Y| − 1) + m·ln E[((1 + e^{-2v})/2)^θ] by summing the noise, in floats."""
    variance, eta, theta = float(design.noise.variance), float(design.strength), float(design.theta)
    reach = int(9 * variance**0.5)
    weights = {z: exp(-z * z / 2 / variance) for z in range(-reach, reach + 1)}
    mean = sum(w * ((1 + exp(-2 * eta * (design.target + z))) / 2) ** theta for z, w in weights.items())
    return theta * log(size - 1) + design.looks * log(mean / sum(weights.values()))


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize(("variance", "target"), [(1, 1), (1, 3), (50, 9), (1000, 15)])
def test_proved_failure_is_an_upper_bound(theta: Fraction, variance: int, target: int) -> None:
    design = BayesianDesign(100, DiscreteGaussian(Fraction(variance)), target, theta)
    assert float(_log_failure(1000, design).high) >= min(0.0, direct_failure(1000, design)) - 1e-9


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.floats(-2, 2)), max_size=8))
def test_posterior_equals_the_weights_position_by_position(size: int, looks: list[tuple[int, float]]) -> None:
    posterior, weights = Posterior(size), [1.0] * size
    for q, evidence in looks:
        if q < size - 1:
            posterior.update(q, evidence)
            weights = [w * exp(evidence if h > q else -evidence) for h, w in enumerate(weights)]
    position, share, weight = posterior.median()
    total = sum(weights)
    assert weight == pytest.approx(weights[position] / total)
    assert (sum(weights[:position]) + float(share) * weights[position]) / total == pytest.approx(0.5)
    assert -1e-9 <= share <= 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10), st.floats(-5000, 5000)), max_size=30))
def test_contradictory_answers_never_fail(looks: list[tuple[int, float]]) -> None:
    posterior, answers = Posterior(12), {}
    for q, evidence in looks:
        posterior.update(q, evidence)
        answers[q] = Looks(1, int(evidence))
    assert 0 <= posterior.median().position < 12
    assert 0 <= best_position(12, answers, 41, 1.0) < 12


def test_best_position_follows_clear_answers() -> None:
    sharp = {q: Looks(50, 50 * (40 if q < 600 else 0)) for q in (100, 598, 599, 600, 601, 900)}
    assert best_position(1000, sharp, 41, 100.0) == 600
    rests = {q: Looks(50, 50 * (40 if q < 300 else 20 if q < 700 else 0)) for q in (100, 250, 350, 500, 650, 750, 900)}
    assert 300 <= best_position(1000, rests, 41, 100.0) <= 700
    assert best_position(10**400, {10**399: Looks(99, 99 * 40), 10**399 + 1: Looks(99, 0)}, 41, 100.0) == 10**399 + 1


def test_positions_beyond_the_reach_of_floats() -> None:
    posterior = Posterior(2**1030)
    for _ in range(1300):  # look where half of the weight is reached, and say each time: at or below
        position, share, _ = posterior.median()
        posterior.update(position if share else position - 1, -9.0)
    assert posterior.median().position == 0
    assert posterior.median().weight > 0.5
