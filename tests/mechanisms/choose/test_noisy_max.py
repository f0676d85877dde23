"""Report noisy max: equal in law to what its docstring says, and to noise added the literal way."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import exp, prod

import pytest
from scipy.integrate import quad

from tacit.curves import DownProfile, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.mechanisms import exponential, noisy_max, permute_and_flip
from tacit.randomness import SYSTEM, LazyExponential
from tests.mechanisms.binned import agrees_between
from tests.support import agrees

LOSSES = [3, 1, 0, 0, 2, 5]
GRID = integers(0, 5)


@pytest.mark.parametrize("general", [True, False])
def test_exponential_noise_is_permute_and_flip_and_gumbel_noise_the_exponential_mechanism(general: bool) -> None:
    loss = StepLoss.from_losses(GRID, LOSSES, not general)
    for noise, twin in (("exponential", permute_and_flip), ("gumbel", exponential)):
        law, other = noisy_max(loss, 1, noise), twin(loss, 1)
        assert [law.pmf(i) for i in range(6)] == [other.pmf(i) for i in range(6)]
        assert law.accuracy("0.1") == other.accuracy("0.1")


@pytest.mark.parametrize("general", [True, False])
def test_laplace_probabilities_match_numerical_integration(general: bool) -> None:
    law, gamma = noisy_max(StepLoss.from_losses(GRID, LOSSES, not general), 1, "laplace"), 0.5 if general else 1.0

    def below(x: float) -> float:
        return exp(x) / 2 if x < 0 else 1 - exp(-x) / 2

    def density(y: int) -> Callable[[float], float]:
        others = [loss for i, loss in enumerate(LOSSES) if i != y]
        return lambda x: exp(-abs(x + gamma * LOSSES[y])) / 2 * prod(below(x + gamma * loss) for loss in others)

    edges = [-60.0, *sorted({-gamma * loss for loss in LOSSES}), 60.0]
    for y in range(6):
        parts = [quad(density(y), a, b)[0] for a, b in pairwise(edges)]
        assert float(law.pmf(y)) == pytest.approx(sum(parts), rel=1e-9)
    assert float(law.cdf(4)) == pytest.approx(1 - float(law.pmf(5)))
    assert law.pmf(0).width < law.pmf(0).low / 2**100


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_the_law_is_that_of_noise_added_to_every_value(noise: str) -> None:
    """Literally: −γℓ + N for each value, the largest wins; false alarm 1e-7."""
    losses = [1, 0, 2]
    law = noisy_max(StepLoss.from_losses(integers(0, 2), losses), 1, noise)

    def score(loss: int) -> Fraction:
        size = LazyExponential(SYSTEM).enclosure(64).low
        return (-size if noise == "laplace" and SYSTEM.bits(1) else size) - Fraction(loss, 2)

    def literal() -> int:
        scores = [score(loss) for loss in losses]
        return scores.index(max(scores))

    assert agrees((literal() for _ in range(10_000)), {i: float(law.pmf(i)) for i in range(3)})


@pytest.mark.parametrize("noise", ["exponential", "laplace", "gumbel"])
def test_long_runs_race_as_one(noise: str) -> None:
    """Runs of 9 to 40 points, which are drawn by the smallest of many at once; false alarm 1e-7."""
    loss = DownProfile([40, 31, 20]).loss(integers(0, 59))
    law = noisy_max(loss, "0.7", noise)
    assert agrees_between(law, [9, 19, 25, 30, 39, 49], 10_000, bits=64)


def test_gumbel_noise_on_a_grid_of_2_to_the_64() -> None:
    """Against the exponential mechanism's cdf; false alarm 1e-7."""
    profile = [2**63 - i * 2**50 for i in range(30)]
    law = noisy_max(DownProfile(profile).shifted_loss(integers(0, 2**64 - 1), 15), 4, "gumbel")
    assert agrees_between(law, profile[10:20][::-1], 2_000)


def test_laplace_accuracy_holds_exactly_and_is_the_least_its_bound_gives() -> None:
    losses = [min(abs(y - 30), 20) for y in range(60)]
    law = noisy_max(StepLoss.from_losses(integers(0, 59), losses), 1, "laplace")
    for beta in (Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000)):
        window = law.accuracy(beta).window
        assert window is not None
        bound = [60 * (0.5 + t / 8) * exp(-t / 2) for t in (window, window + 1)]
        assert bound[1] <= beta < bound[0]
        inside = [law.pmf(y, 64) for y, loss in enumerate(losses) if loss <= window]
        assert sum((p.low for p in inside), Fraction(0)) >= 1 - beta - Fraction(1, 2**50)


def test_bad_input_is_refused_and_repr_is_silent() -> None:
    loss = StepLoss.from_losses(GRID, LOSSES)
    with pytest.raises(InvalidInput, match="noise"):
        noisy_max(loss, 1, "cauchy")
    with pytest.raises(InvalidInput, match="64"):
        noisy_max(DownProfile([5]).loss(integers(0, 64)), 1, "laplace").pmf(0)
    with pytest.raises(InvalidInput, match="finite"):
        noisy_max(DownProfile([5]).loss(integers()), 1)
    assert repr(noisy_max(loss, 1, "laplace")) == "<noisy max, laplace noise, law, Pure(1) for one draw>"
