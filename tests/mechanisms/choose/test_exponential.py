"""The exponential mechanism: its formula on any grid and prior, its stated accuracy, its sampler on 2^64 points."""

from collections import Counter
from fractions import Fraction
from math import exp, inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.curves import DownProfile, Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import digits, integers
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms import Decaying, exponential
from tests.mechanisms.binned import agrees_between

priors = st.builds(
    Decaying,
    width=st.integers(1, 4),
    ratio=st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10),
    growth=st.integers(1, 3),
    origin=st.integers(-12, 30),
)


@given(losses=st.lists(st.integers(0, 9), min_size=1, max_size=12), general=st.booleans(), prior=st.none() | priors)
@settings(max_examples=60)
def test_probabilities_are_the_formula(losses: list[int], general: bool, prior: Decaying | None) -> None:
    grid, epsilon = integers(3, 2 + len(losses)), Fraction(7, 10)
    law = exponential(StepLoss.from_losses(grid, losses, not general), epsilon, prior)
    gamma = 0.35 if general else 0.7
    share = [1.0 if prior is None else float(prior.weight(3 + i)) for i in range(len(losses))]
    weights = [w * exp(-gamma * loss) for w, loss in zip(share, losses, strict=True)]
    for i, weight in enumerate(weights):
        assert float(law.pmf(3 + i)) == pytest.approx(weight / sum(weights))
        assert float(law.cdf(3 + i)) == pytest.approx(sum(weights[: i + 1]) / sum(weights))
        assert law.pmf(3 + i).width < Fraction(1, 2**120)
    assert law.pmf(Fraction(7, 2)).high == law.pmf(2).high == law.cdf(2).high == 0
    assert law.cdf(10**9).low == 1


def mass(prior: Decaying, first: int | None, last: int | None) -> float:
    return sum(float(piece.mass(128)) for piece in prior.pieces(first, last))


@given(prior=priors, first=st.integers(-40, 40), length=st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_a_decaying_prior_weighs_ranges_as_the_sum_of_their_indices(prior: Decaying, first: int, length: int) -> None:
    last = first + length
    inside = sum(float(prior.weight(i)) for i in range(first, last + 1))
    assert mass(prior, first, last) == pytest.approx(inside)
    whole = 2 * prior.width / (1 - float(prior.ratio)) - 1  # both sides, the origin once
    assert mass(prior, None, None) == pytest.approx(whole)
    assert mass(prior, None, first - 1) + inside + mass(prior, last + 1, None) == pytest.approx(whole)


def test_block_weights_of_a_decaying_prior() -> None:
    prior = Decaying(2, Fraction(1, 2), growth=10, origin=5)
    assert [float(prior.weight(5 + d)) for d in (0, 1, 2, 21, 22)] == [1, 1, 1 / 20, 1 / 20, 1 / 400]
    assert prior.weight(2) == prior.weight(8)
    whole = [float(piece.mass(64)) for piece in prior.pieces(5, None)]
    assert sum(whole) == pytest.approx(4)


def test_guarantees() -> None:
    law = exponential(StepLoss.from_losses(integers(0, 1), [0, 1]), "0.5")
    assert law.guarantee == Pure("0.5")
    assert law.zcdp == Zcdp("0.03125")
    assert repr(law) == "<exponential mechanism law, Pure(0.5) for one draw>"


def test_sampler_agrees_with_the_law_on_a_grid_of_2_to_the_64() -> None:
    """Runs and the sixteenths of one long run; false alarm 1e-7."""
    grid = integers(0, 2**64 - 1)
    ends = [2**64 - 1, 2**60, 2**60 - 2**20, 2**59, 2**30, 7]
    firsts = [*(end + 1 for end in ends[1:]), 0]
    runs = tuple(
        Run(first, last, loss) for first, last, loss in zip(firsts, ends, (55, 50, 48, 47, 20, 0), strict=True)
    )
    law = exponential(StepLoss(grid, runs[::-1]), "0.9")
    marks = sorted({*ends, *(2**60 - 2**20 - i * 2**55 for i in range(1, 16))})
    assert agrees_between(law, marks, 10**5)


def test_open_grid_with_slow_decay_draws_from_every_piece() -> None:
    """Whole blocks, parts of blocks and both sides of the origin; false alarm 1e-7."""
    runs = (Run(None, -31, 1), Run(-30, 24, 3), Run(25, None, 2))
    law = exponential(StepLoss(integers(), runs), 1, Decaying(4, Fraction(15, 16), origin=3))
    assert agrees_between(law, [-200, -100, -60, -31, -20, -3, 2, 3, 9, 24, 40, 80, 160], 10_000)


def test_accuracy_is_the_union_bound_rounded_up() -> None:
    law = exponential(DownProfile([5]).loss(integers(0, 2**64 - 1)).clamped(3), 1)  # one-directional: γ = 1
    accuracy = law.accuracy("0.05")
    assert accuracy.window == 47  # 2^64·e^{-48}/0.05 < 1 < 2^64·e^{-47}/0.05
    assert "19/20" in str(accuracy)
    assert exponential(StepLoss.from_losses(integers(0, 0), [4]), 1).accuracy("0.5").window == 1
    open_law = exponential(DownProfile([5]).loss(integers()), 1, Decaying(1))
    assert open_law.accuracy("0.05").window is None


def test_excess_loss_stays_within_its_bound_exactly() -> None:
    grid = integers(0, 999)
    law = exponential(StepLoss.from_losses(grid, [min(abs(y - 500), 40) for y in range(1000)]), 1)
    for beta in ("0.5", "0.05", "0.001"):
        window = law.accuracy(beta).window
        assert window is not None
        inside = (law.cdf(500 + window) - law.cdf(500 - window - 1)).low if window < 40 else 1
        assert inside >= 1 - Fraction(beta)


def test_values_leave_as_the_grid_has_them() -> None:
    whole = exponential(StepLoss.from_losses(integers(0, 1), [0, 1]), 1).sample()
    assert type(whole) is int
    grid = digits(1, -1, 0).between(0, 1)
    law = exponential(StepLoss.from_losses(grid, [3] * 10 + [0]), 9)
    assert Counter(law.sample(50)).most_common(1)[0][0] == 1
    assert grid.size < inf


def test_bad_input_is_refused() -> None:
    loss = StepLoss.from_losses(integers(0, 1), [0, 1])
    with pytest.raises(InvalidInput, match="epsilon"):
        exponential(loss, 0)
    with pytest.raises(InvalidInput, match="summable"):
        exponential(DownProfile([5]).loss(integers(0)), 1)
    for wrong in ({"width": 0}, {"width": 1, "ratio": 1}, {"width": 1, "growth": 0}):
        with pytest.raises(InvalidInput):
            Decaying(**wrong)
