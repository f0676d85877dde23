"""Noises for smooth sensitivity: exact tails against flint, conditions met and used up, samplers against tails."""

from fractions import Fraction
from math import exp, inf, log, pi, sin, sqrt

import pytest
from flint import acb, arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from tacit.errors import InvalidInput
from tacit.noises.smooth_noises import (
    LaplaceNoise,
    LogNormalNoise,
    PowerNoise,
    SmoothNoise,
    StudentNoise,
    best_gamma,
)
from tacit.numbers.enclosures import Enclosure
from tacit.randomness import SYSTEM
from tests.support import agrees

NOISES: list[SmoothNoise] = [
    StudentNoise(Fraction(1)),
    StudentNoise(Fraction(1), 3),
    PowerNoise(Fraction(1), Fraction(3)),
    PowerNoise(Fraction(1)),
    LaplaceNoise(Fraction(1), Fraction(1, 10**6)),
    LogNormalNoise(Fraction(1, 2)),
]
LIGHT = PowerNoise(Fraction(1), Fraction(9, 2))
POINTS = [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(30)]


def holds(enclosure: Enclosure, value: arb) -> bool:
    """Whether a ball and an enclosure surely overlap."""
    low, high = (arb(x.numerator) / arb(x.denominator) for x in (enclosure.low, enclosure.high))
    return not bool(value < low) and not bool(value > high)


def real(x: Fraction) -> arb:
    return arb(x.numerator) / arb(x.denominator)


@pytest.fixture(autouse=True)
def _precise() -> None:
    ctx.prec = 300


@pytest.mark.parametrize("d", range(1, 8))
def test_student_tails(d: int) -> None:
    """P[Z > z] = ½·I_{d/(d+z²)}(d/2, ½), the regularised incomplete beta function."""
    for z in POINTS:
        found = StudentNoise(Fraction(1), d).tail(z, 128)
        share = real(Fraction(d) / (d + z * z))
        oracle = acb(share).beta_lower(acb(d) / 2, acb(1) / 2, regularized=1).real / 2
        assert holds(found, oracle)
        assert found.width <= found.low / 2**100


@pytest.mark.parametrize("gamma", [Fraction(3, 2), Fraction(2), Fraction(27, 10), Fraction(4)])
def test_power_tails(gamma: Fraction) -> None:
    """The integral of 1/(1 + u^γ) from z on over π/(γ·sin(π/γ)), twice."""
    g = float(gamma)
    whole = pi / g / sin(pi / g)
    noise = PowerNoise(Fraction(1), gamma)
    for z in POINTS:
        found = noise.tail(z, 128)
        if z >= 1:
            w = acb(-(real(z) ** real(-gamma)))
            a = real(1 - 1 / gamma)
            far = (w.hypgeom_2f1(1, a, a + 1)).real * real(z) ** real(1 - gamma) / real(gamma - 1)
            assert float(found) == pytest.approx(float(far) / (2 * whole), rel=1e-12)
        assert found.width <= found.low / 2**100
    assert noise.tail(Fraction(0)).low <= Fraction(1, 2) <= noise.tail(Fraction(0)).high


def test_laplace_log_normal_tails() -> None:
    """Against flint's rigorous integration."""
    noise = LogNormalNoise(Fraction(1, 2))
    for z in (Fraction(1, 3), Fraction(5, 2)):

        def integrand(y: acb, analytic: bool, z: Fraction = z) -> acb:
            return (-y * y / 2 - real(z) * (y / 2).exp()).exp() / acb(2 * arb.pi()).sqrt()

        ctx.prec = 80
        oracle = acb.integral(integrand, acb(-12), acb(12)).real / 2
        found = noise.tail(z, 64)
        slack = arb(0, 1e-20)  # what lies beyond ±12
        assert holds(found, oracle + slack)
        assert found.width <= Fraction(1, 2**60)


def test_parameters_meet_their_conditions_and_use_them_up() -> None:
    for noise in NOISES:
        decay, shift = noise.parameters()
        t, s = -log(decay), float(shift)
        if isinstance(noise, StudentNoise):
            d = noise.degrees
            spent = s * (d + 1) / (2 * sqrt(d)) + t * d
        elif isinstance(noise, PowerNoise):
            g = float(noise.gamma)
            spent = s * (g - 1) ** ((g - 1) / g) + t * max(1, g - 1)
        elif isinstance(noise, LaplaceNoise):
            spent = max(s + t, 1 + s - t - 1 + (exp(t) - 1) * log(10**6))
        else:
            spent = s * exp(1.5 * 0.25) + t / 0.5
        assert 0.999 <= spent <= 1 + 1e-12, noise


@pytest.mark.parametrize("noise", [n for n in NOISES if isinstance(n, StudentNoise | PowerNoise)], ids=repr)
@given(z=st.floats(-60, 60), shift=st.floats(-1, 1), scale=st.floats(-1, 1))
def test_densities_never_differ_by_more_than_epsilon(noise: SmoothNoise, z: float, shift: float, scale: float) -> None:
    """ln h(z) − ln(e^λ·h(e^λ(z + Δ))) ≤ ε for |Δ| ≤ s and |λ| ≤ t: the proof's claim, point by point."""

    def log_density(x: float) -> float:
        if isinstance(noise, StudentNoise):
            return -(noise.degrees + 1) / 2 * log(1 + x * x / noise.degrees)
        assert isinstance(noise, PowerNoise)
        return -log(1 + abs(x) ** float(noise.gamma))

    decay, s = noise.parameters()
    stretch = -log(decay) * scale
    ratio = log_density(z) - stretch - log_density(exp(stretch) * (z + float(s) * shift))
    assert abs(ratio) <= 1 + 1e-9


def test_the_shape_of_power_noise_is_the_best_in_tenths() -> None:
    assert best_gamma() == Fraction(27, 10) == PowerNoise(Fraction(1)).gamma


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_samplers_agree_with_their_tails(noise: SmoothNoise) -> None:
    """False alarm 1e-7."""
    draws = 4000 if isinstance(noise, LogNormalNoise) else 10_000
    edges = [Fraction(i, 2) + Fraction(1, 4) for i in range(-9, 9)]
    chances = {i / 2: float(noise.mass(edges[i + 8], edges[i + 9])) for i in range(-8, 8)}
    found = [float(noise.draw(Fraction(0), Fraction(1), Fraction(1, 2), SYSTEM)) for _ in range(draws)]
    assert agrees(found, chances)


def test_reach_is_a_quantile_of_the_size() -> None:
    for noise in NOISES[:5]:
        down, reach = noise.reach(Fraction(19, 20))
        assert down == reach
        assert 2 * noise.tail(reach).high <= Fraction(1, 20) < 2 * noise.tail(reach * Fraction(98, 100)).low


@pytest.mark.parametrize("noise", [*NOISES, StudentNoise(Fraction(1), 6), LIGHT], ids=repr)
def test_variances_are_those_of_the_law(noise: SmoothNoise) -> None:
    """Var Z = 4·∫ z·P[Z > z] dz, which grows without end where the tails are too heavy."""

    def second_moment(end: float) -> float:
        found = quad(lambda u: 4 * exp(2 * u) * float(noise.tail(Fraction(exp(u)), 32)), -12, log(end), limit=200)
        return float(found[0])

    if noise.variance == inf:
        assert second_moment(1e6) > second_moment(1e3) + 1
    else:
        assert second_moment(1e6) == pytest.approx(noise.variance, rel=1e-2)


def test_a_budget_that_admits_no_scale_is_refused() -> None:
    with pytest.raises(InvalidInput, match="admits no scale"):
        LaplaceNoise(Fraction(1, 10**9), Fraction(1, 10**300)).parameters()
