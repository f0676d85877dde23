"""Composition in integers against exact curves and against dp-accounting."""

from fractions import Fraction

import pytest

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, LossDistribution, Pure, RenyiCurve, Zcdp
from tacit.numbers.enclosures import log
from tests.guarantees.oracle import ball, coin, gaussian_delta, hockey_stick

DELTA = Fraction(1, 10**6)


def exact_gaussian(rho: Fraction, delta: Fraction) -> Fraction:
    """The ε of Gaussian noise at δ, by bisection on its exact curve."""
    low, high = Fraction(0), Fraction(64)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(rho, middle) > ball(delta) else (low, middle)
    return high


def library_epsilons(name: str) -> tuple[Fraction, Fraction]:
    """What dp-accounting finds for a hundred mechanisms of scale 10, at its best, and how far it may be off."""
    from dp_accounting import pld

    make = getattr(pld.privacy_loss_distribution, f"from_{name}_mechanism")
    best = make(10.0).self_compose(100).get_epsilon_for_delta(1e-6)
    apart = [
        make(10.0, pessimistic_estimate=high, use_connect_dots=False).self_compose(100).get_epsilon_for_delta(1e-6)
        for high in (True, False)
    ]
    return Fraction(best), Fraction(apart[0]) - Fraction(apart[1])


def test_a_hundred_gaussians_agree_with_the_exact_curve_with_the_library_and_with_zcdp() -> None:
    exact = exact_gaussian(Fraction("0.5"), DELTA)
    ours = (LossDistribution.gaussian("0.005") * 100).to(Approx, delta=DELTA)
    assert exact <= ours.epsilon <= exact * Fraction("1.0002")
    library, own_error = library_epsilons("gaussian")
    assert 0 <= ours.epsilon - library <= own_error
    by_zcdp = (Zcdp("0.005") * 100).to(Approx, delta=DELTA)
    assert ours <= by_zcdp
    assert by_zcdp.epsilon <= ours.epsilon * Fraction("1.08")


def test_a_hundred_laplaces_agree_with_the_library() -> None:
    ours = (LossDistribution.laplace("0.1") * 100).to(Approx, delta=DELTA)
    library, own_error = library_epsilons("laplace")
    assert 0 <= ours.epsilon - library <= own_error


def test_one_coin_has_its_exact_curve() -> None:
    one = LossDistribution.of(Pure(1))
    for epsilon in (Fraction(0), Fraction("0.5"), Fraction("0.99")):
        truth = hockey_stick(*coin(Fraction(1)), epsilon)
        assert ball(one.delta(epsilon)) >= truth
        assert ball(one.delta(epsilon)) < truth + ball(Fraction("0.0005"))
    exact = Pure(1).to(Approx, delta=DELTA)
    assert exact <= one.to(Approx, delta=DELTA) <= exact * Fraction("1.002")
    assert one.delta("1.002") <= Fraction(1, 10**20)


def test_a_law_on_the_lattice_is_convolved_exactly() -> None:
    """Two tosses of a coin of ten steps: masses to the last bits, and the δ in between."""
    step = log(Fraction(1001, 1000), 200)
    two = LossDistribution.of(Pure(10 * step.low)) * 2
    e = Fraction(1001, 1000) ** 10
    truth = (e / (1 + e)) ** 2 * (1 - Fraction(1001, 1000) ** -15)
    assert truth <= two.delta(5 * step.high) <= truth + Fraction(1, 10**15)


def test_composition_is_never_worse_than_the_renyi_curve_and_orders_as_it_should() -> None:
    laplace = (LossDistribution.laplace("0.1") * 50).to(Approx, delta=DELTA)
    lattice = (LossDistribution.discrete_laplace("0.1", 1) * 50).to(Approx, delta=DELTA)
    fine = (LossDistribution.discrete_laplace("0.1", 100) * 50).to(Approx, delta=DELTA)
    pure = (LossDistribution.of(Pure("0.1")) * 50).to(Approx, delta=DELTA)
    assert laplace <= fine <= lattice
    assert fine <= laplace * Fraction("1.001")
    assert abs(lattice.epsilon - pure.epsilon) < Fraction("0.0001")
    assert laplace <= (RenyiCurve.laplace("0.1") * 50).to(Approx, delta=DELTA)
    assert lattice <= (RenyiCurve.discrete_laplace("0.1") * 50).to(Approx, delta=DELTA)


def test_gaussian_noise_on_the_integers_is_covered_by_its_zcdp() -> None:
    found = (LossDistribution.discrete_gaussian("0.02", 3) * 10).to(Approx, delta=DELTA)
    assert found <= Zcdp("0.2").to(Approx, delta=DELTA)
    assert found.epsilon >= exact_gaussian(Fraction("0.2"), DELTA) * Fraction("0.999")


def test_sums_and_sampling() -> None:
    one = LossDistribution.gaussian("0.5", interval="0.1")
    mixed = one + LossDistribution.of(Approx("0.3", "1e-7"), interval="0.1")
    assert mixed.delta("0.1") > Fraction(1, 10**7)
    assert one.epsilon(DELTA) < mixed.epsilon(DELTA)
    assert repr(mixed * 2) == "(LossDistribution.gaussian(0.5) + LossDistribution.of(Approx(0.3, 1e-07))) * 2"
    coarse = one * 10
    sampled = LossDistribution.gaussian("0.5", sampling="0.01", interval="0.1") * 10
    assert sampled.epsilon(DELTA) < coarse.epsilon(DELTA) / 5
    with pytest.raises(InvalidInput, match="larger interval"):
        LossDistribution.of(Pure(30)) * 100


def test_bad_input() -> None:
    one = LossDistribution.of(Pure("0.05"))
    with pytest.raises(InvalidInput, match="same interval"):
        one + LossDistribution.of(Pure("0.05"), interval="0.01")
    with pytest.raises(InvalidInput, match="composes with another one"):
        one + Pure(1)  # type: ignore[operator]
    with pytest.raises(InvalidInput, match="no finite epsilon"):
        LossDistribution.of(Approx(1, "1e-3")).epsilon("1e-4")
    with pytest.raises(InvalidInput, match="Approx only"):
        one.to(Pure, delta=DELTA)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="must be Pure or Approx"):
        LossDistribution.of(Zcdp(1))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="too large to be priced"):
        LossDistribution.of(Pure("1e400"))
    with pytest.raises(InvalidInput, match="times must be at least 1"):
        one * 0
    assert not isinstance(one, Guarantee)  # so no budget takes it: it must not serve as an adaptive filter
