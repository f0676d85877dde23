"""Tight budgets: how many questions fit, against the exact optimum; every adaptive strategy; parts, shares, ledgers."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import ceil, comb
from pathlib import Path

import pytest

from tacit.budgets import Budget, Policy, Question, open_budget
from tacit.budgets.accounts import UNLIMITED
from tacit.budgets.books import MemoryBook
from tacit.budgets.filters import BOUNDLESS, Vector, filter_for, less, plus
from tacit.budgets.tight import Tight, tight
from tacit.errors import BudgetExceeded, InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, RenyiCurve, Zcdp, units
from tacit.ledger import open_ledger
from tacit.ledger.verify import verify
from tacit.numbers.enclosures import Enclosure, exp

F = Fraction
TOTAL = Approx(1, "1e-6")


def admitted(budget: Budget, cost: Guarantee, runs: RenyiCurve | None = None, most: int = 1000) -> int:
    question = Question("how many", runs=runs)
    for n in range(most):
        try:
            budget.charge(cost, question)
        except BudgetExceeded:
            return n
    return most


def exact_delta(up: Fraction, down: Fraction, n: int, epsilon: Fraction) -> Enclosure:
    """δ at ε of n draws whose log ratio is up or −down: a binomial sum, by rigorous intervals."""
    e, r = exp(up, 200), exp(-down, 200)
    p = e * (1 - r) / (e - r)
    found = Enclosure.of(0, 200)
    for i in range(n + 1):
        loss = i * up - (n - i) * down
        if loss > epsilon:
            found = found + p**i * (1 - p) ** (n - i) * comb(n, i) * (1 - exp(epsilon - loss, 200))
    return found


def optimum(ends: list[tuple[Fraction, Fraction]], total: Approx, most: int = 700) -> int:
    """The most questions that anybody could admit if all were fixed in advance and of one of these laws."""

    def fits(n: int) -> bool:
        return all(exact_delta(up, down, n, total.epsilon).low <= total.delta for up, down in ends)

    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def test_medians_at_a_tenth_at_least_half_as_many_again_and_never_more_than_the_optimum() -> None:
    """Kairouz, Oh and Viswanath for pure costs; Dong, Durfee and Rogers for the exponential mechanism."""
    epsilon = F(1, 10)
    before = admitted(open_budget(TOTAL, "advanced"), Pure(epsilon))
    found = admitted(open_budget(TOTAL, "tight"), Pure(epsilon), RenyiCurve.exponential(epsilon))
    best = optimum([(epsilon * i / 20, epsilon * (20 - i) / 20) for i in range(8, 13)], TOTAL)
    assert before == 10
    assert 1.5 * before <= found <= best
    assert found >= 0.75 * best


def test_pure_costs_reach_the_optimum_where_they_are_large_and_come_near_it_where_they_are_small() -> None:
    tenth, fiftieth = F(1, 10), F(1, 50)
    assert admitted(open_budget(TOTAL, "tight"), Pure(tenth)) == optimum([(tenth, tenth)], TOTAL) == 10
    found = admitted(open_budget(TOTAL, "tight"), Pure(fiftieth))
    assert admitted(open_budget(TOTAL, "advanced"), Pure(fiftieth)) < found
    best = optimum([(fiftieth, fiftieth)], TOTAL)
    assert 0.93 * best <= found <= best


def test_gaussian_noise_pays_its_own_curve() -> None:
    from tests.guarantees.oracle import ball, gaussian_delta

    rho = F(1, 500)
    found = admitted(open_budget(TOTAL, "tight"), Zcdp(rho), RenyiCurve.gaussian(rho))
    best = max(n for n in range(1, 80) if gaussian_delta(n * rho, F(1)) <= ball(TOTAL.delta))
    assert admitted(open_budget(TOTAL, "advanced"), Zcdp(rho)) < found <= best
    assert found >= best - 1


def test_advanced_is_never_better_for_pure_costs() -> None:
    for size in ("0.02", "0.2"):  # the first is priced above already
        found = [admitted(open_budget(TOTAL, kind), Pure(size)) for kind in ("advanced", "tight")]
        assert found[0] <= found[1]


# An adaptive adversary: randomised responses and lopsided answers of several sizes, each chosen in view of the loss so
# far, found by recursion over (sums, loss), exactly as far as enclosures go.

COARSE = tight(Approx(1, "0.02"), coin=12)
"""A coarse coin and a large δ, so that every strategy can be followed to its end."""

Menu = list[tuple[Guarantee, RenyiCurve | None, Fraction, Fraction]]
"""A cost, what is run, and the two ends of the log ratio."""

MENU: Menu = [
    (Pure("0.5"), None, F(1, 2), F(1, 2)),
    (Pure("0.25"), None, F(1, 4), F(1, 4)),
    (Pure("0.5"), RenyiCurve.exponential("0.5"), F(1, 8), F(3, 8)),
    (Pure("0.5"), RenyiCurve.exponential("0.5"), F(3, 8), F(1, 8)),
]


def worst(rule: Tight, menu: Menu, price: Callable[[Guarantee, RenyiCurve | None, Vector], Vector]) -> Fraction:
    """The largest δ at ε that any strategy reaches against a rule that measures by ``price``, rounded up."""
    total = rule.total.epsilon

    @cache
    def value(sums: Vector, loss: Fraction) -> Fraction:
        best = (1 - exp(total - loss, 64)).high if loss > total else F(0)
        for cost, runs, up, down in menu:
            after = plus(sums, price(cost, runs, less(rule.limits, sums)))
            if rule.admits(after):
                p = chance(up, down)
                mixed = p * value(after, loss + up) + (1 - p) * value(after, loss - down)
                best = max(best, F(ceil(mixed * 2**80), 2**80))
        return best

    @cache
    def chance(up: Fraction, down: Fraction) -> Fraction:
        e, r = exp(up, 64), exp(-down, 64)
        return (e * (1 - r) / (e - r)).high

    return value(rule.nothing, F(0))


def test_no_adaptive_strategy_exceeds_the_total_and_a_cheaper_twin_is_caught() -> None:
    reached = worst(COARSE, MENU, COARSE.measure)
    assert COARSE.total.delta / 20 < reached <= COARSE.total.delta

    def cheap(cost: Guarantee, runs: RenyiCurve | None, left: Vector) -> Vector:
        """The twin charges the price beside a full budget, whatever is left, and nothing but three quarters of it."""
        _, price, delta, alone = COARSE.measure(cost, runs)
        return (BOUNDLESS, price * F(3, 4), delta, alone)

    assert worst(COARSE, MENU, cheap) > COARSE.total.delta


def test_stopping_when_the_composed_losses_reach_the_total_is_caught() -> None:
    """The naive twin: admit while all costs so far, taken as if they had been fixed in advance, are (ε, δ).

    For costs fixed in advance nothing is tighter; an analyst who chooses sizes by the answers gets half as much again.
    """
    sizes, total = (F(2, 5), F(1, 10)), Approx(1, "0.01")

    @cache
    def fixed(counts: tuple[int, int]) -> bool:
        found = Enclosure.of(0, 64)
        for i in range(counts[0] + 1):
            for j in range(counts[1] + 1):
                loss = (2 * i - counts[0]) * sizes[0] + (2 * j - counts[1]) * sizes[1]
                if loss > 1:
                    ways = comb(counts[0], i) * comb(counts[1], j) * exp(i * sizes[0] + j * sizes[1], 64)
                    found = found + ways * (1 - exp(1 - loss, 64))
        norm = (1 + exp(sizes[0], 64)) ** counts[0] * (1 + exp(sizes[1], 64)) ** counts[1]
        return (found / norm).high <= total.delta

    @cache
    def value(counts: tuple[int, int], loss: Fraction) -> float:
        best = max(0.0, 1 - float(exp(1 - loss, 64)))
        for i, size in enumerate(sizes):
            after = (counts[0] + (i == 0), counts[1] + (i == 1))
            if fixed(after):
                p = float(exp(size, 64) / (1 + exp(size, 64)))
                best = max(best, p * value(after, loss + size) + (1 - p) * value(after, loss - size))
        return best

    assert value((0, 0), F(0)) > 1.5 * float(total.delta)
    rule = tight(total, coin=12)
    menu: Menu = [(Pure(size), None, size, size) for size in sizes]
    assert 0 < worst(rule, menu, rule.measure) <= total.delta


@cache
def small() -> Tight:
    found = filter_for(Approx(1, "1e-6"), "tight")
    assert isinstance(found, Tight)
    return found


def test_what_is_measured() -> None:
    rule = small()
    epsilon, price, delta, alone = rule.measure(Pure("0.1"))
    assert (epsilon, delta) == (F(1, 10), units.SLACK)
    assert price < alone
    assert rule.measure(Pure("0.1"), None, rule.limits)[1] >= price
    assert rule.measure(Approx("0.1", "1e-8"))[2] == F(1, 10**8) + units.SLACK
    assert rule.measure(Approx("0.1", "1e-8"), RenyiCurve.gaussian("0.0001"))[::2] == (BOUNDLESS, units.SLACK)
    assert rule.measure(Approx(0, "1e-8")) == (F(0), F(0), F(1, 10**8), F(0))
    assert rule.measure(Pure("0.9"), None, less(rule.limits, (F(0), rule.limits[1] - 5, F(0), F(0))))[1] == BOUNDLESS
    with pytest.raises(InvalidInput, match="one Rényi order"):
        rule.measure(Renyi(8, 1))
    with pytest.raises(InvalidInput, match="epsilon above 0"):
        open_budget(Approx(0, "1e-6"), "tight")
    with pytest.raises(InvalidInput, match="at most about 10"):
        open_budget(Approx(50, "1e-6"), "tight")


def test_what_is_left_fits_and_more_does_not() -> None:
    budget = open_budget(TOTAL, "tight")
    for _ in range(9):
        budget.charge(Pure("0.1"), Question("median", runs=RenyiCurve.exponential("0.1")))
    left = budget.remaining
    assert isinstance(left, Approx)
    assert budget.fits(Pure(left.epsilon))
    assert not budget.fits(Pure(left.epsilon * 2))
    spent = budget.spent
    assert isinstance(spent, Approx)
    assert spent.epsilon <= F(9, 10)


def coarse() -> Budget:
    return Budget(MemoryBook(COARSE, UNLIMITED))


MEDIAN = Question("median", runs=RenyiCurve.exponential("0.25"))


def test_parts_pay_for_the_dearest_and_shares_at_once() -> None:
    budget, alone = coarse(), coarse()
    days = budget.parallel("days")
    for _ in range(2):
        alone.charge(Pure("0.25"), MEDIAN)
        for day in ("monday", "tuesday"):
            days.part(day).charge(Pure("0.25"), MEDIAN)
    assert (budget.spent, budget.remaining) == (alone.spent, alone.remaining)
    share = budget.share(Pure("0.25"), "interns")
    share.charge(Pure("0.25"))
    rest = [admitted(each, Pure("0.25"), MEDIAN.runs) for each in (budget, alone)]
    assert 0 < rest[0] < rest[1]
    with pytest.raises(InvalidInput, match="tightly"):
        budget.share(Zcdp("0.001"), "others")


def test_an_analyst_has_a_limit_in_the_same_coin() -> None:
    budget = coarse()
    ada = budget.analyst("ada", Approx("0.6", "0.01"))
    assert 2 <= admitted(ada, Pure("0.25"), MEDIAN.runs) < admitted(coarse(), Pure("0.25"), MEDIAN.runs)
    assert budget.fits(Pure("0.1"))


def test_a_ledger_goes_on_where_a_tight_budget_stopped_and_verifies(tmp_path: Path) -> None:
    question = Question("median", runs=RenyiCurve.exponential("0.1"))
    with open_ledger(tmp_path / "ledger.db") as ledger:
        budget = ledger.budget("shop", TOTAL, composition="tight")
        for _ in range(7):
            budget.charge(Pure("0.1"), question)
        spent = budget.spent
    with open_ledger(tmp_path / "ledger.db") as ledger:
        again = ledger.budget("shop", TOTAL, composition="tight")
        assert (again.spent, again.composition) == (spent, "tight")
        assert admitted(again, Pure("0.1"), RenyiCurve.exponential("0.1")) == 19 - 7
        assert verify(ledger, "shop").sound
        entry = ledger.entry("shop", 2)
        assert entry is not None
        assert RenyiCurve.read(entry.body["runs"]) == question.runs


def test_a_cost_far_beyond_the_total_is_refused_at_once() -> None:
    budget = open_budget(TOTAL, "tight")
    for cost in (Pure(200), Pure("1.01"), Approx(3, "1e-8"), Zcdp(50)):
        with pytest.raises(BudgetExceeded, match="does not fit"):
            budget.charge(cost)
    assert budget.spent == Approx.amount(F(0), F(0))


def test_a_least_price_bounds_how_many_fit() -> None:
    budget = open_budget(TOTAL, "tight", policy=Policy(least=F(1, 10)))
    least = budget.least
    assert least is not None
    with pytest.raises(BudgetExceeded, match="costs at least"):
        budget.charge(Pure("0.01"))
    assert admitted(budget, least) <= 10
