"""Statistics of groups that are found once: verified exactly over all small datasets, beside twins that are caught."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from tacit.answers import Answers
from tacit.audit.statistics import StatisticCheck
from tacit.guarantees import Approx
from tacit.tables import Table
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.count import Count
from tacit.tables.statistics.persons import PersonCount
from tacit.tables.statistics.sum import Sum
from tacit.tables.statistics.ways.groups import FoundGroups, Groups, for_each
from tacit.tables.statistics.ways.together import FoundTogether

PERSONS = (({"v": 3, "g": "x"}, {"v": 2, "g": "y"}), ({"v": 100, "g": "y"},) * 3)


@pytest.fixture(scope="module")
def small() -> StatisticCheck:
    """Up to two persons of two kinds: 6 datasets."""
    return StatisticCheck(PERSONS, 2, {"v": "integer", "g": "text"})


def asked(t: Table, kind: type[FoundTogether], *, persons: bool) -> Any:
    groups = Groups((t._expression("g"),), (), (), "g")
    statistics: list[Any] = [Sum.of(t._operand("v")), PersonCount.of() if persons else Count.of(t._operand("v"))]
    found = tuple(each for each in (for_each(one, groups) for one in statistics) if isinstance(each, FoundGroups))
    statistic = kind(found, (Fraction(1, 4), Fraction(3, 4)))
    return t.session._releaser.ask(t._relation, statistic, Approx(8, "0.2"), fresh=True)


@dataclass(frozen=True)
class Generous(FoundTogether):
    """Gives each statistic what finding the groups has spent already."""

    def release(self, room: Room) -> Answers:
        first = self.statistics[0]
        found = first.find(room, Fraction(1, 3), only_persons=False)
        for statistic, weight in zip(self.statistics, self.weights, strict=True):
            first.answer(room, found, statistic.statistic, weight)
        return Answers({}, room.cost, "g")


@pytest.mark.parametrize("persons", [True, False])
def test_statistics_of_groups_that_are_found_once_keep_their_promise(persons: bool, small: StatisticCheck) -> None:
    report = small.check(lambda t: asked(t, FoundTogether, persons=persons), paths=2)
    assert len(report.stages) > 4
    assert report.spent
    assert report.holds, [stage for stage in report.stages if not stage.verification.holds]


def test_shares_that_add_up_to_too_much_are_caught(small: StatisticCheck) -> None:
    assert small.check(lambda t: asked(t, Generous, persons=False), paths=2).broken
