"""Continuous noise on a lattice: the share of every cell against the integral of the density."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import atan, exp, inf, nan, pi, sqrt

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr, stdtr

from tacit.errors import InvalidInput
from tacit.numbers.exact import Number
from tacit.randomness import continuous, rounded_gaussian, rounded_laplace, rounded_power, rounded_student
from tacit.randomness.continuous import _integer_root, _power
from tests.guarantees.oracle import ball
from tests.support import agrees

DRAWS = 3 * 10**4
CENTER, SCALE, LATTICE = Fraction(1, 3), Fraction(3, 2), Fraction(1, 2)
Cdf = Callable[[float], float]


def cells(cdf: Cdf, center: Fraction, scale: Fraction, lattice: Fraction, reach: int) -> dict[Fraction, float]:
    """P[nearest multiple = k·lattice] for |k| ≤ reach."""

    def below(k: int) -> float:
        return float(cdf(float((k - Fraction(1, 2)) * lattice - center) / float(scale)))

    return {k * lattice: below(k + 1) - below(k) for k in range(-reach, reach + 1)}


def check(draws: Iterable[Fraction], cdf: Cdf) -> bool:
    return agrees(draws, cells(cdf, CENTER, SCALE, LATTICE, 60))


def laplace(z: float) -> float:
    return exp(z) / 2 if z < 0 else 1 - exp(-z) / 2


def student(degrees: float) -> Cdf:
    return lambda z: float(stdtr(degrees, z))


def power_cdf(gamma: float) -> Cdf:
    """The law of density ∝ 1/(1 + |z|^γ), by quadrature."""
    half = quad(lambda z: 1 / (1 + z**gamma), 0, 1)[0] + quad(lambda z: 1 / (1 + z**gamma), 1, inf)[0]

    def cdf(z: float) -> float:
        part = quad(lambda x: 1 / (1 + x**gamma), 0, abs(z), limit=200)[0] / half / 2
        return 0.5 + part if z > 0 else 0.5 - part

    return cdf


def test_laplace() -> None:
    assert check((rounded_laplace(CENTER, SCALE, LATTICE) for _ in range(DRAWS)), laplace)


def test_gaussian() -> None:
    assert check((rounded_gaussian(CENTER, SCALE, LATTICE) for _ in range(DRAWS)), ndtr)


@pytest.mark.parametrize(
    ("degrees", "draws"), [(3, DRAWS), (1, 5000), (4, 5000), ("2.5", 4000), ("0.5", 4000), ("3.142", 2000), (40, 2000)]
)
def test_student(degrees: Number, draws: int) -> None:
    law = student(float(degrees))
    assert check((rounded_student(CENTER, SCALE, LATTICE, degrees) for _ in range(draws)), law)


@pytest.mark.parametrize(("gamma", "draws"), [(4, DRAWS), ("2.7", 4000), ("1.5", 4000), ("2.718", 2000), (40, 2000)])
def test_power(gamma: Number, draws: int) -> None:
    law = power_cdf(float(gamma))
    assert check((rounded_power(CENTER, SCALE, LATTICE, gamma) for _ in range(draws)), law)


def test_power_two_is_cauchy() -> None:
    assert check((rounded_power(CENTER, SCALE, LATTICE, 2) for _ in range(10**4)), lambda z: 0.5 + atan(z) / pi)


def test_refinement_from_two_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly every decision needs refinement, and the laws do not feel it."""
    monkeypatch.setattr(continuous, "WORD", 2)
    assert check((rounded_laplace(CENTER, SCALE, LATTICE) for _ in range(10**4)), laplace)
    assert check((rounded_gaussian(CENTER, SCALE, LATTICE) for _ in range(10**4)), ndtr)
    assert check((rounded_student(CENTER, SCALE, LATTICE, 3) for _ in range(10**4)), student(3))
    assert check((rounded_power(CENTER, SCALE, LATTICE, "2.7") for _ in range(5000)), power_cdf(2.7))


@given(st.one_of(st.integers(0, 10**6), st.integers(0, 2**3000)), st.integers(1, 64), st.integers(-1, 1))
def test_integer_roots(x: int, m: int, beside: int) -> None:
    """Also just beside a perfect power."""
    for number in (x, max(0, (x % 2**64) ** m + beside)):
        root = _integer_root(number, m)
        assert root**m <= number < (root + 1) ** m


@given(
    st.integers(0, 2**129),
    st.integers(1, 5),
    st.fractions(Fraction(1, 99), 40, max_denominator=99),
    st.integers(64, 128),
)
def test_powers_in_fixed_point(low: int, width: int, exponent: Fraction, bits: int) -> None:
    """By roots or by logarithms, both ends are on their side and close."""
    below, above = _power((low, low + width), exponent, bits)
    with ctx.workprec(8000):
        least, most = (
            (arb(end) / arb(2) ** bits) ** ball(exponent) * arb(2) ** bits if end else arb(0)
            for end in (low, low + width)
        )
        assert not least < below
        assert not most > above
        if low:
            assert above - most <= 4 + most / 2**50
            assert least - below <= 4 + least / 2**50


@pytest.mark.parametrize("scale", [Fraction(1, 10**30), Fraction(10**30)])
def test_any_scale_on_the_same_lattice(scale: Fraction) -> None:
    """A scale far below the lattice leaves the nearest multiple; one far above decides many digits."""
    draws = [rounded_laplace("1.37", scale, "0.01") for _ in range(3000)]
    assert all((100 * draw).denominator == 1 for draw in draws)
    if scale < 1:
        assert set(draws) == {Fraction(137, 100)}
    else:
        cell = {i: laplace((i + 1) / 2) - laplace(i / 2) for i in range(-40, 40)}
        assert agrees((draw * 2 // scale for draw in draws), cell)


def test_a_center_between_two_multiples_goes_either_way() -> None:
    draws = [rounded_gaussian("0.5", "1e-40", 1) for _ in range(2000)]
    assert agrees(draws, {Fraction(0): 0.5, Fraction(1): 0.5})


def test_the_lattice_shows_neither_center_nor_scale() -> None:
    """Outputs are multiples of the lattice, whatever the center and the scale."""
    for center, scale in ((0, 1), ("0.123456789", "7/3"), (Fraction(1, 3**40), sqrt(2))):
        for sampler in (rounded_laplace, rounded_gaussian):
            assert all((sampler(center, scale, Fraction(1, 7)) * 7).denominator == 1 for _ in range(20))


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: rounded_laplace(0, 0, 1), "scale must be above 0; give a positive number such as 1 or '0.1'."),
    (lambda: rounded_laplace(0, 1, 0), "lattice must be above 0; give a positive number such as 1 or '0.1'."),
    (lambda: rounded_gaussian(nan, 1, 1), "center must be finite; give an ordinary number such as 1 or '0.1'."),
    (lambda: rounded_student(0, 1, 1, 0), "degrees must be above 0; give a positive number such as 1 or '0.1'."),
    (
        lambda: rounded_power(0, 1, 1, 1),
        "gamma must be above 1, or 1/(1 + |z|^gamma) has no finite mass; give a number such as 4.",
    ),
])  # fmt: skip
def test_bad_input(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == sentence
