"""Queries: the aggregates of one SELECT, released by a plan and shown together.

The cost is split over the distinct aggregates (`tacit.tables.sql.plan`), and all of it must fit before the first is
released. A `Layout` says what is shown of the answers, which is post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tacit.answers import Answer, Answers
from tacit.answers.computed import parts_of
from tacit.engines.requests import Relation
from tacit.guarantees import Guarantee
from tacit.tables.face.preview import Preview
from tacit.tables.sql.layout import Layout
from tacit.tables.sql.plan import Plan, Release, Wanted, weights_of
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.ways.together import FoundTogether

if TYPE_CHECKING:
    from tacit.tables.releasing.releaser import Releaser


@dataclass(frozen=True)
class Query:
    """Distinct aggregates of one relation, how they are shown, and what they cost."""

    releaser: Releaser
    relation: Relation
    statistics: tuple[Statistic, ...]
    layout: Layout
    cost: Guarantee
    text: str
    """The SELECT as it was written."""
    weights: Any = None
    """How much output columns weigh, as the analyst says it."""

    def __post_init__(self) -> None:
        _ = self.plan  # weights that are no weights are refused at once

    @cached_property
    def plan(self) -> Plan:
        """What is released for it."""
        weights = _heaviest(self.layout, self.weights)
        wanted = [
            Wanted(self.relation, statistic, self.text, weights.get(i, Fraction(1)))
            for i, statistic in enumerate(self.statistics)
        ]
        return Plan.of(self.releaser, wanted, self.cost)

    def ask(self, fresh: bool) -> Answer | Answers:
        """Check that all fit, then ask one after the other."""
        return self.layout.show(self.plan.ask(fresh), self.cost, [release for release, _ in self.plan.places])

    def check(self) -> None:
        """Refuse what cannot be answered before the first is paid for."""
        self.plan.check()

    def unpaid(self, fresh: bool) -> list[Release]:
        """The releases that were not made before; asking costs nothing where there are none."""
        return self.plan.unpaid(fresh)

    def preview(self, fresh: bool) -> Preview:
        """The cost and whether it fits; refuses what would be refused, and waits for nobody."""
        unpaid, charge, fits = self.plan.foresee(fresh)
        remaining = self.releaser.budget.remaining
        alone = self.plan.releases[0] if len(self.statistics) == 1 else None
        return Preview(
            statistics=tuple(statistic.words for statistic in self.statistics),
            cost=charge,
            asked=self.cost,
            remaining=remaining,
            fits=fits,
            free=not unpaid,
            words=self._sentence(unpaid, fits, remaining),
            forecast=None if alone is None else self.plan.forecast(alone),
            noise_std=None if alone is None else self.plan.noise_std(alone),
            charges=tuple(self.plan.charges(self.plan.releases)),
            parts=tuple(part for release in self.plan.releases for part in self.plan.foreseen(release)),
        )

    def _sentence(self, unpaid: Sequence[Release], fits: bool, remaining: Guarantee) -> str:
        words, count = ", ".join(statistic.words for statistic in self.statistics), len(self.statistics)
        if not unpaid:
            return f"{words}: answered before, so it is free. Nothing was spent."
        free = count - sum(_size(release) for release in unpaid)
        left = f" of the {remaining!r} left" if fits else f", but only {remaining!r} is left"
        known = f"; {free} of {count} aggregates {'is' if free == 1 else 'are'} free: answered before" if free else ""
        return f"{words}: costs {self.plan.charge(unpaid)!r}{_split(unpaid)}{left}{known}. Nothing was spent."


def _heaviest(layout: Layout, weights: Any) -> dict[int, Fraction]:
    """For each statistic that is shown the largest weight of the columns that show it."""
    shown = [output for output in layout.outputs if output.released]
    named = weights_of(weights, [output.name for output in shown], "columns")
    found: dict[int, Fraction] = {}
    for output in shown:
        for part in parts_of(output.formula):
            number = layout.sources[part].statistic
            found[number] = max(found.get(number, Fraction(0)), named[output.name])
    return found


def _size(release: Release) -> int:
    """How many aggregates a release answers."""
    return len(release.statistic.statistics) if isinstance(release.statistic, FoundTogether) else 1


def _split(unpaid: Sequence[Release]) -> str:
    """How a cost is split over releases, in words."""
    if len(unpaid) == 1:
        return f" (groups are found once for {_size(unpaid[0])} aggregates)" if _size(unpaid[0]) > 1 else ""
    if len({release.cost for release in unpaid}) == 1:
        return f" ({unpaid[0].cost!r} for each of {len(unpaid)} aggregates)"
    return f" ({', '.join(f'{release.cost!r} for {release.statistic.words}' for release in unpaid)})"
