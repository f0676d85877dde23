"""Reports: several SELECTs planned as one, answered all or none.

The questions share one plan (`tacit.tables.sql.plan`): equal aggregates of the same rows are released once, whichever
question asks them; a mean beside its sum and its count is their quotient (`tacit.tables.sql.sharing`); groups are found
once. All of it must fit before the first release is charged. What each question shows is post-processing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, cast

from tacit.answers import Answer
from tacit.answers.report import Report
from tacit.answers.results import Result, alone
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Guarantee
from tacit.tables.face.preview import Preview, ReportPreview
from tacit.tables.sql.layout import Layout, Source
from tacit.tables.sql.plan import Fresh, Plan, Wanted, weights_of
from tacit.tables.sql.privacy_clause import Priced
from tacit.tables.sql.public_query import PublicQuery
from tacit.tables.sql.queries import understand
from tacit.tables.sql.query import Query
from tacit.tables.sql.sharing import Sharing

if TYPE_CHECKING:
    from tacit.tables.releasing.releaser import Releaser

MOST_QUESTIONS = 100
"""The most questions of a report."""


@dataclass(frozen=True)
class Shown:
    """A question of a report: how it is shown, and which of the statistics that are wanted it shows."""

    layout: Layout
    wanted: tuple[int, ...]


@dataclass(frozen=True)
class Questions:
    """The questions of a report, by their names, with one plan."""

    plan: Plan
    shown: Mapping[str, Shown | PublicQuery]

    def anew(self, fresh: Any) -> Fresh:
        """The releases that are asked and paid again: all, none, or those of some questions by their names."""
        if isinstance(fresh, bool):
            return fresh
        if isinstance(fresh, str) or not isinstance(fresh, Iterable):
            raise InvalidInput("fresh must be True, False, or a list with names of questions.")
        named = list(fresh)
        for name in named:
            if name not in self.shown:
                raise InvalidInput(f"fresh names {name!r}, and the questions are {', '.join(self.shown)}; name these.")
        asked = [question for name in named if isinstance(question := self.shown[name], Shown)]
        return frozenset(self.plan.places[number][0] for question in asked for number in question.wanted)

    def ask(self, fresh: Fresh) -> Report:
        """All answers, or a refusal before anything is spent."""
        for query in self.shown.values():
            if isinstance(query, PublicQuery):
                query.check()
        answers = self.plan.ask(fresh)
        found = {}
        for name, question in self.shown.items():
            if isinstance(question, PublicQuery):
                result = question.ask(False)
            else:
                releases = [self.plan.places[number][0] for number in question.wanted]
                cost = reduce(add, (self.plan.releases[i].cost for i in sorted(set(releases))))
                result = question.layout.show([answers[number] for number in question.wanted], cost, releases)
            found[name] = alone(result) if isinstance(result, Answer) else cast(Result, result)
        return Report(found, self.plan.charge(self.plan.releases))

    def preview(self, fresh: Fresh) -> ReportPreview:
        """What each release would cost, which questions it is for, and how much noise it has where that is known."""
        uses = {name: question.wanted if isinstance(question, Shown) else () for name, question in self.shown.items()}
        return preview_plan(self.plan, uses, fresh)


def preview_plan(plan: Plan, uses: Mapping[str, Sequence[int]], fresh: Fresh) -> ReportPreview:
    """What each release of a plan would cost, given which of the statistics that are wanted each question uses."""
    unpaid, charge, fits = plan.foresee(fresh)
    remaining = plan.releaser.budget.remaining
    lines = []
    for number, release in enumerate(plan.releases):
        free, words = release not in unpaid, release.statistic.words
        used = ", ".join(name for name, wanted in uses.items() if number in {plan.places[n][0] for n in wanted})
        lines.append(
            Preview(
                statistics=(words,),
                cost=plan.charge([]) if free else release.cost,
                asked=release.cost,
                remaining=remaining,
                fits=fits,
                free=free,
                words=f"{words}, for {used}: {'answered before, so it is free' if free else repr(release.cost)}",
                forecast=plan.forecast(release),
                noise_std=plan.noise_std(release),
                charges=tuple(plan.charges([release])),
                parts=tuple(plan.foreseen(release)),
            )
        )
    return ReportPreview(tuple(uses), tuple(lines), charge, plan.cost, remaining, fits, not unpaid)


def plan_report(releaser: Releaser, queries: Any, cost: Guarantee, keys: Any = None, weights: Any = None) -> Questions:
    """Read questions and plan them together; refuses what cannot be answered, and spends nothing."""
    named = _named(queries)
    if keys is not None and (not isinstance(keys, Mapping) or not set(keys) <= set(named)):
        raise InvalidInput("keys must map names of questions to their public keys.")
    read: dict[str, Query | PublicQuery] = {}
    for name, text in named.items():
        query = understand(releaser, Priced(text, cost), None if keys is None else keys.get(name))
        if not isinstance(query, Query | PublicQuery):
            raise UnsupportedQuery(
                f"{name} has a subquery across persons, which is answered first, and a report is planned before "
                "anything is answered; ask it by itself."
            )
        read[name] = query
    private = {name: query for name, query in read.items() if isinstance(query, Query)}
    heavy = weights_of(weights, list(private), "questions")
    shown: dict[str, Shown | PublicQuery] = {}
    wanted, known = list[Wanted](), dict[Any, int]()
    for name, query in read.items():
        if isinstance(query, PublicQuery):
            shown[name] = query
            continue
        beside = [other for other in private.values() if other.relation == query.relation]
        layout, statistics = _shared(query, beside)
        places = []
        for statistic in statistics:
            place = known.setdefault((query.relation, statistic), len(wanted))
            if place == len(wanted):
                wanted.append(Wanted(query.relation, statistic, query.text, Fraction(0)))
            wanted[place] = replace(wanted[place], weight=max(wanted[place].weight, heavy[name]))
            places.append(place)
        shown[name] = Shown(layout, tuple(places))
    return Questions(Plan.of(releaser, wanted, cost), shown)


def _shared(query: Query, beside: Iterable[Query]) -> tuple[Layout, list[Any]]:
    """A question as it is shown beside others about the same rows, and the statistics that it then needs."""
    asked = list(dict.fromkeys(statistic for other in beside for statistic in other.statistics))
    sources = [Source(asked.index(query.statistics[s.statistic]), s.part) for s in query.layout.sources]
    sharing = Sharing(asked, sources, several=bool(query.relation.others))
    layout = query.layout.moved(sharing.placed, tuple(sharing.sources))
    needed = list(dict.fromkeys(source.statistic for source in layout.sources))
    moved = tuple(replace(source, statistic=needed.index(source.statistic)) for source in layout.sources)
    return replace(layout, sources=moved, whole=False), [sharing.statistics[number] for number in needed]


def _named(queries: Any) -> dict[str, str]:
    """The questions by their names; those of a list are called by their numbers."""
    if isinstance(queries, str) or not isinstance(queries, Mapping | Iterable):
        raise InvalidInput('a report takes SELECTs by their names, such as {"orders": "SELECT …"}, or a list of them.')
    named = dict(queries) if isinstance(queries, Mapping) else {str(i): q for i, q in enumerate(queries, 1)}
    if not 1 <= len(named) <= MOST_QUESTIONS or not all(isinstance(name, str) for name in named):
        raise InvalidInput(f"a report takes 1 to {MOST_QUESTIONS} questions, each with a text as its name.")
    return named
