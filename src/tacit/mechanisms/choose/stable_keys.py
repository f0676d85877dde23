"""Stable keys: release which groups exist, and how many persons each has, without a public list of groups.

PROMISE. (ε, δ)-DP when every person takes part in at most κ keys.

PROOF. Each key's count c gets noise Z on {−R..R} with P(z) ∝ e^{−ε'|z|}, ε' = ε/κ, and is released as c + Z when that
is at least T = R + 2, else the key stays hidden. A person added to a key takes its count from c to c + 1.
- c = 0: 1 + Z ≤ R + 1 < T, so the key is hidden with and without the person: nothing changes.
- c ≥ 1: the two noisy counts are within a factor e^{ε'} of each other except where one of them cannot be reached by
  the other, an event of probability P[Z = R] ≤ δ' = δ/κ. κ keys, independent noise: outside an event of probability
  at most 1 − (1 − δ')^κ ≤ δ the ratio is at most e^{κε'} = e^ε.

ACCURACY. A released count is off by at most R, the smallest whole number with e^{−ε'R}(1−r)/(1+r−2r^{R+1}) ≤ δ', r =
e^{−ε'}; a key with T + R or more persons is always released, one with fewer than `least` = T − R = 2 never. COST. One
draw a key.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import product

from tacit.guarantees import Approx
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise.noise import TruncatedInteger
from tacit.noises import TruncatedLaplace
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number, positive, whole
from tacit.numbers.exact import between as strictly_between
from tacit.randomness.source import Randomness

Released = frozenset[tuple[Hashable, int]]


class StableKeys(Law[Released]):
    """The law of the released (key, noisy count) pairs."""

    name = "stable keys"

    def __init__(self, counts: Mapping[Hashable, int], epsilon: Fraction, delta: Fraction, per_person: int) -> None:
        self.guarantee = Approx(epsilon, delta)
        share = Approx(epsilon / per_person, delta / per_person)
        noise = TruncatedLaplace.for_approx(share.epsilon, share.delta)
        self._laws = {key: TruncatedInteger(count, noise, share) for key, count in counts.items() if count >= 2}
        self.noise, self.bound = noise, noise.bound
        """The largest noise R."""
        self.threshold = self.bound + 2
        """The smallest released count T."""
        self.least = self.threshold - self.bound
        """Keys with fewer persons are never released."""

    def _draw(self, source: Randomness) -> Released:
        drawn = ((key, law._draw(source)) for key, law in self._laws.items())
        return frozenset((key, count) for key, count in drawn if count >= self.threshold)

    def pmf(self, y: Released, bits: int = BITS) -> Enclosure:
        """The product over the keys; a key that the data do not have cannot be released."""
        released = dict(y)
        if len(released) < len(y) or not released.keys() <= self._laws.keys():
            return Enclosure.of(0, bits)
        result = Enclosure.of(1, bits)
        for key, law in self._laws.items():
            if key not in released:
                result = result * law.cdf(self.threshold - 1, bits)
            elif released[key] >= self.threshold:
                result = result * law.pmf(released[key], bits)
            else:
                return Enclosure.of(0, bits)
        return result

    def outcomes(self) -> Iterable[Released]:
        """Every combination of hidden keys and released counts."""
        choices = [
            [None, *((key, count) for count in law.outcomes() if count >= self.threshold)]
            for key, law in self._laws.items()
        ]
        return (frozenset(pair for pair in pairs if pair is not None) for pairs in product(*choices))

    def key(self) -> Hashable:
        """The counts of keys that can be released."""
        return type(self), self.guarantee, frozenset((key, law.key()) for key, law in self._laws.items())


def stable_keys(counts: Mapping[Hashable, int], epsilon: Number, delta: Number, per_person: int = 1) -> StableKeys:
    """The law of the keys, with noisy numbers of persons, that are safe to show."""
    return StableKeys(
        counts,
        positive(epsilon, "epsilon"),
        strictly_between(delta, "delta", 0, 1),
        whole(per_person, "per_person", 1),
    )
