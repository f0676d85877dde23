"""How far noises reach: what is stated against exact laws."""

from fractions import Fraction
from math import exp, inf, log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.mechanisms.noise.noise import gaussian, laplace, truncated_laplace
from tacit.noises import Coarser, Difference, DiscreteGaussian, DiscreteLaplace, Lopsided, TruncatedLaplace

confidences = st.sampled_from(
    [Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000), 1 - Fraction(1, 10**6), 1 - Fraction(1, 10**12)]
)
rates = st.fractions(Fraction(1, 10**6), 20, max_denominator=10**7)


def covered(law: Any, down: int, up: int) -> Any:
    """P[−down ≤ Z ≤ up] from a law around zero, enclosed."""
    return law.cdf(up, 192) - law.cdf(-down - 1, 192)


@settings(max_examples=60)
@given(rates, confidences)
def test_tails_of_laplace_noise_cover_what_they_say(rate: Fraction, confidence: Fraction) -> None:
    down, up = DiscreteLaplace.for_pure(rate).reach(float(confidence))
    assert covered(laplace(0, rate), down, up).low >= confidence
    less = 2 + up // 1000
    if confidence > Fraction(1, 2):
        assert covered(laplace(0, rate), down - less, up - less).high < confidence  # and not much more


@settings(max_examples=40)
@given(rates, rates, confidences)
def test_tails_of_lopsided_noise_cover_what_they_say(above: Fraction, below: Fraction, confidence: Fraction) -> None:
    down, up = Lopsided(above, below).reach(float(confidence))
    law = Lopsided(above, below)
    missed = law.tail(up + 1, 192) + law.mirrored.tail(down + 1, 192)
    assert missed.high <= 1 - confidence


@settings(max_examples=40)
@given(st.fractions(Fraction(1, 100), 10**6, max_denominator=1000), confidences)
def test_tails_of_gaussian_noise_cover_what_they_say(variance: Fraction, confidence: Fraction) -> None:
    down, up = DiscreteGaussian(variance).reach(float(confidence))
    law = gaussian(0, 1 / (2 * variance))
    assert law.noise == DiscreteGaussian(variance)
    assert covered(law, down, up).low >= confidence


def test_tails_of_truncated_noise_stay_within_its_bound() -> None:
    law = truncated_laplace(0, Fraction(1, 2), Fraction(1, 10**6))
    noise = TruncatedLaplace(Fraction(1, 2), law.bound)
    assert noise.reach(1 - 1e-9) == (law.bound, law.bound)
    down, up = noise.reach(0.9)
    assert covered(law, down, up).low >= Fraction(9, 10)
    assert noise.variance <= float(law.bound) ** 2


@pytest.mark.parametrize(("rate", "bound"), [(Fraction(1, 2), 28), (Fraction(1, 100), 300), (Fraction(30), 2)])
def test_tails_of_truncated_noise_from_one_side(rate: Fraction, bound: int) -> None:
    weights = {z: exp(-float(rate) * abs(z)) for z in range(-bound, bound + 1)}
    noise = TruncatedLaplace(rate, bound)
    for z in range(-bound - 2, bound + 1):
        assert noise.log_at_least(z) == pytest.approx(log(sum(w for k, w in weights.items() if k >= z)), abs=1e-9)
    assert noise.log_at_least(bound + 1) == -inf


def test_a_difference_adds_up_both_noises() -> None:
    first, second = DiscreteLaplace.for_pure(Fraction(1)), Lopsided(Fraction(2), Fraction(1, 3))
    both = Difference(first, second)
    (d1, u1), (d2, u2) = first.reach(0.975), second.reach(0.975)
    assert both.reach(0.95) == (d1 + u2, u1 + d2)
    assert both.variance == first.variance + second.variance


def test_a_coarser_noise_covers_the_rounding() -> None:
    fine = 4096
    noise = DiscreteLaplace.for_pure(Fraction(1, fine))
    coarse = Coarser(noise, fine)
    (down, up), (d, u) = coarse.reach(0.95), noise.reach(0.95)
    assert down >= d / fine + 0.5
    assert up >= u / fine + 0.5
    assert coarse.variance == pytest.approx(noise.variance / fine**2)
