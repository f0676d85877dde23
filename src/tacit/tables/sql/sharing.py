"""Means beside sums and counts: one release for what is asked in three ways.

RULE  AVG(x) is the quotient of SUM(x) and COUNT(x), and costs nothing of its own,

- by group, where SUM(x) or COUNT(x) is asked of the same rows: a mean by group is made of a sum and a count with half
  of its cost each, so both have at least as much as before, and nobody else less;
- without groups, where both are asked: two releases share the cost that three had;
- where rows concern several persons: there is no other mean.

Otherwise a mean is released by itself: around a centre (`tacit.tables.statistics.mean`) it is better than the quotient
of a sum and a count of half the cost, at least where there are many persons. COUNT(*) counts other rows than COUNT(x)
where x may be NULL, so it is not one of the two. The rule looks at the query alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.answers.formulas import Calculation, Part
from tacit.tables.sql.layout import Source
from tacit.tables.statistics.base import Statistic


class Sharing:
    """The statistics that a query asks after all, and where their answers stand in formulas."""

    def __init__(self, statistics: Sequence[Statistic], sources: Sequence[Source], several: bool) -> None:
        self._quotients = {
            statistic: parts
            for statistic in statistics
            if (parts := statistic.quotient_of) is not None and _shared(statistic, parts, statistics, several)
        }
        kept = dict.fromkeys(part for each in statistics for part in self._quotients.get(each, (each,)))
        self.statistics: list[Statistic] = list(kept)
        self.sources: list[Source] = []
        self._formulas = [self._formula(statistics[source.statistic], source.part) for source in sources]

    def _formula(self, statistic: Statistic, part: Any) -> Any:
        if statistic in self._quotients:
            top, bottom = self._quotients[statistic]
            return Calculation("/", (self._formula(top, None), self._formula(bottom, None)))
        source = Source(self.statistics.index(statistic), part)
        if source not in self.sources:
            self.sources.append(source)
        return Part(self.sources.index(source))

    def placed(self, leaf: Any) -> Any:
        """What stands in the place of a leaf of a formula."""
        return self._formulas[leaf.number] if isinstance(leaf, Part) else leaf


def _shared(
    mean: Statistic, parts: tuple[Statistic, Statistic], statistics: Sequence[Statistic], several: bool
) -> bool:
    beside = sum(part in statistics for part in parts)
    return several or beside == len(parts) or (beside > 0 and bool(mean.by))
