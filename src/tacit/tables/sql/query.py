"""Queries: the aggregates of one SELECT, asked one after the other and shown together.

The cost is split evenly over the distinct aggregates, and all of it must fit before the first is asked. ORDER BY and
LIMIT are post-processing of released answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from tacit.answers import Answer, Answers
from tacit.answers.spreads import Chosen
from tacit.budgets import Question, Unsettled
from tacit.engines.requests import Relation
from tacit.guarantees import Guarantee, Pure
from tacit.tables.face.preview import Preview
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.catalogue import forecast_of
from tacit.tables.statistics.ways.groups import FoundGroups

if TYPE_CHECKING:
    from tacit.tables.releasing.releaser import Releaser

Order = tuple[str, int, bool]
"""What to order by: ("value", number of the aggregate) or ("key", part of the key), and whether it descends."""


@dataclass(frozen=True)
class Query:
    """Distinct aggregates of one relation, how they are shown, and what they cost."""

    releaser: Releaser
    relation: Relation
    statistics: tuple[Statistic, ...]
    columns: tuple[tuple[str, int], ...]
    """Output names, each with the number of its aggregate."""
    grouped: bool
    order: tuple[Order, ...]
    limit: int | None
    cost: Guarantee
    text: str
    """The SELECT as it was written."""

    @property
    def each(self) -> Guarantee:
        """What one aggregate costs."""
        return self.cost if len(self.statistics) == 1 else self.cost / len(self.statistics)

    def ask(self, fresh: bool) -> Answer | Answers:
        """Check that all fit, then ask one after the other."""
        if len(self.statistics) > 1:
            self.check()
            unpaid = self.unpaid(fresh)
            if unpaid:
                self.releaser.budget.check(self.each, *(self.question(s) for s in unpaid))
        answers = [
            self.releaser.ask(self.relation, statistic, self.each, fresh=fresh, text=self.text)
            for statistic in self.statistics
        ]
        return self._shown(answers)

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

    def _by_value(self) -> bool:
        """Whether groups are in the order of what was released about them; found ones come with the largest first."""
        if self.order:
            return any(what == "value" for what, _, _ in self.order)
        return any(isinstance(statistic, FoundGroups) for statistic in self.statistics)

    def _shown(self, answers: Sequence[Answer | Answers]) -> Answer | Answers:
        if not self.grouped:
            if len(self.columns) == 1:
                return answers[self.columns[0][1]]
            pairs = [pair for name, i in self.columns for pair in _named(name, answers[i])]
            return Answers(dict(pairs), self.cost, "column")
        tables = [cast(Answers, each) for each in answers]
        keys = [key for key in tables[0] if all(key in table for table in tables)]
        for what, number, descending in reversed(self.order):
            if what == "key":
                keys.sort(key=lambda key: _rank(key[number] if isinstance(key, tuple) else key), reverse=descending)
            else:
                keys.sort(key=lambda key: _rank(tables[number][key].value), reverse=descending)
        if self.limit is not None and self.limit < len(keys) and self._by_value():
            tables = [_choose(table, len(keys)) for table in tables]
        keys = keys[: self.limit]
        if len(self.columns) == 1:
            table = tables[self.columns[0][1]]
            return Answers({key: table[key] for key in keys}, self.cost, table.name)
        cells = {
            (*(key if isinstance(key, tuple) else (key,)), name): tables[i][key]
            for key in keys
            for name, i in self.columns
        }
        return Answers(cells, self.cost, f"{tables[0].name}, column")


def _choose(answers: Answers, among: int) -> Answers:
    """Answers some of which are shown because of their values; their intervals hold for all of them together."""
    chosen = {key: replace(a, spread=a.spread and Chosen(a.spread, among)) for key, a in answers.items()}
    return Answers(chosen, answers.guarantee, answers.name)


def _named(name: str, answer: Answer | Answers) -> Iterator[tuple[str, Answer]]:
    """An output column, or one for each of several quantiles."""
    if isinstance(answer, Answer):
        yield name, answer
    else:
        yield from ((f"{name} at {key}", each) for key, each in answer.items())


def _rank(part: Any) -> tuple[bool, Any]:
    return (part is None, 0 if part is None else part)
