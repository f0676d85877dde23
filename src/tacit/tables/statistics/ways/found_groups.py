"""Groups whose keys are found in the data, for some δ.

1. A cap κ is chosen on the number of keys one person takes part in; a person with more keeps κ of them, chosen
   by a secret hash of their own.
2. Every key's number of persons gets truncated noise and is released only above a threshold
   (`tacit.mechanisms.choose.stable_keys`): a key that a single person brings is never released.
3. Where more than the number of persons is asked, the statistic of the found groups is then asked for the rest of
   the cost, with noise of its own, to which finding them is nothing.

ERROR  Shown keys were lucky; what that does to the interval stands in `tacit.answers.groups`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.answers import Answers
from tacit.answers.groups import ShownCount
from tacit.engines.requests import KeyCounts, KeysPerPerson
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.language.expressions import Expression, Literal
from tacit.mechanisms.choose.stable_keys import stable_keys
from tacit.tables.releasing.costs import Allowance
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Per, Statistic, check_delta
from tacit.tables.statistics.ways.caps import choose_cap, levels
from tacit.tables.statistics.ways.groups import Grouped, Groups, written

KEY_LEVELS = levels(2**20)
"""Caps on keys per person."""

CAP_SHARE = Fraction(1, 10)
"""What the choice of the cap takes of ε."""

FIND_SHARE = Fraction(1, 2)
"""What finding the keys takes of ε, cap included, when more than persons is asked."""

MOST_FOUND = 5_000
"""The most found groups that are asked about: those with the largest released counts."""


@dataclass(frozen=True)
class FoundGroups(Statistic, tag="FoundGroups"):
    """A grouped statistic over keys found in the data."""

    statistic: Grouped
    per: Per = "row"

    @property
    def key(self) -> str:
        """That of what is asked."""
        return self.statistic.key

    @property
    def words(self) -> str:
        """Those of what is asked."""
        return self.statistic.words

    @property
    def by(self) -> tuple[Expression, ...]:
        """What rows are grouped by."""
        return self.statistic.by

    @property
    def core(self) -> Statistic:
        """What is asked of the groups that are found."""
        return self.statistic

    def check(self, cost: Guarantee) -> None:
        """Finding keys needs δ."""
        check_delta(cost, "groups without public keys need", "give keys= to avoid it")

    def release(self, room: Room) -> Answers:
        """Find keys, then answer for them."""
        assert isinstance(room.cost, Approx)
        only_persons = self.statistic.counts_persons
        share = Fraction(1) if only_persons else FIND_SHARE
        groups, epsilon, delta = self.statistic.groups, room.cost.epsilon * share, room.cost.delta
        (counts,) = room.ask(KeysPerPerson(groups.by, KEY_LEVELS))
        cap = choose_cap(room, KEY_LEVELS, counts, Allowance(epsilon * CAP_SHARE, concentrated=False))
        template = stable_keys({}, epsilon * (1 - CAP_SHARE), delta, cap)
        (found,) = room.ask(KeyCounts(groups.by, cap, template.least, room.secret()))
        law = stable_keys(dict(found), epsilon * (1 - CAP_SHARE), delta, cap)
        drawn = room.draw(law)
        released: dict[Any, int] = dict(drawn)
        keys = sorted(released, key=lambda key: (-released[key], repr(key)))
        if only_persons:
            answers = {
                _label(key): room.answer(
                    f"number of persons where {groups.name} is {_label(key)}",
                    released[key],
                    mechanism="truncated noise and a threshold on persons per key",
                    spread=ShownCount(law.noise, law.threshold),
                    per="person",
                    notes=(f"A person takes part in at most {cap:,} groups; groups of few persons are left out.",),
                )
                for key in keys
            }
            return Answers(answers, room.cost, groups.name)
        keys = keys[:MOST_FOUND]
        if not keys:
            return Answers({}, room.cost, groups.name)
        literals = tuple(
            tuple(Literal(expression.type, part) for part, expression in zip(key, groups.by, strict=True))
            for key in keys
        )
        inside = replace(groups, keys=literals, labels=tuple(_label(key) for key in keys))
        statistic = self.statistic.among(inside)
        with room.second(Pure(room.cost.epsilon * (1 - FIND_SHARE))) as second:
            return statistic.release(second)


def _label(key: tuple[Any, ...]) -> Any:
    parts = tuple(map(written, key))
    return parts[0] if len(parts) == 1 else parts


def for_each(statistic: Statistic, groups: Groups) -> Statistic:
    """A statistic for each group: of those that are named, or of those that are found."""
    grouped = statistic.grouped(groups)
    return FoundGroups(grouped) if not groups.keys and isinstance(grouped, Grouped) else grouped
