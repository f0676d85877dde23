"""Small networks under node privacy: rows that touch one, two or three persons, and every set of their persons.

Removing a person removes every row that touches it, so the neighbours of a set of persons are the sets with one more or
one less. What verifies a mechanism for joins walks over all of them.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.audit.exact import Dataset
    from tacit.flows import Rows

Network = tuple[tuple[int, str], ...]
"""Rows: a weight, which also serves as the row's value, and the persons it touches, a letter each."""

HUB: Network = ((2, "a"), (2, "b"), (2, "ac"), (2, "bc"), (3, "cd"), (9, "d"), (1, "ad"))
"""c gains nothing at the cap 2, where a and b are full, and 4 at the cap 4."""
RING: Network = ((4, "ab"), (4, "bc"), (4, "ac"), (2, "cd"), (5, "abd"))
"""A triangle, whose capped count is half of a whole number, and a row of three."""


def parts(network: Network) -> list[Dataset]:
    """Every set of the network's persons."""
    persons = sorted({person for _, row in network for person in row})
    return [chosen for size in range(len(persons) + 1) for chosen in combinations(persons, size)]


def rows(network: Network, x: Dataset) -> tuple[Rows, list[int]]:
    """The rows all of whose persons are there, and their values."""
    from tacit.flows import Rows

    kept = [(weight, [ord(person) for person in row]) for weight, row in network if set(row) <= set(x)]
    starts = [sum(len(row) for _, row in kept[:i]) for i in range(len(kept) + 1)]
    weights = [weight for weight, _ in kept]
    return Rows.from_lists(weights, starts, [u for _, row in kept for u in row]), weights
