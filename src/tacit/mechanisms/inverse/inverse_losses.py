"""Losses of inverse sensitivity that need no search: quantiles, mode, counts and sums of whole numbers.

PROMISE  Each loss is ℓ(x, y) = the fewest persons added or removed until the statistic equals y (or replaced, with
``persons_public``, when their number is public), or its minimum with ``limit``: sensitivity 1, not one-directional,
so `inverse_sensitivity` is Pure(ε) on it. The formulas below equal the breadth-first search of `inverse_search` on
every small dataset, which the tests check.

PROOF  Sensitivity 1 as for every distance to a set. The formulas, with L, E, G persons below, at and above y:
- Quantile: x_(⌈qn⌉), so f = y when A = (1−q)(L+E) − qG ≥ 0 and B = E − A > 0. Persons at y may be added (A gains 1−q,
  B gains q), persons above removed (A gains q), persons below removed (B gains 1−q). At most one condition fails, and
  the larger gain is best: A < 0 needs ⌈−A/max(q, 1−q)⌉, B ≤ 0 needs ⌊−B/max(q, 1−q)⌋ + 1; but where nobody is at y
  one of the changes must add somebody there. Replacement, k = ⌈qn⌉: max(0, k − L − E, L − k + 1).
- Mode, the first of the most frequent candidates: with m_j = c_j, and one more for a candidate before y, max(0, max_j
  m_j − c_y), by adding votes for y. Replacement: the least t with Σ_j max(0, m_j − c_y − t) ≤ t.
- Count: |c − y|.
- Sum of whole numbers in low..high: the least number of removals and additions that make up the difference exactly.
  All sums of j removed persons are the digits of a binary number (subset sums), any m added persons give an interval.

ACCURACY  `inverse_accuracy`: with probability 1 − β the answer is within LS^k of the truth, the most that k persons
can move the statistic, k the window of the law: below (2/ε)·ln(|Y|/β) for the exponential mechanism.

WHICH  The median and quantiles are where inverse sensitivity wins (benchmarks/median.py): from n = 30/ε on its mean
error is 4 to 12 times smaller than that of smooth sensitivity at ε = 1, 20 to 90 times at ε = 0.1, and hundreds of
times smaller than with propose-test-release or clipping; below that no method says anything. "exponential" and
"permute_and_flip" are equally good, so the default stays. For a mode `exponential` on the one-directional loss n −
c_y is the same choice at twice the rate, and for a count or a sum of bounded numbers `laplace` has half the noise:
those losses are here for functions built on them.

COST  Quantile: linear in the number of distinct values; mode: in that of candidates; count: ``limit`` runs; sum:
about (high − low + 1)·limit² shifts of binary numbers of limit·(high − low) digits, refused above `LARGEST_SUM`
shifts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tacit.curves import Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import Grid, integers
from tacit.mechanisms.choose.exponential import factor, weigh
from tacit.mechanisms.inverse.inverse_search import lowest
from tacit.mechanisms.law import Accuracy, Law
from tacit.mechanisms.person_values import Values, counted, indices
from tacit.numbers.exact import Number, between, whole
from tacit.proofs import Argument, Proof
from tacit.proofs.terms import either, equal

LARGEST_SUM = 10**6
"""The most shifts that a sum's loss may take."""

HALF = Fraction(1, 2)


def median_loss(values: Values, grid: Grid, *, persons_public: bool = False, limit: int | None = None) -> StepLoss:
    """The loss of the lower median x_(⌈n/2⌉).

    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import median_loss
    >>> loss = median_loss([1, 2, 9], integers(0, 10))
    >>> [loss.at(y) for y in (1, 2, 9)]
    [1, 0, 2]
    """
    return quantile_loss(values, HALF, grid, persons_public=persons_public, limit=limit)


def quantile_loss(
    values: Values, q: Number, grid: Grid, *, persons_public: bool = False, limit: int | None = None
) -> StepLoss:
    """The loss of the quantile x_(⌈qn⌉); values are rounded to the grid, absent ones left out.

    With ``persons_public`` an absent value counts as 0, so that the number of persons is the one that is public.

    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import quantile_loss
    >>> loss = quantile_loss([1, 2, 3, 9], "0.25", integers(0, 10))
    >>> loss.at(1)
    0
    """
    share = between(q, "q", 0, 1)
    found = indices(values, grid, grid.nearest(0) if persons_public else None)
    if persons_public and not found:
        raise InvalidInput("values must hold at least one person where their number is public.")
    loss = StepLoss.joined(grid, _quantile_runs(sorted(found.items()), share, grid, persons_public))
    return loss if limit is None else loss.clamped(limit)


def _quantile_runs(found: list[tuple[int, int]], q: Fraction, grid: Grid, persons_public: bool) -> Iterator[Run]:
    loss = _replaced if persons_public else _moved
    below, above, start = 0, sum(persons for _, persons in found), grid.first
    for index, here in found:
        if start is None or start < index:
            yield Run(start, index - 1, loss(below, 0, above, q))
        above -= here
        yield Run(index, index, loss(below, here, above, q))
        below += here
        start = index + 1
    if not found or grid.last is None or (start is not None and start <= grid.last):
        yield Run(start, grid.last, loss(below, 0, above, q))


def _moved(below: int, here: int, above: int, q: Fraction) -> int:
    """The fewest persons added or removed until the quantile is here."""
    reached = (1 - q) * (below + here) - q * above  # A
    missed = here - reached  # B
    best = max(q, 1 - q)
    if reached < 0:
        joins = 0 if here or q <= HALF else 2 * q - 1  # what adding one person here gains less than removing one above
        return -((reached - joins) // best)
    if missed <= 0:
        joins = 0 if here or q >= HALF else 1 - 2 * q
        return (joins - missed) // best + 1
    return 0


def _replaced(below: int, here: int, above: int, q: Fraction) -> int:
    """The fewest persons replaced until the quantile is here."""
    return _from_rank(below, here, int(-(-q * (below + here + above) // 1)))


def _from_rank(below: int, here: int, rank: int) -> int:
    """How many persons must be replaced until the value of this rank is here."""
    return max(0, rank - below - here, below - rank + 1)


def mode_loss(
    votes: Iterable[Hashable] | Mapping[Hashable, int], candidates: Sequence[Hashable], *, persons_public: bool = False
) -> StepLoss:
    """The loss of the most frequent of the candidates, by their place in the list; other votes are for nobody.

    >>> from tacit.mechanisms import mode_loss
    >>> loss = mode_loss(["a", "a", "b"], ["a", "b"])
    >>> [loss.at(0), loss.at(1)]
    [0, 2]
    """
    places = {candidate: i for i, candidate in enumerate(candidates)}
    if not places or len(places) < len(candidates):
        raise InvalidInput("candidates must list at least one value, and each only once.")
    counts = [0] * len(candidates)
    for vote, persons in counted(votes):
        if vote in places:
            counts[places[vote]] += persons
    losses = [_behind(counts, y, persons_public) for y in range(len(counts))]
    return StepLoss.from_losses(integers(0, len(counts) - 1), losses)


def _behind(counts: list[int], y: int, persons_public: bool) -> int:
    """How many votes must be added, or change, until candidate y is the first of the most frequent."""
    behind = [max(0, c + (j < y) - counts[y]) for j, c in enumerate(counts) if j != y]
    most = max(behind, default=0)
    if not persons_public:
        return most
    low, high = -1, most  # enough changes at high, too few at low
    while high - low > 1:
        t = (low + high) // 2
        low, high = (low, t) if sum(max(0, b - t) for b in behind) <= t else (t, high)
    return high


def count_loss(count: int, grid: Grid, *, limit: int, persons: int | None = None) -> StepLoss:
    """The loss of a number of persons, |count − y|; ``persons`` is how many there are, where that is public.

    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import count_loss
    >>> count_loss(3, integers(0, 5), limit=9).at(5)
    2
    """
    c, top = max(0, whole(count, "count")), whole(limit, "limit", 1)
    highest = None if persons is None else whole(persons, "persons", 0)
    c = c if highest is None else min(c, highest)
    reached = [
        _points(grid, n, n, abs(n - c)) for n in range(max(0, c - top + 1), c + top) if highest is None or n <= highest
    ]
    return lowest(grid, [item for found in reached for item in found], top)


def sum_loss(values: Values, low: int, high: int, grid: Grid, *, limit: int, persons_public: bool = False) -> StepLoss:
    """The loss of a sum of whole numbers from low to high, one for each person; values are saturated and rounded.

    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import sum_loss
    >>> loss = sum_loss([1, 2, 3], 0, 5, integers(0, 20), limit=4)
    >>> [loss.at(6), loss.at(11)]
    [0, 1]
    """
    least, most, top = whole(low, "low"), whole(high, "high"), whole(limit, "limit", 1)
    if least >= most:
        raise InvalidInput("low must be below high; give the ends of the range of possible values.")
    shifts = (most - least + 1) * top * top
    if shifts > LARGEST_SUM:
        raise InvalidInput(
            f"the loss of this sum would take {shifts} steps, more than {LARGEST_SUM}; take a smaller limit or range."
        )
    ladder = integers(least, most)
    found = indices(values, ladder, ladder.nearest(0) if persons_public else None)
    total = sum(value * persons for value, persons in found.items())
    reached = [
        item
        for first, last, loss in _sums(found, least, most - least, top, persons_public)
        for item in _points(grid, total + first, total + last, loss)
    ]
    return lowest(grid, reached, top)


def _sums(
    found: Mapping[int, int], low: int, width: int, limit: int, persons_public: bool
) -> Iterator[tuple[int, int, int]]:
    """By how much the sum can change with t = 0, 1, … changes, as intervals (first, last, t) not reached by fewer.

    Every value is low + o with 0 ≤ o ≤ width. Binary digit o of removed[j] says whether j persons have offsets that
    add up to o.
    """
    removed = [1] + [0] * (limit - 1)
    for value, persons in found.items():
        for _ in range(min(persons, limit - 1)):
            for j in range(limit - 1, 0, -1):
                removed[j] |= removed[j - 1] << (value - low)
    base = limit * (abs(low) + width)  # no change is below −base
    seen = 0
    for t in range(limit):
        now = 0
        for j in [t] if persons_public else range(t + 1):
            added = t if persons_public else t - j
            if removed[j]:
                change = _interval(_reversed(removed[j], j * width), added * width)
                now |= change << (base + (added - j) * low - j * width)
        fresh = now & ~seen
        seen |= now
        yield from ((first - base, last - base, t) for first, last in _stretches(fresh))


def _reversed(digits: int, last: int) -> int:
    """Digit i moved to last − i."""
    return int(format(digits, "b").zfill(last + 1)[::-1], 2)


def _interval(digits: int, length: int) -> int:
    """Every digit copied to the ``length`` places above it."""
    done = 0
    while done < length:
        step = min(done + 1, length - done)
        digits |= digits << step
        done += step
    return digits


def _stretches(digits: int) -> Iterator[tuple[int, int]]:
    """The places of consecutive ones, as (first, last)."""
    start = 0
    while digits:
        zeros = (digits & -digits).bit_length() - 1
        digits >>= zeros
        length = (~digits & (digits + 1)).bit_length() - 1
        yield start + zeros, start + zeros + length - 1
        digits >>= length
        start += zeros + length


def _points(grid: Grid, low: int, high: int, loss: int) -> list[tuple[int, int, int]]:
    """The grid's whole numbers in [low, high], as intervals of indices with this loss."""
    first, last = grid.ceil(low), grid.floor(high)
    if first is None or last is None or first > last:
        return []
    if grid == integers(grid.first, grid.last):
        return [(first, last, loss)]
    return [(i, i, loss) for i in range(first, last + 1) if grid.value(i).denominator == 1]


def inverse_accuracy(law: Law[int | Fraction], beta: Number, within: Number = 0) -> Accuracy:
    """The accuracy of an inverse sensitivity in terms of the statistic: within LS^k, k the law's window."""
    stated = law.accuracy(beta)
    if stated.window is None:
        raise InvalidInput("the law must count its window in persons; use a method such as exponential.")
    more = f" + {within}" if within else ""
    words = (
        f"the answer is within LS^{stated.window}{more} of the truth, LS^{stated.window} the most that "
        f"{stated.window} persons can move the statistic, with probability at least {1 - stated.beta}"
    )
    return Accuracy(stated.beta, stated.window, words)


def _changed(p: Argument, *, replaced: bool) -> tuple[Any, Any, Any]:
    """L, E and G before and after a person joins one of them, and leaves another if replaced."""
    before, after = [p.count(name) for name in "LEG"], []
    joins, leaves = p.steps("joins", 0, 2), p.steps("leaves", 0, 2)
    for i, place in enumerate(before):
        gone = either(equal(leaves, i), 1, 0) if replaced else 0
        after.append(place + either(equal(joins, i), 1, 0) - gone)
    p.assume(*(place >= 0 for place in after))
    return tuple(before), tuple(after), p.whole("move of ℓ")


def argue_replaced(p: Argument, *, moves: tuple[int, int] = (1, 1)) -> None:
    """The formula of a quantile where one of n persons is replaced, run on symbols before and after the change."""
    epsilon, rank = p.positive("ε"), p.whole("⌈qn⌉")  # of n persons before and after
    before, after, move = _changed(p, replaced=True)
    with p.lemma() as known:
        p.assume(equal(move, _from_rank(after[0], after[1], rank) - _from_rank(before[0], before[1], rank)))
        known.append(p.derive((move >= -1) & (move <= 1)))
    p.promise(weigh(p, factor(epsilon, moves), -1, 1, move), epsilon)


def argue_moved(p: Argument, *, moves: tuple[int, int] = (1, 1)) -> None:
    """The formula of a quantile where a person is added, run on symbols before and after the change."""
    epsilon, q = p.positive("ε"), p.real("q", lambda x: x > 0, lambda x: x < 1)
    before, after, move = _changed(p, replaced=False)
    with p.lemma() as known:
        p.assume(equal(move, _moved(after[0], after[1], after[2], q) - _moved(before[0], before[1], before[2], q)))
        known.append(p.derive((move > -2) & (move < 2)))
    p.derive((move >= -1) & (move <= 1))
    for sign in (1, -1):
        with p.case("a person added" if sign > 0 else "a person removed"):
            p.promise(weigh(p, factor(epsilon, moves), -1, 1, sign * move), epsilon)


_GIVEN = "L, E and G persons have values below, at and above y"

PROOFS = (
    Proof(
        "inverse sensitivity of a quantile, a person replaced",
        "mechanisms.quantile_loss",
        "Pure(ε)",
        argue_replaced,
        _GIVEN,
    ),
    Proof("inverse sensitivity of a quantile", "mechanisms.quantile_loss", "Pure(ε)", argue_moved, _GIVEN),
)
