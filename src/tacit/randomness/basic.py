"""Uniform integers, coins and shuffles.

Promise: each law below is met exactly, on integers alone.

- A coin of probability p compares the binary digits of p with fair bits, word by word: U < p is decided by the first
  word in which they differ.
- A coin of probability e^{-x}: for 0 ≤ x ≤ 1 toss coins of probability x/1, x/2, x/3, … until one fails, the n-th;
  P[n > k] = x^k/k!, so P[n odd] = e^{-x}. A larger x is split into ones and a rest, all of which must succeed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, cast

from tacit.errors import InvalidInput
from tacit.numbers.exact import Number, exact, non_negative, whole
from tacit.randomness.source import SYSTEM, Randomness

T = TypeVar("T")


def uniform_below(n: int, *, source: Randomness = SYSTEM) -> int:
    """A uniform integer of 0, …, n − 1."""
    return cast(int, source.mark(_below(whole(n, "n", 1), source)))


def bernoulli(p: Number, *, source: Randomness = SYSTEM) -> bool:
    """True with probability exactly ``p``."""
    p = exact(p, "p")
    if not 0 <= p <= 1:
        raise InvalidInput("p must be a probability; give a number from 0 to 1.")
    return cast(bool, source.mark(_coin(p.numerator, p.denominator, source)))


def bernoulli_exp(x: Number, *, source: Randomness = SYSTEM) -> bool:
    """True with probability exactly e^{-x}, for x ≥ 0."""
    x = non_negative(x, "x")
    return cast(bool, source.mark(_coin_exp(x.numerator, x.denominator, source)))


def shuffled(sequence: Iterable[T], *, source: Randomness = SYSTEM) -> list[T]:
    """The items in uniformly random order, all orders equally likely, as a new list."""
    items = list(sequence)
    for last in range(len(items) - 1, 0, -1):
        chosen = _below(last + 1, source)
        items[last], items[chosen] = items[chosen], items[last]
    return cast("list[T]", source.mark(items))


def _below(n: int, source: Randomness) -> int:
    bits = (n - 1).bit_length()
    while (drawn := source.bits(bits)) >= n:
        pass
    return drawn


def _coin(numerator: int, denominator: int, source: Randomness) -> bool:
    """True with probability numerator/denominator."""
    while True:
        word = source.bits(64)
        digits, rest = divmod(numerator << 64, denominator)
        if word != digits:
            return word < digits
        numerator = rest


def _coin_exp(numerator: int, denominator: int, source: Randomness) -> bool:
    """True with probability e^{-numerator/denominator}."""
    ones, rest = divmod(numerator, denominator)
    return all(_coin_exp_unit(1, 1, source) for _ in range(ones)) and (
        rest == 0 or _coin_exp_unit(rest, denominator, source)
    )


def _coin_exp_unit(numerator: int, denominator: int, source: Randomness) -> bool:
    tosses = 1
    while _coin(numerator, denominator * tosses, source):
        tosses += 1
    return tosses & 1 == 1
