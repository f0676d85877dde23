"""Plans: which releases a query or a report takes, and what each of them costs.

RULE  Equal statistics of the same rows are released once. Statistics of the same groups, where these are found in the
data, are one release: the groups are found once (`tacit.tables.statistics.ways.together`). The cost is split by
weights, which are all 1 unless the analyst names some: a statistic costs its weight over the sum of all of them. One
that is used in several places weighs as much as in the place where it weighs most.

All of it must fit before the first release is charged. The plan looks at public facts alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, Any, cast

from tacit.answers import Answer, Answers
from tacit.budgets import Question, Unsettled
from tacit.engines.requests import Relation
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee, Pure
from tacit.numbers.exact import positive
from tacit.tables.face.preview import ForeseenPart
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.catalogue import forecast_of
from tacit.tables.statistics.ways.groups import FoundGroups, Grouped
from tacit.tables.statistics.ways.together import FoundTogether

if TYPE_CHECKING:
    from tacit.tables.releasing.releaser import Releaser


Fresh = bool | frozenset[int]
"""Whether to ask and pay again even if the same was answered before: all releases, or those of these numbers."""


@dataclass(frozen=True)
class Wanted:
    """A statistic that is asked for."""

    relation: Relation
    statistic: Statistic
    text: str
    """The SELECT in which it stands first, as it was written."""
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Release:
    """What is charged and released at once."""

    relation: Relation
    statistic: Statistic
    text: str
    cost: Guarantee


@dataclass(frozen=True)
class Plan:
    """The releases, and where the answer to each statistic that is wanted stands."""

    releaser: Releaser
    cost: Guarantee
    releases: tuple[Release, ...]
    places: tuple[tuple[int, int | None], ...]
    """For each statistic the number of its release, and its own number there if it is one of several."""

    @classmethod
    def of(cls, releaser: Releaser, wanted: Sequence[Wanted], cost: Guarantee) -> Plan:
        """The releases for distinct statistics."""
        together: dict[Any, list[int]] = {}
        for i, each in enumerate(wanted):
            found = type(each.statistic) is FoundGroups and releaser.sampling is None
            together.setdefault((each.relation, cast(FoundGroups, each.statistic).by) if found else i, []).append(i)
        whole = sum((each.weight for each in wanted), Fraction(0))
        releases, places = list[Release](), dict[int, tuple[int, int | None]]()
        for numbers in together.values():
            places |= {n: (len(releases), place if len(numbers) > 1 else None) for place, n in enumerate(numbers)}
            first, weights = wanted[numbers[0]], [wanted[n].weight for n in numbers]
            share = sum(weights, Fraction(0))
            statistic = first.statistic
            if len(numbers) > 1:
                statistics = tuple(cast(FoundGroups, wanted[n].statistic) for n in numbers)
                statistic = FoundTogether(statistics, tuple(weight / share for weight in weights))
            part = cost if share == whole else cost * (share / whole)
            releases.append(Release(first.relation, statistic, first.text, part))
        return cls(releaser, cost, tuple(releases), tuple(places[i] for i in range(len(wanted))))

    def check(self) -> None:
        """Refuse what cannot be answered before the first is paid for."""
        for release in self.releases:
            self.releaser.check(release.relation, release.statistic, release.cost)

    @cached_property
    def _questions(self) -> dict[int, Question]:
        return {}

    def question(self, release: Release) -> Question:
        """What the budget is told about a release; of thousands of groups that is long, so it is written once."""
        if id(release) not in self._questions:
            made = self.releaser.question(release.relation, release.statistic, release.text, release.cost)
            self._questions[id(release)] = made
        return self._questions[id(release)]

    def unpaid(self, fresh: Fresh) -> list[Release]:
        """The releases that were not made before; asking costs nothing where there are none."""
        return [release for n, release in enumerate(self.releases) if self._unanswered(release, _anew(fresh, n))]

    def _unanswered(self, release: Release, fresh: bool) -> bool:
        budget, question = self.releaser.budget, self.question(release)
        if budget.repeated(question, release.cost) is not None or budget.begun(question, release.cost):
            return False
        return fresh or budget.recall(question, release.cost) is None

    def charge(self, unpaid: Sequence[Release]) -> Guarantee:
        """What is charged for some of the releases: their shares, and exactly all of it for all."""
        if not unpaid:
            return self.cost.amount(*[Fraction(0)] * len(self.cost.keywords()))
        if len(unpaid) == len(self.releases):
            return self.cost
        return reduce(add, (release.cost for release in unpaid))

    def charges(self, unpaid: Sequence[Release]) -> list[tuple[Guarantee, Question]]:
        """What the budget is asked for some of the releases, one after the other."""
        return [(release.cost, self.question(release)) for release in unpaid]

    def foresee(self, fresh: Fresh) -> tuple[list[Release], Guarantee, bool]:
        """The releases that are not paid for, what they cost, and whether that fits.

        Refuses what would be refused, and waits for nobody.
        """
        self.check()
        unpaid, budget = self.unpaid(fresh), self.releaser.budget
        for cost, question in self.charges(unpaid):
            with suppress(Unsettled):  # that passes by itself, and nothing is charged here
                budget.allows(cost, question)
        charge = self.charge(unpaid)
        return unpaid, charge, not unpaid or budget.fits_each(*self.charges(unpaid))

    def ask(self, fresh: Fresh) -> list[Answer | Answers]:
        """Check that all fit, then release one after the other; an answer for each statistic that is wanted."""
        unpaid: list[Release] = []
        if len(self.releases) > 1:
            self.check()
            unpaid = self.unpaid(fresh)
            self.releaser.budget.check_each(*self.charges(unpaid))
        same = len(unpaid) > 1 and all(each.relation == unpaid[0].relation for each in unpaid)
        statistics = tuple(each.statistic for each in unpaid)
        with self.releaser.together(statistics, same) as releaser:
            made = [
                releaser.ask(each.relation, each.statistic, each.cost, fresh=_anew(fresh, n), text=each.text)
                for n, each in enumerate(self.releases)
            ]
        return [self._picked(made[release], release, part) for release, part in self.places]

    def _picked(self, answers: Answer | Answers, release: int, part: int | None) -> Answer | Answers:
        if part is None:
            return answers
        return cast(FoundTogether, self.releases[release].statistic).apart(cast(Answers, answers))[part]

    def forecast(self, release: Release) -> str | None:
        """Under which name `tacit.plan` forecasts the accuracy: a statistic of everybody, for some ε."""
        everybody = self.releaser.sampling is None and not release.relation.others
        return forecast_of(release.statistic) if everybody and isinstance(release.cost, Pure) else None

    def foreseen(self, release: Release) -> list[ForeseenPart]:
        """What public facts say about the error of each aggregate in a release."""
        statistic, several = release.statistic, self.releaser.sampling is not None or bool(release.relation.others)
        if isinstance(statistic, FoundTogether):
            parts: list[tuple[Statistic, Guarantee]] = [
                (each, release.cost * weight)
                for each, weight in zip(statistic.statistics, statistic.weights, strict=True)
            ]
        else:
            parts = [(statistic, release.cost)]
        std, found = self.noise_std(release), list[ForeseenPart]()
        for each, cost in parts:
            groups = (
                None if isinstance(each, FoundGroups) else len(each.groups.keys) if isinstance(each, Grouped) else 1
            )
            found.append(ForeseenPart(each.words, cost, each.key, groups, std, several))
        return found

    def noise_std(self, release: Release) -> float | None:
        """The standard deviation of the noise, where it is known before anybody is asked."""
        return None if self.releaser.sampling is not None else release.statistic.noise_std(release.cost)


def _anew(fresh: Fresh, number: int) -> bool:
    return fresh if isinstance(fresh, bool) else number in fresh


def weights_of(weights: Any, names: Sequence[str], what: str) -> dict[str, Fraction]:
    """How much each of some names weighs: as much as the analyst says, otherwise 1."""
    if weights is None:
        return dict.fromkeys(names, Fraction(1))
    if isinstance(weights, Mapping):
        for name in weights:
            if name not in names:
                raise InvalidInput(f"weights names {name!r}, and the {what} are {', '.join(names)}; name one of these.")
        listed = [weights.get(name, 1) for name in names]
    elif isinstance(weights, str) or not isinstance(weights, Iterable):
        raise InvalidInput(f"weights must map {what} to positive numbers, or list a number for each.")
    else:
        listed = list(weights)
    if len(listed) != len(names):
        raise InvalidInput(f"weights lists {len(listed)} numbers for {len(names)} {what}: {', '.join(names)}.")
    return {name: positive(weight, "weights") for name, weight in zip(names, listed, strict=True)}
