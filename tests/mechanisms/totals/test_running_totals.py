"""Trees over bins: what is released when, what a person moves, and the fit of the bins.

Random tests have a false-alarm rate of at most 1e-6.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tacit.answers.nodes import Block, Fit
from tacit.errors import InvalidInput
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms import running_totals
from tacit.mechanisms.totals.running_totals import batch_laws, blocks_for, capped, opening, passes

STREAMS = [p for p in product((0, 1, 3), repeat=3) if any(p)]


@pytest.mark.parametrize("brought", [*STREAMS, (-2, 3, -1), (0, -5, 4)])
@pytest.mark.parametrize("cap", [1, 2, 3, 9])
def test_a_person_counts_for_the_cap_at_most_and_earlier_bins_never_change(brought: tuple[int, ...], cap: int) -> None:
    counted = capped(brought, cap)
    assert sum(map(abs, counted)) == min(cap, sum(map(abs, brought)))
    assert all(abs(v) <= abs(x) and v * x >= 0 for v, x in zip(counted, brought, strict=True))
    assert [capped(brought[:n], cap) for n in (1, 2)] == [counted[:1], counted[:2]]
    assert sum(passes(brought, cap)) == (sum(map(abs, brought)) > cap)


@pytest.mark.parametrize("cap", [1, 2, 4])
def test_rows_that_come_late_still_add_up_to_the_cap(cap: int) -> None:
    """Bins grow between the releases of their leaf and of their node: every level of nodes moves by the cap at most."""
    for before, extra in product(product((0, 1, 2), repeat=2), repeat=2):
        after = [x + more for x, more in zip(before, extra, strict=True)]
        leaves = capped(before, cap)[0] + capped(after, cap)[1]  # the first was released before the late rows
        assert leaves <= cap
        assert sum(capped(after, cap)) <= cap


@pytest.mark.parametrize("concentrated", [False, True])
@pytest.mark.parametrize("bins", [1, 2, 3, 15, 16, 17, 60, 365, 3_000])
def test_every_bin_is_in_one_node_of_each_level_whose_shares_add_up(bins: int, concentrated: bool) -> None:
    block = opening(bins, concentrated)
    assert block.bins == bins
    assert sum(block.weights) == 1
    for level, size in enumerate(block.sizes):
        assert block.complete(level, bins) * size >= bins > (block.complete(level, bins) - 1) * size
    assert [sum(level) for level in block.totals([1] * bins, 0)] == [bins] * len(block.sizes)


@pytest.mark.parametrize("batches", [(40,), (1,) * 40, (3, 30, 7)])
def test_each_node_is_released_once_in_whatever_batches_the_bins_come(batches: tuple[int, ...]) -> None:
    values, done, seen = list(range(40)), 0, 0
    blocks: tuple[Block, ...] = ()
    for size in batches:
        blocks = blocks_for(blocks, done + size, False)
        laws = batch_laws(values[: done + size], blocks, done, 1, 1)
        seen += sum(len(law._parts) for levels in laws for law in levels if law is not None)
        done += size
    first, ends = 0, []
    for block in blocks:
        inside = min(block.bins, 40 - first)
        ends.append(sum(block.complete(level, inside) for level in range(len(block.sizes))))
        first += block.bins
    assert seen == sum(ends)


@pytest.mark.parametrize("person", list(product((-1, 0, 2), repeat=3)))
def test_gaussian_noise_over_every_stream_of_three_bins(person: tuple[int, ...]) -> None:
    """The exact ρ between the laws with and without a person, the other one bringing something too."""
    other, cap, rho = (1, 0, -2), 2, Fraction(1, 2)
    pair = [
        [sum(column) for column in zip(*(capped(p, cap) for p in x), strict=True)] for x in ((other,), (other, person))
    ]
    for batches in ((3,), (2, 1), (1, 1, 1)):
        one, two = (running_totals(values, cap, rho=rho, batches=batches) for values in pair)
        loss = one.concentrated_loss(two)
        assert loss is not None
        assert loss.high <= rho + Fraction(1, 2**100)  # the sum of its parts is rounded upwards
        assert not loss.above(rho)
        assert one.guarantee == Zcdp(rho)


def test_a_law_that_is_asked_wrongly_is_refused() -> None:
    with pytest.raises(InvalidInput):
        running_totals([1, 2], 1, 1, batches=(1,))
    with pytest.raises(InvalidInput):
        running_totals([1, 2], 1)
    assert running_totals([1, 2], 1, 2).guarantee == Pure(2)


@pytest.mark.parametrize("block", [Block(7, (1, 3), (Fraction(1, 3), Fraction(2, 3))), opening(20, True)])
@pytest.mark.parametrize("done", [1, 5, 7])
def test_the_fit_is_that_of_least_squares(block: Block, done: int) -> None:
    variances = tuple(float(1 / w) for w in block.weights)
    rows, noisy, precisions, draw = [], [], [], np.random.default_rng(1)
    totals: list[list[int]] = []
    for level, size in enumerate(block.sizes):
        totals.append([])
        for node in range(block.complete(level, done)):
            rows.append([float(node * size <= i < (node + 1) * size) for i in range(done)])
            totals[-1].append(int(draw.integers(-9, 9)))
            noisy.append(totals[-1][-1])
            precisions.append(1 / variances[level])
    a, p = np.array(rows), np.array(precisions)
    inverse = np.linalg.inv(a.T @ (p[:, None] * a))
    fit = Fit(block, done, variances)
    assert np.allclose(fit.bins(totals), inverse @ (a.T @ (p * np.array(noisy))))
    wanted = np.array([float(1 <= i < 4) for i in range(done)])
    variance, largest = fit.error(1, 4)
    assert np.isclose(variance, wanted @ inverse @ wanted)
    coefficients = np.abs(p * (a @ inverse @ wanted))
    assert np.isclose(max(largest), coefficients.max())
