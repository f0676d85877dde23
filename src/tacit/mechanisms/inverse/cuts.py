"""Cuts: the points at which weight divides in given shares, in several stretches at once for the cost of one.

Rows lie on the cells of a public grid and weigh something. A row's weight is spread evenly over the `TIES` positions of
its cell, so that a cut can go through a cell however many rows share it, and what lies left of a cut and what lies
right of it add up, for every person, to what they weigh.

PROMISE  Pure(ε), or Zcdp(ρ) with ε = √(8ρ), for the cuts of all stretches together, if nobody's weights in them add
up to more than ``largest``.

PROOF  Let B(x) be the weight of a stretch left of position x, W all of it, q the share wanted and Δ = max(q, 1−q). A
person of weight w in the stretch raises B(x) by something in [0, w] and W by w, so B(x) − qW moves by something in
[−qw, (1−q)w], and the loss ℓ(x) = |B(x) − qW| by at most Δw, and so does min(ℓ, K). With e^{−γℓ}, γ = ε/(2Δ·largest), a
cut's ratio is at most e^{2γΔw} = e^{ε·w/largest} (`tacit.mechanisms.choose.exponential`): a draw that loses in
proportion to the weight. The rest is `tacit.mechanisms.together`. Losses are exact, in units of 1/TIES of the weight.
A cut's log ratios lie in an interval of length ε·w/largest; those of independent cuts add up, so for all of them
together the interval is of length ε at most, which is ε²/8-zCDP.

MANY QUANTILES  Draw the middle one of m quantiles; those below it are cuts of what lies left, those above it of what
lies right: stretches of one level, between which everybody's weight is divided. So a level costs what one cut costs,
and m quantiles cost ⌊log2 m⌋ + 1 levels, not m draws. `Levels` keeps what is to be cut next.

ACCURACY  With probability 1 − β the loss is at most (2Δ·largest/ε)·ln(n/β) above the least, n the number of positions.
Where the ends of a stretch are off by e_a and e_b from their own ranks, a cut is off by (1−q)e_a + q·e_b and its own
loss, so by no more than the sum of the losses on the way to it.

VERIFICATION  Between two datasets the logarithm of the ratio is linear in x inside a cell and constant between them, so
it is largest at an end of a cell, or where a loss is 0 or reaches K.

COST  The loss falls to the left of a point and rises to the right of it, so the positions whose γℓ lies in [j, j+1) are
two ranges, found by bisection. One of those is chosen by its size times e^{−j}, a position in it evenly, and it is kept
with probability e^{j−γℓ}, at least 1/e: exact, and under a millisecond whatever the grid's size and the rows' number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Self

from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.mechanisms.choose.exponential import paid, weigh
from tacit.mechanisms.law import Law, Named, range_loss
from tacit.mechanisms.together import Together, share
from tacit.numbers.enclosures import BITS, Enclosure, exp, total
from tacit.numbers.exact import Number, whole
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import largest as larger
from tacit.randomness import Categorical
from tacit.randomness.basic import _below, _coin_exp
from tacit.randomness.source import Randomness

TIES = 2**32
"""Positions of a cell: more than persons, so that no cut is a person off because of them."""

BEYOND = 32
"""How many e-foldings below the weight of all positions together the loss stops to rise."""

LISTED = 2**12
"""The most positions a law lists one by one."""


@dataclass(frozen=True, repr=False, eq=False)
class Weights:
    """The weight in each occupied cell of a public grid, ascending; it knows the private data."""

    cells: Sequence[int]
    sums: Sequence[int]
    """The weight of all cells before each, and at last of all."""
    ties: int = TIES

    @classmethod
    def of(cls, weights: dict[int, int], ties: int = TIES) -> Weights:
        """From the weight of each cell."""
        cells, sums = sorted(weights), [0]
        for cell in cells:
            sums.append(sums[-1] + whole(weights[cell], "weights", 0))
        return cls(cells, sums, ties)

    def below(self, x: int) -> int:
        """The weight left of a position, in units of 1/ties."""
        cell, place = divmod(x, self.ties)
        at = bisect_left(self.cells, cell)
        part = self._weight(at) * place if at < len(self.cells) and self.cells[at] == cell else 0
        return int(self.sums[at]) * self.ties + part

    def first_with(self, amount: int) -> int | None:
        """The first position left of which there is this much, above 0, in units of 1/ties; None where there is less.

        The cell that reaches it is found by bisection, and in the cell the place by division.
        """
        at = bisect_left(self.sums, -(-amount // self.ties)) - 1
        if at == len(self.cells):
            return None
        before = int(self.sums[at]) * self.ties
        return int(self.cells[at]) * self.ties - (before - amount) // self._weight(at)

    def _weight(self, at: int) -> int:
        return int(self.sums[at + 1]) - int(self.sums[at])

    def occupied(self, first: int, last: int) -> Iterator[int]:
        """The ends of the occupied cells' positions inside a range."""
        start, end = bisect_left(self.cells, first // self.ties), bisect_left(self.cells, last // self.ties + 1)
        for cell in self.cells[start:end]:
            yield from (int(cell) * self.ties, (int(cell) + 1) * self.ties)

    def __repr__(self) -> str:
        return "<weights by cell>"


@dataclass(frozen=True, repr=False)
class Stretch:
    """What lies between two positions, to be cut where a share of its weight lies to the left."""

    weights: Weights
    first: int
    last: int
    share: Fraction

    def __repr__(self) -> str:
        return f"<a stretch of {self.last - self.first + 1} positions, share {self.share}>"


def cut_rate(epsilon: Fraction, p: int, d: int, largest: int) -> Fraction:
    """The factor of a loss |d·B − p·W| that a person of weight w moves by at most max(p, d − p)·w."""
    return epsilon / (2 * max(p, d - p) * largest)


class CutLaw(Law[int]):
    """The law of one cut: a position x with probability in proportion to e^{−min(γℓ(x), J)}."""

    name = "cut"

    def __init__(self, stretch: Stretch, epsilon: Fraction, largest: int) -> None:
        self.guarantee = Pure(epsilon)
        self.stretch, self._weights = stretch, stretch.weights
        self.first, self.last = stretch.first, stretch.last
        p, d = stretch.share.numerator, stretch.share.denominator
        # Losses in units of 1/(d·ties): |d·(B(x) − B(first)) − p·(B(last) − B(first))|.
        self._start = self._weights.below(self.first)
        self._scale, self._target = d, p * (self._weights.below(self.last) - self._start)
        self._moved = max(p, d - p) * largest * self._weights.ties
        self._rate = cut_rate(epsilon, p, d, largest * self._weights.ties)
        self._top = (self.last - self.first + 1).bit_length() + BEYOND

    def named(self) -> Named:
        """The rate of the loss, how far the heaviest person moves it, and the positions."""
        grid = {"grid": "multiples", "step": "1", "first": str(self.first), "last": str(self.last)}
        return {"law": "cut", "rate": str(self._rate), "moves": [str(self._moved)] * 2, "of": grid}

    def loss(self, x: int) -> int:
        """ℓ(x), exact, in units of its own."""
        return abs(self._scale * (self._weights.below(x) - self._start) - self._target)

    def _reach(self, j: int) -> int:
        """The least loss with γℓ ≥ j."""
        return -(-j * self._rate.denominator // self._rate.numerator)

    def _after(self, amount: int) -> int:
        """The first position of the stretch at which d·B(x) is at least an amount; one beyond where there is none."""
        least = self._start - (-amount // self._scale)
        found = self.first if least <= self._start else self._weights.first_with(least)
        return self.last + 1 if found is None else min(max(found, self.first), self.last + 1)

    @cached_property
    def _ranges(self) -> list[tuple[int, int, int]]:
        """(first, number, j): the positions with γℓ in [j, j+1), and at j = J all others; left and right of the cut."""
        middle = self._after(self._target + 1)
        low = high = middle
        found = []
        for j in range(self._top + 1):
            rest = j == self._top
            down = self.first if rest else self._after(self._target - self._reach(j + 1) + 1)
            up = self.last + 1 if rest else max(middle, self._after(self._target + self._reach(j + 1)))
            found += [(start, end - start, j) for start, end in ((down, low), (high, up)) if end > start]
            low, high = down, up
            if low == self.first and high == self.last + 1:
                break
        return found

    @cached_property
    def _chosen(self) -> Categorical:
        return Categorical([(number, j) for _, number, j in self._ranges], 1)

    def _draw(self, source: Randomness) -> int:
        rate = self._rate
        while True:
            start, number, j = self._ranges[self._chosen.draw(source)]
            x = start + _below(number, source)
            if j == self._top:
                return x
            excess = self.loss(x) * rate.numerator - j * rate.denominator
            if _coin_exp(excess, rate.denominator, source):
                return x

    # The exact law

    def _bends(self) -> list[int]:
        """The positions from which on the loss is linear: ends of cells, the middle, and where it stops to rise."""
        top, middle = self._reach(self._top), self._after(self._target + 1)
        ends = {self.first, middle, *self._weights.occupied(self.first, self.last)}
        ends |= {self._after(self._target - top + 1), max(middle, self._after(self._target + top))}
        return sorted(x for x in ends if self.first <= x <= self.last)

    @lru_cache(maxsize=2)  # noqa: B019  a law lives as long as its question
    def _total(self, bits: int) -> Enclosure:
        """The weights of all positions, each stretch between two bends as a geometric sum."""
        bends = self._bends()
        sums = []
        for start, end in zip(bends, [*bends[1:], self.last + 1], strict=True):
            number = end - start
            ends = sorted((self._exponent(start), self._exponent(end - 1)))
            step = (ends[1] - ends[0]) / (number - 1) if number > 1 else Fraction(0)
            one = exp(-ends[0], bits)
            sums.append(one * number if step == 0 else one * (1 - exp(-step * number, bits)) / (1 - exp(-step, bits)))
        return total(sums, bits)

    def _exponent(self, x: int) -> Fraction:
        return min(self.loss(x) * self._rate, Fraction(self._top))

    def pmf(self, y: int, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[cut = y]."""
        if not self.first <= y <= self.last:
            return Enclosure.of(0, bits)
        work = bits + 128  # a geometric sum of small steps loses as many bits as the steps are small
        return (exp(-self._exponent(y), work) / self._total(work)).clamp(0, 1)

    def outcomes(self) -> Sequence[int]:
        """Every position where they are few."""
        if self.last - self.first >= LISTED:
            raise InvalidInput(f"the {self.name} law has too many positions to list; verify it on a smaller grid.")
        return range(self.first, self.last + 1)

    def key(self) -> Hashable:
        """The losses at the bends, between which they are linear."""
        bends = self._bends()
        return type(self), self.guarantee, self.first, self.last, self._rate, tuple((x, self.loss(x)) for x in bends)

    def telling_points(self, laws: Sequence[Self]) -> list[int]:
        """The bends of all laws and the positions beside them."""
        around = {x + d for law in laws for x in law._bends() for d in (-1, 0, 1)} | {self.last}
        return sorted(x for x in around if self.first <= x <= self.last)

    def concentrated_loss(self, other: Self) -> Enclosure:
        """At most r²/8 for log ratios in an interval of length r."""
        return range_loss(self, other)

    def outcomes_to_follow(self) -> list[int]:
        """A cut through the middle of what is there."""
        return [min(self._after(self._target + 1), self.last)]


def cuts(
    stretches: Sequence[Stretch], epsilon: Number | None = None, largest: int = 1, *, rho: Number | None = None
) -> Together[int]:
    """A cut of each stretch, for ε or ρ all together where nobody weighs more than ``largest`` over all of them.

    >>> from fractions import Fraction
    >>> from tacit.mechanisms import Stretch, Weights, cuts
    >>> stretch = Stretch(Weights.of({1: 3, 5: 3}), 0, 9, Fraction(1, 2))
    >>> cuts([stretch], epsilon=1).guarantee
    Pure(1)
    """
    rate, guarantee = paid(epsilon, rho)
    for stretch in stretches:
        if not 0 <= stretch.share <= 1 or stretch.first > stretch.last:
            raise InvalidInput("a stretch needs a share between 0 and 1, and a first position up to its last.")
    laws = [CutLaw(stretch, rate, whole(largest, "largest", 1)) for stretch in stretches]
    return Together(laws, guarantee)


@dataclass(frozen=True)
class _Between:
    """Quantiles of one group that lie between two cuts: their places, and the quantiles of both cuts."""

    group: int
    first: int
    last: int
    start: int
    end: int
    low: Fraction
    high: Fraction
    place: int = 1
    wide: Fraction = Fraction(0)
    """The largest Δ of the cuts so far."""

    @property
    def middle(self) -> int:
        """The place of the one that is drawn first."""
        return (self.start + self.end) // 2


class Levels:
    """The same quantiles of each of some groups, level by level.

    At each of `number` levels: draw `cuts` of the `stretches` and give them to `cut`. ``first`` and ``last`` are the
    ends of all positions.
    """

    def __init__(self, groups: Sequence[Weights], first: int, last: int, quantiles: Iterable[Fraction]) -> None:
        self._groups, self._quantiles = groups, sorted(quantiles)
        every, zero, one = len(self._quantiles), Fraction(0), Fraction(1)
        self._waiting = [_Between(g, first, last, 0, every, zero, one) for g in range(len(groups))]
        self.found: list[dict[Fraction, int]] = [{} for _ in groups]
        """For each group the positions of the quantiles drawn so far."""
        self.chains: dict[Fraction, tuple[int, Fraction]] = {}
        """For each quantile the how many-th cut it is on the way to it, and the largest Δ on that way: public facts."""

    @property
    def number(self) -> int:
        """⌊log2 m⌋ + 1."""
        return len(self._quantiles).bit_length()

    @property
    def stretches(self) -> list[Stretch]:
        """What is to be cut at this level, each where the middle one of its quantiles lies."""
        return [
            Stretch(self._groups[b.group], b.first, b.last, _share(self._quantiles[b.middle], b.low, b.high))
            for b in self._waiting
        ]

    def cut(self, positions: Sequence[int]) -> None:
        """Note the cuts of this level; what lies left and right of them is the next."""
        waiting = []
        for b, x in zip(self._waiting, positions, strict=True):
            q = self._quantiles[b.middle]
            share = _share(q, b.low, b.high)
            wide = max(b.wide, share, 1 - share)
            self.found[b.group][q], self.chains[q] = x, (b.place, wide)
            if b.start < b.middle:
                waiting.append(_Between(b.group, b.first, x, b.start, b.middle, b.low, q, b.place + 1, wide))
            if b.middle + 1 < b.end:
                waiting.append(_Between(b.group, x, b.last, b.middle + 1, b.end, q, b.high, b.place + 1, wide))
        self._waiting = waiting


def _share(q: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """The share of what lies between two quantiles at which a third one lies."""
    return (q - low) / (high - low)


def argue(p: Argument, *, total: int = 1, moved: Any = lambda weight: weight) -> None:
    """Cuts at the share p/d: a person of weight w raises B by b in [0, w] and W by w, in units of 1/ties."""
    epsilon, largest = p.positive("ε"), p.count("largest", 1)
    part, whole_ = p.count("p"), p.count("d", 1)
    p.assume(part <= whole_)
    gamma = cut_rate(epsilon, part, whole_, largest)

    def price(weight: Any) -> Any:
        least = larger(part, whole_ - part)
        below, left = p.whole("d·B − p·W"), p.steps("b", 0, moved(weight))
        after = below + whole_ * left - part * moved(weight)
        p.derive((abs(after) - abs(below) <= least * weight) & (abs(below) - abs(after) <= least * weight))
        return weigh(p, gamma, -least * weight, least * weight, abs(after) - abs(below))

    p.promise(share(p, epsilon, largest, price, total=total), epsilon)


def argue_levels(p: Argument, *, each: Any = lambda epsilon, levels: epsilon / levels) -> None:
    """Levels one after the other, each at its share of ε."""
    epsilon, levels = p.positive("ε"), p.count("levels", 1)
    p.promise(by.repeated(p, levels, each(epsilon, levels)), epsilon)


_GIVEN = "a person of weight w raises the weight left of a position by something in [0, w] and all of it by w"

PROOFS = (
    Proof("cuts by shared weight", "mechanisms.cuts", "Pure(ε)", argue, _GIVEN),
    Proof("quantiles by levels of cuts", "mechanisms.cuts", "Pure(ε)", argue_levels, "a level costs what a cut costs"),
)
