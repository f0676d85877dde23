"""Second moments, correlations and lines lie in their intervals wherever the noise stays within its reach."""

from fractions import Fraction
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.answers.moments import MEANS, Correlation, Fitted, Gram, SecondMoment
from tacit.answers.quotients import Quotient
from tacit.answers.storing import decode, encode
from tacit.noises import DiscreteGaussian, DiscreteLaplace, Lopsided, Noise
from tests.answers.test_quotients import NOISE, inside

SURE = Fraction(9, 10)
sums = st.integers(-40, 400)


@given(sums, st.integers(100, 400), sums, sums, st.booleans(), st.sampled_from(("mean product", "total")), st.randoms())
def test_a_second_moment_lies_in_its_interval_for_every_box(
    top: int, bottom: int, one: int, other: int, alone: bool, wanted: Any, random: Any
) -> None:
    means = tuple(Quotient(s, bottom, NOISE, NOISE, 0.5, -0.25) for s in ([one] if alone else [one, other]))
    spread = SecondMoment(top, bottom, NOISE, NOISE, 0.1, means, wanted)
    low, high = spread.interval(spread.value, SURE)
    level = (1 + float(1 - (1 - SURE) * (1 - MEANS))) / 2
    a, n = inside(NOISE, level, top, random), inside(NOISE, level, bottom, random)
    offs = [-0.25 + 0.5 * inside(NOISE, level, mean.top, random) / n for mean in means]
    truth = 0.1 * a / n - offs[0] * offs[-1]
    truth *= n if wanted == "total" else 1
    assert low - 1e-9 <= (max(truth, 0) if alone else truth) <= high + 1e-9
    assert low <= spread.value <= high
    assert spread.std >= 0


def test_a_standard_deviation_is_the_root_and_few_rows_bound_nothing() -> None:
    mean = (Quotient(0, 400, NOISE, NOISE),)
    parts: tuple[Any, ...] = (9000, 400, NOISE, NOISE, 0.1, mean)
    variance, deviation = SecondMoment(*parts), SecondMoment(*parts, "root")
    assert deviation.value == pytest.approx(sqrt(variance.value)) == pytest.approx(sqrt(2.25))
    assert deviation.interval(0, SURE) == pytest.approx([sqrt(end) for end in variance.interval(0, SURE)])
    assert deviation.std == pytest.approx(variance.std / (2 * deviation.value))
    assert SecondMoment(9000, 3, NOISE, NOISE, 0.1, mean).interval(0, SURE) == (0, inf)


def made(noise: Noise, scale: float, seed: int, columns: int = 3) -> tuple[Gram, Gram]:
    """Sums of products with noise of this size and without."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 40, (4000, columns))
    X[:, 0] += X[:, 1:] @ np.arange(2, columns + 1) + 30
    Z = np.rint(X)
    pairs = [Z[:, j] @ Z[:, k] for j in range(columns) for k in range(j, columns)]
    exact = [500 * len(Z), *(20 * Z.sum(axis=0)), *pairs]
    drawn = (
        rng.laplace(0, scale, len(exact)) if isinstance(noise, DiscreteLaplace) else rng.normal(0, scale, len(exact))
    )
    steps, centres = (0.5, 2.0, 0.1)[:columns], (7.0, -3.0, 100.0)[:columns]
    grams = (
        Gram(tuple(int(x) for x in entries), (500, 20), noise, steps, centres) for entries in (exact + drawn, exact)
    )
    return next(grams), next(grams)


LAPLACE, GAUSSIAN = DiscreteLaplace(Fraction(1, 30_000)), DiscreteGaussian(Fraction(9 * 10**8))


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_lines_and_correlations_lie_in_their_intervals(noise: Noise) -> None:
    """Ninety intervals of 90 % each way miss more than 25 with a probability below 10^-6."""
    missed = {"line": 0, "correlation": 0}
    for seed in range(30):
        noisy, exact = made(noise, 30_000, seed)
        for place in range(3):
            line = Fitted(noisy, place)
            low, high = line.interval(line.value, SURE)
            missed["line"] += not low <= Fitted(exact, place).value <= high
            assert low <= line.value <= high
            assert high < inf
        two, plain = (Gram(g.sums[:3] + g.sums[4:6] + g.sums[7:8], *_rest(g)) for g in (noisy, exact))
        for squared in (False, True):
            found = Correlation(two, squared)
            low, high = found.interval(found.value, SURE)
            missed["correlation"] += not low <= Correlation(plain, squared).value <= high
            assert -1 <= low <= found.value <= high <= 1
    assert max(missed.values()) <= 25, missed


def _rest(gram: Gram) -> Any:
    return gram.weights, gram.noise, gram.steps[:2], gram.centres[:2]


def test_a_line_without_noise_is_least_squares_in_the_columns_own_units() -> None:
    _, exact = made(LAPLACE, 0, 1)
    rng = np.random.default_rng(1)
    X = rng.normal(0, 40, (4000, 3))
    X[:, 0] += X[:, 1:] @ np.arange(2, 4) + 30
    own = np.rint(X) * exact.steps + exact.centres
    expected = np.linalg.lstsq(np.column_stack([np.ones(4000), own[:, 1:]]), own[:, 0], rcond=None)[0]
    assert [Fitted(exact, place).value for place in range(3)] == pytest.approx(expected, rel=1e-6)


def test_a_line_of_nothing_but_noise_is_not_bounded() -> None:
    noisy = Gram((0, 3, -4, 10, 2, -5), (500, 20), LAPLACE, (1.0, 1.0), (0.0, 0.0))
    for place in range(2):
        assert Fitted(noisy, place).interval(0.0, SURE) == (-inf, inf)
    assert Correlation(noisy).interval(0.0, SURE) == (-1, 1)


@settings(max_examples=20)
@given(st.lists(st.floats(0.05, 1), min_size=2, max_size=6), st.sampled_from((0.9, 0.95, 0.99, 0.999)))
def test_a_sum_of_noises_reaches_no_farther_than_one_noise_or_a_normal_law(shares: list[float], sure: float) -> None:
    """By the characteristic function of the sum of independent Laplace noises, 1/(1 + s²b²) each."""
    widths = np.array(shares) / sqrt(2 * sum(share * share for share in shares))  # a standard deviation of one
    gram = Gram((0,) * 6, (1, 1), LAPLACE, (1.0, 1.0), (0.0, 0.0))
    s = (np.arange(200_000) + 0.5) * 0.002
    law = np.prod(1 / (1 + np.outer(s, widths) ** 2), axis=1)
    within = 2 / np.pi * np.sum(np.sin(s * gram.reach_of_sums(sure)) / s * law) * 0.002
    assert within >= sure - 2e-4


def test_what_second_moments_hold_is_stored() -> None:
    gram = made(LAPLACE, 30_000, 3)[0]
    mean = (Quotient(3, 400, Lopsided(Fraction(1, 7), Fraction(1, 9)), NOISE),)
    for spread in (SecondMoment(9, 4, NOISE, NOISE, 0.1, mean, "root"), Fitted(gram, 1), Correlation(gram, True)):
        assert decode(encode(spread)) == spread
