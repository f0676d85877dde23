"""Small networks under node privacy: rows that touch one, two or three persons, and every set of their persons.

Removing a person removes every row that touches it, so the neighbours of a set of persons are the sets with one more or
one less. What verifies a mechanism for joins walks over all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from tacit.audit.statistics import StatisticCheck

if TYPE_CHECKING:
    from tacit.audit.exact import Dataset
    from tacit.flows import Incidences

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


def rows(network: Network, x: Dataset) -> tuple[Incidences, list[int]]:
    """The rows all of whose persons are there, and their values."""
    from tacit.flows import Incidences

    kept = [(weight, [ord(person) for person in row]) for weight, row in network if set(row) <= set(x)]
    starts = [sum(len(row) for _, row in kept[:i]) for i in range(len(kept) + 1)]
    weights = [weight for weight, _ in kept]
    return Incidences.from_lists(weights, starts, [u for _, row in kept for u in row]), weights


COLUMNS = {"value": "integer", "group": "text"}
PERSONS = ["first", "second", "third"]


def table_rows(network: Network, x: Dataset) -> list[dict[str, Any]]:
    """The rows as those of a table: the person columns, a value that is negative in every third row, and a group."""
    found = []
    for i, (weight, row) in enumerate(network):
        if set(row) <= set(x):
            persons = dict(zip(PERSONS, map(ord, row), strict=False))
            found.append({**persons, "value": -weight if i % 3 == 2 else weight, "group": "xy"[i % 2]})
    return found


class NetworkCheck(StatisticCheck):
    """Exact verification of whole statistics over sets of a network's persons, every one unless some are given."""

    def __init__(self, network: Network, chosen: Sequence[Dataset] | None = None) -> None:
        self.persons, self.size, self.schema = (), 0, COLUMNS
        self.datasets = list(chosen or parts(network))
        rows = [{"dataset": number, **row} for number, x in enumerate(self.datasets) for row in table_rows(network, x)]
        self._open(rows, PERSONS)
