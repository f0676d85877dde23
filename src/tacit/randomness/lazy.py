"""Real random numbers whose bits are drawn when they are needed, and never twice.

Promise: a `LazyUniform` is a uniform real of [0, 1) and a `LazyExponential` a real with P[E > x] = e^{-x}, exactly. At
any moment only finitely many bits are known; asking for more never changes those already known.

Why the exponential is exact (von Neumann): draw uniforms F > U1 > U2 > … until the first that does not fall, the n-th.
P[n > k | F = x] = x^k/k!, so P[n odd | F = x] = Σ_k (−x)^k/k! = e^{-x}. On odd n accept F as the fractional part, else add
one to the whole part and try again; a try fails with probability 1/e whatever came before. Only comparisons are made, and
a comparison looks at no more bits than it needs, so the bits of F not yet drawn are still fair coins.
"""

from __future__ import annotations

from tacit.enclosures import Enclosure
from tacit.randomness.source import SYSTEM, Source

WORD = 64
"""Bits drawn at a time."""


class LazyUniform:
    """A uniform real of [0, 1), known to as many bits as were asked for."""

    __slots__ = ("_known", "_precision", "_source")

    def __init__(self, source: Source = SYSTEM) -> None:
        self._source = source
        self._known, self._precision = source.bits(WORD), WORD

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

    def __init__(self, source: Source = SYSTEM) -> None:
        self._whole = 0
        while True:
            first = last = LazyUniform(source)
            accept = True
            while (following := LazyUniform(source)) < last:
                last, accept = following, not accept
            if accept:
                self._fraction = first
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
