"""The subsets of some persons, by how many are missing, each addressed by a rank.

The sets of k missing persons out of n are ordered by their largest member first (colexicographically): the set
c_0 < c_1 < … has rank Σ C(c_i, i+1). So work can be handed out as three whole numbers, and every subset is met once.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

MANY = 10**15
"""Subsets are not counted beyond this."""


def evaluations(persons: int, missing: int) -> int:
    """How many subsets miss at most ``missing`` of the persons; beyond `MANY` any larger number."""
    found = 0
    for k in range(min(missing, persons) + 1):
        found += comb(persons, k)
        if found > MANY:
            break
    return found


def missing_sets(persons: int, missing: int, start: int, stop: int) -> Iterator[list[int]]:
    """The sets of ``missing`` persons of ranks start..stop−1, ascending inside; one list, changed in place."""
    chosen = _at(persons, missing, start)
    for _ in range(start, stop):
        yield chosen
        place = 0
        while place < missing - 1 and chosen[place] + 1 == chosen[place + 1]:
            chosen[place] = place
            place += 1
        if missing:
            chosen[place] += 1


def _at(persons: int, missing: int, rank: int) -> list[int]:
    """The set of a rank: greedily the largest member first."""
    chosen, largest = [0] * missing, persons
    for place in range(missing - 1, -1, -1):
        largest -= 1
        while comb(largest, place + 1) > rank:
            largest -= 1
        rank -= comb(largest, place + 1)
        chosen[place] = largest
    return chosen
