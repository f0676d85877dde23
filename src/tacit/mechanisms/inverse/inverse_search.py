"""The loss of any function on a small universe: how many persons must change until the function takes a value.

PROMISE  `searched_loss` has sensitivity 1, so `inverse_sensitivity` and every other mechanism that takes a loss keeps
its promise on it, whatever the function does.

PROOF  ℓ(x, y) = min{ dist(x, x') : |f(x') − y| ≤ w } is the distance from x to a set, which neighbours see at distances
that differ by at most 1; min(ℓ, limit) too. With w = 0 this is inverse sensitivity; with w half a grid step it is the
smoothed loss for continuous functions, under which every value of f belongs to a grid point. Neighbours are datasets
that differ by one person added or removed; with ``persons_public`` the number of persons is public and one person is
replaced. A dataset on which f fails or returns no number reaches no value. A record outside the universe is taken for
its first, record by record, so nothing is refused because of the data.

ACCURACY  An answer of loss k is within w of f(x') for some x' at distance k, hence |y − f(x)| ≤ LS^k(x) + w, the most
that k persons can move f; `inverse_accuracy` in `inverse_losses` states k.

COST  Breadth first over the numbers of persons of each kind: f is evaluated once on every dataset nearer than
``limit``, at most Σ_i 2^i·C(m, i)·C(limit − 1, i) for a universe of m records (`search_size`), a public number. Above
`LARGEST` it is refused before anything is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from math import comb
from typing import Any

from tacit.curves import Run, StepLoss
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.numbers.exact import Number, exact, non_negative, whole

LARGEST = 10**6
"""The most datasets a search looks at."""

Counts = tuple[int, ...]
"""How many persons have each record of the universe."""

Function = Callable[[tuple[Any, ...]], Any]
"""A statistic: the records, sorted as in the universe, to a number."""


def search_size(universe: int, radius: int, persons: int | None = None) -> int:
    """The most datasets within ``radius`` changes of one; where ``persons`` is public, a change replaces a person."""
    steps = radius if persons is None else 2 * radius
    ball: int = sum(2**i * comb(universe, i) * comb(steps, i) for i in range(min(universe, steps) + 1))
    return ball if persons is None else min(ball, comb(persons + universe - 1, universe - 1))


def checked_size(universe: int, radius: int, persons: int | None) -> None:
    """Refuse a search that is too large, from public facts alone."""
    size = search_size(universe, radius, persons)
    if size > LARGEST:
        raise InvalidInput(
            f"the search would look at up to {size} datasets, more than {LARGEST}; "
            "take a smaller universe or a smaller limit, or a statistic with a loss of its own."
        )


def in_universe(records: Iterable[Hashable], universe: Sequence[Hashable]) -> Counts:
    """How many records there are of each kind; those outside the universe are taken for its first."""
    kinds = {record: i for i, record in enumerate(universe)}
    if len(kinds) < 1 or len(kinds) < len(universe):
        raise InvalidInput("universe must list at least one record, and each only once.")
    counts = [0] * len(kinds)
    for record in records:
        counts[kinds.get(record, 0)] += 1
    return tuple(counts)


def changed(counts: Counts, persons_public: bool) -> Iterator[Counts]:
    """Every neighbour: one person added or removed, or one replaced."""
    removed = [_moved(counts, i, -1) for i, n in enumerate(counts) if n]
    if not persons_public:
        yield from removed
        removed = [counts]
    for base in removed:
        for i in range(len(counts)):
            yield _moved(base, i, 1)


def _moved(counts: Counts, i: int, by: int) -> Counts:
    return (*counts[:i], counts[i] + by, *counts[i + 1 :])


def rings(start: Counts, radius: int, persons_public: bool = False) -> Iterator[tuple[int, list[Counts]]]:
    """The datasets at distance 0, 1, …, radius, each ring with its distance."""
    seen, ring = {start}, [start]
    for distance in range(radius + 1):
        yield distance, ring
        if distance < radius:
            further = dict.fromkeys(z for x in ring for z in changed(x, persons_public) if z not in seen)
            seen.update(further)
            ring = list(further)


def value_of(f: Function, counts: Counts, universe: Sequence[Any]) -> Fraction | None:
    """The function's value on a dataset; None where it fails or returns no number."""
    records = tuple(record for record, n in zip(universe, counts, strict=True) for _ in range(n))
    try:
        return exact(f(records), "the value of the function")
    except Exception:  # whatever f does on some data must not show
        return None


def searched_loss(
    f: Function,
    records: Iterable[Hashable],
    universe: Sequence[Hashable],
    grid: Grid,
    *,
    limit: int,
    within: Number = 0,
    persons_public: bool = False,
) -> StepLoss:
    """The fewest persons to add or remove (to replace, with ``persons_public``) until f is within ``within`` of y.

    Larger losses count as ``limit``. ``f`` takes a tuple of records, one for each person.

    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import searched_loss
    >>> loss = searched_loss(sum, [1, 2], [1, 2], integers(0, 4), limit=3)
    >>> [loss.at(y) for y in range(5)]
    [2, 1, 1, 0, 1]
    """
    top, slack = whole(limit, "limit", 1), non_negative(within, "within")
    start = in_universe(records, universe)
    checked_size(len(universe), top - 1, sum(start) if persons_public else None)
    reached: list[tuple[int, int, int]] = []
    for distance, ring in rings(start, top - 1, persons_public):
        for counts in ring:
            value = value_of(f, counts, universe)
            if value is not None:
                first, last = grid.ceil(value - slack), grid.floor(value + slack)
                if first is not None and last is not None and first <= last:
                    reached.append((first, last, distance))
    return lowest(grid, reached, top)


def lowest(grid: Grid, intervals: Iterable[tuple[int, int, int]], limit: int) -> StepLoss:
    """At every index the smallest loss of the intervals (first, last, loss) that hold it, at most ``limit``."""
    waiting = sorted(set(intervals))
    cuts = sorted({first for first, _, _ in waiting} | {last + 1 for _, last, _ in waiting})
    if grid.first is not None:
        cuts = [cut for cut in cuts if cut > grid.first]
    if grid.last is not None:
        cuts = [cut for cut in cuts if cut <= grid.last]
    starts: list[int | None] = [grid.first, *cuts]
    ends: list[int | None] = [*(cut - 1 for cut in cuts), grid.last]
    active: list[tuple[int, int]] = []
    position, runs = 0, []
    for start, end in zip(starts, ends, strict=True):
        while start is not None and position < len(waiting) and waiting[position][0] <= start:
            heappush(active, (waiting[position][2], waiting[position][1]))
            position += 1
        while active and start is not None and active[0][1] < start:
            heappop(active)
        runs.append(Run(start, end, min(active[0][0], limit) if active and start is not None else limit))
    return StepLoss.joined(grid, runs)
