"""A bound-free sum: a cap chosen, the sum below it and the number of persons above it released, charged together.

Person u has a total s_u ≥ 0. For ascending public levels C_i let N_i be the number of persons with s > C_i and S_i
the sum of the totals s ≤ C_i. With u = 0.22·ε (`CHOICE`) one draw

1. chooses i with probability ∝ π(C_i)·e^{−u·N_i}, π(C) ≈ C^{−3.5} public;
2. releases n = N_i + Z with P(z) ∝ e^{−εz} for z ≥ 0 and e^{−(ε−u)|z|} for z < 0;
3. releases s = S_i + Y with P(y) ∝ e^{−(ε−u)y/C_i} for y ≥ 0 and e^{−ε|y|/C_i} for y < 0.

PROMISE. Pure(ε) for all three together, although apart they would cost u + ε + ε.

PROOF. Add a person with total t. N_j rises by one for every C_j < t and stays for every C_j ≥ t, so the sum of all
weights in 1 moves by a factor in [e^{−u}, 1].
- If C_i < t, the weight of i falls by e^{−u}, so P(i) moves by a factor in [e^{−u}, 1]; N_i rises by one, which moves
  the probability of n by one in [e^{−(ε−u)}, e^ε]; S_i stays. Together [e^{−ε}, e^ε].
- If C_i ≥ t, the weight of i stays, so P(i) moves by a factor in [1, e^u]; N_i stays; S_i rises by t ≤ C_i, which
  moves the probability of s by one in [e^{−ε}, e^{ε−u}]. Together [e^{−ε}, e^ε].

Totals of two signs concern disjoint persons, so releasing the positive and the negative part costs ε once.

ACCURACY. The estimate is s + λ·max(0, n − 1/ε) with λ = 9C/5: each person above C counts as λ, and a count that noise
alone explains is taken as none. The choice goes up as long as raising the cap by a factor 1.3 leaves out about 0.9/u
fewer persons, at any scale of the data; the prior keeps it from running away. `benchmarks/bound_free_sum.py` compares
the median error with that of the best cap chosen with knowledge of the data, and with threshold scans. The number of
persons above C is at most n plus a quantile of Z, whatever the data: an honest statement of what the cap leaves out.

COST. Linear in the number of levels, about 330.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, isqrt

from tacit.enclosures import BITS, Enclosure, exp
from tacit.errors import InvalidInput
from tacit.exact import Number, positive, whole
from tacit.guarantees import Pure
from tacit.mechanisms.law import Law
from tacit.randomness import Categorical, asymmetric_laplace
from tacit.randomness.source import Source

CHOICE = Fraction(22, 100)
"""What the choice of the cap takes of ε, found by the study."""

WEIGHT = Fraction(9, 5)
"""A person above C counts as this many times C."""

GROWTH = Fraction(13, 10)
"""The factor between neighbouring levels."""

LARGEST = 2**125
"""No level lies above this; totals of 64-bit values over 2^61 rows do not either."""


def _levels() -> tuple[int, ...]:
    found = [1]
    while found[-1] * GROWTH < LARGEST:
        found.append(max(found[-1] + 1, int(found[-1] * GROWTH)))
    return tuple(found)


LEVELS = _levels()
"""The public levels C_0 < C_1 < …"""


def prior(level: int) -> int:
    """A whole number close to 2^600·C^{−3.5}."""
    return 2**632 // (level**3 * isqrt(level << 64))


@dataclass(frozen=True)
class Release:
    """What one draw releases: the level's place, the sum below it with noise, the persons above it with noise."""

    place: int
    below: int
    above: int


class CapAndRelease(Law[Release]):
    """The law of the released triple."""

    name = "cap and release"

    def __init__(self, above: Sequence[int], below: Sequence[int], epsilon: Fraction, levels: Sequence[int]) -> None:
        self.guarantee = Pure(epsilon)
        self.levels, self._epsilon = tuple(levels), epsilon
        self._above, self._below = tuple(above), tuple(below)
        self._choice = CHOICE * epsilon

    @cached_property
    def _choose(self) -> Categorical:
        least = min(self._above)
        return Categorical([(prior(c), n - least) for c, n in zip(self.levels, self._above, strict=True)], self._choice)

    def rates(self, place: int) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        """The (above, below) rates of the noise on the count and of the noise on the sum: public facts."""
        level, rest = self.levels[place], self._epsilon - self._choice
        return (self._epsilon, rest), (rest / level, self._epsilon / level)

    def _draw(self, source: Source) -> Release:
        place = int(self._choose.draw(source))
        counts, sums = self.rates(place)
        return Release(
            place,
            self._below[place] + int(asymmetric_laplace(*sums, source=source)),
            self._above[place] + int(asymmetric_laplace(*counts, source=source)),
        )

    def pmf(self, y: Release, bits: int = BITS) -> Enclosure:
        """The product of the three steps' probabilities."""
        if not 0 <= y.place < len(self.levels):
            return Enclosure.of(0, bits)
        counts, sums = self.rates(y.place)
        chosen = self._choose.pmf(y.place, bits)
        count = _mass(y.above - self._above[y.place], *counts, bits)
        return chosen * count * _mass(y.below - self._below[y.place], *sums, bits)

    def outcomes(self) -> Iterable[Release]:
        """Every level, with sums and counts in a window that leaves out little."""
        for place, level in enumerate(self.levels):
            reach = ceil(Fraction(8) / self._epsilon)
            counts = range(self._above[place] - reach, self._above[place] + reach + 1)
            sums = range(self._below[place] - reach * level, self._below[place] + reach * level + 1)
            yield from (Release(place, s, n) for s, n in product(sums, counts))


def _mass(z: int, above: Fraction, below: Fraction, bits: int) -> Enclosure:
    """P(z) ∝ e^{−above·z} for z ≥ 0, e^{−below·|z|} for z < 0."""
    work = bits + 16 + 2 * int(1 / min(above, below)).bit_length()  # 1 − e^{−rate} loses as many bits as it is small
    a, b = exp(-above, work), exp(-below, work)
    tail = exp(-above * z if z >= 0 else below * z, bits)
    return (1 - a) * (1 - b) / (1 - a * b) * tail


def cap_and_release(
    counts: Sequence[int], sums: Sequence[int], epsilon: Number, levels: Sequence[int] = LEVELS
) -> CapAndRelease:
    """The law for persons' totals given in buckets (0, C_0], (C_0, C_1], …, (C_last, ∞): how many, and their sum."""
    if len(counts) != len(levels) + 1 or len(sums) != len(counts):
        raise InvalidInput("counts and sums must have one entry for each bucket between the levels.")
    above, below, left, sum_ = [], [], sum(whole(count, "counts", 0) for count in counts), 0
    for count, part in zip(counts[:-1], sums[:-1], strict=True):
        left, sum_ = left - count, sum_ + whole(part, "sums", 0)
        above.append(left)
        below.append(sum_)
    return CapAndRelease(above, below, positive(epsilon, "epsilon"), levels)


def estimate(release: Release, epsilon: Fraction, levels: Sequence[int] = LEVELS) -> tuple[int, int]:
    """The sum that a release tells, and the most that one person counts for."""
    heavy = int(WEIGHT * levels[release.place])
    return release.below + round(heavy * max(Fraction(0), release.above - 1 / epsilon)), heavy
