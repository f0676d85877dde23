"""Filters: what may be charged to what, at which price, and that no adaptive strategy exceeds the total."""

from fractions import Fraction
from math import log, sqrt, tanh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.budgets import open_budget
from tacit.budgets.filters import Advanced, Basic, Filter, Rooted, Vector, filter_for, plus
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, RenyiCurve, Zcdp
from tacit.numbers.enclosures import Enclosure, exp
from tests.budgets.adversary import hockey_stick, numbers, worst

COSTS: list[Guarantee] = [Pure("0.25"), Approx("0.25", "0.001"), Zcdp("0.01"), Renyi(8, "0.1")]


@pytest.mark.parametrize(
    ("rule", "taken"),
    [
        (filter_for(Pure(1)), "Pure"),
        (filter_for(Approx(1, "0.1")), "Pure Approx Zcdp Renyi"),
        (filter_for(Approx(1, "0.1"), "advanced"), "Pure Approx Zcdp"),
        (filter_for(Approx(1, "0.1"), "rooted"), "Pure Approx"),
        (filter_for(Zcdp(1)), "Pure Zcdp"),
        (filter_for(Renyi(8, 1)), "Pure Zcdp Renyi"),
        (filter_for(Renyi(4, 1)), "Pure Zcdp Renyi"),
        (filter_for(Renyi(9, 1)), "Pure Zcdp"),
    ],
)
def test_what_may_be_charged_to_what(rule: Filter, taken: str) -> None:
    for cost in COSTS:
        if type(cost).__name__ in taken.split():
            assert rule.admits(rule.measure(cost))
        else:
            with pytest.raises(InvalidInput, match="cannot be charged to") as refusal:
                rule.measure(cost)
            assert repr(cost) in str(refusal.value)
            assert str(refusal.value).endswith(".")


def test_prices() -> None:
    half = Pure("0.5")
    assert filter_for(Pure(1)).measure(half) == (Fraction(1, 2),)
    assert filter_for(Approx(1, "0.1")).measure(half) == (Fraction(1, 2), Fraction(0))
    (rho,) = filter_for(Zcdp(1)).measure(half)
    assert 0.5 * tanh(0.25) <= rho <= 0.5 * tanh(0.25) * (1 + 1e-11)
    assert filter_for(Renyi(8, 1)).measure(Zcdp("0.01")) == (Fraction(8, 100),)
    epsilon, delta = filter_for(Approx(1, "0.1")).measure(Zcdp("0.01"))
    assert delta == Fraction(1, 1000)
    assert Zcdp("0.01").to(Approx, delta=delta).epsilon == epsilon


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: filter_for(Pure(1), "advanced"),
        lambda: filter_for(Pure(1), "clever"),
        lambda: filter_for(Pure(1), set_aside="0.1"),
        lambda: filter_for(Approx(1, "0.1"), "advanced", set_aside="0.2"),
        lambda: filter_for(Approx(10**13, "0.1"), "advanced"),
        lambda: filter_for(1),  # type: ignore[arg-type]
    ],
)
def test_wrong_openings_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidInput):
        wrong()  # type: ignore[operator]


# --- no adaptive strategy exceeds the total: optimal play, exactly ----------------------------------------------------

MENU: list[Guarantee] = [Pure("0.5"), Pure(1)]
FLAGGED: list[Guarantee] = [Pure("0.5"), Approx(1, "0.02")]


@pytest.mark.parametrize(
    ("rule", "menu"),
    [
        (filter_for(Approx(2, "0.08")), FLAGGED),
        (filter_for(Approx(4, "0.2"), "advanced"), MENU),
        (filter_for(Approx(4, "0.2"), "advanced"), FLAGGED),
        (filter_for(Approx(5, "0.3"), "advanced", set_aside="0.2"), FLAGGED),
        (filter_for(Approx(5, "0.3"), "rooted"), MENU),
        (filter_for(Approx(4, "0.3"), "rooted", set_aside="0.2"), FLAGGED),
    ],
)
def test_no_strategy_exceeds_epsilon_delta(rule: Filter, menu: list[Guarantee]) -> None:
    assert isinstance(rule.total, Approx)
    delta = worst(rule, menu, hockey_stick(rule.total.epsilon))
    assert delta.high <= rule.total.delta


class _Careless(Advanced):
    """A broken twin: charges every pure cost like an exponential mechanism, ε²/8."""

    def measure(self, cost: Guarantee, runs: RenyiCurve | None = None, left: Vector | None = None) -> Vector:
        epsilon, delta = numbers(cost)
        return (epsilon, epsilon**2 / 8, delta)


class _Doubled(Advanced):
    """A broken twin: lets the δ of the costs use up all of δ although a part is set aside."""

    def admits(self, sums: Vector) -> bool:
        return sums[2] <= self.total.delta and (sums[0] <= self.limits[0] or sums[1] <= self.limits[1])


def test_broken_twins_are_caught() -> None:
    right = filter_for(Approx(4, "0.2"), "advanced")
    assert isinstance(right, Advanced)
    careless = _Careless(right.total, right.limits)
    assert worst(careless, MENU, hockey_stick(Fraction(4))).low > Fraction(1, 5)
    close = filter_for(Approx(4, "0.02"), "advanced", set_aside="0.0199")
    assert isinstance(close, Advanced)
    flag: list[Guarantee] = [Pure("0.25"), Approx("0.25", "0.0199")]
    assert worst(_Doubled(close.total, close.limits), flag, hockey_stick(Fraction(4))).low > Fraction(2, 100)


class _Counted(Basic):
    """Admits so many costs of a half and so many of one."""

    def measure(self, cost: Guarantee, runs: RenyiCurve | None = None, left: Vector | None = None) -> Vector:
        return tuple(Fraction(cost == one) for one in MENU)


class _Either(_Counted):
    """A broken twin: admits what any of two filters admits, each of which keeps the promise by itself."""

    def admits(self, sums: Vector) -> bool:
        return any(one.admits(sums) for one in SEVERAL)


HELD = Approx(1, "0.185")
SEVERAL = _Counted(HELD, (Fraction(5), Fraction(0))), _Counted(HELD, (Fraction(2), Fraction(1)))


def test_to_admit_what_any_of_several_filters_admits_is_caught() -> None:
    """After two costs of a half, who is near ε takes three more, who is far takes one that is large enough."""
    for rule in SEVERAL:
        reached = worst(rule, MENU, hockey_stick(HELD.epsilon))
        assert Fraction(95, 100) * HELD.delta < reached.low <= reached.high <= HELD.delta
    assert worst(_Either(HELD, SEVERAL[0].limits), MENU, hockey_stick(HELD.epsilon)).low > Fraction(22, 100)


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(2), Fraction(8)])
def test_no_strategy_exceeds_zcdp_or_renyi(order: Fraction) -> None:
    """Rényi moments of optimal play: E[e^{(α−1)L}] against e^{(α−1)αρ}, or against the budget at its own order."""

    def moment(sums: Vector, loss: Fraction) -> Enclosure:
        return exp((order - 1) * loss, 64)

    for rule, limit in (
        (filter_for(Zcdp(1)), order),
        (filter_for(Renyi(order, 1)), Fraction(1)),
    ):
        reached = worst(rule, MENU, moment).log() / (order - 1)
        assert reached.high <= limit * (1 + Fraction(1, 10**9))
        assert reached.low >= limit / 3  # the check has teeth: play comes near the limit


# --- the advanced filter against simulated adversaries --------------------------------------------------------------


def _chasing(loss: "np.ndarray", epsilon: float, k: int) -> "np.ndarray":
    """Costs that go up as the loss nears ε from below, and stop once it is beyond."""
    cost = np.where(loss > 0.5 * epsilon, 0.3, 0.1)
    return np.where(loss > epsilon, 0.0, cost)


def _alternating(loss: "np.ndarray", epsilon: float, k: int) -> "np.ndarray":
    return np.where(loss < 0, 0.4, 0.05 * (1 + k % 3))


@pytest.mark.parametrize("strategy", [_chasing, _alternating])
def test_advanced_filter_against_simulated_adversaries(strategy: object) -> None:
    """δ estimated from 100,000 runs; Hoeffding's bound makes a false alarm less likely than 1e-7."""
    rule = filter_for(Approx(1, "0.05"), "advanced")
    assert isinstance(rule, Advanced)
    runs, epsilon = 100_000, 1.0
    random = np.random.default_rng(7)
    loss, plain, rho = np.zeros(runs), np.zeros(runs), np.zeros(runs)
    for k in range(400):
        cost = strategy(loss, epsilon, k)  # type: ignore[operator]
        fits = (plain + cost <= float(rule.limits[0])) | (rho + cost * np.tanh(cost / 2) <= float(rule.limits[1]))
        cost = np.where(fits, cost, 0.0)
        if not cost.any():
            break
        plain, rho = plain + cost, rho + cost * np.tanh(cost / 2)
        truth = random.random(runs) < 1 / (1 + np.exp(-cost))
        loss += np.where(truth, cost, -cost)
    delta = float(np.maximum(0, 1 - np.exp(epsilon - loss)).mean())
    assert delta <= 0.05 + sqrt(log(1e7) / (2 * runs))
    assert delta > 0  # some run does go beyond ε, so the adversary is not idle


# --- properties -----------------------------------------------------------------------------------------------------

costs = st.fractions(min_value=Fraction(1, 1000), max_value=2, max_denominator=1000)


@settings(max_examples=40, deadline=None)
@given(
    total=st.fractions(min_value=Fraction(1, 10), max_value=5, max_denominator=100), sizes=st.lists(costs, max_size=12)
)
def test_advanced_admits_whatever_the_classical_or_the_plain_filter_admits(
    total: Fraction, sizes: list[Fraction]
) -> None:
    advanced, rooted = (filter_for(Approx(total, "1e-6"), kind) for kind in ("advanced", "rooted"))
    assert isinstance(rooted, Rooted)
    a, r = advanced.nothing, rooted.nothing
    for size in sizes:
        a, r = plus(a, advanced.measure(Pure(size))), plus(r, rooted.measure(Pure(size)))
        if rooted.admits(r) or a[0] <= total:
            assert advanced.admits(a)


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(["Pure", "Approx", "Zcdp", "Renyi", "advanced", "rooted"]),
    sizes=st.lists(costs, min_size=1, max_size=15),
)
def test_spent_and_remaining_stay_within_the_total_and_remaining_fits(kind: str, sizes: list[Fraction]) -> None:
    totals: dict[str, Guarantee] = {"Pure": Pure(3), "Zcdp": Zcdp(1), "Renyi": Renyi(4, 2)}
    rule = filter_for(totals.get(kind, Approx(3, "1e-5")), kind if kind in ("advanced", "rooted") else "basic")
    sums = rule.nothing
    for size in sizes:
        if rule.admits(after := plus(sums, rule.measure(Pure(size)))):
            sums = after
    assert rule.spent(sums) <= rule.total
    left = rule.remaining(sums)
    assert left <= rule.total
    cost: Guarantee = Pure(left.epsilon) if isinstance(left, Approx) and left.epsilon else left
    assert rule.admits(plus(sums, rule.measure(cost)))


def test_many_small_costs_are_worth_the_advanced_filter() -> None:
    plain, advanced = (open_budget(Approx(1, "1e-6"), kind) for kind in ("basic", "advanced"))
    asked = {}
    for name, budget in (("plain", plain), ("advanced", advanced)):
        asked[name] = 0
        while budget.fits(Pure("0.01")):
            budget.charge(Pure("0.01"))
            asked[name] += 1
    assert asked["plain"] == 100
    assert asked["advanced"] > 300
