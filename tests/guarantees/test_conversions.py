"""Conversions against independent values: explicit distributions in ball arithmetic, fine numerical minima."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, Zcdp
from tests.guarantees.oracle import (
    DELTAS,
    EPSILONS,
    ORDERS,
    Ball,
    ball,
    coin,
    gaussian_delta,
    hockey_stick,
    just_above,
    kullback_leibler,
    renyi,
)

RHOS = st.fractions(Fraction(1, 10**4), 20, max_denominator=10**4)


@given(EPSILONS, ORDERS)
@settings(max_examples=60, deadline=None)
def test_pure_to_renyi_is_randomised_response(epsilon: Fraction, order: Fraction) -> None:
    assert just_above(Pure(epsilon).to(Renyi, order=order).epsilon, renyi(*coin(epsilon), order))


@given(EPSILONS)
@settings(max_examples=40, deadline=None)
def test_pure_to_zcdp_is_the_coins_divergence_at_order_one(epsilon: Fraction) -> None:
    assert just_above(Pure(epsilon).to(Zcdp).rho, kullback_leibler(*coin(epsilon)))


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "3", "10"])
def test_pure_to_zcdp_holds_at_every_order_and_is_tight_at_one(epsilon: str) -> None:
    rho = ball(Pure(epsilon).to(Zcdp).rho)
    for order in [1 + Fraction(2) ** k for k in range(-20, 12)]:
        assert renyi(*coin(Fraction(epsilon)), order) / ball(order) < rho
    near_one = 1 + Fraction(1, 10**7)
    assert renyi(*coin(Fraction(epsilon)), near_one) / ball(near_one) > rho * (1 - ball(Fraction(1, 10**6)))


@given(EPSILONS, DELTAS)
@settings(max_examples=60, deadline=None)
def test_pure_to_approx_is_the_coins_own_curve(epsilon: Fraction, delta: Fraction) -> None:
    found = Pure(epsilon).to(Approx, delta=delta).epsilon
    assert found <= epsilon
    assert hockey_stick(*coin(epsilon), found).lower() <= ball(delta)
    if found > 0:
        assert hockey_stick(*coin(epsilon), found * (1 - Fraction(1, 10**10))) > ball(delta)


@given(EPSILONS, DELTAS, DELTAS)
@settings(max_examples=40, deadline=None)
def test_approx_to_a_larger_delta_is_the_curve_of_its_worst_pair(
    epsilon: Fraction, one: Fraction, two: Fraction
) -> None:
    delta, larger = sorted((one, two))
    found = Approx(epsilon, delta).to(Approx, delta=larger).epsilon
    p, q = coin(epsilon)
    worst = ([ball(delta), *(x * ball(1 - delta) for x in p)], [ball(0), *(x * ball(1 - delta) for x in q)])
    assert hockey_stick(*worst, found).lower() <= ball(larger)
    if found > 0 and larger > delta:
        assert hockey_stick(*worst, found * (1 - Fraction(1, 10**9))) > ball(larger) - ball(Fraction(1, 10**12))


def _implied(rho: float, delta: float, order: float) -> float:
    return order * rho + log(1 - 1 / order) + (log(1 / delta) - log(order)) / (order - 1)


def _finest(rho: Fraction, delta: Fraction) -> float:
    """A fine numerical minimum over the order: the best of many bounded searches on a logarithmic scale."""
    found = [
        minimize_scalar(
            lambda t: _implied(float(rho), float(delta), 1 + exp(t)),
            bounds=(a, a + 4),
            method="bounded",
            options={"xatol": 1e-9},
        ).fun
        for a in range(-8, 36, 2)
    ]
    return float(min(found))


@given(RHOS, DELTAS)
@settings(max_examples=40, deadline=None)
def test_zcdp_to_approx_is_never_below_a_fine_minimum_and_close_to_it(rho: Fraction, delta: Fraction) -> None:
    found = float(Zcdp(rho).to(Approx, delta=delta).epsilon)
    finest = max(0.0, _finest(rho, delta))
    assert finest - 1e-9 <= found <= finest * (1 + 1e-7) + 1e-9  # one per cent is asked


@given(RHOS, DELTAS)
@settings(max_examples=40, deadline=None)
def test_zcdp_to_approx_covers_gaussian_noise(rho: Fraction, delta: Fraction) -> None:
    assert gaussian_delta(rho, Zcdp(rho).to(Approx, delta=delta).epsilon) < ball(delta)


def test_zcdp_to_approx_solves_the_stated_formula() -> None:
    rho, delta = Fraction(1, 20), Fraction(1, 10**6)
    found = Zcdp(rho).to(Approx, delta=delta).epsilon

    def stated(order: Fraction, epsilon: Fraction) -> Ball:
        a = ball(order)
        return ((a - 1) * (a * ball(rho) - ball(epsilon))).exp() * (1 - 1 / a) ** a / (a - 1)

    orders = [1 + Fraction(k, 100) for k in range(1000, 3000)]
    assert any(stated(order, found * (1 + Fraction(1, 10**6))) < ball(delta) for order in orders)
    assert all(stated(order, found * (1 - Fraction(1, 10**9))) > ball(delta) for order in orders)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=2, max_size=5), ORDERS, DELTAS)
@settings(max_examples=60, deadline=None)
def test_renyi_to_approx_holds_for_any_two_laws(
    weights: list[tuple[int, int]], order: Fraction, delta: Fraction
) -> None:
    p, q = ([ball(Fraction(w[i], sum(v[i] for v in weights))) for w in weights] for i in (0, 1))
    divergence = renyi(p, q, order)
    bound = Fraction(int((divergence * 2**60).upper().ceil().unique_fmpz() or 0), 2**60)
    if bound > 0:
        found = Renyi(order, bound).to(Approx, delta=delta).epsilon
        assert hockey_stick(p, q, found).lower() <= ball(delta)


@given(EPSILONS, ORDERS, DELTAS)
@settings(max_examples=40, deadline=None)
def test_renyi_to_approx_is_reached_by_some_laws(epsilon: Fraction, order: Fraction, delta: Fraction) -> None:
    """The bound c·E[e^{(α−1)L}] is met with equality when all of the loss above ε sits at the maximiser of c."""
    found = Renyi(order, epsilon).to(Approx, delta=delta).epsilon
    if found > 0:
        loss = ball(found) - (1 - 1 / ball(order)).log()
        mass = ball(delta) / (1 - (ball(found) - loss).exp())
        moment = mass * ((ball(order) - 1) * loss).exp()
        assert abs(moment.log() / (ball(order) - 1) - ball(epsilon)) < ball(Fraction(1, 10**9)) * (1 + ball(found))


def test_zcdp_to_renyi_is_exact() -> None:
    assert Zcdp("0.05").to(Renyi, order="7.5") == Renyi("7.5", "0.375")


def test_a_bound_at_one_order_holds_at_lower_ones_only() -> None:
    assert Renyi(8, 1).to(Renyi, order=2) == Renyi(2, 1)
    with pytest.raises(InvalidInput, match="higher"):
        Renyi(2, 1).to(Renyi, order=8)


@given(EPSILONS, EPSILONS, ORDERS, DELTAS)
@settings(max_examples=40, deadline=None)
def test_less_spent_converts_to_less(one: Fraction, two: Fraction, order: Fraction, delta: Fraction) -> None:
    low, high = sorted((one, two))
    assert Pure(low).to(Zcdp) <= Pure(high).to(Zcdp)
    assert Pure(low).to(Renyi, order=order) <= Pure(high).to(Renyi, order=order)
    assert Pure(low).to(Approx, delta=delta) <= Pure(high).to(Approx, delta=delta)
    assert Zcdp(low).to(Approx, delta=delta) <= Zcdp(high).to(Approx, delta=delta)
    assert Renyi(order, low).to(Approx, delta=delta) <= Renyi(order, high).to(Approx, delta=delta)
    assert Pure(low).to(Renyi, order=order).epsilon <= Pure(low).to(Renyi, order=order + 1).epsilon
    assert Zcdp(low).to(Approx, delta=delta).epsilon >= Zcdp(low).to(Approx, delta=delta / 2 + Fraction(1, 2)).epsilon


@given(EPSILONS, DELTAS, ORDERS)
@settings(max_examples=40, deadline=None)
def test_within_is_the_most_that_fits(number: Fraction, delta: Fraction, order: Fraction) -> None:
    approx, zcdp, at_order = Approx(number, delta), Zcdp(number), Renyi(order, number)
    more = 1 + Fraction(1, 10**9)
    cases: list[tuple[Guarantee, Callable[[Guarantee], bool]]] = [
        (Pure.within(approx), lambda g: g.to(Approx, delta=delta) <= approx),
        (Pure.within(zcdp), lambda g: g.to(Zcdp) <= zcdp),
        (Pure.within(at_order), lambda g: g.to(Renyi, order=order) <= at_order),
        (Zcdp.within(approx), lambda g: g.to(Approx, delta=delta) <= approx),
        (Zcdp.within(at_order), lambda g: g.to(Renyi, order=order) <= at_order),
    ]
    for most, fits in cases:
        assert fits(most)
        assert not fits(most * more)
    for target in (Pure(number), approx, zcdp, at_order):
        assert type(target).within(target) == target


def test_renyi_within_an_approx_target() -> None:
    target = Approx(1, Fraction(1, 10**6))
    found = Renyi.within(target, order=20)
    assert found.to(Approx, delta=target.delta) <= target
    assert not (found * (1 + Fraction(1, 10**9))).to(Approx, delta=target.delta) <= target
    with pytest.raises(InvalidInput, match="larger order"):
        Renyi.within(target, order=2)


@pytest.mark.parametrize("number", ["1e-300", "1e-30", "1e-5", "40", "1e4", "1e9"])
def test_extreme_numbers_convert_quickly_and_safely(number: str) -> None:
    x = Fraction(number)
    assert 0 < Pure(x).to(Zcdp).rho <= min(x, x * x / 2 * (1 + Fraction(1, 10**11)))
    for order in ("1.0000001", 10**6):
        converted = Pure(x).to(Renyi, order=order).epsilon
        assert 0 < converted <= min(x, Fraction(order) * x * x / 2 * (1 + Fraction(1, 10**11)))
    for delta in ("0.9", "1e-300"):
        assert Pure(x).to(Approx, delta=delta).epsilon <= x
        assert Zcdp(x).to(Approx, delta=delta) <= Zcdp(2 * x).to(Approx, delta=delta)
        assert Zcdp.within(Approx(x, delta)).to(Approx, delta=delta) <= Approx(x, delta)


@pytest.mark.parametrize(
    ("given_", "kind", "reason"),
    [
        (Approx(1, "1e-6"), Pure, "no bound"),
        (Zcdp(1), Pure, "no bound"),
        (Renyi(2, 1), Pure, "no bound"),
        (Approx(1, "1e-6"), Zcdp, "account in Approx"),
        (Renyi(2, 1), Zcdp, "account in Approx"),
        (Pure(1), Approx, "delta is needed"),
        (Pure(1), Renyi, "order is needed"),
        (Pure(1), Guarantee, "kind must be"),
        (Pure(1), int, "kind must be"),
    ],
)
def test_what_cannot_be_converted_is_refused_with_a_reason(given_: Guarantee, kind: type, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        given_.to(kind)


def test_refusals_that_name_a_parameter() -> None:
    with pytest.raises(InvalidInput, match="at least as large"):
        Approx(1, "1e-6").to(Approx, delta="1e-7")
    with pytest.raises(InvalidInput, match="delta is given only"):
        Pure(1).to(Zcdp, delta="1e-6")
    with pytest.raises(InvalidInput, match="order is given only"):
        Pure(1).to(Approx, delta="1e-6", order=2)
    with pytest.raises(InvalidInput, match="Rényi"):
        Approx(1, "1e-6").to(Renyi, order=2)
    refused: list[tuple[type[Guarantee], Guarantee]] = [
        (Approx, Pure(1)),
        (Zcdp, Pure(1)),
        (Renyi, Zcdp(1)),
        (Pure, Guarantee()),
    ]
    for kind, target in refused:
        with pytest.raises(InvalidInput, match="target must be"):
            kind.within(target)
