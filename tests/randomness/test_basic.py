"""Uniform integers, coins, shuffles."""

from fractions import Fraction
from itertools import permutations
from math import exp, nan

import pytest

from tacit.errors import InvalidInput
from tacit.numbers.exact import Number
from tacit.randomness import bernoulli, bernoulli_exp, shuffled, uniform_below
from tests.randomness.scripted import words
from tests.support import agrees

DRAWS = 10**5


@pytest.mark.parametrize("n", [1, 2, 10, 257])
def test_uniform_integers(n: int) -> None:
    assert agrees((uniform_below(n) for _ in range(DRAWS)), dict.fromkeys(range(n), 1 / n))


def test_uniform_integers_of_any_size() -> None:
    n = 3 * 10**30
    assert agrees((uniform_below(n) * 10 // n for _ in range(DRAWS)), dict.fromkeys(range(10), 1 / 10))


@pytest.mark.parametrize(("p", "draws"), [(Fraction(1, 3), DRAWS), (0, 1000), (1, 1000), (1e-9, 1000), ("0.99", 10**4)])
def test_coins(p: Number, draws: int) -> None:
    assert agrees((bernoulli(p) for _ in range(draws)), {True: float(p), False: 1 - float(p)})


def test_a_coin_compares_digit_by_digit() -> None:
    """One third is 0x5555… in binary: equal words decide nothing, the first that differs decides."""
    third = 0x5555555555555555
    assert bernoulli(Fraction(1, 3), source=words(third, third, third - 1))
    assert not bernoulli(Fraction(1, 3), source=words(third, third, third + 1))
    assert not bernoulli(Fraction(1, 2), source=words(1 << 63))
    assert bernoulli(Fraction(1, 2), source=words((1 << 63) - 1))


@pytest.mark.parametrize(
    ("x", "draws"), [(Fraction(1, 3), DRAWS), (0, 1000), (1, 10**4), ("2.5", 10**4), ("1e9", 1000)]
)
def test_exponential_coins(x: Number, draws: int) -> None:
    p = exp(-float(Fraction(x)))
    assert agrees((bernoulli_exp(x) for _ in range(draws)), {True: p, False: 1 - p})


def test_shuffles() -> None:
    orders = list(permutations("abcd"))
    assert agrees((tuple(shuffled("abcd")) for _ in range(DRAWS)), dict.fromkeys(orders, 1 / 24))


def test_shuffles_leave_the_original_alone() -> None:
    original = list(range(100))
    assert sorted(shuffled(original)) == original == list(range(100))
    assert shuffled([]) == []


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: uniform_below(0), "n must be at least 1."),
    (lambda: uniform_below(2.0), "n must be a whole number; give an int."),  # type: ignore[arg-type]
    (lambda: bernoulli("1.1"), "p must be a probability; give a number from 0 to 1."),
    (lambda: bernoulli(-0.1), "p must be a probability; give a number from 0 to 1."),
    (lambda: bernoulli(nan), "p must be finite; give an ordinary number such as 1 or '0.1'."),
    (lambda: bernoulli_exp(-1), "x must not be negative; give 0 or more."),
])  # fmt: skip
def test_bad_input(call: object, sentence: str) -> None:
    assert callable(call)
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == sentence
