"""Noise on integers as laws: probabilities, tails, reach and truncation against independent values."""

from collections.abc import Callable
from fractions import Fraction
from math import nan

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Pure, Zcdp
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise.noise import (
    NoisyInteger,
    gaussian,
    laplace,
    randomised_response,
    truncated_laplace,
)
from tacit.randomness import seeded_not_private
from tests.guarantees.oracle import ball

NOISES: list[Callable[[int], NoisyInteger]] = [
    lambda value: laplace(value, "0.7", sensitivity=2),
    lambda value: gaussian(value, "0.2", sensitivity=3),
    lambda value: truncated_laplace(value, "0.7", "0.01", sensitivity=2),
]
LAWS: list[Law[int]] = [*(noise(4) for noise in NOISES), randomised_response(4, 9, "1.5")]
NAMES = [law.name for law in LAWS]


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_probabilities_add_up_and_agree_with_the_distribution(law: Law[int]) -> None:
    running = arb(0)
    for y in law.outcomes():
        running += ball(law.pmf(y).low)
        below = law.cdf(y)
        assert ball(below.low) - running < arb(2) ** -38
        assert running - ball(below.high) < arb(2) ** -38
    assert abs(running - 1) < arb(2) ** -38


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_nothing_far_away(law: Law[int]) -> None:
    assert float(law.pmf(10**6)) == 0 == float(law.cdf(-(10**6)))
    assert float(law.cdf(10**6)) == 1


def test_exact_values() -> None:
    """Written out in flint from the definitions."""
    r = (-ball(Fraction(7, 20))).exp()
    y = LAWS[0].pmf(6)
    assert ball(y.low) <= r**2 * (1 - r) / (1 + r) <= ball(y.high)
    v = ball(Fraction(45, 2))
    whole = sum(((-arb(z * z) / (2 * v)).exp() for z in range(-300, 301)), arb(0))
    y = LAWS[1].pmf(9)
    assert (
        ball(y.low) * (1 - arb(10) ** -30) <= (-arb(25) / (2 * v)).exp() / whole <= ball(y.high) * (1 + arb(10) ** -30)
    )
    e = ball(Fraction(3, 2)).exp()
    assert ball(LAWS[3].pmf(4).low) <= e / (e + 8) <= ball(LAWS[3].pmf(4).high)
    assert ball(LAWS[3].pmf(5).low) <= 1 / (e + 8) <= ball(LAWS[3].pmf(5).high)
    assert LAWS[3].pmf(9).high == 0 == LAWS[3].pmf(-1).high


def test_extreme_scales_keep_their_precision() -> None:
    for p in (laplace(0, "1e-30").pmf(0), laplace(0, "1e-30").pmf(10**30), laplace(0, 1000).pmf(3)):
        assert p.low > 0
        assert p.width <= p.high / 2**120
    assert laplace(0, "1e9").pmf(0).low == 1 - Fraction(1, 2**127) or laplace(0, "1e9").pmf(0).high == 1
    assert laplace(0, "1e9").pmf(1).high <= Fraction(1, 2**65536)
    wide = gaussian(0, Fraction(1, 10**60))
    assert wide.pmf(0).width <= wide.pmf(0).high / 2**110


@settings(max_examples=40)
@given(st.sampled_from(NOISES), st.fractions(Fraction(1, 10**9), Fraction(99, 100), max_denominator=10**9))
def test_reach_is_the_smallest(noise: Callable[[int], NoisyInteger], beta: Fraction) -> None:
    law = noise(0)
    reach = law.reach(beta)
    outside = 1 - law.cdf(reach) + law.cdf(-reach - 1)
    assert outside.high <= beta * (1 + Fraction(1, 2**50))
    if reach:
        assert (1 - law.cdf(reach - 1) + law.cdf(-reach)).high > beta


def test_truncated_noise_stays_within_its_bound() -> None:
    law = truncated_laplace(100, 1, "1e-6")
    assert law.bound == 14  # (e − 1 + 2δ)/(δ(1 + 1/e)) = 1256144: its logarithm rounded up is 15 = R + 1
    assert law.reach("1e-30") == law.bound
    assert list(law.outcomes()) == list(range(86, 115))
    assert law.pmf(115).high == 0
    assert all(86 <= y <= 114 for y in law.sample(2000))


def test_accuracy_in_words() -> None:
    assert str(laplace(0, 1).accuracy("0.05")) == "the noise is at most 3 with probability at least 19/20."
    assert randomised_response(0, 2, 3).accuracy("0.05").statement == (
        "the answer is the true one with probability 0.952574."
    )
    assert randomised_response(0, 3, 3).accuracy("0.05").statement == (
        "the answer is the true one with probability 0.909443, less than the 19/20 asked: take a larger epsilon."
    )


def test_guarantees_and_reprs_show_public_facts_only() -> None:
    secret = 123456789
    laws = [laplace(secret, 1), gaussian(secret, "0.5"), truncated_laplace(secret, 1, "1e-6"),
            randomised_response(secret, 10**9, 2)]  # fmt: skip
    assert [law.guarantee for law in laws] == [Pure(1), Zcdp("0.5"), Approx(1, "1e-6"), Pure(2)]
    for law in laws:
        assert "123456" not in repr(law)
        assert "123456" not in str(law.accuracy("0.1"))


def test_seeded_draws_are_marked_and_repeat() -> None:
    for law in LAWS:
        draw = law.sample(source=seeded_not_private(5))
        assert draw == law.sample(source=seeded_not_private(5))
        assert repr(draw).startswith("NotPrivate(")
    assert type(LAWS[0].sample()) is int


def test_huge_values_and_sensitivities() -> None:
    law = laplace(10**40, 1, sensitivity=10**30)
    assert abs(law.sample() - 10**40) < 10**33  # farther with probability e^-1000
    assert randomised_response(2**63, 2**64, 60).sample() == 2**63  # otherwise with probability 2^64·e^-60 = 1.6e-7
    assert randomised_response(0, 1, 1).sample() == 0


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: laplace(1, 0), "epsilon must be above 0; give a positive number such as 1 or '0.1'."),
    (lambda: laplace(1, nan), "epsilon must be finite; give an ordinary number such as 1 or '0.1'."),
    (lambda: laplace(1.5, 1), "value must be a whole number; give an int."),  # type: ignore[arg-type]
    (lambda: laplace(1, 1, sensitivity=0), "sensitivity must be at least 1."),
    (lambda: gaussian(1, -1), "rho must be above 0; give a positive number such as 1 or '0.1'."),
    (lambda: truncated_laplace(1, 1, 0), "delta must lie strictly between 0 and 1."),
    (lambda: truncated_laplace(1, 1, 1), "delta must lie strictly between 0 and 1."),
    (lambda: truncated_laplace(1, 0, "0.1"), "epsilon must be above 0; give a positive number such as 1 or '0.1'."),
    (
        lambda: randomised_response(3, 3, 1),
        "index must be below size; give the place of the true answer among them, from 0.",
    ),
    (lambda: randomised_response(0, 0, 1), "size must be at least 1."),
    (lambda: laplace(1, 1).reach(1), "beta must lie strictly between 0 and 1."),
    (
        lambda: laplace(1, "1e-9").outcomes(),
        "the discrete Laplace law has too many outputs to list; take a larger budget to verify it.",
    ),
])  # fmt: skip
def test_bad_input(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == sentence
