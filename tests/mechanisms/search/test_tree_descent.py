"""Tree descent: its law node by node, on 2^64 points too, and its stated accuracy."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.curves import DownProfile, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms import tree_descent
from tacit.noises import DiscreteGaussian, DiscreteLaplace
from tests.mechanisms.binned import agrees_between


@given(losses=st.lists(st.integers(0, 9), min_size=1, max_size=13), general=st.booleans(), gaussian=st.booleans())
@settings(max_examples=50, deadline=None)
def test_probabilities_follow_the_tree(losses: list[int], general: bool, gaussian: bool) -> None:
    loss = StepLoss.from_losses(integers(0, len(losses) - 1), losses, not general)
    law = tree_descent(loss, rho="0.5") if gaussian else tree_descent(loss, epsilon="0.5")
    depth, sensitivity = max(1, (len(losses) - 1).bit_length()), 2 if general else 1

    def left(q: int) -> float:
        if gaussian:
            return float(DiscreteGaussian(Fraction(depth * sensitivity**2)).tail(q))
        return float(DiscreteLaplace(Fraction(1, 2 * depth * sensitivity)).tail(q))

    def spread(values: list[int]) -> list[float]:
        if len(values) == 1:
            return [1.0]
        half = (len(values) + 1) // 2
        p = left(min(values[:half]) - min(values[half:]))
        return [p * x for x in spread(values[:half])] + [(1 - p) * x for x in spread(values[half:])]

    expected = spread(losses)
    assert [float(law.pmf(i)) for i in range(len(losses))] == pytest.approx(expected)
    assert float(law.cdf(len(losses) // 2)) == pytest.approx(sum(expected[: len(losses) // 2 + 1]))


def test_guarantees_and_one_cost_only() -> None:
    loss = StepLoss.from_losses(integers(0, 1), [0, 1])
    assert tree_descent(loss, 1).guarantee == Pure(1)
    assert tree_descent(loss, rho="0.1").guarantee == Zcdp("0.1")
    for wrong in ({}, {"epsilon": 1, "rho": 1}):
        with pytest.raises(InvalidInput, match="either epsilon or rho"):
            tree_descent(loss, **wrong)
    with pytest.raises(InvalidInput, match="finite"):
        tree_descent(DownProfile([5]).loss(integers()), 1)


def test_sampler_agrees_with_the_law_on_a_grid_of_2_to_the_64() -> None:
    """False alarm 1e-7."""
    profile = [2**63 - i * 2**55 for i in range(200)]
    law = tree_descent(DownProfile(profile).shifted_loss(integers(0, 2**64 - 1), 100), rho=1)
    marks = [*profile[60:140:8][::-1], 2**63]
    assert agrees_between(law, marks, 2_000)


def test_excess_loss_stays_within_the_stated_accuracy_exactly() -> None:
    losses = [min(abs(y - 21), 60) for y in range(64)]
    loss = StepLoss.from_losses(integers(0, 63), losses)
    for law in (tree_descent(loss, 40), tree_descent(loss, rho=40)):
        for beta in (Fraction(1, 2), Fraction(1, 20)):
            window = law.accuracy(beta).window
            assert window is not None
            assert window < 60
            inside = sum((law.pmf(y).low for y, x in enumerate(losses) if x <= window), Fraction(0))
            assert inside >= 1 - beta


def test_one_value_needs_no_noise() -> None:
    law = tree_descent(StepLoss.from_losses(integers(4, 4), [3]), 1)
    assert law.sample() == 4
    assert law.accuracy("0.1").window == 0
    assert law.pmf(4).low == 1
