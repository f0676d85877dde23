"""Many draws at once have the law of one by one, at every scale."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, nan

import numpy as np
import pytest
from flint import arb, ctx

from tacit.errors import InvalidInput
from tacit.randomness import SYSTEM, blocks, discrete_gaussians, discrete_laplaces, geometrics
from tacit.randomness.arrays import categories, coins, digits, put_at
from tacit.randomness.blocks import GaussianBlocks
from tacit.randomness.inversion import Inversion, Table
from tests.guarantees.oracle import ball
from tests.randomness.scripted import words
from tests.randomness.test_discrete import normalised
from tests.support import agrees

DRAWS = 10**5


@pytest.mark.parametrize("rate", [Fraction(1, 30), Fraction(1, 2), Fraction(3)])
def test_geometrics(rate: Fraction) -> None:
    """Binary digits below, a table above, or the table alone."""
    law = {z: exp(-z * rate) * (1 - exp(-rate)) for z in range(1000)}
    assert agrees(geometrics(rate, DRAWS).tolist(), law)


@pytest.mark.parametrize("rate", [Fraction(1, 30), Fraction(3, 4)])
def test_laplaces(rate: Fraction) -> None:
    assert agrees(discrete_laplaces(rate, DRAWS).tolist(), normalised(lambda z: exp(-abs(z) * rate), 1000))


@pytest.mark.parametrize("variance", [Fraction(1, 5), Fraction(37, 10), Fraction(300**2), Fraction(5 * 900**2, 2)])
def test_gaussians(variance: Fraction) -> None:
    """Blocks of one integer, and of two and four with rejection inside."""
    reach = 10 * int(variance**0.5) + 30
    law = normalised(lambda z: exp(-z * z / 2 / variance), reach)
    assert agrees(discrete_gaussians(variance, 4 * DRAWS).tolist(), law)


def test_blocks_so_wide_that_most_points_are_weighed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two blocks for each standard deviation: every other proposal is decided by its own weight."""
    monkeypatch.setattr(blocks, "BLOCKS", 2)
    law = GaussianBlocks(Fraction(400))
    assert law._shift == 3
    weights = {z: exp(-z * z / 800) for z in range(300)}
    assert agrees(law.draws(20000, SYSTEM).tolist(), {z: w / sum(weights.values()) for z, w in weights.items()})


@pytest.mark.parametrize("scale", [10**9, 10**12, 10**17, 10**19, 10**40])
def test_scales(scale: int) -> None:
    """Up to and beyond what int64 holds; z/scale is cut into eighths and compared with the continuous law."""
    laplace = discrete_laplaces(Fraction(1, scale), 20000)
    law = {i: (exp(-i / 8) if i >= 0 else exp((i + 1) / 8)) * (1 - exp(-1 / 8)) / 2 for i in range(-100, 100)}
    assert agrees((int(z) * 8 // scale for z in laplace), law)
    with ctx.workprec(100):
        ends = [float((-arb(i) / 8 / arb(2).sqrt()).erfc() / 2) for i in range(-48, 49)]
    gaussian = discrete_gaussians(scale**2, 20000)
    assert agrees((int(z) * 8 // scale for z in gaussian), {i: ends[i + 49] - ends[i + 48] for i in range(-48, 48)})
    assert laplace.dtype == gaussian.dtype == (object if scale >= 10**19 else np.int64)


def test_python_integers_are_python_integers() -> None:
    for draws in (discrete_laplaces("1e-30", 10), discrete_gaussians(10**60, 10), geometrics("1e-30", 10)):
        assert all(type(z) is int for z in draws)
        assert max(abs(z) for z in draws) > 2**64


@pytest.mark.parametrize("sampler", [lambda n: geometrics(10**9, n), lambda n: discrete_laplaces(10**9, n),
                                     lambda n: discrete_gaussians("1e-9", n)])  # fmt: skip
def test_no_noise_is_zero(sampler: Callable[[int], object]) -> None:
    assert np.array_equal(sampler(1000), np.zeros(1000))  # type: ignore[arg-type]


@pytest.mark.parametrize("sampler", [geometrics, discrete_laplaces, discrete_gaussians])
def test_sizes(sampler: Callable[[int, int], "np.ndarray[tuple[int], np.dtype[np.int64]]"]) -> None:
    for size in (0, 1, 3, 17):
        assert sampler(1, size).shape == (size,)


def test_the_tail_beyond_the_blocks() -> None:
    """What lies beyond 6σ has 2·10^-9 of the mass; drawn alone, it has the law's own shape there."""
    law = GaussianBlocks(Fraction(9))
    tail = [z for z, kept in (law._beyond(SYSTEM) for _ in range(20000)) if kept]
    start = law._start
    weights = {z: exp(-(z * z - start * start) / 18) for z in range(start, start + 40)}
    assert start >= 18
    assert agrees(tail, {z: w / sum(weights.values()) for z, w in weights.items()})


def test_the_weight_of_the_tail() -> None:
    """The table's shares against flint: proposals by block, and all beyond."""
    law = GaussianBlocks(Fraction(1000**2))
    below, above = law._law.table(200)
    step = 1 << law._shift
    assert step == 2
    with ctx.workprec(400):
        curve = ball(Fraction(1, 2 * 1000**2))
        parts = [step * (-curve * (i * step) ** 2).exp() for i in range(law._count)]
        beyond = (-curve * law._start**2).exp() / (1 - (-2 * curve * law._start).exp())
        total = sum(parts, beyond)
        cumulative = arb(0)
        for i in range(law._count):
            cumulative += parts[i]
            if i % 50 == 0 or i == law._count - 1:
                assert not cumulative / total * arb(2) ** 200 < below[i]
                assert not cumulative / total * arb(2) ** 200 > above[i]
                assert above[i] - below[i] < 2**100


def test_unsure_words_are_decided_one_by_one() -> None:
    """A table so loose at 64 bits that half of all words are unsure."""

    def tabulate(bits: int) -> Table:
        one = 1 << bits
        slack = one >> (bits // 64 + 1) if bits == 64 else 1
        ends = [one // 5, one // 2]
        return [max(0, e - slack) for e in ends] + [one], [min(one, e + slack) for e in ends] + [one]

    law = Inversion(tabulate)
    assert agrees(categories(law, 20000, SYSTEM).tolist(), {0: 0.2, 1: 0.3, 2: 0.5})
    assert 128 in law.precisions


def test_the_largest_word_is_not_trusted() -> None:
    """The last end is 2^64, which no word holds: the largest word is decided with more bits."""
    law = Inversion(lambda bits: ([1, 1 << bits], [1, 1 << bits]))
    assert categories(law, 3, words(0, 1, 2**64 - 1)).tolist() == [0, 1, 1]


def test_digits_that_tie() -> None:
    """One third is 0x5555…: the 16-bit word 0x5555 decides nothing and the next bits do."""

    def tabulate(bits: int) -> Table:
        return [(1 << bits) // 3, 1 << bits], [(1 << bits) // 3 + 1, 1 << bits]

    law = Inversion(tabulate, 16)
    source = words(0x5555_5554_5556_5555)
    result = digits(law, 4, source)
    assert result.tolist()[1:3] in ([False, True], [True, False])  # the outer two tie, in either order of bytes
    assert source.asked == 64 + 2 * 16
    assert 32 in law.precisions
    assert agrees(digits(law, DRAWS, SYSTEM).tolist(), {True: 1 / 3, False: 2 / 3})


def test_coins_and_places() -> None:
    assert agrees(coins(DRAWS, SYSTEM).tolist(), {True: 0.5, False: 0.5})
    small = np.zeros(3, dtype=np.int64)
    large = put_at(small, np.array([1]), np.array([2**70], dtype=object))
    assert large.tolist() == [0, 2**70, 0]
    assert put_at(large, np.array([0]), np.array([5])).tolist() == [5, 2**70, 0]


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: geometrics(0, 5), "epsilon must be above 0; give a positive number such as 1 or '0.1'."),
    (lambda: discrete_laplaces(nan, 5), "epsilon must be finite; give an ordinary number such as 1 or '0.1'."),
    (lambda: discrete_gaussians(-1, 5), "variance must be above 0; give a positive number such as 1 or '0.1'."),
    (lambda: discrete_laplaces(1, -1), "size must be at least 0."),
    (lambda: geometrics(1, 1.0), "size must be a whole number; give an int."),  # type: ignore[arg-type]
])  # fmt: skip
def test_bad_input(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == sentence
