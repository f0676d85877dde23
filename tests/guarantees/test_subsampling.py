"""Sampling by person, checked on explicit mixtures."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.audit.cases.subsampling import subsampled
from tacit.audit.exact import examine
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, RenyiCurve, Zcdp, allowance, amplify, subsampling_plan
from tacit.numbers.exact import Number
from tests.guarantees.oracle import DELTAS, EPSILONS, ball, coin, hockey_stick, just_above

SHARES = st.fractions(Fraction(1, 1000), 1, max_denominator=1000).filter(lambda p: p > 0)


@given(EPSILONS, SHARES)
@settings(max_examples=60, deadline=None)
def test_a_pure_guarantee_is_amplified_exactly_as_the_coin_is(epsilon: Fraction, p: Fraction) -> None:
    left_out, taken_in = coin(epsilon)
    mixture = [ball(1 - p) * a + ball(p) * b for a, b in zip(left_out, taken_in, strict=True)]
    ratios = [x / y for pair in ((mixture, left_out), (left_out, mixture)) for x, y in zip(*pair, strict=True)]
    loss = amplify(Pure(epsilon), p).epsilon
    assert all(ratio.log().lower() <= ball(loss) for ratio in ratios)
    assert any(just_above(loss, ratio.log(), 10) for ratio in ratios)


@given(EPSILONS, DELTAS, SHARES)
@settings(max_examples=60, deadline=None)
def test_an_approximate_guarantee_is_amplified_both_ways(epsilon: Fraction, delta: Fraction, p: Fraction) -> None:
    one, two = coin(epsilon)
    left_out = [ball(delta), ball(0), *(ball(1 - delta) * x for x in one)]
    taken_in = [ball(0), ball(delta), *(ball(1 - delta) * x for x in two)]
    mixture = [ball(1 - p) * a + ball(p) * b for a, b in zip(left_out, taken_in, strict=True)]
    found = amplify(Approx(epsilon, delta), p)
    assert found.delta == p * delta
    assert hockey_stick(mixture, left_out, found.epsilon).lower() <= ball(found.delta)
    assert hockey_stick(left_out, mixture, found.epsilon).lower() <= ball(found.delta)


@given(EPSILONS, DELTAS, SHARES)
@settings(max_examples=60, deadline=None)
def test_the_allowance_is_the_most_that_amplifies_within_the_target(
    epsilon: Fraction, delta: Fraction, p: Fraction
) -> None:
    more = 1 + Fraction(1, 10**9)
    pure = allowance(Pure(epsilon), p)
    assert pure >= Pure(epsilon)
    assert amplify(pure, p) <= Pure(epsilon)
    assert not amplify(pure * more, p) <= Pure(epsilon)
    if delta < p:
        approx = allowance(Approx(epsilon, delta), p)
        assert approx == Approx(pure.epsilon, delta / p)
        assert amplify(approx, p) <= Approx(epsilon, delta)


def test_everyone_sampled_changes_nothing_and_huge_numbers_do_no_harm() -> None:
    assert amplify(Pure(Fraction(1, 3)), 1) == Pure(Fraction(1, 3)) == allowance(Pure(Fraction(1, 3)), 1)
    assert amplify(Approx(0, "0.1"), "0.5") == Approx(0, "0.05")
    assert Pure(10**6) * Fraction("0.999997") < amplify(Pure(10**6), "0.1") < Pure(10**6)
    assert amplify(Pure("1e-50"), "0.1") <= Pure("1.00000000001e-51")


def test_composing_first_and_amplifying_once_is_not_the_same_as_sampling_afresh() -> None:
    assert amplify(Pure(1) * 10, "0.1") > amplify(Pure(1), "0.1") * 10  # a key that is reused costs more


@pytest.mark.parametrize("p", [0, -1, "1.1", float("nan")])
def test_a_share_is_a_probability(p: Number) -> None:
    for function in (amplify, allowance):
        with pytest.raises(InvalidInput, match="probability must be"):
            function(Pure(1), p)


@pytest.mark.parametrize("g", [Zcdp(1), Renyi(2, 1), RenyiCurve.gaussian(1)])
def test_what_sampling_does_not_amplify_is_refused(g: Guarantee) -> None:
    for function in (amplify, allowance):
        with pytest.raises(InvalidInput, match="not amplified by sampling; convert it"):
            function(g, "0.5")
    with pytest.raises(InvalidInput, match="below the sampling probability"):
        allowance(Approx(1, "0.1"), "0.1")


@pytest.mark.parametrize("p", [Fraction(1, 100), Fraction(1, 3), Fraction(9, 10)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_amplification_measured_equals_theory(epsilon: Fraction, p: Fraction) -> None:
    """The exact largest loss of a mechanism on a sample, over all small datasets, is ln(1 + p(e^ε − 1))."""
    found = examine(lambda x: subsampled(x, p, epsilon), (1,), 3, epsilons=(), orders=())
    theory = ball(1) + ball(p) * (ball(epsilon).exp() - 1)
    assert abs(ball(found.loss.low) - theory.log()) < ball(Fraction(1, 2**80))
    assert found.loss.high <= amplify(Pure(epsilon), p).epsilon


def test_the_plan_shows_where_sampling_stops_being_free() -> None:
    """The noise ratio ε'/(p·ε) is about 1 + ε'(1−p)/(2p) for small ε' and nears 1/p for large ones."""
    assert subsampling_plan("0.001", "0.1").noise_ratio == pytest.approx(1 + 0.001 * 0.9 / 0.2, abs=2e-5)
    assert subsampling_plan("0.1", "0.1").noise_ratio == pytest.approx(1.391, abs=1e-3)
    assert subsampling_plan(1000, "0.1").noise_ratio == pytest.approx(10, rel=0.003)
    assert subsampling_plan(1, 1).noise_ratio == 1
    plan = subsampling_plan(1, "0.1")
    assert amplify(plan.inside, plan.probability) <= plan.promised
    assert str(plan).startswith("A sample of 10 % of the persons keeps Pure(1) with ε = 2.9 inside; the noise")
