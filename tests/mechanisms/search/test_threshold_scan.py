"""Threshold scans: the exact law, its sampler, the window it states, and what it refuses."""

from fractions import Fraction
from math import exp, inf
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.curves import DownProfile, Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers, powers
from tacit.guarantees import Pure
from tacit.mechanisms.search.scan_rates import best_offset, best_share, rates
from tacit.mechanisms.search.threshold_scan import ScanLaw, threshold_scan
from tests.mechanisms.binned import agrees_between
from tests.support import agrees

N = 2**64
HUGE = integers(0, N - 1)
BETA = Fraction(1, 20)
DIRECTIONS = ("up", "down")


def directly(loss: StepLoss, law: ScanLaw, up: bool) -> list[float]:
    """The law of a scan on a small grid by its definition, in floats."""
    first, last = loss.grid.first, loss.grid.last
    assert first is not None
    assert last is not None
    threshold, each = float(law.rates.threshold), float(law.rates.each)
    result = dict.fromkeys(range(first, last + 1), 0.0)
    for xi in range(int(60 / threshold)):
        going = (1 - exp(-threshold)) * exp(-threshold * xi)
        for index in range(first, last + 1) if up else range(last, first - 1, -1):
            need = (loss.at(index) - law.offset if up else law.offset - loss.at(index)) + xi
            chance = exp(-each * max(0, need))
            result[index if up else min(last, index + 1)] += going * chance
            going *= 1 - chance
        result[last if up else first] += going
    return list(result.values())


losses = st.lists(st.integers(0, 6), min_size=1, max_size=7)


@settings(max_examples=25, deadline=None)
@given(losses, st.sampled_from(DIRECTIONS), st.integers(0, 5), st.sampled_from(["0.2", "0.5", "0.8"]), st.booleans())
def test_law_equals_the_definition(values: list[int], direction: str, offset: int, split: str, one: bool) -> None:
    loss = StepLoss.from_losses(integers(-2, len(values) - 3), values, one)
    law = threshold_scan(loss, 1, direction, split, offset)
    exact = [law.pmf(y) for y in law.outcomes()]
    assert all(p.width <= p.high / 2**100 for p in exact)
    assert [float(p) for p in exact] == pytest.approx(directly(loss, law, direction == "up"), abs=1e-12)
    running = 0.0
    for y, p in zip(law.outcomes(), exact, strict=True):
        running += float(p)
        assert float(law.cdf(y)) == pytest.approx(running, abs=1e-12)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_long_stretches_equal_short_ones(direction: str) -> None:
    """The same law whether a stretch is skipped by logarithms or multiplied point by point."""
    values = [4] * 30 + [2] * 3 + [1] * 40 + [0] * 27
    loss = StepLoss.from_losses(integers(0, 99), values, True)
    law = threshold_scan(loss, 2, direction, offset=3)
    assert [float(law.pmf(y)) for y in law.outcomes()] == pytest.approx(directly(loss, law, direction == "up"))


def staircase(top: int, steps: int) -> DownProfile:
    return DownProfile([top - j * (top // (steps + 1)) for j in range(steps)])


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_sampler_agrees_with_law_on_a_grid_of_2_64(direction: str) -> None:
    """100,000 draws, false alarm 1e-7."""
    runs = [Run(0, 2**60, 18), Run(2**60 + 1, 2**63, 16), Run(2**63 + 1, 2**63 + 9, 6), Run(2**63 + 10, N - 1, 0)]
    law = threshold_scan(StepLoss(HUGE, tuple(runs), True), 3, direction, "0.3", 3 if direction == "up" else 16)
    marks = [2**58, 2**59, 2**60, 2**61, 2**62, *range(2**63 - 2, 2**63 + 15), 3 * 2**62, N - 1]
    assert agrees_between(law, marks, 3 * 10**4)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_sampler_agrees_with_law_on_a_profile_of_many_steps(direction: str) -> None:
    """4,000 draws, false alarm 1e-7; neighbouring stretches are tried together here."""
    profile = staircase(N // 2, 200)
    law = threshold_scan(profile.loss(HUGE), 1, direction)
    marks = [int(profile.values[j]) for j in (90, 75, 70, 65, 60, 55, 50, 40, 30, 25, 20, 15, 10, 5, 0)]
    assert agrees_between(law, marks, 4000, bits=64)


def test_sampler_agrees_with_law_on_an_open_grid() -> None:
    """10,000 draws, false alarm 1e-7."""
    grid = powers(2)
    loss = StepLoss(grid, (Run(0, 4, 9), Run(5, 6, 3), Run(7, None, 0)), True)
    law = threshold_scan(loss, 1)
    assert agrees(law.sample(10_000), {grid.answer(i): float(law.pmf(grid.value(i))) for i in range(80)})
    total = sum(float(law.pmf(grid.value(i))) for i in range(31))
    assert float(law.cdf(2**30)) == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "split", "offset", "chance"), [("0.5", "0.65", 8, 6e-6), ("1", "0.2", 70, 0), ("1", "0.2", 10, 0.03)]
)
def test_how_long_a_walk_goes_on_after_loss_0(epsilon: str, split: str, offset: int, chance: float) -> None:
    """Figures of the design: after 200 levels of loss 0."""
    grid = integers(0, 10**6)
    law = threshold_scan(StepLoss(grid, (Run(0, 10**6, 0),), True), epsilon, "up", split, offset)
    assert float(1 - law.cdf(199)) == pytest.approx(chance, rel=0.1, abs=1e-6)


def test_parameters_at_2_64() -> None:
    """The public rule finds the split and the threshold of the design, and a window below 80."""
    assert best_share(Fraction(1), (0, 1), N, False, BETA) == Fraction(1, 5)
    law = threshold_scan(staircase(N // 2, 500).loss(HUGE), 1, "down")
    assert (law.rates.threshold, law.rates.each, law.offset) == (Fraction(1, 5), Fraction(4, 5), 59)
    window = law.accuracy(BETA).window
    assert window is not None
    assert window < 80
    assert best_share(Fraction(1), (0, 1), N, True, BETA) * 27 >= 17


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_stated_window_holds_exactly_where_it_is_hardest(direction: str) -> None:
    """All of 2^64 points lie on one side of a jump from just beyond the window to 0."""
    plain = threshold_scan(staircase(N // 2, 500).loss(HUGE), 1, direction)
    window = plain.accuracy(BETA).window
    assert window is not None
    jump = N - 2 if direction == "up" else 1
    loss = StepLoss(HUGE, (Run(0, jump - 1, window + 1), Run(jump, N - 1, 0)), True)
    law = threshold_scan(loss, 1, direction)
    missed = 1 - float(law.cdf(jump) - law.cdf(jump - 1))
    assert 0.03 < missed <= 0.05


def test_figures_of_the_design_downward() -> None:
    """(0.2, 0.8), c = 59: the answer lies in [D_77, D_0] with probability at least 0.961, whatever the profile."""
    loss = StepLoss(HUGE, (Run(0, 0, 78), Run(1, N - 1, 0)), True)
    law = threshold_scan(loss, 1, "down", "0.2", 59)
    assert float(law.cdf(1) - law.cdf(0)) >= 0.961


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=6),
    st.sampled_from(DIRECTIONS),
    st.sampled_from(["0.5", "1", "3"]),
    st.sampled_from(["0.05", "0.2", "0.5"]),
)
def test_window_holds_for_every_falling_loss(values: list[int], direction: str, epsilon: str, beta: str) -> None:
    falling = [*sorted(values, reverse=True), 0]
    loss = StepLoss.from_losses(integers(0, len(values)), falling, True)
    law = threshold_scan(loss, epsilon, direction, beta=beta)
    window = law.accuracy(beta).window
    assert window is not None
    true = falling.index(0)
    good = sum(float(law.pmf(y)) for y in range(true + 1) if falling[y] <= window)
    assert good >= 1 - float(Fraction(beta)) - 1e-12


@given(
    st.integers(0, 4),
    st.integers(1, 4),
    st.fractions(Fraction(1, 100), Fraction(99, 100)),
    st.integers(1, 50),
    st.data(),
)
def test_rates_spend_exactly_epsilon(r: int, s: int, share: Fraction, epsilon: int, data: st.DataObject) -> None:
    moves = data.draw(st.sampled_from([(r, s), (s, r)]))
    pair = rates(Fraction(epsilon), moves, share)
    assert pair.threshold * max(r, s) + pair.each * (r + s) == epsilon


@given(st.integers(1, 2**70), st.sampled_from(["0.05", "1", "7"]), st.booleans())
@settings(max_examples=20, deadline=None)
def test_rule_keeps_its_failure_probability(size: int, epsilon: str, up: bool) -> None:
    pair = rates(Fraction(epsilon), (0, 1), best_share(Fraction(epsilon), (0, 1), size, False, BETA))
    both, c = best_offset(pair, size, up, BETA)
    late, early = (c, both - c) if up else (both - c, c)
    assert (pair.late(late) + pair.early(size, early)).low <= BETA


def test_ends_of_the_walk() -> None:
    alone = StepLoss.from_losses(integers(5, 5), [3])
    for direction in DIRECTIONS:
        law = threshold_scan(alone, 1, direction)
        assert law.sample() == 5
        assert float(law.pmf(5)) == 1
    steep = StepLoss.from_losses(integers(0, 2), [40, 40, 40], True)
    up, down = (threshold_scan(steep, 10, direction, offset=5) for direction in DIRECTIONS)
    assert float(up.pmf(2)) > 0.99  # nothing stops: the last value
    assert float(down.pmf(2)) > 0.99  # the first point stops: the top
    flat = StepLoss.from_losses(integers(0, 2), [0, 0, 0], True)
    assert float(threshold_scan(flat, 10, "down", offset=20).pmf(0)) > 0.99  # nothing stops: the bottom


def test_one_draw_is_quick() -> None:
    """At most 10 ms from 500 steps on a grid of 2^64; the fastest of several counts, the machine may be busy."""
    loss = staircase(N // 2, 500).loss(HUGE)
    for direction in DIRECTIONS:
        law = threshold_scan(loss, 1, direction)
        law.sample()
        times = []
        for _ in range(20):
            start = perf_counter()
            law.sample()
            times.append(perf_counter() - start)
        assert min(times) < 0.01


def test_repr_and_statement_are_public() -> None:
    grid = integers(0, 3)
    one, other = (StepLoss.from_losses(grid, values, True) for values in ([3, 2, 1, 0], [0, 0, 0, 0]))
    assert repr(threshold_scan(one, 1)) == repr(threshold_scan(other, 1))
    assert threshold_scan(one, 1).accuracy(BETA) == threshold_scan(other, 1).accuracy(BETA)
    assert threshold_scan(one, 1).guarantee == Pure(1)
    statement = threshold_scan(StepLoss(powers(2), (Run(0, None, 0),), True), 1).accuracy(BETA).statement
    assert "2^64" in statement


def test_refusals() -> None:
    loss = StepLoss.from_losses(integers(0, 3), [3, 2, 1, 0], True)
    endless = StepLoss(integers(0, None), (Run(0, None, 0),), True)
    assert endless.grid.size == inf
    with pytest.raises(InvalidInput, match="direction"):
        threshold_scan(loss, 1, "sideways")
    with pytest.raises(InvalidInput, match="epsilon"):
        threshold_scan(loss, 0)
    with pytest.raises(InvalidInput, match="split"):
        threshold_scan(loss, 1, split=1)
    with pytest.raises(InvalidInput, match="offset"):
        threshold_scan(loss, 1, offset=-1)
    with pytest.raises(InvalidInput, match="change"):
        threshold_scan(loss, 1, change=(0, 0))
    with pytest.raises(InvalidInput, match="highest"):
        threshold_scan(endless, 1, "down")
    with pytest.raises(InvalidInput, match=r"1\.7"):
        threshold_scan(endless, 1, split="0.2", offset=10)
    assert threshold_scan(endless, 1, split="0.2", offset=80).offset == 80
    with pytest.raises(InvalidInput, match="offset"):
        threshold_scan(loss, 1, offset=0).accuracy("0.01")
