"""Noise on the integers against its exact law, at every scale."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, inf, nan

import pytest
from flint import arb, ctx

from tacit.errors import InvalidInput
from tacit.randomness import (
    asymmetric_laplace,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    truncated_laplace,
)
from tacit.randomness.discrete import _geometric
from tests.guarantees.oracle import ball
from tests.randomness.scripted import words
from tests.support import agrees

DRAWS = 10**5
HALF = Fraction(1, 2)


def normalised(weight: Callable[[int], float], reach: int) -> dict[int, float]:
    weights = {z: weight(z) for z in range(-reach, reach + 1)}
    whole = sum(weights.values())
    return {z: w / whole for z, w in weights.items()}


def test_geometric() -> None:
    law = {z: exp(-z / 2) * (1 - exp(-0.5)) for z in range(200)}
    assert agrees((geometric(HALF) for _ in range(DRAWS)), law)


def test_discrete_laplace() -> None:
    assert agrees((discrete_laplace(HALF) for _ in range(DRAWS)), normalised(lambda z: exp(-abs(z) / 2), 200))


def test_asymmetric_laplace() -> None:
    law = normalised(lambda z: exp(-0.3 * z) if z >= 0 else exp(0.7 * z), 200)
    assert agrees((asymmetric_laplace(Fraction(3, 10), Fraction(7, 10)) for _ in range(DRAWS)), law)


@pytest.mark.parametrize(("variance", "draws"), [(Fraction(37, 10), DRAWS), (Fraction(1, 5), 10**4)])
def test_discrete_gaussian(variance: Fraction, draws: int) -> None:
    law = normalised(lambda z: exp(-z * z / 2 / variance), 30)
    assert agrees((discrete_gaussian(variance) for _ in range(draws)), law)


@pytest.mark.parametrize(("epsilon", "bound", "draws"), [(Fraction(1, 10), 4, DRAWS), (HALF, 7, 3 * 10**4)])
def test_truncated_laplace(epsilon: Fraction, bound: int, draws: int) -> None:
    """A window shorter than the scale, and one longer: two ways to draw."""
    law = normalised(lambda z: exp(-epsilon * abs(z)), bound)
    assert agrees((truncated_laplace(epsilon, bound) for _ in range(draws)), law)


def test_nothing_fits_in_an_empty_window() -> None:
    assert {truncated_laplace(3, 0) for _ in range(100)} == {0}


@pytest.mark.parametrize("epsilon", ["1e9", 20, "1e-6", "1e-12", Fraction(1, 10**40), 1e-9, Fraction(10**6, 3)])
def test_scales(epsilon: str | float | Fraction) -> None:
    """ε·|z| cut into quarters; for large ε everything is zero."""
    rate = Fraction(repr(epsilon)) if isinstance(epsilon, float) else Fraction(epsilon)
    draws = [discrete_laplace(epsilon) for _ in range(5000)]
    if rate >= 20:
        assert agrees(draws, {0: (1 - exp(-float(rate))) / (1 + exp(-float(rate)))})
        return
    law = {i: (exp(-abs(i) / 4) if i >= 0 else exp(-abs(i + 1) / 4)) * (1 - exp(-0.25)) / 2 for i in range(-80, 80)}
    assert agrees((z * rate * 4 // 1 for z in draws), law)


def test_gaussian_scales() -> None:
    """Standard deviations cut into halves, at a scale no table could hold."""
    with ctx.workprec(100):
        ends = [float((-arb(i) / 2 / arb(2).sqrt()).erfc() / 2) for i in range(-12, 13)]
    law = {i: ends[i + 13] - ends[i + 12] for i in range(-12, 12)}
    assert agrees((discrete_gaussian(10**60) * 2 // 10**30 for _ in range(5000)), law)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**12), Fraction(3, 7), Fraction(10**9)])
def test_the_floor_is_decided_with_as_many_bits_as_it_takes(epsilon: Fraction) -> None:
    """An exponential just below a multiple of ε, and just above, by 2^-120."""
    for multiple in (1, 5):
        edge = int(multiple * epsilon * 2**128 // 1)
        for beside, expected in ((-(2**8), multiple - 1), (2**8, multiple)):
            whole, fraction = divmod(edge + beside, 2**128)
            if whole:
                continue
            top, rest = divmod(fraction, 2**64)
            # words of one request come last first: F = top, then a larger one accepts; then F's further bits
            source = words(0, 0, 0, 0, 2**64 - 1, top, rest)
            assert _geometric(epsilon.numerator, epsilon.denominator, source) == expected
            assert source.asked >= 6 * 64


def test_the_difference_of_geometrics_is_the_asymmetric_law() -> None:
    """Σ_y P[X = z + y]·P[Y = y] in flint's balls equals the promised law, z = −3, …, 3."""
    a, b = ball(Fraction(3, 10)), ball(Fraction(7, 10))
    mass = 1 / (1 - (-a).exp()) + (-b).exp() / (1 - (-b).exp())
    for z in range(-3, 4):
        total = arb(0)
        for y in range(max(0, -z), 1500):
            total += (1 - (-a).exp()) * (-a * (z + y)).exp() * (1 - (-b).exp()) * (-b * y).exp()
        law = ((-a * z).exp() if z >= 0 else (b * z).exp()) / mass
        assert abs(total - law) < arb(2) ** -300


BAD = (0, -1, "-0.5", nan, inf, "many", None, True)


@pytest.mark.parametrize("sampler", [
    geometric,
    discrete_laplace,
    lambda epsilon: truncated_laplace(epsilon, 3),
])  # fmt: skip
@pytest.mark.parametrize("value", BAD)
def test_bad_epsilon(sampler: Callable[[object], int], value: object) -> None:
    with pytest.raises(InvalidInput, match=r"^epsilon must [^.]*(\. ?[^.]*)*\.$"):
        sampler(value)


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: geometric(0), "epsilon must be above 0; give a positive number such as 1 or '0.1'."),
    (lambda: discrete_laplace(nan), "epsilon must be finite; give an ordinary number such as 1 or '0.1'."),
    (lambda: discrete_gaussian(0), "variance must be above 0; give a positive number such as 1 or '0.1'."),
    (lambda: asymmetric_laplace(0, 1), "above must be above 0; give a positive number such as 1 or '0.1'."),
    (lambda: asymmetric_laplace(1, -1), "below must be above 0; give a positive number such as 1 or '0.1'."),
    (lambda: truncated_laplace(1, -1), "bound must be at least 0."),
    (lambda: truncated_laplace(1, 2.5), "bound must be a whole number; give an int."),  # type: ignore[arg-type]
])  # fmt: skip
def test_bad_input(call: Callable[[], int], sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == sentence
