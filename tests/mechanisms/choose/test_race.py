"""Exact races: keys are enclosed correctly at every precision, and ties of the known bits are refined."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.mechanisms.choose.race import FEW, Key, Race, folded, smallest_exponential, smallest_uniform
from tacit.randomness import SYSTEM


class Scripted:
    """A source that gives prescribed bits first and zeros afterwards."""

    private = False

    def __init__(self, *words: int) -> None:
        self._words = list(words)

    def bits(self, count: int) -> int:
        result = 0
        for _ in range(count // 64):
            result = result << 64 | (self._words.pop(0) if self._words else 0)
        return result

    def words(self, count: int) -> Any:
        raise AssertionError("a race draws bits only")

    def mark(self, value: Any) -> Any:
        return value


ONES = 2**64 - 1


def inside(key: Key, value: Fraction, bits: int, sharp: bool) -> bool:
    low, high = key(bits, sharp)
    return low <= value * (1 << bits) <= high


@given(word=st.integers(0, ONES))
def test_one_uniform_and_its_laplace_key(word: int) -> None:
    u = Fraction(word, 2**64)  # followed by zeros
    expected = 2 * u if u <= Fraction(1, 2) else 1 / (2 * (1 - u))
    for bits, sharp in ((32, False), (64, False), (64, True), (128, True)):
        assert inside(smallest_uniform(1, Scripted(word)), u, bits, sharp)
        assert inside(folded(smallest_uniform(1, Scripted(word))), expected, bits, sharp)


def test_a_laplace_key_not_yet_separated_from_infinity_asks_for_more_bits() -> None:
    key = folded(smallest_uniform(1, Scripted(ONES, 0)))
    assert inside(key, Fraction(2**63), 64, False)  # V = 1 − 2^-64 exactly
    key = folded(smallest_uniform(1, Scripted(ONES, ONES, 2**63)))
    assert inside(key, 1 / (2 * (1 - Fraction(2**192 - 2**63, 2**192))), 64, False)


@given(length=st.integers(FEW + 1, 2**70))
@settings(max_examples=30, deadline=None)
def test_keys_narrow_down_and_the_quick_bounds_contain_the_sharp_ones(length: int) -> None:
    for build in (smallest_uniform, smallest_exponential):
        key = build(length, SYSTEM)
        start = 64 + length.bit_length()
        quick, sharp, finer = key(start, False), key(start, True), key(4 * start, True)
        assert quick[0] <= sharp[1]
        assert sharp[0] <= quick[1]
        assert sharp[0] <= sharp[1]
        # the finer interval meets every coarser one, and is much narrower
        for low, high in (quick, sharp):
            assert finer[1] >= low << 3 * start
            assert finer[0] <= high << 3 * start
        assert finer[1] - finer[0] <= 4 << 2 * start


def test_the_smallest_of_few_is_the_smallest() -> None:
    words = [5 << 60, 3 << 59, 7 << 58]
    key = smallest_uniform(3, Scripted(*words))
    assert inside(key, Fraction(min(words), 2**64), 64, False)


def test_equal_known_bits_are_refined_until_one_is_smaller() -> None:
    race = Race([Fraction(0), Fraction(0)], 2)
    keys = [smallest_uniform(1, Scripted(9, 4, 7)), smallest_uniform(1, Scripted(9, 4, 6))]
    assert race.winner(keys) == 1
    keys = [smallest_uniform(1, Scripted(9, 3)), smallest_uniform(1, Scripted(9, 4))]
    assert race.winner(keys) == 0


@pytest.mark.parametrize(("losses", "winner"), [([0, 1], 0), ([3, 1], 1)])
def test_a_handicap_multiplies_the_key(losses: list[int], winner: int) -> None:
    race = Race([Fraction(loss) for loss in losses], 2)
    keys = [smallest_uniform(1, Scripted(1 << 62)), smallest_uniform(1, Scripted(1 << 62))]
    assert race.winner(keys) == winner
