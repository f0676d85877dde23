"""Interior point: each step against its definition, the sampler against the law, the window and its constants."""

from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.curves import Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Approx
from tacit.mechanisms.choose.exponential import exponential
from tacit.mechanisms.search.interior_point import (
    InteriorDesign,
    InteriorPointLaw,
    block_loss,
    design_for,
    interior_point,
    scale_loss,
    spaced_loss,
)
from tests.support import agrees

N = 2**64
HUGE = integers(0, N - 1)
BETA = Fraction(1, 20)
DELTA = Fraction(1, 10**6)

losses = st.lists(st.integers(0, 6), min_size=1, max_size=24)


@given(losses, st.integers(0, 6))
def test_scale_loss_equals_its_definition(values: list[int], depth: int) -> None:
    size = len(values)
    heights = [
        min(max(values[i : i + 2**j]) for i in range(size - 2**j + 1)) for j in range(size.bit_length()) if 2**j <= size
    ]
    found = scale_loss(StepLoss.from_losses(integers(0, size - 1), values), depth)
    for j, height in enumerate(heights):
        above = heights[j + 1] if j + 1 < len(heights) else depth
        assert found.at(j) == max(height - depth, depth - above, 0)
    assert found.grid.size == len(heights)


@given(losses, st.integers(1, 9), st.integers(0, 20))
def test_block_loss_equals_its_definition(values: list[int], length: int, offset: int) -> None:
    blocks: dict[int, int] = {}
    for position, value in enumerate(values):
        block = (position + offset) // length
        blocks[block] = min(value, blocks.get(block, value))
    found = block_loss(StepLoss.from_losses(integers(0, len(values) - 1), values, True), length, offset)
    assert {block: found.at(block) for block in range(min(blocks), max(blocks) + 1)} == blocks
    assert found.one_directional


@given(losses, st.integers(1, 9), st.data())
def test_spaced_loss_equals_its_definition(values: list[int], cell: int, data: st.DataObject) -> None:
    cells = (len(values) - 1) // cell
    start = data.draw(st.integers(0, cells))
    end = data.draw(st.integers(start, cells))
    found = spaced_loss(StepLoss.from_losses(integers(0, len(values) - 1), values), cell, start, end)
    assert [found.at(c) for c in range(start, end + 1)] == [values[c * cell] for c in range(start, end + 1)]


def valley(bottom: int, step: int, top: int = 2000) -> StepLoss:
    """A loss that rises by 1 every ``step`` values away from ``bottom``."""
    below = [Run(bottom - j * step, bottom - (j - 1) * step - 1, j) for j in range(top - 1, 0, -1)]
    above = [Run(bottom + 1 + (j - 1) * step, bottom + j * step, j) for j in range(1, top)]
    low, high = Run(0, bottom - (top - 1) * step - 1, top), Run(bottom + (top - 1) * step + 1, N - 1, top)
    return StepLoss.joined(HUGE, [low, *below, Run(bottom, bottom, 0), *above, high])


def test_sampler_agrees_with_law() -> None:
    """10,000 draws for one level and two; false alarm 1e-7 each."""
    design = InteriorDesign(Fraction(1), Fraction(2), Fraction(1), Fraction(1, 10), 2, 2, 0)
    values = [6, 5, 3, 2, 0, 1, 2, 4, 4]
    loss = StepLoss.from_losses(integers(3, 11), values)
    deep = replace(design, inner=design)
    for used in (design, deep):
        law = InteriorPointLaw(loss, used, Approx(4, Fraction(1, 10)), BETA)
        probabilities: dict[Hashable, float] = {y: float(law.pmf(y)) for y in law.outcomes()}
        assert sum(probabilities.values()) == pytest.approx(1)
        assert agrees(law.sample(10_000), probabilities)


def test_window_holds_on_a_grid_of_2_64() -> None:
    """At most 5 % are promised to miss; 31 of 200 would be a false alarm of 1e-7."""
    random, missed = Random(5), 0
    for _ in range(200):
        step = 2 ** random.randrange(0, 50)
        loss = valley(random.randrange(2**62, 2**63), step) if random.random() < 0.1 else _jump(random, step)
        law = interior_point(loss, 1, DELTA)
        window = law.accuracy(BETA).window
        assert window is not None
        missed += loss.at(int(law.sample())) > window
    assert missed < 31


def _jump(random: Random, width: int) -> StepLoss:
    """0 on an interval of some width, far too large elsewhere."""
    first = random.randrange(2**62, 2**63)
    return StepLoss(HUGE, (Run(0, first - 1, 1000), Run(first, first + width, 0), Run(first + width + 1, N - 1, 1000)))


def test_constants_are_as_stated() -> None:
    one, two = (design_for(N, Fraction(1), DELTA, BETA, levels, False) for levels in (1, 2))
    assert one.window == 262
    assert two.window > one.window
    for exponent, better in ((64, False), (194, False), (196, True), (1024, True)):
        grid = integers(0, 2**exponent - 1)
        loss = StepLoss(grid, (Run(0, 2**exponent - 1, 0),))
        choice = exponential(loss, 1).accuracy(BETA).window
        search = interior_point(loss, 1, DELTA).accuracy(BETA).window
        assert choice is not None
        assert search is not None
        assert (search < choice) == better


def test_plans_spend_exactly_what_is_promised() -> None:
    for levels in (1, 2, 3):
        design: InteriorDesign | None = design_for(N, Fraction(1), DELTA, BETA, levels, False)
        epsilon, delta = Fraction(0), Fraction(0)
        while design is not None:
            epsilon += design.block + design.value + (design.scale if design.inner is None else 0)
            delta += design.delta
            design = design.inner
        assert epsilon == 1
        assert delta == DELTA


def test_target_and_refusals() -> None:
    loss = StepLoss.from_losses(integers(0, 3), [9, 7, 5, 8])
    raised = StepLoss.from_losses(integers(0, 3), [4, 2, 0, 3])
    law, same = interior_point(loss, 1, "0.01", 5), interior_point(raised, 1, "0.01")
    assert [law.pmf(y) for y in range(4)] == [same.pmf(y) for y in range(4)]
    assert law.guarantee == Approx(1, "0.01")
    assert repr(law) == repr(same)
    statement, window = same.accuracy(BETA).statement, same.accuracy(BETA).window
    assert str(window) in statement
    with pytest.raises(InvalidInput, match="beta"):
        law.accuracy("0.01")
    with pytest.raises(InvalidInput, match="finite"):
        interior_point(StepLoss(integers(0, None), (Run(0, None, 0),)), 1, DELTA)
    with pytest.raises(InvalidInput, match="levels"):
        interior_point(loss, 1, DELTA, levels=0)
    with pytest.raises(InvalidInput, match="64 values"):
        interior_point(valley(2**62, 1), 1, DELTA).pmf(0)
