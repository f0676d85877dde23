"""Gaussian and approximate zero-concentrated privacy, and trade-off curves, against what is known exactly."""

from fractions import Fraction

import pytest

from tacit.budgets import Question, open_budget
from tacit.errors import BudgetExceeded, InvalidInput
from tacit.guarantees import Approx, ApproxZcdp, Gdp, Guarantee, Pure, Renyi, RenyiCurve, Zcdp
from tacit.numbers.gaussian_sums import normal_tail
from tests.guarantees.oracle import ball, gaussian_delta

F = Fraction
DELTA = F(1, 10**6)


def test_a_shift_converts_exactly_both_ways() -> None:
    for mu in ("0.1", "1", "3"):
        found = Gdp(mu).to(Approx, delta=DELTA)
        rho = F(mu) ** 2 / 2
        assert gaussian_delta(rho, found.epsilon) <= ball(DELTA)
        assert gaussian_delta(rho, found.epsilon * F("0.99999999")) > ball(DELTA)
        assert Gdp.within(found).mu >= F(mu) * F("0.9999999")
        assert Gdp.within(found).to(Approx, delta=DELTA) <= found * F("1.0000000001")
        assert found < Zcdp(rho).to(Approx, delta=DELTA)
    assert Gdp(2).to(Zcdp) == Zcdp(2)
    assert Gdp(2).to(Renyi, order=3) == Renyi(3, 6)
    assert Gdp("0.01").to(Approx, delta="0.4").epsilon == 0


def test_pure_becomes_the_least_shift_that_covers_it() -> None:
    for epsilon in ("0.1", "1", "4"):
        mu = Pure(epsilon).to(Gdp).mu
        coin = Pure(epsilon)._distance(160)
        assert (1 - 2 * normal_tail(F(1), mu / 2, 160)).low >= coin.high  # TV at least the coin's
        assert (1 - 2 * normal_tail(F(1), mu / 2 * F("0.999999999"), 160)).high < coin.low
        for x in ("0.1", "0.3", "0.7"):  # the coin's curve is never below the shift's
            assert Pure(epsilon).missed(x) >= Gdp(mu).missed(x) - F(1, 10**9)
    with pytest.raises(InvalidInput, match="trade-off curve open"):
        Zcdp(1).to(Gdp)


def test_composition_adds_squares_and_rounds_the_safe_way() -> None:
    assert Gdp(3) + Gdp(4) == Gdp(5)
    assert (Gdp(1) * 2).mu ** 2 >= 2
    assert (Gdp(1) / 2).mu ** 2 <= F(1, 2)
    assert Gdp("0.5") + Pure("0.1") > Gdp("0.5")
    assert Guarantee.parse(Gdp("0.25").text()) == Gdp("0.25")
    assert Guarantee.parse(repr(ApproxZcdp("0.25", "1e-7"))) == ApproxZcdp("0.25", "1e-7")
    assert ApproxZcdp("0.1", "1e-7") + Approx("0.1", "1e-7") == ApproxZcdp(F(1, 10) + Pure("0.1").to(Zcdp).rho, "2e-7")
    with pytest.raises(InvalidInput, match="do not compose"):
        Gdp(1) + Zcdp(1)


def test_approximate_zcdp_converts_outside_its_delta() -> None:
    kept = ApproxZcdp("0.02", "5e-7")
    found = kept.to(Approx, delta=DELTA)
    assert found.epsilon == Zcdp("0.02").to(Approx, delta=F(1, 2 * 10**6) / (1 - F(1, 2 * 10**6))).epsilon
    assert ApproxZcdp.within(Approx(1, DELTA)).to(Approx, delta=DELTA) <= Approx(1, DELTA)
    assert Approx(1, DELTA).to(ApproxZcdp) == ApproxZcdp(Pure(1).to(Zcdp).rho, DELTA)
    with pytest.raises(InvalidInput, match="its own delta is as large"):
        kept.to(Approx, delta="1e-7")


def test_budgets_of_the_new_kinds_add_up_and_refuse() -> None:
    shifts = open_budget(Gdp("0.25"))
    for _ in range(3):
        shifts.charge(Pure("0.1"))
    shifts.charge(Zcdp("0.001"), Question("noise", runs=RenyiCurve.gaussian("0.001")))
    assert not shifts.fits(Pure("0.1"))
    with pytest.raises(InvalidInput, match="trade-off curve open"):
        shifts.charge(Zcdp("0.001"))
    with pytest.raises(BudgetExceeded, match="does not fit"):
        shifts.charge(Zcdp("0.1"), Question("noise", runs=RenyiCurve.gaussian("0.1")))
    left = shifts.remaining
    assert isinstance(left, Gdp)
    assert shifts.fits(left)
    mixed = open_budget(ApproxZcdp("0.02", "1e-6"))
    mixed.charge(Approx("0.1", "5e-7"))
    mixed.charge(Zcdp("0.01"))
    mixed.charge(Pure("0.05"), Question("median", runs=RenyiCurve.exponential("0.05")))
    assert mixed.spent == ApproxZcdp.amount(Pure("0.1").to(Zcdp).rho + F(1, 100) + F(1, 3200), F(1, 2 * 10**6))
    with pytest.raises(BudgetExceeded):
        mixed.charge(Approx("0.01", "6e-7"))


def test_a_trade_off_curve_is_that_of_the_worst_mechanism() -> None:
    e = 2.718281828459045
    for alpha in (0.05, 0.2, 0.5, 0.9):
        truth = max(0, 1 - e * alpha, (1 - alpha) / e)
        assert float(Pure(1).missed(F(str(alpha)))) == pytest.approx(truth, abs=2e-3)
        assert float(Pure(1).missed(F(str(alpha)))) <= truth
        assert Approx(1, "1e-3").missed(F(str(alpha))) <= Pure(1).missed(F(str(alpha)))
        assert Zcdp("0.5").missed(F(str(alpha))) <= Gdp(1).missed(F(str(alpha)))
    curve = RenyiCurve.gaussian("0.01") * 2
    assert Gdp("0.2").missed("0.3") - F(1, 100) < curve.missed("0.3") <= Gdp("0.2").missed("0.3")
    with pytest.raises(InvalidInput, match="one Rényi order"):
        Renyi(8, 1).missed("0.5")


def test_the_picture_says_what_an_attacker_can_guess() -> None:
    from tests.test_plots import words

    text = words(Gdp(1).plot(Pure(1)))
    assert "μ = 1: guesses rightly at most 69.1 %" in text
    assert "ε = 1: guesses rightly at most 73.1 %" in text
