"""Noisy binary search: the exact law, its paths, the window it states, and what it refuses."""

from fractions import Fraction
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.curves import DownProfile, Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.search.binary_search import BinarySearchLaw, binary_search
from tacit.noises import DiscreteGaussian, DiscreteLaplace
from tests.mechanisms.binned import agrees_between
from tests.support import agrees

N = 2**64
HUGE = integers(0, N - 1)
BETA = Fraction(1, 20)


def chance(law: BinarySearchLaw, loss: int) -> float:
    """P[ℓ + Z ≤ τ] by summing the noise, in floats."""
    if isinstance(law.noise, DiscreteLaplace):
        weights = {z: exp(-float(law.noise.rate) * abs(z)) for z in range(-400, 401)}
    else:
        weights = {z: exp(-z * z / 2 / float(law.noise.variance)) for z in range(-400, 401)}
    return sum(w for z, w in weights.items() if loss + z <= law.target) / sum(weights.values())


def directly(law: BinarySearchLaw, values: list[int]) -> dict[int, float]:
    """The law by following both branches of every comparison."""
    result: dict[int, float] = {}
    depth = (len(values) - 1).bit_length()

    def go(low: int, high: int, left: int, reached: float) -> None:
        if high - low == 1:
            result[high] = reached
            return
        middle = low + 2 ** (left - 1)
        if middle >= high:
            go(low, high, left - 1, reached)
            return
        small = chance(law, values[middle])
        go(low, middle, left - 1, reached * small)
        go(middle, high, left - 1, reached * (1 - small))

    go(-1, len(values) - 1, depth, 1.0)
    return result


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.integers(0, 5), st.booleans())
def test_law_equals_the_definition(values: list[int], target: int, pure: bool) -> None:
    loss = StepLoss.from_losses(integers(0, len(values) - 1), values)
    law = binary_search(loss, target, epsilon=3) if pure else binary_search(loss, target, rho=1)
    found = {int(y): float(law.pmf(y)) for y in law.outcomes()}
    assert found == pytest.approx(directly(law, values), abs=1e-12)
    assert sum(found.values()) == pytest.approx(1)
    running = 0.0
    for y, p in found.items():
        running += p
        assert float(law.cdf(y)) == pytest.approx(running, abs=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 8, 9, 33])
def test_comparisons_are_whole_and_every_value_can_be_returned(size: int) -> None:
    loss = StepLoss.from_losses(integers(0, size - 1), [1] * size)
    law = binary_search(loss, 1, epsilon=1)
    assert 2 ** (law.comparisons - 1) < size <= 2**law.comparisons
    paths = [list(law._looks(position)) for position in range(size)]
    assert max(len(path) for path in paths) == law.comparisons  # never more, and the first value needs all of them
    assert len(paths[0]) == law.comparisons
    assert all(float(law.pmf(position)) > 0 for position in range(size))
    if law.comparisons:
        assert isinstance(law.noise, DiscreteLaplace)
        assert law.noise.rate * law.comparisons == 1


def test_noise_spends_exactly_what_is_promised() -> None:
    loss = StepLoss.from_losses(integers(0, 5), [0] * 6)
    gaussian = binary_search(loss, rho="0.5").noise
    assert isinstance(gaussian, DiscreteGaussian)
    assert 3 / (2 * gaussian.squared_scale) == Fraction(1, 2)
    assert binary_search(loss, epsilon=2).guarantee == Pure(2)
    assert binary_search(loss, rho=2).guarantee == Zcdp(2)


@pytest.mark.parametrize("pure", [True, False])
def test_sampler_agrees_with_law(pure: bool) -> None:
    """10,000 draws on a small grid, 1,500 on 2^64; false alarm 1e-7 each."""
    values = [6, 5, 5, 3, 2, 1]
    loss = StepLoss.from_losses(integers(0, 5), values)
    law = binary_search(loss, 2, epsilon=2) if pure else binary_search(loss, 2, rho=2)
    assert agrees(law.sample(10_000), {y: float(law.pmf(y)) for y in law.outcomes()})
    huge = StepLoss(HUGE, (Run(0, 2**61, 90), Run(2**61 + 1, 2**63, 40), Run(2**63 + 1, N - 1, 0)), True)
    wide = binary_search(huge, 45, epsilon=4) if pure else binary_search(huge, 45, rho="0.02")
    marks = [
        2**60,
        2**61 - 1,
        2**61,
        2**61 + 2**40,
        3 * 2**60,
        2**62,
        3 * 2**61,
        2**63 - 1,
        2**63,
        2**63 + 1,
        3 * 2**62,
    ]
    assert agrees_between(wide, marks, 1500, bits=64)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=7), st.booleans(), st.sampled_from(["0.05", "0.3"]))
def test_window_holds_for_every_falling_loss(values: list[int], pure: bool, beta: str) -> None:
    falling = [*sorted(values, reverse=True), 0]
    loss = StepLoss.from_losses(integers(0, len(values)), falling, True)
    law = binary_search(loss, epsilon=2, beta=beta) if pure else binary_search(loss, rho="0.5", beta=beta)
    window = law.accuracy(beta).window
    assert window == 2 * law.target
    good = sum(float(law.pmf(y)) for y in range(falling.index(0) + 1) if falling[y] <= window)
    assert good >= 1 - float(Fraction(beta)) - 1e-12


def test_target_at_2_64() -> None:
    """The plain search needs a target of about 115 where the Bayesian one does with 60."""
    law = binary_search(DownProfile([2**63]).loss(HUGE), rho="0.0244")
    assert 105 <= law.target <= 120
    noise = law.noise
    assert law.target == noise.limit_of_all(64, BETA)
    assert float((1 - noise.tail(law.target + 1, 64, sharp=True)) ** 64) >= 0.95
    assert float((1 - noise.tail(law.target, 64, sharp=True)) ** 64) < 0.95


def test_refusals_and_repr() -> None:
    loss = StepLoss.from_losses(integers(0, 3), [3, 2, 1, 0], True)
    with pytest.raises(InvalidInput, match="epsilon or rho"):
        binary_search(loss)
    with pytest.raises(InvalidInput, match="epsilon or rho"):
        binary_search(loss, epsilon=1, rho=1)
    with pytest.raises(InvalidInput, match="finite"):
        binary_search(StepLoss(integers(0, None), (Run(0, None, 0),)), epsilon=1)
    with pytest.raises(InvalidInput, match="target"):
        binary_search(loss, -1, epsilon=1)
    with pytest.raises(InvalidInput, match="target"):
        binary_search(loss, 0, epsilon=1).accuracy(BETA)
    other = StepLoss.from_losses(integers(0, 3), [0, 0, 0, 0], True)
    assert repr(binary_search(loss, epsilon=1)) == repr(binary_search(other, epsilon=1))
    assert binary_search(loss, epsilon=1).accuracy(BETA) == binary_search(other, epsilon=1).accuracy(BETA)
