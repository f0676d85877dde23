"""A currency for privacy: what a mechanism costs in coins of one size, by its own hockey stick.

A *unit* is one toss of a coin that tells the truth with odds e^h = 1 + 1/K, K a whole number: so x = e^γ is rational at
every loss that n tosses can have. A mechanism M *costs m units beside w* when M together with w tosses shows no more
than w + m tosses: H_{M⊗U^w}(x) ≤ H_{U^(w+m)}(x) + η for all x. Beside many tosses a mechanism costs about its variance,
for what it does to the shape of the loss is lost among them; beside none a coin of ε costs π/2 times as much.

PROMISE. `price(M, K, w)` is such an m, with η = `SLACK`. If it is one beside w, it is one beside every w' ≥ w.

PROOF. Both sides are convex in x, and the right one is linear between the losses of w + m tosses; a convex function
that is not above the ends of a chord is not above the chord. So only finitely many x are compared. Both pairs of laws
are compared in both orders, which leaves x ≥ 1: H(1/x) = 1 − 1/x + H'(x)/x, H' in the other order. The left side is
H_{U^w}(x) + Σ_i P[U^w = i]·(H_M(y) − (1 − y)₊), where y = x·e^{−l} and l is the loss of i heads. Further tosses on both
sides are an average of the inequality, which proves the second part.

ROUNDING. All numbers are integers in units of 2^-160. Masses of the binomial law come from its largest one by exact
ratios, each rounded once, until they are below 2^-150. A mechanism's hockey stick is rounded up, at some losses only,
with chords between them, which lie above a convex function: that is the hockey stick of a law on these losses, whose
masses are rounded up too. What rounding and the tails left out can hide of any sum is below 2^-140·x, and x stays below
2^70; comparisons allow 2^-61, so what is promised holds with η = 10^-18. No float takes part.

COST. A price takes some ten comparisons: 0.03 s for a coin, 0.3 s for Gaussian noise, in a budget of 50,000 units.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise, repeat
from math import ceil, isqrt
from operator import mul, rshift

from tacit.errors import InvalidInput
from tacit.guarantees.mechanisms import Mechanism
from tacit.guarantees.rounding import shortened
from tacit.numbers.enclosures import Enclosure, log

SLACK = Fraction(1, 10**18)
"""η, which is paid as a δ of its own with every mechanism."""

BITS = 160
ONE = 1 << BITS
_ALLOWED = 1 << (BITS - 61)
_LEAST = 1 << (BITS - 150)
"""The least mass that is counted."""
_EVALUATED = 192
"""The precision with which a mechanism's hockey stick is computed."""
_NODES = 32
"""At how many losses it is computed, about."""
_MOST_STEPS = 1 << 17
_LARGEST = 70
"""Losses of interest stay below 70·ln 2."""


def powers(k: int, count: int) -> list[int]:
    """e^{hi} for i from 0 to ``count`` − 1, and some more."""
    return _powers(k, 1 << max(10, count.bit_length()))


@lru_cache(maxsize=32)
def _powers(k: int, count: int) -> list[int]:
    found, exact = [], ONE << 64
    for _ in range(count):
        found.append(exact >> 64)
        exact += exact // k
    return found


@lru_cache(maxsize=256)
def tosses(k: int, n: int) -> tuple[int, list[int]]:
    """P[i heads of n tosses] where heads are the truth, from the first i whose mass counts on."""
    top = min(n, (n + 1) * (k + 1) // (2 * k + 1))
    up, down, mass = [], [], ONE
    for i in range(top, n):
        mass = mass * ((n - i) * (k + 1)) // ((i + 1) * k)
        if mass < _LEAST:
            break
        up.append(mass)
    mass = ONE
    for i in range(top, 0, -1):
        mass = mass * (i * k) // ((n - i + 1) * (k + 1))
        if mass < _LEAST:
            break
        down.append(mass)
    masses = [*reversed(down), ONE, *up]
    whole = sum(masses)
    return top - len(down), [mass * ONE // whole for mass in masses]


@lru_cache(maxsize=256)
def stick_of_tosses(k: int, n: int) -> list[int]:
    """The hockey stick of n tosses at e^{hj} for j from 0 on, until it is lost."""
    first, masses = tosses(k, n)
    last, below = first + len(masses) - 1, [0, *accumulate(masses)]  # P[fewer than first + i heads]
    highest = max(2 * last - n, 0)
    x = powers(k, highest + 1)
    if x[highest] > ONE << _LARGEST:
        raise InvalidInput("a budget that adds up tightly has an epsilon of at most about 10; give a smaller one.")
    whole, found = below[-1], [0] * highest
    for start in (0, 1):  # of each second step one more head is needed for a loss above it
        more, count = (start + n) // 2 + 1, len(found[start::2])
        upper = _cut(below, more - first, count)
        lower = _cut(below, n + 2 - more - count - first, count)[::-1]
        parts = map(rshift, map(mul, x[start::2], lower), repeat(BITS))
        found[start::2] = [max(0, whole - fewer - part) for fewer, part in zip(upper, parts, strict=True)]
    return found


def _cut(values: list[int], start: int, count: int) -> list[int]:
    """So many values from a place on, which may lie before the first or after the last: those stand for all beyond."""
    stop = start + count
    before, after = min(max(-start, 0), count), min(max(stop - len(values), 0), count)
    return [values[0]] * before + values[max(start, 0) : max(stop, 0)] + [values[-1]] * after


@lru_cache(maxsize=512)
def atoms(mechanism: Mechanism, k: int, nodes: int = _NODES) -> tuple[list[tuple[int, int]], int]:
    """A law of losses, in steps, with masses rounded up, whose hockey stick is at least the mechanism's, for all x.

    Beside it what is lost: the mass at infinity.
    """
    (upper, above), (lower, below) = _nodes(mechanism, k, nodes), _nodes(mechanism.reverse, k, nodes)
    x = powers(k, max(upper[-1], lower[-1]) + 1)
    square = ONE * ONE
    # the curve from its lowest loss up: x and height, both in units of 2^-160
    curve = [(square // x[j], ONE - square // x[j] + below[i] * ONE // x[j] + 2) for i, j in enumerate(lower) if j]
    curve = [*reversed(curve), *((x[j], height) for j, height in zip(upper, above, strict=True))]
    losses = [*(-j for j in reversed(lower) if j), *upper]
    hull: list[tuple[int, int, int]] = []  # a convex function below some points is below their lower hull
    for loss, (y, height) in zip(losses, curve, strict=True):
        while hull and _bends_up(hull[-2][1:] if len(hull) > 1 else (0, ONE), hull[-1][1:], (y, height)):
            hull.pop()
        hull.append((loss, y, height))
    ends = [(0, ONE), *((y, height) for _, y, height in hull)]
    slopes = [*(Fraction(b - a, y - z) for (z, a), (y, b) in pairwise(ends)), Fraction(0)]
    found, lost = [], hull[-1][2]
    for (loss, y, _), (before, after) in zip(hull, pairwise(slopes), strict=True):
        mass = max(0, ceil((after - before) * y))
        if mass >> (BITS - 88):
            found.append((loss, mass + 1))
        else:
            lost += mass + 1  # what is this small may as well be lost
    return found, lost


def _bends_up(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    """Whether b is not below the chord from a to c."""
    return (b[1] - a[1]) * (c[0] - b[0]) >= (c[1] - b[1]) * (b[0] - a[0])


@lru_cache(maxsize=64)
def _nodes(mechanism: Mechanism, k: int, nodes: int) -> tuple[list[int], list[int]]:
    """Losses in steps from 0 on, and the mechanism's hockey stick there, rounded up, until it is lost."""
    size = int(mechanism.spread(90) * (2 * k + 1) / 2) + 2  # h ≥ 1/(k + 1/2), so the last lies beyond the reach
    if size > _MOST_STEPS:
        raise InvalidInput("this cost is too large to be priced by its own law; ask with a smaller one.")
    x = powers(k, size)
    spread = (size * i * isqrt(i * nodes) // nodes**2 for i in range(nodes))  # closer to each other near 0
    steps = sorted({*spread, *mechanism.kinks(k, size), size - 1})
    return steps, [mechanism.stick(Enclosure(x[j], x[j] + 2, -BITS, _EVALUATED)).fixed(BITS)[1] + 1 for j in steps]


def costs(mechanism: Mechanism, k: int, beside: int, units: int) -> bool:
    """Whether the mechanism costs at most so many units beside some others."""
    finite, lost = atoms(mechanism, k)
    own, most = stick_of_tosses(k, beside), stick_of_tosses(k, beside + units)
    reach = max(len(own) + max(loss for loss, _ in finite), 1)
    both = _both_sides(k, beside, (reach + max(abs(loss) for loss, _ in finite) | 255) + 2)  # one list for many cases
    start = units + beside & 1
    count, middle = len(range(start, reach + 2, 2)), len(both) // 2 + start
    bounds = [*most[start::2], *repeat(0, count)][:count]
    columns = (map(mul, repeat(mass), both[middle - loss : middle - loss + 2 * count : 2]) for loss, mass in finite)
    shown = zip(bounds, *columns, strict=True)
    return all(lost + (sum(parts) >> BITS) <= bound + _ALLOWED for bound, *parts in shown)


@lru_cache(maxsize=64)
def _both_sides(k: int, n: int, reach: int) -> list[int]:
    """The hockey stick of n tosses from a loss of −reach to reach."""
    above = stick_of_tosses(k, n)
    above = [*above, *repeat(0, reach + 1 - len(above))][: reach + 1]
    x, square = powers(k, reach + 1), ONE * ONE
    below = [ONE - square // x[j] + above[j] * ONE // x[j] + 2 for j in range(1, reach + 1)]
    return [*reversed(below), *above]


@lru_cache(maxsize=4096)
def price(mechanism: Mechanism, k: int, beside: int, most: int) -> int | None:
    """About the least number of units that a mechanism costs beside some others, by bisection; None above ``most``."""
    cases = mechanism.cases()
    cases = (*cases, *(case.reverse for case in cases if case.reverse not in cases))
    if _hopeless(cases, k, beside + most):
        return None
    moments = {case: sum(loss * loss * mass for loss, mass in atoms(case, k)[0]) >> BITS for case in cases}
    falling = sorted(cases, key=moments.__getitem__, reverse=True)
    dear, others = falling[:1], falling[1:]
    while True:  # what pays for the dearest mostly pays for all; that is tried once instead of at every step
        found = _least(dear, k, beside, max(moments[falling[0]], 1), most)  # about the variance, to begin with
        if found is None:
            return None
        dearer = next((case for case in others if not costs(case, k, beside, found)), None)
        if dearer is None:
            return found
        dear.insert(0, dearer)
        others.remove(dearer)


def _least(cases: Sequence[Mechanism], k: int, beside: int, start: int, most: int) -> int | None:
    """About the least number of units that each of the cases costs at most, by bisection around a start."""
    low, high = 0, min(start, most)
    while not all(costs(case, k, beside, high) for case in cases):
        if high >= most:
            return None
        low, high = high, min(most, high + max(1, high // 8))
    while high - low > 1 + high // 512:
        middle = (low + high) // 2
        enough = all(costs(case, k, beside, middle) for case in cases)
        low, high = (low, middle) if enough else (middle, high)
    return high


def _hopeless(cases: Sequence[Mechanism], k: int, n: int) -> bool:
    """Whether one of them shows more than n tosses at a loss that these hardly reach: so no number up to n will do."""
    stick = stick_of_tosses(k, n)
    rare = next((j for j, height in enumerate(stick) if height < ONE >> 20), len(stick))
    x, most = powers(k, rare + 1)[rare], (stick[rare] if rare < len(stick) else 0) + 2 * _ALLOWED
    at = Enclosure(x, x + 2, -BITS, _EVALUATED)
    return any(case.stick(at).fixed(BITS)[0] > most for case in cases)


@lru_cache(maxsize=64)
def most_units(k: int, epsilon: Fraction, delta: Fraction) -> int:
    """The most tosses that are (ε, δ), by bisection; 0 where not even one is."""
    low, high = 0, 1
    while _within(k, high, epsilon, delta):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _within(k, middle, epsilon, delta) else (low, middle)
    stick_of_tosses(k, 2 * low)  # prices beside them need as much again
    return low


def _within(k: int, n: int, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether n tosses are (ε, δ), as the whole steps within ε tell."""
    return _small(stick_of_tosses(k, n), steps_within(k, epsilon), delta)


def _small(stick: list[int], step: int, delta: Fraction) -> bool:
    height = stick[step] if step < len(stick) else 0
    return (height + _ALLOWED) * delta.denominator <= delta.numerator << BITS


@lru_cache(maxsize=1024)
def epsilon_of(k: int, n: int, delta: Fraction) -> Fraction:
    """An ε at which n tosses are (ε, δ), rounded up to a whole step."""
    low, high = -1, n  # n tosses lose n steps at most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _small(stick_of_tosses(k, n), middle, delta) else (middle, high)
    return shortened(high * log(1 + Fraction(1, k), 256).high, up=True)


@lru_cache(maxsize=1024)
def steps_within(k: int, epsilon: Fraction) -> int:
    """How many whole steps h lie within ε."""
    return int(epsilon / log(1 + Fraction(1, k), 256).high)
