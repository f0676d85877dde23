"""Odometers: a reading that holds whenever one stops, against optimal and simulated adversaries."""

from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest

from tacit.budgets import Odometer, open_budget
from tacit.budgets.filters import Concentrated, Vector
from tacit.errors import BudgetExceeded, InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, RenyiCurve, Zcdp
from tacit.numbers.enclosures import Enclosure
from tests.budgets.adversary import worst


def reading(epsilon: Fraction, rho: Fraction, delta: str) -> Fraction:
    odometer = Odometer(delta)
    odometer._sums = (epsilon, rho, Fraction(0))
    shown = odometer.reading
    assert isinstance(shown, Approx)
    return shown.epsilon


def test_pure_costs_add_up() -> None:
    odometer = Odometer()
    assert odometer.reading.epsilon == 0  # type: ignore[attr-defined]
    assert odometer.add(Pure("0.5")) == Pure("0.5")
    assert odometer.add(Pure("0.25")) == odometer.reading == Pure("0.75")
    assert "0.75" in repr(odometer)
    for cost in (Zcdp(1), Approx(1, "1e-6"), Renyi(2, 1)):
        with pytest.raises(InvalidInput, match="cannot be counted"):
            odometer.add(cost)
    with pytest.raises(InvalidInput):
        Odometer(2)


def test_many_small_costs_read_below_their_sum() -> None:
    odometer = Odometer("1e-6")
    for _ in range(1000):
        odometer.add(Pure("0.01"))
    shown = odometer.reading
    assert isinstance(shown, Approx)
    assert 1 < shown.epsilon < 3
    assert shown.delta == Fraction(1, 10**6)
    odometer.add(Zcdp("0.1"))
    assert odometer.reading > shown
    odometer.add(Approx("0.1", "4e-7"))
    with pytest.raises(BudgetExceeded, match="half of the odometer's"):
        odometer.add(Approx("0.1", "2e-7"))
    with pytest.raises(InvalidInput, match="Rényi"):
        odometer.add(Renyi(2, 1))


class _Free(Concentrated):
    """No limit but the length of the game: a cost counts one."""

    def measure(self, cost: Guarantee, runs: RenyiCurve | None = None, left: Vector | None = None) -> Vector:
        assert isinstance(cost, Pure)
        return (Fraction(1), cost.epsilon, Pure(cost.epsilon).to(Zcdp).rho)


def game(delta: str, reads: object) -> Enclosure:
    """The chance, under optimal play of 24 questions, that the loss ever exceeds the reading."""
    rule = _Free(Zcdp(1), (Fraction(24), Fraction(10**6), Fraction(10**6)))
    cache: dict[Vector, Fraction] = {}

    def beyond(sums: Vector, loss: Fraction) -> bool:
        if sums not in cache:
            cache[sums] = reads(sums[1], sums[2], delta)  # type: ignore[operator]
        return loss > cache[sums]

    def stop(sums: Vector, loss: Fraction) -> Enclosure:
        return Enclosure.of(int(beyond(sums, loss)), 64)

    return worst(rule, [Pure("0.25"), Pure("0.5")], stop, must_look=beyond)


def test_the_loss_stays_below_the_reading_under_optimal_play() -> None:
    reached = game("0.5", reading)
    assert reached.low > 0
    assert reached.high <= Fraction(1, 2)


def test_an_odometer_that_converts_at_the_moment_is_caught() -> None:
    """A broken twin: the bound for one fixed total, read as if it held at all times and for all of δ."""

    def hasty(epsilon: Fraction, rho: Fraction, delta: str) -> Fraction:
        return min(epsilon, Zcdp(rho).to(Approx, delta=delta).epsilon) if rho else Fraction(0)

    assert game("0.1", hasty).low > Fraction(1, 10)


@pytest.mark.parametrize("noise", ["coins", "gaussian"])
def test_simulated_adversaries(noise: str) -> None:
    """How often the loss ever exceeds the reading, in 50,000 runs; a false alarm has probability below 1e-7."""
    runs, delta, random = 50_000, "0.2", np.random.default_rng(11)
    loss, plain, rho, beyond = np.zeros(runs), np.zeros(runs), np.zeros(runs), np.zeros(runs, dtype=bool)
    levels = [Fraction(1, 1000) * Fraction(5, 4) ** k for k in range(60)]
    bounds = np.array([float(reading(Fraction(10**12), level, delta)) for level in levels])
    for _ in range(60):
        cost = np.where(loss > 0.5 * plain, 0.4, 0.1)  # follow one's luck
        if noise == "coins":
            loss += np.where(random.random(runs) < 1 / (1 + np.exp(-cost)), cost, -cost)
            plain, rho = plain + cost, rho + cost * np.tanh(cost / 2)
        else:
            step = cost**2 / 2
            loss += step + np.sqrt(2 * step) * random.standard_normal(runs)
            plain, rho = plain + 10**12, rho + step
        k = np.searchsorted(np.array(levels, dtype=float), rho)
        beyond |= loss > np.minimum(plain, bounds[k]) + 1e-9
    assert beyond.mean() <= 0.2 + sqrt(log(1e7) / (2 * runs))


def test_an_odometer_is_a_budget_whose_reading_never_exceeds_its_total() -> None:
    budget, odometer = open_budget(Approx(6, "1e-6"), "odometer"), Odometer("1e-6")
    assert budget.spent == Approx.amount(Fraction(0), Fraction(0))
    for _ in range(60):
        assert budget.charge(Pure("0.1")).cost == Pure("0.1")
        assert budget.spent == odometer.add(Pure("0.1"))
    n = 0
    while budget.fits(Pure("0.1")):
        budget.charge(Pure("0.1"))
        n += 1
    assert n < 200
    assert budget.spent <= Approx(6, "1e-6")
    tiny = open_budget(Approx("0.001", "1e-6"), "odometer")
    assert tiny.fits(Pure("0.001"))
    assert not tiny.fits(Pure("0.0011"))
    with pytest.raises(InvalidInput, match="set_aside belongs"):
        open_budget(Approx(3, "1e-6"), "odometer", set_aside="1e-7")
