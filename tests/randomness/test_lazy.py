"""Lazy reals: bits never change once known, ties are decided by further bits, the exponential's law is exact."""

from math import exp

import pytest

from tacit.randomness import LazyExponential, LazyUniform, lazy
from tests.randomness.scripted import Scripted, words
from tests.support import agrees

DRAWS = 10**5


def test_bits_on_demand_never_change() -> None:
    u = LazyUniform()
    known = u.top(1000)
    for bits in (1, 63, 64, 65, 500, 1000):
        assert u.top(bits) == known >> (1000 - bits)
        assert u.enclosure(bits).low * 2**bits == u.top(bits)
        assert u.enclosure(bits).width * 2**bits == 1


def test_no_more_bits_are_drawn_than_asked() -> None:
    source = Scripted(0, 0)
    u = LazyUniform(source)
    u.top(64)
    assert source.asked == 64
    u.top(65)
    assert source.asked == 128


def test_order_is_decided_by_the_first_word_that_differs() -> None:
    source = words(7, 7, 1, 2)
    a, b = LazyUniform(source), LazyUniform(source)
    assert a < b
    assert a.top(128) == 7 << 64 | 1
    assert not b < a


def cells(width: float, count: int) -> dict[int, float]:
    return {i: exp(-i * width) - exp(-(i + 1) * width) for i in range(count)}


def test_exponential() -> None:
    assert agrees((LazyExponential().top(3) for _ in range(DRAWS)), cells(1 / 8, 100))


def test_exponential_with_words_so_short_that_they_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    """With words of two bits a quarter of all comparisons tie, and the law must not feel it."""
    monkeypatch.setattr(lazy, "WORD", 2)
    monkeypatch.setattr(lazy, "MASK", 3)
    assert agrees((LazyExponential().top(3) for _ in range(DRAWS)), cells(1 / 8, 100))


def test_exponential_whole_part_counts_failed_tries() -> None:
    """Six words come from one request, the last first: 9 > 4, 4 ≤ 5 fails once; 3 ≤ 8 is accepted."""
    e = LazyExponential(words(0, 8, 3, 5, 4, 9))
    assert e.top(64) == 1 << 64 | 3
    assert e.enclosure(64).low == 1 + e.enclosure(64).width * 3


def test_reprs_show_no_bits() -> None:
    assert repr(LazyUniform()) == "<a uniform real, bits on demand>"
    assert repr(LazyExponential()) == "<an exponential real, bits on demand>"
