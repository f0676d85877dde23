"""A share from two noisy counts: what the methods of `ratio` have in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import product
from typing import NamedTuple, SupportsIndex

from tacit.guarantees import Guarantee
from tacit.mechanisms.law import Law, Named
from tacit.mechanisms.noise.noise import NoisyInteger, laplace, noise_named
from tacit.mechanisms.totals.bounded_mean import share
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import whole
from tacit.randomness import Randomness


class Ratio(NamedTuple):
    """A released share, the noisy counts released with it, and the method that made it."""

    value: Fraction
    counts: tuple[int, ...]
    method: str


def shared(counts: tuple[int, ...], method: str) -> Ratio:
    """The share of two counts (a, z), the last two of those released, or for "naive" of (a, b)."""
    a, other = counts[-2:]
    return Ratio(share(a, other - max(a, 0) if method == "naive" else other), counts, method)


class CountedRatio(Law[Ratio]):
    """The law of a share computed from two noisy counts."""

    def __init__(self, a: int, other: int, rate: Fraction, method: str, guarantee: Guarantee, moved: int = 1) -> None:
        self.name, self.method, self.guarantee = f"ratio by {method}", method, guarantee
        self._counts: tuple[NoisyInteger, NoisyInteger] = (laplace(a, rate), laplace(other, rate))
        self._moved = moved

    def named(self) -> Named | None:
        """The rate of both noises, and by how much a person moves the two counts together."""
        return noise_named(self._counts[0].noise, self._moved, 2)

    def _draw(self, source: Randomness) -> Ratio:
        return shared(tuple(count._draw(source) for count in self._counts), self.method)

    def pmf(self, y: Ratio, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        if len(y.counts) != 2 or y != shared(y.counts, self.method):
            return Enclosure.of(0, bits)
        first, second = (law.pmf(count, bits) for law, count in zip(self._counts, y.counts, strict=True))
        return first * second

    def outcomes(self) -> Iterable[Ratio]:
        """Every pair of the counts' windows."""
        return (shared(pair, self.method) for pair in product(*(count.outcomes() for count in self._counts)))

    def key(self) -> Hashable:
        """The two counts, and what is made of them."""
        return type(self), self.guarantee, self.method, tuple(count.key() for count in self._counts)


def split(a: int | SupportsIndex, b: int | SupportsIndex) -> tuple[int, int]:
    """(a, b − a) as counts, what no data can have taken for the nearest that they can."""
    total = max(0, whole(b, "b"))
    part = min(max(0, whole(a, "a")), total)
    return part, total - part
