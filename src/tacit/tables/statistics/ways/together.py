"""Several statistics of groups that are found once.

PROMISE  All of them together cost (ε, δ).

PROOF  The groups are found for a share of ε and all of δ (`tacit.tables.statistics.ways.groups`); each statistic of
them is then released for its own share of ε, and the shares add up to ε: adaptive composition.

SHARES  Finding the groups weighs as much as the number of persons where that is asked, for finding them tells it, and
as much as a statistic on average where it is not. So of k statistics each has ε/(k + 1), and finding the groups as
much, with all of δ. One by one, each would have ε/2k, and each would find other groups for ε/2k and δ/k, of which only
those that all of them found could be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.answers import Answer, Answers
from tacit.guarantees import Guarantee
from tacit.language.expressions import Expression
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Statistic
from tacit.tables.statistics.ways.groups import FoundGroups


@dataclass(frozen=True)
class FoundTogether(Statistic, tag="FoundTogether"):
    """Statistics of the same groups; the key of an answer begins with the name of its statistic."""

    statistics: tuple[FoundGroups, ...]
    weights: tuple[Fraction, ...]
    """Of each statistic, one altogether."""

    @property
    def key(self) -> str:
        """That of the first."""
        return self.statistics[0].key

    @property
    def policy_keys(self) -> tuple[str, ...]:
        """Those of all."""
        return tuple(dict.fromkeys(statistic.key for statistic in self.statistics))

    @property
    def words(self) -> str:
        """Those of all."""
        return ", ".join(statistic.words for statistic in self.statistics)

    @property
    def by(self) -> tuple[Expression, ...]:
        """What rows are grouped by."""
        return self.statistics[0].by

    def suits(self, several: bool) -> None:
        """Keys are found where a row concerns one person."""
        for statistic in self.statistics:
            statistic.suits(several)

    def check(self, cost: Guarantee) -> None:
        """Finding keys needs δ."""
        for statistic in self.statistics:
            statistic.check(cost)

    def release(self, room: Room) -> Answers:
        """Find keys, then answer for them, one statistic after the other."""
        first = self.statistics[0]
        of_persons = {i: w for i, w in enumerate(self.weights) if self.statistics[i].statistic.counts_persons}
        others = {i: w for i, w in enumerate(self.weights) if i not in of_persons}
        finding = max(of_persons.values()) if of_persons else sum(others.values(), Fraction(0)) / len(others)
        whole = finding + sum(others.values(), Fraction(0))
        found = first.find(room, finding / whole, only_persons=bool(of_persons))
        answers = {i: first.persons(room, found) for i in of_persons}
        for i, weight in others.items():
            answers[i] = first.answer(room, found, self.statistics[i].statistic, weight / whole)
        named = {(self._names[i], *_parts(key)): answer for i in sorted(answers) for key, answer in answers[i].items()}
        return Answers(named, room.cost, f"aggregate, {first.statistic.groups.name}")

    @property
    def _names(self) -> list[str]:
        """A name for each statistic; words alone may be those of another."""
        return [f"{number}: {statistic.words}" for number, statistic in enumerate(self.statistics, 1)]

    def apart(self, answers: Answers) -> list[Answers]:
        """The answers of each statistic by itself."""
        apart: dict[str, dict[Any, Answer]] = {name: {} for name in self._names}
        for (name, *parts), answer in answers.items():
            apart[name][parts[0] if len(parts) == 1 else tuple(parts)] = answer
        return [Answers(each, answers.guarantee, answers.name.partition(", ")[2]) for each in apart.values()]


def _parts(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)
