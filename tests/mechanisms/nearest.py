"""A breadth-first oracle for small universes, from the values outward: independent of the search it checks."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

Counts = tuple[int, ...]


def multisets(universe: int, persons: int) -> Iterator[Counts]:
    """The numbers of persons of each kind, at most ``persons`` in all."""
    for n in range(persons + 1):
        for kinds in combinations_with_replacement(range(universe), n):
            yield tuple(kinds.count(i) for i in range(universe))


def records(counts: Counts, universe: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(record for record, n in zip(universe, counts, strict=True) for _ in range(n))


def _neighbours(x: Counts, replaced: bool) -> Iterator[Counts]:
    for i, n in enumerate(x):
        if not replaced:
            yield (*x[:i], n + 1, *x[i + 1 :])
        if n:
            less = (*x[:i], n - 1, *x[i + 1 :])
            if not replaced:
                yield less
            else:
                yield from ((*less[:j], less[j] + 1, *less[j + 1 :]) for j in range(len(x)))


def distances(
    f: Callable[[tuple[Any, ...]], Any], universe: tuple[Any, ...], persons: int, *, replaced: bool = False
) -> dict[Fraction, dict[Counts, int]]:
    """For each value of f the distance of every dataset to it, among those of at most (or exactly) so many persons."""
    found: dict[Fraction, dict[Counts, int]] = {}
    nodes = [x for x in multisets(len(universe), persons) if not replaced or sum(x) == persons]
    for x in nodes:
        if sum(x) or f is sum:
            found.setdefault(Fraction(f(records(x, universe))), {})[x] = 0
    inside = set(nodes)
    links = {x: [z for z in _neighbours(x, replaced) if z in inside] for x in nodes}
    for reached in found.values():
        ring, k = list(reached), 0
        while ring:
            k += 1
            further = [z for x in ring for z in links[x] if z not in reached]
            ring = list(dict.fromkeys(further))
            reached.update(dict.fromkeys(ring, k))
    return found
