"""The share a/b by every method, adding and removing or replacing persons.

Records are "a" (counts in both) and "z" (counts in b only). Two regimes: a handful of persons, where every output is
compared, and about a hundred, where the bound on the local sensitivity is small and the outputs near the truth are.
Twins: a published listing of the local-sensitivity method with its mistakes, the worst of them alone, half the noise,
and the rates for adding and removing where persons are replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import ceil, floor, isqrt, log

from tacit.audit.exact import Dataset, Mechanism
from tacit.audit.registry import AuditCase
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise.noise import laplace
from tacit.mechanisms.totals.ratio import ratio
from tacit.mechanisms.totals.ratio_counts import CountedRatio, Ratio
from tacit.mechanisms.totals.ratio_local import BOUND_SHARE, LocalRatio, laplace_mass
from tacit.noises import Staircase
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.randomness import Randomness, rounded_laplace

COARSE = Fraction(1, 8)


def counts(x: Dataset) -> tuple[int, int]:
    """(a, z)."""
    return x.count("a"), x.count("z")


def boxes(a: Iterable[int], z: Iterable[int]) -> list[Dataset]:
    """The datasets with these numbers of both kinds."""
    return [("a",) * i + ("z",) * j for i, j in product(a, z)]


def replaced(collection: Sequence[Dataset]) -> list[tuple[Dataset, Dataset]]:
    """Pairs that differ by one person who changes kind, comes to count, or ceases to."""
    found = [(x, y) for x in collection for y in collection if counts(x) < counts(y)]
    moves = {(0, 1), (1, 0), (1, -1)}
    return [(x, y) for x, y in found if tuple(b - a for a, b in zip(counts(x), counts(y), strict=True)) in moves]


# A handful of persons: three quarters of ε bound the counts, and that closely.
SMALL, SHARE = Approx(4, Fraction(1, 5)), Fraction(3, 4)


def _local(x: Dataset, automatic: bool = False, replacement: bool = False, staircase: bool = False) -> LocalRatio:
    return LocalRatio(*counts(x), SMALL, automatic, replacement, COARSE, SHARE, staircase)


# About a hundred persons, ε = 20 and δ = 10^-6.
LARGE = Approx(20, Fraction(1, 10**6))
FINE = Fraction(1, 2048)
NEAR = range(590, 640)
"""The shares around 0.3, in steps of the lattice."""
HUNDRED = boxes((29, 30), (69, 70))


class _NearTruth(LocalRatio):
    """With a window of outputs around a = 30 and z = 70."""

    def __init__(self, x: Dataset, staircase: bool = False) -> None:
        super().__init__(*counts(x), LARGE, False, False, FINE, staircase=staircase)

    def outcomes(self) -> Iterator[Ratio]:
        """A few noisy counts with the shares around the truth."""
        for pair in product((29, 30), (69, 70)):
            yield from (Ratio(i * FINE, pair, "local") for i in NEAR)


class _SteepNearTruth(_NearTruth):
    """Stairs a quarter as wide as the bound."""

    def _stairs(self, bound: Fraction) -> Staircase:
        return Staircase.for_pure(self._second, max(1, -(-bound // self.lattice) // 4))


class _WrongWayRound(_NearTruth):
    """The lower bound of a where the upper one belongs, and the upper where the lower one does."""

    def _bound(self, counts: tuple[int, int]) -> Fraction:
        (a, z), r = counts, self.reach
        a_low, a_high, b_low, b_high = a - r, a + r, a + z - 2 * r, a + z + 2 * r
        return _published_bound(a_low, a_high, b_low, b_high)


def _published_bound(a_low: int, a_high: int, b_low: int, b_high: int) -> Fraction:
    """The bound of the listing: both terms take the wrong end of a."""
    turn = a_low + isqrt(max(0, a_low * a_low - a_low))
    candidates = [b for b in (b_low, b_high, turn, turn + 1) if b_low <= b <= b_high]
    first = Fraction(a_low, b_low * b_low - b_low)
    return max(first, *(Fraction(b - a_high, b * b - b) for b in candidates))


class Published(Law[Ratio]):
    """The published listing, kept as a museum piece: counts of a and b at ε₁/2 each, tails e^{-εT}, wrong bounds.

    Where its scale is not positive the share itself comes out; where it would fall back it fails, an output too.
    """

    name = "published ratio"

    def __init__(self, x: Dataset, guarantee: Approx) -> None:
        self.guarantee: Guarantee = guarantee
        (a, z), first = counts(x), BOUND_SHARE * guarantee.epsilon
        self._second = guarantee.epsilon - first
        self._value = Fraction(a, a + z)
        self._counts = laplace(a, first / 2), laplace(a + z, first / 2)
        self._reach = 2 * log(2 / guarantee.delta) / float(first)

    def _scale(self, pair: tuple[int, ...]) -> Fraction | None:
        a, b = pair
        low = floor(b - self._reach)
        if low <= 1:
            return None
        bound = _published_bound(max(0, floor(a - self._reach)), ceil(a + self._reach), low, ceil(b + self._reach))
        return bound / self._second

    def _draw(self, source: Randomness) -> Ratio:
        pair = tuple(count._draw(source) for count in self._counts)
        scale = self._scale(pair)
        certain = scale is None or scale <= 0
        value = self._value if certain else rounded_laplace(self._value, scale or 1, FINE, source=source)
        return Ratio(value, pair, "published")

    def pmf(self, y: Ratio, bits: int = BITS) -> Enclosure:
        """P[noisy counts]·P[share given these]."""
        chance = self._counts[0].pmf(y.counts[0], bits) * self._counts[1].pmf(y.counts[1], bits)
        scale = self._scale(y.counts)
        if scale is None:
            return Enclosure.of(0, bits)
        if scale <= 0:
            return chance * int(abs(self._value - y.value) * 2 < FINE)
        return chance * laplace_mass(y.value, self._value, scale, FINE, bits)

    def outcomes(self) -> Iterator[Ratio]:
        """A few noisy counts with the shares around the truth."""
        for pair in product((29, 30), (99, 100)):
            yield from (Ratio(i * FINE, pair, "published") for i in NEAR)


def _counted(replacement: bool = False, method: str = "two_counts") -> Mechanism:
    return lambda x: ratio(x.count("a"), len(x), PURE.epsilon, method=method, replacement=replacement)


PURE = Pure(6)
FEW = boxes(range(3), range(3))

_case = partial(AuditCase, covers="mechanisms.ratio", datasets=FEW)

CASES = (
    _case(
        name="ratio by two counts",
        mechanism=_counted(),
        promised=PURE,
        twins={"half the noise": lambda x: CountedRatio(*counts(x), 2 * PURE.epsilon, "two_counts", PURE)},
    ),
    _case(
        name="ratio by two counts, persons replaced",
        mechanism=_counted(True),
        promised=PURE,
        pairs=replaced,
        twins={"noise as for adding and removing": _counted()},
    ),
    _case(
        name="ratio by noise on a and b",
        mechanism=_counted(method="naive"),
        promised=PURE,
        pairs=replaced,
        twins={
            "the whole of epsilon for each": lambda x: CountedRatio(x.count("a"), len(x), PURE.epsilon, "naive", PURE)
        },
    ),
    _case(
        name="ratio by local sensitivity, a handful of persons",
        mechanism=_local,
        promised=SMALL,
    ),
    _case(
        name="ratio by local sensitivity, persons replaced",
        mechanism=lambda x: _local(x, replacement=True),
        promised=SMALL,
        pairs=replaced,
    ),
    _case(
        name="ratio by local sensitivity, staircase noise",
        mechanism=lambda x: _local(x, staircase=True),
        promised=SMALL,
    ),
    _case(
        name="ratio by local sensitivity, staircase noise, a hundred persons",
        mechanism=partial(_NearTruth, staircase=True),
        datasets=HUNDRED,
        promised=LARGE,
        twins={"stairs too steep": partial(_SteepNearTruth, staircase=True)},
    ),
    _case(
        name="ratio by the better of both",
        mechanism=lambda x: _local(x, automatic=True),
        promised=SMALL,
    ),
    _case(
        name="ratio by local sensitivity, a hundred persons",
        mechanism=_NearTruth,
        datasets=HUNDRED,
        promised=LARGE,
        twins={
            "the published listing": lambda x: Published(x, LARGE),
            "the bounds of a the wrong way round": _WrongWayRound,
        },
    ),
)
