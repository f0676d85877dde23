"""Curves of single mechanisms against divergences summed or integrated directly."""

from fractions import Fraction

import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, RenyiCurve, Zcdp
from tests.guarantees.oracle import DELTAS, EPSILONS, ORDERS, Ball, ball, gaussian_delta, just_above, renyi

STEPS = st.integers(1, 12)
ORDERS_FOR_ZCDP = [1 + Fraction(2) ** k for k in range(-16, 10)]


def discrete_laplace(epsilon: Fraction, sensitivity: int, centre: int, window: int) -> list[Ball]:
    """The law on the integers −window … window, what lies beyond put on the ends (post-processing)."""
    r = (-ball(epsilon / sensitivity)).exp()
    law = [(1 - r) / (1 + r) * r ** abs(z - centre) for z in range(-window + 1, window)]
    tail = [r ** (window + centre) / (1 + r), r ** (window - centre) / (1 + r)]
    return [tail[0], *law, tail[1]]


@given(EPSILONS, STEPS, ORDERS)
@settings(max_examples=40, deadline=None)
def test_discrete_laplace_summed_directly(epsilon: Fraction, sensitivity: int, order: Fraction) -> None:
    p, q = (discrete_laplace(epsilon, sensitivity, c, sensitivity + 3) for c in (0, sensitivity))
    found = RenyiCurve.discrete_laplace(epsilon, sensitivity).to(Renyi, order=order).epsilon
    assert just_above(found, renyi(p, q, order), 10)


@given(EPSILONS, STEPS, ORDERS)
@settings(max_examples=30, deadline=None)
def test_a_smaller_shift_spends_less(epsilon: Fraction, sensitivity: int, order: Fraction) -> None:
    curve = RenyiCurve.discrete_laplace(epsilon, sensitivity).to(Renyi, order=order).epsilon
    for shift in range(1, sensitivity):
        p, q = (discrete_laplace(epsilon, sensitivity, c, sensitivity + 3) for c in (0, shift))
        assert renyi(p, q, order) < ball(curve)


@pytest.mark.parametrize(("epsilon", "order"), [("0.1", "1.5"), ("1", "2"), ("1", "20"), ("5", "3")])
def test_laplace_integrated_directly(epsilon: str, order: str) -> None:
    e, a = ball(Fraction(epsilon)), ball(Fraction(order))

    def between(z: Ball, _: object) -> Ball:  # the density's α-moment between the two centres 0 and 1
        return (-a * e * z - (1 - a) * e * (1 - z)).exp() * e / 2

    inner = acb.integral(between, 0, 1).real
    outer = (((a - 1) * e).exp() + (-a * e).exp()) / 2
    found = RenyiCurve.laplace(epsilon).to(Renyi, order=order).epsilon
    assert just_above(found, (inner + outer).log() / (a - 1), 10)


@given(EPSILONS, ORDERS)
@settings(max_examples=40, deadline=None)
def test_noise_on_the_integers_is_not_covered_by_the_density(epsilon: Fraction, order: Fraction) -> None:
    """The curve of a density is a broken promise for counts; the lattice's own curve falls to it as steps get finer."""
    density = RenyiCurve.laplace(epsilon).to(Renyi, order=order)
    curves = [RenyiCurve.discrete_laplace(epsilon, d).to(Renyi, order=order) for d in (1, 2, 10, 1000)]
    assert curves[0] == Pure(epsilon).to(Renyi, order=order)
    assert curves[0] >= curves[1] >= curves[2] >= curves[3] >= density
    assert curves[0] > density


@given(EPSILONS, st.integers(2, 30), ORDERS)
@settings(max_examples=40, deadline=None)
def test_randomised_response_among_many_answers(epsilon: Fraction, size: int, order: Fraction) -> None:
    e = ball(epsilon).exp()
    rows = [[(e if j == i else arb(1)) / (e + size - 1) for j in range(size)] for i in (0, 1)]
    found = RenyiCurve.randomised_response(epsilon, size).to(Renyi, order=order)
    assert just_above(found.epsilon, renyi(rows[0], rows[1], order), 10)
    assert found <= Pure(epsilon).to(Renyi, order=order)


def exponential_laws(epsilon: Fraction, moves: list[tuple[int, Fraction]]) -> tuple[list[Ball], list[Ball]]:
    """The exponential mechanism on weights m, before and after scores move within an interval of length 1."""
    before = [ball(m) for m, _ in moves]
    after = [ball(m) * (ball(epsilon) * ball(move)).exp() for m, move in moves]
    return [x / sum(before) for x in before], [x / sum(after) for x in after]


@given(EPSILONS, st.lists(st.tuples(st.integers(1, 50), st.fractions(0, 1)), min_size=2, max_size=5), ORDERS)
@settings(max_examples=60, deadline=None)
def test_the_exponential_curve_covers_exponential_mechanisms(
    epsilon: Fraction, moves: list[tuple[int, Fraction]], order: Fraction
) -> None:
    p, q = exponential_laws(epsilon, moves)
    curve = RenyiCurve.exponential(epsilon).to(Renyi, order=order)
    assert renyi(p, q, order).lower() <= ball(curve.epsilon)
    assert renyi(q, p, order).lower() <= ball(curve.epsilon)
    assert curve <= Pure(epsilon).to(Renyi, order=order)
    assert curve.epsilon <= order * epsilon**2 / 8


@given(EPSILONS, ORDERS)
@settings(max_examples=30, deadline=None)
def test_the_exponential_curve_is_reached_by_two_outcomes(epsilon: Fraction, order: Fraction) -> None:
    curve = ball(RenyiCurve.exponential(epsilon).to(Renyi, order=order).epsilon)
    a, e = ball(order), ball(epsilon)
    end = (a - 1) * (1 - (-a * e).exp()) * e.exp() / (a * (1 - ((1 - a) * e).exp()))  # e^t at the best t
    q = [(e.exp() / end - 1) / (e.exp() - 1), (e.exp() - e.exp() / end) / (e.exp() - 1)]
    p = [q[0] * end, q[1] * end * (-e).exp()]
    assert abs(sum(p) - 1) < ball(Fraction(1, 10**50))
    assert abs(renyi(p, q, order) - curve) < curve * ball(Fraction(1, 10**10))


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "4", "15"])
def test_zcdp_holds_at_every_order_and_laplace_is_tight_at_one(epsilon: str) -> None:
    curves = [
        RenyiCurve.exponential(epsilon),
        RenyiCurve.randomised_response(epsilon, 5),
        RenyiCurve.laplace(epsilon),
        *(RenyiCurve.discrete_laplace(epsilon, d) for d in (1, 2, 3, 7, 50)),
    ]
    for curve in curves:
        rho = curve.to(Zcdp).rho
        assert rho <= Pure(epsilon).to(Zcdp).rho
        assert all(curve.to(Renyi, order=a).epsilon <= a * rho * (1 + Fraction(1, 10**11)) for a in ORDERS_FOR_ZCDP)
        if "laplace" in repr(curve):
            assert curve.divergence(1 + Fraction(1, 10**8), 200).low > rho * (1 - Fraction(1, 10**6))
    assert RenyiCurve.exponential("0.5").to(Zcdp) == Zcdp(Fraction(1, 32))
    assert RenyiCurve.permute_and_flip(epsilon).to(Zcdp) == Pure(epsilon).to(Zcdp)


def test_curves_compose_and_are_frozen_values() -> None:
    one, two = RenyiCurve.laplace("0.1"), RenyiCurve.gaussian("0.01")
    both = one * 3 + two
    assert both == two + one + one * 2 == sum([two, one, one, one])
    assert eval(repr(both)) == both
    assert len({both, two + one * 3}) == 1
    assert both + Pure(1) == Pure(1) + both == both + RenyiCurve.pure(1)
    assert two.to(Renyi, order=7) == Zcdp("0.01").to(Renyi, order=7)
    expected = one.to(Renyi, order=7) * 3 + two.to(Renyi, order=7)
    assert both.to(Renyi, order=7) <= expected
    assert expected * (1 - Fraction(1, 10**10)) <= both.to(Renyi, order=7)
    assert one.to(Pure) == Pure("0.1")
    assert both.describe().endswith(" %.")


@given(EPSILONS, st.integers(1, 200), DELTAS)
@settings(max_examples=25, deadline=None)
def test_the_best_order_beats_any_other_and_knowing_the_mechanism_beats_not_knowing(
    epsilon: Fraction, times: int, delta: Fraction
) -> None:
    curve = RenyiCurve.laplace(epsilon) * times
    found = curve.to(Approx, delta=delta)
    slack = 1 + Fraction(1, 10**10)
    for order in ("1.01", "1.5", 2, 5, 20, 100):
        assert found <= curve.to(Renyi, order=order).to(Approx, delta=delta) * slack
    assert found <= (Pure(epsilon).to(Zcdp) * times).to(Approx, delta=delta) * slack
    assert found <= (Pure(epsilon) * times).to(Approx, delta=delta) * slack
    assert (RenyiCurve.gaussian(epsilon) * times).to(Approx, delta=delta) == (Zcdp(epsilon) * times).to(
        Approx, delta=delta
    )


def test_a_hundred_gaussians_cover_the_exact_curve() -> None:
    found = (RenyiCurve.gaussian("0.005") * 100).to(Approx, delta="1e-6")
    assert gaussian_delta(Fraction("0.5"), found.epsilon) < ball(found.delta)
    assert gaussian_delta(Fraction("0.5"), found.epsilon * Fraction("0.93")) > ball(found.delta)


@pytest.mark.parametrize("other", [Zcdp(1), Renyi(2, 1), Approx(1, "0.1")])
def test_curves_mix_with_pure_only(other: Guarantee) -> None:
    curve = RenyiCurve.laplace(1)
    for a, b in ((curve, other), (other, curve)):
        with pytest.raises(InvalidInput, match="do not compose"):
            a + b


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match="whole number of times"):
        RenyiCurve.laplace(1) * "0.5"
    with pytest.raises(InvalidInput, match="epsilon must be above 0"):
        RenyiCurve.exponential(0)
    with pytest.raises(InvalidInput, match="size must be at least 2"):
        RenyiCurve.randomised_response(1, 1)
    with pytest.raises(InvalidInput, match="sensitivity must be at least 1"):
        RenyiCurve.discrete_laplace(1, 0)
    with pytest.raises(InvalidInput, match="Gaussian noise"):
        RenyiCurve.gaussian(1).to(Pure)
    with pytest.raises(InvalidInput, match="not ordered; convert it"):
        assert RenyiCurve.laplace(1) <= RenyiCurve.laplace(2)
