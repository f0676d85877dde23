"""Stable keys: release which groups exist, and how many persons each has, without a public list of groups.

PROMISE. (ε, δ)-DP when every person takes part in at most κ keys. A key of fewer than `least` ≥ 2 persons is never
released.

PROOF. Keys of fewer than `least` = l persons stay hidden. Of every other key the count c gets noise Z and is released
as c + Z when that is at least T, else it stays hidden too. A person added to at most κ keys takes their counts from c
to c + 1. Keys with c + 1 < l are hidden with and without the person: nothing changes. There are two noises.

- *Truncated Laplace noise* on {−R..R}, P(z) ∝ e^{−ε'|z|}, ε' = ε/κ, T = R + l. Where c + 1 = l, l + Z ≤ R + l, so the
  key appears only if Z = R. Elsewhere the two noisy counts are within a factor e^{ε'} of each other except where one of
  them cannot be reached by the other. Each has probability at most P[Z = R] ≤ δ' = δ/κ. κ keys, independent noise:
  outside an event of probability at most 1 − (1 − δ')^κ ≤ δ the ratio is at most e^{κε'} = e^ε.
- *Gaussian noise* of variance κ/(2ρ). The counts that are l or more with and without the person move by a vector of ℓ2
  norm at most √κ, so they are ρ-zCDP and, with the largest ρ that allows it, (ε, δ/2)-DP. The keys that come from below
  l are at most κ, each shown with probability P[l + Z ≥ T] ≤ δ/(2κ), so one of them is with probability q ≤ δ/2. Let S
  be a set of outputs, A the law without the person, B that with the person, B' the law of B's other keys. Then
  B(S) ≤ B'(S) + q ≤ e^ε·A(S) + δ/2 + q; and (1 − q)·B'(S) ≤ B(S), so A(S) ≤ min(1, e^ε·B(S)/(1 − q) + δ/2), which
  exceeds e^ε·B(S) by the most where both are equal, by 1 − (1 − δ/2)(1 − q) ≤ δ.

- *Weighted*, `weighted_keys`: a person of m keys gives each of them the whole weight w_m with m·w_m² ≤ W², and Gaussian
  noise of variance W²/(2ρ) is added to the weights of all keys of l persons or more. Whatever m, the person moves these
  by a vector of ℓ2 norm at most W. A key that comes from below l has a weight of at most w_m + (l − 1)·W, and is shown
  with probability at most P[Z ≥ T − w_m − (l − 1)·W] ≤ δ/(2m) with T the largest that any m asks for. The rest is as
  above. A person of few keys counts for more, so κ of the few with many keys does not set the bar for all.

Of the first two the one with the lower T is taken, which ε, δ and κ decide: Laplace noise for few keys of a person,
where it grows like κ, Gaussian noise for many, where it grows like √κ.

ACCURACY. Of a truncated noise a released count is off by at most R, the smallest whole number with
e^{−ε'R}(1−r)/(1+r−2r^{R+1}) ≤ δ', r = e^{−ε'}, and a key with T + R or more persons is always released. T at δ = 10^-6
and ε = 1: 16 persons for one key of each person, 82 for 10 (with Laplace noise 134), 271 for 100 (1,315). COST. One
draw a key.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import isqrt
from typing import Any, ClassVar, Self

from tacit.guarantees import Approx, Zcdp
from tacit.guarantees.conversions import zcdp_order
from tacit.mechanisms.law import Law, Named
from tacit.mechanisms.noise.noise import NoisyInteger
from tacit.noises import DiscreteGaussian, TruncatedLaplace
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number, positive, whole
from tacit.numbers.exact import between as strictly_between
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import either, equal
from tacit.randomness.source import Randomness

Released = frozenset[tuple[Hashable, int]]

KeyNoise = TruncatedLaplace | DiscreteGaussian


class NoisyCount(NoisyInteger):
    """The law of a count with noise, listed as far as the noise goes where that is bounded."""

    noise: KeyNoise

    def outcomes(self) -> Iterable[int]:
        """Every possible output, or all but a share of 2^-40."""
        bounded = isinstance(self.noise, TruncatedLaplace)
        return self._within(reach_of(self.noise)) if bounded else super().outcomes()


def reach_of(noise: KeyNoise) -> int:
    """How far the noise goes: its bound, or what it exceeds once in 10^9."""
    return noise.bound if isinstance(noise, TruncatedLaplace) else noise.limit(Fraction(1, 10**9))


@lru_cache(maxsize=256)
def laplace_noise(epsilon: Fraction, delta: Fraction, per_person: int) -> tuple[KeyNoise, int]:
    """The noise, and how far the threshold lies above `least`."""
    noise = TruncatedLaplace.for_approx(epsilon / per_person, delta / per_person)
    return noise, noise.bound


@lru_cache(maxsize=256)
def gaussian_noise(epsilon: Fraction, delta: Fraction, per_person: int) -> tuple[KeyNoise, int]:
    """The noise, and how far the threshold lies above `least`."""
    noise = DiscreteGaussian(per_person / (2 * Zcdp.within(Approx(epsilon, delta / 2)).rho))
    return noise, noise.limit(delta / (2 * per_person)) + 1


class StableKeys(Law[Released]):
    """The law of the released (key, noisy count) pairs."""

    name = "stable keys"
    noise: KeyNoise
    guarantee: Approx

    def __init__(
        self, counts: Mapping[Hashable, int], epsilon: Fraction, delta: Fraction, per_person: int, least: int = 2
    ) -> None:
        self.guarantee, self._per_person = Approx(epsilon, delta), per_person
        self.least = least
        """Keys with fewer persons are never released."""
        tries = [made(epsilon, delta, per_person) for made in self.noises]
        self.noise, above = min(tries, key=lambda made: made[1])
        self.threshold = least + above
        """The smallest released count T."""
        share = Approx(epsilon / per_person, delta / per_person)
        self._laws = {key: NoisyCount(count, self.noise, share) for key, count in counts.items() if count >= least}

    noises: ClassVar[tuple[Callable[[Fraction, Fraction, int], tuple[KeyNoise, int]], ...]] = (
        laplace_noise,
        gaussian_noise,
    )
    """What makes a noise and says how far the threshold then lies above `least`."""

    def named(self) -> Named:
        """The noise, from what on a key is shown, and in how many keys a person is."""
        facts = {"threshold": str(self.threshold), "least": str(self.least), "order": self._order()}
        return {"law": "stable keys", **self.noise.named(), **facts, "keys": str(self._per_person)}

    def _order(self) -> str | None:
        """The Rényi order at which Gaussian noise is checked, as a witness."""
        if isinstance(self.noise, TruncatedLaplace):
            return None
        epsilon, half = self.guarantee.epsilon, self.guarantee.delta / 2
        return str(zcdp_order(Zcdp.within(Approx(epsilon, half)).rho, half))

    @property
    def bound(self) -> int:
        """The largest noise R; with Gaussian noise what it exceeds once in 10^9."""
        return reach_of(self.noise)

    @property
    def surely(self) -> int:
        """A key of so many persons is released, but for a chance of 10^-9 with Gaussian noise."""
        return self.threshold + self.bound

    def _draw(self, source: Randomness) -> Released:
        noisy = zip(self._laws.items(), self.noise.draws(len(self._laws), source), strict=True)
        drawn = ((key, law._value + z) for (key, law), z in noisy)
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

    def telling_points(self, laws: Sequence[Self]) -> list[Released] | None:
        """Of Gaussian noise, which reaches every number: each key hidden, just shown, or far above all counts."""
        if isinstance(self.noise, TruncatedLaplace):
            return None
        every = {
            key: max(law._laws[key]._value for law in laws if key in law._laws) for law in laws for key in law._laws
        }
        choices = [
            [None, (key, self.threshold), (key, self.threshold + largest)]
            for key, largest in sorted(every.items(), key=repr)
        ]
        return [frozenset(pair for pair in pairs if pair is not None) for pairs in product(*choices)]

    def outcomes_to_follow(self) -> list[Released]:
        """Everything shown, at the threshold."""
        return [frozenset((key, self.threshold) for key in self._laws)]

    def key(self) -> Hashable:
        """The counts of keys that can be released."""
        return type(self), self.guarantee, frozenset((key, law.key()) for key, law in self._laws.items())


def stable_keys(
    counts: Mapping[Hashable, int], epsilon: Number, delta: Number, per_person: int = 1, least: int = 2
) -> StableKeys:
    """The law of the keys, with noisy numbers of persons, that are safe to show, each of ``least`` persons or more.

    >>> from tacit.mechanisms import stable_keys
    >>> law = stable_keys({"north": 80, "south": 1}, epsilon=1, delta="1e-6")
    >>> sorted(key for key, _ in law.sample())
    ['north']
    """
    return StableKeys(
        counts,
        positive(epsilon, "epsilon"),
        strictly_between(delta, "delta", 0, 1),
        whole(per_person, "per_person", 1),
        whole(least, "least", 2),
    )


WEIGHT = 2**10
"""W, the weight of a person of one key."""


def weights(levels: Sequence[int], most: int = WEIGHT) -> tuple[int, ...]:
    """w_m for persons of up to so many keys: the largest whole number with m·w² ≤ W²."""
    return tuple(isqrt(most * most // level) for level in levels)


@lru_cache(maxsize=256)
def _weighted_noise(
    epsilon: Fraction, delta: Fraction, given: tuple[tuple[int, int], ...], most: int
) -> tuple[KeyNoise, int]:
    """The noise, and how far the threshold lies above what the other persons of a new key may weigh."""
    noise = DiscreteGaussian(most * most / (2 * Zcdp.within(Approx(epsilon, delta / 2)).rho))
    return noise, max(weight + noise.limit(delta / (2 * level)) + 1 for level, weight in given)


class WeightedKeys(StableKeys):
    """The law of the released (key, noisy weight) pairs."""

    name = "weighted stable keys"

    def __init__(
        self,
        found: Mapping[Hashable, int],
        epsilon: Fraction,
        delta: Fraction,
        given: Sequence[tuple[int, int]],
        least: int,
        most: int,
    ) -> None:
        self.guarantee, self.least, self._given, self._most = Approx(epsilon, delta), least, given, most
        self.noise, over = _weighted_noise(epsilon, delta, tuple(given), most)
        self.threshold = (least - 1) * most + over
        self._laws = {key: NoisyCount(weight, self.noise, self.guarantee) for key, weight in found.items()}

    def named(self) -> Named:
        """The noise, from what on a key is shown, and what a person of so many keys weighs in each."""
        facts = {"threshold": str(self.threshold), "least": str(self.least), "order": self._order()}
        weights = [[str(keys), str(weight)] for keys, weight in self._given]
        return {"law": "weighted keys", **self.noise.named(), **facts, "most": str(self._most), "weights": weights}


def weighted_keys(
    found: Mapping[Hashable, int],
    epsilon: Number,
    delta: Number,
    levels: Sequence[int],
    least: int = 2,
    most: int = WEIGHT,
) -> WeightedKeys:
    """The law of the keys, with noisy weights, that are safe to show; ``found`` has those of ``least`` persons or more.

    A person of m keys gives each of them the weight that `weights` has for the smallest of the ``levels`` not below m,
    ``most`` being that of one key.

    >>> from tacit.mechanisms import weighted_keys
    >>> from tacit.mechanisms.choose.stable_keys import WEIGHT
    >>> law = weighted_keys({"north": 80 * WEIGHT}, epsilon=1, delta="1e-6", levels=[1])
    >>> law.guarantee
    Approx(1, 1e-06)
    """
    total, chance = positive(epsilon, "epsilon"), strictly_between(delta, "delta", 0, 1)
    given = tuple(zip(levels, weights(levels, most), strict=True))
    return WeightedKeys(found, total, chance, given, whole(least, "least", 2), whole(most, "most", 1))


def argue_laplace(p: Argument, *, shared: Any = lambda total, keys: total / keys, early: int = 0) -> None:
    """Up to κ keys that a person joins or leaves, each with its share of ε and δ; T = R + l, less ``early``."""
    epsilon, delta, keys, least = p.positive("ε"), p.positive("δ"), p.count("κ", 1), p.count("l", 2)
    each, chance = shared(epsilon, keys), shared(delta, keys)
    bound, sign, z = p.count("R", 1), p.whole("move"), p.whole("Z")  # P[Z ≥ R] ≤ δ/κ by the choice of R
    p.assume(equal(abs(sign), 1), z <= bound, z >= -bound)
    with p.case("a key that comes from below l, or falls below it"):
        lost = by.event(p, least + z >= bound + least - early, z, bound, chance)
        p.promise(by.repeated(p, keys, lost), delta)
        hidden = p.within("P[shown]", 0, chance)
        by.ratio(p, 1, 1 - hidden, 1, chance)  # hidden with certainty, against hidden but for δ/κ
    with p.case("a key of l persons or more on both"):
        price = by.noise(p, sign, each, each)
        lost = by.event(p, abs(z - sign) > bound, either(sign > 0, -z, z), bound, chance)
        p.promise(by.repeated(p, keys, price), epsilon)
        p.promise(by.repeated(p, keys, lost), delta)


def _hidden_keys(p: Argument, delta: Any, shown: Any) -> None:
    """An event with chance A without the person, B with them, and C with them but for keys that come from below l."""
    factor, q = p.real("e^ε", lambda x: x >= 1), p.real("q", lambda x: x >= 0)
    p.assume(q <= shown, q <= 1, delta <= 1)
    a, b, c = p.within("A", 0, 1), p.within("B", 0, 1), p.within("C", 0, 1)
    p.assume(b <= c + q, (1 - q) * c <= b)
    p.assume(c <= factor * a + delta / 2, a <= factor * c + delta / 2)  # ρ-zCDP is (ε, δ/2)
    by.ratio(p, b, a, factor, delta)
    by.ratio(p, a, b, factor, delta)


def argue_gaussian(p: Argument, *, shared: Any = lambda total, keys: total / keys, early: int = 0) -> None:
    """Up to κ counts that move by 1, with Gaussian noise, and up to κ keys that come from below l."""
    rho, delta, keys, least = p.positive("ρ"), p.positive("δ"), p.count("κ", 1), p.count("l", 2)
    variance = keys / (2 * rho)

    def count(state: Any) -> Any:
        move = p.steps("move", -1, 1)
        return (state[0] + 1,), by.gaussian(p, move, variance)

    spent = by.loop(p, (0,), lambda x, at: x <= at[0] / (2 * variance), count, lambda at: at[0] <= keys, rho)
    p.promise(spent, rho)
    limit, z = p.count("limit"), p.whole("Z")  # P[Z > limit] ≤ δ/(2κ) by the choice of T = l + limit + 1
    shown = by.event(p, least + z >= least + limit + 1 - early, z, limit + 1, shared(delta / 2, keys))
    with p.case("keys that come from below l"):
        _hidden_keys(p, delta, by.repeated(p, keys, shown))


def argue_weighted(p: Argument, *, heavy: int = 1, alone: bool = False) -> None:
    """A person of m keys gives each of them w with m·w² ≤ W²; ``heavy`` times as much is too much."""
    rho, delta, keys, least = p.positive("ρ"), p.positive("δ"), p.count("m", 1), p.count("l", 2)
    weight, most, used = p.count("w"), p.count("W", 1), p.count("keys at l or more")
    p.assume(keys * weight * weight <= most * most, used <= keys)
    variance = most * most / (2 * rho)
    given = heavy * weight
    p.promise(by.repeated(p, used, by.gaussian(p, given, variance)), rho)
    with p.case("keys that come from below l"):
        others, z, limit = p.count("weight of the others"), p.whole("Z"), p.count("limit")
        p.assume(others <= (least - 1) * most)
        threshold = p.whole("T", lambda t: t >= (0 if alone else (least - 1) * most) + weight + limit + 1)
        shown = by.event(p, others + given + z >= threshold, z, limit + 1, delta / 2 / keys)
        _hidden_keys(p, delta, by.repeated(p, keys, shown))


_GIVEN = "a person has at most κ keys, and moves the number of persons of each by 1"

PROOFS = (
    Proof("stable keys with Laplace noise", "mechanisms.stable_keys", "Approx(ε, δ)", argue_laplace, _GIVEN),
    Proof("stable keys with Gaussian noise", "mechanisms.stable_keys", "Approx(ε, δ)", argue_gaussian, _GIVEN),
    Proof(
        "stable keys by weight",
        "mechanisms.weighted_keys",
        "Approx(ε, δ)",
        argue_weighted,
        "a person of m keys gives each the weight w_m, m·w_m² ≤ W² (`weights`)",
    ),
)
