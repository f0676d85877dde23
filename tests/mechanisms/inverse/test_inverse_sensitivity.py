"""Inverse sensitivity: a choice among mechanisms, by a loss or by a list."""

import pytest

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers, multiples
from tacit.guarantees import Pure
from tacit.mechanisms import exponential, inverse_sensitivity, noisy_max, permute_and_flip, tree_descent

LOSSES = [2, 1, 0, 1, 3]
GRID = multiples("0.5", 0, 2)
VALUES = [GRID.value(i) for i in range(5)]


def test_each_method_is_its_mechanism() -> None:
    loss = StepLoss.from_losses(GRID, LOSSES)
    expected = {
        "exponential": exponential(loss, 1),
        "permute_and_flip": permute_and_flip(loss, 1),
        "noisy_max": noisy_max(loss, 1, "laplace"),
        "tree_descent": tree_descent(loss, 1),
    }
    for method, law in expected.items():
        found = inverse_sensitivity(LOSSES, GRID, epsilon=1, method=method)
        assert [found.pmf(y) for y in VALUES] == [law.pmf(y) for y in VALUES]
        assert found.guarantee == Pure(1)
        assert found.accuracy("0.1") == law.accuracy("0.1")


def test_a_step_loss_brings_its_grid_and_its_direction() -> None:
    loss = StepLoss.from_losses(GRID, LOSSES, one_directional=True)
    assert inverse_sensitivity(loss, epsilon=1).pmf(1) == exponential(loss, 1).pmf(1)
    assert inverse_sensitivity(loss, GRID, epsilon=1).pmf(1) == exponential(loss, 1).pmf(1)


def test_bad_input_is_refused() -> None:
    loss = StepLoss.from_losses(GRID, LOSSES)
    with pytest.raises(InvalidInput, match="method"):
        inverse_sensitivity(loss, epsilon=1, method="guess")
    with pytest.raises(InvalidInput, match="grid of the loss"):
        inverse_sensitivity(loss, integers(0, 4), epsilon=1)
    with pytest.raises(InvalidInput, match="grid must be given"):
        inverse_sensitivity(LOSSES, epsilon=1)
    with pytest.raises(InvalidInput, match="one whole number for each"):
        inverse_sensitivity(LOSSES[:3], GRID, epsilon=1)
    with pytest.raises(InvalidInput):
        inverse_sensitivity([-1, 0, 0, 0, 0], GRID, epsilon=1)
    with pytest.raises(InvalidInput, match="epsilon"):
        inverse_sensitivity(loss, epsilon=0)
