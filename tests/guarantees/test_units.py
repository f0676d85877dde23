"""The currency of tight budgets, against exact laws in rational arithmetic, with broken prices."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.guarantees import units
from tacit.guarantees.mechanisms import (
    Concentrated,
    DiscreteGaussian,
    Ends,
    Exponential,
    Gaussian,
    Laplace,
    Lopsided,
    Mechanism,
    RandomisedResponse,
    Sampled,
)
from tacit.numbers.enclosures import Enclosure, exp, log
from tests.guarantees.oracle import ball, gaussian_delta

F = Fraction
ONE = units.ONE
K = 20
"""Coarse steps, of about 0.05, so that laws are short enough to be summed exactly."""

Law = dict[int, Fraction]
"""Masses of losses in steps."""


def power(j: int) -> Fraction:
    return F(K + 1, K) ** j


def coins(n: int) -> Law:
    return {2 * i - n: F(comb(n, i) * (K + 1) ** i * K ** (n - i), (2 * K + 1) ** n) for i in range(n + 1)}


def both(a: Law, b: Law) -> Law:
    found: Law = {}
    for i, p in a.items():
        for j, q in b.items():
            found[i + j] = found.get(i + j, F(0)) + p * q
    return found


def stick(law: Law, j: int) -> Fraction:
    """H at e^{hj}, exactly: every loss is a whole number of steps."""
    return sum((p * (1 - power(j - loss)) for loss, p in law.items() if loss > j), F(0))


def two_ends(up: int, down: int) -> Law:
    q = (1 - power(-down)) / (power(up) - power(-down))
    return {up: q * power(up), -down: 1 - q * power(up)}


def within(law: Law, most: Law, slack: Fraction) -> bool:
    """Domination, decided at every loss of either."""
    reach = max(map(abs, (*law, *most))) + 1
    return all(stick(law, j) <= stick(most, j) + slack for j in range(-reach, reach + 1))


def test_tosses_and_their_hockey_stick_are_exact_to_the_last_bits() -> None:
    for n in (0, 1, 7, 40):
        first, masses = units.tosses(K, n)
        law, found = coins(n), units.stick_of_tosses(K, n)
        for i, mass in enumerate(masses):
            assert abs(F(mass, ONE) - law[2 * (first + i) - n]) < F(1, 2**110)
        for j in range(n + 2):
            assert abs(F(found[j] if j < len(found) else 0, ONE) - stick(law, j)) < F(1, 2**100)


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 15))
@settings(max_examples=10, deadline=None)
def test_a_price_dominates_exactly_and_one_unit_less_does_not(up: int, down: int, beside: int) -> None:
    step = log(F(K + 1, K), 200).low
    price = units.price(Ends(up * step, down * step), K, beside, 400)
    assert price is not None
    left = both(two_ends(up, down), coins(beside))
    assert within(left, coins(beside + price), units.SLACK)
    broken = price - 1  # the twin: the same check must catch it
    assert not within(left, coins(beside + broken), F(1, 10**9)) or broken == 0


def test_a_price_falls_with_what_it_is_beside_towards_the_variance() -> None:
    prices = [units.price(RandomisedResponse(F(1, 2)), 200, beside, 30000) for beside in (0, 2000, 20000, 100000)]
    assert all(price is not None for price in prices)
    assert sorted(prices, key=lambda p: -(p or 0)) == prices
    variance = F(1, 4) * 200**2
    assert variance * F("0.97") < (prices[-1] or 0) < variance * F("1.04")
    assert (prices[0] or 0) > variance * F("1.5")  # π/2 beside nothing


def masses_of(noise: list[float], shift: int) -> tuple[list[float], list[float]]:
    return noise, [*noise[-shift:], *noise[:-shift]]


def summed_stick(p: list[float], q: list[float], x: float) -> float:
    return sum(max(0.0, a - x * b) for a, b in zip(p, q, strict=True))


def test_hockey_sticks_of_noise_on_the_integers_summed_one_by_one() -> None:
    from math import exp as e

    for d in (1, 2, 5):
        r, v = 0.8 / d, d * d / (2 * 0.1)
        whole = sum(e(-r * abs(z)) for z in range(-400, 401))
        wide = sum(e(-z * z / (2 * v)) for z in range(-400, 401))
        laplace, gaussian = Laplace(F(4, 5), d), DiscreteGaussian(F(1, 10), d)
        for gamma in (0, 0.1, 0.33, 0.7, 0.79, 1.5):
            x = exp(F(str(gamma)), 160)
            p, q = masses_of([e(-r * abs(z)) / whole for z in range(-400, 401)], d)
            assert float(laplace.stick(x)) == pytest.approx(summed_stick(p, q, e(gamma)), abs=1e-12)
            p, q = masses_of([e(-z * z / (2 * v)) / wide for z in range(-400, 401)], d)
            assert float(gaussian.stick(x)) == pytest.approx(summed_stick(p, q, e(gamma)), abs=1e-12)


def test_gaussian_noise_has_its_known_curve_and_the_integers_come_close_to_it() -> None:
    for rho, gamma in ((F(1, 200), F(1, 10)), (F(1, 2), F(1)), (F(1, 2), F(6))):
        x = exp(gamma, 200)
        truth = gaussian_delta(rho, gamma)
        found = Gaussian(rho).stick(x)
        assert ball(found.low) <= truth <= ball(found.high)
        assert found.width * 10**20 < found.high
        fine = DiscreteGaussian(rho, 10**4).stick(x)
        assert abs(float(fine.high / found.high) - 1) < 1e-3
        assert Concentrated(rho).stick(x).high >= found.high


def test_the_exponential_mechanism_is_covered_by_its_cases() -> None:
    whole = Exponential(F(1))
    cases = [case for case in whole.cases() if isinstance(case, Ends)]
    for t in range(1, 200):
        top = F(t, 200)
        assert any((c.up >= top and c.down >= 1 - top) or (c.up >= 1 - top and c.down >= top) for c in cases)
    for gamma in ("0", "0.3", "0.9"):
        x = exp(F(gamma), 160)
        envelope = max(float(Ends(F(t, 500), 1 - F(t, 500)).stick(x)) for t in range(1, 500))
        assert envelope <= float(whole.stick(x)) <= envelope * 1.001


def test_a_sample_has_the_hockey_stick_of_the_mixture_in_both_orders() -> None:
    p, e = F(1, 5), F(1)
    for gamma in ("0", "0.05", "0.1", "0.2"):
        x, height = exp(F(gamma), 160), float(exp(e))
        inside, outside = [height / (1 + height), 1 / (1 + height)], [1 / (1 + height), height / (1 + height)]
        mixed = [0.8 * b + 0.2 * a for a, b in zip(inside, outside, strict=True)]
        ways = [summed_stick(mixed, outside, float(x)), summed_stick(outside, mixed, float(x))]
        assert float(Sampled(RandomisedResponse(e), p).stick(x)) == pytest.approx(max(ways), abs=1e-12)


MECHANISMS: list[Mechanism] = [
    RandomisedResponse(F(1, 2)),
    RandomisedResponse(F(1, 2), 5),
    Laplace(F(1, 2), None),
    Laplace(F(1, 2), 7),
    Exponential(F(1, 2)),
    Lopsided(F(1, 2), F(1, 5)),
    Gaussian(F(1, 20)),
    DiscreteGaussian(F(1, 20), 3),
    Concentrated(F(1, 20)),
    Sampled(Gaussian(F(1, 5)), F(1, 10)),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_the_atoms_of_a_mechanism_are_never_below_its_hockey_stick(mechanism: Mechanism) -> None:
    found, lost = units.atoms(mechanism, 50)
    x = units.powers(50, 400)
    for j in range(0, 60, 3):
        shown = lost + sum(mass - mass * x[j] // x[loss] for loss, mass in found if loss > j)
        truth = mechanism.stick(Enclosure(x[j], x[j] + 2, -units.BITS, 160))
        if type(mechanism) is Concentrated:  # the bound is not convex: no law reaches it, and Gaussian noise comes near
            truth = Gaussian(mechanism.rho).stick(Enclosure(x[j], x[j] + 2, -units.BITS, 160))
        assert F(shown, ONE) >= truth.low - F(1, 2**80)
        assert F(shown, ONE) <= truth.high + (F(1, 20) if type(mechanism) is Concentrated else F(1, 200))
