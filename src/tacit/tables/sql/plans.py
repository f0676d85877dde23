"""Plans: the aggregates of one query, asked one after the other and shown together.

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
from tacit.guarantees import Guarantee
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.ways.found_groups import FoundGroups

if TYPE_CHECKING:
    from tacit.tables.face.session import Session

Order = tuple[str, int, bool]
"""What to order by: ("value", number of the aggregate) or ("key", part of the key), and whether it descends."""


@dataclass(frozen=True)
class Plan:
    """Distinct aggregates of one relation, how they are shown, and what they cost."""

    session: Session
    relation: Relation
    statistics: tuple[Statistic, ...]
    columns: tuple[tuple[str, int], ...]
    """Output names, each with the number of its aggregate."""
    grouped: bool
    order: tuple[Order, ...]
    limit: int | None
    cost: Guarantee
    query: str

    @property
    def each(self) -> Guarantee:
        """What one aggregate costs."""
        return split(self.cost, len(self.statistics))

    def ask(self, fresh: bool) -> Answer | Answers:
        """Check that all fit, then ask one after the other."""
        self._check()
        if len(self.statistics) > 1:
            unpaid = self.unpaid(fresh)
            if unpaid:
                self.session.budget.check(self.each, *(self._question(s) for s in unpaid))
        found = [
            self.session.ask(self.relation, statistic, self.each, fresh=fresh, text=self.query)
            for statistic in self.statistics
        ]
        return self._shown(found)

    def _check(self) -> None:
        """Refuse what cannot be answered before the first is paid for."""
        for statistic in self.statistics:
            self.session.check(self.relation, statistic, self.each)

    def _unanswered(self, statistic: Statistic, fresh: bool) -> bool:
        budget, question = self.session.budget, self._question(statistic)
        return budget.repeated(question, self.each) is None and (fresh or budget.recall(question, self.each) is None)

    def _question(self, statistic: Statistic) -> Question:
        return self.session.question(self.relation, statistic, self.query)

    def unpaid(self, fresh: bool) -> list[Statistic]:
        """The aggregates that were not answered before; asking costs nothing where there are none."""
        return [statistic for statistic in self.statistics if self._unanswered(statistic, fresh)]

    def fits(self, unpaid: Sequence[Statistic]) -> bool:
        """Whether these of the aggregates can be paid for now."""
        return not unpaid or self.session.budget.fits(split(self.cost, len(self.statistics), len(unpaid)))

    def preview(self, fresh: bool) -> str:
        """The cost in words, and whether it fits; refuses what would be refused, and waits for nobody."""
        self._check()
        words, count, unpaid = ", ".join(s.words for s in self.statistics), len(self.statistics), self.unpaid(fresh)
        for statistic in unpaid:
            with suppress(Unsettled):  # that passes by itself, and nothing is charged here
                self.session.budget.allows(self.each, self._question(statistic))
        if not unpaid:
            return f"{words}: answered before, so it is free. Nothing was spent."
        fits = "which fits" if self.fits(unpaid) else "which does not fit"
        split_ = "" if count == 1 else f", {self.each!r} for each of {count} aggregates"
        known = "" if len(unpaid) == count else f", of which {count - len(unpaid)} free because answered before"
        left = self.session.budget.remaining
        return f"{words}: {self.cost!r}{split_}{known}; {left!r} is left, {fits}. Nothing was spent."

    def _chooses(self, groups: int) -> bool:
        """Whether LIMIT leaves out groups by what was released about them; found groups come with the largest first."""
        by_value = any(what == "value" for what, _, _ in self.order)
        found = not self.order and any(isinstance(statistic, FoundGroups) for statistic in self.statistics)
        return self.limit is not None and self.limit < groups and (by_value or found)

    def _shown(self, found: Sequence[Answer | Answers]) -> Answer | Answers:
        if not self.grouped:
            if len(self.columns) == 1:
                return found[self.columns[0][1]]
            pairs = [pair for name, i in self.columns for pair in _named(name, found[i])]
            return Answers(dict(pairs), self.cost, "column")
        tables = [cast(Answers, answers) for answers in found]
        keys = [key for key in tables[0] if all(key in table for table in tables)]
        for what, number, descending in reversed(self.order):
            if what == "key":
                keys.sort(key=lambda key: _rank(key[number] if isinstance(key, tuple) else key), reverse=descending)
            else:
                keys.sort(key=lambda key: _rank(tables[number][key].value), reverse=descending)
        if self._chooses(len(keys)):
            tables = [_chosen(table, len(keys)) for table in tables]
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


def _chosen(answers: Answers, among: int) -> Answers:
    """Answers some of which are shown because of their values; their intervals hold for all of them together."""
    found = {key: replace(a, spread=a.spread and Chosen(a.spread, among)) for key, a in answers.items()}
    return Answers(found, answers.guarantee, answers.name)


def _named(name: str, found: Answer | Answers) -> Iterator[tuple[str, Answer]]:
    """An output column, or one for each of several quantiles."""
    if isinstance(found, Answer):
        yield name, found
    else:
        yield from ((f"{name} at {key}", answer) for key, answer in found.items())


def _rank(part: Any) -> tuple[bool, Any]:
    return (part is None, 0 if part is None else part)


def split(cost: Guarantee, parts: int, times: int = 1) -> Guarantee:
    """``times`` of ``parts`` equal parts of a cost."""
    return cost * Fraction(times, parts)
