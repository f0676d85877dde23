"""Numerical composition against exact curves and against the library itself."""

import sys
from fractions import Fraction

import pytest

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, LossDistribution, Pure, RenyiCurve, Zcdp
from tacit.guarantees.loss_distribution import FLOAT_ERROR
from tests.guarantees.oracle import ball, coin, gaussian_delta, hockey_stick

DELTA = Fraction(1, 10**6)


def exact_gaussian(rho: Fraction, delta: Fraction) -> Fraction:
    """The ε of Gaussian noise at δ, by bisection on its exact curve."""
    low, high = Fraction(0), Fraction(64)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(rho, middle) > ball(delta) else (low, middle)
    return high


def test_a_hundred_gaussians_agree_with_the_exact_curve_with_the_library_and_with_zcdp() -> None:
    from dp_accounting import pld

    exact = exact_gaussian(Fraction("0.5"), DELTA)
    ours = (LossDistribution.gaussian("0.005") * 100).to(Approx, delta=DELTA)
    assert exact <= ours.epsilon <= exact * Fraction("1.00001")

    library = pld.privacy_loss_distribution.from_gaussian_mechanism(10.0).self_compose(100)
    optimistic = pld.privacy_loss_distribution.from_gaussian_mechanism(
        10.0, pessimistic_estimate=False, use_connect_dots=False
    ).self_compose(100)
    pessimistic = Fraction(library.get_epsilon_for_delta(1e-6))
    own_error = abs(pessimistic - Fraction(optimistic.get_epsilon_for_delta(1e-6)))
    assert 0 <= ours.epsilon - pessimistic <= Fraction("0.00001")
    assert abs(exact - pessimistic) <= own_error

    by_zcdp = (Zcdp("0.005") * 100).to(Approx, delta=DELTA)
    assert pessimistic <= by_zcdp.epsilon <= pessimistic * Fraction("1.08")
    assert ours <= by_zcdp


def test_one_coin_has_its_exact_curve() -> None:
    one = LossDistribution.of(Pure(1))
    for epsilon in (Fraction(0), Fraction("0.5"), Fraction("0.999")):
        truth = hockey_stick(*coin(Fraction(1)), epsilon)
        assert ball(one.delta(epsilon)) > truth
        assert ball(one.delta(epsilon)) < truth + 2 * ball(FLOAT_ERROR)
    exact = Pure(1).to(Approx, delta=DELTA)
    assert exact <= one.to(Approx, delta=DELTA) <= exact * Fraction("1.0000001")
    assert one.delta(1) == FLOAT_ERROR


def test_composition_is_never_worse_than_the_renyi_curve_and_orders_as_it_should() -> None:
    laplace = (LossDistribution.laplace("0.1") * 50).to(Approx, delta=DELTA)
    lattice = (LossDistribution.discrete_laplace("0.1", 1) * 50).to(Approx, delta=DELTA)
    fine = (LossDistribution.discrete_laplace("0.1", 100) * 50).to(Approx, delta=DELTA)
    pure = (LossDistribution.of(Pure("0.1")) * 50).to(Approx, delta=DELTA)
    assert laplace < fine < lattice
    assert fine <= laplace * Fraction("1.001")
    assert abs(lattice.epsilon - pure.epsilon) < Fraction("0.0001")
    assert laplace <= (RenyiCurve.laplace("0.1") * 50).to(Approx, delta=DELTA)
    assert lattice <= (RenyiCurve.discrete_laplace("0.1") * 50).to(Approx, delta=DELTA)


def test_gaussian_noise_on_the_integers_is_covered_by_its_zcdp() -> None:
    found = (LossDistribution.discrete_gaussian("0.02", 3) * 10).to(Approx, delta=DELTA)
    assert found <= Zcdp("0.2").to(Approx, delta=DELTA)
    assert found.epsilon >= exact_gaussian(Fraction("0.2"), DELTA) * Fraction("0.999")


def test_sums_and_sampling() -> None:
    mixed = LossDistribution.gaussian("0.05") + LossDistribution.of(Approx("0.1", "1e-7"))
    assert mixed.delta("0.1") > Fraction(1, 10**7)
    assert LossDistribution.gaussian("0.05").epsilon(DELTA) < mixed.epsilon(DELTA)
    assert repr(mixed * 2) == "(LossDistribution.gaussian(0.05) + LossDistribution.of(Approx(0.1, 1e-07))) * 2"
    sampled = LossDistribution.gaussian("0.5", sampling="0.01") * 100
    assert sampled.epsilon(DELTA) < (LossDistribution.gaussian("0.5") * 100).epsilon(DELTA) / 10


def test_bad_input() -> None:
    one = LossDistribution.gaussian("0.05")
    with pytest.raises(InvalidInput, match="same interval"):
        one + LossDistribution.gaussian("0.05", interval="0.001")
    with pytest.raises(InvalidInput, match="composes with another one"):
        one + Pure(1)  # type: ignore[operator]
    with pytest.raises(InvalidInput, match="precision of this computation"):
        one.epsilon("1e-12")
    with pytest.raises(InvalidInput, match="no finite epsilon"):
        LossDistribution.of(Approx(1, "1e-3")).epsilon("1e-4")
    with pytest.raises(InvalidInput, match="Approx only"):
        one.to(Pure, delta=DELTA)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="must be Pure or Approx"):
        LossDistribution.of(Zcdp(1))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="beyond double precision"):
        LossDistribution.of(Pure("1e400"))
    with pytest.raises(InvalidInput, match="times must be at least 1"):
        one * 0
    assert not isinstance(one, Guarantee)  # so no budget takes it: it must not serve as an adaptive filter


def test_without_the_library_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(InvalidInput, match=r"pip install tacit\[accounting\]"):
        LossDistribution.gaussian(1)
