"""The share a/b with noise scaled to a private bound on its local sensitivity.

PROMISE  Approx(ε₁ + ε₂, δ) for one draw: two noisy counts, and the share with Laplace noise on a fixed public
lattice, or two more noisy counts and their share.

PROOF
1. ã = a + Z₁ and z̃ = z + Z₂, z = b − a, with discrete Laplace noise of rate ε₁ each (ε₁/2 under replacement), cost
   ε₁: (a, z) has ℓ1-sensitivity 1 (2). R is the least integer with 4·P[Z > R] ≤ δ, so except with probability δ the
   truth lies in the box [a_l, a_u] × [z_l, z_u] = [ã − R, ã + R] × [z̃ − R, z̃ + R], cut off below 0.
2. On a box with a_l + z_l ≥ 2 the share moves by at most g = max( max_a a/((a + z_l)(a + z_l − 1)), max_z z/((z +
   a_l)(z + a_l − 1)) ), z_l and a_l at least 1 there. Removing one of z ≥ 1 persons without the property moves it by
   a/(b(b−1)), which falls in z; adding one by less; where z = 0 adding one moves it by 1/(a + 1), which is the bound
   at z_l = 1. Likewise with a and z exchanged. a/((a+z)(a+z−1)) rises until a² = z² − z and falls after, so its
   maximum over whole numbers is at an end or next to that. Replacing also moves a by one at the same b: then g is at
   least 1/b_l.
3. If the box holds the truth of x, |f(x) − f(x')| ≤ g for every neighbour x', and Laplace noise of scale g/ε₂ costs
   ε₂. For an event E: P[E] ≤ δ + Σ_{boxes that hold x} ≤ δ + e^{ε₁+ε₂}·P'[E].
4. Where the box allows b ≤ 1 no g is small (f moves by ½ there), and the share comes from two further noisy counts at
   ε₂, as it does with "automatic" wherever they are
   expected to be more accurate; the choice depends on ã and z̃ only.

NOISE  Laplace noise is rounded to the lattice. Staircase noise (``staircase``) is on it: f is rounded to the lattice
first and g up to s steps of it, so that f moves by at most s steps still, and `tacit.noises.staircase` costs ε₂.

ACCURACY  See `ratio`. COST  About 0.2 ms a draw.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import product
from math import isqrt
from typing import NamedTuple

from tacit.errors import InvalidInput
from tacit.guarantees import Approx
from tacit.mechanisms.law import Law, Named
from tacit.mechanisms.noise.noise import laplace
from tacit.mechanisms.totals.bounded_mean import share
from tacit.mechanisms.totals.ratio_counts import CountedRatio, Ratio, shared
from tacit.noises import DiscreteLaplace, Staircase
from tacit.noises.smooth_noises import laplace_tail
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number, between, positive
from tacit.randomness import Randomness, rounded_laplace

BOUND_SHARE = Fraction(1, 20)
"""What the two counts that bound the local sensitivity take of ε."""

LISTED = range(5)
"""The window of noisy counts that a law lists, for verification."""


class Box(NamedTuple):
    """Bounds on a and on z = b − a."""

    a_low: int
    a_high: int
    z_low: int
    z_high: int


def around(counts: tuple[int, int], reach: int) -> Box:
    """The box around two noisy counts."""
    (a_low, a_high), (z_low, z_high) = ((max(0, c - reach), max(0, c + reach)) for c in counts)
    return Box(a_low, a_high, z_low, z_high)


def local_bound(box: Box, replacement: bool = False) -> Fraction | None:
    """g: the most that one person moves the share on any counts of the box; None where b ≤ 1 is among them."""
    least = box.a_low + box.z_low
    if least <= 1:
        return None
    bounds = [_steepest(box.a_low, box.a_high, box.z_low), _steepest(box.z_low, box.z_high, box.a_low)]
    return max(*bounds, Fraction(1, least)) if replacement else max(bounds)


def _steepest(low: int, high: int, other: int) -> Fraction:
    """The largest n/((n + m)(n + m − 1)) over low ≤ n ≤ high, m the other count but at least 1."""
    m = max(other, 1)
    turn = isqrt(m * m - m)
    candidates = {low, high, *(n for n in (turn, turn + 1) if low <= n <= high)}
    return max(Fraction(n, (n + m) * (n + m - 1)) if n else Fraction(0) for n in candidates)


class LocalRatio(Law[Ratio]):
    """The law of the share by local sensitivity, or by further counts where that is better."""

    def __init__(
        self,
        a: int,
        z: int,
        guarantee: Approx,
        automatic: bool,
        replacement: bool,
        lattice: Number,
        bound_share: Fraction = BOUND_SHARE,
        staircase: bool = False,
    ) -> None:
        self.name = "ratio by local sensitivity"
        self.guarantee = Approx(positive(guarantee.epsilon, "epsilon"), between(guarantee.delta, "delta", 0, 1))
        self.lattice = positive(lattice, "lattice")
        if (1 / self.lattice).denominator != 1:
            raise InvalidInput("lattice must divide 1; give a number such as 1/1000000.")
        moved = 2 if replacement else 1
        first, self._second = bound_share * guarantee.epsilon, (1 - bound_share) * guarantee.epsilon
        self._rates = first / moved, self._second / moved
        self.reach = max(0, DiscreteLaplace(self._rates[0]).threshold(guarantee.delta / 4) - 1)
        self._automatic, self._replacement, self._staircase = automatic, replacement, staircase
        self._spread = DiscreteLaplace(self._rates[1]).mean_size
        self._value = share(a, z)
        self._counts = laplace(a, self._rates[0]), laplace(z, self._rates[0])
        self._further = CountedRatio(a, z, self._rates[1], "two_counts", self.guarantee)

    def named(self) -> Named:
        """The rates of the counts and of the share, how far the first noises are trusted, and the lattice."""
        moved = "2" if self._replacement else "1"
        facts = {"rate": str(self._rates[0]), "threshold": str(self.reach + 1), "moves": moved}
        return {"law": "share", **facts, "share": str(self._second), "lattice": str(self.lattice)}

    def _bound(self, counts: tuple[int, int]) -> Fraction | None:
        """g where it is used with these noisy counts."""
        bound = local_bound(around(counts, self.reach), self._replacement)
        if bound is None or (self._automatic and bound / self._second >= self._expected(counts)):
            return None
        return bound

    def _expected(self, counts: tuple[int, int]) -> Fraction:
        """The mean error to expect from two further counts: E|Z|·(1 − p(1 − p))/b."""
        p, total = share(*counts), max(1, sum(max(0, c) for c in counts))
        return self._spread * (1 - p * (1 - p)) / total

    def key(self) -> Hashable:
        """The two counts, and the public choices."""
        chosen = self._automatic, self._replacement, self._staircase, self.lattice, self._rates
        return type(self), self.guarantee, chosen, tuple(count.key() for count in self._counts)

    def _draw(self, source: Randomness) -> Ratio:
        first, second = (count._draw(source) for count in self._counts)
        bound = self._bound((first, second))
        if bound is None:
            return shared((first, second, *self._further._draw(source).counts), "two_counts")
        if self._staircase:
            drawn = (self._place + self._stairs(bound).draw(source)) * self.lattice
        else:
            drawn = rounded_laplace(self._value, bound / self._second, self.lattice, source=source)
        return Ratio(Fraction(min(max(drawn, Fraction(0)), Fraction(1))), (first, second), "local")

    def pmf(self, y: Ratio, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        first, second = y.counts[:2]
        chance = self._counts[0].pmf(first, bits) * self._counts[1].pmf(second, bits)
        bound = self._bound((first, second))
        if (bound is None) != (y.method == "two_counts"):
            return Enclosure.of(0, bits)
        if bound is None:
            return chance * self._further.pmf(shared(y.counts[2:], "two_counts"), bits)
        if self._staircase:
            return chance * self._stair_mass(y.value, self._stairs(bound), bits)
        return chance * laplace_mass(y.value, self._value, bound / self._second, self.lattice, bits)

    @property
    def _place(self) -> int:
        """The share, rounded to the lattice, in steps of it."""
        return (self._value / self.lattice + Fraction(1, 2)).__floor__()

    def _stairs(self, bound: Fraction) -> Staircase:
        """The noise for a bound, rounded up to steps of the lattice."""
        return Staircase.for_pure(self._second, -(-bound // self.lattice))

    def _stair_mass(self, y: Fraction, noise: Staircase, bits: int) -> Enclosure:
        """P[the rounded share and noise come to y]; 0 and 1 take all that is beyond them."""
        place = y / self.lattice
        if not 0 <= y <= 1 or place.denominator != 1:
            return Enclosure.of(0, bits)
        z = place.numerator - self._place
        if y == 0:
            return noise.tail(-z, bits)
        return noise.tail(z, bits) if y == 1 else noise.mass(z, bits)

    def outcomes(self) -> Iterable[Ratio]:
        """A public window of counts, with every lattice value or a window of further counts."""
        values = [i * self.lattice for i in range((1 / self.lattice).numerator + 1)]
        for counts in product(LISTED, LISTED):
            if self._bound(counts) is None:
                yield from (shared((*counts, *further), "two_counts") for further in product(LISTED, LISTED))
            else:
                yield from (Ratio(value, counts, "local") for value in values)


def laplace_mass(y: Fraction, center: Fraction, scale: Fraction, lattice: Fraction, bits: int = BITS) -> Enclosure:
    """P[center + scale·Z comes to the lattice value y], Z Laplace; 0 and 1 take all that is beyond them."""
    if not 0 <= y <= 1 or (y / lattice).denominator != 1:
        return Enclosure.of(0, bits)
    low = None if y == 0 else (y - lattice / 2 - center) / scale
    high = None if y == 1 else (y + lattice / 2 - center) / scale
    if high is not None and (low is None or high <= -low):  # the side on which both tails are small
        return laplace_tail(-high, bits) - (0 if low is None else laplace_tail(-low, bits))
    assert low is not None  # the lattice has at least the values 0 and 1
    return laplace_tail(low, bits) - (0 if high is None else laplace_tail(high, bits))
