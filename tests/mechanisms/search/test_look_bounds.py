"""What a search's looks say about a loss, whatever its shape: coverage, and a twin that takes the noise for smaller."""

from fractions import Fraction
from math import exp

import pytest

from tacit.curves import DownProfile
from tacit.grids import integers
from tacit.mechanisms.search.bayesian_search import Searched, bayesian_search
from tacit.mechanisms.search.look_bounds import LookBounds
from tacit.mechanisms.search.search_posterior import Looks
from tacit.randomness import seeded_not_private

GRID = integers(0, 999)
PROFILES = {
    "one jump": [700] * 400,
    "stairs": list(range(900, 500, -1)),
    "a rest inside": [800] * 12 + [300] * 388,
}


def searches(profile: list[int], draws: int, seed: int) -> list[Searched]:
    law = bayesian_search(DownProfile(profile).loss(GRID), Fraction(1, 5)).with_looks()
    source = seeded_not_private(seed)
    return [law._draw(source) for _ in range(draws)]


@pytest.mark.parametrize("variance", [1.0, 7.5, 400.0])
@pytest.mark.parametrize("rate", [0.01, 0.3, 1.7])
def test_a_look_at_noise_alone_is_a_supermartingale(variance: float, rate: float) -> None:
    """E[e^{λZ − λ²v/2}] ≤ 1 for discrete Gaussian noise."""
    reach = int(40 * variance**0.5 + rate * variance) + 10
    weights = {z: exp(-z * z / (2 * variance)) for z in range(-reach, reach + 1)}
    moment = sum(exp(rate * z - rate * rate * variance / 2 - z * z / (2 * variance)) for z in weights)
    assert moment <= sum(weights.values()) * (1 + 1e-9)


@pytest.mark.parametrize("shape", PROFILES)
def test_statements_hold_as_often_as_they_say(shape: str) -> None:
    """Of 40 statements at β = 0.1 more than 20 are wrong with probability below 10^-9."""
    loss = DownProfile(PROFILES[shape]).loss(GRID)
    truth = next(i for i in range(1000) if loss.at(i) == 0)
    wrong = {"zero": 0, "most": 0}
    for searched in searches(PROFILES[shape], 40, 3):
        bounds = searched.bounds(0.1)
        most = bounds.most_at(searched.position, 2 * searched.design.target)
        wrong["zero"] += bounds.lowest_zero() > truth
        wrong["most"] += most is not None and loss.at(searched.position) > most
    assert max(wrong.values()) <= 20
    assert wrong["zero"] + wrong["most"] <= 8  # seeded: far less than it may be


def test_taking_the_noise_for_smaller_is_caught() -> None:
    """A 400th of the variance makes noise look like evidence: half of the statements about nothing are wrong."""
    wrong = 0
    for searched in searches([0] * 3, 20, 5):  # a loss of 0 from the first value on
        honest = searched.bounds(0.1).lowest_zero()
        variance = float(searched.design.noise.squared_scale) / 400
        wrong += LookBounds(searched.looks, variance, searched.design.looks, 0.1).lowest_zero() > 0
        assert honest == 0 or honest == searched.bounds(0.1).lowest_zero()
    assert wrong >= 8


def test_looks_that_are_clear_are_believed() -> None:
    looks = [(3, Looks(20, 400)), (6, Looks(20, 0))]
    bounds = LookBounds(looks, 25.0, 40, 0.01)
    assert bounds.lowest_zero() == 4  # 20 looks at 20 on average, with noise of 5
    assert bounds.most_at(6, 40) == 12  # the looks before count too, and saw 10 on average with those at 6
    assert bounds.most_at(2, 10) is None  # nobody looked there or below
    assert LookBounds([], 25.0, 40, 0.01).lowest_zero() == 0
    assert LookBounds([], 25.0, 40, 0.01).most_at(5, 40) is None
