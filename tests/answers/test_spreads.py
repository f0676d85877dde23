"""What answers say about their error holds: tails against exact laws, boxes against every point inside them."""

from fractions import Fraction
from math import exp, inf, log, sqrt
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.answers.quotients import Quotient, Share, Variance
from tacit.answers.spreads import (
    Additive,
    Chosen,
    Coarser,
    Difference,
    DiscreteGaussian,
    Noise,
    TruncatedNoise,
    TwoSidedGeometric,
    laplace_noise,
)
from tacit.mechanisms.noise.noise import gaussian, laplace, truncated_laplace
from tacit.noises.capped_noise import Lopsided
from tacit.numbers.units import Unit

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
    down, up = laplace_noise(rate).tails(float(confidence))
    assert covered(laplace(0, rate), down, up).low >= confidence
    less = 2 + up // 1000
    if confidence > Fraction(1, 2):
        assert covered(laplace(0, rate), down - less, up - less).high < confidence  # and not much more


@settings(max_examples=40)
@given(rates, rates, confidences)
def test_tails_of_lopsided_noise_cover_what_they_say(above: Fraction, below: Fraction, confidence: Fraction) -> None:
    down, up = TwoSidedGeometric(above, below).tails(float(confidence))
    law = Lopsided(above, below)
    missed = law.at_least(up + 1, 192) + law.mirrored.at_least(down + 1, 192)
    assert missed.high <= 1 - confidence


@settings(max_examples=40)
@given(st.fractions(Fraction(1, 100), 10**6, max_denominator=1000), confidences)
def test_tails_of_gaussian_noise_cover_what_they_say(variance: Fraction, confidence: Fraction) -> None:
    down, up = DiscreteGaussian(variance).tails(float(confidence))
    law = gaussian(0, 1 / (2 * variance))
    assert law.variance == variance
    assert covered(law, down, up).low >= confidence


def test_tails_of_truncated_noise_stay_within_its_bound() -> None:
    law = truncated_laplace(0, Fraction(1, 2), Fraction(1, 10**6))
    noise = TruncatedNoise(Fraction(1, 2), law.bound)
    assert noise.tails(1 - 1e-9) == (law.bound, law.bound)
    down, up = noise.tails(0.9)
    assert covered(law, down, up).low >= Fraction(9, 10)
    assert noise.variance <= float(law.bound) ** 2


@pytest.mark.parametrize(("rate", "bound"), [(Fraction(1, 2), 28), (Fraction(1, 100), 300), (Fraction(30), 2)])
def test_tails_of_truncated_noise_from_one_side(rate: Fraction, bound: int) -> None:
    weights = {z: exp(-float(rate) * abs(z)) for z in range(-bound, bound + 1)}
    noise = TruncatedNoise(rate, bound)
    for z in range(-bound - 2, bound + 1):
        assert noise.log_at_least(z) == pytest.approx(log(sum(w for k, w in weights.items() if k >= z)), abs=1e-9)
    assert noise.log_at_least(bound + 1) == -inf


def test_what_is_chosen_among_several_has_the_interval_of_all_together() -> None:
    plain = Additive(laplace_noise(Fraction(1)))
    chosen = Chosen(plain, 100)
    assert chosen.interval(50, Fraction(95, 100)) == plain.interval(50, Fraction(9995, 10000))
    assert (chosen.covers, chosen.std, chosen.persons_above(Fraction(1, 2))) == ("truth", plain.std, None)


@given(rates.filter(lambda r: r > Fraction(1, 100)), rates.filter(lambda r: r > Fraction(1, 100)))
def test_variances_are_those_of_the_law(above: Fraction, below: Fraction) -> None:
    assert TwoSidedGeometric(above, below).variance == pytest.approx(Lopsided(above, below).variance, rel=1e-9)


def test_a_difference_adds_up_both_noises() -> None:
    first, second = laplace_noise(Fraction(1)), TwoSidedGeometric(Fraction(2), Fraction(1, 3))
    both = Difference(first, second)
    (d1, u1), (d2, u2) = first.tails(0.975), second.tails(0.975)
    assert both.tails(0.95) == (d1 + u2, u1 + d2)
    assert both.variance == first.variance + second.variance


def test_a_coarser_noise_covers_the_rounding() -> None:
    fine = 4096
    noise = laplace_noise(Fraction(1, fine))
    coarse = Coarser(noise, fine)
    (down, up), (d, u) = coarse.tails(0.95), noise.tails(0.95)
    assert down >= d / fine + 0.5
    assert up >= u / fine + 0.5
    assert coarse.variance == pytest.approx(noise.variance / fine**2)


def test_an_additive_answer_is_the_value_with_noise_around_it() -> None:
    noise = laplace_noise(Fraction(1, 10))
    down, up = noise.tails(0.95)
    spread = Additive(noise, Unit(Fraction(1, 100), "decimal"))
    low, high = spread.interval(Unit(Fraction(1, 100), "decimal").value(5000), Fraction(95, 100))
    assert (int(low * 100), int(high * 100)) == (5000 - up, 5000 + down)
    assert spread.std == pytest.approx(sqrt(noise.variance) / 100)
    assert spread.covers == "truth"
    assert spread.persons_above(Fraction(1, 2)) is None


# ---- boxes ------------------------------------------------------------------------------------------------------

NOISE: Noise = TwoSidedGeometric(Fraction(1, 7), Fraction(1, 9))
sums = st.integers(-40, 400)


def inside(noise: Noise, confidence: float, released: int, random: Random) -> int:
    """A value that the released one may come from while the noise stays within its tails."""
    down, up = noise.tails(confidence)
    return random.choice((released - up, released + down, random.randint(released - up, released + down)))


@given(sums, sums, st.randoms())
def test_a_share_lies_in_its_interval_for_every_box(rest: int, part: int, random: Any) -> None:
    spread = Share(rest, part, NOISE, NOISE, 10.0, 30.0)
    low, high = spread.interval(spread.value, Fraction(9, 10))
    a, b = (max(inside(NOISE, 0.95, x, random), 0) for x in (rest, part))
    if a + b > 0:
        assert low - 1e-9 <= 10 + 20 * b / (a + b) <= high + 1e-9
    assert 10 <= spread.value <= 30
    assert 0 <= spread.std <= 10


@given(sums, sums, st.randoms())
def test_a_quotient_lies_in_its_interval_for_every_box(top: int, bottom: int, random: Any) -> None:
    spread = Quotient(top, bottom, NOISE, NOISE, 0.5, 3.0)
    low, high = spread.interval(spread.value, Fraction(9, 10))
    a, b = inside(NOISE, 0.95, top, random), inside(NOISE, 0.95, bottom, random)
    assert b < 1 or low - 1e-9 <= 3 + 0.5 * a / b <= high + 1e-9
    if bottom - NOISE.tails(0.95)[1] < 1:
        assert (low, high) == (-inf, inf)
    assert spread.std >= 0


@given(sums, sums, sums, st.booleans(), st.randoms())
def test_a_variance_lies_in_its_interval_for_every_box(a: int, b: int, c: int, root: bool, random: Any) -> None:
    spread = Variance((a, b, c), NOISE, 6.0, root)
    low, high = spread.interval(spread.value, Fraction(9, 10))
    x, y, z = (max(inside(NOISE, 1 - 0.1 / 3, part, random), 0) for part in (a, b, c))
    n = x + y + z
    if n > 0:
        variance = 36 * min(max(z / n - ((y + z) / n) ** 2, 0), 0.25)
        truth = sqrt(variance) if root else variance
        assert low - 1e-9 <= truth <= high + 1e-9
    assert 0 <= spread.value <= (3 if root else 9)
