"""Noises on the integers against their definitions: the weights summed by brute force, in floats."""

from fractions import Fraction
from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.guarantees import Approx, Pure, Zcdp
from tacit.noises import DiscreteGaussian, DiscreteLaplace, IntegerNoise, Lopsided, TruncatedLaplace
from tacit.noises.base import first_where
from tacit.randomness import SYSTEM, seeded_not_private
from tests.support import agrees

rates = st.fractions(Fraction(1, 4), 3, max_denominator=60)
scales = st.fractions(Fraction(1, 10), 30, max_denominator=60)
noises = st.one_of(
    st.builds(DiscreteLaplace, rates),
    st.builds(Lopsided, rates, rates),
    st.builds(DiscreteGaussian, scales),
    st.builds(TruncatedLaplace, rates, st.integers(4, 12)),
)
WINDOW = range(-160, 161)
"""All but a share of e^-40 of every noise above."""


def weight(noise: IntegerNoise, z: int) -> float:
    """What the probability is proportional to, by definition."""
    match noise:
        case DiscreteLaplace(rate):
            return exp(-float(rate) * abs(z))
        case Lopsided(up, down):
            return exp(-float(up) * z if z >= 0 else float(down) * z)
        case DiscreteGaussian(squared_scale):
            return exp(-z * z / (2 * float(squared_scale)))
        case TruncatedLaplace(rate, bound):
            return exp(-float(rate) * abs(z)) if abs(z) <= bound else 0.0
    raise AssertionError(noise)


def law(noise: IntegerNoise) -> dict[int, float]:
    """Every probability."""
    weights = {z: weight(noise, z) for z in WINDOW}
    total = sum(weights.values())
    return {z: w / total for z, w in weights.items()}


@settings(max_examples=60, deadline=None)
@given(noises)
def test_masses_follow_the_definition_and_add_up_to_one(noise: IntegerNoise) -> None:
    probabilities = law(noise)
    for z in (-40, -3, -1, 0, 1, 2, 7, 13):
        found = noise.mass(z)
        assert float(found) == pytest.approx(probabilities[z], rel=1e-9, abs=1e-15)
        assert found.width <= found.high / 2**110
    assert sum(float(noise.mass(z, 24)) for z in WINDOW) == pytest.approx(1, abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(noises, st.integers(-40, 40), st.booleans())
def test_tails_are_sums_of_masses(noise: IntegerNoise, z: int, sharp: bool) -> None:
    expected = sum(p for k, p in law(noise).items() if k >= z)
    assert float(noise.tail(z, sharp=sharp)) == pytest.approx(expected, rel=1e-9, abs=1e-14)
    step = noise.tail(z) - noise.tail(z + 1)
    assert step.low <= noise.mass(z).high
    assert step.high >= noise.mass(z).low


@settings(max_examples=60, deadline=None)
@given(noises, st.sampled_from([0.5, 0.9, 0.95, 0.999, 1 - 1e-6]))
def test_reach_holds_what_it_says(noise: IntegerNoise, confidence: float) -> None:
    down, up = noise.reach(confidence)
    inside = sum(p for z, p in law(noise).items() if -down <= z <= up)
    assert inside >= confidence - 1e-12
    if isinstance(noise, DiscreteLaplace | Lopsided):  # each side is the shortest that misses at most half
        half = (1 - confidence) / 2 * (1 - 1e-9)
        assert up == 0 or float(noise.tail(up)) > half
        assert down == 0 or 1 - float(noise.tail(-down + 1)) > half


@settings(max_examples=60, deadline=None)
@given(noises, st.fractions(Fraction(1, 10**9), Fraction(99, 100), max_denominator=10**9), st.integers(1, 40))
def test_limits_are_the_smallest(noise: IntegerNoise, beta: Fraction, count: int) -> None:
    k = noise.limit(beta)
    assert noise.tail(k + 1, 64).high <= beta
    assert k == 0 or noise.tail(k, 64).high > beta
    k = noise.limit_of_all(count, beta)
    assert ((1 - noise.tail(k + 1, 64)) ** count).low >= 1 - beta
    assert k == 0 or ((1 - noise.tail(k, 64)) ** count).low < 1 - beta


@settings(max_examples=60, deadline=None)
@given(noises)
def test_variances_are_those_of_the_law_or_bounds_on_them(noise: IntegerNoise) -> None:
    probabilities = law(noise)
    mean = sum(z * p for z, p in probabilities.items())
    variance = sum((z - mean) ** 2 * p for z, p in probabilities.items())
    if isinstance(noise, DiscreteLaplace | Lopsided):
        assert noise.variance == pytest.approx(variance, rel=1e-9)
    else:
        assert noise.variance >= variance * (1 - 1e-9)


def squared_scale_of(noise: IntegerNoise) -> Fraction:
    """The squared scale of a Gaussian noise."""
    assert isinstance(noise, DiscreteGaussian)
    return noise.squared_scale


@settings(max_examples=60, deadline=None)
@given(noises, st.integers(1, 4))
def test_guarantees_hold_between_shifted_laws(noise: IntegerNoise, shift: int) -> None:
    p = law(noise)
    both = [(p[z], p.get(z - shift, 0.0)) for z in range(-60, 61)]
    match noise.guarantee(shift):
        case Pure(epsilon):
            ratios = [abs(log(a / b)) for a, b in both]
            assert max(ratios) == pytest.approx(float(epsilon), rel=1e-9)
        case Zcdp(rho):  # in logarithms: far out, floats hold no more bits of the probabilities themselves
            scale, total = 2 * float(squared_scale_of(noise)), log(sum(weight(noise, z) for z in WINDOW))
            logs = [(-z * z / scale - total, -((z - shift) ** 2) / scale - total) for z in range(-150, 151)]
            for order in (1.5, 2.0, 8.0):
                promised = order * (order - 1) * float(rho)
                exponents = [order * a + (1 - order) * b - promised for a, b in logs]
                assert sum(exp(x) for x in exponents) <= 1 + 1e-9
        case Approx(epsilon, delta):
            assert sum(max(0.0, a - exp(float(epsilon)) * b) for a, b in both) <= float(delta) + 1e-12
            assert sum(max(0.0, b - exp(float(epsilon)) * a) for a, b in both) <= float(delta) + 1e-12
        case other:
            raise AssertionError(other)


@given(rates, st.integers(1, 5))
def test_noise_for_a_promise_keeps_just_that(amount: Fraction, sensitivity: int) -> None:
    assert DiscreteLaplace.for_pure(amount, sensitivity).guarantee(sensitivity) == Pure(amount)
    assert DiscreteGaussian.for_zcdp(amount, sensitivity).guarantee(sensitivity) == Zcdp(amount)
    promised = Approx(amount, Fraction(1, 1000))
    kept = TruncatedLaplace.for_approx(amount, promised.delta, sensitivity).guarantee(sensitivity)
    assert kept.epsilon == amount
    assert kept.delta <= promised.delta


@given(rates, st.fractions(Fraction(1, 10**9), Fraction(99, 100)))
def test_a_threshold_is_the_least_that_is_hardly_ever_reached(rate: Fraction, beta: Fraction) -> None:
    noise = DiscreteLaplace(rate)
    k = noise.threshold(beta)
    assert noise.tail(k).high <= beta
    assert k == 0 or noise.tail(k - 1).low > beta


@given(rates)
def test_the_mean_size_is_rounded_down_a_little(rate: Fraction) -> None:
    noise = DiscreteLaplace(rate)
    assert float(noise.mean_size) == pytest.approx(sum(abs(z) * p for z, p in law(noise).items()), rel=1e-9)


@pytest.mark.parametrize(
    "noise",
    [
        DiscreteLaplace(Fraction(1, 2)),
        Lopsided(Fraction(1, 3), Fraction(2)),
        DiscreteGaussian(Fraction(7)),
        TruncatedLaplace(Fraction(1, 4), 5),
        TruncatedLaplace(Fraction(1, 10), 3),
    ],
    ids=repr,
)
def test_draws_follow_the_masses(noise: IntegerNoise) -> None:
    """8,000 draws by the chi-square test, false alarm 1e-7 each; a seeded draw repeats and is marked."""
    draws = [noise.draw(SYSTEM) for _ in range(8000)]
    assert agrees(draws, {z: float(noise.mass(z, 64)) for z in range(-60, 61)})
    first, second = (noise.draw(seeded_not_private(3)) for _ in range(2))
    assert first == second
    assert repr(first).startswith("NotPrivate(")


def test_gaussian_tails_keep_their_bits_where_they_must_be_sharp() -> None:
    noise = DiscreteGaussian(Fraction(5000))
    quick, sharp = noise.tail(90), noise.tail(90, sharp=True)
    assert quick.low <= sharp.high
    assert quick.high >= sharp.low
    assert sharp.width <= sharp.high / 2**100 < quick.width


@pytest.mark.parametrize(
    "noise",
    [
        DiscreteLaplace(Fraction(1, 3)),
        DiscreteGaussian(Fraction(17, 2)),
        TruncatedLaplace(Fraction(1, 3), 7),
        TruncatedLaplace(Fraction(1, 12), 7),
        Lopsided(Fraction(1, 2), Fraction(1, 5)),
    ],
)
def test_many_draws_have_the_same_law(noise: IntegerNoise) -> None:
    """One alarm in 10^6 runs, as `agrees` says."""
    drawn = noise.draws(20_000, SYSTEM)
    assert len(drawn) == 20_000
    assert all(type(z) is int for z in drawn)
    assert agrees(drawn, law(noise))
    assert noise.draws(0, SYSTEM) == []
    assert len(noise.draws(7, SYSTEM)) == 7


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 200), st.integers(0, 300))
def test_a_search_finds_the_first_wherever_it_begins(first: int, near: int) -> None:
    asked: list[int] = []

    def holds(k: int) -> bool:
        asked.append(k)
        return k >= first

    assert first_where(holds, near) == first
    assert min(asked) >= 0
    assert len(asked) <= 4 + 2 * (abs(first - near) + 1).bit_length() + (8 if near == 0 else 0)
