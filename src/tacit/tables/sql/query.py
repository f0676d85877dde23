"""Queries: the aggregates of one SELECT, asked one after the other and shown together.

The cost is split evenly over the distinct aggregates, and all of it must fit before the first is asked. A `Layout` says
what is shown of the answers, which is post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.answers import Answer, Answers
from tacit.budgets import Question, Unsettled
from tacit.engines.requests import Relation
from tacit.guarantees import Guarantee, Pure
from tacit.tables.face.preview import Preview
from tacit.tables.sql.layout import Layout
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.catalogue import forecast_of

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

    @property
    def each(self) -> Guarantee:
        """What one aggregate costs."""
        return self.cost if len(self.statistics) == 1 else self.cost / len(self.statistics)

    def ask(self, fresh: bool) -> Answer | Answers:
        """Check that all fit, then ask one after the other."""
        unpaid: list[Statistic] = []
        if len(self.statistics) > 1:
            self.check()
            unpaid = self.unpaid(fresh)
            if unpaid:
                self.releaser.budget.check(self.each, *(self.question(s) for s in unpaid))
        with self.releaser.together(tuple(unpaid), len(unpaid) > 1) as releaser:
            answers = [
                releaser.ask(self.relation, statistic, self.each, fresh=fresh, text=self.text)
                for statistic in self.statistics
            ]
        return self.layout.show(answers, self.cost)

    def check(self) -> None:
        """Refuse what cannot be answered before the first is paid for."""
        for statistic in self.statistics:
            self.releaser.check(self.relation, statistic, self.each)

    def _unanswered(self, statistic: Statistic, fresh: bool) -> bool:
        budget, question = self.releaser.budget, self.question(statistic)
        return budget.repeated(question, self.each) is None and (fresh or budget.recall(question, self.each) is None)

    def question(self, statistic: Statistic) -> Question:
        """What the budget is told about one of the aggregates."""
        return self.releaser.question(self.relation, statistic, self.text)

    def unpaid(self, fresh: bool) -> list[Statistic]:
        """The aggregates that were not answered before; asking costs nothing where there are none."""
        return [statistic for statistic in self.statistics if self._unanswered(statistic, fresh)]

    def fits(self, unpaid: Sequence[Statistic]) -> bool:
        """Whether these of the aggregates can be paid for now."""
        return not unpaid or self.releaser.budget.fits(self.each * len(unpaid))

    def preview(self, fresh: bool) -> Preview:
        """The cost and whether it fits; refuses what would be refused, and waits for nobody."""
        self.check()
        unpaid, budget = self.unpaid(fresh), self.releaser.budget
        for statistic in unpaid:
            with suppress(Unsettled):  # that passes by itself, and nothing is charged here
                budget.allows(self.each, self.question(statistic))
        fits, remaining = self.fits(unpaid), budget.remaining
        return Preview(
            statistics=tuple(statistic.words for statistic in self.statistics),
            cost=self._charge(len(unpaid)),
            asked=self.cost,
            remaining=remaining,
            fits=fits,
            free=not unpaid,
            words=self._sentence(len(unpaid), fits, remaining),
            forecast=self._forecast,
            noise_std=self._noise_std,
        )

    def _charge(self, unpaid: int) -> Guarantee:
        """What is charged for some of the aggregates: their shares, and exactly all of it for all."""
        if unpaid == len(self.statistics):
            return self.cost
        return self.each * unpaid if unpaid else self.cost.amount(*[Fraction(0)] * len(self.cost.keywords()))

    def _sentence(self, unpaid: int, fits: bool, remaining: Guarantee) -> str:
        words, count = ", ".join(statistic.words for statistic in self.statistics), len(self.statistics)
        if not unpaid:
            return f"{words}: answered before, so it is free. Nothing was spent."
        free, cost = count - unpaid, self._charge(unpaid)
        split = "" if unpaid == 1 else f" ({self.each!r} for each of {unpaid} aggregates)"
        left = f" of the {remaining!r} left" if fits else f", but only {remaining!r} is left"
        known = f"; {free} of {count} aggregates {'is' if free == 1 else 'are'} free: answered before" if free else ""
        return f"{words}: costs {cost!r}{split}{left}{known}. Nothing was spent."

    @property
    def _forecast(self) -> str | None:
        """Under which name `tacit.plan` forecasts the accuracy: one statistic of everybody, for some ε."""
        alone = len(self.statistics) == 1 and self.releaser.sampling is None and not self.relation.others
        return forecast_of(self.statistics[0]) if alone and isinstance(self.cost, Pure) else None

    @property
    def _noise_std(self) -> float | None:
        """The standard deviation of the noise, where it is known before anybody is asked."""
        alone = len(self.statistics) == 1 and self.releaser.sampling is None
        return self.statistics[0].noise_std(self.cost) if alone else None
