"""Permute-and-flip: its law against all outcomes of the coins, and against noise added the literal way."""

from fractions import Fraction
from itertools import product
from math import exp, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.curves import DownProfile, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Pure
from tacit.mechanisms import exponential, permute_and_flip
from tests.mechanisms.binned import agrees_between


def by_coins(heads: list[float]) -> list[float]:
    """The probability of each value, over all outcomes of the coins."""
    result = [0.0] * len(heads)
    for coins in product((False, True), repeat=len(heads)):
        if any(coins):
            chance = prod(p if coin else 1 - p for p, coin in zip(heads, coins, strict=True)) / sum(coins)
            result = [r + chance * coin for r, coin in zip(result, coins, strict=True)]
    return result


@given(losses=st.lists(st.integers(0, 6), min_size=1, max_size=8), general=st.booleans())
@settings(max_examples=40)
def test_probabilities_are_those_of_the_coins(losses: list[int], general: bool) -> None:
    law = permute_and_flip(StepLoss.from_losses(integers(1, len(losses)), losses, not general), "0.8")
    gamma = 0.4 if general else 0.8
    expected = by_coins([exp(-gamma * (loss - min(losses))) for loss in losses])
    assert [float(law.pmf(i)) for i in range(1, len(losses) + 1)] == pytest.approx(expected)
    assert float(law.cdf(len(losses) // 2)) == pytest.approx(sum(expected[: len(losses) // 2]))
    assert all(law.pmf(i).width < law.pmf(i).low / 2**100 for i in range(1, len(losses) + 1))


def test_mean_loss_is_at_most_the_exponential_mechanisms() -> None:
    for losses in ([0, 1, 2, 3], [4, 0, 0, 1], [5, 5, 2, 9, 0, 1]):
        loss = StepLoss.from_losses(integers(0, len(losses) - 1), losses)
        flip, choice = permute_and_flip(loss, 1), exponential(loss, 1)
        gain = sum((float(choice.pmf(i)) - float(flip.pmf(i))) * x for i, x in enumerate(losses))
        assert gain >= 0


def test_long_runs_are_drawn_by_their_exact_law() -> None:
    """Runs of up to 1,000 points race as one; false alarm 1e-7."""
    loss = DownProfile([700, 695, 680, 300]).shifted_loss(integers(0, 999), 2)
    law = permute_and_flip(loss, 3)
    assert agrees_between(law, [99, 200, 300, 500, 680, 695, 700, 850], 10_000, bits=64)


def test_drawing_has_no_limit_where_probabilities_have() -> None:
    profile = [2**63 - i * 10**15 for i in range(60)]
    law = permute_and_flip(DownProfile(profile).shifted_loss(integers(0, 2**64 - 1), 30), 4)
    assert all(profile[59] <= y <= profile[0] for y in law.sample(50))  # each fails with probability below 2^64·e^-60
    with pytest.raises(InvalidInput, match="4096"):
        law.pmf(0)
    with pytest.raises(InvalidInput, match="finite"):
        permute_and_flip(DownProfile([5]).loss(integers(0)), 1)


def test_statements() -> None:
    law = permute_and_flip(StepLoss.from_losses(integers(0, 9), [0, *[7] * 9]), 1)
    assert law.guarantee == Pure(1)
    assert law.accuracy("0.1").window == 9  # 10·e^{-10/2} < 0.1 < 10·e^{-9/2}
    assert law.pmf(Fraction(1, 2)).high == 0
