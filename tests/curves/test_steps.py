"""Step losses: runs that cover a grid, equal to the list they stand for, and silent about the data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.curves import Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers

loss_lists = st.lists(st.integers(0, 5), min_size=1, max_size=30)


@given(losses=loss_lists, start=st.integers(-9, 9), limit=st.integers(0, 6))
def test_runs_stand_for_the_list(losses: list[int], start: int, limit: int) -> None:
    grid = integers(start, start + len(losses) - 1)
    loss = StepLoss.from_losses(grid, losses, one_directional=True)
    assert [loss.at(start + i) for i in range(len(losses))] == losses
    assert loss.minimum == min(losses)
    clamped = loss.clamped(limit)
    assert [clamped.at(start + i) for i in range(len(losses))] == [min(x, limit) for x in losses]
    assert clamped.one_directional
    assert sum(run.length or 0 for run in loss.runs) == len(losses)


def test_open_ends_and_large_grids_are_never_expanded() -> None:
    loss = StepLoss(integers(), (Run(None, -1, 2), Run(0, 2**80, 1), Run(2**80 + 1, None, 0)))
    assert [loss.at(i) for i in (-(10**40), -1, 0, 2**80, 2**80 + 1, 10**40)] == [2, 2, 1, 1, 0, 0]
    assert loss.runs[0].length is None


@pytest.mark.parametrize(
    "runs",
    [
        (),
        (Run(0, 8, 1),),
        (Run(1, 9, 1),),
        (Run(0, 4, 1), Run(6, 9, 0)),
        (Run(0, 5, 1), Run(5, 9, 0)),
        (Run(0, 4, 1), Run(5, 9, 1)),
        (Run(0, 4, -1), Run(5, 9, 1)),
        (Run(0, 4, 3), Run(5, 4, 2), Run(5, 9, 1)),
        (Run(0, None, 3), Run(5, 9, 2)),
    ],
)
def test_runs_that_do_not_form_a_loss_are_refused(runs: tuple[Run, ...]) -> None:
    with pytest.raises(InvalidInput):
        StepLoss(integers(0, 9), runs)


def test_lists_that_do_not_fit_the_grid_are_refused() -> None:
    for grid, losses in [(integers(0, 2), [1, 2]), (integers(0, None), [1, 2]), (integers(0, 1), [0, -1])]:
        with pytest.raises(InvalidInput):
            StepLoss.from_losses(grid, losses)
    with pytest.raises(InvalidInput, match="index"):
        StepLoss.from_losses(integers(0, 1), [0, 1]).at(2)


def test_repr_shows_only_the_grid() -> None:
    first = StepLoss.from_losses(integers(0, 2), [1, 2, 3], one_directional=True)
    second = StepLoss.from_losses(integers(0, 2), [7, 7, 7], one_directional=True)
    assert repr(first) == repr(second) == "<one-directional step loss on <integers, 0 to 2>>"
