"""A source that tells a story: given bits first, then fair ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.randomness import SYSTEM


class Scripted:
    """Hands out the binary digits of ``number``/2^length from the top, and counts what was asked."""

    private = True

    def __init__(self, number: int, length: int) -> None:
        self._number, self._left = number, length
        self.asked = 0

    def bits(self, count: int) -> int:
        self.asked += count
        given = min(count, self._left)
        self._left -= given
        head = self._number >> self._left & ((1 << given) - 1)
        return head << (count - given) | SYSTEM.bits(count - given)

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.array([self.bits(64) for _ in range(count)], dtype=np.uint64)

    def mark(self, value: Any) -> Any:
        return value


def words(*values: int) -> Scripted:
    """A source whose first draws of 64 bits are these."""
    number = 0
    for value in values:
        number = number << 64 | value
    return Scripted(number, 64 * len(values))
