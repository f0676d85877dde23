"""Independent values by python-flint's ball arithmetic: divergences of explicit laws, with no formula of ours."""

from fractions import Fraction
from typing import Any

from flint import arb, ctx
from hypothesis import strategies as st

ctx.prec = 400

EPSILONS = st.fractions(Fraction(1, 1000), 12, max_denominator=1000)
ORDERS = st.fractions(Fraction(1001, 1000), 60, max_denominator=1000)
DELTAS = st.builds(lambda m, k: Fraction(m, 10**k), st.integers(1, 9), st.integers(1, 14))

Ball = Any  # flint has no type stubs


def ball(x: Fraction | int) -> Ball:
    x = Fraction(x)
    return arb(x.numerator) / arb(x.denominator)


def coin(epsilon: Fraction) -> tuple[list[Ball], list[Ball]]:
    """The two laws of randomised response."""
    e = ball(epsilon).exp()
    return [e / (1 + e), 1 / (1 + e)], [1 / (1 + e), e / (1 + e)]


def renyi(p: list[Ball], q: list[Ball], order: Fraction) -> Ball:
    a = ball(order)
    return sum((x**a * y ** (1 - a) for x, y in zip(p, q, strict=True)), arb(0)).log() / (a - 1)


def kullback_leibler(p: list[Ball], q: list[Ball]) -> Ball:
    return sum((x * (x / y).log() for x, y in zip(p, q, strict=True)), arb(0))


def hockey_stick(p: list[Ball], q: list[Ball], epsilon: Fraction) -> Ball:
    e = ball(epsilon).exp()
    gaps = [x - e * y for x, y in zip(p, q, strict=True)]
    return sum((gap for gap in gaps if gap > 0), arb(0))


def gaussian_delta(rho: Fraction, epsilon: Fraction) -> Ball:
    """δ(ε) of Gaussian noise with this ρ: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), μ² = 2ρ."""
    mu, e = (2 * ball(rho)).sqrt(), ball(epsilon)
    return _normal(mu / 2 - e / mu) - e.exp() * _normal(-mu / 2 - e / mu)


def _normal(x: Ball) -> Ball:
    return (-x / arb(2).sqrt()).erfc() / 2


def just_above(value: Fraction, truth: Ball, digits: int = 11) -> bool:
    """Whether a rounded value is surely not below the truth, and equal to it to so many digits."""
    room = 1 + ball(Fraction(1, 10**digits))
    return bool(ball(value) >= truth.lower()) and bool(ball(value) <= truth * room)
