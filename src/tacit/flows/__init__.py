"""Statistics of rows that touch several persons: joins, graphs, distinct values, frequencies.

From rows with whole weights and the persons each of them touches (`Incidences`) to what the mechanisms take: the capped
value at a cap, of sensitivity the cap, and a down profile that satisfies the surrogate condition. Everything handed out
is rounded up to whole units from exact values, so no tolerance of a solver reaches a loss (`curve` has the proof,
`programs` the certificates). What is here knows private data: nothing of it is released as it is.

- `capped_sum(rows)`: sums and counts;
- `capped_distinct(rows, values)`: the number of distinct values;
- `capped_frequency(rows, values)` and `capped_degree(rows)`: the most frequent value, the largest degree;
- `largest_profile(rows, values, removals, rank)`: the largest or k-th largest value.

Each but the last is a `CappedStatistic` with `at(cap)`, `profile(removals)`, `fewest(target)` and exact `bounds(cap)`.
"""

from tacit.flows.curve import CappedStatistic, Corner
from tacit.flows.frequency import capped_degree, capped_frequency
from tacit.flows.incidences import Incidences
from tacit.flows.largest import largest_profile
from tacit.flows.sums import capped_distinct, capped_sum

__all__ = [
    "CappedStatistic",
    "Corner",
    "Incidences",
    "capped_degree",
    "capped_distinct",
    "capped_frequency",
    "capped_sum",
    "largest_profile",
]
