"""Order statistics and means without their extremes, with their sensitivities: quantiles, maximum, minimum,
interquartile range, trimmed mean. The calculators of `sensitivities` apply to each: TRUSTED USE ONLY.

Values are saturated at the ends of a public range, by default that of 64-bit integers. With x_(1) ≤ … ≤ x_(n), x_(i)
the low end for i ≤ 0 and the high end for i > n, the local sensitivities at distance k are:
- Quantile, x_(k) with k = ⌈qn⌉. A neighbour's value lies between two consecutive order statistics, with p persons up
  to the lower and s from the upper one on, (p, s) = (k(N) − 1, N − k(N)) or (k(N), N + 1 − k(N)) for some N. To bring
  x_(i) and x_(j) there, remove the j − i − 1 persons between them and then move (i, n + 1 − j) onto such a pair, by
  adding persons at the ends or removing some. The cheapest way costs the distance to one of two staircases, and that
  is reached along one coordinate. So A^(k) = max x_(j) − x_(i) over the pairs that cost at most k. For the median one
  pair is widest, as moving the gap costs as much as widening it on both sides: i = ⌊(n−k)/2⌋, j = ⌊(n+k)/2⌋ + 1.
- Maximum: the larger of high − x_(n−k) and x_(n) − x_(n−k−1). Minimum: that of x_(k+1) − low and x_(k+2) − x_(1).
- Interquartile range: the sum of both quartiles' A^(k), an upper bound.
- Mean without the m smallest and m largest: with a persons added beyond one side or the other and r removed,
  (top − bottom)/(n + a − r − 2m − 1), top the (m − a₁)-th largest and bottom the (m − a₂)-th smallest, a₁ + a₂ = a,
  a + r ≤ k, and the whole range where a divisor is not positive. An upper bound U_k: adding a person moves the mean
  towards somebody between x_(m) and x_(n−m+1) by 1/(n − 2m + 1) of the distance, removing one moves it by at most
  1/(n − 2m − 1) of the same. A neighbour has U_k(x') ≤ U_{k+1}(x): a person added shifts top or bottom by one place,
  not both, which a₁ + 1 or a₂ + 1 allows for, and a person removed is r + 1.

COST  After sorting, the first K values of A^(k) take K steps for the median, maximum and minimum, about K²/2 for other
quantiles (0.5 s for K = 200) and the trimmed mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, count
from typing import Any, NamedTuple

from tacit.mechanisms.local.sensitivities import LocalStatistic, Ranged
from tacit.mechanisms.person_values import Values, numbers, span
from tacit.numbers.exact import Number, between, whole


@dataclass(frozen=True)
class _Sorted:
    """Values in order, the range's ends standing for those before the first and after the last."""

    values: list[Fraction]
    low: Fraction
    high: Fraction

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, i: int) -> Fraction:
        """x_(i), counted from 1."""
        if i < 1:
            return self.low
        return self.values[i - 1] if i <= len(self.values) else self.high

    @cached_property
    def sums(self) -> list[Fraction]:
        """The sums of the first 0, 1, … values."""
        return list(accumulate(self.values, initial=Fraction(0)))


class Tails(NamedTuple):
    """What a trimmed mean needs to know of values in a range: an engine finds it without sorting persons."""

    persons: int
    total: Fraction
    smallest: Sequence[Fraction]
    """The m smallest, ascending; all of them where there are fewer."""
    largest: Sequence[Fraction]
    """The m largest, descending."""


@dataclass(frozen=True)
class _Ends:
    """As `_Sorted`, of tails: known are the outermost values of both sides."""

    tails: Tails
    low: Fraction
    high: Fraction

    def __len__(self) -> int:
        return self.tails.persons

    def __getitem__(self, i: int) -> Fraction:
        if i < 1:
            return self.low
        if i > len(self):
            return self.high
        return self.tails.smallest[i - 1] if i <= len(self.tails.smallest) else self.tails.largest[len(self) - i]


def _sorted(statistic: LocalStatistic, data: Values) -> _Sorted:
    return _Sorted(numbers(data, *statistic.window), *statistic.window)


@dataclass(frozen=True)
class Quantile(Ranged):
    """The quantile x_(⌈qn⌉), the lower median by default."""

    q: Number = Fraction(1, 2)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "q", between(self.q, "q", 0, 1))

    @property
    def name(self) -> str:
        """What it is, in words."""
        return "median" if self._q == Fraction(1, 2) else f"{float(self._q):g} quantile"

    @property
    def _q(self) -> Fraction:
        assert isinstance(self.q, Fraction)
        return self.q

    def _rank(self, persons: int) -> int:
        return -(-self._q.numerator * persons // self._q.denominator)

    def value(self, data: Values) -> Fraction:
        """x_(⌈qn⌉)."""
        x = _sorted(self, data)
        return x[self._rank(len(x))]

    def growth(self, data: Values) -> Iterator[Fraction]:
        """The widest gap that k persons can bring to the quantile."""
        x, widest = _sorted(self, data), Fraction(0)
        if self._q == Fraction(1, 2):
            yield from (x[(len(x) + k) // 2 + 1] - x[(len(x) - k) // 2] for k in count())
        walks: list[_Walk] = []
        for k in count():
            if k <= len(x):  # as many persons removed between x_(i) and x_(j)
                walks.append(_Walk(self, len(x) - k))
            for removed, walk in enumerate(walks):
                for i in walk.within(k - removed):
                    widest = max(widest, x[i + removed + 1] - x[i])
            yield widest

    def distance(self, below: int, above: int) -> int:
        """How many persons must come or go at the ends until ``below`` and ``above`` are left beside the quantile."""
        return min(self._staircase(below, above, 1), self._staircase(below - 1, above - 1, 0))

    def _staircase(self, below: int, above: int, least: int) -> int:
        """The distance of (below, above) to the pairs (k(N) − 1, N − k(N)), N ≥ least, along one coordinate."""
        a, b = self._q.numerator, self._q.denominator
        # N with k(N) = below + 1, and N with N − k(N) = above; both are stretches of whole numbers
        first, last = max(below * b // a + 1, least), (below + 1) * b // a
        up = max(first - 1 - below - above, above - (last - 1 - below), 0) if first <= last else None
        first, last = max(-(-above * b // (b - a)), least), -(-(above + 1) * b // (b - a)) - 1
        across = max(first - 1 - above - below, below - (last - 1 - above), 0) if first <= last else None
        return min(d for d in (up, across, below + above + 2) if d is not None)

    def reach(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Remove from one end and add at the other."""
        x = _sorted(self, data)
        n = len(x)
        removals = range(min(k, n) + 1)
        ranks = [(r, k - r, self._rank(n + k - 2 * r)) for r in removals]
        lowest = min(x[rank - added] for _, added, rank in ranks)
        highest = max(x[rank + removed] if rank else x.low for removed, _, rank in ranks)
        return lowest, max(highest, x[self._rank(n)])

    def fall(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Remove from one end."""
        x = _sorted(self, data)
        left = [(len(x) - r, r) for r in range(min(k, len(x)) + 1)]
        lowest = min(x[self._rank(n)] for n, _ in left)
        return lowest, max(x[self._rank(n) + r] if n else x.low for n, r in left)


class _Walk:
    """The places i with ``persons`` left besides those removed, nearest to the quantile first."""

    def __init__(self, quantile: Quantile, persons: int) -> None:
        self._quantile, self._persons = quantile, persons
        rank = quantile._rank(persons)
        centre = min(
            range(max(0, rank - 2), min(rank + 1, persons) + 1), key=lambda i: quantile.distance(i, persons - i)
        )
        self._down, self._up = centre, centre + 1  # from here on the distance never falls on either side

    def within(self, distance: int) -> Iterator[int]:
        """The places not given before whose distance is at most this."""
        n = self._persons
        while self._down >= 0 and self._quantile.distance(self._down, n - self._down) <= distance:
            yield self._down
            self._down -= 1
        while self._up <= n and self._quantile.distance(self._up, n - self._up) <= distance:
            yield self._up
            self._up += 1


@dataclass(frozen=True)
class Maximum(Ranged):
    """The largest value."""

    name = "maximum"

    def value(self, data: Values) -> Fraction:
        """x_(n)."""
        x = _sorted(self, data)
        return x[len(x)]

    def growth(self, data: Values) -> Iterator[Fraction]:
        """Add one at the end of the range, or remove the largest, after removing others."""
        x = _sorted(self, data)
        n = len(x)
        return (max(x.high - x[n - k], x[n] - x[n - k - 1]) for k in count())

    def reach(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Remove the largest, or add one at the end of the range."""
        x = _sorted(self, data)
        return x[len(x) - k], x.high if k else x[len(x)]

    def fall(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Remove the largest."""
        x = _sorted(self, data)
        return x[len(x) - k], x[len(x)]


@dataclass(frozen=True)
class Minimum(Ranged):
    """The smallest value; of nobody, the range's high end."""

    name = "minimum"

    def value(self, data: Values) -> Fraction:
        """x_(1)."""
        return _sorted(self, data)[1]

    def growth(self, data: Values) -> Iterator[Fraction]:
        """Add one at the end of the range, or remove the smallest, after removing others."""
        x = _sorted(self, data)
        return (max(x[k + 1] - x.low, x[k + 2] - x[1]) for k in count())

    def reach(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Remove the smallest, or add one at the end of the range."""
        x = _sorted(self, data)
        return x.low if k else x[1], x[k + 1]

    def fall(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Remove the smallest."""
        x = _sorted(self, data)
        return x[1], x[k + 1]


@dataclass(frozen=True)
class InterquartileRange(Ranged):
    """The upper minus the lower quartile, x_(⌈3n/4⌉) − x_(⌈n/4⌉)."""

    name = "interquartile range"
    exact = False

    @property
    def window(self) -> tuple[Fraction, Fraction]:
        """From 0 to the length of the range."""
        return Fraction(0), self.global_sensitivity

    @property
    def global_sensitivity(self) -> Fraction:
        """The length of the range."""
        low, high = span(self.low, self.high)
        return high - low

    @property
    def _quartiles(self) -> tuple[Quantile, Quantile]:
        return tuple(Quantile(self.low, self.high, Fraction(i, 4)) for i in (1, 3))  # type: ignore[return-value]

    def value(self, data: Values) -> Fraction:
        """The difference of the quartiles."""
        x = numbers(data, *span(self.low, self.high))
        lower, upper = self._quartiles
        return upper.value(x) - lower.value(x)

    def growth(self, data: Values) -> Iterator[Fraction]:
        """The sum of what both quartiles can move, at most the range."""
        x = numbers(data, *span(self.low, self.high))
        lower, upper = (quartile.growth(x) for quartile in self._quartiles)
        return (min(a + b, self.global_sensitivity) for a, b in zip(lower, upper, strict=True))

    def reach(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Bounds, from what both quartiles can reach."""
        return self._apart(data, k, "reach")

    def fall(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Bounds, from what both quartiles can fall to."""
        return self._apart(data, k, "fall")

    def _apart(self, data: Values, k: int, how: str) -> tuple[Fraction, Fraction]:
        x = numbers(data, *span(self.low, self.high))
        (low_1, high_1), (low_3, high_3) = (getattr(quartile, how)(x, k) for quartile in self._quartiles)
        return max(Fraction(0), low_3 - high_1), high_3 - low_1


@dataclass(frozen=True)
class TrimmedMean(Ranged):
    """The mean without the ``trim`` smallest and ``trim`` largest values, a public number; of nobody, the low end."""

    trim: int = 0
    name = "trimmed mean"
    exact = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.trim, "trim", 0)

    def value(self, data: Values) -> Fraction:
        """The mean of x_(m+1), …, x_(n−m)."""
        return self._mean(_sorted(self, data), 0, 0, 0, 0)

    def _outer(self, data: Any) -> _Sorted | _Ends:
        """The values in order, of which the m outermost on either side are looked at."""
        return _sorted(self, data)

    def _mean(self, x: _Sorted, dropped_low: int, dropped_high: int, added_low: int, added_high: int) -> Fraction:
        """The trimmed mean after changes at the ends."""
        m = self.trim
        left = len(x) - dropped_low - dropped_high
        kept = left + added_low + added_high - 2 * m
        if kept <= 0:
            return x.low
        # of the added persons those beyond m on their side are kept; of the others that many fewer
        low, high = max(0, added_low - m), max(0, added_high - m)
        first, last = dropped_low + max(0, m - added_low), len(x) - dropped_high - max(0, m - added_high)
        if first > last:  # all that is kept was added on one side
            return x.low if added_low > added_high else x.high
        return (x.sums[last] - x.sums[first] + low * x.low + high * x.high) / kept

    def growth(self, data: Values) -> Iterator[Fraction]:
        """The bounds U_k."""
        x = self._outer(data)
        n, m = len(x), self.trim
        widths: list[Fraction] = []
        largest = Fraction(0)
        for k in count():
            if n - k - 2 * m - 1 <= 0:
                yield x.high - x.low
                continue
            widths.append(max(x[n + 1 - m + a] - x[m - (k - a)] for a in range(k + 1)))
            largest = max(largest, *(w / (n + 2 * a - k - 2 * m - 1) for a, w in enumerate(widths)))
            yield largest

    def reach(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Remove from one end and add at the other."""
        x = _sorted(self, data)
        changes = [(r, a) for r in range(min(k, len(x)) + 1) for a in range(k - r + 1)]
        return min(self._mean(x, 0, r, a, 0) for r, a in changes), max(self._mean(x, r, 0, 0, a) for r, a in changes)

    def fall(self, data: Values, k: int) -> tuple[Fraction, Fraction]:
        """Remove from one end."""
        x = _sorted(self, data)
        removed = range(min(k, len(x)) + 1)
        return min(self._mean(x, 0, r, 0, 0) for r in removed), max(self._mean(x, r, 0, 0, 0) for r in removed)


@dataclass(frozen=True)
class TrimmedTails(TrimmedMean):
    """The same from the `Tails` of the values, at least as long as ``trim``."""

    def value(self, data: Any) -> Fraction:
        """The total less both tails, over the others."""
        tails = Tails(*data)
        others = tails.persons - 2 * self.trim
        if others <= 0:
            return self.window[0]
        return (tails.total - sum(tails.smallest[: self.trim]) - sum(tails.largest[: self.trim])) / others

    def _outer(self, data: Any) -> _Sorted | _Ends:
        return _Ends(Tails(*data), *self.window)

    def reach(self, data: Any, k: int) -> tuple[Fraction, Fraction]:
        """The range: tails do not say more."""
        return self.window if k else (self.value(data),) * 2

    def fall(self, data: Any, k: int) -> tuple[Fraction, Fraction]:
        """As `reach`."""
        return self.reach(data, k)
