"""What the vector samplers share: categories, coins and places of an array. It needs numpy, so import it late."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.randomness.inversion import Inversion
from tacit.randomness.source import Randomness

Integers = NDArray[Any]
"""int64, or object holding Python integers where int64 might not hold them."""


class NotPrivateArray(np.ndarray):
    """An array drawn from a seeded source: it behaves as an array, as does what is computed from it, and is marked."""

    private = False

    def __repr__(self) -> str:
        return f"NotPrivate({np.asarray(self)!r})"


def categories(law: Inversion, size: int, source: Randomness) -> NDArray[np.int64]:
    """``size`` categories of fresh uniform reals; ``law`` starts with 64 bits."""
    words = source.words(size)
    largest = 2**64 - 1  # stands for 2^64 as well: a word equal to it is always decided one by one
    below, above = (np.array([min(end, largest) for end in ends], dtype=np.uint64) for ends in law.table(64))
    result = np.searchsorted(above[:-1], words, side="right")
    for i in np.flatnonzero(words >= below[result]):
        result[i] = law.locate(int(words[i]), 64, source)
    return result


def digits(law: Inversion, size: int, source: Randomness) -> NDArray[np.bool_]:
    """``size`` coins, true with the probability of the first of two categories; ``law`` starts with 16 bits."""
    words = source.words(-(-size // 4)).view(np.uint16)[:size]
    below, above = (ends[0] for ends in law.table(16))
    result = words < below
    for i in np.flatnonzero((words >= below) & (words < above)):
        result[i] = law.locate(int(words[i]), 16, source) == 0
    return result


def coins(size: int, source: Randomness) -> NDArray[np.bool_]:
    """``size`` fair coins."""
    words = source.words(-(-size // 64)).view(np.uint8)
    return np.unpackbits(words, count=size).astype(np.bool_)


def put_at(target: Integers, where: NDArray[np.int64], values: Integers) -> Integers:
    """``target`` with ``values`` at the places ``where``, as Python integers if either holds them."""
    if values.dtype == object and target.dtype != object:
        target = target.astype(object)
    target[where] = values
    return target
