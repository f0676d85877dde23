"""Public priors over the indices of a grid: what a choice favours before it sees the data.

A prior weighs whole index ranges at once, by a closed form, and draws an index of a range exactly in proportion to its
weights; no range is ever walked but that of `Listed`, whose weights are given one by one. `Uniform` needs a finite
range. `Decaying` is summable over all integers, so it makes a grid without ends usable: blocks of indices on both sides
of an origin, block k of mass width·ratio^k.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from tacit.errors import InvalidInput
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number, between, whole
from tacit.randomness import LazyUniform, Randomness, uniform_below


@dataclass(frozen=True)
class Piece:
    """A range of indices whose mass and whose exact draw have a closed form."""

    mass: Callable[[int], Enclosure]
    """The total weight, enclosed with ``bits`` significant bits."""
    draw: Callable[[Randomness], int]
    """An index of the range with probability in proportion to its weight."""


class Prior(ABC):
    """Public non-negative weights over grid indices."""

    @abstractmethod
    def weight(self, index: int, bits: int = BITS) -> Enclosure:
        """The weight of one index."""

    @abstractmethod
    def pieces(self, first: int | None, last: int | None) -> Iterator[Piece]:
        """The range first..last, None an open end, as disjoint pieces."""


def _block(first: int, last: int, weight: Callable[[int], Enclosure]) -> Piece:
    """A range of finitely many equal weights."""
    length = last - first + 1
    return Piece(lambda bits: weight(bits) * length, lambda source: first + uniform_below(length, source=source))


@dataclass(frozen=True)
class Uniform(Prior):
    """Every index of a finite grid weighs 1."""

    def weight(self, index: int, bits: int = BITS) -> Enclosure:
        """1."""
        return Enclosure.of(1, bits)

    def pieces(self, first: int | None, last: int | None) -> Iterator[Piece]:
        """One piece; an endless range has no finite mass and is refused."""
        if first is None or last is None:
            raise InvalidInput("prior must be summable on a grid without end; give Decaying(width, ratio).")
        yield _block(first, last, lambda bits: Enclosure.of(1, bits))


@dataclass(frozen=True)
class Listed(Prior):
    """Whole weights, one for each index from 0."""

    weights: tuple[int, ...]

    @classmethod
    def powers(cls, values: Sequence[int], power: int) -> Listed:
        """In proportion to value^-power, rounded down from at least 64 bits."""
        bits = 64 + power * max(values).bit_length()
        return cls(tuple((1 << bits) // value**power for value in values))

    def weight(self, index: int, bits: int = BITS) -> Enclosure:
        """The weight as it was given, 0 outside of the list."""
        return Enclosure.of(self.weights[index] if 0 <= index < len(self.weights) else 0, bits)

    def pieces(self, first: int | None, last: int | None) -> Iterator[Piece]:
        """A piece for each index."""
        low, high = 0 if first is None else max(0, first), len(self.weights) - 1
        for index in range(low, (high if last is None else min(last, high)) + 1):
            yield _block(index, index, partial(self.weight, index))


@dataclass(frozen=True, init=False)
class Decaying(Prior):
    """Blocks around an origin, each lighter than the one before by a constant ratio.

    Block k holds the next width·growth^k distances |index − origin|, and each of its indices weighs (ratio/growth)^k.
    growth = 1 makes equal blocks (decades of a grid of significant digits); growth = 10 makes blocks that are decades
    of the index itself (a grid of integers), whose weight then falls like a power of the distance.
    """

    width: int
    ratio: Fraction
    growth: int
    origin: int

    def __init__(self, width: int, ratio: Number = Fraction(1, 2), growth: int = 1, origin: int = 0) -> None:
        object.__setattr__(self, "width", whole(width, "width", 1))
        object.__setattr__(self, "ratio", between(ratio, "ratio", 0, 1))
        object.__setattr__(self, "growth", whole(growth, "growth", 1))
        object.__setattr__(self, "origin", whole(origin, "origin"))

    def weight(self, index: int, bits: int = BITS) -> Enclosure:
        """(ratio/growth)^k for an index of block k."""
        return self._weight(self._number(abs(index - self.origin)), bits)

    def pieces(self, first: int | None, last: int | None) -> Iterator[Piece]:
        """At most three pieces on either side of the origin: a part of a block, whole blocks, a part of a block."""
        low, high = (None if end is None else end - self.origin for end in (first, last))
        if low is None or low < 0:
            yield from self._side(-1, 1 if high is None or high >= 0 else -high, None if low is None else -low)
        if high is None or high >= 0:
            yield from self._side(1, 0 if low is None or low < 0 else low, high)

    def _side(self, sign: int, near: int, far: int | None) -> Iterator[Piece]:
        """The distances near..far on one side."""
        k = self._number(near)
        if near > self._edge(k):  # the rest of a block
            end = self._edge(k + 1) - 1
            yield self._part(sign, k, near, end if far is None else min(far, end))
            k += 1
        after = None if far is None else self._number(far + 1)
        if after is None or after > k:
            yield self._whole_blocks(sign, k, after)
        if far is not None and after is not None and after >= k and far >= self._edge(after):
            yield self._part(sign, after, self._edge(after), far)

    def _part(self, sign: int, k: int, near: int, far: int) -> Piece:
        ends = sorted((self.origin + sign * near, self.origin + sign * far))
        return _block(ends[0], ends[1], lambda bits: self._weight(k, bits))

    def _whole_blocks(self, sign: int, first: int, after: int | None) -> Piece:
        """Blocks first, first + 1, … before ``after``, of masses width·ratio^k."""
        count = None if after is None else after - first

        def mass(bits: int) -> Enclosure:
            ratio = Enclosure.of(self.ratio, bits + 16)
            part = Enclosure.of(1, bits) if count is None else 1 - ratio**count
            return ratio**first * part * self.width / (1 - self.ratio)

        def draw(source: Randomness) -> int:
            k = first + _decaying_below(self.ratio, count, source)
            start = self._edge(k)
            return self.origin + sign * (start + uniform_below(self._edge(k + 1) - start, source=source))

        return Piece(mass, draw)

    def _weight(self, k: int, bits: int) -> Enclosure:
        return Enclosure.of(self.ratio / self.growth, bits + 16) ** k

    def _edge(self, k: int) -> int:
        """The distance at which block k begins."""
        if self.growth == 1:
            return self.width * k
        power: int = self.growth**k
        return self.width * (power - 1) // (self.growth - 1)

    def _number(self, distance: int) -> int:
        """The block that holds a distance."""
        if self.growth == 1:
            return distance // self.width
        k = 0
        while self._edge(k + 1) <= distance:
            k += 1
        return k


def _decaying_below(ratio: Fraction, count: int | None, source: Randomness) -> int:
    """An integer K of 0, …, count − 1 (None: no end) with P[K = k] ∝ ratio^k, by inversion of a lazy uniform.

    K = ⌊ln(1 − U(1 − r^n))/ln r⌋, since P[K ≥ k] = P[U(1 − r^n) ≥ 1 − r^k] = (r^k − r^n)/(1 − r^n).
    """
    uniform, bits = LazyUniform(source), 64
    while True:
        r = Enclosure.of(ratio, bits)
        whole_mass = Enclosure.of(1, bits) if count is None else 1 - r**count
        left = 1 - uniform.enclosure(bits) * whole_mass
        if left.low > 0:
            real = left.log() / r.log()
            low, high = (end.numerator // end.denominator for end in (real.low, real.high))
            if low == high and low >= 0 and (count is None or low < count):
                return low
        bits *= 2
