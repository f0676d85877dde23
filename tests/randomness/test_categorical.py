"""Categories drawn exactly: flint's balls say which category a given uniform real falls in, to the last bit."""

from fractions import Fraction
from math import exp

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.randomness import SYSTEM, Categorical, categorical
from tacit.randomness.inversion import Inversion, Powers, decay, shares
from tests.guarantees.oracle import Ball, ball
from tests.randomness.scripted import Scripted
from tests.support import agrees

DRAWS = 10**5
PRECISION = 600
Weights = list[tuple[int, int]]

WEIGHTS = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 5), st.integers(0, 2**64)), st.one_of(st.integers(-9, 9), st.integers(0, 2**40))
    ),
    min_size=1,
    max_size=12,
).filter(lambda weights: any(m for m, _ in weights))
GAMMAS = st.one_of(
    st.fractions(0, 3, max_denominator=1000),
    st.builds(lambda n, k: Fraction(n, 10**k), st.integers(1, 9), st.integers(0, 40)),
)


def ends(weights: Weights, gamma: Fraction) -> list[Ball]:
    """The cumulative shares, as balls at the current precision; levels are counted from the lowest."""
    first = min(k for m, k in weights if m)
    parts = [arb(m) * (-ball(gamma) * (k - first)).exp() if m else arb(0) for m, k in weights]
    sums = [sum(parts[: i + 1], arb(0)) for i in range(len(parts))]
    return [part / sums[-1] for part in sums[:-1]] + [arb(1)]


def expected(uniform: Ball, cumulative: list[Ball]) -> int:
    """The category of a uniform real; flint raises no doubt at this precision."""
    for index, end in enumerate(cumulative):
        if uniform < end:
            return index
        assert uniform >= end
    raise AssertionError


@given(WEIGHTS, GAMMAS, st.integers(0, 2**256 - 1), st.sampled_from((1, 8, 64)))
def test_the_category_of_any_uniform_real(weights: Weights, gamma: Fraction, number: int, start: int) -> None:
    """A real given to 256 bits; what follows cannot matter, or flint would not be sure."""
    with ctx.workprec(PRECISION):
        uniform = (arb(number) + ball(Fraction(1, 2))) / arb(2) ** 256
        index = expected(uniform, ends(weights, gamma))
    law = Categorical(weights, gamma, start_bits=start)
    assert law.draw(Scripted(2 * number + 1, 257)) == index


@given(WEIGHTS, GAMMAS, st.data())
def test_just_below_and_just_above_every_end(weights: Weights, gamma: Fraction, data: st.DataObject) -> None:
    """A real 2^-300 beside the end of a category: only refinement to about 300 bits can tell, and it must be right."""
    with ctx.workprec(2000):
        cumulative = ends(weights, gamma)
        index = data.draw(st.sampled_from(range(len(weights))))
        end = (cumulative[index] * arb(2) ** 400).floor().unique_fmpz()
        if end is None:  # an end that is rational: nothing to tell apart
            return
        for beside in (-(2**100), 2**100):
            number = int(end) + beside
            if not 0 <= number < 2**400:
                continue
            category = expected(arb(number) / arb(2) ** 400, cumulative)
            assert Categorical(weights, gamma, start_bits=8).draw(Scripted(number, 400)) == category


def test_weights_that_differ_by_1e_30_are_told_apart() -> None:
    """Two categories 1 and e^{-10^-30}: the end lies 2.5·10^-31 above one half."""
    gamma = Fraction(1, 10**30)
    law = Categorical([(1, 0), (1, 1)], gamma)
    with ctx.workprec(PRECISION):
        end = int((arb(2) ** 200 / (1 + (-ball(gamma)).exp())).floor().unique_fmpz())
        assert abs(law.pmf(0).low - Fraction(1, 2) - Fraction(1, 4 * 10**30)) < Fraction(1, 10**38)
        assert ball(law.pmf(0).low) <= 1 / (1 + (-ball(gamma)).exp()) <= ball(law.pmf(0).high)
    assert 2**199 < end < 2**199 + 2**100
    assert law.draw(Scripted(end - 1, 200)) == 0
    assert law.draw(Scripted(end + 1, 200)) == 1
    assert law.draw(Scripted(2**199, 200)) == 0  # fair coins would say 1
    assert law.precisions == (64, 128, 256)


def test_multiplicities_that_differ_by_1e_30_are_told_apart() -> None:
    law = Categorical([(10**30, 3), (10**30 + 1, 3)], 1)
    end = Fraction(10**30, 2 * 10**30 + 1)
    number = int(end * 2**200)  # the end itself lies in this cell, so that later bits would decide
    assert law.draw(Scripted(number - 1, 200)) == 0
    assert law.draw(Scripted(number + 1, 200)) == 1
    assert law.draw(Scripted(2**199 - 1, 200)) == 1


def test_four_levels_from_eight_bits() -> None:
    """Precision is short on purpose: refinement happens, and the law does not feel it."""
    weights = [(3, 2), (5, 0), (2**20, 9), (1, 1)]
    law = Categorical(weights, Fraction(13, 10), start_bits=8)
    masses = [m * exp(-1.3 * k) for m, k in weights]
    law_of = {i: mass / sum(masses) for i, mass in enumerate(masses)}
    assert agrees((law.draw() for _ in range(DRAWS)), law_of)
    assert law.precisions[:3] == (8, 16, 32)
    for i, p in law_of.items():
        assert float(law.pmf(i)) == pytest.approx(p, rel=1e-12)


def test_a_thousand_levels() -> None:
    weights = [(2**64 - i, i) for i in range(1000)]
    law = Categorical(weights, Fraction(1, 10))
    masses = [(2**64 - i) * exp(-i / 10) for i in range(1000)]
    assert agrees((law.draw() for _ in range(DRAWS)), {i: mass / sum(masses) for i, mass in enumerate(masses)})


def test_probabilities_are_enclosed() -> None:
    weights = [(2**64, 700), (0, 0), (7, 3), (10**40, 10**6), (1, 0)]
    law = Categorical(weights, Fraction(1, 7))
    with ctx.workprec(PRECISION):
        parts = [arb(m) * (-ball(Fraction(1, 7)) * k).exp() for m, k in weights]
        for i, part in enumerate(parts):
            p, truth = law.pmf(i, 100), part / sum(parts, arb(0))
            assert not ball(p.low) > truth
            assert not ball(p.high) < truth
            assert p.width <= p.high / 2**95
    assert law.pmf(99).high == 0


def test_equal_weights_and_one_category() -> None:
    assert agrees((categorical([(1, 5)] * 4, 0) for _ in range(10**4)), dict.fromkeys(range(4), 1 / 4))
    assert {categorical([(0, 0), (9, 4), (0, 2)], 2) for _ in range(50)} == {1}
    assert repr(Categorical([(1, 0)], "0.5")) == "<a categorical law, gamma=1/2>"


@given(st.fractions(0, 5, max_denominator=10**6), st.integers(0, 2**80), st.integers(48, 200))
def test_powers_are_low_by_no_more_than_their_error(gamma: Fraction, n: int, bits: int) -> None:
    powers = Powers(gamma, n, bits)
    low = powers.at(n)
    with ctx.workprec(PRECISION):
        truth = (-ball(gamma) * n).exp() * arb(2) ** bits
        assert not truth < low
        assert not truth > low + powers.error
    assert powers.error < 2**12 * (1 + n.bit_length() // 8)


@given(st.fractions(0, 500), st.integers(8, 200))
def test_decay(x: Fraction, bits: int) -> None:
    low, high = decay(x, bits)
    with ctx.workprec(PRECISION):
        truth = (-ball(x)).exp() * arb(2) ** bits
        assert not truth < low
        assert not truth > high
    assert high - low <= 2
    assert high <= 2**bits


@given(st.lists(st.tuples(st.integers(0, 2**70), st.integers(0, 9)), min_size=1, max_size=9), st.integers(1, 99))
def test_shares_contain_every_ratio_of_sums(parts: list[tuple[int, int]], bits: int) -> None:
    parts[-1] = (parts[-1][0] + 1, parts[-1][1])
    low = [sum(a for a, _ in parts[: i + 1]) for i in range(len(parts))]
    high = [sum(a + b for a, b in parts[: i + 1]) for i in range(len(parts))]
    below, above = shares(low, high, bits)
    assert below[-1] == above[-1] == 2**bits
    for i in range(len(parts)):
        for sums in (low, high):
            assert below[i] <= Fraction(sums[i] * 2**bits, sums[-1]) <= above[i]
        mixed = Fraction(low[i], low[i] + high[-1] - high[i])
        assert below[i] <= mixed * 2**bits


def test_a_loose_table_is_refined() -> None:
    """Bounds much wider than they need be cost bits, not exactness."""

    def tabulate(bits: int) -> tuple[list[int], list[int]]:
        one, third = 1 << bits, (1 << bits) // 3
        slack = one >> bits // 8
        return [max(0, third - slack), one], [min(one, third + 1 + slack), one]

    law = Inversion(tabulate, 8)
    assert agrees((law.draw(SYSTEM) for _ in range(20000)), {0: 1 / 3, 1: 2 / 3})
    assert len(law.precisions) >= 4


@pytest.mark.parametrize(("weights", "gamma", "sentence"), [
    ([], 1, "weights must not all be zero; give at least one pair (m, k) with m above 0."),
    ([(0, 1), (0, 2)], 1, "weights must not all be zero; give at least one pair (m, k) with m above 0."),
    ([(1, 1), (-1, 2)], 1, "weights must be at least 0."),
    ([(1, 1), (1.5, 2)], 1, "weights must be a whole number; give an int."),
    ([1, 2], 1, "weights must be pairs (m, k) of integers, one for each category."),
    ([(1, 2, 3)], 1, "weights must be pairs (m, k) of integers, one for each category."),
    ([(1, 1)], -1, "gamma must not be negative; give 0 or more."),
    ([(1, 1)], float("nan"), "gamma must be finite; give an ordinary number such as 1 or '0.1'."),
])  # fmt: skip
def test_bad_input(weights: Weights, gamma: int, sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        categorical(weights, gamma)
    assert str(caught.value) == sentence
