"""Real random numbers whose bits are drawn when they are needed, and never twice.

Promise: a `LazyUniform` is a uniform real of [0, 1) and a `LazyExponential` a real with P[E > x] = e^{-x}, exactly. At
any moment only finitely many bits are known; asking for more never changes those already known.

Why the exponential is exact (von Neumann): draw uniforms F > U1 > U2 > … until the first that does not fall, the n-th.
P[n > k | F = x] = x^k/k!, so P[n odd | F = x] = Σ_k (−x)^k/k! = e^{-x}. On odd n accept F as the fractional part, else
add one to the whole part and try again; a try fails with probability 1/e whatever came before. Only comparisons are
made, and bits that no comparison has looked at are still fair coins.
"""

from __future__ import annotations

from collections.abc import Iterator

from tacit.numbers.enclosures import Enclosure
from tacit.randomness.source import SYSTEM, Randomness

WORD = 64
"""Bits drawn at a time."""

SEVERAL = 6
MASK = (1 << WORD) - 1


class LazyUniform:
    """A uniform real of [0, 1), known to as many bits as were asked for."""

    __slots__ = ("_known", "_precision", "_source")

    def __init__(self, source: Randomness = SYSTEM, first_word: int | None = None) -> None:
        """``first_word`` is the first 64 bits where they have been drawn already."""
        self._source = source
        self._known, self._precision = source.bits(WORD) if first_word is None else first_word, WORD

    def top(self, bits: int) -> int:
        """floor(U·2^bits)."""
        missing = bits - self._precision
        if missing > 0:
            missing += -missing % WORD
            self._known = self._known << missing | self._source.bits(missing)
            self._precision += missing
        return self._known >> (self._precision - bits)

    def enclosure(self, bits: int) -> Enclosure:
        """An interval of width 2^-bits that contains U."""
        known = self.top(bits)
        return Enclosure(known, known + 1, -bits, bits + 1)

    def __lt__(self, other: LazyUniform) -> bool:
        """Whether this number is the smaller; two independent ones differ after finitely many bits."""
        bits = WORD
        while (mine := self.top(bits)) == (theirs := other.top(bits)):
            bits += WORD
        return mine < theirs

    def __repr__(self) -> str:
        return "<a uniform real, bits on demand>"


class LazyExponential:
    """A positive real with P[E > x] = e^{-x}, known to as many bits as were asked for."""

    __slots__ = ("_fraction", "_whole")

    def __init__(self, source: Randomness = SYSTEM) -> None:
        self._whole = 0
        words = _words(source)
        while True:
            first = last = next(words)
            falls = 0
            while (following := next(words)) < last:
                last = following
                falls += 1
            self._fraction = LazyUniform(source, first)
            if following == last:  # one in 2^64: these words do not tell, so go on with all their bits
                lower, upper = LazyUniform(source, following), LazyUniform(source, last) if falls else self._fraction
                while lower < upper:
                    lower, upper = LazyUniform(source), lower
                    falls += 1
            if falls % 2 == 0:
                return
            self._whole += 1

    def top(self, bits: int) -> int:
        """floor(E·2^bits)."""
        return self._whole << bits | self._fraction.top(bits)

    def enclosure(self, bits: int) -> Enclosure:
        """An interval of width 2^-bits that contains E."""
        known = self.top(bits)
        return Enclosure(known, known + 1, -bits, bits + self._whole.bit_length() + 1)

    def __repr__(self) -> str:
        return "<an exponential real, bits on demand>"


def _words(source: Randomness) -> Iterator[int]:
    """Words of 64 bits, asked for by several, as asking takes the time. What is not used is forgotten."""
    while True:
        pool = source.bits(SEVERAL * WORD)
        for _ in range(SEVERAL):
            yield pool & MASK
            pool >>= WORD
