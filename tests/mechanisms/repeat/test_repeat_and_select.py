"""The best of K runs: its law against a sum over K, its promises against formulas and against measured divergences."""

from math import e, exp, log

import pytest

from tacit.audit.exact import renyi_divergence, table
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Pure, Renyi, RenyiCurve, Zcdp
from tacit.mechanisms import NegativeBinomial, Poisson, gaussian, laplace, randomised_response, repeat_and_select
from tacit.mechanisms.repeat.repeat_and_select import best
from tacit.mechanisms.repeat.repeat_promises import promised
from tacit.mechanisms.repeat.run_counts import RunCount

RUNS: list[RunCount] = [NegativeBinomial(1, "0.3"), NegativeBinomial(0, "0.3"), Poisson(2)]


@pytest.mark.parametrize("runs", RUNS, ids=repr)
def test_the_law_is_the_sum_over_all_numbers_of_runs(runs: RunCount) -> None:
    """Answers 0, 1, 2, 3 of which 1 and 2 have the same score."""
    one = randomised_response(1, 4, 1)
    law = repeat_and_select(one, runs, score=lambda y: (y + 1) // 2, delta="0.01")
    p = [float(one.pmf(y)) for y in range(4)]
    masses = [float(runs.pmf(k)) for k in range(200)]
    middle = sum(m * ((p[0] + p[1] + p[2]) ** k - p[0] ** k) for k, m in enumerate(masses))
    assert float(law.pmf(0)) == pytest.approx(sum(m * p[0] ** k for k, m in enumerate(masses) if k))
    assert float(law.pmf(1)) == pytest.approx(middle * p[1] / (p[1] + p[2]))
    assert sum(float(law.pmf(y)) for y in (*law.outcomes(), None)) == pytest.approx(1)
    assert float(law.pmf(7)) == 0


def test_pure_and_approximate_promises() -> None:
    runs = NegativeBinomial("0.5", "0.01")
    assert promised(Pure("0.1"), runs) == Pure("0.25")
    found = promised(Approx("0.1", "1e-6"), runs)
    assert isinstance(found, Approx)
    assert found.epsilon == Pure("0.25").epsilon
    assert 0.999 < float(found.delta) / (1e-6 * float(runs.mean())) < 1


def test_the_renyi_bound() -> None:
    """ε + (1+η)((1−1/λ^)ε^ + ln(1/γ)/λ^) + ln E[K]/(λ−1) for zCDP at λ^ = √(ln(1/γ)/ρ), where it is smallest."""
    rho, gamma, order = 0.01, 0.01, 10
    found = promised(Zcdp("0.01"), NegativeBinomial(1, "0.01"), order=order)
    other = (log(1 / gamma) / rho) ** 0.5
    expected = order * rho + 2 * ((other - 1) * rho + log(1 / gamma) / other) + log(1 / gamma) / (order - 1)
    assert isinstance(found, Renyi)
    assert float(found.epsilon) == pytest.approx(expected)


def test_the_poisson_bound() -> None:
    found = promised(Pure(1), Poisson(3), order=2)
    one = log((exp(2) + exp(-1)) / (1 + e))
    assert isinstance(found, Renyi)
    assert float(found.epsilon) == pytest.approx(log(exp(-3) + 3 * exp(one + 3 * (e - 2) / (1 + e))))


@pytest.mark.parametrize("runs", RUNS, ids=repr)
def test_bounds_hold_for_gaussian_noise(runs: RunCount) -> None:
    """The best of several noisy counts of 3 and 4 persons, at several orders; all but 2^-40 of the noise is listed."""
    laws = [repeat_and_select(gaussian(n, "0.05"), runs, score=lambda y: y, order=2) for n in (3, 4)]
    p, q = (table(law, range(-40, 48)) for law in laws)
    for order in (2, 4, 16):
        bound = promised(Zcdp("0.05"), runs, order=order)
        assert isinstance(bound, Renyi)
        for a, b in ((p, q), (q, p)):
            listed = {y: v for y, v in a.items() if v.low > 0 and b[y].low > 0}
            assert 0 < float(renyi_divergence(listed, b, bound.order)) <= float(bound.epsilon)


def test_a_delta_buys_a_smaller_epsilon_and_never_a_larger_one() -> None:
    runs = NegativeBinomial(0, "0.001")
    gaussian_curve = promised(RenyiCurve.gaussian("0.005"), runs, delta="1e-6")
    plain = promised(Pure("0.1"), runs, delta="1e-6")
    assert isinstance(gaussian_curve, Approx)
    assert isinstance(plain, Approx)
    assert float(gaussian_curve.epsilon) < 2
    assert plain.epsilon <= Pure("0.2").epsilon
    many = promised(Zcdp("0.005"), Poisson(100), delta="1e-6")
    assert isinstance(many, Approx)
    assert 1 < float(many.epsilon) < 4


def test_the_best_is_the_first_of_the_largest() -> None:
    assert best([(1, "a"), (3, "b"), (3, "c")], lambda pair: pair[0]) == (3, "b")
    assert best([], lambda pair: pair) is None


def test_no_run_is_an_output_of_its_own() -> None:
    law = repeat_and_select(laplace(5, 1), Poisson("0.01"), score=lambda y: y, delta="0.01")
    assert float(law.pmf(None)) == pytest.approx(exp(-0.01))
    assert law.sample(200).count(None) > 100  # 198 expected; below 100 with probability far under 1e-6


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match="name order= for Renyi or delta= for Approx"):
        promised(Pure(1), Poisson(3))
    with pytest.raises(InvalidInput, match="not both"):
        promised(Pure(1), Poisson(3), order=2, delta="0.1")
    with pytest.raises(InvalidInput, match="takes no order or delta"):
        promised(Approx(1, "0.1"), Poisson(3), delta="0.2")
    with pytest.raises(InvalidInput, match="this many runs take delta to 1"):
        promised(Approx(1, "0.9999999999999"), NegativeBinomial(1, "0.00001"))
